"""torch.nn.functional."""

from tinygrad_cl.tensor import functional
from tinygrad_cl.tensor.functional import dropout, embedding
from tinygrad_cl.tensor.torch.tensor_class import Tensor

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "dropout",
    "embedding",
    "gelu",
    "linear",
    "log_softmax",
    "mse_loss",
    "relu",
    "sigmoid",
    "softmax",
    "tanh",
]

relu, sigmoid, tanh = Tensor.relu, Tensor.sigmoid, Tensor.tanh


def softmax(input, dim):
    return input.softmax(dim)


def log_softmax(input, dim):
    return input.log_softmax(dim)


def gelu(input, approximate="none"):
    """x Φ(x), by the formula with tanh; the exact one, PyTorch's default, needs erf, which is not there."""
    if approximate != "tanh":
        raise ValueError('gelu: say approximate="tanh"; the exact one needs erf, which engine 2 has not')
    return input.gelu()


def linear(input, weight, bias=None):
    """x Wᵀ + b."""
    product = input @ weight.mT
    return product if bias is None else product + bias


def reduced(mean, count, reduction):
    """A loss that the engine gives as a mean over `count` numbers, as PyTorch's reduction asks."""
    if reduction not in ("mean", "sum"):
        raise ValueError(f'a loss is reduced by "mean" or "sum"; {reduction!r} is not offered')
    return mean if reduction == "mean" else mean * count


def mse_loss(input, target, *, reduction="mean"):
    return reduced(functional.mse_loss(input, target), input.numel(), reduction)


def binary_cross_entropy(input, target, *, reduction="mean"):
    return reduced(functional.binary_cross_entropy(input, target), input.numel(), reduction)


def binary_cross_entropy_with_logits(input, target, *, reduction="mean"):
    return reduced(functional.binary_cross_entropy_with_logits(input, target), input.numel(), reduction)


def cross_entropy(input, target, *, reduction="mean"):
    """Of logits (classes), (n, classes) or (n, classes, …) with whole numbers (), (n) or (n, …)."""
    classes_last = input if input.ndim < 3 else input.permute(0, *range(2, input.ndim), 1)
    count = input.numel() // max(classes_last.shape[-1], 1)
    return reduced(functional.cross_entropy(classes_last, target), count, reduction)
