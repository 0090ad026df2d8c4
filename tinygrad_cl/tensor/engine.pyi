"""Backward and gradients of engine 2, with types. The module itself has none: a lesson shows a part of its text."""

import threading
from collections.abc import Container, Iterable, Sequence
from typing import Any, Literal, TypeAlias, overload

from numpy.typing import ArrayLike

from tinygrad_cl.tensor.core.variable import Variable
from tinygrad_cl.tensor.node import Node
from tinygrad_cl.tensor.tensor_class import Tensor

_Tensors: TypeAlias = Tensor | Sequence[Tensor]
_Gradients: TypeAlias = Variable | ArrayLike | Sequence[Variable | ArrayLike | None] | None

accumulating: threading.Lock

def tensors_in(name: str, tensors: Any) -> list[Tensor]: ...

class Top(Node):
    gradients: tuple[Tensor, ...]
    def __init__(self, tensors: _Tensors, gradients: _Gradients) -> None: ...
    def input_gradients(self, grad: Any) -> Any: ...

def backward(
    tensors: _Tensors,
    gradients: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None: ...
def hooked(found: dict[Any, Any]) -> dict[Any, Any]: ...
def ask_and_retain(node: Node, grad: Tensor) -> list[Tensor | None]: ...
@overload
def grad(
    outputs: _Tensors,
    inputs: _Tensors,
    grad_outputs: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: Literal[False] = False,
) -> tuple[Tensor, ...]: ...
@overload
def grad(
    outputs: _Tensors,
    inputs: _Tensors,
    grad_outputs: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    allow_unused: bool,
) -> tuple[Tensor | None, ...]: ...
def gradients_of(targets: set[Any], top: Top, retain_graph: bool | None) -> dict[Any, Any]: ...
def on_the_way(order: Iterable[Any], targets: Container[Any]) -> dict[Any, bool]: ...
def saved_bytes(tensor: Tensor, without: Iterable[Tensor] = ()) -> int: ...
