"""Check 10 of lesson 01: backward and zero_grad."""

from autograder.checks.check import check
from autograder.checks.m01_value.closures import CLOSURES


@check(
    "value.backward",
    points=4,
    needs=("value.add", "value.mul", "value.pow", "value.order"),
    device=(
        "c = (a + b)·b: a.grad",
        "c = (a + b)·b: b.grad",
        "e = d·b + d·d with d = a·a: a.grad",
        "six times h + b·h: b.grad",
    ),
)
def value_backward(student, rng, tools):
    """Gradients over all paths, over several calls, and after zero_grad."""
    x, y = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8)

    def first():
        a, b = tools.leaves(student, a=x, b=y)
        s = a + b
        c = s * b
        c.backward()
        return {"a": a, "b": b, "s": s, "c": c}

    def diamond():
        a, b = tools.leaves(student, a=x, b=y)
        d = a * a
        e = d * b + d * d
        e.backward()
        return {"a": a, "b": b, "d": d}

    def ladder():
        a, b = tools.leaves(student, a=x, b=y)
        h = a
        for _ in range(3):
            h = h + b * h
            h = b * h + h
        h.backward()
        return {"a": a, "b": b}

    def called_again():
        boxes = first()
        boxes["c"].backward()
        return boxes

    def two_results():
        a, b = tools.leaves(student, a=x, b=y)
        s = a * b
        u, v = s * a, s + b
        u.backward()
        v.backward()
        return {"a": a, "b": b, "s": s}

    def cleared():
        boxes = called_again()
        boxes["c"].zero_grad()
        return boxes

    def cleared_and_called():
        boxes = cleared()
        boxes["c"].backward()
        return boxes

    def leaf_alone():
        a = tools.leaves(student, a=x)
        a.backward()
        return a.grad

    def both_arms():
        a = tools.leaves(student, a=x)
        (a**a).backward()
        return a.grad

    def zeros():
        p, q = tools.leaves(student, p=0.0, q=0.0)
        (p * q + p).backward()
        return [p.grad, q.grad]

    def long_chain():
        a, b = tools.leaves(student, a=x, b=y)
        h = a
        for _ in range(10_500):
            h = h + b
        h.backward()
        return [a.grad, b.grad]

    def doublings():
        h = a = tools.leaves(student, a=x)
        for _ in range(60):
            h = h + h
        with tools.work_limit(50_000):
            h.backward()
        return a.grad

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}",
        "c = (a + b)·b: a.grad": lambda: first()["a"].grad,
        "c = (a + b)·b: b.grad": lambda: first()["b"].grad,
        "c = (a + b)·b: grad of a + b": lambda: first()["s"].grad,
        "c = (a + b)·b: c.grad": lambda: first()["c"].grad,
        "e = d·b + d·d with d = a·a: a.grad": lambda: diamond()["a"].grad,
        "e = d·b + d·d with d = a·a: d.grad": lambda: diamond()["d"].grad,
        "six times h + b·h: a.grad": lambda: ladder()["a"].grad,
        "six times h + b·h: b.grad": lambda: ladder()["b"].grad,
        "a alone, a.backward(): a.grad": leaf_alone,
        "a ** a: a.grad": both_arms,
        "p·q + p, both 0: p.grad and q.grad": zeros,
        "backward called twice: a.grad": lambda: called_again()["a"].grad,
        "backward called twice: grad of a + b": lambda: called_again()["s"].grad,
        "two results of s = a·b, s·a and s + b: a.grad": lambda: two_results()["a"].grad,
        "two results of s = a·b, s·a and s + b: s.grad": lambda: two_results()["s"].grad,
        "after zero_grad: a.grad": lambda: cleared()["a"].grad,
        "after zero_grad: grad of a + b": lambda: cleared()["s"].grad,
        "after zero_grad: c.grad": lambda: cleared()["c"].grad,
        "after zero_grad: data of a and of a + b": lambda: [cleared()["a"].data, cleared()["s"].data],
        "zero_grad, then backward: b.grad": lambda: cleared_and_called()["b"].grad,
        "60 doublings of a: a.grad": doublings,
        "10,500 times + b: a.grad and b.grad": long_chain,
    }


value_backward.mistake(
    "`grad =` overwrites: of several paths only the last is left",
    swap=("parent.grad += local_derivative * node.grad", "parent.grad = local_derivative * node.grad"),
    hint=["b has two paths to c. What does the second `=` do to the first?", "`+=`: over paths we add."],
)
value_backward.mistake(
    "the boxes are walked parents first, not from the result",
    swap=("for node in reversed(order):", "for node in order:"),
    hint=["What is in s.grad when s hands it on?", "`reversed(order)`: a box hands on when its own grad is complete."],
)
value_backward.mistake(
    "the start is missing: the result's own gradient stays 0",
    swap=("self.grad += 1.0", "pass"),
    hint=["How fast does c move with c?", "∂c/∂c = 1: set it before the walk."],
)
value_backward.mistake(
    "the walk starts from the result's number, not from 1",
    swap=("self.grad += 1.0", "self.grad += self.data"),
    hint=["How fast does c move with c?", "∂c/∂c = 1, whatever c is."],
)
value_backward.mistake(
    "boxes in between keep the gradient of the call before (`self.grad = 1.0` clears only the result)",
    swap=[("if node.parents:", "if False:"), ("self.grad += 1.0", "self.grad = 1.0")],
    hint=[
        "Call backward twice: what is in s.grad when the second call begins?",
        "Before the walk, set grad to 0 on every node that has parents.",
    ],
)
value_backward.mistake(
    "boxes in between, and the result, keep the gradient of the call before",
    swap=("if node.parents:", "if False:"),
    hint=[
        "Call backward twice: what is in s.grad when the second call begins?",
        "Before the walk, set grad to 0 on every node that has parents.",
    ],
)
value_backward.mistake(
    "the leaves are set to 0, too, so nothing adds up over calls",
    swap=("if node.parents:", "if True:"),
    hint=[
        "A weight gets its gradient from two results. What happens to the first?",
        "Only nodes with parents start from 0.",
    ],
)
value_backward.mistake(
    "what a box has collected is not handed on: the local derivative alone is, or times the result's gradient, which is 1",
    swap=("local_derivative * node.grad", "local_derivative"),
    hint=[
        "Along a path we multiply. What came down the path so far, and which box holds it?",
        "local_derivative · `node`.grad, not `self`.grad: self is the result, at which the walk began.",
    ],
)
value_backward.mistake(
    "`parents.index(parent)` finds the first place, also where one box is both parents",
    swap=(
        "for parent, local_derivative in zip(node.parents, node.local_derivatives):\n            parent.grad += local_derivative * node.grad",
        "for parent in node.parents:\n            parent.grad += node.local_derivatives[node.parents.index(parent)] * node.grad",
    ),
    hint=[
        "In a ** a the box a is both parents. Which of the two derivatives does your second step take?",
        "Walk both lists side by side: `zip(node.parents, node.local_derivatives)`.",
    ],
)
value_backward.mistake(
    "a leaf that calls backward itself is left out",
    swap=(
        "order = topological_order(self)\n",
        "if not self.parents:\n        return\n    order = topological_order(self)\n",
    ),
    hint=["How fast does a move with a?", "∂a/∂a = 1 for a leaf, too: no special case."],
)
value_backward.mistake(
    "every box hands on its gradient at once, without waiting for the others",
    source="""
@add_to_class(Value)
def backward(self):
    for node in topological_order(self):
        if node.parents:
            node.grad = 0.0
    self.grad += 1.0

    def hand_on(node):
        for parent, local_derivative in zip(node.parents, node.local_derivatives):
            parent.grad += local_derivative * node.grad
            hand_on(parent)
    hand_on(self)

@add_to_class(Value)
def zero_grad(self):
    for node in topological_order(self):
        node.grad = 0.0
""",
    hint=[
        "In the diamond, d hands on what came first, and then all of it again when the second part comes.",
        "Walk `reversed(topological_order(self))`: each box once, when it is complete.",
    ],
)
value_backward.mistake(
    "each box hands on when it is first met, and never again",
    source="""
@add_to_class(Value)
def backward(self):
    for node in topological_order(self):
        if node.parents:
            node.grad = 0.0
    self.grad += 1.0
    visited, stack = set(), [self]
    while stack:
        node = stack.pop()
        if node not in visited:
            visited.add(node)
            for parent, local_derivative in zip(node.parents, node.local_derivatives):
                parent.grad += local_derivative * node.grad
                stack.append(parent)

@add_to_class(Value)
def zero_grad(self):
    for node in topological_order(self):
        node.grad = 0.0
""",
    hint=[
        "In the diamond, d is met over one path. What about the part that comes over the other one later?",
        "Walk `reversed(topological_order(self))`: each box once, when it is complete.",
    ],
)
value_backward.mistake(
    "every path is walked on its own: right, but their number doubles with each step",
    source="""
@add_to_class(Value)
def backward(self):
    for node in topological_order(self):
        if node.parents:
            node.grad = 0.0

    def walk(node, gradient):
        node.grad += gradient
        for parent, local_derivative in zip(node.parents, node.local_derivatives):
            walk(parent, gradient * local_derivative)
    walk(self, 1.0)

@add_to_class(Value)
def zero_grad(self):
    for node in topological_order(self):
        node.grad = 0.0
""",
    hint=[
        "How many paths lead through 60 doublings?",
        "Collect first, hand on once: walk `reversed(topological_order(self))`.",
    ],
)
value_backward.mistake(
    "it recurses, so a long chain ends in RecursionError",
    source="""
@add_to_class(Value)
def backward(self):
    order, visited = [], set()

    def visit(node):
        if node not in visited:
            visited.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)
    visit(self)
    for node in order:
        if node.parents:
            node.grad = 0.0
    self.grad += 1.0
    for node in reversed(order):
        for parent, local_derivative in zip(node.parents, node.local_derivatives):
            parent.grad += local_derivative * node.grad

@add_to_class(Value)
def zero_grad(self):
    for node in topological_order(self):
        node.grad = 0.0
""",
    hint=["All is right but the depth.", "You have `topological_order` without recursion: use it."],
)
value_backward.mistake(
    "zero_grad clears only the box it is called on",
    swap=(
        """for node in topological_order(self):
        node.grad = 0.0""",
        "self.grad = 0.0",
    ),
    hint=["c.zero_grad(): what is in a.grad?", "Walk over everything below: `topological_order(self)`."],
)
value_backward.mistake(
    "zero_grad clears only the leaves",
    swap=(
        """for node in topological_order(self):
        node.grad = 0.0""",
        """for node in topological_order(self):
        if not node.parents:
            node.grad = 0.0""",
    ),
    hint=["The docstring says: on this node and on everything it was computed from.", "No `if`: every node."],
)
value_backward.mistake(
    "zero_grad clears only the box and its direct parents",
    swap=(
        """for node in topological_order(self):
        node.grad = 0.0""",
        """for node in (self, *self.parents):
        node.grad = 0.0""",
    ),
    hint=["And the parents of the parents?", "Walk over everything below: `topological_order(self)`."],
)
value_backward.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_backward.variant(
    "gradients collected in a dict first",
    source="""
@add_to_class(Value)
def backward(self):
    gradient = {self: 1}
    for node in topological_order(self)[::-1]:
        g = gradient[node]
        for i in range(len(node.parents)):
            parent = node.parents[i]
            gradient[parent] = gradient.get(parent, 0) + g * node.local_derivatives[i]
    for node, g in gradient.items():
        if node.parents:
            node.grad = g
        else:
            node.grad = node.grad + g

@add_to_class(Value)
def zero_grad(self):
    todo, seen = [self], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            node.grad = 0
            todo += node.parents
""",
)
value_backward.variant(
    "each box waits until all of its users are done",
    source="""
@add_to_class(Value)
def backward(self):
    waiting, found, todo = {}, {self}, [self]
    while todo:
        node = todo.pop()
        if len(node.parents) > 0:
            node.grad = 0.0
        for parent in node.parents:
            waiting[parent] = waiting.get(parent, 0) + 1
            if parent not in found:
                found.add(parent)
                todo.append(parent)
    self.grad = 1.0
    ready = [self]
    while ready:
        node = ready.pop()
        for parent, slope in zip(node.parents, node.local_derivatives):
            parent.grad += slope * node.grad
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)

@add_to_class(Value)
def zero_grad(self):
    [setattr(node, "grad", 0.0) for node in topological_order(self)]
""",
)
value_backward.variant(
    "set to 1: only a leaf that calls backward twice could tell", swap=("self.grad += 1.0", "self.grad = 1.0")
)
value_backward.variant("the last box of the order is self", swap=("self.grad += 1.0", "node.grad += 1.0"))
