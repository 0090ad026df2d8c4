"""OpenCL C of fused kernels: a chain of operations, one per line, and what becomes of its results.

A kernel walks a shape. At each place it fetches the inputs and computes the lines of the chain;
then it

    stores   writes some of the results, at the same place of another tensor, and
    totals   joins some along axes (a sum, a maximum): one number for each place on the other axes.

Axes that are joined are loops of a work-item, the others are spread over work-items. A work-item
takes vectors along the last axis. Where that one is joined on a GPU, a group goes along it
together, and its work-items meet in local memory.

One of the joined axes may be cut into chunks, so that there is work for every core. Then each chunk
leaves its part in memory, and the one that finishes last joins all parts, in their order: the
result is the same in every run.
"""

from dataclasses import dataclass

from tinygrad_cl.netcl.ops.elementwise_source import C_NAMES, settings

NEUTRAL = {"sum": "0", "mean": "0", "max": "-INFINITY", "min": "INFINITY"}
FENCE = "mem_fence(CLK_GLOBAL_MEM_FENCE);"


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
        """A name that begins with `word` for each total."""
        return [f"{word}_{name}" for name, _ in self.totals]

    def states(self):
        """The vectors in which a work-item joins what it meets."""
        return self.names(self.how)

    def starts(self):
        """What each total starts from, in C."""
        return [NEUTRAL[self.how], *["0"] * len(self.totals)][:len(self.totals)]

    def join(self, mine, other, kind):
        """The lines that join the totals named `other` into those named `mine`, of a C type."""
        if NEUTRAL[self.how] == "0":
            return [f"{a} = ADD({a}, {b});" for a, b in zip(mine, other)]
        best = f"{self.how.upper()}({mine[0]}, {other[0]})"
        if len(mine) == 1:
            return [f"{mine[0]} = {best};"]
        (a, n), (b, m) = mine, other
        return block("", [f"const {kind} best = {best};  // NaN equals nothing: then none is counted",
                          f"{n} = (best == {a} ? {n} : ({kind})(0))"
                          f" + (best == {b} ? {m} : ({kind})(0));",
                          f"{a} = best;"])

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

    joined   for each axis whether totals are joined along it
    cut      the number of the joined axis that is cut into chunks; None for none
    lanes    numbers in a vector
    group    work-items that go along the last axis together if it is joined, a power of two
    stream   whether stores go past the cache; they must be aligned, so the shape has one axis
    """

    joined: tuple
    cut: int | None
    lanes: int
    group: int
    stream: bool = False

    @property
    def last(self):
        return len(self.joined) - 1


def fused_source(chain, operands, walk, dtype):
    """The text of the kernel `chain.name`, which computes in `dtype`.

    Arguments: the lengths of the axes; of a chunk, if there are any; for each operand its steps
    along the axes where it moves, but the last; the number of places that a mean is taken of; the
    stores; the totals; if there are chunks their parts, and how many have arrived; the operands.
    """
    body = position(walk)
    body += [f"V {state} = (V)({start});" for state, start in zip(chain.states(), chain.starts())]
    body += loops(chain, operands, walk, dtype)
    if chain.totals:
        body += (rows_end if walk.joined[-1] else columns_end)(chain, walk, dtype)
    size = f"__attribute__((reqd_work_group_size({walk.group}, 1, 1)))\n" if walk.joined[-1] else ""
    parameters = ",\n    ".join(arguments(chain, operands, walk))
    return (f"{settings(dtype, walk.lanes)}{helpers(chain, walk, dtype)}\n"
            f"__kernel {size}void {chain.name}(\n    {parameters}) {{\n"
            + "\n".join(indented(body)) + "\n}\n")


def indented(lines):
    return [f"    {line}" for line in lines]


def block(head, lines):
    """The lines in braces, after a head such as `for (…)`."""
    return [f"{head} {{".lstrip(), *indented(lines), "}"]


def arguments(chain, operands, walk):
    """The declarations of the kernel's arguments."""
    found = [f"const long n{axis}" for axis in range(len(walk.joined))]
    found += ["const long chunk"] if walk.cut is not None else []
    for name, operand in zip(chain.inputs, operands):
        found += [f"const long in_{name}_step{axis}"
                  for axis, moves in enumerate(operand.moves[:-1]) if moves]
    found += ["const T count"] if chain.how == "mean" else []
    found += [f"__global {C_NAMES[to]} *restrict out_{name}"
              for name, to in (*chain.stores, *chain.totals)]
    if walk.cut is not None:
        found += ["volatile __global T *parts", "volatile __global int *arrived"]
    return found + [f"__global const {C_NAMES[operand.dtype]} *in_{name}" if operand.dtype else
                    f"const T in_{name}" for name, operand in zip(chain.inputs, operands)]


def helpers(chain, walk, dtype):
    """V, and what is needed where a row does not end with a whole vector."""
    lanes = walk.lanes
    if lanes == 1:
        return "#define V T\n"
    mask = "int" if dtype == "float32" else "long"
    text = (f"#define V {C_NAMES[dtype]}{lanes}\n"
            f"#define LANE (({mask}{lanes})({', '.join(map(str, range(lanes)))}))\n")
    for kind in sorted({C_NAMES[to] for _, to in (*chain.stores, *chain.totals)}):
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


def position(walk):
    """The lines that say where this work-item, or group, is on the axes that are not joined."""
    lines, rest = ["const long place = get_global_id(2);"], "place"
    outer = [axis for axis in range(walk.last) if not walk.joined[axis]]
    for axis in reversed(outer):
        within = "" if axis == outer[0] else f" % n{axis}"
        lines += [f"const long i{axis} = {rest}{within};"]
        rest = f"{rest} / n{axis}"
    if walk.cut is not None:
        lines += ["const long begin = get_global_id(1) * chunk;",
                  f"const long end = min(begin + chunk, n{walk.cut});"]
    if not walk.joined[-1]:
        lines += ["const long i = (long)get_global_id(0) * LANES;",
                  f"if (i >= n{walk.last}) return;",
                  f"const int there = min((long)LANES, n{walk.last} - i);"]
    elif walk.group > 1:
        lines += ["const int me = get_local_id(0);"]
    return lines


def loops(chain, operands, walk, dtype):
    """The loops along the joined axes, and in them the chain."""
    last, lanes = walk.last, walk.lanes
    inside = [fetch(name, operand, dtype, lanes) for name, operand in zip(chain.inputs, operands)]
    inside += chain.lines
    place = "i"
    for axis in reversed(range(last)):
        place = " * ".join([f"i{axis}", *[f"n{k}" for k in range(axis + 1, last + 1)]]) + f" + {place}"
    inside += [put(name, f"out_{name}", place, to, dtype, lanes) for name, to in chain.stores]
    if chain.totals:
        values = [name for name, _ in chain.totals]
        if lanes > 1 and walk.joined[-1]:  # what lies behind the end of a row must not count
            inside += [f"const V here_{name} = there == LANES ? {name} : "
                       f"(LANE < there ? {name} : (V)({start}));"
                       for name, start in zip(values, chain.starts())]
            values = [f"here_{name}" for name in values]
        inside += chain.join(chain.states(), values, "V")
    for axis in reversed(range(last + 1)):
        begin, end = ("begin", "end") if axis == walk.cut else ("0", f"n{axis}")
        if walk.joined[axis] and axis < last:
            inside = block(f"for (long i{axis} = {begin}; i{axis} < {end}; i{axis}++)", inside)
        elif walk.joined[axis]:
            if lanes > 1:
                inside = [f"const int there = min((long)LANES, {end} - i);", *inside]
            if walk.group > 1:
                begin += " + me * LANES"
            step = "LANES" if walk.group == 1 else f"{walk.group} * LANES"
            inside = block(f"for (long i = {begin}; i < {end}; i += {step})", inside)
    return inside


def fetch(name, operand, dtype, lanes):
    """The line that fetches an input: a vector, or one number for all lanes."""
    if operand.dtype is None:
        return f"const V {name} = (V)(in_{name});"
    *outer, along = operand.moves
    terms = [f"i{axis} * in_{name}_step{axis}" for axis, moves in enumerate(outer) if moves]
    terms += ["i"] if along else []
    if lanes == 1 or not along:
        return f"const V {name} = (V)((T)in_{name}[{' + '.join(terms) or '0'}]);"
    value = f"vload{lanes}(0, {' + '.join([f'in_{name}', *terms])})"
    if operand.dtype != dtype:
        value = f"convert_{C_NAMES[dtype]}{lanes}({value})"
    return f"const V {name} = {value};"


def put(value, target, place, to, dtype, lanes):
    """The line that writes a vector, or what is there of it, at a place of `target`."""
    if lanes == 1:
        return f"{target}[{place}] = {value};"
    if to != dtype:
        value = f"convert_{C_NAMES[to]}{lanes}({value})"
    return f"put_{C_NAMES[to]}({value}, there, {target} + {place});"


def lanes_of(chain, walk):
    """The lines that make an array of the lanes of each total."""
    if walk.lanes == 1:
        return [f"T lanes_{name}[1] = {{{chain.how}_{name}}};" for name, _ in chain.totals]
    return [line for name, _ in chain.totals for line in
            (f"T lanes_{name}[LANES];", f"vstore{walk.lanes}({chain.how}_{name}, 0, lanes_{name});")]


def slot(number, chunk, place):
    """Where a chunk leaves its part of total `number`."""
    return f"parts[{chunk if number == 0 else f'({number} * chunks + {chunk})'} * places + {place}]"


def slots(chain, chunk, place):
    """The same for every total."""
    return [slot(number, chunk, place) for number in range(len(chain.totals))]


def rows_end(chain, walk, dtype):
    """After the loops, where the last axis is joined: one number for each total."""
    together, parts = walk.group > 1, chain.names("part")
    lines = [*lanes_of(chain, walk), *[f"T part_{name} = lanes_{name}[0];" for name, _ in chain.totals]]
    if walk.lanes > 1:
        each = [f"{lanes}[lane]" for lanes in chain.names("lanes")]
        lines += block("for (int lane = 1; lane < LANES; lane++)", chain.join(parts, each, "T"))
    if together:
        lines += [f"__local T {name}[{walk.group}];" for name in chain.names("shared")]
        lines += meet(chain, walk.group)
    write = [f"out_{name}[place] = {chain.finished(f'part_{name}')};" for name, _ in chain.totals]
    if walk.cut is not None:
        leave = [f"{to} = {part};" for to, part in zip(slots(chain, "get_global_id(1)", "place"), parts)]
        leave += [f"{FENCE}  // first the part, then the word that it is there"]
        lines += ["const long chunks = get_global_size(1), places = get_global_size(2);"]
        if together:
            leave += ["last = atomic_inc(arrived + place) == chunks - 1;"]
            lines += ["__local int last;", *block("if (me == 0)", leave),
                      "barrier(CLK_LOCAL_MEM_FENCE);", "if (!last) return;"]
        else:
            lines += [*leave, "if (atomic_inc(arrived + place) < chunks - 1) return;"]
        lines += [FENCE, *[f"{part} = {start};" for part, start in zip(parts, chain.starts())]]
        first, step = ("me", f"c += {walk.group}") if together else ("0", "c++")
        lines += block(f"for (long c = {first}; c < chunks; {step})",
                       chain.join(parts, slots(chain, "c", "place"), "T"))
        lines += meet(chain, walk.group) if together else []
        write += ["arrived[place] = 0;  // for the next launch"]
    return lines + (block("if (me == 0)", write) if together else write)


def meet(chain, group):
    """The lines in which the work-items of a group join their parts, in log2(group) steps; the
    first one has it all then.
    """
    parts, shared = chain.names("part"), chain.names("shared")
    step = chain.join([f"{each}[me]" for each in shared], [f"{each}[me + rest]" for each in shared], "T")
    return [*[f"{each}[me] = {part};" for each, part in zip(shared, parts)],
            *block(f"for (int rest = {group // 2}; rest > 0; rest /= 2)",
                   ["barrier(CLK_LOCAL_MEM_FENCE);", *block("if (me < rest)", step)]),
            *[f"{part} = {each}[me];" for part, each in zip(parts, shared)]]


def columns_end(chain, walk, dtype):
    """After the loops, where the last axis is not joined: a vector of columns for each total."""
    at = f"place * n{walk.last} + i"
    if walk.cut is None:
        return [put(chain.finished(state), f"out_{name}", at, to, dtype, walk.lanes)
                for state, (name, to) in zip(chain.states(), chain.totals)]
    parts = chain.names("part")
    leave = [f"{to} = {lanes}[lane];"
             for to, lanes in zip(slots(chain, "get_global_id(1)", "at + lane"), chain.names("lanes"))]
    column = [*[f"T {part} = {start};" for part, start in zip(parts, chain.starts())],
              *block("for (long c = 0; c < chunks; c++)",
                     chain.join(parts, slots(chain, "c", "at + lane"), "T")),
              *[f"out_{name}[at + lane] = {chain.finished(f'part_{name}')};"
                for name, _ in chain.totals]]
    return [*lanes_of(chain, walk), f"const long at = {at};",
            f"const long chunks = get_global_size(1), places = get_global_size(2) * n{walk.last};",
            *block("for (int lane = 0; lane < there; lane++)", leave),
            f"{FENCE}  // first the part, then the word that it is there",
            "arrived += place * get_global_size(0) + get_global_id(0);",
            "if (atomic_inc(arrived) < chunks - 1) return;", FENCE,
            *block("for (int lane = 0; lane < there; lane++)", column),
            "*arrived = 0;  // for the next launch"]
