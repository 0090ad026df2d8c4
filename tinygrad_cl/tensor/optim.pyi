"""Engine 2's optimizers, with types. The module itself has none: lessons show its text."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tinygrad_cl.tensor.core.tensor import Tensor

def at_least_0(name: str, value: float, below: float = ...) -> float: ...

class Optimizer:
    parameters: list[Tensor]
    lr: float
    weight_decay: float
    state: list[dict[str, Any]]
    def __init__(self, parameters: Tensor | Iterable[Tensor], lr: float, weight_decay: float = 0.0) -> None: ...
    def zero_grad(self) -> None: ...
    def step(self) -> None: ...
    def update(self, p: np.ndarray, g: np.ndarray, state: dict[str, Any]) -> np.ndarray: ...

class SGD(Optimizer):
    momentum: float
    nesterov: bool
    def __init__(
        self,
        parameters: Tensor | Iterable[Tensor],
        lr: float,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
    ) -> None: ...
    def update(self, p: np.ndarray, g: np.ndarray, state: dict[str, Any]) -> np.ndarray: ...

class Adam(Optimizer):
    betas: tuple[float, float]
    eps: float
    def __init__(
        self,
        parameters: Tensor | Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None: ...
    def update(self, p: np.ndarray, g: np.ndarray, state: dict[str, Any]) -> np.ndarray: ...

class AdamW(Adam):
    decay: float
    def __init__(
        self,
        parameters: Tensor | Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None: ...
    def update(self, p: np.ndarray, g: np.ndarray, state: dict[str, Any]) -> np.ndarray: ...

def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float) -> float: ...
