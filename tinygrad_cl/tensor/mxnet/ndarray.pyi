"""MXNet's names, with types. The module itself has none: a lesson shows its text."""

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike, DTypeLike

from tinygrad_cl.tensor.core.modes import GradMode
from tinygrad_cl.tensor.core.variable import Variable
from tinygrad_cl.tensor.tensor_class import Tensor

__all__ = ["NDArray", "array", "backward", "dot", "is_recording", "pause", "record"]

class NDArray(Tensor):
    grad_req: Literal["write", "add", "null"]
    grad: Tensor | None  # type: ignore[assignment]
    def attach_grad(self, grad_req: Literal["write", "add", "null"] = "write") -> None: ...
    def accumulate_grad(self, grad: Tensor) -> None: ...
    def backward(  # type: ignore[override]
        self, out_grad: Variable | ArrayLike | None = None, retain_graph: bool = False, **options: Any
    ) -> None: ...

def array(data: Variable | ArrayLike, dtype: DTypeLike | None = None) -> NDArray: ...
def dot(a: NDArray, b: NDArray) -> NDArray: ...
def record() -> GradMode: ...
def pause() -> GradMode: ...
def is_recording() -> bool: ...
def backward(
    heads: Sequence[NDArray],
    head_grads: Sequence[Variable | ArrayLike | None] | None = None,
    retain_graph: bool = False,
) -> None: ...
