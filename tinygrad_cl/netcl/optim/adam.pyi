"""Engine 3's optimizers with adaptive steps, with types. The module itself has none: a lesson shows a part of its text."""

from collections.abc import Iterable, Sequence

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.optim.optimizer import Optimizer

# update and count take as many names as an optimizer has states and counts.
class Adam(Optimizer):
    def __init__(
        self,
        params: Tensor | Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None: ...
    def count(self, c1: str, c2: str) -> Sequence[str]: ...  # type: ignore[override]
    def update(self, p: str, g: str, lr: str, m: str, v: str, c1: str, c2: str) -> list[str]: ...  # type: ignore[override]

class AdamW(Adam):
    def __init__(
        self,
        params: Tensor | Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None: ...
    def decayed(self, p: str, g: str) -> str: ...
    def update(self, p: str, g: str, lr: str, m: str, v: str, c1: str, c2: str) -> list[str]: ...  # type: ignore[override]

class RMSProp(Optimizer):
    def __init__(
        self,
        params: Tensor | Iterable[Tensor],
        lr: float = 1e-3,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
    ) -> None: ...
    def update(self, p: str, g: str, lr: str, square: str, velocity: str | None = None) -> list[str]: ...  # type: ignore[override]

def running_mean(beta: float, mean: str, x: str) -> str: ...
