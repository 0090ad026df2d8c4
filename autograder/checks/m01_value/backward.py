"""Check 10 of lesson 01: backward and zero_grad."""

from autograder.checks.cases import Text, fixed
from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES
from autograder.checks.value_programs import programs, two

value_backward = exercise(
    "value.backward",
    "Gradients over all paths, over several calls, and after zero_grad.",
    needs=("value.add", "value.mul", "value.pow", "value.order"),
)
FIRST = (
    "(a + b) * b",
    "a",
    "a * a",
    "(s := a * a) * b + s * s",
    "(s := (h := a + b * a) * b + h) + b * s",
    "(s := a + b) * (s + b) + s",
)
PROGRAMS = programs("f", *FIRST, left=False) * two()
POWERS = programs("f", "a ** a", "a ** b * a", "(s := a * b) ** s") * two(
    (2.0, 1.5), (0.5, 2.0), (3.0, 3.0), low=0.2, high=2.0
)


@value_backward.aspect("gradients over all paths", 1.75, cases=PROGRAMS + POWERS, device=8, few=24)
def paths(student, case):
    a, b = student.Value(case.a), student.Value(case.b)
    y = case.f(a, b)
    yield
    y.backward()
    return {"a.grad": a.grad, "b.grad": b.grad, "y.grad": y.grad}


INNER = programs("inner", "a * b", "a + b", "a * a", left=False)
SHARED = programs("f", "c * a", "c * c", "c + b * c", names="abc", left=False)
OTHER = programs("g", "c + b", "c * b", "a * b", names="abc", left=False)


@value_backward.aspect("two results, and one of them twice", 1.25, cases=INNER * SHARED * OTHER * two())
def calls(student, case):
    a, b = student.Value(case.a), student.Value(case.b)
    c = case.inner(a, b)
    y, z = case.f(a, b, c), case.g(a, b, c)
    yield
    for result in (y, z, y):
        result.backward()
    return {"a.grad": a.grad, "b.grad": b.grad, "c.grad": c.grad, "y.grad": y.grad}


@value_backward.aspect("zero_grad", 0.5, corner=True, few=12, cases=INNER * SHARED * two())
def cleared(student, case):
    a, b = student.Value(case.a), student.Value(case.b)
    c = case.inner(a, b)
    y = case.f(a, b, c)
    y.backward()
    y.zero_grad()
    return {"grad": [a.grad, b.grad, c.grad, y.grad], "data": [a.data, b.data, c.data, y.data]}


STEPS = fixed(
    {"step": Text("lambda h, b: h + b"), "n": 20_000},
    {"step": Text("lambda h, b: h + h"), "n": 60},
    {"step": Text("lambda h, b: h + b * h"), "n": 1000},
)


@value_backward.aspect("long chains and many paths", 0.25, corner=True, few=3, many=3, cases=STEPS)
def large(student, case, tools):
    a, b = student.Value(1.5), student.Value(0.01)
    h = a
    for _ in range(case.n):
        h = case.step(h, b)
    with tools.work_limit(200 * case.n):
        h.backward()
    return {"a.grad": a.grad, "b.grad": b.grad}


@value_backward.aspect("zero_grad of long chains and many paths", 0.25, corner=True, few=3, many=3, cases=STEPS)
def large_cleared(student, case, tools):
    a, b = student.Value(1.5), student.Value(0.01)
    h = a
    for _ in range(case.n):
        h = case.step(h, b)
    a.grad = b.grad = h.grad = 2.0
    with tools.work_limit(100 * case.n):
        h.zero_grad()
    return [a.grad, h.grad]


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
