"""Check 3 of lesson 10: the rule of the product, and what it costs."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise
from autograder.checks.m10_tape.programs import SHAPES, leaf, put, tenths

mul = exercise("tape.mul", "The product, its rule, and what both cost.", needs=("tape.apply_op",), seconds=30)

PAIRS = "a b|a 3.0|2.5 a|a c|c a|a a|a 3|-2 a|b a|c 2.0|c c|a 1|a 0.0".split("|")


def pair(names, shapes, rng):
    """a and b require a gradient, c does not; the upstream gradient has the shape of the product."""
    first, second = names.split()
    made = {name: tenths(shape, rng) for name, shape in zip("abc", (shapes[0], shapes[1], shapes[1]))}
    shape = np.shape(eval(f"{first} * {second}", dict(made)))
    tags = ["a number is a factor"] * (not {first, second} <= {*"abc"}) + ["a factor requires no gradient"] * (
        "c" in names
    )
    tags += ["both factors are one Node"] * (first == second)
    leaves = {name: leaf(array, name != "c") for name, array in made.items()}
    return Draft(leaves | {"x": Text(first), "y": Text(second), "grad": put(tenths(shape, rng))}, tuple(tags))


FACTORS = Source(
    lambda rng: [pair(names, shapes, rng) for shapes in SHAPES for names in PAIRS],
    lambda rng: pair(PAIRS[rng.integers(len(PAIRS))], SHAPES[rng.integers(len(SHAPES))], rng),
)


@mul.aspect("the product and its gradients", 1.5, cases=FACTORS, device=8, atol=1e-6)
def gradients(student, case):
    out, nodes = student.mul(case.x, case.y), [x for x in (case.x, case.y) if isinstance(x, student.Node)]
    yield
    parts = list(out.grad_fn(case.grad)) if out.grad_fn else []
    found = [part if part is None else student.sum_to(part, x.shape).to_host() for x, part in zip(nodes, parts)]
    return {"product": out.to_host(), "entries": len(parts), "gradients": found, "upstream": case.grad.to_host()}


@mul.aspect("how many kernels are launched", 1, corner=True, few=16, cases=FACTORS, at_most=("forward", "of the rule"))
def launches(student, case):
    with student.device.watch() as forward:
        out = student.mul(case.x, case.y)
    with student.device.watch() as back:
        if out.grad_fn:
            out.grad_fn(case.grad)
    return {"forward": len(forward), "of the rule": len(back)}


@mul.aspect("what is noted", 0.5, corner=True, few=12, cases=FACTORS)
def noted(student, case):
    tape = student.Tape()
    out, again = student.mul(case.x, case.y, tape=tape), student.mul(case.x, case.y, tape)
    return {
        "op_name": out.op_name,
        "requires_grad": out.requires_grad,
        "parents": [x is y for x, y in zip(out.parents, [x for x in (case.x, case.y) if isinstance(x, student.Node)])],
        "on the tape": [node is each for node, each in zip(tape.nodes, (out, again))],
    }


@mul.on_device
def names(on, reference):
    """The same product, whose rule measures: each gradient by differences of what the device computes."""
    product = reference["mul"]

    def measured_mul(a, b, tape=None):
        out = product(a, b, tape=tape)
        nodes = [x for x in (a, b) if isinstance(x, reference["Node"])]

        def program(*moved):
            moved = iter(moved)
            left, right = (next(moved) if isinstance(x, reference["Node"]) else x for x in (a, b))
            return on.ag.mul(left, right)

        def grad_fn(grad):
            found = on.gradients(program, grad.to_host(), *[x.to_host() for x in nodes])
            return [
                reference["Tensor"].from_host(grad.queue, x) if node.requires_grad else None
                for node, x in zip(nodes, found)
            ]

        out.grad_fn = out.grad_fn and grad_fn
        return out

    return {"mul": measured_mul}


PART = "parts.append(grad * factor if mine.requires_grad else None)"
LOOP = "for mine, other in ((a, b), (b, a)):"

mul.mistake(
    "each factor gets its own value as derivative, not the other's",
    swap=(LOOP, "for mine, other in ((a, a), (b, b)):"),
    hint="Wiggle a alone: how much does a · b move?",
)
mul.mistake(
    "the gradient is multiplied by the Node, not by its Tensor",
    swap=("other.value if isinstance(other, Node) else other", "other"),
    hint=[
        "`grad * b` with a Node b is a new operation, and its result a Node.",
        "Rules compute with Tensors: `b.value`.",
    ],
)
mul.mistake(
    "the two entries are swapped",
    swap=("return parts", "return parts[::-1]"),
    hint="The list is in the order of the arguments: first a's.",
)
mul.mistake(
    "the upstream gradient is ignored",
    swap=("grad * factor", "1.0 * (factor if isinstance(factor, Tensor) else 0 * grad + factor)"),
    hint="The chain rule: what comes from above times the other factor.",
)
mul.mistake(
    "the upstream gradient is added, not multiplied",
    swap=("grad * factor", "grad + factor"),
    hint="Rates multiply along a path.",
)
mul.mistake(
    "a gradient is computed for everybody, also where none is required",
    swap=(" if mine.requires_grad else None", ""),
    hint=[
        "How many launches does the rule need for w · x, if x is data?",
        "`None` for a Node that requires no gradient.",
    ],
)
mul.mistake(
    "a gradient is computed and then thrown away",
    swap=(PART, "part = grad * factor\n                parts.append(part if mine.requires_grad else None)"),
    hint="The launch was made already. Ask before you compute.",
)
mul.mistake(
    "who requires no gradient has no entry in the list",
    swap=(PART, "if mine.requires_grad:\n                    parts.append(grad * factor)"),
    hint="One entry for each Node; None is an entry, too. Else the parts go to the wrong parents.",
)
mul.mistake(
    "a number has an entry in the list",
    swap=(
        "            if isinstance(mine, Node):\n                factor",
        "            if not isinstance(mine, Node):\n                parts.append(None)\n            else:\n                factor",
    ),
    hint="Parents are Nodes only, so for `a * 3.0` the list has one entry.",
)
mul.mistake(
    "a · a gets one entry",
    swap=("return parts", "return parts[:1] if a is b else parts"),
    hint="Two places, two parents, two entries; backward adds them up.",
)
mul.mistake(
    "the factors are multiplied forward already, and kept",
    swap=(
        "    def grad_fn(grad):\n        parts = []",
        "    saved = apply_op(lambda x, y: x * y, None, a, b).value\n\n    def grad_fn(grad):\n        parts = []",
    ),
    hint="One launch forward: apply_op makes it. The rule needs the factors, and they exist.",
)
mul.mistake(
    "the tape is not passed on", swap=("tape=tape, op_name", "op_name"), hint='`apply_op(…, tape=tape, op_name="mul")`.'
)
mul.mistake("the sum is computed", swap=("lambda x, y: x * y", "lambda x, y: x + y"), hint="fn computes the product.")
mul.mistake(
    "where both require, only the first gets a gradient",
    swap=(
        "if mine.requires_grad else None",
        "if mine.requires_grad and not any(x is not None for x in parts) else None",
    ),
    hint="Each asks for itself: `mine.requires_grad`.",
)
mul.variant(
    "case by case",
    source="""
def mul(a, b, tape=None):
    def value(x):
        return x.value if isinstance(x, Node) else x

    def part(of, factor, grad):
        if of.requires_grad:
            return elementwise_unary(grad, f"v0 * (V)({factor!r})") if isinstance(factor, float) else factor * grad

    if not isinstance(b, Node):
        rule = lambda grad: [part(a, b, grad)]
    elif not isinstance(a, Node):
        rule = lambda grad: (part(b, a, grad),)
    else:
        rule = lambda grad: [part(a, b.value, grad), part(b, a.value, grad)]
    return apply_op(lambda x, y: y * x, rule, a, b, tape=tape, op_name="mul")
""",
)
mul.variant(
    "one comprehension; factors looked up beforehand",
    source="""
def mul(a, b, tape=None):
    value_of_a, value_of_b = (getattr(x, "value", x) for x in (a, b))
    pairs = [(x.requires_grad, factor) for x, factor in ((a, value_of_b), (b, value_of_a)) if isinstance(x, Node)]
    return apply_op(lambda *values: values[0] * values[1],
                    lambda grad: [grad * factor if wanted else None for wanted, factor in pairs],
                    a, b, tape=tape, op_name="mul")
""",
)
