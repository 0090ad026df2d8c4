"""Optimizers with adaptive step sizes, from running means of g and g²: Adam, AdamW, RMSProp."""

from tinygrad_cl.netcl.ops.primitives import c_number
from tinygrad_cl.netcl.optim.optimizer import Optimizer, at_least_0


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015): bias-corrected running means of g and g².

    m ← β₁ m + (1 − β₁) g         m̂ = m / (1 − β₁ᵗ)
    v ← β₂ v + (1 − β₂) g²        v̂ = v / (1 − β₂ᵗ)
    p ← p − lr · m̂ / (√v̂ + ε)

    With weight decay λ, g ← g + λ p comes first.

    1 − βᵗ is computed as the same running mean of the number 1: c ← β c + (1 − β). So it needs no
    power, which would lose digits where β is close to 1, and no step number from the host.
    """

    __slots__ = ()
    counts = ("c1", "c2")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(
            params,
            lr,
            ("m", "v"),
            eps=at_least_0("eps", eps),
            betas=tuple(at_least_0("a beta", beta, below=1) for beta in betas),
            weight_decay=at_least_0("weight_decay", weight_decay),
        )

    def count(self, c1, c2):
        """[new c1, new c2], C expressions of c1 and c2, the names of the counts after the step before.
        The new counts are 1 − β₁ᵗ and 1 − β₂ᵗ. Before the first step both are 0.
        """
        beta1, beta2 = self.settings["betas"]
        return [running_mean(beta1, c1, "(V)(1)"), running_mean(beta2, c2, "(V)(1)")]

    def update(self, p, g, lr, m, v, c1, c2):
        """[new p, new m, new v], C expressions of the names that are given. p, m and v name the
        numbers before this step; c1 and c2 name the counts that `count` has already updated. The
        formulas' g is self.decayed(p, g): with the weight decay, g + λ p.

        >>> p = Parameter.from_host(queue, [1.0, 2.0]); p.grad = p.copy()
        >>> Adam([p], lr=0.25).step()
        >>> p.to_host().round(3).tolist()
        [0.75, 1.75]
        """
        beta1, beta2 = self.settings["betas"]
        g = self.decayed(p, g)
        m, v = running_mean(beta1, m, g), running_mean(beta2, v, f"{g} * {g}")
        step = f"({m} / {c1}) / (sqrt({v} / {c2}) + {c_number(self.settings['eps'])})"
        return [f"{p} - {lr} * {step}", m, v]


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019).

    First p ← p − lr · λ · p, then Adam's step with the unchanged gradient.
    """

    __slots__ = ()

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr, betas, eps, weight_decay)

    def decayed(self, p, g):
        return g

    def update(self, p, g, lr, m, v, c1, c2):
        less = f"({p} - {lr} * {c_number(self.settings['weight_decay'])} * {p})"
        return super().update(less, g, lr, m, v, c1, c2)


class RMSProp(Optimizer):
    """RMSProp (Hinton's lecture 6e, 2012): steps scaled by a running mean of g².

    s ← α s + (1 − α) g²        d = g / (√s + ε)        p ← p − lr · d

    With momentum μ, b ← μ b + d and p ← p − lr · b, as in PyTorch. With weight decay λ,
    g ← g + λ p comes first.
    """

    __slots__ = ()

    def __init__(self, params, lr=1e-3, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0):
        super().__init__(
            params,
            lr,
            ("square", "velocity") if momentum else ("square",),
            alpha=at_least_0("alpha", alpha, below=1),
            eps=at_least_0("eps", eps),
            weight_decay=at_least_0("weight_decay", weight_decay),
            momentum=at_least_0("momentum", momentum),
        )

    def update(self, p, g, lr, square, velocity=None):
        g = self.decayed(p, g)
        square = running_mean(self.settings["alpha"], square, f"{g} * {g}")
        step = f"({g} / (sqrt({square}) + {c_number(self.settings['eps'])}))"
        if velocity is None:
            return [f"{p} - {lr} * {step}", square]
        velocity = f"({c_number(self.settings['momentum'])} * {velocity} + {step})"
        return [f"{p} - {lr} * {velocity}", square, velocity]


def running_mean(beta, mean, x):
    """β · mean + (1 − β) · x, as a C expression in parentheses. beta is a number; mean and x are
    C expressions: names, products, or sums in parentheses. One way to write it, for beta = 0.75,
    mean = "v2" and x = "v1 * v1":

    (((V)(0.75)) * v2 + ((V)(0.25)) * v1 * v1)
    """
    return f"({c_number(beta)} * {mean} + {c_number(1 - beta)} * {x})"
