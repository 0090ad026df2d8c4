"""OpenCL C of row kernels, generated from a RowFormula: one group of work-items for each row.

For each step the group walks down the row, and each work-item joins what it meets; then they join
their results. On a CPU a group is one work-item with vectors of LANES numbers; on a GPU it is many
work-items with single numbers, which meet in local memory. So one text serves both:

    V s_part = (V)(0);                                          a step: s = Σ exp(x − m)
    for (long i = me * LANES; i < n; i += GROUP * LANES) {
        const V x = vload16(0, x0 + i);
        s_part = ADD(s_part, HERE ? (exp(x - m)) : (V)(0));     HERE: lanes that are in the row
    }
    const V s = (V)(ADD_across(s_part));                        every lane, and every work-item

A vector at the end of a row reads on into what lies behind, which every tensor allows, and HERE
keeps that out. Measured on PoCL, it costs under 5 % of a softmax, and rows of 10 numbers need it.

Each lane adds up its numbers one after the other, without the chunks of ops.reduction: in float32,
a row of 50,000 equal numbers is off by 3e-5, one of 4,000 by 1e-6.
"""

import re

from tinygrad_cl.netcl.ops.elementwise_source import (C_NAMES, kernel_name, parameter, settings,
                                                      value)
from tinygrad_cl.netcl.ops.reduction_source import JOIN, NEUTRAL

VECTORS = """
#define HERE (RAMP < (V)(n - i))
void store(V numbers, __global T *out, long room) {
    if (room >= LANES) {
        vstoreLANES(numbers, 0, out);
    } else {
        T lanes[LANES];
        vstoreLANES(numbers, 0, lanes);
        for (int lane = 0; lane < room; lane++) out[lane] = lanes[lane];
    }
}
"""

SINGLE = """
#define HERE true
void store(V number, __global T *out, long room) { *out = number; }
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
    """A kernel for groups of `group` work-items, as many as there are rows.

    operands   of each input, an Operand (ops.elementwise) with step 1 along a row, or 0
    wanted     for each output whether it is computed

    Arguments: n, the length of a row; for each input that is a buffer how many numbers its next row
    is away; the outputs that are wanted, the inputs.
    """
    outputs = [(number, expression) for number, expression in enumerate(formula.outputs)
               if wanted[number]]
    row_outputs = [(number, expression) for number, expression
                   in enumerate(formula.row_outputs, len(formula.outputs)) if wanted[number]]
    buffers = [number for number, operand in enumerate(operands) if operand.dtype]
    inputs = {name: (operand.step, f"const V {name} = {value(number, operand, dtype, lanes, 'i')};")
              for number, (name, operand) in enumerate(zip(formula.inputs, operands))}
    parameters = ["const long n", *[f"const long row{number}" for number in buffers],
                  *[f"__global T *out{number}" for number, _ in outputs + row_outputs],
                  *[parameter(number, operand) for number, operand in enumerate(operands)]]
    lines = ["const long row = get_group_id(0), me = get_local_id(0);", "const V N = (V)(n);"]
    lines += [f"__local T part[{group}];"] if group > 1 else []
    lines += [f"x{number} += row * row{number};" for number in buffers]
    lines += [f"out{number} += row * n;" for number, _ in outputs]
    lines += [load for step, load in inputs.values() if step != 1]
    for steps in passes(formula.steps):
        lines += pass_lines(steps, inputs, group)
    if outputs:
        lines += loop(inputs, [f"store({expression}, out{number} + i, n - i);"
                               for number, expression in outputs])
    lines += [f"if (me == 0) out{number}[row] = FIRST({expression});"
              for number, expression in row_outputs]
    return (f"{header(formula, dtype, lanes, group)}"
            f"__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))\n"
            f"void {kernel_name(formula)}({', '.join(parameters)}) {{\n    "
            + "\n    ".join(lines) + "\n}\n")


def header(formula, dtype, lanes, group):
    """What stands before the kernel: V, and how lanes and work-items join their numbers."""
    kind = f"{C_NAMES[dtype]}{lanes if lanes > 1 else ''}"
    ramp = ", ".join(map(str, range(lanes)))
    first = "(numbers).s0" if lanes > 1 else "(numbers)"
    text = (f"{settings(dtype, lanes)}#define V {kind}\n#define GROUP {group}\n"
            f"#define RAMP (V)({ramp})\n#define FIRST(numbers) {first}\n")
    text += VECTORS.replace("vstoreLANES", f"vstore{lanes}") if lanes > 1 else SINGLE
    for join in sorted({join_of(how) for _, how, _ in formula.steps if how}):
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
    """The steps in groups: reductions that need nothing of one another share one walk down the row.

    >>> passes((("m", "max", "x"), ("s", "sum", "exp(x - m)"), ("t", "sum", "x"), ("u", None, "s")))
    [[('m', 'max', 'x')], [('s', 'sum', 'exp(x - m)'), ('t', 'sum', 'x')], [('u', None, 's')]]
    """
    groups = []
    for name, how, expression in steps:
        last = groups[-1] if groups else []
        if how and last and last[0][1] and not mentions(expression, [each for each, *_ in last]):
            last.append((name, how, expression))
        else:
            groups.append([(name, how, expression)])
    return groups


def pass_lines(steps, inputs, group):
    """The lines that compute some steps: one number of the row, or reductions by one loop."""
    if not steps[0][1]:
        return [f"const V {name} = {expression};" for name, _, expression in steps]
    lines, joins = [], []
    for name, how, expression in steps:
        neutral = f"(V)({NEUTRAL['sum' if how == 'mean' else how]})"
        lines.append(f"V {name}_part = {neutral};")
        here = f"HERE ? ({expression}) : {neutral}"
        joins.append(f"{name}_part = {join_of(how)}({name}_part, {here});")
    lines += loop(inputs, joins)
    for name, how, _ in steps:
        meet = f"{join_of(how)}_across({name}_part{', part' if group > 1 else ''})"
        lines.append(f"const V {name} = (V)({meet}){' / N' if how == 'mean' else ''};")
    return lines


def loop(inputs, statements):
    """The walk of a work-item down the row: it loads what the statements mention."""
    text = " ".join(statements)
    lines = ["for (long i = me * LANES; i < n; i += GROUP * LANES) {"]
    if mentions(text, ["place"]):
        lines.append("    const V place = (V)(i) + RAMP;")
    lines += [f"    {load}" for name, (step, load) in inputs.items()
              if step == 1 and mentions(text, [name])]
    return [*lines, *[f"    {statement}" for statement in statements], "}"]


def mentions(expression, names):
    """Whether one of the names stands in a C expression."""
    return bool(set(re.findall(r"\w+", expression)) & set(names))
