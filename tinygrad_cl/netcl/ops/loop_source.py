"""OpenCL C of a loop nest (`loop_nest`), as one kernel.

Here for Σ tanh(x) b along the last axis of (4, 1000), b the same for all rows, with vectors:

    __kernel void example(const long n0, const long n1, const long in_x_step0,
                          __global float *total_y, __global const float *in_x, …) {
        const long position = get_global_id(2);                which row
        if (position >= n0) return;
        const long i0 = position;
        V sum_y = (V)(0);
        for (long i = 0; i < n1; i += LANES) {                 reduced axes are loops
            const long there = n1 - i;        elements that are left of the row
            const V x = vload16(0, in_x + i0 * in_x_step0 + i);
            const V b = vload16(0, in_b + i);
            const V y = TANH(x) * b;                           the lines of the nest
            …                                                  combined into sum_y
        }
        …                                                      `loop_reductions`

A vector at the end of a row is read whole, for every tensor has memory behind it that may be read.
"""

import re

from tinygrad_cl.netcl.ops.c_source import C_NAMES, block, settings
from tinygrad_cl.netcl.ops.loop_reductions import (
    columns_end,
    combine,
    leave_parts,
    names,
    rows_end,
    start_from_parts,
)


def nest_source(nest, inputs, s):
    """The text of the kernel `nest.name` for its Inputs and a Schedule s. Arguments: `arguments`."""
    pairs = list(zip(nest.inputs, inputs))
    fill = calls_functions(nest.lines)
    fixed = [fetch(name, each, s, fill) for name, each in pairs if is_fixed(each, s)]
    moving = [fetch(name, each, s, fill) for name, each in pairs if not is_fixed(each, s)]
    body = [*position(nest, inputs, s), *fixed, *states(nest.reductions, s)]
    body += start_from_parts(nest, s) if s.launch == 2 else []
    body += loops(nest, [*moving, *nest.lines], s)
    if s.launch == 1:
        body += leave_parts(nest, s)
    elif nest.reductions and not nest.running:
        body += rows_end(nest, s) if s.reduced[-1] else columns_end(nest, s)
    return kernel(nest, inputs, body, s)


def kernel(nest, inputs, body, s):
    """The text of a kernel: settings, helpers, arguments, and the lines of its body."""
    group = f"__attribute__((reqd_work_group_size({s.group}, 1, 1)))\n" if s.group > 1 else ""
    declarations = ",\n    ".join(arguments(nest, inputs, s))
    text = "\n".join(block(f"__kernel {group}void {nest.name}(\n    {declarations})", body))
    text = f"{helpers(nest, text, s)}\n{text}\n"
    return settings(s.dtype, s.lanes, text) + text


def arguments(nest, inputs, s):
    """The declarations of the kernel's arguments, in order: the lengths of the axes, or of each
    tensor; that of a chunk, if there are any; for each input its steps; the outputs; the reductions;
    if there are chunks their parts, and how many have arrived; the inputs.
    """
    pairs = list(zip(nest.inputs, inputs))
    found = [f"const long n0_{number}" for number in range(s.tensors)]
    found += [f"const long n{axis}" for axis in range(s.last + 1) if not s.tensors]
    found += [] if s.cut is None else ["const long chunk"]
    found += [f"const long {each}" for name, one in pairs for each in steps_of(name, one)]
    if not nest.in_place:
        found += [f"__global {C_NAMES[to]} *out_{name}" for name, to in nest.outputs]
    found += [f"__global {C_NAMES[each.dtype]} *total_{each.value}" for each in nest.reductions]
    if s.cut is not None:
        found += ["volatile __global T *parts", "volatile __global int *arrived"]
    own, shared = tensors_inputs(nest, inputs, s)
    found += [f"{pointer(nest, name, each)}_{number}" for number in range(s.tensors) for name, each in own]
    return found + [pointer(nest, name, each) for name, each in shared]


def tensors_inputs(nest, inputs, s):
    """((name, Input) of which each of many tensors has its own, those that all share)."""
    pairs = list(zip(nest.inputs, inputs))
    own = [pair for pair in pairs if s.tensors and pair[1].steps]
    return own, [pair for pair in pairs if pair not in own]


def pointer(nest, name, each):
    """The declaration of an input."""
    if each.dtype is None:
        return f"const T in_{name}"
    const = "" if nest.in_place and name in nest.inputs[: len(nest.outputs)] else "const "
    return f"__global {const}{C_NAMES[each.dtype]} *in_{name}"


def steps_of(name, each):
    """The names of the steps of an input that are arguments."""
    return [
        f"in_{name}_step{axis}"
        for axis, step in enumerate(each.steps)
        if step is None or step and axis < len(each.steps) - 1
    ]


def helpers(nest, text, s):
    """V, and what the text needs where a row does not end with a whole vector."""
    lanes = s.lanes
    if lanes == 1:
        return "#define V T\n"
    mask = "long" if s.dtype == "float64" else "int"
    found = f"#define V {C_NAMES[s.dtype]}{lanes}\n"
    if "LANE <" in text or "filled(" in text:
        found += f"#define LANE (({mask}{lanes})({', '.join(map(str, range(lanes)))}))\n"
    if "filled(" in text:
        found += """// A vector without what lies behind the end of a row: its first element stands there.
static V filled(const V v, const long there) {
    return there >= LANES ? v : (LANE < (int)there ? v : (V)(v.s0));
}
"""
    results = [to for _, to in nest.outputs] + [each.dtype for each in nest.reductions if not s.reduced[-1]]
    return found + "".join(put_function(kind, s) for kind in sorted({C_NAMES[to] for to in results}))


def put_function(kind, s):
    """A function that stores a vector: all of it, or at the end of a row the elements that are left,
    in halves, fourths, ….
    """
    width, whole, rest = s.lanes, "v", []
    while width > 1:
        width //= 2
        half, store = (f"{kind}{width}", f"vstore{width}(v{width}, 0, to)") if width > 1 else (kind, "*to = v1")
        rest += [f"{half} v{width} = {whole}.lo;"]
        rest += block(f"if (there & {width})", [f"{store};", f"to += {width};", f"v{width} = {whole}.hi;"])
        whole = f"v{width}"
    store = f"vstore{s.lanes}(v, 0, to);"
    if s.stream:
        store = f"__builtin_nontemporal_store(v, (__global {kind}{s.lanes} *)to);"
    head = f"static void put_{kind}(const {kind}{s.lanes} v, const long there, __global {kind} *to)"
    return "\n".join(block(head, [*block("if (there >= LANES)", [store, "return;"]), *rest])) + "\n"


def position(nest, inputs, s):
    """The lines that say where this work-item, or group, is on the axes that are not reduced."""
    outer = [axis for axis in range(s.last) if not s.reduced[axis]]
    lines = ["const long position = get_global_id(2);"] if outer or nest.reductions else []
    if outer and s.group == 1:  # groups are as many as there are places: none returns before a barrier
        lines += [f"if (position >= {' * '.join(f'n{axis}' for axis in outer)}) return;"]
    rest = "position"
    for axis in reversed(outer):
        within = f" % n{axis}" if axis > outer[0] else ""
        lines += [f"const long i{axis} = {rest}{within};"]
        rest = f"{rest} / n{axis}"
    lines += find_tensor(nest, inputs, s) if s.tensors else []
    number = "number" if s.tensors else f"(long)get_global_id({0 if s.cut is None else 1})"
    if s.cut is not None:
        lines += [f"const long begin = {number} * chunk;", f"const long end = min(begin + chunk, n{s.cut});"]
    if s.reduced[-1]:
        lines += ["const int me = get_local_id(0);"] if s.group > 1 else []
    elif s.tile > 1:
        lines += [f"const long first = (long)get_global_id(0) * {s.tile} * LANES;"]
    else:
        at = number if s.cut is None else "(long)get_global_id(0)"
        lines += [f"const long i = {at} * LANES;", f"if (i >= n{s.last}) return;"]
        lines += [f"const long there = n{s.last} - i;"] * (s.lanes > 1)
    return lines


def find_tensor(nest, inputs, s):
    """The lines that find out of which tensor this work-item takes a vector, or this group a chunk:
    those of all tensors are numbered through.
    """
    own, _ = tensors_inputs(nest, inputs, s)
    size, number = ("LANES", "0") if s.cut is None else ("chunk", "1")
    lines = [f"long number = get_global_id({number}), n0;", *[f"{pointer(nest, name, each)};" for name, each in own]]
    for tensor in range(s.tensors):
        found = [f"n0 = n0_{tensor};", *[f"in_{name} = in_{name}_{tensor};" for name, _ in own]]
        before = f"(number -= (n0_{tensor - 1} + {size} - 1) / {size})" if tensor else "number"
        condition = f"if ({before} < (n0_{tensor} + {size} - 1) / {size})"
        lines.append(f"{'else ' * (tensor > 0)}{condition} {{ {' '.join(found)} }}")
    return [*lines, "else return;"]


def is_fixed(each, s):
    """Whether an input has one value for a work-item, which can be fetched before the loops."""
    loop = [*s.reduced[:-1], s.reduced[-1] or s.tile > 1]
    return not any(step != 0 and inside for step, inside in zip(each.steps, loop))


def calls_functions(lines):
    """Whether lines of C call functions of the driver, whose vectors need not be as good as its
    numbers: in PoCL's sin of float16 all lanes are wrong where one is huge, in its pow of double8
    where one is subnormal. They shall not see what lies behind the end of a row.
    """
    return any(re.search(r"\b[a-z]\w*\(", line) for line in lines)


def fetch(name, each, s, fill):
    """The line that fetches an input: a vector, or one element for all lanes.

    fill   whether the end of a row is filled with elements of it
    """
    if each.dtype is None:
        return f"const V {name} = (V)(in_{name});"
    *outer, along = each.steps or (0,)
    terms = [f"i{axis} * in_{name}_step{axis}" for axis, moves in enumerate(outer) if moves]
    terms += [f"i * in_{name}_step{s.last}" if along is None else "i"] * (along != 0)
    if s.lanes == 1 or along == 0:
        return f"const V {name} = (V)((T)in_{name}[{' + '.join(terms) or '0'}]);"
    value = f"vload{s.lanes}(0, {' + '.join([f'in_{name}', *terms])})"
    if each.dtype != s.dtype:
        value = f"convert_{C_NAMES[s.dtype]}{s.lanes}({value})"
    if fill:
        value = f"filled({value}, there)"
    return f"const V {name} = {value};"


def states(reductions, s):
    """The lines that declare the vectors in which a work-item combines what it meets."""
    count = s.tile * s.chains
    if count == 1:
        return [f"V {each.state} = (V)({each.neutral});" for each in reductions]
    arrays = [f"V {each.state}[{count}];" for each in reductions]
    start = [f"{each.state}[each] = (V)({each.neutral});" for each in reductions]
    return arrays + block(f"for (int each = 0; each < {count}; each++)", start)


def loops(nest, lines, s):
    """The loops along the reduced axes; in them the lines, what is combined, and the outputs."""
    targets = nest.inputs if nest.in_place else [name for name, _ in nest.outputs]
    stores = [
        (name, f"{'in' if nest.in_place else 'out'}_{target}", to) for (name, to), target in zip(nest.outputs, targets)
    ]
    if nest.running and s.launch != 1:
        stores += [(s.state(each), f"total_{each.value}", each.dtype) for each in nest.reductions]
    lines = [*lines, *combine_here(nest.reductions, s)]
    lines += [s.put(value, target, row_major(s), to) for value, target, to in stores]
    if not s.reduced[-1]:
        lines = s.each_vector(lines)
    axes = [axis for axis, inside in enumerate(s.reduced) if inside]
    for axis in reversed(axes):
        lines = loop(axis, lines, s.chains if axis == axes[-1] else 1, nest.running < 0, s)
    first = [f"{each.state}[0]" for each in nest.reductions]
    for chain in range(1, s.chains):
        lines += combine(nest.reductions, first, [f"{each.state}[{chain}]" for each in nest.reductions], "V")
    return lines


def loop(axis, lines, chains, backward, s):
    """The lines in a loop along an axis, in turns for each of the chains."""
    begin, end = ("begin", "end") if axis == s.cut else ("0", f"n{axis}")
    index, step = (f"i{axis}", "1") if axis < s.last else ("i", "LANES")
    if axis == s.last and s.lanes > 1:
        lines = [f"const long there = {end} - i;", *lines]
    if axis == s.last and s.group > 1:
        begin, step = f"{begin} + me * LANES", f"{s.group} * LANES"
    if backward:
        lines, index = [f"const long {index} = n{axis} - 1 - turn;", *lines], "turn"
    if chains > 1:
        place = f"first + chain * {step}"
        turns = f"for (int chain = 0; chain < {chains} && {place} < {end}; chain++)"
        lines = ["#pragma unroll", *block(turns, [f"const long {index} = {place};", *lines])]
        index, step = "first", f"{chains} * {step}"
    return block(f"for (long {index} = {begin}; {index} < {end}; {index} += {step})", lines)


def row_major(s):
    """The place in a tensor of the whole shape: `position * n1 + i`."""
    if not any(s.reduced[:-1]):
        return f"position * n{s.last} + i" if s.last else "i"
    terms = [
        " * ".join([f"i{axis}", *[f"n{inner}" for inner in range(axis + 1, s.last + 1)]]) for axis in range(s.last)
    ]
    return " + ".join([*terms, "i"])


def combine_here(reductions, s):
    """The lines that combine the values of this place with what there is."""
    values, lines = [each.value for each in reductions], []
    if s.lanes > 1 and s.reduced[-1]:
        lines += [
            f"const V here_{name} = there >= LANES ? {name} : (LANE < (int)there ? {name} : (V)({each.neutral}));"
            for name, each in zip(values, reductions)
        ]
        values = names("here", reductions)  # without what lies behind the end of the row
    return lines + combine(reductions, [s.state(each) for each in reductions], values, "V")
