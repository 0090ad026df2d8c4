"""Check 3 of lesson 10: the rule of the product, and what it costs."""

import numpy as np

from autograder.checks.check import check


@check(
    "tape.mul",
    points=3,
    rtol=1e-5,
    atol=1e-6,
    seconds=30,
    needs=("tape.apply_op",),
    device=(
        "both require: for a, for b",
        "a · number: for a",
        "number · b: for b",
        "a · row: for a, for the row, added up over what was repeated",
    ),
)
def mul(student, rng, tools):
    """Both gradients under a random upstream one; None, and no launch, for whoever requires none; numbers on either side."""
    a_data, b_data, grad = (rng.normal(size=(2, 3)).astype(np.float32) for _ in range(3))
    row, number = rng.normal(size=3).astype(np.float32), float(rng.uniform(1.5, 3.0))

    def put(array):
        return student.Tensor.from_host(student.queue, array)

    def leaf(array, requires_grad=True):
        return student.tensor(put(array), requires_grad)

    def parts(a, b):
        found = list(student.mul(a, b).grad_fn(put(grad)))
        if any(isinstance(x, student.Node) for x in found):
            raise TypeError("the rule returns a Node where a Tensor belongs")
        return found

    def numbers(found):
        """All numbers of a list of gradients, and how many there are."""
        return np.concatenate([[len(found)], *[x.to_host().ravel() for x in found]])

    def launches(a, b):
        """Launches forward and in the rule; entries of its list, and which of them are there."""
        with student.device.watch() as forward:
            out = student.mul(a, b)
        upstream = put(grad)
        with student.device.watch() as back:
            found = list(out.grad_fn(upstream))
        return [len(forward), len(back), len(found), *[int(x is not None) for x in found]]

    def only_one():
        found = parts(leaf(a_data), leaf(b_data, False)) + parts(leaf(a_data, False), leaf(b_data))
        return np.concatenate([[x is None for x in found], *[x.to_host().ravel() for x in found if x is not None]])

    def counted():
        a, b, c = leaf(a_data), leaf(b_data), leaf(b_data, False)
        return [
            *launches(a, b),
            *launches(a, c),
            *launches(c, a),
            *launches(a, number),
            *launches(number, b),
            *launches(a, a),
            number,
        ]

    def with_constants():
        out = student.mul(leaf(a_data, False), number)
        return np.concatenate([[out.requires_grad, out.grad_fn is None], out.to_host().ravel()])

    def with_row():
        found = [x.to_host() for x in parts(leaf(a_data), leaf(row))]
        return np.concatenate([found[0].ravel(), found[1] if found[1].ndim == 1 else found[1].sum(axis=0)])

    def noted():
        tape = student.Tape()
        a, b = leaf(a_data), leaf(b_data)
        out = student.mul(a, b, tape=tape)
        right = [len(tape.nodes), tape.nodes[:1] == [out], out.parents == (a, b), out.op_name == "mul"]
        return np.concatenate([right, out.to_host().ravel()])

    def afterwards():
        upstream, a, b = put(grad), leaf(a_data), leaf(b_data)
        out = student.mul(a, b)
        twice = [*out.grad_fn(upstream), *out.grad_fn(upstream)]
        return np.concatenate([x.to_host().ravel() for x in (upstream, a, b, *twice)])

    return {
        "input": f"a = {np.round(a_data, 3).tolist()}, b = {np.round(b_data, 3).tolist()}, the number {number:.4g}; "
        f"upstream = {np.round(grad, 3).tolist()}",
        "the product": lambda: student.mul(leaf(a_data), leaf(b_data)).to_host(),
        "both require: for a, for b": lambda: numbers(parts(leaf(a_data), leaf(b_data))),
        "a alone requires, then b alone: which are None; the numbers": only_one,
        "a · number: for a": lambda: numbers(parts(leaf(a_data), number)),
        "number · b: for b": lambda: numbers(parts(number, leaf(b_data))),
        "a · a: both entries": lambda: numbers((lambda a: parts(a, a))(leaf(a_data))),
        "a · row: for a, for the row, added up over what was repeated": with_row,
        "a constant times a number: requires, no rule, the numbers": with_constants,
        "launches forward, launches of the rule, entries, which are there": counted,
        "on the tape that was passed; parents, name; the numbers": noted,
        "upstream, a and b afterwards; the rule asked twice": afterwards,
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
            return [reference["Tensor"].from_host(grad.queue, x) for x in found]

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
