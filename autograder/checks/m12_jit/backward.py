"""Check 4 of lesson 12: reverse mode, written as lines of C."""

import numpy as np

from autograder.checks.check import check


@check("jit.backward", points=4, rtol=1e-4, atol=1e-5, seconds=40)
def backward(student, rng, tools):
    """The lines for four formulas, built into kernels of the check's own: the gradient of each leaf."""
    from tinygrad_cl.opencl.kernels import launch

    n = 5
    x, y, silent = student.Traced(), student.Traced(), student.Traced(wants=False)
    leaves = {"left": x, "right": y, "silent": silent}
    arrays = [(rng.uniform(0.4, 1.2, n) * rng.choice([-1, 1], n)).astype(np.float32) for _ in leaves]
    arrays[0][:2] = 0.7, -0.6
    up = rng.uniform(0.5, 2, n).astype(np.float32) * np.float32([1, -1, 1, -1, -1])

    def node(name, *inputs, **attrs):
        record = student.get_primitive(name)
        needs = tuple(
            record.backward is not None and isinstance(each, student.Traced) and each.wants for each in inputs
        )
        return student.Traced(name, inputs, needs, record.attrs | attrs, record)

    product = node("mul", x, y)
    total = node("add", product, x)
    bent = node("tanh", x)
    leak = node("leaky_relu", bent, negative_slope=0.3)
    quotient = node("div", leak, y)
    flat = node("gt", x, "((V)(0))")  # has no backward
    chosen = node("where", x, y, flat)  # no gradient for the condition
    scaled = node("mul", chosen, x)
    hushed = node("tanh", silent)  # nobody wants its gradient
    less = node("sub", scaled, hushed)
    both = node("add", x, y)
    square = node("mul", both, both)
    programs = {
        "x · y + x": [product, total],
        "leaky_relu(tanh(x), 0.3) / y": [bent, leak, quotient],
        "where(x, y, x > 0) · x − tanh(silent)": [flat, chosen, scaled, hushed, less],
        "(x + y)²": [both, square],
    }
    names = {leaf: name for name, leaf in leaves.items()}
    names |= {
        each: f"{each.op_name}_{k}" for k, each in enumerate([each for body in programs.values() for each in body], 3)
    }
    before, memo = [dict(names), {name: list(body) for name, body in programs.items()}], {}

    def texts(each):
        return [part if isinstance(part, str) else names[part] for part in each.inputs]

    def gradients(program):
        """{leaf: its gradient}, computed by the lines of the student."""
        if program not in memo:
            body = programs[program]
            lines, found = student.backward_lines(body[-1], body, names, "up")
            forward = [f"const V {names[each]} = {each.primitive.forward(texts(each), each.attrs)};" for each in body]
            wanted = [leaf for leaf in leaves.values() if leaf in found]
            parameters = [f"__global const float *in_{name}" for name in [*leaves, "up"]]
            parameters += [f"__global float *out_{names[leaf]}" for leaf in wanted]
            source = (
                student.SETTINGS
                + f"__kernel void check({', '.join(parameters)}) {{ const int i = get_global_id(0);\n"
                + "\n".join(
                    [
                        *[f"const V {name} = in_{name}[i];" for name in [*leaves, "up"]],
                        *forward,
                        *lines,
                        *[f"out_{names[leaf]}[i] = {found[leaf]};" for leaf in wanted],
                    ]
                )
                + "\n}\n"
            )
            results = launch(source, "check", *arrays, up, *[np.zeros(n, np.float32) for _ in wanted], work_items=n)[4:]
            memo[program] = dict(zip(wanted, results))
        return memo[program]

    def of(program, leaf):
        found = gradients(program)
        return found[leaf] if leaf in found else "no gradient"

    def who():
        """Which leaves have a gradient, for each program."""
        found = [student.backward_lines(body[-1], body, names, "up")[1] for body in programs.values()]
        return [" ".join(name for name, leaf in leaves.items() if leaf in each) for each in found]

    def form():
        """What a compiler would say of the lines."""
        faults = set()
        for body in programs.values():
            declared, const = {"up", *leaves}, set()
            lines, _ = student.backward_lines(body[-1], body, names, "up")
            if not isinstance(lines, list):
                return f"a {type(lines).__name__} of lines, not a list"
            heads = [line.split("=")[0].replace("+", " ").split() for line in lines]
            somewhere = {head[-1] for head in heads if len(head) > 1}
            for parts in heads:
                if len(parts) == 1 and parts[0] not in declared:
                    faults.add("changed before it is declared" if parts[0] in somewhere else "never declared")
                elif len(parts) == 1:
                    faults |= {"changed, but const"} if parts[0] in const else set()
                else:
                    faults |= {"declared twice"} if parts[-1] in declared else set()
                    declared.add(parts[-1])
                    const |= {parts[-1]} if parts[0] == "const" else set()
        return "; ".join(sorted(faults)) or "as it should be"

    def nothing():
        lines, found = student.backward_lines(x, [], {x: "left"}, "upstream")
        return [str(len(lines)), str(len(found)), found[x]]

    def comparison():
        lines, found = student.backward_lines(flat, [flat], names, "up")
        return [str(len(lines)), str(len(found)), found[flat]]

    def untouched():
        for body in programs.values():
            student.backward_lines(body[-1], body, names, "up")
        return [names == before[0], programs == before[1]]

    found = {
        "input": f"x = {np.round(arrays[0].astype(float), 2).tolist()}, y = {np.round(arrays[1].astype(float), 2).tolist()}, upstream = {np.round(up.astype(float), 2).tolist()}; "
        "x is called left, y right; silent wants no gradient"
    }
    for program in programs:
        found[f"{program}: gradient of x"] = lambda program=program: of(program, x)
        found[f"{program}: gradient of y"] = lambda program=program: of(program, y)
    return found | {
        "which leaves have a gradient": who,
        "declared once, then added to": form,
        "the end is a leaf": nothing,
        "the end is a comparison": comparison,
        "body and names afterwards": untouched,
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
    "forwards: the body is walked from its start, so only its end has a gradient when its turn comes",
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
