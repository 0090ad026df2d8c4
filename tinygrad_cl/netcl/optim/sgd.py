"""Stochastic gradient descent, with and without momentum."""

from collections.abc import Iterable

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.primitives import c_number
from tinygrad_cl.netcl.optim.optimizer import Optimizer, at_least_0


class SGD(Optimizer):
    """Stochastic gradient descent, p ← p − lr · g.

    With momentum μ (Polyak 1964), v ← μ v + g and p ← p − lr · v; with nesterov=True (Sutskever et
    al. 2013) p ← p − lr · (g + μ v). With weight decay λ, g ← g + λ p comes first.

    >>> from tinygrad_cl.netcl.core.device import manager
    >>> from tinygrad_cl.netcl.core.parameter import Parameter
    >>> p = Parameter.from_host(manager.default("auto").queue, [1.0, 2.0])
    >>> p.grad = p.copy()
    >>> SGD([p], lr=0.25).step(); p.to_host().tolist()
    [0.75, 1.5]
    """

    __slots__ = ()

    def __init__(
        self,
        params: Tensor | Iterable[Tensor],
        lr: float = 0.01,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        if nesterov and not momentum:
            raise ValueError("nesterov needs a momentum")
        super().__init__(
            params,
            lr,
            ("velocity",) if momentum else (),
            momentum=at_least_0("momentum", momentum),
            weight_decay=at_least_0("weight_decay", weight_decay),
            nesterov=nesterov,
        )

    def update(self, p: str, g: str, lr: str, velocity: str | None = None) -> list[str]:
        g = self.decayed(p, g)
        if velocity is None:
            return [f"{p} - {lr} * {g}"]
        momentum = c_number(self.settings["momentum"])
        v = f"({momentum} * {velocity} + {g})"
        step = f"({g} + {momentum} * {v})" if self.settings["nesterov"] else v
        return [f"{p} - {lr} * {step}", v]


class Momentum(SGD):
    """SGD with momentum, with netcl's argument order."""

    __slots__ = ()

    def __init__(
        self,
        params: Tensor | Iterable[Tensor],
        lr: float = 0.01,
        momentum: float = 0.9,
        nesterov: bool = False,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr, momentum, weight_decay, nesterov)
