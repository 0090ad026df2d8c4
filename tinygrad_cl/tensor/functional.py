"""Functions that are no methods: of several tensors, losses, dropout."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tinygrad_cl.tensor import random as randomness
from tinygrad_cl.tensor.core import losses
from tinygrad_cl.tensor.core.function import Function
from tinygrad_cl.tensor.core.indexing import Embedding
from tinygrad_cl.tensor.core.variable import Variable, raw
from tinygrad_cl.tensor.elementwise import Where
from tinygrad_cl.tensor.shapes import Cat
from tinygrad_cl.tensor.tensor_class import Tensor, as_tensor

Operand: TypeAlias = Variable | ArrayLike


def where(condition: Operand, a: Operand, b: Operand) -> Tensor:
    """Elements of a where the condition is true, elements of b elsewhere.

    >>> where([True, False], Tensor([1.0, 2.0]), 0.0)
    Tensor([1., 0.])
    """
    if not any(isinstance(x, Tensor) for x in (condition, a, b)):
        a = Tensor(a)
    return Where.apply(condition, a, b)


def cat(tensors: Iterable[Operand], axis: int = 0) -> Tensor:
    """Concatenate tensors along an axis; their other axes must be equal.

    >>> cat([Tensor([1.0]), Tensor([2.0, 3.0])])
    Tensor([1., 2., 3.])
    """
    return Cat.apply(*some("cat", tensors), axis=axis)


def stack(tensors: Iterable[Operand], axis: int = 0) -> Tensor:
    """Stack tensors of one shape along a new axis.

    >>> stack([Tensor([1.0, 2.0]), Tensor([3.0, 4.0])], axis=1).shape
    (2, 2)
    """
    return cat([x.unsqueeze(axis) for x in some("stack", tensors)], axis)


def some(name, tensors):
    """The tensors as a list, which is not empty."""
    tensors = [as_tensor(x) for x in tensors]
    if not tensors:
        raise ValueError(f"{name} needs at least one tensor")
    return tensors


def embedding(indices: ArrayLike, weight: Tensor) -> Tensor:
    """Rows of the table `weight` (rows, features) by their indices: shape (*indices.shape, features)."""
    return Embedding.apply(weight, np.array(raw(indices)))


def dropout(x: Tensor, p: float = 0.5, training: bool = True, generator: np.random.Generator | None = None) -> Tensor:
    """Set each element to 0 with probability p, and divide the others by 1 − p. x itself if not training.

    generator   a NumPy Generator; by default the one that manual_seed seeds
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p is the probability to be dropped, from 0 to 1, not {p}")
    if not training or p == 0:
        return x
    return Dropout.apply(x, p=p, rng=generator or randomness.default_generator())


class Dropout(Function):
    """x / (1 − p) where a random mask keeps it, and 0 elsewhere.

    ∂L/∂x = grad / (1 − p) where it was kept, and 0 elsewhere

    p      the probability that an element is dropped
    rng    a NumPy Generator

    >>> x = Tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    >>> y = dropout(x, 0.5, generator=np.random.default_rng(0))
    >>> y.sum().backward(); y.data, x.grad
    (array([2., 0., 0., 0.], dtype=float32), Tensor([2., 0., 0., 0.]))
    """

    def forward(ctx, x, p, rng):
        mask = rng.random(x.shape) >= p
        ctx.save_for_backward(mask)
        ctx.scale = 1 / (1 - p) if p < 1 else 0.0
        return np.where(mask, x, 0) * ctx.scale

    def backward(ctx, grad):
        (mask,) = ctx.saved_tensors
        return Where.apply(mask, grad, 0.0) * ctx.scale


def mse_loss(prediction: Operand, target: Operand) -> Tensor:
    """The mean squared error. ValueError if the shapes differ: (n, 1) and (n,) would broadcast to (n, n)."""
    prediction, target = same_shapes("mse_loss", prediction, target)
    return mean_loss(losses.MSELoss, prediction, target)


def binary_cross_entropy(probabilities: Operand, target: Operand) -> Tensor:
    """Binary cross-entropy of probabilities from 0 to 1, with targets from 0 to 1."""
    probabilities, target = same_shapes("binary_cross_entropy", probabilities, target)
    constant("binary_cross_entropy", target)
    if not np.all((0 <= probabilities.data) & (probabilities.data <= 1)):
        raise ValueError(
            "binary_cross_entropy needs probabilities from 0 to 1; for real numbers,"
            " use binary_cross_entropy_with_logits"
        )
    return mean_loss(BCELoss, probabilities, target)


class BCELoss(Function):
    """Binary cross-entropy, −Σ (t ln p + (1 − t) ln(1 − p)) / N, of probabilities p and targets t.

    ∂L/∂p = grad · (p − t) / (p (1 − p)) / N

    As in PyTorch, logarithms are clamped to at least −100 and p (1 − p) to at least 10⁻¹², so loss and
    gradient are finite for p = 0 and p = 1. The target gets no gradient.

    >>> p = Tensor([0.5, 0.8], requires_grad=True)
    >>> binary_cross_entropy(p, [1.0, 0.0]).backward(); p.grad
    Tensor([-1. ,  2.5])
    """

    def forward(ctx, p, t):
        ctx.save_for_backward(p, t)
        with np.errstate(divide="ignore"):
            log_p, log_not_p = np.maximum(np.log(p), -100), np.maximum(np.log(1 - p), -100)
        return -np.mean(t * log_p + (1 - t) * log_not_p)

    def backward(ctx, grad):
        p, t = ctx.saved_tensors
        return grad * (p - t) / (p * (1 - p)).maximum(1e-12) * (1 / p.size), None


def binary_cross_entropy_with_logits(logits: Operand, target: Operand) -> Tensor:
    """Binary cross-entropy of sigmoid(logits), with targets from 0 to 1."""
    logits, target = same_shapes("binary_cross_entropy_with_logits", logits, target)
    constant("binary_cross_entropy_with_logits", target)
    return mean_loss(losses.BCEWithLogitsLoss, logits, target)


def cross_entropy(logits: Tensor, target: Operand) -> Tensor:
    """Cross-entropy of softmax(logits), shape (…, classes), with class indices (…) as targets."""
    logits, target = as_tensor(logits), np.asarray(raw(target))
    if not logits.ndim:
        raise ValueError("cross_entropy needs logits of shape (…, classes), not one number")
    if target.dtype.kind not in "iu" or target.shape != logits.shape[:-1]:
        raise ValueError(
            f"cross_entropy of logits {logits.shape} needs whole numbers of shape"
            f" {logits.shape[:-1]} as targets, not {target.dtype} {target.shape}"
        )
    if target.size and not 0 <= target.min() <= target.max() < logits.shape[-1]:
        raise ValueError(
            f"cross_entropy with {logits.shape[-1]} classes: the targets go from {target.min()} to {target.max()}"
        )
    return mean_loss(losses.CrossEntropyLoss, logits, target)


def mean_loss(loss, prediction, target):
    """The mean of no numbers is NaN, as in PyTorch; a loss has a rule for some."""
    return loss.apply(prediction, target) if prediction.size else prediction.mean()


def same_shapes(name: str, prediction: Operand, target: Operand) -> tuple[Tensor, Tensor]:
    """Both as tensors. ValueError if their shapes differ."""
    prediction, target = as_tensor(prediction), as_tensor(target)
    if prediction.shape != target.shape:
        raise ValueError(
            f"{name}: the prediction has shape {prediction.shape}, the target {target.shape}; they must be equal"
        )
    return prediction, target


def constant(name: str, target: Tensor) -> None:
    if target.requires_grad:
        raise ValueError(f"{name}: the target gets no gradient; detach() it")
