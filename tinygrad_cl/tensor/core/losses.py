"""Losses: the mean error of the predictions, one number; accurate for very large inputs, too."""

import numpy as np

from tinygrad_cl.tensor.core.function import Function


class MSELoss(Function):
    """The mean squared error Σ (prediction − target)² / N, N the number of elements.

    ∂L/∂prediction = grad · 2 (prediction − target) / N        ∂L/∂target = −∂L/∂prediction

    >>> p = Tensor([1.0, 2.0], requires_grad=True)
    >>> loss = mse_loss(p, Tensor([0.0, 4.0]))
    >>> loss.backward(); loss, p.grad
    (Tensor(2.5, grad_fn=<MSELossBackward>), Tensor([ 1., -2.]))
    """

    @staticmethod
    def forward(ctx, prediction, target):
        ctx.save_for_backward(prediction, target)
        return np.mean((prediction - target) ** 2)

    @staticmethod
    def backward(ctx, grad):
        prediction, target = ctx.saved_tensors
        slope = grad * (prediction - target) * (2 / prediction.size)
        return slope, -slope


class BCEWithLogitsLoss(Function):
    """Binary cross-entropy of p = sigmoid(x), computed from x.

    Σ (max(x, 0) − x t + ln(1 + e^(−|x|))) / N, N the number of elements, t the target, also a list

    ∂L/∂x = grad · (sigmoid(x) − t) / N

    The same number as the mean of −t ln p − (1 − t) ln(1 − p), but without a logarithm of 0. The
    target gets no gradient.

    >>> x = Tensor([0.0, 1000.0], requires_grad=True)
    >>> binary_cross_entropy_with_logits(x, [1.0, 0.0]).backward(); x.grad
    Tensor([-0.25,  0.5 ])
    """

    @staticmethod
    def forward(ctx, x, t):
        ctx.save_for_backward(x, t)
        return np.mean(np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x))))

    @staticmethod
    def backward(ctx, grad):
        x, t = ctx.saved_tensors
        return grad * (x.sigmoid() - t) * (1 / x.size), None


class CrossEntropyLoss(Function):
    """−Σ ln softmax(x)[target] / N: N rows of logits x, one class index in `target` for each row.

    ∂L/∂x = grad · (softmax(x) − onehot(target)) / N

    x (…, classes); target (…), an array or a list of whole numbers. A row of onehot(target) is 1 at
    its class, 0 elsewhere. Softmax is along the last axis. ln softmax is computed in one step, so
    that logits of ±1000 do not overflow.

    >>> x = Tensor([[0.0, 0.0], [1000.0, 0.0]], requires_grad=True)
    >>> cross_entropy(x, [0, 1]).backward(); x.grad
    Tensor([[-0.25,  0.25],
            [ 0.5 , -0.5 ]])
    """

    @staticmethod
    def forward(ctx, x, target):
        target = np.asarray(target)
        ctx.onehot = target[..., None] == np.arange(x.shape[-1])
        ctx.save_for_backward(x)
        shifted = x - x.max(-1, keepdims=True)
        log_sum = np.log(np.exp(shifted).sum(-1))
        return np.mean(log_sum - shifted[ctx.onehot].reshape(target.shape))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        rows = ctx.onehot.size // ctx.onehot.shape[-1]
        return grad * (x.softmax(-1) - ctx.onehot) * (1 / rows), None
