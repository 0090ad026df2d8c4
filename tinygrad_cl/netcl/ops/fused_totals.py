"""OpenCL C of fused kernels, continued: what comes after the loops, where there are totals.

One of the joined axes may be cut into chunks, so that there is work for every core. Then each chunk
leaves its part in memory, and the one that comes last joins all parts, in the order of the chunks:
the result is the same in every run, and one launch is enough. It is the last one that sees the
count of those before it complete; it sees their parts as well, since a fence stands between a part
and its count, and the parts are volatile: read from memory, not from a register or an old line of a
cache.
"""

from tinygrad_cl.netcl.ops.elementwise_source import C_NAMES

FENCE = "mem_fence(CLK_GLOBAL_MEM_FENCE);"


def block(head, lines):
    """The lines in braces, after a head such as `for (…)`."""
    return [f"{head} {{".lstrip(), *[f"    {line}" for line in lines], "}"]


def put(value, target, place, to, walk):
    """The line that writes a vector, or what is there of it, as dtype `to` at a place of target."""
    if walk.lanes == 1:
        return f"{target}[{place}] = {value};"
    if to != walk.dtype:
        value = f"convert_{C_NAMES[to]}{walk.lanes}({value})"
    return f"put_{C_NAMES[to]}({value}, there, {target} + {place});"


def lanes_of(chain, walk):
    """The lines that make an array of the lanes of each total."""
    return [
        line
        for lanes, total in zip(chain.names("lanes"), chain.names(chain.how))
        for line in (f"T {lanes}[LANES];", f"vstore{walk.lanes}({total}{walk.piece}, 0, {lanes});")
    ]


def slots(chain, chunk, place):
    """Where a chunk leaves its part of each total."""
    chunks = [chunk, f"(chunks + {chunk})"]  # the second total lies behind the first, …
    chunks += [f"({number} * chunks + {chunk})" for number in range(2, len(chain.totals))]
    return [f"parts[{each} * places + {place}]" for each, _ in zip(chunks, chain.totals)]


def assign(targets, values, kind=""):
    """The lines that assign each value to its target, declared where `kind` is a type."""
    return [f"{kind} {target} = {value};".lstrip() for target, value in zip(targets, values)]


def rows_end(chain, walk):
    """Where the last axis is joined: one number for each total."""
    together, parts = walk.group > 1, chain.names("part")
    if walk.lanes == 1:
        lines = assign(parts, chain.names(chain.how), "T")
    else:
        lanes = chain.names("lanes")
        lines = [
            *lanes_of(chain, walk),
            *assign(parts, [f"{each}[0]" for each in lanes], "T"),
            *block("for (int lane = 1; lane < LANES; lane++)", chain.join(parts, [f"{each}[lane]" for each in lanes])),
        ]
    if together:
        lines += [f"__local T {name}[{walk.group}];" for name in chain.names("shared")]
        lines += meet(chain, walk.group)
    write = assign([f"{out}[place]" for out in chain.names("total")], map(chain.finished, parts))
    if walk.cut is not None:
        leave = [*assign(slots(chain, "get_global_id(1)", "place"), parts), FENCE]
        lines += [
            "// The last one to come here finds the parts of all chunks.",
            "const long chunks = get_global_size(1), places = get_global_size(2);",
        ]
        if together:
            leave += ["last = atomic_inc(arrived + place) == chunks - 1;"]
            lines += [
                "__local int last;",
                *block("if (me == 0)", leave),
                "barrier(CLK_LOCAL_MEM_FENCE);",
                "if (!last) return;",
            ]
        else:
            lines += [*leave, "if (atomic_inc(arrived + place) < chunks - 1) return;"]
        first, step = ("me", f"c += {walk.group}") if together else ("0", "c++")
        lines += [
            FENCE,
            *assign(parts, chain.starts()),
            *block(f"for (long c = {first}; c < chunks; {step})", chain.join(parts, slots(chain, "c", "place"))),
        ]
        lines += meet(chain, walk.group) if together else []
        write += ["arrived[place] = 0;  // for the next launch"]
    return lines + (block("if (me == 0)", write) if together else write)


def meet(chain, group):
    """The lines in which the work-items of a group join their parts, in log2(group) steps; then the
    first one has it all.
    """
    parts, shared = chain.names("part"), chain.names("shared")
    mine, others = [[f"{each}[{place}]" for each in shared] for place in ("me", "me + rest")]
    return [
        *assign(mine, parts),
        *block(
            f"for (int rest = {group // 2}; rest > 0; rest /= 2)",
            ["barrier(CLK_LOCAL_MEM_FENCE);", *block("if (me < rest)", chain.join(mine, others))],
        ),
        *assign(parts, mine),
    ]


def columns_end(chain, walk):
    """Where the last axis is not joined: a vector of columns for each total."""
    at = f"place * n{walk.last} + i"
    totals = [f"{each}{walk.piece}" for each in chain.names(chain.how)]
    if walk.cut is None:
        return walk.each_piece(
            [
                put(chain.finished(total), f"total_{name}", at, to, walk)
                for total, (name, to) in zip(totals, chain.totals)
            ]
        )
    parts, names = chain.names("part"), chain.names("total")
    if walk.lanes == 1:
        leave = assign(slots(chain, "get_global_id(1)", at), totals)
        column = at
    else:
        each_lane, column = "for (int lane = 0; lane < there; lane++)", f"{at} + lane"
        leave = assign(slots(chain, "get_global_id(1)", column), [f"{lanes}[lane]" for lanes in chain.names("lanes")])
        leave = [*lanes_of(chain, walk), *block(each_lane, leave)]
    columns = [
        *assign(parts, chain.starts(), "T"),
        *block("for (long c = 0; c < chunks; c++)", chain.join(parts, slots(chain, "c", column))),
        *assign([f"{name}[{column}]" for name in names], map(chain.finished, parts)),
    ]
    if walk.lanes > 1:
        columns = block(each_lane, columns)
    return [
        "// The last one to come to these columns finds the parts of all chunks.",
        f"const long chunks = get_global_size(1), places = get_global_size(2) * n{walk.last};",
        *walk.each_piece(leave),
        FENCE,
        "arrived += place * get_global_size(0) + get_global_id(0);",
        "if (atomic_inc(arrived) < chunks - 1) return;",
        FENCE,
        *walk.each_piece(columns),
        "*arrived = 0;  // for the next launch",
    ]
