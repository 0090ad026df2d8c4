"""What a rule of differentiation keeps for backward must be as it was: a tensor written since is an error."""

from collections.abc import Callable
from typing import Any

from tinygrad_cl.netcl.core.memory import writes
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.tape import tape as ground
from tinygrad_cl.netcl.tape.node import Node, held_by

__all__ = ["apply_op"]


class Rule:
    """A rule that does not go back with numbers that were written since it was made.

    name         of the operation
    func, args   func(*args, gradient of the result) gives the gradients of the inputs, as of a `partial`

    What it needs are the Tensors that `held_by` finds. RuntimeError if one of them was written.
    """

    __slots__ = ("name", "func", "args", "time")

    def __init__(self, name, func, *args):
        self.name, self.func, self.args, self.time = name, func, args, writes.time

    def __call__(self, gradient):
        if self.time != writes.time:
            self.refuse_written()
        return self.func(*self.args, gradient)

    def refuse_written(self):
        for x in held_by(self):
            if writes.since(self.time, x.buffer):
                raise RuntimeError(
                    f"{self.name}: backward needs a tensor of shape {x.shape} as it was, but it was written in place "
                    "since (by write, an optimizer's step, a replay, …): call backward before that, or compute again after it"
                )


def apply_op(
    fn: Callable[..., Tensor],
    grad_fn: Callable[[Tensor], Any] | None,
    *args: Any,
    tape: ground.Tape | None = None,
    op_name: str | None = None,
    attrs: dict[str, Any] | None = None,
) -> Node:
    """`tape.apply_op`, and backward looks whether what grad_fn needs was written in place since: the
    Tensors and Nodes that it uses from around it, alone or in lists.
    """
    rule = grad_fn and Rule(op_name or "an operation", grad_fn)
    return ground.apply_op(fn, rule, *args, tape=tape, op_name=op_name, attrs=attrs)
