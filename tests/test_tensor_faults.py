"""Programs of users that the engine once answered with a wrong number, a NaN, or an error of NumPy or Python.

Each expected number is PyTorch's, unless a comment says why not.
"""

import copy
import doctest
import math
import pickle

import numpy as np
import pytest

from autograder import paths
from tinygrad_cl.tensor import (
    SGD,
    Adam,
    AdamW,
    Function,
    Tensor,
    backward,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cat,
    checkpoint,
    cross_entropy,
    dropout,
    embedding,
    enable_grad,
    grad,
    is_grad_enabled,
    mse_loss,
    mxnet,
    no_grad,
    set_grad_enabled,
    stack,
    where,
)


def leaf(*numbers):
    return Tensor(np.array(numbers), requires_grad=True)


def constant(*numbers):
    return Tensor(np.array(numbers))


def test_what_docs_say_about_differences_is_so():
    text = (paths.ROOT / "docs" / "tensor.md").read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, "tensor.md", None, 0)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)
    assert result.failed == 0 and result.attempted > 10


# -- memory of the caller ---------------------------------------------------------------------------


class Kept(Function):
    """x · c, where what is saved is a view of c."""

    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(c[::1])
        return x * c

    @staticmethod
    def backward(ctx, grad):
        (c,) = ctx.saved_tensors
        return grad * c, None


def assigned(x, b):
    y = x * 1
    y[b] = x[0] * 7
    return y


BUFFERS = {  # a program of x = [2, 3, 4] and a buffer; the buffer's numbers, and what is written over them
    "mul": (lambda x, b: x * b, [1.0, 2.0, 3.0], 100.0),
    "rmul": (lambda x, b: b * x, [1.0, 2.0, 3.0], 100.0),
    "div": (lambda x, b: x / b, [1.0, 2.0, 3.0], 100.0),
    "rdiv": (lambda x, b: b / x, [1.0, 2.0, 3.0], 100.0),
    "pow": (lambda x, b: x**b, [1.0, 2.0, 3.0], 5.0),
    "rpow": (lambda x, b: b**x, [1.0, 2.0, 3.0], 5.0),
    "matmul": (lambda x, b: x @ b, [1.0, 2.0, 3.0], 100.0),
    "maximum": (lambda x, b: x.maximum(b), [1.0, 5.0, 3.0], 100.0),
    "minimum": (lambda x, b: x.minimum(b), [1.0, 5.0, 3.0], -100.0),
    "where": (lambda x, b: where(b, x, 0.0), [True, False, True], False),
    "where, condition and operand": (lambda x, b: where(b > 1.0, x * b, b), [1.0, 2.0, 3.0], 0.0),
    "an index": (lambda x, b: x[b], [0, 1, 1], 2),
    "a mask": (lambda x, b: x[b], [True, False, True], False),
    "an index in a tuple": (lambda x, b: x.reshape(3, 1)[b, None, 0], [0, 1, 1], 2),
    "embedding": (lambda x, b: embedding(b, x.reshape(3, 1)), [0, 1, 1], 2),
    "cross_entropy": (lambda x, b: cross_entropy(stack([x, x, x]), b), [0, 1, 1], 2),
    "mse_loss": (mse_loss, [1.0, 2.0, 3.0], 100.0),
    "binary_cross_entropy": (lambda x, b: binary_cross_entropy(x / 5, b), [1.0, 0.0, 1.0], 0.5),
    "binary_cross_entropy_with_logits": (binary_cross_entropy_with_logits, [1.0, 0.0, 1.0], 0.5),
    "checkpoint": (lambda x, b: checkpoint(lambda x, b: (x * b).exp(), x, b), [0.1, 0.2, 0.3], 1.0),
    "an index that is assigned to": (assigned, [0, 1, 1], 2),
    "checkpoint of a list": (lambda x, b: checkpoint(lambda x, b: (x * b[0]).exp(), x, [b]), [0.1, 0.2, 0.3], 1.0),
    "a Function that saves a view": (Kept.apply, [1.0, 2.0, 3.0], 100.0),
}


@pytest.mark.parametrize("name", BUFFERS)
@pytest.mark.parametrize("kind", [np.array, list, Tensor])
def test_a_buffer_that_is_filled_again_changes_no_gradient(name, kind):
    """It is copied; or, a tensor, an error says that it was changed."""
    program, numbers, other = BUFFERS[name]
    if kind is list and name in ("matmul", "where, condition and operand", "a Function that saves a view"):
        pytest.skip("takes arrays and tensors")

    def gradient(refill):
        x, buffer = leaf(2.0, 3.0, 4.0), kind(numbers)
        y = program(x, buffer)
        if refill:
            buffer[:] = [other] * 3 if kind is list else other
        y.backward(np.arange(1.0, y.size + 1).reshape(y.shape))
        return x.grad.data

    expected = gradient(refill=False)
    assert expected.any()
    if kind is Tensor:
        try:
            np.testing.assert_array_equal(gradient(refill=True), expected)
        except RuntimeError as error:
            assert "changed in place" in str(error)
    else:
        np.testing.assert_array_equal(gradient(refill=True), expected)


def test_a_saved_view_of_an_input_knows_its_version():
    x, c = leaf(2.0, 3.0), constant(1.0, 2.0)
    y = Kept.apply(x, c)
    c *= 100
    with pytest.raises(RuntimeError, match="Kept saved an input.*changed in place"):
        y.sum().backward()


def test_an_upstream_gradient_may_be_filled_again():
    x, upstream = leaf(1.0, 2.0), constant(1.0, 2.0)
    (x + 0).backward(upstream)
    (g,) = grad(x + 0, [x], upstream)
    upstream *= 100
    assert x.grad.data.tolist() == g.data.tolist() == [1, 2]


# -- in place -----------------------------------------------------------------------------------------


def test_copy_hands_gradients_to_what_was_copied():
    x, z = leaf(1.0, 2.0), leaf(3.0)
    y = x * 2
    assert y.copy_(z) is y and y.data.tolist() == [3, 3]
    y.backward(np.array([1.0, 10.0]))
    assert x.grad.data.tolist() == [0, 0] and z.grad.data.tolist() == [11]


def test_copy_of_numbers_cuts_off_what_was_there():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.copy_([5.0, 6.0])
    y.sum().backward()
    assert x.grad.data.tolist() == [0, 0]


def test_copy_into_a_buffer_records_where_its_numbers_are_from():
    b, x = constant(0.0, 0.0), leaf(1.0, 2.0)
    b.copy_(x * 3)
    b.sum().backward()
    assert x.grad.data.tolist() == [3, 3]


def test_copy_of_a_gradient_into_a_leaf_is_an_error():
    x, z = leaf(1.0, 2.0), leaf(3.0, 4.0)
    with pytest.raises(RuntimeError, match="copy_ on a leaf that requires a gradient"):
        x.copy_(z)
    assert x.data.tolist() == [1, 2]
    with no_grad():
        x.copy_(z)
    assert x.data.tolist() == [3, 4] and x.is_leaf


def test_retain_grad_follows_a_change_in_place():
    x = leaf(1.0, 2.0)
    y = x * 3
    y.retain_grad()
    y *= 2
    y[0] = y[0] * 5
    y.sum().backward()
    assert y.grad.data.tolist() == [1, 1] and x.grad.data.tolist() == [30, 6]


def test_a_retained_gradient_does_not_outlive_the_graph():
    x = leaf(1.0, 2.0)
    y = x * 3
    z = y * 2
    y.retain_grad()
    y.zero_()
    z.sum().backward()
    assert y.grad is None and x.grad.data.tolist() == [6, 6]


@pytest.mark.parametrize("use", [lambda y, x: y * 3 + x, lambda y, x: y.sum(), lambda y, x: x + y, lambda y, x: y[0]])
def test_only_a_leaf_can_stop_requiring_a_gradient(use):
    x = leaf(1.0, 2.0)
    y = x * 2
    with pytest.raises(RuntimeError, match="only a leaf can stop requiring a gradient: use .detach()"):
        y.requires_grad = False
        use(y, x)
    x.requires_grad = False
    assert not (x * 2).requires_grad


def test_whole_numbers_have_no_gradient_however_it_is_asked_for():
    k = Tensor([1, 2])
    with pytest.raises(TypeError, match="a gradient needs real numbers, not int64"):
        k.requires_grad = True
        (k * 0.5).sum().backward()


@pytest.mark.parametrize("shape, key", [((1, 3), 0), ((1, 1, 3), 1), ((1,), (0, 2)), ((1, 1), (0, 0)), ((1, 1), 0)])
def test_what_is_assigned_may_have_axes_of_size_1_in_front(shape, key):
    x = Tensor(np.zeros((2, 3)), requires_grad=True)
    v = Tensor(np.arange(1.0, 1 + math.prod(shape)).reshape(shape), requires_grad=True)
    y = x * 1
    y[key] = v
    y.backward(np.arange(1.0, 7.0).reshape(2, 3))
    upstream = np.arange(1.0, 7.0).reshape(2, 3)[key]
    expected = upstream.sum() if v.size == 1 else upstream
    np.testing.assert_array_equal(v.grad.data, np.broadcast_to(expected, shape))
    assert np.all(y.data[key] == v.data.ravel())


def test_arrays_are_assigned_by_the_same_rule():
    y = Tensor(np.zeros(3))
    y[1] = np.array([5.0])
    y[2] = [[7.0]]
    assert y.data.tolist() == [0, 5, 7]
    with pytest.raises(ValueError, match=r"shape \(2,\) does not fit the part of shape \(\)"):
        y[0] = [1.0, 2.0]


def test_of_two_numbers_for_one_place_the_last_gets_the_gradient():
    """NumPy says that the last one is assigned; PyTorch, which says nothing, gives both a gradient."""
    x, v = leaf(1.0, 2.0), leaf(5.0, 6.0, 7.0)
    y = x * 1
    y[[0, 0, 1]] = v
    y.backward(np.array([10.0, 100.0]))
    assert y.data.tolist() == [6, 7] and v.grad.data.tolist() == [0, 10, 100] and x.grad.data.tolist() == [0, 0]


def test_what_is_broadcast_is_not_written_to():
    y = Tensor([1.0, 2.0]).expand(3, 2)
    for change in (lambda: y.copy_(0.0), lambda: y.zero_(), lambda: y.__setitem__(0, 5.0), lambda: y.__iadd__(1.0)):
        with pytest.raises(RuntimeError, match=r"clone\(\)"):
            change()
    assert y.data.tolist() == [[1, 2]] * 3 and y.version.count == 0


# -- gradients ------------------------------------------------------------------------------------------


def test_mxnet_several_heads_add_up():
    x = mxnet.array([1.0, 2.0])
    x.attach_grad()
    y, z = x * 2, x * 3
    mxnet.backward([y, z])
    assert x.grad.data.tolist() == [5, 5]
    mxnet.backward([x * x, x, x], [None, mxnet.array([10.0, 100.0]), None])
    assert x.grad.data.tolist() == [13, 105], "overwritten, once"


def test_backward_from_several_tensors_walks_the_graph_once():
    x, seen = leaf(1.0, 2.0), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.data.tolist()))
    loss, z = (y * y).sum(), y * 3
    backward([loss, z, y], [None, constant(1.0, 10.0), np.array([100.0, 100.0])])
    assert seen == [[107, 138]] and x.grad.data.tolist() == [214, 276]
    with pytest.raises(RuntimeError, match="backward has been here before"):
        backward([loss, loss])


@pytest.mark.parametrize(
    "heads, gradients, error",
    [
        ([], None, "starts at one tensor or more, .* not with 0 for 0"),
        (lambda x: [x * 2, x * 3], [None], "a gradient for each, not with 1 for 2 tensors"),
        (lambda x: [x.detach()], None, "requires no gradient"),
    ],
)
def test_backward_from_several_tensors_that_do_not_fit(heads, gradients, error):
    heads = heads(leaf(1.0, 2.0)) if callable(heads) else heads
    with pytest.raises((ValueError, RuntimeError), match=error):
        backward(heads, gradients)


INFINITE = {  # a program, its numbers, and the gradient, where infinitely much comes from above
    "relu": (lambda x: x.relu().sqrt(), [-1.0, 4.0], [0.0, 0.25]),
    "relu and log": (lambda x: x.relu().log(), [-1.0, 4.0], [0.0, 0.25]),
    "maximum, constant": (lambda x: x.maximum(0.0).sqrt(), [-1.0, 4.0], [0.0, 0.25]),
    "minimum": (lambda x: (-(x.minimum(0.0))).sqrt(), [-4.0, 1.0], [-0.25, 0.0]),
    "where": (lambda x: where(x > 0, x, 0.0).sqrt(), [-1.0, 4.0], [0.0, 0.25]),
    "norm": (lambda x: x.norm(), [0.0, 0.0], [0.0, 0.0]),
    "max": (lambda x: x.max().sqrt(), [-1.0, 0.0], [0.0, math.inf]),
    "min": (lambda x: x.min().sqrt(), [0.0, 1.0], [math.inf, 0.0]),
    # PyTorch: NaN in the next three; 0 is what we say the gradient is where x = 0, or was dropped
    "abs": (lambda x: abs(x).sqrt(), [0.0, -4.0], [0.0, -0.25]),
    "dropout": (
        lambda x: dropout(x, 0.5, generator=np.random.default_rng(0)).sqrt(),
        [2.0, 2.0, 2.0, 2.0],
        [0.5, 0, 0, 0],
    ),
    "norm and a root": (lambda x: x.norm().sqrt(), [0.0, 0.0], [0.0, 0.0]),
}


@pytest.mark.parametrize("name", INFINITE)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_a_choice_is_made_also_of_infinite_gradients(name):
    program, numbers, expected = INFINITE[name]
    x = leaf(*numbers)
    program(x).sum().backward()
    np.testing.assert_allclose(x.grad.data, expected)
    x = leaf(*numbers)
    (again,) = grad(program(x).sum(), [x], create_graph=True)
    np.testing.assert_allclose(again.data, expected)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_infinite_gradients_of_what_was_overwritten():
    x = leaf(1.0, 4.0)
    y = x * 1
    y[0] = 0.0
    y.sqrt().sum().backward()
    assert x.grad.data.tolist() == [0, 0.25]


def test_nan_goes_on_through_relu_and_maximum():
    nan = math.nan
    x = leaf(nan, -1.0, 1.0)
    y = x.relu()
    (y * y).sum().backward()
    assert np.isnan(y.data).tolist() == np.isnan(x.grad.data).tolist() == [True, False, False]
    x = leaf(nan, -1.0, 1.0)
    x.relu().backward([1.0, 1.0, 1.0])
    assert x.grad.data.tolist() == [1, 0, 1]  # whatever the gradient is: a NaN is not left out
    a, b = leaf(nan, 1.0, nan, 2.0, 1.0), leaf(1.0, nan, nan, 2.0, 3.0)
    a.maximum(b).sum().backward()
    assert a.grad.data.tolist() == [1, 1, 1, 0.5, 0] and b.grad.data.tolist() == [1, 1, 1, 0.5, 1]


def test_a_dropped_infinity_is_0():
    """PyTorch: NaN, which no later layer gets rid of."""
    y = dropout(Tensor([math.inf] * 4), 0.5, generator=np.random.default_rng(0))
    assert y.data.tolist() == [math.inf, 0, 0, 0]
    assert dropout(Tensor([math.inf]), 1.0).data.tolist() == [0]


def test_the_second_derivative_of_a_norm():
    x = leaf(3.0, 4.0)
    (g,) = grad(x.norm(), [x], create_graph=True)
    (h,) = grad(g, [x], constant(1.0, 0.0))
    np.testing.assert_allclose(h.data, [16 / 125, -12 / 125])


GIVEN = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(axis=0),
    "expand": lambda x: x.expand(3, 2),
    "add": lambda x: x + x,
    "the leaf itself": lambda x: x,
    "a view": lambda x: x.reshape(2, 1),
}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_gradients_that_one_gets_are_ones_own(name, create_graph):
    """They can be changed, and nobody else's number changes with them."""
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = GIVEN[name](a + b if name != "the leaf itself" else a)
    upstream = Tensor(np.full(y.shape, 2.0))
    inputs = [a, a] if name == "the leaf itself" else [a, b]
    first, second = grad(y, inputs, upstream, create_graph=create_graph)
    before = second.data.tolist()
    with no_grad():
        first *= 0.5
    assert second.data.tolist() == before and first.data.tolist() == [g / 2 for g in before]
    assert np.all(upstream.data == 2)


def test_a_hook_gets_a_gradient_of_its_own():
    """Changed in place, it is what goes on from there, and nowhere else; kept, it can be written to."""
    a, b, kept = leaf(1.0, 2.0), leaf(3.0, 4.0), []
    y = a + b

    def double(g):
        g *= 2

    a.register_hook(double)
    b.register_hook(kept.append)
    y.sum().backward()
    assert a.grad.data.tolist() == [2, 2] and b.grad.data.tolist() == [1, 1]
    kept[0] *= 5
    assert b.grad.data.tolist() == [1, 1]


def test_what_a_hook_returns_may_be_filled_again():
    a, buffer = leaf(1.0, 2.0), np.array([3.0, 4.0])
    y = a * 1
    y.register_hook(lambda g: buffer)
    (g,) = grad(y.sum(), [y])
    buffer[:] = 100
    assert g.data.tolist() == [3, 4]


# -- copies and views --------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickle.dumps])
def test_a_computed_tensor_has_no_deep_copy(duplicate):
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"only a leaf .*detach\(\)"):
        duplicate(x * x)
    with pytest.raises(RuntimeError, match=r"only a leaf .*detach\(\)"):
        duplicate([{"y": x * x}])


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_deep_copy_of_a_leaf_stands_for_itself(duplicate):
    x = leaf(1.0, 2.0)
    view = x.detach()
    x.register_hook(lambda g: g * 100)
    (x * x).sum().backward()
    y = duplicate(x)
    assert y.is_leaf and y.requires_grad and y.grad.data.tolist() == [200, 400]
    y.grad = None
    (y * y).sum().backward()
    assert y.grad.data.tolist() == [2, 4], "hooks stay with the original"
    with no_grad():
        y += 1
    assert x.data.tolist() == view.data.tolist() == [1, 2] and y.version.count == 1 and x.version.count == 0
    array = duplicate(mxnet.array([1.0]))
    assert type(array) is mxnet.NDArray and array.grad_req == "write"


def test_a_shallow_copy_knows_whose_memory_it_has():
    x = leaf(1.0, 2.0)
    y = x * 2
    other = copy.copy(y)
    z = other * other
    with pytest.raises(RuntimeError, match="shares this memory"):
        y += 1
    with no_grad():
        y += 1
    with pytest.raises(RuntimeError, match="changed in place"):
        z.sum().backward()
    (other * 3).sum().backward()
    assert x.grad.data.tolist() == [6, 6]


def test_flip_is_a_copy():
    w = leaf(1.0, 2.0)
    (w * 1).sum().backward()
    f = w.flip(0)
    SGD([w], lr=1.0).step()
    assert f.data.tolist() == [2, 1]


@pytest.mark.parametrize("array", [np.asfortranarray(np.ones((2, 3))), np.ones((3, 2)).T, np.ones((2, 3))[::-1, ::-1]])
def test_a_new_tensor_lies_in_c_order_so_reshape_is_a_view(array):
    x = Tensor(array)
    flat = x.flatten()
    x[1, 2] = 5.0
    assert flat.data.tolist() == [1, 1, 1, 1, 1, 5]


# -- generators under no_grad -------------------------------------------------------------------------------


@pytest.mark.parametrize("decorator", [no_grad, lambda f: no_grad()(f), lambda f: set_grad_enabled(False)(f)])
def test_a_generator_runs_under_its_decorator(decorator):
    switches, answers = [], []

    @decorator
    def steps(n):
        """Doc."""
        try:
            for i in range(n):
                switches.append(is_grad_enabled())
                answers.append((yield i))
        except KeyError:
            switches.append(is_grad_enabled())
            yield "caught"
        finally:
            switches.append(is_grad_enabled())
        return "end"

    for _ in steps(2):
        assert is_grad_enabled(), "not outside, between two steps"
    generator = steps(3)
    assert next(generator) == 0 and generator.send("sent") == 1 and answers[-1] == "sent"
    assert generator.throw(KeyError) == "caught"
    generator.close()

    def outer():
        return (yield from steps(1))

    running = outer()
    next(running)
    with pytest.raises(StopIteration) as ended:
        next(running)
    assert ended.value.value == "end" and steps.__doc__ == "Doc." and is_grad_enabled()
    assert len(switches) == 3 + 4 + 2 and not any(switches)


def test_enable_grad_on_a_generator():
    @enable_grad
    def steps():
        yield is_grad_enabled()

    with no_grad():
        assert list(steps()) == [True]


def test_a_coroutine_is_refused():
    with pytest.raises(TypeError, match="with no_grad"):

        @no_grad()
        async def step():
            pass


# -- errors are sentences -------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_of_no_numbers(axis):
    for shape in ((2, 0), (0, 2)):
        for f in (Tensor.softmax, Tensor.log_softmax):
            x = Tensor(np.zeros(shape), requires_grad=True)
            y = f(x, axis)
            y.sum().backward()
            assert y.shape == x.grad.shape == shape


@pytest.mark.parametrize("loss", [mse_loss, binary_cross_entropy, binary_cross_entropy_with_logits])
@pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_the_mean_loss_of_no_numbers_is_nan(loss):
    x = Tensor(np.zeros((0, 3)), requires_grad=True)
    y = loss(x, np.zeros((0, 3)))
    y.backward()
    assert math.isnan(y.item()) and x.grad.shape == (0, 3)


@pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("classes", [0, 3])
def test_the_cross_entropy_of_no_rows_is_nan(classes):
    x = Tensor(np.zeros((0, classes)), requires_grad=True)
    y = cross_entropy(x, np.zeros(0, int))
    y.backward()
    assert math.isnan(y.item()) and x.grad.shape == (0, classes)


def test_matmul_takes_lists_as_the_other_operators_do():
    x = leaf(1.0, 2.0)
    (x @ [3.0, 4.0] + [[1.0, 2.0]] @ x).sum().backward()
    assert x.grad.data.tolist() == [4, 6]


def test_logits_may_be_an_array():
    assert cross_entropy(np.zeros((2, 4)), [0, 1]).item() == pytest.approx(math.log(4))


def test_a_tuple_as_operand():
    x = leaf(2.0, 3.0)
    (x ** (2.0, 3.0)).sum().backward()
    assert x.grad.data.tolist() == [4, 27]


def test_cumsum_of_one_number():
    x = Tensor(2.0, requires_grad=True)
    y = x.cumsum(0)
    y.backward()
    assert y.shape == () and y.item() == 2 and x.grad.item() == 1


SENTENCES = {
    "cat of nothing": (lambda x: cat([]), ValueError, "cat needs at least one tensor"),
    "stack of nothing": (lambda x: stack([]), ValueError, "stack needs at least one tensor"),
    "cat, axis": (lambda x: cat([x, x], axis=5), IndexError, "axis 5 is out of bounds for array of dimension 1"),
    "cat, axis of a number": (lambda x: cat([x.sum(), x.sum()]), ValueError, "zero-dimensional arrays cannot be conc"),
    "cat, no axis": (lambda x: cat([x, x], axis=None), TypeError, "cat: axis is a whole number, not None"),
    "cumsum, no axis": (lambda x: x.cumsum(None), TypeError, "cumsum: axis is a whole number, not None"),
    "cumsum of one number": (lambda x: x.sum().cumsum(5), IndexError, "axis 5 is out of bounds"),
    "matmul, number": (lambda x: x @ 2.0, ValueError, r"the last axis of \(2,\) and .* of \(\) must have the same"),
    "matmul, number first": (lambda x: 2.0 @ x, ValueError, r"the last axis of \(\) and .* of \(2,\) must have"),
    "max of nothing": (lambda x: x[:0].max(), ValueError, "no largest or smallest of no numbers"),
    "min of nothing": (lambda x: x[:0].min(), ValueError, "no largest or smallest of no numbers"),
    "permute": (lambda x: x.permute(0, 1), ValueError, r"permute needs each axis of the shape \(2,\) once"),
    "permute of one number": (lambda x: x.sum().permute(0), ValueError, r"permute needs each axis of the shape \(\)"),
    "assigned text": (lambda x: (x * 1).__setitem__(0, "a"), ValueError, "could not convert string to float"),
    "copy_, shape": (lambda x: x.sum().detach().copy_([1.0, 2.0]), ValueError, r"from shape \(2,\) into shape \(\)"),
    "logits, one number": (lambda x: cross_entropy(x.sum(), 0), ValueError, r"logits of shape \(…, classes\)"),
    "backward, number": (lambda x: backward(3.0), TypeError, "backward takes a tensor, or a list of tensors, not 3.0"),
    "grad, array": (lambda x: grad(x.sum(), [x.data]), TypeError, "grad takes a tensor, or a list of tensors, not arr"),
    "grad, no outputs": (lambda x: grad([], [x]), ValueError, "starts at one tensor or more"),
    "mxnet.backward": (lambda x: mxnet.backward(None), TypeError, "takes a tensor, or a list of tensors, not None"),
    "lr": (lambda x: SGD([x], lr=-1), ValueError, "lr is at least 0 and less than inf, not -1"),
    "lr, nan": (lambda x: Adam([x], lr=math.nan), ValueError, "lr is at least 0 and less than inf, not nan"),
    "weight decay": (lambda x: AdamW([x], weight_decay=-1), ValueError, "weight_decay is at least 0"),
    "momentum": (lambda x: SGD([x], lr=1, momentum=-1), ValueError, "momentum is at least 0"),
    "betas": (lambda x: Adam([x], betas=(0.9, 1.0)), ValueError, "a beta is at least 0 and less than 1, not 1"),
    "parameters, text": (lambda x: SGD("ab", lr=1), TypeError, "an optimizer takes tensors, not 'a'"),
    "parameters, names": (lambda x: SGD({"w": x}, lr=1), TypeError, "an optimizer takes tensors, not 'w'"),
    "parameters, one array": (lambda x: SGD(x.detach().numpy(), lr=1), TypeError, "an optimizer takes tensors, not "),
    "parameters, none": (lambda x: SGD(None, lr=1), TypeError, "an optimizer takes tensors, not None"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_bad_input_gets_a_sentence(name):
    program, kind, sentence = SENTENCES[name]
    with pytest.raises(kind, match=sentence):
        program(Tensor([1.0, 2.0], requires_grad=True))


@pytest.mark.parametrize("answer", [0.5, "half", [1.0, 2.0]])
def test_what_a_hook_returns_is_a_tensor(answer):
    y = leaf(1.0, 2.0)
    y.register_hook(lambda g: answer)
    with pytest.raises(TypeError, match="a hook returns a tensor or an array, or None, not "):
        y.sum().backward()


def test_a_leaf_that_was_frozen_after_the_forward_gets_no_gradient():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = (x * w).sum()
    w.requires_grad_(False)
    y.backward()
    assert w.grad is None and x.grad.data.tolist() == [3, 4]


def test_no_numbers_do_not_fit_everywhere():
    """(2, 0) numbers are as many as (0,), but have another shape."""
    x = Tensor(np.zeros((2, 0)))
    with pytest.raises(ValueError, match="does not fit"):
        x[0] = x
    x[0] = Tensor(np.zeros((1, 0)))
