"""Functions and their Contexts, with types. The module itself has none: lessons show its text.

forward and backward are Any, for each operation has parameters of its own. Annotate ctx as Any, as PyTorch does: forward
may leave whatever backward needs on it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tinygrad_cl.tensor.core.variable import Variable

class Context:
    function: type[Function]
    needs_input_grad: tuple[bool, ...]
    tensor_type: type[Variable]
    next_nodes: tuple[Context | Variable | None, ...]
    input_shapes: tuple[tuple[int, ...], ...]
    kept: tuple[Any, ...]
    freed: bool
    def __init__(
        self,
        function: type[Function],
        needs_input_grad: tuple[bool, ...],
        tensor_type: type[Variable],
    ) -> None: ...
    @property
    def name(self) -> str: ...
    def wrap_result(self, returned: ArrayLike, inputs: Sequence[Any]) -> Variable: ...
    def save_for_backward(self, *arrays: ArrayLike | None) -> None: ...
    @property
    def saved_tensors(self) -> tuple[Any, ...]: ...
    def free(self) -> None: ...
    def kept_arrays(self) -> list[np.ndarray]: ...

class Function:
    any_dtype: bool
    forward: Any
    backward: Any
    @classmethod
    def apply(cls, *inputs: Any, **options: Any) -> Any: ...

def new_context(
    function: type[Function], inputs: Sequence[Any], needs_input_grad: tuple[bool, ...]
) -> Context: ...
def run_forward(ctx: Context, arrays: Sequence[Any], options: dict[str, Any]) -> Any: ...
