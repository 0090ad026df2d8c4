"""Check 6 of lesson 12: what a compiled program depends on."""

import numpy as np

from autograder.checks.check import check


@check("jit.key", points=2)
def key(student, rng, tools):
    """Pairs of calls: those that one program serves have equal keys, the others have not."""
    from types import SimpleNamespace

    Node = student.ag.Node
    a, b = int(rng.integers(3, 7)), int(rng.integers(8, 12))
    number = round(float(rng.uniform(0.5, 2)), 4)

    def node(*shape, requires_grad=True, array=None):
        array = rng.normal(size=shape).astype(np.float32) if array is None else array
        spec = SimpleNamespace(shape=shape, dtype=array.dtype, size=array.size, nbytes=array.nbytes, device=None)
        tensor = SimpleNamespace(
            spec=spec,
            shape=shape,
            dtype=array.dtype,
            size=array.size,
            ndim=array.ndim,
            grad=None,
            requires_grad=requires_grad,
            queue=None,
            to_host=array.copy,
        )
        return Node(tensor, requires_grad)

    def same(first, second):
        found = [student.key_of(first), student.key_of(second)]
        kept = {found[0]: "found"}
        return f"{'found again' if kept.get(found[1]) else 'a new program'}"

    content = rng.normal(size=(a, b)).astype(np.float32)
    x, twin = node(a, b, array=content), node(a, b, array=content)
    return {
        "input": f"a Node of shape ({a}, {b}), others like it, and the number {number}",
        "the same arguments": lambda: same((x, number), (x, number)),
        "another tensor with the same numbers": lambda: same((x, number), (twin, number)),
        "other numbers in the tensor": lambda: same((x, number), (node(a, b), number)),
        "the shape turned round": lambda: same((x, number), (node(b, a), number)),
        "a row more": lambda: same((x, number), (node(a + 1, b), number)),
        "one axis more": lambda: same((x,), (node(a, b, 1),)),
        "another number": lambda: same((x, number), (x, number + 1)),
        "a number that is nearly the same": lambda: same((x, number), (x, number + 1e-9)),
        "the same number, made anew": lambda: same((x, number), (node(a, b), float(str(number)))),
        "0.0 and -0.0": lambda: same((x, 0.0), (x, -0.0)),
        "nan and nan": lambda: same((x, float("nan")), (x, -float("nan") * 2)),
        "requires_grad of one": lambda: same((x, node(a, b)), (x, node(a, b, requires_grad=False))),
        "requires_grad of both, and of none": lambda: same(
            (x, twin), (node(a, b, requires_grad=False), node(a, b, requires_grad=False))
        ),
        "requires_grad of the first, then of the second": lambda: same(
            (x, node(a, b, requires_grad=False)), (node(a, b, requires_grad=False), x)
        ),
        "Node and number have changed places": lambda: same((x, number), (number, x)),
        "two numbers have changed places": lambda: same((x, number, 3.5), (x, 3.5, number)),
        "one argument more": lambda: same((x,), (x, x)),
        "no arguments": lambda: same((), ()),
    }


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
    "whether any requires a gradient, not which",
    source="""
def key_of(args):
    nodes = [x for x in args if isinstance(x, ag.Node)]
    return (any(x.requires_grad for x in nodes), *["node" if isinstance(x, ag.Node) else c_number(x) for x in args])
""",
    hint="For x alone another kernel is written than for y alone.",
)
key.mistake(
    "numbers are compared as numbers: nan is never found, and -0.0 is taken for 0.0",
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
    "a list, which no dict takes as a key", swap=("tuple([", "list(["), hint="A key must never change: a tuple."
)
key.mistake(
    "only the number of arguments",
    source="""
def key_of(args):
    return len(args)
""",
    hint="What of the arguments gets into the text?",
)
key.mistake(
    "numbers first, then Nodes: the places are lost",
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
