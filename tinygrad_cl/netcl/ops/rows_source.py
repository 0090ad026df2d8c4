"""OpenCL C of row kernels, generated from a RowFormula: loop nests after one another in one kernel.

Each nest goes along the row. First those that reduce, as few as can be: a step that needs the result
of another one is in a later nest. Then one that computes the outputs. Here for the step
s = Σ exp(x − m), on a CPU:

    V sum_s = (V)(0);
    for (long i = 0; i < n1; i += LANES) {
        const long there = n1 - i;
        const V x = vload16(0, in_x + i0 * in_x_step0 + i);
        const V term_s = exp(x - m);
        …                                               sum_s = ADD(sum_s, what is there of term_s)
    }
    …                                                   the lanes are combined: part_s
    const V s = (V)(part_s);                            the same in every lane and every work-item

On a GPU a group of work-items goes along the row together (`loop_reductions`). Each lane adds up its
elements one after the other: with 16 lanes of float32, the mean of 50,000 equal numbers is off by
2e-6, that of a million by 2e-4.
"""

import re
from dataclasses import replace

from tinygrad_cl.netcl.ops.loop_nest import Input, LoopNest, Reduction
from tinygrad_cl.netcl.ops.loop_reductions import across_group, across_lanes, finished
from tinygrad_cl.netcl.ops.loop_source import calls_functions, fetch, is_fixed, kernel, loops, position, states


def rows_source(formula, inputs, wanted, s):
    """The text of the kernel. Arguments: `loop_source.arguments` of `whole_nest`."""
    nest = whole_nest(formula, wanted, s.dtype)
    known = dict(zip(formula.inputs, inputs))  # what can be fetched
    lines = [*position(nest, inputs, s), f"const V N = (V)(n{s.last});"]
    lines += [fetch(name, each, s, False) for name, each in known.items() if is_fixed(each, s)]
    for steps in passes(formula.steps):
        if steps[0][1] is None:
            lines += [f"const V {name} = {expression};" for name, _, expression in steps]
        else:
            lines += reduce_row(steps, known, s)
    values = dict(zip(value_names(formula), (*formula.outputs, *formula.row_outputs)))
    define = {name: f"const V {name} = {expression};" for name, expression in values.items()}
    if nest.outputs:
        written = [define[name] for name, _ in nest.outputs]
        lines += loops(LoopNest("", (), (), nest.outputs), fetched(written, known, s), replace(s, chains=1))
    first = "if (me == 0) " if s.group > 1 else ""
    for each in nest.reductions:
        lines += [define[each.value], f"{first}total_{each.value}[position] = {each.value}{'.s0' * (s.lanes > 1)};"]
    ramp = f"#define RAMP (V)({', '.join(map(str, range(s.lanes)))})\n"
    return ramp + kernel(nest, inputs, lines, s)


def whole_nest(formula, wanted, dtype):
    """What the kernel takes and gives as one LoopNest: the outputs, and row outputs as reductions."""
    names = [name for name, want in zip(value_names(formula), wanted) if want]
    outputs = sum(wanted[: len(formula.outputs)])
    return LoopNest(
        f"{formula.name}_kernel",
        formula.inputs,
        outputs=tuple((name, dtype) for name in names[:outputs]),
        reductions=tuple(Reduction(name, "sum", dtype) for name in names[outputs:]),
    )


def value_names(formula):
    """The names of the outputs and of the row outputs in C."""
    return [f"value{number}" for number in range(len(formula.outputs) + len(formula.row_outputs))]


def passes(steps):
    """The steps in groups, each one loop along the row: reductions that do not need each other's results,
    with the "keep" steps that they use; or a single value for the row (how None).

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


def reduce_row(steps, known, s):
    """The lines of steps that share one loop along the row. What is kept, in the memory of the first
    output, can be fetched from then on.
    """
    kept = [name for name, how, _ in steps if how == "keep"]
    combined = {name: Reduction(f"term_{name}", how, s.dtype) for name, how, _ in steps if how != "keep"}
    values = {name: combined[name].value if name in combined else name for name, *_ in steps}
    lines = [f"const V {values[name]} = {expression};" for name, _, expression in steps]
    nest = LoopNest("", (), (), tuple((name, s.dtype) for name in kept), tuple(combined.values()))
    lines = [
        *[f"__global T *out_{name} = out_value0, *in_{name} = out_value0 + position * n{s.last};" for name in kept],
        *states(nest.reductions, s),
        *loops(nest, fetched(lines, known, s), s),
        *across_lanes(nest.reductions, s),
        *across_group(nest.reductions, s),
    ]
    known.update({name: Input(s.dtype, (False,) * s.last + (1,)) for name in kept})
    return lines + [
        f"const V {name} = (V)({finished(each, f'part_{each.value}', s)});" for name, each in combined.items()
    ]


def fetched(lines, known, s):
    """Lines inside a loop along the row, below those that fetch what they mention."""
    text = " ".join(lines)
    place = ["const V place = (V)(i) + RAMP;"] * mentions(text, ["place"])
    fill = calls_functions(lines)
    found = [name for name, each in known.items() if not is_fixed(each, s) and mentions(text, [name])]
    moving = [fetch(name, known[name], s, fill) for name in found]
    return [*moving, *place, *lines]


def mentions(expression, names):
    """Whether one of the names stands in a C expression."""
    return bool(set(re.findall(r"\w+", expression)) & set(names))
