"""Optimizers: from gradients to better parameters."""

import math

import numpy as np

from tinygrad_cl.tensor.core.variable import Variable


def at_least_0(name, value, below=math.inf):
    """The value as a float. ValueError if it is negative, NaN, or not below `below`."""
    value = float(value)
    if not 0 <= value < below:
        raise ValueError(f"{name} is at least 0 and less than {below}, not {value}")
    return value


class Optimizer:
    """Holds parameters, and updates them; a subclass defines `update`, for one parameter."""

    def __init__(self, parameters, lr, weight_decay=0.0):
        alone = parameters is None or isinstance(parameters, Variable)
        self.parameters = [parameters] if alone else list(parameters)
        if not self.parameters:
            raise ValueError("an optimizer needs parameters; a generator is empty the second time")
        for p in self.parameters:
            if not isinstance(p, Variable):
                raise TypeError(f"an optimizer takes tensors, not {p!r}")
        if not all(p.is_leaf and p.requires_grad for p in self.parameters):
            raise ValueError("an optimizer takes leaves with requires_grad=True")
        if len(set(self.parameters)) < len(self.parameters):
            raise ValueError("an optimizer takes each parameter once: twice, it would step twice")
        self.lr = at_least_0("lr", lr)
        self.weight_decay = at_least_0("weight_decay", weight_decay)
        self.state = [{} for _ in self.parameters]

    def zero_grad(self):
        """Set the gradient of every parameter to None."""
        for parameter in self.parameters:
            parameter.grad = None

    def step(self):
        """Update every parameter that has a gradient, in place."""
        for parameter, state in zip(self.parameters, self.state):
            if parameter.grad is not None:
                parameter.copy_(self.update(parameter.data, parameter.grad.data, state))

    def update(self, p, g, state):
        """The new array for the parameter p with gradient g; `state` is a dict for this one."""
        raise NotImplementedError


class SGD(Optimizer):
    """Stochastic gradient descent, p ← p − lr · g.

    With momentum μ (Polyak 1964), v ← μ v + g and p ← p − lr · v; with nesterov=True (Sutskever et
    al. 2013) p ← p − lr · (g + μ v). With weight decay λ, g ← g + λ p comes first.

    >>> p = Tensor([1.0, 2.0], requires_grad=True)
    >>> (p * p).sum().backward(); SGD([p], lr=0.25).step(); p
    Tensor([0.5, 1. ], requires_grad=True)
    """

    def __init__(self, parameters, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(parameters, lr, weight_decay)
        if nesterov and not momentum:
            raise ValueError("nesterov needs a momentum")
        self.momentum = at_least_0("momentum", momentum)
        self.nesterov = nesterov

    def update(self, p, g, state):
        """The new p, by the formulas above. With a momentum, v is kept in the dict `state`, which is
        empty at first.

        The first v is g. p and g are arrays, and are not changed.
        """
        if self.weight_decay:
            g = g + self.weight_decay * p
        if self.momentum:
            v = state["v"] = self.momentum * state["v"] + g if "v" in state else g.copy()
            g = g + self.momentum * v if self.nesterov else v
        return p - self.lr * g


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015): bias-corrected running means of g and g².

    m ← β₁ m + (1 − β₁) g         m̂ = m / (1 − β₁ᵗ)
    v ← β₂ v + (1 − β₂) g²        v̂ = v / (1 − β₂ᵗ)
    p ← p − lr · m̂ / (√v̂ + ε)

    With weight decay λ, g ← g + λ p comes first.
    """

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(parameters, lr, weight_decay)
        self.betas = tuple(at_least_0("a beta", beta, below=1) for beta in betas)
        self.eps = at_least_0("eps", eps)

    def update(self, p, g, state):
        """The new p, by the formulas above. m, v and t are kept in `state`, which is empty at first.

        m and v start at 0, t counts the steps from 1. p and g are arrays, and are not changed.
        """
        if self.weight_decay:
            g = g + self.weight_decay * p
        beta1, beta2 = self.betas
        t = state["t"] = state.get("t", 0) + 1
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        return p - self.lr * m_hat / (np.sqrt(v_hat) + self.eps)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019).

    First p ← p − lr · λ · p, then Adam's step; the decay does not enter the gradient.
    """

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(parameters, lr, betas, eps)
        self.decay = at_least_0("weight_decay", weight_decay)

    def update(self, p, g, state):
        return super().update(p - self.lr * self.decay * p, g, state)


def clip_grad_norm_(parameters, max_norm):
    """Scale all gradients by one factor, so that their norm is at most max_norm; return the norm
    that they had.

    parameters   an iterable of tensors, or one tensor; those without a gradient are skipped

    The norm is √Σg² over all elements of all gradients, so the direction stays the same. If it is
    at most max_norm, nothing changes.

    >>> p, q = Tensor([1.0, 1.0], requires_grad=True), Tensor(1.0, requires_grad=True)
    >>> ((p * Tensor([2.0, 6.0])).sum() + q * 9).backward()
    >>> clip_grad_norm_([p, q], 1.1), p.grad, q.grad
    (11.0, Tensor([0.2, 0.6]), Tensor(0.9))
    """
    parameters = [parameters] if isinstance(parameters, Variable) else parameters
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(float(np.sum(g.data.astype(np.float64) ** 2)) for g in gradients))
    if norm > max_norm:
        for g in gradients:
            g.copy_(g.data * (max_norm / norm))
    return norm
