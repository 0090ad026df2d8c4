"""Check 6 of lesson 10: the way back through the tape."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m10_tape.programs import LONG, PROGRAMS, REFUSED, RETAINED, TWO_PROGRAMS

backward = exercise(
    "tape.backward",
    "The gradients of all leaves, over every path; who gets one and who holds it; what it costs.",
    needs=("tape.nest", "tape.apply_op", "tape.mul", "tape.order", "tape.accumulate"),
    seconds=60,
)
NEAR = {"rtol": 1e-4, "atol": 1e-4}  # sums of float32 in any order


@backward.aspect("the gradients of the leaves", 2, cases=PROGRAMS + REFUSED, few=20, device=6, **NEAR)
def gradients(student, case):
    out = case.formula(case.x, case.w)
    yield
    student.Tape().backward(out, case.grad)
    return [x.grad if x.grad is None else x.grad.to_host() for x in (case.x, case.w)]


@backward.aspect(
    "a second call adds to the leaves, and nobody else's Tensor changes",
    1,
    corner=True,
    cases=TWO_PROGRAMS,
    few=17,
    **NEAR,
)
def twice(student, case):
    tape, grad = student.Tape(), student.Tensor.from_host(student.queue, case.grad)
    with tape:
        first, second = case.first(case.x, case.w), case.second(case.x, case.w)
    tape.backward(first, grad)
    held = {"x.grad": case.x.grad, "w.grad": case.w.grad}
    if case.emptied:
        case.x.grad = None
    yield
    tape.backward(second, grad)
    found = {
        "x.grad": case.x.grad,
        "w.grad": case.w.grad,
        "the first x.grad": held["x.grad"],
        "the first w.grad": held["w.grad"],
        "grad": grad,
    }
    seen = {name: x if x is None else x.to_host() for name, x in found.items()}
    if case.x.grad is not None:
        case.x.grad.write(np.full(case.x.shape, 7.0))
    return seen | {
        f"{name}, after 7 was written into x.grad": x if x is None else x.to_host() for name, x in found.items()
    }


@backward.aspect(
    "what lies between gets a gradient only if the tape retains them",
    0.5,
    corner=True,
    cases=RETAINED,
    few=14,
    **NEAR,
)
def between(student, case):
    out, tape = case.formula(case.x, case.w), student.Tape(case.retain)
    nodes = [out]
    for node in nodes:
        nodes += [parent for parent in dict.fromkeys(node.parents) if parent not in nodes]
    for _ in range(case.calls):
        tape.backward(out, case.grad)
    seen = {f"{k}, {node.op_name}": None if node.grad is None else node.grad.to_host() for k, node in enumerate(nodes)}
    for node in nodes:
        if node.parents and node.grad is not None:
            node.grad.write(np.full(node.shape, 7.0))
    later = {
        f"{k}, afterwards": node.grad.to_host()
        for k, node in enumerate(nodes)
        if not node.parents and node.grad is not None
    }
    return seen | later


@backward.aspect(
    "each rule is asked once, and none for a constant",
    0.5,
    corner=True,
    cases=LONG + PROGRAMS,
    few=8,
    at_most=("launches",),
)
def launches(student, case):
    out = case.formula(case.x, case.w)
    with student.device.watch() as launches:
        student.Tape().backward(out, case.grad)
    return {"launches": len(launches)}


@backward.on_device
def names(on, reference):
    """Nodes note how they were computed. Then backward can play the whole program again with one number moved, in float64."""
    plain, Node, Tensor = reference["apply_op"], reference["Node"], reference["Tensor"]

    def apply_op(fn, grad_fn, *args, **options):
        node = plain(fn, grad_fn, *args, **options)
        node.played = fn, args
        return node

    def play(node, known):
        """The Tensor of a node, computed again from leaves that are `known`."""
        if not hasattr(node, "played"):  # a leaf; one that requires no gradient is not moved
            return known.get(node, node.value)
        if node not in known:
            fn, args = node.played
            known[node] = fn(*[play(x, known) if isinstance(x, Node) else x for x in args])
        return known[node]

    class MeasuringTape(reference["Tape"]):
        def backward(self, loss, grad=None):
            leaves = [node for node in reference["topological_order"](loss) if node.grad_fn is None]

            def program(*moved):
                tensors = [x.value for x in moved]
                return on.ag.tensor(play(loss, dict(zip(leaves, tensors))))

            upstream = reference["seed_gradient"](loss, grad).to_host()
            for node, found in zip(leaves, on.gradients(program, upstream, *[x.to_host() for x in leaves])):
                node.grad = Tensor.from_host(node.value.queue, found)

    reference["apply_op"] = apply_op  # rules look it up by this name
    return {"apply_op": apply_op, "Tape": MeasuringTape}
