"""Backward of the ground floor, with types. The module itself has none: lessons show its text."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tinygrad_cl.tensor.core.function import Context
from tinygrad_cl.tensor.core.variable import Variable

_Shape: TypeAlias = tuple[int, ...]
_Node: TypeAlias = Context | Variable  # of the graph: a call of a Function, or a leaf
_Tensor = TypeVar("_Tensor", bound=Variable)
_Gradient = TypeVar("_Gradient", np.ndarray, Variable)

def broadcast_shape(a: _Shape, b: _Shape) -> _Shape: ...
def unbroadcast(grad: _Gradient, shape: _Shape) -> _Gradient: ...
def start(
    tensor: _Tensor, gradient: Variable | ArrayLike | None = None
) -> tuple[_Node, _Tensor]: ...
def topological_order(roots: Iterable[_Node]) -> list[_Node]: ...
def input_gradients(node: Context, grad: Variable) -> list[Variable | None]: ...
def as_gradient(node: Context, part: Variable | ArrayLike, shape: _Shape) -> Variable: ...
def freed_error(node: Context) -> RuntimeError: ...
def propagate(
    root: _Node,
    gradient: Variable,
    retain_graph: bool | None = False,
    ask: Callable[[Any, Any], Sequence[Any]] = ...,
) -> dict[Any, Any]: ...
