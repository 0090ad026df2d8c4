"""Changes in place: recorded, counted, and an error only where backward needs what was overwritten."""

import numpy as np
import pytest

from tinygrad_cl.tensor import Tensor, grad, no_grad


def leaf(*numbers):
    return Tensor(np.array(numbers), requires_grad=True)


def test_what_the_seed_text_says_raises_does_not():
    """y = x * 2; y += 1 is harmless: nobody saved the old y."""
    x = leaf(1.0, 2.0)
    y = x * 2
    y += 1
    y.sum().backward()
    assert y.data.tolist() == [3, 5] and x.grad.data.tolist() == [2, 2]


@pytest.mark.parametrize(
    "use, name, what",
    [
        (lambda y: y * y, "Mul", "an input"),
        (lambda y: y**2, "Pow", "an input"),
        (lambda y: y.log(), "Log", "an input"),
        (lambda y: 1 / y, "Div", "an input"),
        (lambda y: y.reshape(1, 2) @ y, "MatMul", "an input"),
        (lambda y: y.sin(), "Sin", "an input"),
    ],
)
def test_a_saved_input_that_is_changed_is_an_error_that_names_the_operation(use, name, what):
    y = leaf(1.0, 2.0) * 2
    z = use(y).sum()
    with no_grad():
        y += 1
    with pytest.raises(RuntimeError, match=f"{name} saved {what}, of shape .*version 1, saved at version 0"):
        z.backward()


@pytest.mark.parametrize(
    "use",
    [
        lambda y: y.exp(),
        lambda y: y.sqrt(),
        lambda y: y.tanh(),
        lambda y: y.sigmoid(),
        lambda y: y.relu(),
        lambda y: y.softmax(),
    ],
)
def test_a_saved_result_that_is_changed_is_an_error(use):
    z = use(leaf(1.0, 2.0) * 2)
    z *= 3
    with pytest.raises(RuntimeError, match="saved its result, of shape"):
        z.sum().backward()


@pytest.mark.parametrize(
    "use",
    [
        lambda y: y + 5,
        lambda y: y * 3,
        lambda y: -y,
        lambda y: y.sum(),
        lambda y: y.mean(),
        lambda y: y.exp(),
        lambda y: y @ Tensor(np.ones((2, 2))),
        lambda y: y / 2,
        lambda y: y.clone(),
    ],
)
def test_where_the_old_value_is_not_needed_there_is_no_error(use):
    x, untouched = leaf(1.0, 2.0), leaf(1.0, 2.0)
    y = x * 2
    z = use(y).sum()
    y += 1
    z.backward()
    use(untouched * 2).sum().backward()
    assert np.array_equal(x.grad.data, untouched.grad.data)


@pytest.mark.parametrize(
    "change, reference",
    [
        (Tensor.__iadd__, lambda y, w: y + w),
        (Tensor.__isub__, lambda y, w: y - w),
        (Tensor.__imul__, lambda y, w: y * w.detach()),
        (Tensor.__itruediv__, lambda y, w: y / w.detach()),
    ],
)
def test_in_place_gives_the_gradients_of_the_other_way(change, reference):
    results = []
    for f in (change, reference):
        x, w = leaf(1.0, 2.0), leaf(3.0, 0.5)
        y = x * 2
        changed = f(y, w if f is reference or f in (Tensor.__iadd__, Tensor.__isub__) else w.detach())
        assert (changed is y) == (f is change)
        (changed * Tensor([1.0, 10.0])).sum().backward()
        results.append([changed.data.tolist(), x.grad.data.tolist(), w.grad is not None and w.grad.data.tolist()])
    assert results[0] == results[1]


@pytest.mark.parametrize("change", [Tensor.__imul__, Tensor.__itruediv__, Tensor.__ipow__])
def test_in_place_where_the_old_value_is_needed_for_the_others_gradient(change):
    y = leaf(1.0, 2.0) * 2
    y = change(y, leaf(3.0, 0.5))
    with pytest.raises(RuntimeError, match="saved an input, of shape"):
        y.sum().backward()


def test_in_place_with_an_array_writes_into_the_same_memory():
    x = Tensor([1.0, 2.0])
    data = x.data
    x += np.ones(2, np.float32)
    x *= 2
    x[0] = 9
    assert x.data is data and data.tolist() == [9, 6] and x.version.count == 3
    x.zero_()
    assert data.tolist() == [0, 0]


def test_set_item_passes_gradients_to_the_values_and_around_them():
    x, v = leaf(1.0, 2.0, 3.0), leaf(5.0)
    y = x * 2
    y[1:2] = v * v
    (y * Tensor([1.0, 10.0, 100.0])).sum().backward()
    assert y.data.tolist() == [2, 25, 6] and x.grad.data.tolist() == [2, 0, 200] and v.grad.data.tolist() == [100]


def test_one_row_in_place():
    x = Tensor(np.ones((2, 3)), requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match=r"write y\[0\] = y\[0\] \+ 1 instead of y\[0\] \+= 1"):
        y[0] += 1
    y[0] = y[0] * 5 + 1
    y.sum().backward()
    assert y.data.tolist() == [[11] * 3, [2] * 3] and x.grad.data.tolist() == [[10] * 3, [2] * 3]
    with no_grad():
        y[0] += 1
    assert y.data[0].tolist() == [12] * 3


def test_a_buffer_that_is_filled():
    x = leaf(1.0, 2.0, 3.0)
    buffer = Tensor(np.zeros(3))
    for i in range(3):
        buffer[i] = x[i] ** 2
    buffer.sum().backward()
    assert x.grad.data.tolist() == [2, 4, 6]


def test_views_share_their_version():
    y = leaf(1.0, 2.0) * 2
    z = (y * y).sum()
    with no_grad():
        y.reshape(2, 1)[0] = 7
    assert y.data[0] == 7
    with pytest.raises(RuntimeError, match="Mul saved an input"):
        z.backward()


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y.reshape(2, 1),
        lambda y: y[:1],
        lambda y: y.T,
        lambda y: y.detach(),
        lambda y: y.expand(3, 2),
    ],
)
def test_a_view_behind_ones_back_is_an_error(view):
    y = leaf(1.0, 2.0) * 2
    v = view(y)
    with pytest.raises(RuntimeError, match="would change another tensor that shares this memory"):
        y += 1
    if v.requires_grad and v.data.flags.writeable:
        with pytest.raises(RuntimeError, match="would change another tensor"):
            v += 1
    with pytest.raises(RuntimeError, match="would change another tensor"):
        y.zero_()
    del v
    y += 1  # now it is alone
    y.sum().backward()


@pytest.mark.parametrize(
    "change, error, words",
    [
        (lambda x: x.__iadd__(1), RuntimeError, r"\+= on a leaf that requires a gradient"),
        (lambda x: x.__setitem__(0, 1.0), RuntimeError, r"x\[…\] = on a leaf"),
        (lambda x: (x * 1).__iadd__(np.ones((3, 2))), ValueError, r"\+= would change the shape \(2,\) to \(3, 2\)"),
        (lambda x: Tensor([1, 2]).__iadd__(0.5), TypeError, r"\+= would put float32 into int64"),
    ],
)
def test_errors(change, error, words):
    x = leaf(1.0, 2.0)
    with pytest.raises(error, match=words):
        change(x)
    assert x.data.tolist() == [1, 2]


def test_a_change_between_backward_and_double_backward_is_noticed():
    x = leaf(1.0, 2.0)
    y = x * 2
    (g,) = grad((y**3).sum(), x, create_graph=True)
    with no_grad():
        y += 1
    with pytest.raises(RuntimeError, match="Pow saved an input"):
        g.sum().backward()


def test_parameters_change_under_no_grad():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    with no_grad():
        x -= 0.5
    assert x.requires_grad and x.is_leaf and x.data.tolist() == [0.5, 1.5]
    with pytest.raises(RuntimeError, match="Mul saved an input"):
        y.backward()
    (x * x).sum().backward()
    assert x.grad.data.tolist() == [1, 3]


def test_ten_thousand_views_cost_no_more_than_their_number_and_none_is_kept():
    y = Tensor(np.arange(10_000.0), requires_grad=True) * 2
    rows = [y[i : i + 1] for i in range(10_000)]
    with pytest.raises(RuntimeError, match="would change another tensor"):
        y += 1
    del rows
    for _ in range(100):
        y.reshape(-1, 2)
    y += 1
    assert len(y.version.sharers) < 20_000
