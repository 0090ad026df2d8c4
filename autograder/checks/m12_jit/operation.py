"""Check 1 of lesson 12: an operation is written down, and nothing is computed."""

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise

operation = exercise("jit.operation", "An operation is written down: inputs, constants as C, whose gradient is needed.")

SMALL = "sub x y|tanh x|mul x 0.5|sub 2.0 x|mul y y|mul silent y|gt x y|mul silent 3.0|add x -1.25|leaky_relu x|gt silent 0.0|mul x np.float32(2.5)|mul x math.inf|div -math.inf x|add x 2|sub x 0.12345678901|add h x|mul h h|where x y h|mul x True|neg silent|add x -0.0|div silent x|add h 1e-9|sub math.nan x"
WRONG = "mul x '0.5'|add x np.ones(2)|no_such_operation x|tanh None|sub x [1.0]|Mul x y|mul x np.ones(1)|add x 1j"


def call(text, attrs=None):
    """A name and arguments: x, y and h (an operation of x) want a gradient, silent does not."""
    name, *args = text.split()
    tags = ["a leaf wants no gradient"] * ("silent" in args) + ["the operation has no backward"] * (name == "gt")
    tags += ["a number takes part"] * any(arg not in ("x", "y", "h", "silent") for arg in args)
    leaves = {
        "x": Text("Traced()"),
        "y": Text("Traced()"),
        "silent": Text("Traced(wants=False)"),
        "h": Text("Traced('neg', (x,), (True,))"),
    }
    return Draft(leaves | {"name": name, "args": Text(f"({', '.join(args)},)"), "attrs": attrs or {}}, tuple(tags))


def drawn(rng):
    args = rng.choice(["x", "y", "h", "silent", str(round(rng.uniform(-2, 2), 4)), f"{rng.uniform(-2, 2):.12f}"], 2)
    return call(" ".join([str(rng.choice(["sub", "div", "mul", "gt", "add"])), *map(str, args)]))


def small(rng):
    yield from (call(text) for text in SMALL.split("|"))
    yield from (call("leaky_relu x", {"negative_slope": slope}) for slope in (0.3, 0.02))


@operation.aspect(
    "what cannot be traced is refused",
    0.5,
    corner=True,
    cases=Source(lambda rng: [call(text) for text in WRONG.split("|")]),
)
@operation.aspect("what is written down", 1.5, cases=Source(small, drawn), few=40)
def written(student, case):
    node = student.operation(case.name, *case.args, **case.attrs)
    places = [[k for k, given in enumerate(case.args) if given is x] for x in node.inputs]
    return {
        "op_name": node.op_name,
        "inputs": [
            f"argument {place[0]}" if place and not isinstance(x, (int, float)) else repr(x)
            for place, x in zip(places, node.inputs)
        ],
        "in a tuple": isinstance(node.inputs, tuple),
        "needs": [bool(need) for need in node.needs],
        "wants": bool(node.wants),
        "attrs": node.attrs,
        "the record": node.primitive is student.get_primitive(case.name),
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
