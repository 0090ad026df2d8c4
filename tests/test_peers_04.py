"""Lesson 04 speaks PyTorch's words: the engine of the lesson and PyTorch give the same values and gradients."""

import numpy as np
import pytest

from autograder.judge.reference import reference_namespace

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


@pytest.fixture(scope="module")
def leaf(lesson):
    return lambda numbers: lesson["Tensor"](numbers, requires_grad=True)


def torch_leaf(torch):
    return lambda numbers: torch.tensor(numbers, requires_grad=True)


@pytest.mark.parametrize("program, arrays", PROGRAMS.values(), ids=PROGRAMS)
def test_the_same_values_and_gradients(leaf, torch_says, program, arrays):
    ours = [leaf(x) for x in arrays]
    out = program(*ours)
    upstream = np.asarray(np.random.default_rng(0).normal(size=out.shape))
    out.backward(upstream)

    def theirs(torch):
        leaves = [torch_leaf(torch)(x) for x in arrays]
        out = program(*leaves)
        return out, torch.autograd.grad(out, leaves, torch.tensor(upstream))

    other, gradients = torch_says(theirs)
    np.testing.assert_allclose(out.data, other)
    for x, gradient in zip(ours, gradients, strict=True):
        np.testing.assert_allclose(x.grad.data, gradient)


def backward_of_many(leaf):
    (leaf(MATRIX) * 2).backward()


def backward_twice(leaf):
    x = leaf(MATRIX)
    y = (x * x).sum()
    y.backward()
    y.backward()


@pytest.mark.parametrize("program", [backward_of_many, backward_twice], ids=lambda p: p.__name__)
def test_the_same_program_is_an_error_in_both(leaf, torch_says, program):
    for run in (lambda: program(leaf), lambda: torch_says(lambda torch: program(torch_leaf(torch)))):
        with pytest.raises(RuntimeError):
            run()


def retained_and_added_up(leaf):
    x = leaf(MATRIX)
    y = (x * x + x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


def test_retained_and_added_up(leaf, torch_says):
    theirs = torch_says(lambda torch: retained_and_added_up(torch_leaf(torch)))
    np.testing.assert_allclose(retained_and_added_up(leaf).data, theirs)
