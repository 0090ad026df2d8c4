"""tinygrad_cl.tensor.tinytorch: TinyTorch's words, and rules written as its Functions."""

import numpy as np
import pytest

from tinygrad_cl.tensor import no_grad
from tinygrad_cl.tensor.tinytorch import Function, Tensor, enable_autograd


class Product(Function):
    """The rule of a · b, as TinyTorch writes it: arrays in, arrays out, None where nobody asks."""

    def apply(self, grad_output):
        a, b = self.saved_tensors
        return [grad_output * y.data if x.requires_grad else None for x, y in ((a, b), (b, a))]


class Total(Function):
    def __init__(self, x):
        self.saved_tensors = (x,)  # without super().__init__, as in its text

    def apply(self, grad_output):
        return np.ones_like(self.saved_tensors[0].data) * grad_output


def product(a, b):
    result = Tensor(a.data * b.data)
    result._grad_fn = Product(a, b)
    return result


def test_a_function_of_its_kind_is_a_node_of_the_graph():
    a, b = Tensor([[1, 2], [3, 4]], requires_grad=True), Tensor([10, 20], requires_grad=True)
    y = product(a, b) + a
    total = Tensor(y.data.sum())
    total._grad_fn = Total(y)
    (total * 2).backward()
    assert a.grad.tolist() == [[22, 42], [22, 42]] and b.grad.tolist() == [8, 12]  # b was broadcast
    assert isinstance(a.grad, np.ndarray) and isinstance(total._grad_fn, Total)
    assert repr(total.grad_fn) == "<TotalBackward>" and (a * 2)._grad_fn is not None and a._grad_fn is None


def test_what_needs_no_gradient_is_not_asked():
    a, b = Tensor([1.0], requires_grad=True), Tensor([5.0])
    product(a, b).backward()
    assert a.grad.tolist() == [5] and b.grad is None
    assert not product(b, b).requires_grad
    with no_grad():
        assert not product(a, b).requires_grad


def test_backward_adds_and_keeps_the_graph():
    x = Tensor([[1, 2]], requires_grad=True)
    loss = x.matmul(Tensor([[3], [4]])).sum()
    loss.backward()
    loss.backward()
    assert x.dtype == np.float32 and x.grad.tolist() == [[6, 8]]
    x.zero_grad()
    assert x.grad is None
    Tensor([1.0]).backward()  # nothing to do
    with pytest.raises(ValueError, match="needs a gradient of that shape"):
        (x * 2).backward()
    (x * 2).backward(np.array([[1.0, 10.0]]))
    assert x.grad.tolist() == [[2, 20]]


def test_a_step_by_the_data():
    x = Tensor([1.0, 2.0], requires_grad=True)
    for _ in range(2):
        x.grad = None
        (x * x).sum().backward()
        x.data -= 0.25 * x.grad
    assert x.data.tolist() == [0.25, 0.5]


def test_transpose_without_dimensions_swaps_the_last_two():
    x = Tensor(np.arange(24).reshape(2, 3, 4))
    assert (
        x.transpose().shape == (2, 4, 3)
        and x.transpose(0, 2).shape == (4, 3, 2)
        and Tensor([1, 2]).transpose().shape == (2,)
    )


def test_errors_are_sentences():
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = Tensor([1.0, 2.0])
    y._grad_fn = Function(x)
    with pytest.raises(NotImplementedError, match=r"apply\(grad_output\)"):
        y.backward([1.0, 1.0])
    y = Tensor([1.0, 2.0])
    y._grad_fn = Product(x, x)
    y._grad_fn.saved_tensors = (x, x, x)
    with pytest.raises(ValueError, match="too many values"):
        y.backward([1.0, 1.0])
    enable_autograd(quiet=True)
