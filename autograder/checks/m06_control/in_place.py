"""Check 6 of lesson 06: a change in place that the graph knows of."""

import numpy as np

from autograder.checks.check import check


@check(
    "control.in_place",
    points=3,
    device=("y = w · factors, then exp, then − w: w.grad", "no gradient before, w² added: numbers and w.grad"),
)
def control_in_place(student, rng, tools):
    """Numbers, memory, graph and counter after a change in place."""
    Tensor, engine = student.Tensor, student.engine
    numbers, factors, upstream = rng.uniform(0.3, 1.5, size=(3, 2, 3))

    def guarded(program):
        def run():
            with engine.set_grad_enabled(True):
                return program()

        return run

    def twice_exp():
        """y = w · factors, then exp, then minus w."""
        w = Tensor(numbers, requires_grad=True)
        y = w * factors
        student.apply_(y, Tensor.exp)
        student.apply_(y, lambda t: t - w)
        (y * upstream).sum().backward()
        return y, w

    def buffer():
        """A tensor without gradient takes in one with."""
        w, b = Tensor(numbers, requires_grad=True), Tensor(factors)
        student.apply_(b, lambda t: t + w * w)
        (b * upstream).sum().backward()
        return [b.data, w.grad.data]

    def plain():
        b = Tensor(factors)
        student.apply_(b, lambda t: t * 3)
        return [float(b.requires_grad), float(b.is_leaf), *b.data.ravel()]

    def returned():
        y = Tensor(numbers, requires_grad=True) * factors
        array = y.data
        out = student.apply_(y, Tensor.tanh)
        return [0 if out is None else 1 if out is y else 2, int(y.data is array), float(array.sum())]

    def counted():
        y = Tensor(numbers, requires_grad=True) * 2
        counts = [y.version.count]
        for _ in range(3):
            student.apply_(y, Tensor.tanh)
            counts.append(y.version.count)
        return [*counts, float(y.data.sum())]

    def calls():
        seen = []

        def once(t):
            seen.append(1)
            return t * upstream

        y = Tensor(numbers)
        student.apply_(y, once)
        return [len(seen), float(y.data.sum())]

    def outcome(program):
        try:
            program()
            return 0
        except NotImplementedError:  # a RuntimeError, too, and what an untouched exercise raises
            raise
        except RuntimeError:
            return 1

    def leaf():
        w = Tensor(numbers, requires_grad=True)
        raised = outcome(lambda: student.apply_(w, lambda t: t * 2))
        return [raised, w.version.count, int(w.is_leaf), int(w.requires_grad), *w.data.ravel()]

    def weights():
        """As weights are updated: under no_grad."""
        w = Tensor(numbers, requires_grad=True)
        with engine.no_grad():
            student.apply_(w, lambda t: t - 0.5 * factors)
        flags = [int(w.is_leaf), int(w.requires_grad), w.version.count]
        (w * w * upstream).sum().backward()
        return [*flags, *w.data.ravel(), *w.grad.data.ravel()]

    def between():
        """Something in the middle of a graph, under no_grad: its numbers change, its past does not."""
        w = Tensor(numbers, requires_grad=True)
        y = w * factors
        with engine.no_grad():
            student.apply_(y, lambda t: t + 10 * upstream)
        flags = [int(y.requires_grad), y.version.count]
        (y * y).sum().backward()
        return [*flags, *y.data.ravel(), *w.grad.data.ravel()]

    def noticed():
        """Saved for a product, then changed: backward must refuse; what saved nothing goes on."""
        found = []
        for use in (lambda y: y * y, lambda y: y + 1, lambda y: y * factors):
            w = Tensor(numbers, requires_grad=True)
            y = w * 2
            z = (use(y) * upstream).sum()
            student.apply_(y, lambda t: t + 1)
            found.append(outcome(z.backward))
            found.append(0.0 if w.grad is None else float(w.grad.data.sum()))
        return found

    return {
        "input": f"numbers = {np.round(numbers, 3).tolist()}, factors = {np.round(factors, 3).tolist()}",
        "y = w · factors, then exp, then − w: y": guarded(lambda: twice_exp()[0].data),
        "y = w · factors, then exp, then − w: w.grad": guarded(lambda: twice_exp()[1].grad.data),
        "no gradient before, w² added: numbers and w.grad": guarded(buffer),
        "no gradient at all: requires_grad, is_leaf, numbers": guarded(plain),
        "returned: y (1), nothing (0), another (2); in the same array (1); its sum": guarded(returned),
        "version.count after 0, 1, 2, 3 changes, the sum": guarded(counted),
        "calls of the function, the sum": guarded(calls),
        "a leaf: error (1), count, is_leaf, requires_grad, numbers": guarded(leaf),
        "a leaf under no_grad: is_leaf, requires_grad, count, numbers, gradient": guarded(weights),
        "in a graph, under no_grad: requires_grad, count, numbers, w.grad": guarded(between),
        "changed after a use by y², y + 1, y · factors: error (1) and Σ of w.grad": guarded(noticed),
    }


@control_in_place.on_device
def names(on, reference):
    def apply_(x, function):
        x.become(function(x.copy()))
        return x

    return {"Tensor": on.MeasuredTensor, "apply_": apply_}


control_in_place.mistake(
    "x gets another array: views of the old one notice nothing",
    swap=("x.data[...] = result.data", "x.data = result.data"),
    hint=["Is it the same memory as before?", "`x.data[...] = …` writes into the array that is there."],
)
control_in_place.mistake(
    "the change is not counted: backward computes with the wrong numbers",
    swap=("x.version.count += 1", "pass"),
    hint=["Who saved the old numbers, and how would they know?", "`x.version.count += 1`"],
)
control_in_place.mistake(
    "the place in the graph stays the old one",
    swap=("x.grad_fn, x.requires_grad = result.grad_fn, result.requires_grad", "pass"),
    hint=[
        "y became exp(y). What does backward from y know of the exp?",
        "x takes over the result's grad_fn and requires_grad.",
    ],
)
control_in_place.mistake(
    "requires_grad is not taken over",
    swap=("x.grad_fn, x.requires_grad = result.grad_fn, result.requires_grad", "x.grad_fn = result.grad_fn"),
    hint="A buffer that took in a weight requires a gradient now: `x.requires_grad = result.requires_grad`.",
)
control_in_place.mistake(
    "grad_fn is not taken over",
    swap=(
        "x.grad_fn, x.requires_grad = result.grad_fn, result.requires_grad",
        "x.requires_grad = result.requires_grad",
    ),
    hint="Backward goes through `grad_fn`: x takes the result's.",
)
control_in_place.mistake(
    "a leaf is changed like any other tensor",
    swap=("if recording and x.is_leaf and x.requires_grad:", "if False:"),
    hint=["A leaf with a grad_fn is no leaf. Where would its gradient go?", "RuntimeError, as the first thing."],
)
control_in_place.mistake(
    "leaves are refused under no_grad, too, so that no weight can be updated",
    swap=("if recording and x.is_leaf and x.requires_grad:", "if x.is_leaf and x.requires_grad:"),
    hint="Only where it would be recorded: ask `engine.is_grad_enabled()`.",
)
control_in_place.mistake(
    "every leaf is refused, also one that requires no gradient",
    swap=("if recording and x.is_leaf and x.requires_grad:", "if recording and x.is_leaf:"),
    hint="A buffer without gradient may be changed: ask `x.requires_grad` as well.",
)
control_in_place.mistake(
    "everything that requires a gradient is refused, not only leaves",
    swap=("if recording and x.is_leaf and x.requires_grad:", "if recording and x.requires_grad:"),
    hint="y = w · 2 is no leaf, and may be changed: ask `x.is_leaf` as well.",
)
control_in_place.mistake(
    "under no_grad the tensor loses its past",
    swap=("    if recording:\n", "    if True:\n"),
    hint=["Under no_grad the result has no grad_fn. Should x lose its own?", "Take over only while recording is on."],
)
control_in_place.mistake(
    "x takes over the result's counter as well",
    swap=(
        "result.grad_fn, result.requires_grad\n",
        "result.grad_fn, result.requires_grad\n        x.version = result.version\n",
    ),
    hint=[
        "Who saved the old numbers looks at x's old counter. Does it move?",
        "The counter belongs to the memory, which stays: leave it, and count.",
    ],
)
control_in_place.mistake(
    "the numbers are not written", swap=("x.data[...] = result.data", "pass"), hint="`x.data[...] = result.data`"
)
control_in_place.mistake(
    "nothing is returned", swap=("return x", "pass"), hint="`return x`, so that calls can be chained."
)
control_in_place.mistake(
    "the result is returned, not x",
    swap=("return x", "return result"),
    hint="The same tensor that came in: `return x`.",
)
control_in_place.mistake(
    "a leaf is refused, but only after its numbers were overwritten",
    source="""
def apply_(x, function):
    result = function(x)
    x.data[...] = result.data
    x.version.count += 1
    if engine.is_grad_enabled():
        if x.is_leaf and x.requires_grad:
            raise RuntimeError("a leaf")
        x.grad_fn, x.requires_grad = result.grad_fn, result.requires_grad
    return x
""",
    hint="First look, then write: after the error, x must be as before.",
)
control_in_place.mistake(
    "the function is called twice, the second time on the new numbers",
    swap=(
        "x.data[...] = result.data\n",
        "x.data[...] = result.data\n    result = function(x)\n    x.data[...] = result.data\n",
    ),
    hint="One call: its result has both, the numbers and the place in the graph.",
)
control_in_place.variant(
    "by the engine's own change of all elements",
    source="""
def apply_(x, function):
    if x.requires_grad and x.grad_fn is None and engine.is_grad_enabled():
        raise RuntimeError("a leaf")
    result = function(x)
    if engine.is_grad_enabled():
        x.grad_fn = result.grad_fn
        x.requires_grad = result.requires_grad
    return x.copy_(result)
""",
)
control_in_place.variant(
    "two cases, one after the other",
    source="""
def apply_(x, function):
    if not engine.is_grad_enabled():
        np.copyto(x.data, function(x).data)
        x.version.count = x.version.count + 1
        return x
    if x.requires_grad and x.is_leaf:
        raise RuntimeError("no")
    new = function(x)
    np.copyto(x.data, new.data)
    x.version.count = x.version.count + 1
    vars(x).update(grad_fn=new.grad_fn, requires_grad=new.requires_grad)
    return x
""",
)
