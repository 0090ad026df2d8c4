"""What the gradient check offers, with types. The module itself has none: lessons show its text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

_Function: TypeAlias = Callable[..., ArrayLike]  # of the inputs, arrays or numbers
_Gradient: TypeAlias = Callable[..., ArrayLike | Sequence[ArrayLike]]  # of the upstream gradient and the inputs
_Seed: TypeAlias = int | np.random.Generator

def numerical_gradient(
    f: _Function, inputs: Sequence[ArrayLike], upstream: ArrayLike | None = None, step: float | None = None
) -> list[np.ndarray]: ...
def gradcheck(
    f: _Function,
    gradient: _Gradient,
    inputs: Sequence[ArrayLike],
    rng: _Seed = 0,
    step: float | None = None,
    tolerance: float | None = None,
) -> Report: ...

@dataclass(frozen=True)
class Worst:
    name: str
    index: tuple[int, ...]
    expected: float
    got: float
    error: float
    tolerance: float
    reason: str = ""
    @property
    def ok(self) -> bool: ...

@dataclass(frozen=True)
class Report:
    inputs: tuple[Worst, ...]
    @property
    def ok(self) -> bool: ...
    def __bool__(self) -> bool: ...

def compare(expected: ArrayLike, got: ArrayLike | None, tolerance: ArrayLike, name: str = "gradient") -> Worst: ...
def taylor_remainders(
    f: Callable[[np.ndarray], ArrayLike], gradient: np.ndarray, x: np.ndarray, v: np.ndarray, steps: Iterable[float]
) -> list[float]: ...
def remainders_of(
    f: _Function, gradient: _Gradient, inputs: Sequence[ArrayLike], rng: _Seed = 0
) -> tuple[np.ndarray, np.ndarray, float]: ...
def taylor_check(f: _Function, gradient: _Gradient, inputs: Sequence[ArrayLike], rng: _Seed = 0) -> TaylorReport: ...
def along_one_direction(
    f: _Function, gradient: _Gradient, inputs: Sequence[ArrayLike], rng: np.random.Generator
) -> TaylorReport: ...

@dataclass(frozen=True)
class TaylorReport:
    order: float
    steps: np.ndarray
    remainders: np.ndarray
    @property
    def ok(self) -> bool: ...
    def __bool__(self) -> bool: ...

def device_gradient(f: Callable[..., Any], inputs: Sequence[float]) -> tuple[float, np.ndarray]: ...
def as_float_arrays(inputs: Sequence[ArrayLike]) -> list[np.ndarray]: ...
def evaluate(f: _Function, inputs: Sequence[np.ndarray]) -> np.ndarray: ...
def call_gradient(gradient: _Gradient, upstream: np.ndarray, inputs: Sequence[np.ndarray]) -> Sequence[ArrayLike]: ...
def random_upstream(output: np.ndarray, rng: _Seed) -> np.ndarray: ...
def precision(inputs: Sequence[np.ndarray], output: np.ndarray) -> float: ...
def default_step(inputs: Sequence[np.ndarray], output: np.ndarray) -> float: ...
def size(x: ArrayLike) -> np.ndarray: ...
def change(high: np.ndarray, low: np.ndarray, upstream: np.ndarray) -> float: ...
