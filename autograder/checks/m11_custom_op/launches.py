import numpy as np

from autograder.checks.check import check


@check("customop.launches", points=2, seconds=30)
def launches(student, rng, tools):
    """The kernels of ops that are drawn: one that is used twice, one with broadcasting, and the same tensors again."""
    ag = student.ag
    first, second = rng.permutation(["sin", "exp", "tanh", "sqrt", "sigmoid"])[:2]
    f, g = getattr(ag, first), getattr(ag, second)

    def tensor(*shape):
        return student.Tensor.from_host(student.device.queue, rng.uniform(0.5, 2.0, shape))

    def run(op, *shapes, which, before=0):
        a, b = (tensor(*shape) for shape in shapes)
        grad = tensor(*shapes[0])
        for _ in range(before):
            student.launches(op, a, b, grad)
        if before:
            a.grad = tensor(*a.shape)
        found = student.launches(op, a, b, grad)
        return [str(name) for name in found[which]]

    def short(a, b):
        return f(a) * g(b)

    def long(a, b):
        return f(f(a)) + g(b) * a

    def spied(name):
        found = {}

        def spy(a, b):
            def grad_fn(grad):
                found["grad"] = grad.to_host()
                return [grad, grad]

            found["a and b"] = np.stack([a.to_host(), b.to_host()])
            return student.apply_op(lambda x, y: x + y, grad_fn, a, b)

        student.launches(spy, tensor(2, 3), tensor(2, 3), tensor(2, 3))
        return found[name]

    return {
        "input": f"f = {first}, g = {second}; a of shape (3, 5), b too, unless another is said",
        "f(a) · g(b): forward": lambda: run(short, (3, 5), (3, 5), which=0),
        "f(a) · g(b): backward": lambda: run(short, (3, 5), (3, 5), which=1),
        "f(f(a)) + g(b) · a: forward": lambda: run(long, (3, 5), (3, 5), which=0),
        "f(f(a)) + g(b) · a: backward": lambda: run(long, (3, 5), (3, 5), which=1),
        "f(a) · g(b), b of shape (5,): backward": lambda: run(short, (3, 5), (5,), which=1),
        "f(a) · g(b), with tensors that have a gradient already: backward": lambda: run(
            short, (3, 5), (3, 5), which=1, before=1
        ),
        "what op(a, b) is given": lambda: spied("a and b"),
        "what its backward is given": lambda: spied("grad"),
    }


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
