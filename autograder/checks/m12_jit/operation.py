"""Check 1 of lesson 12: an operation is written down, and nothing is computed."""

import numpy as np

from autograder.checks.check import check


@check("jit.operation", points=2)
def operation(student, rng, tools):
    """What stands in the Traced: inputs, constants as C, whose gradient is needed."""
    number = round(float(rng.uniform(-2, -1)), 3)
    slope = round(float(rng.uniform(0.1, 0.4)), 3)
    x, y, silent = student.Traced(), student.Traced(), student.Traced(wants=False)

    def inputs(node):
        """Each input: the name of a leaf, the C text of a constant, or what else it is."""
        names = {id(x): "x", id(y): "y", id(silent): "the leaf that wants no gradient"}
        return [
            each if isinstance(each, str) else names.get(id(each), f"a {type(each).__name__}") for each in node.inputs
        ]

    def needs(*args):
        node = student.operation(*args)
        return [*[f"input {i}: {bool(need)}" for i, need in enumerate(node.needs)], f"its own: {bool(node.wants)}"]

    def record():
        node = student.operation("sub", x, y)
        return [
            node.op_name,
            node.primitive is student.get_primitive("sub"),
            type(node.inputs).__name__,
            len(node.attrs),
        ]

    def refused(name, *args):
        try:
            node = student.operation(name, *args)
        except NotImplementedError:
            raise
        except Exception as error:
            return type(error).__name__
        return f"no error, but {node!r}"

    def nested():
        inner = student.operation("tanh", x)
        outer = student.operation("mul", inner, y)
        return [outer.inputs[0] is inner, inner.inputs[0] is x, outer.inputs[1] is y]

    return {
        "input": f"operation(…) of leaves x and y, a leaf that wants no gradient, the number {number} and constants",
        "its name, its record, inputs in a tuple, attrs": record,
        "inputs of x − y": lambda: inputs(student.operation("sub", x, y)),
        "inputs of y · y": lambda: inputs(student.operation("mul", y, y)),
        "inputs of number − x": lambda: inputs(student.operation("sub", number, x)),
        "inputs of x · np.float32(2.5)": lambda: inputs(student.operation("mul", x, np.float32(2.5))),
        "inputs of x · infinity": lambda: inputs(student.operation("mul", x, float("inf"))),
        "an operation of an operation": nested,
        "needs of x − number": lambda: needs("sub", x, number),
        "needs of silent · y": lambda: needs("mul", silent, y),
        "needs of silent · number": lambda: needs("mul", silent, number),
        "needs of x > y, which has no backward": lambda: needs("gt", x, y),
        "constants of leaky_relu": lambda: student.operation("leaky_relu", x).attrs["negative_slope"],
        "constants of leaky_relu, given": lambda: student.operation("leaky_relu", x, negative_slope=slope).attrs[
            "negative_slope"
        ],
        "an unknown operation": lambda: refused("no_such_operation", x),
        "a text as an argument": lambda: refused("mul", x, "0.5"),
        "an array as an argument": lambda: refused("add", x, np.array([number, slope])),
    }


INPUT = "inputs.append(x if traced else c_number(x))"
NEED = "needs.append(traced and x.wants and primitive.backward is not None)"
TYPE = """        if not isinstance(x, (Traced, Real)):
            raise TypeError(f"{name} of a {type(x).__name__} cannot be traced")
"""
operation.mistake(
    "a number stays a number, and is no C text",
    swap=(INPUT, "inputs.append(x)"),
    hint=["What can a line of C do with a Python object? It needs a text.", "`c_number(x)` for what is no Traced."],
)
operation.mistake(
    "a number becomes text by `str`, which is no C for infinity",
    swap=("c_number(x)", "str(float(x))"),
    hint=["`inf` is no word of C.", "`c_number(x)` knows what to write."],
)
operation.mistake(
    "numbers are left out",
    swap=(INPUT, "inputs += [x] if traced else []"),
    hint=["x − 2 has two inputs, and their order counts.", "A number is an input, too: as `c_number(x)`."],
)
operation.mistake(
    "the inputs are in a list, not in a tuple",
    swap=("tuple(inputs)", "inputs"),
    hint="What later work reads may not change: `tuple(inputs)`.",
)
operation.mistake(
    "the inputs are in the wrong order",
    swap=("tuple(inputs), tuple(needs)", "tuple(inputs[::-1]), tuple(needs[::-1])"),
    hint="x − y is not y − x: keep the order of args.",
)
operation.mistake(
    "every Traced needs a gradient, also one that wants none",
    swap=("traced and x.wants and", "traced and"),
    hint=["A leaf with requires_grad=False costs nothing: what does it say?", "`x.wants`."],
)
operation.mistake(
    "numbers need a gradient, too",
    swap=(NEED, "needs.append(primitive.backward is not None and (not traced or x.wants))"),
    hint="There is nobody who could take the gradient of the constant 2.",
)
operation.mistake(
    "a comparison is said to need gradients, though it has no backward",
    swap=(" and primitive.backward is not None", ""),
    hint=["What is the slope of x > y?", "`primitive.backward is not None`."],
)
operation.mistake(
    "all inputs need a gradient as soon as one does",
    swap=("tuple(needs)", "(any(needs),) * len(needs)"),
    hint="Each input has an entry of its own.",
)
operation.mistake(
    "the constants are those of the call alone, without the defaults",
    swap=("primitive.constants(attrs)", "attrs"),
    hint=["leaky_relu(x) has a slope, though nobody named one.", "`primitive.constants(attrs)`."],
)
operation.mistake(
    "the constants are the defaults, whatever the call says",
    swap=("primitive.constants(attrs)", "primitive.constants({})"),
    hint="`primitive.constants(attrs)`: what the call says stands over the defaults.",
)
operation.mistake(
    "the record is not handed on",
    swap=("primitive.constants(attrs), primitive)", "primitive.constants(attrs))"),
    hint="Whoever writes the line of C needs the record: the last argument of Traced.",
)
operation.mistake(
    "an array is taken, too",
    swap=(TYPE, "        if isinstance(x, np.ndarray):\n            x = float(x.flat[0])\n"),
    hint="An array is no constant of one line of C: raise a TypeError.",
)
operation.mistake(
    "an unknown operation gets no record, and no error",
    swap=(
        "get_primitive(name)",
        'get_primitive(name if name in ("add", "sub", "mul", "div", "gt", "tanh", "leaky_relu") else "neg")',
    ),
    hint="`get_primitive(name)` raises the KeyError for you.",
)
operation.mistake(
    "a Traced is copied, so that x used twice is two",
    swap=(
        INPUT,
        "inputs.append(Traced(x.op_name, x.inputs, x.needs, x.attrs, x.primitive) if traced else c_number(x))",
    ),
    hint="The same x must be the same object: otherwise nobody sees that it was used twice.",
)
operation.mistake(
    "every argument is asked whether it wants a gradient, numbers too",
    swap=("traced and x.wants and primitive.backward is not None", "x.wants and primitive.backward is not None"),
    hint="A number has no `wants`: its entry is False.",
)
operation.variant(
    "in comprehensions",
    source="""
def operation(name, *args, **attrs):
    record = get_primitive(name)
    if any(not isinstance(x, Traced) and not isinstance(x, Real) for x in args):
        raise TypeError("Traced and numbers only")
    inputs = tuple(c_number(x) if isinstance(x, Real) else x for x in args)
    wanted = tuple(record.backward is not None and not isinstance(x, str) and x.wants for x in inputs)
    return Traced(op_name=name, inputs=inputs, needs=wanted, attrs=record.constants(attrs), primitive=record)
""",
)
operation.variant(
    "needs are dropped at the end; attributes are set one by one",
    source="""
def operation(name, *args, **attrs):
    out = Traced(name)
    out.primitive = get_primitive(name)
    out.attrs = {**out.primitive.attrs, **attrs}
    for x in args:
        if isinstance(x, Traced):
            out.inputs += (x,)
            out.needs += (x.wants,)
        elif isinstance(x, (int, float, np.number)):
            out.inputs += (c_number(x),)
            out.needs += (False,)
        else:
            raise TypeError(type(x))
    if out.primitive.backward is None:
        out.needs = (False,) * len(args)
    out.wants = any(out.needs)
    return out
""",
)
operation.variant("the two types in another order", swap=("(Traced, Real)", "(Real, Traced)"))
operation.variant("needs in a list: they are only read", swap=("tuple(needs)", "needs"))
