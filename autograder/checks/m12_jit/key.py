"""Check 6 of lesson 12: what a compiled program depends on."""

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise
from autograder.checks.m10_tape.programs import put, tenths

key = exercise("jit.key", "Two calls that one program serves have equal keys, others have not.")

SAME = "x, 1.5; x, 1.5|x; u|x; y|x, 0.5; z, 0.5|x, y; z, x|c; d|x, math.nan; y, -math.nan|;|x, c; z, d|x, 1.5; y, float('1.5')|2.0, w; 2.0, x|x, x; x, y|w; z|x, -0.0; z, -0.0"
OTHER = "x; c|x, 1.5; x, 2.5|x, c; c, x|x, 0.0; x, -0.0|x, 1.5; 1.5, x|x; x, x|x, y; c, d|x, 1.0, 2.0; x, 2.0, 1.0|x, -1.0; x, -2.0|x, 1.0; x, 1.000000001|x, math.inf; x, -math.inf|x, 2.0; x, y|x; 1.0|c; 0.0|; x|1.0, x, 2.0; x, 1.0, 2.0|x, 1e-9; x, 2e-9|x, 3.0; c, 3.0|x, math.nan; x, math.inf|x, 12.0, 3.0; x, 1.0, 23.0|x, c, y; x, y, c"
LEAVES = {"x": (2,), "y": (2,), "z": (3, 2), "w": (1, 1, 2), "c": (2,), "d": (1,)}  # c and d require no gradient


def calls(text, rng):
    made = {
        name: Text(f"ag.tensor({put(tenths(shape, rng)).expression}, {name not in 'cd'})")
        for name, shape in LEAVES.items()
    }
    made["u"] = Text("ag.tensor(Tensor.from_host(queue, x.to_host()), True)")
    first, second = (f"({args.strip()}{',' * bool(args.strip())})" for args in text.split(";"))
    tags = (
        ["a number is −0.0"] * ("-0.0" in text)
        + ["a number is NaN"] * ("nan" in text)
        + ["the calls hold the same arguments in another order"]
        * (sorted(first.strip("(),").split(", ")) == sorted(second.strip("(),").split(", ")) and first != second)
    )
    return Draft(made | {"first": Text(first), "second": Text(second)}, tuple(tags))


def drawn(rng):
    first = list(rng.choice(["x", "z", "c", "d", "2.5", "-1.5", "0.25"], rng.integers(1, 4)))
    kinds = {"x": "uwz", "z": "xy", "c": "d", "d": "c"}
    second = [str(rng.choice([*kinds.get(arg, [arg])])) for arg in first]
    if rng.integers(2):
        place = rng.integers(len(second))
        second[place] = str(rng.choice(["x", "c", "2.5", str(round(rng.uniform(-2, 2), 8))]))
    return calls(f"{', '.join(first)}; {', '.join(second)}", rng)


@key.aspect(
    "other programs have other keys",
    1,
    corner=True,
    cases=Source(lambda rng: [calls(text, rng) for text in OTHER.split("|")], drawn),
    few=28,
)
@key.aspect(
    "the same program has the same key",
    1,
    cases=Source(lambda rng: [calls(text, rng) for text in SAME.split("|")], drawn),
    few=20,
)
def found(student, case):
    programs = {student.key_of(case.first): "an old program will do"}
    yield
    return programs.get(student.key_of(case.second), "a new program")


NODE, NUMBER = '("node", x.requires_grad)', '("number", c_number(x))'
key.mistake(
    "the arguments themselves are the key",
    swap=(f"tuple([{NODE} if isinstance(x, ag.Node) else {NUMBER}\n                  for x in args])", "tuple(args)"),
    hint=[
        "Each batch is another Node. Is the kernel's text another one?",
        "Take from a Node what is in the text: whether its gradient is wanted.",
    ],
)
key.mistake(
    "the identity of the Nodes is in the key",
    swap=(NODE, "(id(x), x.requires_grad)"),
    hint="The next batch is another object with the same kernel. (And an id may be used again.)",
)
key.mistake(
    "the shape is in the key",
    swap=(NODE, '("node", x.shape, x.requires_grad)'),
    hint=[
        "Look for the shape in the text of the kernel.",
        "n is an argument of the kernel, so one text serves all shapes.",
    ],
)
key.mistake(
    "the size is in the key",
    swap=(NODE, '("node", x.value.size, x.requires_grad)'),
    hint="n is an argument of the kernel, so one text serves all sizes.",
)
key.mistake(
    "the number of axes is in the key",
    swap=(NODE, '("node", len(x.shape), x.requires_grad)'),
    hint="The kernel goes from 0 to n and knows nothing of axes.",
)
key.mistake(
    "the tensor's numbers are in the key",
    swap=(NODE, '("node", x.value.to_host().tobytes(), x.requires_grad)'),
    hint="What is in a tensor is read by the kernel when it runs. It is not in the text.",
)
key.mistake(
    "numbers are left out",
    swap=(NUMBER, '("number",)'),
    hint=[
        "f(x, 2) and then f(x, 3): which number stands in the kernel?",
        "A number is a constant in the text, so it is in the key.",
    ],
)
key.mistake(
    "requires_grad is left out",
    swap=(NODE, '("node",)'),
    hint=["Which gradients does the backward kernel compute?", "`x.requires_grad` decides what is written."],
)
key.mistake(
    "the key says whether any Node requires a gradient, not which",
    source="""
def key_of(args):
    nodes = [x for x in args if isinstance(x, ag.Node)]
    return (any(x.requires_grad for x in nodes), *["node" if isinstance(x, ag.Node) else c_number(x) for x in args])
""",
    hint="For x alone another kernel is written than for y alone.",
)
key.mistake(
    "numbers are compared as numbers: another nan is never found, and -0.0 is taken for 0.0",
    swap=("c_number(x)", "float(x)"),
    hint=[
        "What is `0.0 == -0.0` in Python, and `float('nan') == float('nan')`?",
        "Take the number as it stands in the text: `c_number(x)`.",
    ],
)
key.mistake(
    "numbers are rounded",
    swap=("c_number(x)", 'f"{x:.6f}"'),
    hint="Two numbers that differ in the ninth digit give two texts.",
)
key.mistake("the order of the arguments is lost", swap=("tuple([", "frozenset(["), hint="f(x, 2, 3) is not f(x, 3, 2).")
key.mistake(
    "the key is a list, which no dict takes", swap=("tuple([", "list(["), hint="A key must never change: a tuple."
)
key.mistake(
    "the key is only the number of arguments",
    source="""
def key_of(args):
    return len(args)
""",
    hint="What of the arguments gets into the text?",
)
key.mistake(
    "numbers stand first, then Nodes: the places are lost",
    source="""
def key_of(args):
    numbers = tuple(c_number(x) for x in args if not isinstance(x, ag.Node))
    return numbers, tuple(x.requires_grad for x in args if isinstance(x, ag.Node))
""",
    hint="f(x, 2) and f(2, x) are two texts, if f computes a difference.",
)
key.variant("the parts of a pair in another order: nothing reads them", swap=(NODE, '(x.requires_grad, "node")'))
key.variant("the parts of a number's pair in another order", swap=(NUMBER, '(c_number(x), "number")'))
key.variant(
    "one text",
    source="""
def key_of(args):
    parts = []
    for x in args:
        parts.append(("grad" if x.requires_grad else "no grad") if isinstance(x, ag.Node) else repr(float(x)))
    return " | ".join(parts)
""",
)
key.variant(
    "with the type and the dtype",
    source="""
def key_of(args):
    key = ()
    for x in args:
        if isinstance(x, Real):
            key += (type(x), repr(x))
        else:
            key += (bool(x.requires_grad), str(x.dtype))
    return key
""",
)
