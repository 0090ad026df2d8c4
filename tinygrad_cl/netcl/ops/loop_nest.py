"""The description of a loop nest: from it come all kernels but those of matrix products and of indexing.

A nest goes through a shape. At each place it fetches its inputs and computes lines of C from them;
some of the values that these define become

    outputs      stored at the same place of a tensor: elementwise operations
    reductions   combined along axes (a sum, a maximum): one element for each place on the other
                 axes, at the end; or running, where the value so far is stored at each place: a scan

An elementwise operation is a nest without reductions, a plain reduction one of no lines, and fused
operations have lines, outputs and reductions. The same nest can go through many tensors, one after
the other: an optimizer's update of all parameters, the squared length of all gradients.

    LoopNest    what is computed                                 the same for every shape
    Input       how an input lies: its dtype, where it repeats   from the specs
    Schedule    how work-items share the shape                   from `core.device.LaunchConfig`

`loop_source` makes OpenCL C of the three, `loop_reductions` the part after the loops, and
`loop_plan` finds inputs and schedule for given specs. An operation on rows (`rows`) is several
nests after one another in one kernel.
"""

from dataclasses import dataclass

from tinygrad_cl.netcl.ops.c_source import C_NAMES, block

NEUTRAL = {"sum": "0", "mean": "0", "max": "-INFINITY", "min": "INFINITY", "ties": "0"}
COMBINE = {"sum": "ADD", "mean": "ADD", "max": "MAX", "min": "MIN"}  # macros of ops.primitives


@dataclass(frozen=True)
class Reduction:
    """A value that is combined along axes.

    value   its name
    how     "sum", "mean", "max" or "min"; "ties", right behind a "max" or "min": at how many places
            it is, for a value that is 1 everywhere
    dtype   of the result, a name
    """

    value: str
    how: str
    dtype: str

    @property
    def state(self):
        """The name of what is combined so far."""
        return f"{self.how}_{self.value}"

    @property
    def neutral(self):
        """What it starts from, in C."""
        return NEUTRAL[self.how]


@dataclass(frozen=True)
class LoopNest:
    """What is computed.

    name         the kernel's
    inputs       the names of what it reads, or is given as numbers
    lines        C statements, each of which defines a named value from inputs and earlier values
    outputs      (name of a value, dtype) for each that is stored as it is
    reductions   a Reduction for each value that is combined along the axes
    running      0; 1: reductions are scans, and store at each place what is combined so far; −1:
                 the same from the end
    in_place     output number k overwrites input number k
    """

    name: str
    inputs: tuple
    lines: tuple = ()
    outputs: tuple = ()
    reductions: tuple = ()
    running: int = 0
    in_place: bool = False


@dataclass(frozen=True)
class Input:
    """How an input lies.

    dtype   a name; None for a number
    steps   for each axis but the last whether it moves along it, or repeats; for the last 0: it
            repeats, 1: neighbours, None: any other step, an argument
    """

    dtype: str | None
    steps: tuple = ()


@dataclass(frozen=True)
class Schedule:
    """How work-items share a shape.

    Axes along which reductions go are loops of a work-item, the others are spread over work-items.
    A work-item takes vectors along the last axis. Where that one is reduced on a GPU, a group goes
    along it together, and its work-items combine what they have in local memory, as a tree. Where
    it is not reduced, but others are, a work-item may take a tile of several neighbouring vectors,
    for memory likes to be read and written in long lines.

    dtype     what is computed in, a name
    reduced   for each axis whether reductions go along it
    cut       the number of the reduced axis that is cut into chunks, so that there is work for
              every core; None for none
    lanes     elements in a vector
    group     work-items that go along the last axis together if it is reduced, a power of two
    tile      vectors of the last axis that a work-item takes if that is not reduced
    chains    how many chains of additions a work-item has, so that one need not wait for the other:
              along the last axis that is reduced they take turns
    stream    whether stores bypass the cache (non-temporal), to addresses that are aligned
    tensors   how many tensors of one axis the nest goes through; 0: inputs of one shape
    launch    of a scan that is cut: 1: the first one, 2: the second
    """

    dtype: str
    reduced: tuple
    cut: int | None = None
    lanes: int = 1
    group: int = 1
    tile: int = 1
    chains: int = 1
    stream: bool = False
    tensors: int = 0
    launch: int = 0

    @property
    def last(self):
        """The number of the last axis."""
        return len(self.reduced) - 1

    def state(self, reduction):
        """What a work-item has combined so far, inside the loops."""
        return reduction.state + ("[tile]" if self.tile > 1 else "[chain]" if self.chains > 1 else "")

    def result(self, reduction):
        """The same behind the loops."""
        return reduction.state + ("[tile]" if self.tile > 1 else "[0]" if self.chains > 1 else "")

    def each_vector(self, lines):
        """The lines for each vector that a work-item takes of the last axis: from i on."""
        if self.tile == 1:
            return lines
        end = f"n{self.last}"
        return block(
            f"for (int tile = 0; tile < {self.tile} && first + tile * LANES < {end}; tile++)",
            ["const long i = first + tile * LANES;", f"const long there = {end} - i;", *lines],
        )

    def put(self, value, target, place, to):
        """The line that stores a vector, or what is there of it, as dtype `to` at a place of target."""
        if self.lanes == 1:
            return f"{target}[{place}] = {value};"
        if to != self.dtype:
            value = f"convert_{C_NAMES[to]}{self.lanes}({value})"
        return f"put_{C_NAMES[to]}({value}, there, {target} + {place});"
