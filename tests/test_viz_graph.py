"""draw(): right pictures of right graphs, and something clear for a half-finished or faulty class."""

import doctest
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tinygrad_cl.scalar import Value
from tinygrad_cl.tensor import Tensor
from tinygrad_cl.viz import draw, fold, graph, layout, nodes, svg


def words(picture):
    """Every text of a picture; parsing it also proves that it is well-formed XML."""
    root = ET.fromstring(picture._repr_svg_())
    return [t.text for t in root.iter("{http://www.w3.org/2000/svg}text") if t.text]


class Bare:
    """micrograd's names, and nothing but the data and the parents."""

    def __init__(self, data, parents=()):
        self.data, self._prev = data, set(parents)


@pytest.mark.parametrize("module", [fold, graph, layout, nodes, svg], ids=lambda m: m.__name__)
def test_the_examples_in_the_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_a_box_shows_label_op_data_grad_and_the_edges_their_local_derivatives():
    a, b = Value(2.0, label="a"), Value(-3.5, label="b")
    c = a * b
    c.label = "<c>"
    c.backward()
    shown = words(draw(c))
    for word in ("a", "b", "<c>", "*", "2", "−3.5", "−7"):
        assert word in shown
    assert shown.count("data") == shown.count("grad") == 3
    assert any("local derivative" in word for word in shown)


def test_a_factor_used_twice_has_two_edges():
    x = Value(3.0)
    assert words(draw(x * x)).count("3") == 1 + 2, "the data of x and two local derivatives"


def test_a_class_without_grad_label_op_and_derivatives_is_drawn():
    shown = words(draw(Bare(6.0, (Bare(2.0), Bare(3.0)))))
    assert {"2", "3", "6"} <= set(shown) and "grad" not in shown


def test_attributes_that_are_none_or_raise_cost_only_themselves():
    class Half(Bare):
        label = None

        @property
        def grad(self):
            raise NotImplementedError

    assert "2" in words(draw(Half(2.0)))
    node = Bare(None)
    node._prev, node.grad = None, None
    assert words(draw(node)).count("None") == 2


def test_one_parent_without_a_tuple_around_it_is_drawn():
    node = Bare(1.0)
    node._prev = Bare(5.0)
    assert "5" in words(draw(node))


def test_a_cycle_is_drawn_and_named():
    first = Bare(1.0)
    second = Bare(2.0, (first,))
    first._prev = {second}
    assert any("own ancestor" in word for word in words(draw(second)))
    first._prev = {first}
    assert any("own ancestor" in word for word in words(draw(first)))


def test_a_plain_number_among_the_parents_is_pointed_at():
    shown = words(draw(Bare(5.0, (2.0, Bare(3.0)))))
    assert "not a node" in shown and any("no gradient" in word for word in shown)


def test_arrays_are_shown_by_their_shape_or_few_entries():
    shown = words(draw(Bare(np.ones((3, 4)), (Bare(np.array([1.5, -2.0])), Bare(np.array(7.0))))))
    assert {"array 3×4", "[1.5, −2]", "7"} <= set(shown)


def test_nodes_that_compare_equal_or_cannot_be_hashed_are_still_two():
    class Equal(Bare):
        __hash__ = None

        def __eq__(self, other):
            return True

    a, b = Equal(2.0), Equal(3.0)
    c = Equal(5.0)
    c._prev = [a, b]
    assert {"2", "3", "5"} <= set(words(draw(c)))


def test_several_results_share_one_picture():
    x = Value(1.0, label="x")
    shown = words(draw(x * 2, x + 3))
    assert shown.count("x") == 1 and {"2", "4"} <= set(shown)


@pytest.mark.parametrize("thing", [3.0, np.ones(2), None, "a", Value])
def test_what_is_no_node_is_refused_in_one_sentence(thing):
    with pytest.raises(TypeError, match="^a picture needs a node"):
        draw(thing)


def chain(length):
    x = Value(1.0)
    for _ in range(length):
        x = x + 1.0
    return x


def test_too_large_a_graph_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="more than 200 nodes"):
        draw(chain(5000), fold=False)
    with pytest.raises(ValueError, match="more than 20,000 nodes"):
        draw(chain(10_001))


def mlp(*sizes):
    """A small network of Values, back-propagated."""
    rng = np.random.default_rng(0)
    x = [Value(rng.normal(), label=f"x{i}") for i in range(sizes[0])]
    for n, m in zip(sizes, sizes[1:]):
        x = [
            sum((Value(rng.normal(), label=f"w{i}") * a for i, a in enumerate(x)), Value(0.0, label="b")).tanh()
            for _ in range(m)
        ]
    x[0].backward()
    return x[0]


@pytest.mark.parametrize(
    "root, most",
    [(mlp(3, 4, 4, 1), 30), (mlp(2, 40, 1), 30), (chain(300), 12), (chain(5000), 12)],
    ids=["deep", "wide", "sum", "long"],
)
def test_a_large_graph_folds_into_few_boxes_that_hold_every_node(root, most):
    found = nodes.read_graph([root], 20_000)
    groups = fold.fold(found, 60)
    assert sorted(v for group in groups for v in group) == list(range(len(found.nodes)))
    assert len(groups) <= most
    assert all(parent < child for parent, child in fold.edges_between(found, groups)), "an edge would run to the left"
    assert f"{len(found.nodes)} nodes in {len(groups)} boxes" in " ".join(words(draw(root)))


def test_a_folded_layer_says_how_many_nodes_it_holds_and_between_which_numbers_they_lie():
    shown = words(draw(mlp(2, 3, 1), fold=True))
    assert "6 × w" in shown and "9 ×" not in shown and any("…" in word for word in shown)


def test_a_graph_of_bands_is_small_whatever_the_ops_are():
    x = Value(0.5)
    for _ in range(200):
        x = (x * 1.01).tanh() + 0.1
    assert len(fold.fold(nodes.read_graph([x], 20_000), 60)) <= 2 * fold.BANDS


def test_a_tensor_and_the_nodes_behind_it_show_op_shape_and_what_is_saved():
    x = Tensor(np.ones((3, 4)), requires_grad=True)
    w = Tensor(np.ones((4, 2)), requires_grad=True)
    shown = words(draw((x @ w).tanh().sum()))
    assert {"array 3×4", "array 4×2", "3×2", "MatMul", "Tanh", "Sum"} <= set(shown)
    assert any(word.endswith("B") for word in shown), "bytes that are kept for backward"


def random_graph(n, seed=0):
    rng = np.random.default_rng(seed)
    nodes = [Value(rng.normal(), label=f"x{i}") for i in range(4)]
    while len(nodes) < n:
        i, j = rng.integers(max(0, len(nodes) - 8), len(nodes), 2)
        nodes.append(nodes[i] * nodes[j])
    return nodes


@pytest.mark.parametrize("n", [3, 30, 150])
def test_no_two_boxes_overlap_and_all_lie_inside(n):
    picture = draw(*random_graph(n), fold=False)
    boxes = [
        tuple(float(r.get(k)) for k in ("x", "y", "width", "height"))
        for r in ET.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}rect")
    ]
    (*_, width, height), *boxes = boxes
    assert len(boxes) >= n
    for i, (x, y, w, h) in enumerate(boxes):
        assert x > 0 and y > 0 and x + w < width and y + h < height
        for x2, y2, w2, h2 in boxes[:i]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_every_edge_runs_to_the_right():
    nodes = random_graph(60)
    index = {id(v): i for i, v in enumerate(nodes)}
    parents = [[index[id(p)] for p in v.parents] for v in nodes]
    layer, *_ = layout.layered(parents, [40] * len(nodes))
    assert all(layer[p] < layer[c] for c, ps in enumerate(parents) for p in ps)


def test_two_crossed_edges_are_uncrossed():
    layer, y, _ = layout.layered([[], [], [1], [0], [2, 3]], [40] * 5)
    assert (y[0] < y[1]) == (y[3] < y[2])


def test_the_same_graph_gives_the_same_text():
    assert draw(*random_graph(30)).svg == draw(*random_graph(30)).svg


def test_a_picture_can_be_saved_and_names_no_outside_resource(tmp_path):
    picture = draw(Value(1.0))
    picture.save(tmp_path / "one.svg")
    saved = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert saved == picture.svg and not re.search(r"(href|src|url)\s*[=(]", saved)


class Traced:
    """As a compiled function leaves it: an operation that knows its shape and its inputs, constants as text."""

    def __init__(self, op_name, *inputs):
        self.op_name, self.inputs, self.shape = op_name, inputs, (2, 3)


class Compiled:
    def __init__(self, head, *body):
        self.head, self.body = head, body


def test_a_compiled_function_names_the_kernel_of_each_operation():
    x = Traced("input")
    product = Traced("mul", x, "((V)(2.0))")
    total = Traced("sum", product)
    shown = words(draw(Compiled(total, product), Compiled(Traced("exp", total))))
    assert shown.count("kernel") == 3 and shown.count("1") == 2 and shown.count("2") == 1
    assert "not a node" not in shown and shown.count("input") == 1


def test_a_tape_is_drawn_from_what_nothing_else_was_computed_from():
    class Tape:
        nodes = [a := Traced("mul", Traced("input")), Traced("exp", a), Traced("tanh", a)]

    shown = words(draw(Tape()))
    assert {"mul", "exp", "tanh", "input"} <= set(shown) and shown.count("mul") == 1
