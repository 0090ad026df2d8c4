"""OpenCL C of fused kernels: a chain of operations, one per line, and what becomes of its results.

A kernel walks a shape. At each place it fetches the inputs and computes the lines of the chain;
then it

    stores   writes some of the results, at the same place of another tensor, and
    totals   joins some along axes (a sum, a maximum): one number for each place on the other axes.

Axes that are joined are loops of a work-item, the others are spread over work-items. A work-item
takes vectors along the last axis. Where that one is joined on a GPU, a group goes along it
together, and its work-items meet in local memory. Where it is not joined, but others are, a
work-item may take several neighbouring vectors, for memory likes to be written in long lines.
`fused_totals` has what comes after the loops.
"""

from dataclasses import dataclass

from tinygrad_cl.netcl.ops.elementwise_source import C_NAMES, settings
from tinygrad_cl.netcl.ops.fused_totals import block, columns_end, put, rows_end

NEUTRAL = {"sum": "0", "mean": "0", "max": "-INFINITY", "min": "INFINITY"}


@dataclass(frozen=True)
class Chain:
    """What a fused kernel computes.

    name     the kernel's
    inputs   the names of what it reads, or is given as numbers
    lines    C statements, each of which computes a named value from inputs and earlier values
    stores   (name of a value, dtype) for each that is written as it is
    totals   (name of a value, dtype) for each that is joined
    how      in which way: "sum", "mean", "max" or "min". An extreme may have a second total, the
             number of places where it is, of a value that is 1 everywhere
    """

    name: str
    inputs: tuple
    lines: tuple
    stores: tuple = ()
    totals: tuple = ()
    how: str = "sum"

    def names(self, word):
        """A name for each total: the word, _, the name of the value."""
        return [f"{word}_{name}" for name, _ in self.totals]

    def starts(self):
        """What each total starts from, in C."""
        return [NEUTRAL[self.how], *["0"] * len(self.totals)][: len(self.totals)]

    def join(self, mine, other, kind="T"):
        """The lines that join the totals named `other` into those named `mine`, of a C type."""
        if self.how in ("sum", "mean"):
            return [f"{a} = ADD({a}, {b});" for a, b in zip(mine, other)]
        best = f"{self.how.upper()}({mine[0]}, {other[0]})"
        if len(mine) == 1:
            return [f"{mine[0]} = {best};"]
        (a, n), (b, m) = mine, other
        return block(
            "",
            [
                f"const {kind} best = {best};  // NaN equals nothing, so none is counted",
                f"{n} = (best == {a} ? {n} : ({kind})(0)) + (best == {b} ? {m} : ({kind})(0));",
                f"{a} = best;",
            ],
        )

    def finished(self, name):
        """A total when all of it is joined."""
        return f"{name} / count" if self.how == "mean" else name


@dataclass(frozen=True)
class Operand:
    """What an input is: its dtype, None for a number, and for each axis whether it moves along it,
    or repeats.
    """

    dtype: str | None
    moves: tuple = ()


@dataclass(frozen=True)
class Walk:
    """How a kernel goes through its shape.

    dtype    what it computes in, a name
    joined   for each axis whether totals are joined along it
    cut      the number of the joined axis that is cut into chunks; None for none
    lanes    numbers in a vector
    group    work-items that go along the last axis together if it is joined, a power of two
    pieces   vectors of the last axis that a work-item takes if it is not joined
    stream   whether stores go past the cache, to addresses that are aligned
    """

    dtype: str
    joined: tuple
    cut: int | None
    lanes: int
    group: int
    pieces: int
    stream: bool

    @property
    def last(self):
        """The number of the last axis."""
        return len(self.joined) - 1

    @property
    def piece(self):
        """What follows the name of something that there is for each piece."""
        return "[piece]" if self.pieces > 1 else ""

    def each_piece(self, lines):
        """The lines for each vector that a work-item takes of the last axis: from i on."""
        if self.pieces == 1:
            return lines
        end = f"n{self.last}"
        return block(
            f"for (int piece = 0; piece < {self.pieces} && first + piece * LANES < {end}; piece++)",
            ["const long i = first + piece * LANES;", f"const int there = min((long)LANES, {end} - i);", *lines],
        )


def fused_source(chain, operands, walk):
    """The text of the kernel `chain.name`.

    Arguments: the lengths of the axes; of a chunk, if there are any; for each operand its steps
    along the axes where it moves, but the last; the number of places that a mean is taken of; the
    stores; the totals; if there are chunks their parts, and how many have arrived; the operands.
    """
    body = [*position(chain, walk), *begin_totals(chain, walk), *loops(chain, operands, walk)]
    if chain.totals:
        body += rows_end(chain, walk) if walk.joined[-1] else columns_end(chain, walk)
    group = ""
    if walk.joined[-1] and (walk.group > 1 or walk.cut is not None):
        group = f"__attribute__((reqd_work_group_size({walk.group}, 1, 1)))\n"
    kernel = block(
        f"__kernel {group}void {chain.name}(\n    " + ",\n    ".join(arguments(chain, operands, walk)) + ")", body
    )
    text = helpers(chain, walk) + "\n" + "\n".join(kernel) + "\n"
    return settings(walk.dtype, walk.lanes, text) + text


def arguments(chain, operands, walk):
    """The declarations of the kernel's arguments."""
    inputs = list(zip(chain.inputs, operands))
    found = [f"const long n{axis}" for axis in range(walk.last + 1)]
    found += [] if walk.cut is None else ["const long chunk"]
    found += [
        f"const long in_{name}_step{axis}"
        for name, operand in inputs
        for axis, moves in enumerate(operand.moves[:-1])
        if moves
    ]
    found += ["const T count"] if chain.how == "mean" else []
    for word, results in (("out", chain.stores), ("total", chain.totals)):
        found += [f"__global {C_NAMES[to]} *restrict {word}_{name}" for name, to in results]
    if walk.cut is not None:
        found += ["volatile __global T *parts", "volatile __global int *arrived"]
    return found + [
        f"__global const {C_NAMES[operand.dtype]} *in_{name}" if operand.dtype else f"const T in_{name}"
        for name, operand in inputs
    ]


def helpers(chain, walk):
    """V, and what is needed where a row does not end with a whole vector."""
    lanes = walk.lanes
    if lanes == 1:
        return "#define V T\n"
    mask = "int" if walk.dtype == "float32" else "long"
    text = f"#define V {C_NAMES[walk.dtype]}{lanes}\n"
    if chain.totals and walk.joined[-1]:
        text += f"#define LANE (({mask}{lanes})({', '.join(map(str, range(lanes)))}))\n"
    results = chain.stores if walk.joined[-1] else (*chain.stores, *chain.totals)
    for kind in sorted({C_NAMES[to] for _, to in results}):
        write = f"vstore{lanes}(v, 0, to)"
        if walk.stream:
            write = f"__builtin_nontemporal_store(v, (__global {kind}{lanes} *)to)"
        text += f"""
// The first `there` numbers of a vector to memory: all of them, but at the end of a row.
static void put_{kind}(const {kind}{lanes} v, const int there, __global {kind} *to) {{
    if (there == LANES) {{
        {write};
    }} else {{
        {kind} each[LANES];
        vstore{lanes}(v, 0, each);
        for (int lane = 0; lane < there; lane++) to[lane] = each[lane];
    }}
}}
"""
    return text


def position(chain, walk):
    """The lines that say where this work-item, or group, is on the axes that are not joined."""
    outer = [axis for axis in range(walk.last) if not walk.joined[axis]]
    lines = ["const long place = get_global_id(2);"] if outer or chain.totals else []
    rest = "place"
    for axis in reversed(outer):
        within = f" % n{axis}" if axis > outer[0] else ""
        lines += [f"const long i{axis} = {rest}{within};"]
        rest = f"{rest} / n{axis}"
    if walk.cut is not None:
        lines += ["const long begin = get_global_id(1) * chunk;", f"const long end = min(begin + chunk, n{walk.cut});"]
    if walk.joined[-1]:
        lines += ["const int me = get_local_id(0);"] if walk.group > 1 else []
    elif walk.pieces > 1:
        lines += [f"const long first = (long)get_global_id(0) * {walk.pieces} * LANES;"]
    else:
        lines += ["const long i = (long)get_global_id(0) * LANES;", f"if (i >= n{walk.last}) return;"]
        lines += [f"const int there = min((long)LANES, n{walk.last} - i);"] * (walk.lanes > 1)
    return lines


def begin_totals(chain, walk):
    """The lines that declare the vectors in which a work-item joins what it meets."""
    states = list(zip(chain.names(chain.how), chain.starts()))
    if walk.pieces == 1:
        return [f"V {name} = (V)({start});" for name, start in states]
    return [
        *[f"V {name}[{walk.pieces}];" for name, _ in states],
        *[
            f"for (int piece = 0; piece < {walk.pieces}; piece++) {name}[piece] = (V)({start});"
            for name, start in states
        ],
    ]


def loops(chain, operands, walk):
    """The loops along the joined axes, and in them the chain."""
    lines = [fetch(name, operand, walk) for name, operand in zip(chain.inputs, operands)]
    lines += chain.lines
    lines += [put(name, f"out_{name}", row_major(walk.last), to, walk) for name, to in chain.stores]
    lines += join_totals(chain, walk)
    if not walk.joined[-1]:
        lines = walk.each_piece(lines)
    for axis in reversed(range(walk.last + 1)):
        begin, end = ("begin", "end") if axis == walk.cut else ("0", f"n{axis}")
        if walk.joined[axis] and axis < walk.last:
            lines = block(f"for (long i{axis} = {begin}; i{axis} < {end}; i{axis}++)", lines)
        elif walk.joined[axis]:
            if walk.lanes > 1:
                lines = [f"const int there = min((long)LANES, {end} - i);", *lines]
            step = "LANES"
            if walk.group > 1:
                begin, step = f"{begin} + me * LANES", f"{walk.group} * LANES"
            lines = block(f"for (long i = {begin}; i < {end}; i += {step})", lines)
    return lines


def row_major(last):
    """The place in a tensor of the whole shape, whose axes are 0, …, last: `i0 * n1 + i`."""
    terms = [" * ".join([f"i{axis}", *[f"n{inner}" for inner in range(axis + 1, last + 1)]]) for axis in range(last)]
    return " + ".join([*terms, "i"])


def join_totals(chain, walk):
    """The lines that join the values of this place into the totals."""
    values = [name for name, _ in chain.totals]
    lines = []
    if walk.lanes > 1 and walk.joined[-1]:
        lines += [
            f"const V here_{name} = there == LANES ? {name} : (LANE < there ? {name} : (V)({start}));"
            for name, start in zip(values, chain.starts())
        ]
        values = chain.names("here")  # without what lies behind the end of the row
    states = [f"{name}{walk.piece}" for name in chain.names(chain.how)]
    return lines + (chain.join(states, values, "V") if values else [])


def fetch(name, operand, walk):
    """The line that fetches an input: a vector, or one number for all lanes."""
    if operand.dtype is None:
        return f"const V {name} = (V)(in_{name});"
    *outer, along = operand.moves
    terms = [f"i{axis} * in_{name}_step{axis}" for axis, moves in enumerate(outer) if moves]
    terms += ["i"] if along else []
    if walk.lanes == 1 or not along:
        return f"const V {name} = (V)((T)in_{name}[{' + '.join(terms) or '0'}]);"
    value = f"vload{walk.lanes}(0, {' + '.join([f'in_{name}', *terms])})"
    if operand.dtype != walk.dtype:
        value = f"convert_{C_NAMES[walk.dtype]}{walk.lanes}({value})"
    return f"const V {name} = {value};"
