"""Check 4 of lesson 12: reverse mode, written as lines of C."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m12_jit.formulas import FORMULAS

backward = exercise("jit.backward", "Reverse mode, written as lines of C.", needs=("jit.operation",), seconds=40)


@backward.aspect("the gradients of x and y", 2.5, cases=FORMULAS, few=10, many=28, rtol=1e-4, atol=1e-4)
def gradients(student, case):
    """The lines stand in a kernel, after those of the forward, for three numbers x, y and silent."""
    from tinygrad_cl.opencl.kernels import launch

    leaves = [student.Traced(), student.Traced(), student.Traced(wants=False)]
    end = case.formula(*leaves)
    _, body = student.chain_of(end)
    names = student.name_nodes(leaves, body)
    lines, found = student.backward_lines(end, body, names, "up")
    forward = [
        f"const V {names[node]} = {node.primitive.forward(student.texts(node, names), node.attrs)};" for node in body
    ]
    stores = [f"out[{k} * 3 + i] = {found[leaf]};" for k, leaf in enumerate(leaves) if leaf in found]
    head = "__kernel void check(__global float *a, __global float *out) { int i = get_global_id(0); V v0 = a[i], v1 = a[3 + i], v2 = a[6 + i], up = a[9 + i];"
    numbers = np.array([0.7, -0.6, 1.4, -1.2, 0.9, 0.3, 0.5, 1.1, -0.8, 1.5, -0.5, 2.0], np.float32)
    source = "\n".join([student.SETTINGS, head, *forward, *lines, *stores, "}"])
    out = launch(source, "check", numbers, np.zeros(9, np.float32), work_items=3)[1]
    return {
        f"∂L/∂{name}": out[3 * k : 3 * k + 3] if leaf in found else "none"
        for k, (name, leaf) in enumerate(zip(("x", "y", "silent"), leaves))
    }


@backward.aspect("the lines: declared once, then added to", 1.5, cases=FORMULAS, few=24)
def lines(student, case):
    """What a compiler would say of the lines, how many there are, and which nodes have a gradient."""
    leaves = [student.Traced(), student.Traced(), student.Traced(wants=False)]
    end = case.formula(*leaves)
    _, body = student.chain_of(end)
    names = student.name_nodes(leaves, body)
    given = list(body), dict(names)
    lines, found = student.backward_lines(end, body, names, "upstream")
    declared, const, faults = {"upstream"}, set(), set()
    for line in list(lines):
        left, _, right = line.partition("=")
        *kinds, name = left.replace("+", " ").split()
        if not kinds and name not in declared:
            faults.add("changed before it is declared")
        if kinds and name in declared:
            faults.add("declared twice")
        if name in const:
            faults.add("changed, but const")
        declared.add(name)
        const |= {name} if "const" in kinds else set()
        if {word for word in student.words([right]) if word.startswith(("g_", "None"))} - declared:
            faults.add("an unknown name is read")
    return {
        "it is": type(lines).__name__,
        "faults": "; ".join(sorted(faults)) or "none",
        "how many": len(lines),
        "added to": sum("+=" in line for line in lines),
        "results that are read": " ".join(sorted(student.words(lines) & set(names.values()))),
        "which have a gradient": " ".join(sorted(names[node] for node in found)),
        "that of the end": found[end],
        "body and names stay": (body, names) == given,
    }


ADDED = 'lines.append(f"{gradients[x]} += {expression};")'
backward.mistake(
    "a second contribution overwrites the first: `=` for `+=`",
    swap=("{gradients[x]} += {expression};", "{gradients[x]} = {expression};"),
    hint=["x was used twice. What becomes of the first contribution?", "`+=`."],
)
backward.mistake(
    "a second contribution is dropped",
    swap=(ADDED, "pass"),
    hint=["x was used twice, and both ways count.", "`+=` where there is a gradient already."],
)
backward.mistake(
    "the body is walked forwards, so only its end has a gradient when its turn comes",
    swap=("reversed(body)", "body"),
    hint=["Whose gradient is known at the beginning?", "`reversed(body)`."],
)
backward.mistake(
    "the gradient that arrives is always the one of the end",
    swap=("gradients[node], node.attrs", "upstream, node.attrs"),
    hint=["The chain rule: each node multiplies what arrived at *it*.", "`gradients[node]`."],
)
backward.mistake(
    "every node gets `needs` as if all were True",
    swap=("if not need or not expression:", "if not expression or isinstance(x, str):"),
    hint=["silent wants no gradient: no line for it.", "`node.needs`, one entry for each input."],
)
backward.mistake(
    "the gradients are given to the inputs in the wrong order",
    swap=(
        "zip(node.inputs, node.needs, expressions)",
        "zip(node.inputs, node.needs, expressions[::-1] if len(expressions) == 2 else expressions)",
    ),
    hint="The first expression belongs to the first input.",
)
backward.mistake(
    "a further contribution goes to the gradient of the node, not of its input",
    swap=(ADDED, 'lines.append(f"{gradients[node]} += {expression};")'),
    hint="Whose gradient grows? That of x, the input.",
)
backward.mistake(
    "one variable for both inputs: the gradient is handed on by name, without a line of its own",
    swap=(
        '                gradients[x] = f"g_{names[x]}"\n                lines.append(f"V {gradients[x]} = {expression};")',
        '                gradients[x] = expression if expression.isidentifier() else f"g_{names[x]}"\n                lines += [] if expression.isidentifier() else [f"V {gradients[x]} = {expression};"]',
    ),
    hint=[
        "The rule of `add` gives the same name for both. What does a later `+=` on one do to the other?",
        "A line `V g_… = …;` for each input.",
    ],
)
backward.mistake(
    "every contribution declares its variable",
    swap=(ADDED, 'lines.append(f"V {gradients[x]} = {expression};")'),
    hint="Declared once, `V g_left = …;`, then `g_left += …;`.",
)
backward.mistake(
    "no variable is declared",
    swap=('f"V {gradients[x]} = {expression};"', 'f"{gradients[x]} = {expression};"'),
    hint="The first contribution declares: `V g_v0 = …;`.",
)
backward.mistake(
    "gradients are const, and then added to",
    swap=('f"V {gradients[x]} = {expression};"', 'f"const V {gradients[x]} = {expression};"'),
    hint="What grows with `+=` cannot be const.",
)
backward.mistake(
    "the rules get the operation's name in place of the result's",
    swap=("names[node])\n", "node.op_name)\n"),
    hint="tanh's rule uses its result: under which name does the kernel have it?",
)
backward.mistake(
    "operations that nobody asked a gradient of are not skipped",
    swap=("        if node not in gradients:\n            continue\n", ""),
    hint=[
        "tanh(silent): nobody wants its gradient, so there is none to hand on.",
        "`if node not in gradients: continue`.",
    ],
)
backward.mistake(
    "the rules get the default constants, not those of the operation",
    swap=("gradients[node], node.attrs", "gradients[node], node.primitive.attrs"),
    hint="leaky_relu(…, 0.3) has its slope in `node.attrs`.",
)
backward.mistake(
    "a comparison is asked for its gradients",
    swap=("        if node.primitive.backward is None:\n            continue\n", ""),
    hint=["The derivative of x > y is 0 everywhere, so its record has no backward: None.", "Skip such a node."],
)
backward.mistake(
    "the rules get no names of inputs, but v0, v1, …",
    swap=("inputs = texts(node, names)", 'inputs = [f"v{k}" for k in range(len(node.inputs))]'),
    hint="`texts(node, names)`: the inputs of *this* operation.",
)
backward.mistake(
    "a gradient that is None is written into the text",
    swap=("if not need or not expression:", "if isinstance(x, str) or not (need or expression is None):"),
    hint="`where` has no gradient for its condition: None. No line for it.",
)
backward.mistake(
    "the start is a fixed name",
    swap=("{end: upstream}", '{end: "g"}'),
    hint="The name of the end's gradient is an argument: `upstream`.",
)
backward.mistake(
    "the lines are in reverse order",
    swap=("return lines, gradients", "return lines[::-1], gradients"),
    hint="A gradient must be complete before it is used: the order in which you walk is the order of the lines.",
)
backward.variant(
    "only the end can be a comparison: in the middle nobody asks for its gradient",
    swap=("if node.primitive.backward is None", "if end.primitive.backward is None"),
)
backward.variant(
    "contributions collected, one line per node",
    source="""
def backward_lines(end, body, names, upstream):
    parts, lines, gradients = {}, [], {end: upstream}
    for node in body[::-1]:
        if node in parts:
            gradients[node] = "g_" + names[node]
            lines.append(f"V g_{names[node]} = {parts[node][0]};")
            lines += [f"g_{names[node]} += {part};" for part in parts[node][1:]]
        if node not in gradients or node.primitive.backward is None:
            continue
        found = node.primitive.backward(texts(node, names), gradients[node], node.attrs, names[node])
        for index, expression in enumerate(found):
            if node.needs[index] and expression is not None:
                parts.setdefault(node.inputs[index], []).append(expression)
    for leaf in parts:
        if leaf not in gradients:
            gradients[leaf] = "g_" + names[leaf]
            lines.append(f"V g_{names[leaf]} = {parts[leaf][0]};")
            lines += [f"g_{names[leaf]} += {part};" for part in parts[leaf][1:]]
    return lines, gradients
""",
)
backward.variant(
    "with names of its own, all declared as float",
    source="""
def backward_lines(end, body, names, upstream):
    lines = []
    gradients = {}
    gradients[end] = upstream
    for node in reversed(body):
        rule = node.primitive.backward
        if rule is None or gradients.get(node) is None:
            continue
        expressions = list(rule(texts(node, names), gradients[node], node.attrs, names[node]))
        for number in range(len(node.inputs)):
            x = node.inputs[number]
            if isinstance(x, str) or not node.needs[number] or expressions[number] is None:
                continue
            if x not in gradients:
                gradients[x] = f"slope_of_{names[x]}"
                lines.append(f"float {gradients[x]} = ({expressions[number]});")
            else:
                lines.append(f"{gradients[x]} += ({expressions[number]});")
    return lines, gradients
""",
)
