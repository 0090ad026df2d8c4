"""Check 2 of lesson 12: the lines of C of a trace."""

import numpy as np

from autograder.checks.check import check


@check("jit.forward", points=2, rtol=1e-5, atol=1e-5, seconds=30)
def forward(student, rng, tools):
    """The lines of a chain, built into a kernel of the check's own: the value of each operation."""
    from tinygrad_cl.opencl.kernels import launch

    x, y = student.Traced(), student.Traced()
    leak = student.Traced("leaky_relu", (x,), (True,), {"negative_slope": 0.3}, student.get_primitive("leaky_relu"))
    minus = student.Traced("sub", (leak, y), (True, True), {}, student.get_primitive("sub"))
    half = student.Traced("mul", ("((V)(0.5))", minus), (False, True), {}, student.get_primitive("mul"))
    body = [leak, minus, half]
    names = {x: "left", y: "right", leak: "first", minus: "second", half: "third"}
    n, before = 5, [list(body), dict(names)]
    a, b = (rng.uniform(0.5, 2, n) * rng.choice([-1, 1], n) for _ in range(2))
    a[:2] = -1.7, 1.3
    arrays = [each.astype(np.float32) for each in (a, b)]

    def values(count):
        """The values of the first `count` operations."""
        lines = student.forward_lines(body[:count], names)
        source = (
            student.SETTINGS
            + """
            __kernel void check(__global const float *a, __global const float *b, __global float *out) {
                const int i = get_global_id(0);
                const V left = a[i], right = b[i];
                """
            + "\n".join(lines)
            + f"\nout[i] = {names[body[count - 1]]}; }}"
        )
        return launch(source, "check", *arrays, np.zeros(n, np.float32), work_items=n)[2]

    def lines():
        found = student.forward_lines(body, names)
        return [
            type(found).__name__,
            str(len(found)),
            *["ends well" if line.strip()[-1:] == ";" else "no end" for line in found],
        ]

    def declared():
        """The name on the left of each line, and whether it has a type."""
        heads = [line.split("=")[0].split() for line in list(student.forward_lines(body, names))]
        return [head[-1] + ", without a type" * (len(head) < 2) for head in heads]

    def strangers():
        """Names on the right that are made up."""
        text = [line.partition("=")[2] for line in list(student.forward_lines(body, names))]
        return sorted(student.words(text) & {"v0", "v1", "sub", "mul", "node", "names"}) or ["none"]

    def untouched():
        student.forward_lines(body, names)
        return [body == before[0], names == before[1]]

    return {
        "input": f"first = leaky_relu(left, 0.3), second = first − right, third = 0.5 · second; left = {np.round(a, 3).tolist()}, "
        f"right = {np.round(b, 3).tolist()}",
        "a list of lines": lines,
        "what each line declares": declared,
        "names that nobody declared": strangers,
        "first = leaky_relu(left)": lambda: values(1),
        "second = first − right": lambda: values(2),
        "third = 0.5 · second": lambda: values(3),
        "no operations: so many lines": lambda: len(student.forward_lines([], names)),
        "body and names afterwards": untouched,
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
forward.variant(
    "in a loop, without const",
    source="""
def forward_lines(body, names):
    found = []
    for each in body:
        arguments = [x if isinstance(x, str) else names[x] for x in each.inputs]
        found.append("V %s = %s ;" % (names[each], each.primitive.forward(arguments, dict(each.attrs))))
    return found
""",
)
forward.variant(
    "as float, one line by another function",
    source="""
def forward_lines(body, names):
    def line(node):
        right = node.primitive.forward(texts(node, names), node.attrs)
        return "const float " + names[node] + "=" + right + ";"
    return list(map(line, body))
""",
)
