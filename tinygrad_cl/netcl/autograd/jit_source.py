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
    """{TraceNode: its name in C}: v0, v1, … for the inputs, and then mul_2, tanh_3, …"""
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
    """The line of each operation."""
    return [f"const V {names[node]} = "
            f"{node.primitive.forward(texts(node, names), node.attrs)};"
            for node in body]


def backward_lines(end, body, names, upstream):
    """(lines, {TraceNode: the name of its gradient}), where `upstream` is the name of end's."""
    gradients, lines = {end: upstream}, []
    for node in reversed(body):
        if node not in gradients:
            continue
        if node.primitive.backward is None:
            continue
        slopes = node.primitive.backward(texts(node, names), gradients[node], node.attrs,
                                         names[node])
        for x, need, slope in zip(node.inputs, node.needs, slopes):
            if not need or not slope:
                continue
            if x in gradients:
                lines.append(f"{gradients[x]} += {slope};")
            else:
                gradients[x] = f"g_{names[x]}"
                lines.append(f"V {gradients[x]} = {slope};")
    return lines, gradients


def needed(lines, users):
    """Those of the lines, each of which computes one value, that the users or a needed line
    mention.
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
