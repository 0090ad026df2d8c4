"""Check 2 of lesson 12: the lines of C of a trace."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m12_jit.formulas import FORMULAS

forward = exercise("jit.forward", "A line of C for each operation of a trace.", needs=("jit.operation",), seconds=40)


@forward.aspect("what the lines compute", 1.25, cases=FORMULAS, few=9, many=24, rtol=1e-4, atol=1e-5)
def values(student, case):
    """The lines stand in a kernel, for three numbers x, y and silent."""
    from tinygrad_cl.opencl.kernels import launch

    leaves = [student.Traced(), student.Traced(), student.Traced(wants=False)]
    _, body = student.chain_of(case.formula(*leaves))
    names = student.name_nodes(leaves, body)
    stores = [f"out[{k} * 3 + i] = {names[node]};" for k, node in enumerate(body)]
    head = "__kernel void check(__global float *a, __global float *out) { int i = get_global_id(0); V v0 = a[i], v1 = a[3 + i], v2 = a[6 + i];"
    lines = "\n".join([student.SETTINGS, head, *student.forward_lines(body, names), *stores, "}"])
    numbers = np.array([0.7, -0.6, 1.4, -1.2, 0.9, 0.3, 0.5, 1.1, -0.8], np.float32)
    found = launch(lines, "check", numbers, np.zeros(3 * len(body) + 1, np.float32), work_items=3)[1]
    return {names[node]: found[3 * k : 3 * k + 3] for k, node in enumerate(body)}


@forward.aspect("a list of lines `const V name = …;`", 0.75, cases=FORMULAS, few=24)
def lines(student, case):
    """Of each line what is left of the =, the names on its right, and whether it ends as it must."""
    leaves = [student.Traced(), student.Traced(), student.Traced(wants=False)]
    _, body = student.chain_of(case.formula(*leaves))
    names = student.name_nodes(leaves, body)
    given = list(body), dict(names)
    found = student.forward_lines(body, names)
    parts = [line.partition("=") for line in list(found)]
    read = [" ".join(sorted(student.words([right]))) for _, _, right in parts]
    return {
        "it is": type(found).__name__,
        "lines": "; ".join(f"{' '.join(left.split())} = … {words}" for (left, _, _), words in zip(parts, read)),
        "ends": "".join(right.strip()[-1:] for _, _, right in parts),
        "body and names stay": (body, names) == given,
    }


LINE = "node.primitive.forward(texts(node, names), node.attrs)"
forward.mistake(
    "the name is that of the operation, and not of its result",
    swap=("const V {names[node]}", "const V {node.op_name}"),
    hint=["Two products would both be called `mul`.", "`names[node]`."],
)
forward.mistake("the semicolon is missing", swap=('};"', '}"'), hint="A statement of C ends with a semicolon.")
forward.mistake(
    "the line does not declare its name",
    swap=("const V {names", "{names"),
    hint="A new name in C needs a type: `const V name = …;`.",
)
forward.mistake(
    "the inputs are always v0 and v1",
    swap=("texts(node, names)", "[f'v{i}' for i in range(len(node.inputs))]"),
    hint=["The inputs of the second operation are results of the first.", "`texts(node, names)`."],
)
forward.mistake(
    "the constants of the operation are left out: it gets the defaults",
    swap=("node.attrs", "node.primitive.attrs"),
    hint="A slope of 0.3 stands in `node.attrs`.",
)
forward.mistake(
    "the lines are in reverse order",
    swap=("in body]", "in reversed(body)]"),
    hint="Each line uses names of lines before it.",
)
forward.mistake(
    "only the last operation has a line", swap=("in body]", "in body[-1:]]"), hint="A line for each of them."
)
forward.mistake(
    "the last operation has no line",
    swap=("in body]", "in body[:-1]]"),
    hint="A line for each of them, the last one, too.",
)
forward.mistake(
    "the results are whole numbers: `const int`",
    swap=("const V {", "const int {"),
    hint="V is the type: it stands for float here.",
)
forward.mistake(
    "the inputs come in the wrong order",
    swap=("texts(node, names)", "texts(node, names)[::-1]"),
    hint="x − y is not y − x.",
)
forward.mistake(
    "one text comes back, not a list of lines",
    source="""
def forward_lines(body, names):
    return "".join(f"const V {names[node]} = {node.primitive.forward(texts(node, names), node.attrs)};" for node in body)
""",
    hint="A list with an entry for each operation.",
)
forward.mistake(
    "a generator comes back, which can be read once",
    swap=[("return [line", "return (line"), ("in body]", "in body)")],
    hint="A list: whoever gets it may read it twice.",
)
forward.mistake(
    "the operation's name is called like a function of C",
    swap=(LINE, """f"{node.op_name}({', '.join(texts(node, names))})\""""),
    hint=["C has no function `sub`. Who knows how the operation is written in C?", "`node.primitive.forward(…)`."],
)
forward.mistake(
    "the inputs are handed over as Traced, not by their names",
    swap=("texts(node, names)", "node.inputs"),
    hint=["What does `Traced(input)` mean in C?", "`texts(node, names)` gives the inputs in C."],
)
forward.mistake(
    "the lines have no `const`",
    swap=("const V {names", "V {names"),
    hint="A line is `const V name = …;`: whoever reads them later looks for these words.",
)
forward.mistake(
    "the lines have `float` for `V`",
    swap=("const V {names", "const float {names"),
    hint="A line is `const V name = …;`: the macro V says which type it is.",
)
forward.variant(
    "in a loop",
    source="""
def forward_lines(body, names):
    found = []
    for each in body:
        arguments = [x if isinstance(x, str) else names[x] for x in each.inputs]
        found.append("const V %s = %s ;" % (names[each], each.primitive.forward(arguments, dict(each.attrs))))
    return found
""",
)
forward.variant(
    "one line by another function, with other spaces",
    source="""
def forward_lines(body, names):
    def line(node):
        right = node.primitive.forward(texts(node, names), node.attrs)
        return "const V  " + names[node] + "=" + right + ";"
    return list(map(line, body))
""",
)
