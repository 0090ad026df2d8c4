"""From a trace to C: one line per operation, and backwards one line per contribution to a gradient.

Reverse-mode differentiation here is composition of text. Each record of the table gives the C
expressions of its gradients; the chain is walked backwards, and each input's expression is added to
the gradient of what the input is:

    const V mul_2 = MUL(v0, v1);                    forward
    const V add_3 = ADD(mul_2, v0);

    const V g = v2;                                 backward: the gradient of add_3
    V g_mul_2 = g;
    V g_v0 = g;
    g_v0 += (g_mul_2 * v1);                         v0 was used twice
    V g_v1 = (g_mul_2 * v0);
"""

import re


def name_nodes(leaves, body):
    """{node: its name in C}: v0, v1, … for the inputs, and then mul_2, tanh_3, …"""
    names = {leaf: f"v{number}" for number, leaf in enumerate(leaves)}
    for number, node in enumerate(body, start=len(leaves)):
        names[node] = f"{node.op_name}_{number}"
    return names


def texts(node, names):
    """The inputs of an operation in C."""
    return [x if isinstance(x, str) else names[x] for x in node.inputs]


def call(node, names):
    """An operation as it was called: `mul(v0, v1)`."""
    attrs = [f"{key}={value}" for key, value in node.attrs.items()]
    return f"{node.op_name}({', '.join([*texts(node, names), *attrs])})"


def forward_lines(body, names):
    """A line of C for each operation, in order: `const V mul_2 = MUL(v0, v1);`.

    body    operations, each after its inputs. node.primitive.forward(inputs in C, node.attrs) gives
            the expression, and texts(node, names) the inputs in C
    names   {node: its name in C}
    """

    def line(node):
        expression = node.primitive.forward(texts(node, names), node.attrs)
        return f"const V {names[node]} = {expression};"

    return [line(node) for node in body]


def backward_lines(end, body, names, upstream):
    """(lines of C, {node: the name of its gradient}), from the end of a chain back to its start.

    end        the node whose gradient is there already, under the name `upstream`
    body       the operations, each after its inputs; `end` is the last one, or there are none
    names      {node: its name in C}; the gradient of a node called mul_2 is called g_mul_2

    node.primitive.backward(inputs in C, name of the node's gradient, node.attrs, name of the node)
    gives an expression for each input, or None. The first contribution to a gradient is a line
    `V g_v0 = …;`, each further one `g_v0 += …;`. No line is written for an input whose expression
    is None or whose entry in node.needs is False. A node is skipped if no gradient has come to it,
    or if node.primitive.backward is None.
    """
    gradients, lines = {end: upstream}, []
    for node in reversed(body):
        if node not in gradients:
            continue
        if node.primitive.backward is None:
            continue
        inputs = texts(node, names)
        expressions = node.primitive.backward(inputs, gradients[node], node.attrs, names[node])
        for x, need, expression in zip(node.inputs, node.needs, expressions):
            if not need or not expression:
                continue
            if x in gradients:
                lines.append(f"{gradients[x]} += {expression};")
            else:
                gradients[x] = f"g_{names[x]}"
                lines.append(f"V {gradients[x]} = {expression};")
    return lines, gradients


def needed(lines, users):
    """Those of the lines, in order, that the users or a needed line mention: a list.

    lines   of the form `const V name = …;`, each name before it is used
    users   other lines of C; words(lines) is the set of names in lines

    >>> needed(["const V a = x;", "const V b = a;", "const V c = a;"], ["V g = b;"])
    ['const V a = x;', 'const V b = a;']
    """
    found, used = [], words(users)
    for line in reversed(lines):
        name = re.match(r"const V (\w+) =", line)[1]
        if name in used:
            found.append(line)
            used |= words([line])
    return found[::-1]


def words(lines):
    """The names and numbers in lines of C, a set."""
    return {word for line in lines for word in re.findall(r"\w+", line)}
