"""OpenCL C of row kernels, generated from a RowFormula: one group of work-items for each row.

For each step the group walks down the row, and each work-item joins what it meets; then they join
their results. On a CPU a group is one work-item with vectors of LANES numbers; on a GPU it is many
work-items with single numbers, which meet in local memory. One text serves both, here for the step
s = Σ exp(x − m), where STEP = GROUP · LANES:

    V s_0 = (V)(0), s_1 = (V)(0);
    for (i = me * LANES; i + STEP + LANES <= n; i += 2 * STEP) {
        { const V x = vload16(0, x0 + i); s_0 = ADD(s_0, exp(x - m)); }
        { const V x = vload16(0, x0 + i + STEP); s_1 = ADD(s_1, exp(x - m)); }
    }
    for (; i < n; i += STEP) {
        { const V x = vload16(0, x0 + i); s_0 = ADD(s_0, HERE ? (exp(x - m)) : (V)(0)); }
    }
    const V s = (V)(ADD_across(ADD(s_0, s_1)));     the same in every lane and every work-item

Two sums, since then an addition need not wait for the last one: a softmax of (512, 4096) takes
470 µs on two cores instead of 550; and 370 where exp(x - m) is kept for the next walk. A vector at
the end of a row reads on into what lies behind, which every tensor allows, and HERE keeps that out.

Each lane adds up its numbers one after the other, without the chunks of ops.reduction: with 16
lanes of float32, the mean of 50,000 equal numbers is off by 2e-6, that of a million by 2e-4.
"""

import re
from functools import partial

from tinygrad_cl.netcl.ops.elementwise_source import C_NAMES, kernel_name, parameter, settings, value, vector_settings
from tinygrad_cl.netcl.ops.reduction_source import JOIN, NEUTRAL

VECTORS = """
#define HERE (RAMP < (V)(n - i))
#define FIRST(vector) (vector).s0
void store_rest(V vector, __global T *out, long room) {
    T lanes[LANES];
    STORE(vector, lanes);
    for (int lane = 0; lane < LANES && lane < room; lane++) out[lane] = lanes[lane];
}
V load_rest(__global const T *x, long room) {
    T lanes[LANES];
    for (int lane = 0; lane < LANES; lane++) lanes[lane] = lane < room ? x[lane] : (T)0;
    return LOAD(lanes);
}
"""

NUMBERS = """
#define HERE true
#define FIRST(number) (number)
#define store_rest(number, place, room) *(place) = (number)
#define load_rest(place, room) (*(place))
"""

GROUP_ACROSS = """
T JOIN_across(T mine, __local T *part) {
    const int me = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);  // somebody may still read the result of the step before
    part[me] = mine;
    for (int rest = GROUP / 2; rest > 0; rest /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < rest) part[me] = JOIN(part[me], part[me + rest]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return part[0];
}
"""


def rows_source(formula, operands, wanted, dtype, lanes, group):
    """A kernel for groups of `group` work-items, as many as there are rows; one of lanes and group
    is 1.

    operands   of each input, an Operand (ops.elementwise) with step 1 along a row, or 0
    wanted     for each output whether it is computed

    Arguments: n, the length of a row; for each input that is a buffer how many numbers its next row
    is away; the outputs that are wanted, the inputs.
    """
    outputs = [(number, expression) for number, expression in enumerate(formula.outputs) if wanted[number]]
    row_outputs = [
        (number, expression)
        for number, expression in enumerate(formula.row_outputs, len(formula.outputs))
        if wanted[number]
    ]
    buffers = [number for number, operand in enumerate(operands) if operand.dtype]
    parameters = [
        "const long n",
        *[f"const long row{number}" for number in buffers],
        *[f"__global T *out{number}" for number, _ in outputs + row_outputs],
        *[parameter(number, operand) for number, operand in enumerate(operands)],
    ]
    lines = ["const long row = get_group_id(0), me = get_local_id(0);", "const V N = (V)(n);", "long i;"]
    lines += [f"__local T part[{group}];"] if group > 1 else []
    lines += [f"x{number} += row * row{number};" for number in buffers]
    lines += [f"out{number} += row * n;" for number, _ in outputs]
    inputs = {}  # what has a number for each place: its name, and how it is fetched
    for number, (name, operand) in enumerate(zip(formula.inputs, operands)):
        if operand.step == 1:
            inputs[name] = partial(fetch_input, number, operand, dtype, lanes)
        else:
            lines.append(f"const V {name} = {value(number, operand, dtype, lanes, '0')};")
    for steps in passes(formula.steps):
        lines += reductions(steps, inputs, group) if steps[0][1] else numbers(steps)
    if outputs:
        lines += output_loop(outputs, inputs)
    lines += [f"if (me == 0) out{number}[row] = FIRST({expression});" for number, expression in row_outputs]
    return (
        f"{header(formula, dtype, lanes, group)}"
        f"__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))\n"
        f"void {kernel_name(formula)}({', '.join(parameters)}) {{\n    " + "\n    ".join(lines) + "\n}\n"
    )


def header(formula, dtype, lanes, group):
    """What stands before the kernel: V, and how lanes and work-items join their numbers."""
    ramp = ", ".join(map(str, range(lanes)))
    text = (
        f"{settings(dtype, lanes)}{vector_settings(dtype, lanes)}#define GROUP {group}\n"
        f"#define STEP (GROUP * LANES)\n#define RAMP (V)({ramp})\n"
    )
    text += VECTORS if lanes > 1 else NUMBERS
    for join in sorted({join_of(how) for _, how, _ in formula.steps if how and how != "keep"}):
        if group > 1:
            text += GROUP_ACROSS.replace("JOIN", join)
        else:
            text += lanes_across(join, dtype, lanes)
    return text


def lanes_across(join, dtype, lanes):
    """The function that joins the lanes of a vector: halves with halves, until one number is
    left.
    """
    lines, name = [], "v"
    while lanes > 1:
        lanes //= 2
        kind = f"{C_NAMES[dtype]}{lanes if lanes > 1 else ''}"
        lines.append(f"const {kind} v{lanes} = {join}({name}.lo, {name}.hi);")
        name = f"v{lanes}"
    return f"T {join}_across(V v) {{ {' '.join(lines)} return {name}; }}\n"


def join_of(how):
    """The macro that joins two numbers of a step."""
    return JOIN["sum" if how == "mean" else how]


def passes(steps):
    """The steps in groups, each one walk down the row: reductions that need no result of one
    another, and what they need that is kept; or a single number, how None.

    >>> passes((("m", "max", "x"), ("e", "keep", "x - m"), ("s", "sum", "e"), ("c", None, "s")))
    [[('m', 'max', 'x')], [('e', 'keep', 'x - m'), ('s', 'sum', 'e')], [('c', None, 's')]]
    """
    groups = []
    for name, how, expression in steps:
        last = groups[-1] if groups else []
        results = [each for each, kind, _ in last if kind != "keep"]
        if how and last and last[0][1] and not mentions(expression, results):
            last.append((name, how, expression))
        else:
            groups.append([(name, how, expression)])
    return groups


def numbers(steps):
    """The lines of steps that are one number of the row."""
    return [f"const V {name} = {expression};" for name, _, expression in steps]


def reductions(steps, inputs, group):
    """The lines of steps that share one walk down the row. What is kept can be fetched from then
    on.
    """
    begin, first, second, rest, end = [], [], [], [], []
    for name, how, expression in steps:
        if how == "keep":
            keep = f"const V {name} = {expression};"
            first += [keep, f"STORE({name}, out0 + i);"]
            second += [keep, f"STORE({name}, out0 + i + STEP);"]
            rest += [keep, f"store_rest({name}, out0 + i, n - i);"]
            continue
        join, neutral = join_of(how), f"(V)({NEUTRAL['sum' if how == 'mean' else how]})"
        begin.append(f"V {name}_0 = {neutral}, {name}_1 = {neutral};")
        first.append(f"{name}_0 = {join}({name}_0, {expression});")
        second.append(f"{name}_1 = {join}({name}_1, {expression});")
        rest.append(f"{name}_0 = {join}({name}_0, HERE ? ({expression}) : {neutral});")
        across = f"{join}_across({join}({name}_0, {name}_1){', part' if group > 1 else ''})"
        end.append(f"const V {name} = (V)({across}){' / N' if how == 'mean' else ''};")
    lines = [
        *begin,
        "for (i = me * LANES; i + STEP + LANES <= n; i += 2 * STEP) {",
        f"    {block(first, inputs, 'i')}",
        f"    {block(second, inputs, 'i + STEP')}",
        "}",
        "for (; i < n; i += STEP) {",
        f"    {block(rest, inputs, 'i', True)}",
        "}",
        *end,
    ]
    inputs.update({name: fetch_kept for name, how, _ in steps if how == "keep"})
    return lines


def output_loop(outputs, inputs):
    """The lines that compute the outputs: whole vectors, then the rest."""
    whole = [f"STORE({expression}, out{number} + i);" for number, expression in outputs]
    rest = [f"store_rest({expression}, out{number} + i, n - i);" for number, expression in outputs]
    return [
        "for (i = me * LANES; i + LANES <= n; i += STEP) {",
        f"    {block(whole, inputs, 'i')}",
        "}",
        "for (; i < n; i += STEP) {",
        f"    {block(rest, inputs, 'i', True)}",
        "}",
    ]


def block(statements, inputs, at, rest=False):
    """Statements in C for the numbers that begin at a place, and what they mention of these.

    rest   whether the row may end within the vector
    """
    text = " ".join(statements)
    lines = [f"const V place = (V)({at}) + RAMP;"] if mentions(text, ["place"]) else []
    lines += [f"const V {name} = {fetch(at, rest)};" for name, fetch in inputs.items() if mentions(text, [name])]
    return f"{{ {' '.join(lines + statements)} }}"


def fetch_input(number, operand, dtype, lanes, at, rest):
    """An input in C: it may be read behind the end of a row."""
    return value(number, operand, dtype, lanes, at)


def fetch_kept(at, rest):
    """What was kept, in C: behind the end of a row, somebody else may be writing."""
    return f"load_rest(out0 + {at}, n - i)" if rest else f"LOAD(out0 + {at})"


def mentions(expression, names):
    """Whether one of the names stands in a C expression."""
    return bool(set(re.findall(r"\w+", expression)) & set(names))
