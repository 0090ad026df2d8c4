"""Functions and their contexts: custom operations, what is saved, and clear errors; the examples in the docstrings."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest

from tinygrad_cl import tensor
from tinygrad_cl.tensor import Function, Tensor, grad, mxnet, saved_bytes

MODULES = [importlib.import_module(m.name) for m in pkgutil.walk_packages(tensor.__path__, "tinygrad_cl.tensor.")]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_the_examples_in_the_docstrings(module):
    names = {name: getattr(tensor, name) for name in tensor.__all__}
    if ".core" in module.__name__:
        names |= {name: getattr(tensor.core, name) for name in tensor.core.__all__}
    names |= {"np": np} | vars(module)
    assert doctest.testmod(module, extraglobs=names).failed == 0


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_files_are_read_in_one_sitting(module):
    lines = Path(module.__file__).read_text(encoding="utf-8").splitlines()
    assert len(lines) < 300
    assert [line for line in lines if len(line) > 120] == []


def test_the_public_names_are_all_there():
    assert all(hasattr(tensor, name) for name in tensor.__all__)


class Cube(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * ctx.factor * x * x, None


class StraightThrough(Function):
    """Rounds forward, and does nothing backward."""

    @staticmethod
    def forward(ctx, x):
        return np.round(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


class MaskedSoftmax(Function):
    @staticmethod
    def forward(ctx, x, mask):
        e = np.where(mask, np.exp(x - x.max(-1, keepdims=True)), 0)
        y = e / e.sum(-1, keepdims=True)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return y * (grad - (grad * y).sum(-1, keepdims=True)), None


def test_a_custom_function_and_its_second_and_third_derivative():
    x = Tensor([2.0], requires_grad=True)
    y = Cube.apply(x, 5.0)
    assert repr(y.grad_fn) == "<CubeBackward>" and y.grad_fn.needs_input_grad == (True, False)
    (first,) = grad(y, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert (first.item(), second.item(), third.item()) == (60, 60, 30)


def test_what_a_function_hangs_on_its_context_is_there_in_backward():
    class Reshaped(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape, ctx.dtype, ctx.type, ctx.shapes, ctx.saved = x.shape, x.dtype, type(x), [x.shape], 2 * x
            return x.reshape(-1)

        @staticmethod
        def backward(ctx, grad):
            assert (ctx.dtype, ctx.type, ctx.shapes) == (np.float32, np.ndarray, [(2, 3)])
            return grad.reshape(ctx.shape) * ctx.saved

    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    Reshaped.apply(x).sum().backward()
    assert np.array_equal(x.grad.data, 2 * x.data)


def test_straight_through():
    x = Tensor([0.4, 1.6], requires_grad=True)
    (StraightThrough.apply(x) * Tensor([10.0, 100.0])).sum().backward()
    assert x.grad.data.tolist() == [10, 100]


def test_masked_softmax_gives_the_masked_no_gradient():
    x = Tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    mask = np.array([[True, False, True]])
    y = MaskedSoftmax.apply(x, mask)
    y.backward([[1.0, 10.0, 100.0]])
    assert x.grad.data[0, 1] == 0 and x.grad.data[0, 0] == pytest.approx(-x.grad.data[0, 2]) and x.grad.data[0, 0] < 0


def test_backward_gets_tensors_and_forward_gets_arrays():
    kinds = []

    class Spy(Function):
        @staticmethod
        def forward(ctx, x, number, nothing):
            kinds.append((type(x), type(number), nothing))
            ctx.save_for_backward(x, np.arange(3.0), 7)
            return x

        @staticmethod
        def backward(ctx, grad):
            kinds.append((type(grad), *map(type, ctx.saved_tensors)))
            return grad, None, None

    x = Tensor([1.0], requires_grad=True)
    Spy.apply(x, np.float64(2), None).backward()
    assert kinds == [(np.ndarray, float, None), (Tensor, Tensor, Tensor, int)]


def rule(name, backward, forward=lambda ctx, x: 2 * x):
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


@pytest.mark.parametrize(
    "function, error, words",
    [
        (rule("Two", lambda ctx, grad: (grad, grad)), RuntimeError, "Two.backward returned 2 gradients for 1 inputs"),
        (
            rule("Big", lambda ctx, grad: grad.expand(5, 3).reshape(15)),
            ValueError,
            r"Big.backward: a gradient of shape \(15,\) does not fit an input of shape \(3,\)",
        ),
        (rule("Small", lambda ctx, grad: grad.sum()), ValueError, r"Small.backward: .* shape \(\) does not fit"),
        (rule("Tuple", lambda ctx, grad: grad, lambda ctx, x: (x, x)), TypeError, "Tuple.forward returned a tuple"),
    ],
)
def test_a_wrong_rule_is_told_what_is_wrong(function, error, words):
    x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.raises(error, match=words):
        function.apply(x).sum().backward()


def test_a_rule_may_return_the_array_that_forward_saved():
    saved = rule("Saved", lambda ctx, grad: ctx.saved_tensors[0], lambda ctx, x: (ctx.save_for_backward(x), 2 * x)[1])
    x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    saved.apply(x).sum().backward()
    assert x.grad.data.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "act, error, words",
    [
        (lambda x: x + Tensor(np.zeros(4)), ValueError, r"Add: the shapes \(2, 3\) and \(4,\) do not broadcast"),
        (lambda x: np.zeros(4) * x, ValueError, r"Mul: the shapes \(4,\) and \(2, 3\) do not broadcast"),
        (lambda x: x.expand(4, 2), ValueError, r"Expand: the shapes \(2, 3\) do not broadcast|broadcast"),
        (lambda x: x @ x, ValueError, r"MatMul: the last axis of \(2, 3\) and the last but one"),
        (lambda x: x @ Tensor(2.0), ValueError, "MatMul"),
        (lambda x: Function.apply(1.0), TypeError, "Function.apply needs a tensor among its inputs"),
        (lambda x: Function.apply(x), NotImplementedError, r"forward\(ctx, \*arrays\)"),
        (
            lambda x: Cube.apply(Tensor(1.0), factor=x),
            TypeError,
            "an option gets no gradient; make the tensor an input",
        ),
        (lambda x: bool(x), ValueError, r"is a tensor of shape \(2, 3\) true\?"),
        (lambda x: x.item(), ValueError, r"item\(\) needs a tensor of one number, not of shape \(2, 3\)"),
        (lambda x: x.numpy(), RuntimeError, r"\.detach\(\)\.numpy\(\)"),
        (lambda x: np.asarray(x), RuntimeError, r"\.detach\(\)\.numpy\(\)"),
        (lambda x: np.exp(x), TypeError, "ufunc"),
        (lambda x: len(x.sum()), TypeError, "no length"),
        (lambda x: Tensor([1, 2], requires_grad=True), TypeError, r"not int64: write Tensor\(\[1\.0, 2\.0\]\)"),
        (lambda x: Tensor(["a"]), TypeError, "a tensor holds real numbers"),
        (lambda x: Tensor([1j]), TypeError, "a tensor holds real numbers, not complex128"),
        (lambda x: (x * 2).requires_grad_(False), RuntimeError, r"use \.detach\(\)"),
        (lambda x: tensor.embedding([0, 2], x), IndexError, "has rows 0 to 1; asked for were 0 to 2"),
        (lambda x: tensor.embedding([0.0], x), TypeError, "whole numbers, not float64"),
        (lambda x: tensor.mse_loss(x, x[0]), ValueError, r"shape \(2, 3\), the target \(3,\)"),
        (lambda x: tensor.cross_entropy(x, [0, 3]), ValueError, "with 3 classes: the targets go from 0 to 3"),
        (lambda x: tensor.cross_entropy(x, [0.0, 1.0]), ValueError, "whole numbers of shape"),
        (lambda x: tensor.binary_cross_entropy(x + 2, np.ones((2, 3))), ValueError, "probabilities from 0 to 1"),
        (lambda x: tensor.binary_cross_entropy(x, x), ValueError, "the target gets no gradient"),
        (lambda x: tensor.dropout(x, 1.5), ValueError, "from 0 to 1, not 1.5"),
    ],
)
def test_errors_are_one_clear_sentence(act, error, words):
    x = Tensor(np.full((2, 3), 0.5, np.float32), requires_grad=True)
    with pytest.raises(error, match=words):
        act(x)


def test_saved_bytes_of_a_linear_layer():
    x, w, b = (
        Tensor(np.zeros((32, 512), np.float32)),
        Tensor(np.zeros((512, 768), np.float32)),
        Tensor(np.zeros(768, np.float32)),
    )
    for p in (w, b):
        p.requires_grad_()
    assert saved_bytes(x @ w + b) == 32 * 512 * 4  # w is saved only for the gradient of x, and b never
    x.requires_grad_()
    assert saved_bytes(x @ w + b) == (32 * 512 + 512 * 768) * 4
    assert saved_bytes(x @ w + b, without=[w]) == 32 * 512 * 4
    hidden = (x @ w + b).relu()
    assert saved_bytes(hidden, without=[w, x]) == 32 * 768 * 4
    assert saved_bytes(hidden.T @ hidden, without=[w, x]) == 32 * 768 * 4  # one memory, saved three times
    hidden.sum().backward(retain_graph=True)
    assert saved_bytes(hidden, without=[w, x]) == 32 * 768 * 4
    hidden.sum().backward()
    assert saved_bytes(hidden) == 0
    assert saved_bytes(x) == 0


def test_mxnets_words_as_in_dive_into_deep_learning():
    x = mxnet.array(np.arange(4.0))
    x.attach_grad()
    assert x.grad.data.tolist() == [0, 0, 0, 0]
    with mxnet.record():
        y = 2 * mxnet.dot(x, x)
    y.backward()
    assert (x.grad == 4 * x).data.all()
    with mxnet.record():
        y = x.sum()
    y.backward()
    assert x.grad.data.tolist() == [1, 1, 1, 1]  # overwritten
    with mxnet.record():
        y = x * x
        u = y.detach()
        z = u * x
    z.backward()  # ones as the head gradient
    assert (x.grad == u).data.all()
    y.backward()
    assert (x.grad == 2 * x).data.all()
    with mxnet.record():
        y = x * x
    y.backward(mxnet.array([1.0, 10.0, 100.0, 1000.0]))
    assert x.grad.data.tolist() == [0, 20, 400, 6000]
    x.attach_grad("add")
    for _ in range(2):
        mxnet.backward([x.sum(), (2 * x).sum()])
    assert x.grad.data.tolist() == [6, 6, 6, 6]
    with mxnet.pause():
        assert not mxnet.is_recording() and not (x * x).requires_grad
    x.attach_grad("null")
    assert x.grad is None and not x.requires_grad
    with pytest.raises(ValueError, match='"write", "add" or "null"'):
        x.attach_grad("often")


@pytest.mark.parametrize("a", [0.01, -3.0, 700.0])
def test_the_doubling_function(a):
    def f(a):
        b = a * 2
        while b.norm() < 1000:
            b = b * 2
        return b if b.sum() > 0 else 100 * b

    a = mxnet.array(a)
    a.attach_grad()
    with mxnet.record():
        d = f(a)
    d.backward()
    assert (a.grad == d / a).data.all()
