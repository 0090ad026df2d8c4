"""Looking for a fault: what lies on a tape."""

import numpy as np

from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.tape import Tape

__all__ = ["debug_tape", "describe"]


class debug_tape:
    """`with debug_tape(tape) as t:` records operations on `tape` (by default the innermost open
    one, or a new one), and passes the text of `describe` about them to `say` at the end.

    It does so even if an exception ends the `with`: the last line is the last operation computed.
    """

    def __init__(self, tape=None, say=print):
        self.tape = tape or (state.tapes[-1] if state.tapes else Tape())
        self.say = say

    def __enter__(self):
        self.begin = len(self.tape.nodes)
        state.tapes.append(self.tape)
        return self.tape

    def __exit__(self, *exception):
        state.tapes.pop()
        self.say(describe(self.tape, self.begin))


def describe(tape, begin=0):
    """The operations on a tape from number `begin` on, a line for each: its number, name, shape and
    dtype, what it was computed from (#number, or a leaf), the range of its elements and how many of
    them are NaN or Inf, and the line that called it."""
    numbers = {node: f"#{number}" for number, node in enumerate(tape.nodes)}
    rows = [("op", "shape", "dtype", "from", "numbers", "made at")]
    for node in tape.nodes[begin:]:
        origin = [numbers.get(x, "leaf" if x.requires_grad else "constant") for x in node.parents]
        rows.append(
            (
                f"{numbers[node]} {node.op_name}",
                str(node.shape),
                str(node.dtype),
                ", ".join(origin),
                span(node.to_host()),
                node.created_at,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def span(array):
    """The range of an array's elements, as a short text."""
    finite = array[np.isfinite(array)]
    odd = array.size - finite.size
    text = f"{finite.min():.3g} … {finite.max():.3g}" if finite.size else "none finite"
    return ("nothing" if not array.size else text) + (f", {odd} NaN or Inf" if odd else "")
