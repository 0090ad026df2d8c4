"""Check 1 of lesson 11: the kernels that an op starts, and those back."""

from autograder.checks.cases import Draft, Source, Text, choice, filled, literal
from autograder.checks.check import exercise
from autograder.checks.programs import expression

launches = exercise("customop.launches", "The kernels that an op starts, forward and backward.", seconds=30)

SMALL = "ag.sin(a) * b|a * b|a + b|ag.sin(ag.sin(a)) + ag.exp(b) * a|a * a|ag.exp(a) - b|a|ag.sin(a)|b - a|(a + b) * (a + b)|ag.exp(b)".split(
    "|"
)


def tensor(shape, rng):
    return Text(f"Tensor.from_host(device.queue, {literal(filled(shape, 'small', rng))})")


def op(text, shapes, rng):
    tensors = {"a": tensor(shapes[0], rng), "b": tensor(shapes[1], rng), "grad": tensor(shapes[0], rng)}
    return Draft(tensors | {"op": Text(f"lambda a, b: {text}")}, ("b is broadcast",) * (shapes[0] != shapes[1]))


def small(rng):
    for text in SMALL:
        yield op(text, ((2,), (2,)), rng)
    yield from (op(f"ag.sin(a) {sign} b", pair, rng) for sign in "*-" for pair in (((2, 3), (3,)), ((2,), ())))


def drawn(rng):
    text = expression(
        rng, ["a", "b"], ["ag.sin({})", "ag.exp({})"], ["({} * {})", "({} + {})"], int(rng.integers(1, 5))
    )
    return op(f"a * {text}", (((2,), (2,)), ((2, 3), (3,)))[rng.integers(2)], rng)


OPS = Source(small, drawn)


def names(student, case):
    found = student.launches(case.op, case.a, case.b, case.grad)
    return f"{len(found)} lists; this one: {' '.join(map(str, found[case.back]))}"


for back, name in enumerate(("the kernels forward", "the kernels backward")):
    launches.aspect(name, 0.75, cases=OPS * choice("back", back), few=14, many=40)(names)


@launches.aspect(
    "gradients of an earlier call make no difference",
    0.25,
    corner=True,
    cases=OPS * choice("held", "an earlier call's", "a's", "b's"),
    few=12,
    many=30,
)
def again(student, case):
    if case.held == "an earlier call's":
        student.launches(case.op, case.a, case.b, case.grad)
    else:
        (case.a if case.held == "a's" else case.b).grad = (case.a if case.held == "a's" else case.b).copy()
    forward, backward = student.launches(case.op, case.a, case.b, case.grad)
    return {"forward": " ".join(map(str, forward)), "backward": " ".join(map(str, backward))}


@launches.aspect("what op and its backward are given", 0.25, corner=True, cases=OPS, few=6, many=16)
def given(student, case):
    seen = {}

    def spy(a, b):
        seen["op"] = [x.to_host() for x in (a, b)] + [type(x).__name__ + f" {x.requires_grad}" for x in (a, b)]
        return student.apply_op(lambda x, y: x + y, lambda grad: seen.update(grad=grad.to_host()), a, b)

    try:
        student.launches(spy, case.a, case.b, case.grad)
    except TypeError:  # the spy gives no gradients
        pass
    return seen


CLEAR = "a.grad = b.grad = None"
launches.mistake(
    "a gradient of an earlier call is still there, and one more kernel adds to it",
    swap=(CLEAR, "pass"),
    hint=[
        "Run it twice with the same tensors. Where does the second call add its gradients?",
        "Leaves accumulate. Set `a.grad` and `b.grad` to None first.",
    ],
)
launches.mistake(
    "only a's gradient is cleared",
    swap=(CLEAR, "a.grad = None; b.grad = b.grad or Tensor.full(b.queue, b.shape, 0)"),
    hint="Both tensors may have a gradient of an earlier call.",
)
launches.mistake(
    "backward runs while the forward is still watched",
    swap=(
        "    with device.watch() as backward:\n        tape.backward(out, grad)",
        "    with device.watch() as backward, device.watch() as forward_too:\n        tape.backward(out, grad)\n    forward += forward_too",
    ),
    hint="The list of a `watch` grows until its `with` ends. Forward and backward each need one of their own.",
)
launches.mistake(
    "forward is counted in backward, too",
    swap=("[each.name for each in backward]", "[each.name for each in forward + backward]"),
    hint="Start the second watch when forward is done.",
)
launches.mistake(
    "backward starts from another gradient than `grad`: its sum, which costs kernels of its own",
    swap=("tape.backward(out, grad)", "tape.backward(ag.sum(out))"),
    hint="`tape.backward(out, grad)`: backward starts where you say.",
)
launches.mistake(
    "b requires no gradient",
    swap=(
        "a, b = (ag.tensor(x, requires_grad=True) for x in (a, b))",
        "a, b = ag.tensor(a, requires_grad=True), ag.tensor(b)",
    ),
    hint="Both leaves require a gradient: `requires_grad=True`.",
)
launches.mistake(
    "a requires no gradient",
    swap=(
        "a, b = (ag.tensor(x, requires_grad=True) for x in (a, b))",
        "a, b = ag.tensor(a), ag.tensor(b, requires_grad=True)",
    ),
    hint="Both leaves require a gradient: `requires_grad=True`.",
)
launches.mistake(
    "each name is listed once, however often its kernel ran",
    swap=[
        ("[each.name for each in forward]", "sorted({each.name for each in forward})"),
        ("[each.name for each in backward]", "sorted({each.name for each in backward})"),
    ],
    hint="A kernel that runs twice costs twice. A list, no set.",
)
launches.mistake(
    "backward comes first",
    swap=(
        "[each.name for each in forward], [each.name for each in backward]",
        "[each.name for each in backward], [each.name for each in forward]",
    ),
    hint="(forward, backward), in this order.",
)
launches.mistake(
    "the nodes of the tape are listed, and not the kernels",
    swap=("return [each.name for each in forward],", "return [node.op_name + '_kernel' for node in tape.nodes[:2]],"),
    hint="What is launched stands in the list of `device.watch()`.",
)
launches.variant(
    "with leaves made one by one, and a tape that is never entered",
    source="""
def launches(op, a, b, grad):
    first, second = ag.tensor(a, True), ag.tensor(b, True)
    for leaf in (first, second):
        leaf.grad = None
    with device.watch() as seen:
        out = op(first, second)
        count = len(seen)
        ag.Tape().backward(out, grad)
    names = [launch.name for launch in seen]
    return names[:count], names[count:]
""",
)
launches.variant(
    "copies of the tensors, so that nothing is left behind",
    source="""
def launches(op, a, b, grad):
    a, b = ag.tensor(a.copy(), requires_grad=True), ag.tensor(b.copy(), requires_grad=True)
    tape = ag.Tape()
    with tape:
        with device.watch() as forward:
            out = op(a, b)
    with device.watch() as backward:
        tape.backward(out, grad)
    return tuple(x.name for x in forward), tuple(x.name for x in backward)
""",
)
