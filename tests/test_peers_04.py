"""Lesson 04 speaks PyTorch's words: the engine of the lesson and PyTorch give the same values and gradients."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is a peer to compare with, not a requirement")
RNG = np.random.default_rng(4)
MATRIX, OTHER, ROW, POSITIVE = (
    RNG.normal(size=(3, 4)),
    RNG.normal(size=(4, 5)),
    RNG.normal(size=4),
    RNG.uniform(0.5, 2, (3, 4)),
)
STACK = RNG.normal(size=(2, 3, 4))

PROGRAMS = {  # name: (program, the arrays of its leaves)
    "sums and products": (lambda a, b: (a + b) * a - b * 2.5 + a, [MATRIX, ROW]),
    "quotients": (lambda a, b: a / b - 2.5 / b, [MATRIX, POSITIVE]),
    "powers": (lambda a, n: a**3 + a**n, [POSITIVE, ROW]),
    "exp, log": (lambda a, b: (-b).exp() * a.log(), [POSITIVE, ROW]),
    "matrices": (lambda a, b: a @ b, [MATRIX, OTHER]),
    "a matrix and a vector": (lambda a, b: a @ b, [MATRIX, ROW]),
    "a vector and a matrix": (lambda a, b: a @ b, [ROW, OTHER]),
    "two vectors": (lambda a, b: a @ b, [ROW, 2 * ROW]),
    "a stack and a matrix": (lambda a, b: a @ b, [STACK, OTHER]),
    "a stack and a vector": (lambda a, b: a @ b, [STACK, ROW]),
    "sums": (lambda a: a.sum() + a.sum(1) * a.sum((0, 2)).sum(), [STACK]),
    "shapes": (lambda a, b: a.reshape(3, 8).transpose(0, 1).reshape(2, 4, 3) @ b, [STACK, MATRIX]),
    "a diamond": (lambda a: a * a * (a * a + a), [MATRIX]),
}


@pytest.fixture(scope="module")
def lesson():
    return reference_namespace("04_function")


def torch_leaf(numbers):
    return torch.tensor(numbers, requires_grad=True)


@pytest.mark.parametrize("program, arrays", PROGRAMS.values(), ids=PROGRAMS)
def test_the_same_values_and_gradients(lesson, program, arrays):
    ours, theirs = [lesson["Tensor"](x, requires_grad=True) for x in arrays], [torch_leaf(x) for x in arrays]
    out, other = program(*ours), program(*theirs)
    upstream = RNG.normal(size=out.shape)
    out.backward(upstream)
    other.backward(torch.tensor(upstream))
    np.testing.assert_allclose(out.data, other.detach().numpy())
    for x, y in zip(ours, theirs):
        np.testing.assert_allclose(x.grad.data, y.grad.numpy())


def backward_of_many(leaf):
    (leaf(MATRIX) * 2).backward()


def backward_twice(leaf):
    x = leaf(MATRIX)
    y = (x * x).sum()
    y.backward()
    y.backward()


@pytest.mark.parametrize("program", [backward_of_many, backward_twice], ids=lambda p: p.__name__)
def test_the_same_program_is_an_error_in_both(lesson, program):
    for leaf in (lambda x: lesson["Tensor"](x, requires_grad=True), torch_leaf):
        with pytest.raises(RuntimeError):
            program(leaf)


def test_retained_and_added_up(lesson):
    found = []
    for leaf in (lambda x: lesson["Tensor"](x, requires_grad=True), torch_leaf):
        x = leaf(MATRIX)
        y = (x * x + x).sum()
        y.backward(retain_graph=True)
        y.backward()
        found.append(np.asarray(x.grad.data))
    np.testing.assert_allclose(*found)
