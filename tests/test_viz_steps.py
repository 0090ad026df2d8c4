"""steps(): the trace shows what the engine of the nodes does, right or wrong, and leaves the nodes unchanged."""

import doctest
import math
import re
import xml.etree.ElementTree as ET
from base64 import b64decode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinygrad_cl.scalar import Value
from tinygrad_cl.tensor import Tensor
from tinygrad_cl.viz import execution_trace, replay, stepper
from tinygrad_cl.viz.execution_trace import ExecutionTrace
from tinygrad_cl.viz.stepper import steps
from tinygrad_cl.viz.stepper_widget import WIDGET_VIEW


class Closures:
    """micrograd's way: a node keeps a function that hands its gradient on."""

    def __init__(self, data, parents=(), op=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, parents, op
        self._backward = lambda: None

    def __mul__(self, other):
        out = Closures(self.data * other.data, (self, other), "*")

        def backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = backward
        return out

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if node not in seen:
                seen.add(node)
                for parent in node._prev:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            node._backward()


class Replacing(Value):
    """Forgets that a gradient adds up."""

    def __mul__(self, other):
        out = Value.__mul__(self, other)
        return Replacing(out.data, out.parents, out.local_derivatives, out.op)

    def backward(self):
        from tinygrad_cl.scalar import topological_order

        self.grad = 1.0
        for node in reversed(topological_order(self)):
            for parent, local in zip(node.parents, node.local_derivatives):
                parent.grad = local * node.grad


def example():
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    s = a + b
    s.label = "s"
    return a, b, s, s * b


def said(node):
    return [each["say"] for each in ExecutionTrace.of(node).steps]


@pytest.mark.parametrize("module", [execution_trace, replay, stepper], ids=lambda m: m.__name__)
def test_the_examples_in_the_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_forward_has_a_step_for_each_node_and_backward_one_for_each_edge():
    made = ExecutionTrace.of(example()[-1])
    assert [each["phase"] for each in made.steps] == ["forward"] * 3 + ["backward"] * 5
    assert said(example()[-1])[:2] == ["The inputs: a = 2, b = −3.", "s = a + b = 2 + (−3) = −1."]
    final = {}
    for each in made.steps:
        final |= each["set"]
    assert (final["grad0"], final["grad1"], final["grad2"], final["grad3"]) == ("−3", "−4", "−3", "1")


def test_every_id_in_a_step_is_in_the_picture():
    made = ExecutionTrace.of(example()[-1])
    ids = {each.get("id") for each in ET.fromstring(made.svg()).iter()}
    for each in made.steps:
        assert {*each["show"], *each["light"], *each["set"]} <= ids


def test_gradients_and_classes_are_as_before():
    a, b, s, c = example()
    c.backward()
    ExecutionTrace.of(c)
    assert [node.grad for node in (a, b, s, c)] == [-3.0, -4.0, -3.0, 1.0] and type(a) is Value


def test_closures_are_watched_as_well():
    a = Closures(3.0)
    text = " ".join(said(a * a))
    assert "Another path arrived here before: 3 + 3 = 6" in text and a.grad == 0.0


def test_a_gradient_that_is_replaced_is_pointed_at():
    a = Replacing(3.0, label="a")
    assert any("was replaced, not added to" in say for say in said(a * a))


def test_a_gradient_that_comes_too_late_is_pointed_at():
    class Early(Value):
        def backward(self):
            s, b = self.parents
            self.grad = 1.0
            for node in (s, self):  # s hands on before it has anything
                for parent, local in zip(node.parents, node.local_derivatives):
                    parent.grad += local * node.grad

    *_, c = example()
    early = Early(c.data, c.parents, c.local_derivatives, "*", "c")
    assert any("Too late: s has passed its gradient on already" in say for say in said(early))


@pytest.mark.parametrize(
    "raises, note", [(NotImplementedError(), "not written yet"), (KeyError("x"), "stopped here: KeyError")]
)
def test_a_backward_that_stops_is_said(raises, note):
    class Half(Value):
        def backward(self):
            raise raises

    made = ExecutionTrace.of(Half(2.0, (Value(1.0),), (1.0,), "+"))
    assert note in made.note and len(made.steps) == 2


def test_without_backward_the_way_forward_is_shown():
    class Bare:
        def __init__(self, data, parents=()):
            self.data, self._prev = data, parents

    made = ExecutionTrace.of(Bare(6.0, (Bare(2.0), Bare(3.0))))
    assert "no `backward` yet" in made.note and made.steps[-1]["say"] == "v2 = 6, from 2, 3."
    assert made.inputs == [], "nothing says how it was computed"


def test_a_graph_of_arrays_is_shown_by_shapes():
    x = Tensor(np.ones((2, 3)), requires_grad=True)
    assert ExecutionTrace.of((x * 2.0).sum()).steps


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_other_inputs_give_what_the_engine_gives(x, y):
    def f(a, b):
        return ((a * b).tanh() + a) ** 3 - b / (a * a + 1.0)

    a, b = Value(0.5, label="a"), Value(-0.25, label="b")
    made = ExecutionTrace.of(f(a, b))
    assert made.inputs == [("a", 0.5), ("b", -0.25)]
    again = made.compute([x, y])
    wanted = f(Value(x), Value(y))
    root = again.graph.nodes[-1]
    assert math.isclose(root.data, wanted.data, rel_tol=1e-9, abs_tol=1e-12) and (a.data, b.data) == (0.5, -0.25)


def test_a_function_can_take_branches():
    def f(a):
        return a * 2.0 if a.data > 0 else -a

    made = ExecutionTrace.of_function(f, [Value(1.0, label="a")])
    assert made.graph.nodes[-1].data == 2.0 and made.compute([-3.0]).graph.nodes[-1].data == 3.0


def test_the_widget_takes_a_new_input_and_says_why_it_does_not_take_another():
    widget = steps(Value(4.0, label="a").log())
    widget.inputs = [{"name": "a", "value": 1.0}]
    assert widget.trace["steps"][0]["say"] == "The inputs: a = 1." and not widget.error
    widget.inputs = [{"name": "a", "value": -1.0}]
    assert widget.error.startswith("ValueError: log(-1)") and widget.trace["steps"][0]["say"] == "The inputs: a = 1."


@pytest.fixture
def jupyter_server(monkeypatch):
    """A Jupyter server started this kernel: it tells so by this name."""
    monkeypatch.setenv("JPY_SESSION_NAME", "lesson.ipynb")


def test_a_saved_output_holds_the_graph_and_the_steps_in_words():
    data, _ = steps(example()[-1])._repr_mimebundle_()
    items = ET.fromstring(re.search("<ol.*</ol>", data["text/html"])[0])
    assert [each.text for each in items] == said(example()[-1])
    [source] = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', data["text/html"])
    assert b64decode(source).decode() == data["image/svg+xml"]
    shown = {each.get("id"): each.text for each in ET.fromstring(data["image/svg+xml"]).iter()}
    assert [shown[f"grad{i}"] for i in range(4)] == ["−3", "−4", "−3", "1"]


def test_vs_code_and_nbconvert_fall_back_from_the_widget_to_html_and_then_to_svg():
    # VS Code's order of kinds is sortOutputItemsBasedOnDisplayOrder, and its way back from a widget without a model
    # the error vscode.fallbackToNextRenderer: src/kernels/execution/helpers.ts and
    # src/webviews/webview-side/ipywidgets/renderer/index.ts of github.com/microsoft/vscode-jupyter.
    data, _ = steps(example()[-1])._repr_mimebundle_()
    assert {*data} == {WIDGET_VIEW, "text/html", "image/svg+xml", "text/plain"}
    assert data[WIDGET_VIEW]["model_id"] and "<script" not in data["text/html"]


def test_jupyterlab_is_given_no_widget_that_may_be_gone(jupyter_server):
    widget = steps(example()[-1])
    data, _ = widget._repr_mimebundle_()
    assert {*data} == {"text/html", "image/svg+xml", "text/plain"}
    assert data["text/html"].startswith(f"<{widget.element}>") and widget.element != steps(example()[-1]).element


def test_the_same_input_again_takes_the_error_away():
    widget = steps(Value(4.0, label="a").log())
    widget.inputs = [{"name": "a", "value": -1.0}]
    assert widget.error
    widget.inputs = [{"name": "a", "value": 4.0}]
    assert not widget.error


@pytest.mark.parametrize("thing", [3.0, None, Value])
def test_what_is_no_node_is_refused_in_one_sentence(thing):
    with pytest.raises(TypeError, match="a picture needs a node"):
        steps(thing)


def test_a_large_graph_is_refused_in_one_sentence():
    x = Value(1.0)
    for _ in range(100):
        x = x + 1.0
    with pytest.raises(ValueError, match="more than 60 nodes"):
        steps(x)
