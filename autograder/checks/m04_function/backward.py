"""Check 5 of lesson 04: the walk from the root to the leaves."""

import numpy as np

from autograder.checks.check import check


@check("function.backward", points=4, needs=("function.context", "function.apply", "function.add_mul", "function.ends"))
def function_backward(student, rng, tools):
    """Gradients over every path, each rule asked once; the graph is freed, unless it is retained."""
    x_data, w_data, grad = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    row = rng.normal(size=2)
    calls = []

    class Twice(student.Function):
        """2 a, and a note of each time that its rule is asked."""

        @staticmethod
        def forward(ctx, a):
            return a * 2.0

        @staticmethod
        def backward(ctx, grad):
            calls.append(ctx)
            return student.Tensor(raw(grad) * 2.0)

    class OnlyLeft(student.Function):
        """a + b, but the rule has no gradient for b, though b needs one."""

        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    class Found(dict):
        def __missing__(self, leaf):
            raise KeyError("propagate found no gradient for one of the leaves")

    def raw(x):
        return x.data if isinstance(x, student.Tensor) else np.asarray(x)

    def leaves(*arrays):
        return [student.Tensor(array, requires_grad=True) for array in arrays or (x_data, w_data)]

    def walk(out, gradient=None, **options):
        """{leaf: gradient as an array}, as propagate finds it."""
        upstream = student.Tensor(grad if gradient is None else gradient)
        found = student.propagate(out.grad_fn or out, upstream, **options)
        if found is None:
            raise TypeError("propagate gave None; is there a `return` missing?")
        return Found({leaf: raw(part) for leaf, part in dict(found).items()})

    def of_x(f):
        x, w = leaves()
        return walk(f(x, w))[x]

    def of_w(f):
        x, w = leaves()
        return walk(f(x, w))[w]

    def diamond(x, w):
        h = x * x
        return h * w + h

    def shortcut(x, w):
        s = x + w
        t = s * x
        return s + t * t

    def shortcut_first(x, w):
        s = x + w
        t = s * x
        return t * t + s

    def of_row():
        x, _ = leaves()
        b = student.Tensor(row, requires_grad=True)
        return walk(x * b)[b]

    def who():
        """How many leaves are found, whether they are x and w, and the constants' place in it."""
        x, w = leaves()
        c = student.Tensor(row)
        found = walk((x * w + c) * x + c)
        return [len(found), x in found, w in found, c in found, *found[w].ravel()]

    def no_rule_for_one():
        x, w = leaves()
        h = w * x
        found = walk(OnlyLeft.apply(h, x * w) + h + OnlyLeft.apply(x, h))
        return [*found[x].ravel(), *found[w].ravel()]

    def from_leaf():
        x, _ = leaves()
        found = walk(x)
        return [len(found), *found[x].ravel()]

    def doublings(n=40):
        x, _ = leaves()
        h = x
        calls.clear()
        for _ in range(n):
            h = Twice.apply(h)
            h = h + h
        with tools.work_limit(100_000):
            found = walk(h, grad * 0.25**n)
        return [*found[x].ravel(), len(calls)]

    def long_chain(n=3000):
        x, w = leaves()
        h = x
        for _ in range(n):
            h = h + w
        with np.errstate(over="ignore"):  # of what a mistake doubles 3,000 times
            return walk(h)[w]

    def in_diamond():
        """How often each rule is asked where two paths meet."""
        x, _ = leaves()
        calls.clear()
        h = Twice.apply(x)
        out = Twice.apply(h) + Twice.apply(h)
        found = walk(out)
        return [len(calls), len(set(map(id, calls))), *found[x].ravel()]

    def shared():
        """Add hands one tensor to both sides: nobody may change it."""
        x, w = leaves()
        found = walk((x + w) + x)
        return [*found[x].ravel(), *found[w].ravel()]

    def upstream_afterwards():
        x, w = leaves()
        upstream = student.Tensor(grad)
        student.propagate((x + w + x).grad_fn, upstream)
        return upstream.data

    def nodes_of(out):
        return [node for node in student.topological_order([out.grad_fn]) if not isinstance(node, student.Tensor)]

    def freed(**options):
        """How many nodes there are, are freed, hold something; and the gradient."""
        x, w = leaves()
        out = (x * w + x) * w
        found = walk(out, **options)
        nodes = nodes_of(out)
        return [
            len(nodes),
            sum(node.freed for node in nodes),
            sum(len(node.kept or ()) > 0 for node in nodes),
            *found[x].ravel(),
        ]

    def again(first, second=None):
        """The gradient of a second walk; RuntimeError leaves 0."""
        x, w = leaves()
        out = x * w + x
        one = walk(out, **first)[x]
        try:
            two = walk(out, w_data)[x]
        except RuntimeError as error:
            if isinstance(error, NotImplementedError):
                raise
            two = 0 * one
        return [*one.ravel(), *two.ravel()]

    def third():
        """Retained once, freed by the second walk, so the third is an error."""
        x, w = leaves()
        out = x * w + x
        one = walk(out, retain_graph=True)[x]
        walk(out)
        try:
            walk(out)
        except RuntimeError as error:
            if isinstance(error, NotImplementedError):
                raise
            return [1, *one.ravel()]
        return [0, *one.ravel()]

    def from_backward():
        """The method backward, twice, for two results that share a leaf."""
        x, w = leaves()
        (x * w).backward(grad)
        (x + w).backward(w_data)
        return [*x.grad.data.ravel(), *w.grad.data.ravel()]

    def on_the_way():
        x, w = leaves()
        h = x * w
        (h * x).backward(grad)
        return [h.grad is None, *x.grad.data.ravel()]

    return {
        "input": f"x = {np.round(x_data, 3).tolist()}, w = {np.round(w_data, 3).tolist()}; grad = {np.round(grad, 3).tolist()}",
        "x · w: for x": lambda: of_x(lambda x, w: x * w),
        "x · w: for w": lambda: of_w(lambda x, w: x * w),
        "x · w + x: for x": lambda: of_x(lambda x, w: x * w + x),
        "x + x: for x": lambda: of_x(lambda x, w: x + x),
        "x · x · w + x · x, shared: for x": lambda: of_x(diamond),
        "s = x + w, t = s · x, s + t · t: for w": lambda: of_w(shortcut),
        "s = x + w, t = s · x, t · t + s: for w": lambda: of_w(shortcut_first),
        "x · row: for the row": of_row,
        "which leaves are found; for w": who,
        "a rule without a gradient for one input: for x, for w": no_rule_for_one,
        "the root is a leaf": from_leaf,
        "a diamond: rules asked, different ones; for x": in_diamond,
        "40 doublings: for x; rules asked": doublings,
        "3,000 sums in a row: for w": long_chain,
        "x + w + x: for x, for w": shared,
        "the gradient that was given, afterwards": upstream_afterwards,
        "nodes, freed, still full; for x": freed,
        "with retain_graph: nodes, freed, still full; for x": lambda: freed(retain_graph=True),
        "a second walk (0 where it is refused)": lambda: again({}),
        "a second walk after retain_graph=True": lambda: again({"retain_graph": True}),
        "retained, freed: is the third walk refused": third,
        "backward of two results: x.grad, w.grad": from_backward,
        "no grad on the way; x.grad": on_the_way,
    }
