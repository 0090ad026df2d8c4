"""Check 6 of lesson 10: the way back through the tape."""

import math

import numpy as np

from autograder.checks.check import check


@check(
    "tape.backward",
    points=4,
    rtol=1e-4,
    atol=1e-5,
    seconds=60,
    needs=("tape.nest", "tape.apply_op", "tape.mul", "tape.order", "tape.accumulate"),
    device=(
        "x · w + x: for x, for w",
        "s = x + w, t = s · x, s + t · t: for x, for w",
        "sin(x + row) · x: for x, for the row",
        "the sum of x · x, without and with a gradient",
    ),
)
def backward(student, rng, tools):
    """Gradients over every path; who gets one and who holds it; each rule asked once; a second call; what is refused."""
    x_data, w_data, grad = (rng.normal(size=(2, 3)).astype(np.float32) for _ in range(3))
    row, factor = rng.normal(size=(1, 3)).astype(np.float32), float(rng.uniform(1.5, 3.0))
    asked = []

    def put(array):
        return student.Tensor.from_host(student.queue, array)

    def leaf(array, requires_grad=True):
        return student.tensor(put(array), requires_grad)

    def leaves():
        return leaf(x_data), leaf(w_data)

    def back(out, gradient=None, tape=None):
        (student.Tape() if tape is None else tape).backward(out, put(grad) if gradient is None else gradient)

    def both(program, second=None):
        x, w = leaf(x_data), leaf(w_data if second is None else second)
        back(program(x, w))
        return numbers(x, w)

    def numbers(*nodes):
        return np.concatenate([node.grad.to_host().ravel() for node in nodes])

    def same(x):
        """x, by an operation that launches nothing, hands its gradient on as it is, and notes that it was asked."""

        def rule(gradient):
            asked.append(gradient)
            return [gradient]

        return student.apply_op(lambda value: value.reshape(value.shape), rule, x, op_name="same")

    def shortcut(x, w):
        s = x + w
        t = s * x
        return s + t * t

    def residual(x, w):
        s = x + w
        return s + x + w + x

    def with_row(x, b):
        return student.sin(x + b) * x

    def total_of_squares():
        seen = []
        for gradient in (None, np.float32(factor)):
            x = leaf(x_data)
            with student.Tape() as tape:
                loss = student.total(x * x)
            tape.backward(loss) if gradient is None else tape.backward(loss, gradient)
            seen.append(numbers(x))
        return np.concatenate(seen)

    def rules_asked():
        """A diamond, and 20 doublings: how often rules are asked."""
        seen, (x, w) = [], leaves()
        asked.clear()
        h = same(x)
        back(same(h) + same(h) * w)
        seen += [len(asked), *numbers(x)]
        asked.clear()
        h = leaf(x_data)
        bottom = h
        for _ in range(20):
            h = same(h)
            h = h + h
        with tools.work_limit(200_000):
            back(h, put(grad * 0.5**20))
        return np.array([*seen, len(asked), *numbers(bottom)])

    def long_chain():
        x = leaf(x_data)
        h = x
        for _ in range(1500):
            h = same(h)
        back(h)
        return numbers(x)

    def calls(between=None):
        """Three calls on one tape: x after each; with a grad of None before the third."""
        x, w = leaves()
        with student.Tape() as tape:
            out = x * w * x
        seen = []
        for call in range(3):
            if call == 2:
                x.grad = None
            back(out, tape=tape)
            seen.append(numbers(x, w))
        return np.concatenate(seen)

    def what_stays():
        """A grad that somebody still holds, after a second call."""
        x, w = leaves()
        back(x * w)
        old = x.grad
        back(x + w)
        return np.concatenate([old.to_host().ravel(), x.grad.to_host().ravel()])

    def callers_gradient():
        given, (x, w) = put(grad), leaves()
        back(x + w + x, given)
        before = given.to_host()
        x.grad.write(x_data)
        return np.concatenate([before.ravel(), given.to_host().ravel(), numbers(x, w)])

    def own_tensors():
        """x + w hands one Tensor to both: writing into one grad must not change the other, nor the caller's."""
        given, (x, w) = put(grad), leaves()
        back(x + w, given)
        found = numbers(x, w)
        x.grad.write(x_data)
        w.grad.write(w_data)
        return np.concatenate([found, numbers(x, w), given.to_host().ravel()])

    def into_a_leaf():
        given, x = put(grad), leaf(x_data)
        back(x, given)
        x.grad.write(x_data)
        back(x, given)
        return np.concatenate([numbers(x), given.to_host().ravel()])

    def constants():
        x, c, given, launched = leaf(x_data), leaf(w_data, False), put(grad), []
        for uses in (2, 5):
            out = x * c
            for _ in range(uses):
                out = out + c
            x.grad = None
            with student.device.watch() as launches:
                back(out, given)
            launched.append(len(launches))
        return np.concatenate([[c.grad is None, launched[1] - launched[0]], numbers(x)])

    def between():
        x, w = leaves()
        h = x * w
        out = h * x
        back(out)
        return np.concatenate([[h.grad is None, out.grad is None], numbers(x, w)])

    def without_a_part():
        """A rule that gives None for w, which requires a gradient, and for s, through which nothing goes on then."""
        seen, (x, w) = [], leaves()
        asked.clear()
        for first in (0, 2):
            s = same(w)
            args, parts = [x, w, s], [lambda g: g, lambda g: None, lambda g: None]
            if first:
                args, parts = args[::-1], parts[::-1]
            back(student.apply_op(lambda a, b, c: a + c, lambda g: [part(g) for part in parts], *args, op_name="odd"))
            seen += [w.grad is None, len(asked), *numbers(x)]
        return np.array(seen)

    def not_reached():
        """w has a grad; then comes a call in which nothing arrives at it."""
        x, w = leaves()
        back(x * w)
        back(student.apply_op(lambda a, b: a + b, lambda g: [g, None], x, w, op_name="odd"))
        return numbers(w, x)

    def looked_at():
        """A rule that gives infinity, with the mode off, for x: finite or not; how often backward asks for the mode.

        `parts_of` asks for it once a rule. What it then does is a later exercise, so the mode only counts.
        """
        asked_for = []

        class Mode:
            def __bool__(self):
                asked_for.append(1)
                return False

        state = student.state
        before = state.anomaly
        x, w = leaves()
        out = student.apply_op(lambda a, b: a + b, lambda g: [g, g * math.inf], w, x, op_name="odd") * w
        try:
            state.anomaly = Mode()
            back(out)
        finally:
            state.anomaly = before
        return [factor, len(asked_for), *np.isfinite(numbers(x, w))]

    def retained():
        """h and out, with a gradient on each: after one call, after a second; then h's is written to, and x's stays."""
        given, (x, w) = put(grad), leaves()
        tape = student.Tape(retain_grads=True)
        h = x + w
        out = same(h) * w + x
        seen = []
        for _ in range(2):
            back(out, given, tape)
            seen.append(numbers(h, out, x))
        h.grad.write(x_data)
        out.grad.write(x_data)
        return np.concatenate([*seen, numbers(x, w), given.to_host().ravel()])

    def other_tapes():
        x, w = leaves()
        with student.Tape() as outer:
            with student.Tape() as inner:
                h = x * w
            out = h + x
        seen = []
        for tape in (outer, inner, student.Tape()):
            x.grad = w.grad = None
            back(out, tape=tape)
            seen.append(numbers(x, w))
        return np.concatenate([*seen, [len(outer.nodes), len(inner.nodes)]])

    def refused():
        seen, (x, w) = [factor], leaves()
        for start in (
            lambda: student.Tape().backward(x * w),
            lambda: student.Tape().backward(x * w, grad[0]),
            lambda: student.Tape().backward(leaf(x_data, False), grad),
        ):
            try:
                start()
                seen.append(0)
            except ValueError:
                seen.append(1)
        return seen

    return {
        "input": f"x = {np.round(x_data, 3).tolist()}, w = {np.round(w_data, 3).tolist()}, row = {np.round(row, 3).tolist()}; "
        f"the gradient that is passed: {np.round(grad, 3).tolist()}",
        "x · w + x: for x, for w": lambda: both(lambda x, w: x * w + x),
        "s = x + w, t = s · x, s + t · t: for x, for w": lambda: both(shortcut),
        "s = x + w, s + x + w + x: for x, for w": lambda: both(residual),
        "sin(x + row) · x: for x, for the row": lambda: both(with_row, row),
        "the sum of x · x, without and with a gradient": total_of_squares,
        "rules asked in a diamond, for x; in 20 doublings, for x": rules_asked,
        "1,500 operations in a row": long_chain,
        "one tape, three calls, x's grad set to None before the third: x, w after each": calls,
        "the old grad of x, after a second call; the new one": what_stays,
        "the gradient that was passed, afterwards; x and w": callers_gradient,
        "x + w: both grads, then written to, one by one": own_tensors,
        "straight into a leaf, twice": into_a_leaf,
        "a constant, used twice, then five times: no grad, launches more; for x": constants,
        "nodes between have no grad; for x, for w": between,
        "a rule that gives None: no grad for w, rules asked behind it; for x": without_a_part,
        "a leaf that nothing reaches keeps the grad it had: w, x": not_reached,
        "a rule that gives infinity: how often it is asked whether to look for NaN; x and w finite or not": looked_at,
        "a tape that retains gradients: of h, the result and x, after each of two calls; afterwards": retained,
        "from the outer, the inner, an empty tape: for x, for w": other_tapes,
        "refused: no gradient for six numbers, one of another shape, a constant": refused,
    }


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
