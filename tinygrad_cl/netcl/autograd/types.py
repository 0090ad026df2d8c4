"""Types of what operations take and return, for annotations."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from numpy.typing import ArrayLike

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.tape.node import Node

Operand: TypeAlias = Node | Tensor | ArrayLike  # a number, too; at least one operand is a Node or a Tensor
Axes: TypeAlias = int | Sequence[int] | None  # None: all axes
LossReduction: TypeAlias = Literal["mean", "sum", "none"]
