"""OpenCL C of loop nests, continued: how reductions are combined, and what comes after the loops.

A work-item has a vector for each reduction; its lanes are combined, halves with halves, and then
what the work-items of a group have: a tree in local memory.

One of the reduced axes may be cut into chunks, so that there is work for every core. Then each
chunk leaves its part in memory, and the one that arrives last combines all parts, in the order of
the chunks: the result is the same in every run, and one launch is enough. It is the last one that
sees the count of those before it complete; it sees their parts as well, since a fence stands
between a part and its count, and the parts are volatile: read from memory, not from a register or
an old line of a cache.

A scan that is cut takes two launches of the same shape: in the first, each chunk leaves its part;
in the second, it starts from the parts of the chunks before it.
"""

from tinygrad_cl.netcl.ops.c_source import C_NAMES, block
from tinygrad_cl.netcl.ops.loop_nest import COMBINE

FENCE = "mem_fence(CLK_GLOBAL_MEM_FENCE);"
CHUNK = "get_global_id(1)"  # the number of this one
EACH_LANE = "for (int lane = 0; lane < min((long)LANES, there); lane++)"


def combine(reductions, mine, other, kind="T"):
    """The lines that combine the values named `other` into those named `mine`, of a C type."""
    lines = []
    for number, (each, a, b) in enumerate(zip(reductions, mine, other)):
        macro = COMBINE.get(each.how)
        if [after.how for after in reductions[number + 1 : number + 2]] == ["ties"]:
            n, m = mine[number + 1], other[number + 1]
            count = [
                f"const {kind} best = {macro}({a}, {b});  // NaN equals nothing, so none is counted",
                f"{n} = (best == {a} ? {n} : ({kind})(0)) + (best == {b} ? {m} : ({kind})(0));",
                f"{a} = best;",
            ]
            lines += block("", count)
        elif macro:
            lines.append(f"{a} = {macro}({a}, {b});")
    return lines


def across_lanes(reductions, s):
    """The lines that combine the lanes of what a work-item has, halves with halves: `part_…`."""
    width, lines, whole = s.lanes, [], [s.result(each) for each in reductions]
    while width > 1:
        width //= 2
        kind = f"{C_NAMES[s.dtype]}{width if width > 1 else ''}"
        halves = [f"half{width}_{each.value}" for each in reductions]
        lines += assign(halves, [f"{each}.lo" for each in whole], kind)
        lines += combine(reductions, halves, [f"{each}.hi" for each in whole], kind)
        whole = halves
    return [*lines, *assign(names("part", reductions), whole, "T")]


def across_group(reductions, s, declare=True):
    """The lines in which the work-items of a group combine their parts, as a tree: log2(group)
    steps, and then all of them have the whole.
    """
    if s.group == 1:
        return []
    parts, shared = names("part", reductions), names("shared", reductions)
    mine, others = [[f"{each}[{place}]" for each in shared] for place in ("me", "me + rest")]
    wait = "barrier(CLK_LOCAL_MEM_FENCE);"
    head = f"for (int rest = {s.group // 2}; rest > 0; rest /= 2)"
    return [
        *[f"__local T {name}[{s.group}];" for name in shared if declare],
        *assign(mine, parts),
        *block(head, [wait, *block("if (me < rest)", combine(reductions, mine, others))]),
        wait,
        *assign(parts, [f"{each}[0]" for each in shared]),
    ]


def finished(each, value, s):
    """A reduction when all of it is combined."""
    lengths = [f"n{axis}" for axis, reduced in enumerate(s.reduced) if reduced]
    return f"{value} / (T)({' * '.join(lengths) or '1'})" if each.how == "mean" else value


def assign(targets, values, kind=""):
    """The lines that assign each value to its target, declared where `kind` is a type."""
    return [f"{kind} {target} = {value};".lstrip() for target, value in zip(targets, values)]


def slots(reductions, chunk, place):
    """Where a chunk leaves its part of each reduction, one reduction behind the other."""
    chunks = [f"({number} * chunks + {chunk})" if number else chunk for number in range(len(reductions))]
    return [f"parts[{each} * places + {place}]" for each in chunks]


def rows_end(nest, s):
    """Where the last axis is reduced: one element for each reduction."""
    reductions, parts = nest.reductions, names("part", nest.reductions)
    lines = [*across_lanes(reductions, s), *across_group(reductions, s)]
    values = [finished(each, part, s) for each, part in zip(reductions, parts)]
    write = assign([f"{total}[position]" for total in names("total", reductions)], values)
    if s.cut is not None:
        lines += count_chunks(s)
        leave = [*assign(slots(reductions, CHUNK, "position"), parts), FENCE]
        if s.group > 1:
            leave += ["last = atomic_inc(arrived + position) == chunks - 1;"]
            lines += ["__local int last;", *block("if (me == 0)", leave)]
            lines += ["barrier(CLK_LOCAL_MEM_FENCE);", "if (!last) return;"]
        else:
            lines += [*leave, "if (atomic_inc(arrived + position) < chunks - 1) return;"]
        first, step = ("me", f"c += {s.group}") if s.group > 1 else ("0", "c++")
        others = combine(reductions, parts, slots(reductions, "c", "position"))
        lines += [
            FENCE,
            *assign(parts, [each.neutral for each in reductions]),
            *block(f"for (long c = {first}; c < chunks; {step})", others),
            *across_group(reductions, s, declare=False),
        ]
        write += ["arrived[position] = 0;  // for the next launch"]
    return lines + (block("if (me == 0)", write) if s.group > 1 else write)


def columns_end(nest, s):
    """Where the last axis is not reduced: a vector of columns for each reduction."""
    reductions, place = nest.reductions, column_place(s)
    totals, parts = names("total", reductions), names("part", reductions)
    if s.cut is None:
        results = [(each, finished(each, s.result(each), s)) for each in reductions]
        return s.each_vector([s.put(value, f"total_{each.value}", place, each.dtype) for each, value in results])
    place += " + lane" * (s.lanes > 1)
    columns = [
        *assign(parts, [each.neutral for each in reductions], "T"),
        *block("for (long c = 0; c < chunks; c++)", combine(reductions, parts, slots(reductions, "c", place))),
        *assign([f"{each}[{place}]" for each in totals], [finished(*pair, s) for pair in zip(reductions, parts)]),
    ]
    return [
        *leave_columns(reductions, s),
        FENCE,
        "arrived += position * get_global_size(0) + get_global_id(0);",
        "if (atomic_inc(arrived) < chunks - 1) return;",
        FENCE,
        *s.each_vector(block(EACH_LANE, columns) if s.lanes > 1 else columns),
        "*arrived = 0;  // for the next launch",
    ]


def leave_columns(reductions, s):
    """The lines in which a chunk leaves its part of each column."""
    if s.lanes == 1:
        leave = assign(slots(reductions, CHUNK, column_place(s)), [s.result(each) for each in reductions])
    else:
        arrays = [(f"lanes_{each.value}", s.result(each)) for each in reductions]
        leave = [
            line for name, state in arrays for line in (f"T {name}[LANES];", f"vstore{s.lanes}({state}, 0, {name});")
        ]
        at = slots(reductions, CHUNK, f"{column_place(s)} + lane")
        leave += block(EACH_LANE, assign(at, [f"{name}[lane]" for name, _ in arrays]))
    return [*count_chunks(s), *s.each_vector(leave)]


def column_place(s):
    """The place of the first column of a vector among the results."""
    return f"position * n{s.last} + i"


def count_chunks(s):
    """The lines that say how many chunks there are, and results."""
    columns = "" if s.reduced[-1] else f" * n{s.last}"
    return [f"const long chunks = get_global_size(1), places = get_global_size(2){columns};"]


def leave_parts(nest, s):
    """The end of the first launch of a scan: each chunk leaves its part."""
    if not s.reduced[-1]:
        return leave_columns(nest.reductions, s)
    return [
        *count_chunks(s),
        *assign(slots(nest.reductions, CHUNK, "position"), [s.result(each) for each in nest.reductions]),
    ]


def start_from_parts(nest, s):
    """The beginning of the second launch of a scan: a chunk starts from the parts of those before."""
    at = slots(nest.reductions, "c", "position" if s.reduced[-1] else column_place(s))
    if s.lanes > 1:
        at = [f"vload{s.lanes}(0, (__global const T *)&{each})" for each in at]
    before = combine(nest.reductions, [s.state(each) for each in nest.reductions], at, "V")
    return [*count_chunks(s), *block(f"for (long c = 0; c < {CHUNK}; c++)", before)]


def names(word, reductions):
    """A name for each reduction: the word, _, the name of the value."""
    return [f"{word}_{each.value}" for each in reductions]
