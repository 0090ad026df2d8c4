"""Check 5 of lesson 04: the walk from the root to the leaves."""

from autograder.checks.cases import choice, fixed
from autograder.checks.check import exercise
from autograder.checks.m04_function.graphs import GRAPHS
from autograder.checks.m04_function.inputs import texts

function_backward = exercise(
    "function.backward",
    "Gradients over every path, each rule asked once; the graph is freed, unless it is retained.",
    needs=("function.context", "function.apply", "function.add_mul", "function.ends"),
)


def walk(student, case):
    x, w = student.Tensor(case.x, requires_grad=True), student.Tensor(case.w, requires_grad=case.needed)
    y, grad = case.f(x, w), student.Tensor(case.grad)
    yield
    found = student.propagate(y.grad_fn or y, grad)
    return {"leaves": len(found), "grad": grad.data} | {
        name: found[leaf].data for name, leaf in (("for x", x), ("for w", w)) if leaf in found
    }


def twice(student, case):
    """Two walks over a graph, retained or not, and a third one."""
    x, w = (student.Tensor(data, requires_grad=True) for data in (case.x, case.w))
    y, grad = case.f(x, w), student.Tensor(case.grad)
    nodes = [node for node in student.topological_order([y.grad_fn]) if isinstance(node, student.Context)]
    found = []
    for retain in case.retain:
        try:
            parts = student.propagate(y.grad_fn, grad, **retain)
            found.append([parts[leaf].data for leaf in (x, w) if leaf in parts])
        except RuntimeError as error:
            if not any(node.freed for node in nodes):  # it is not refused, it is not written
                raise
            found.append(error)
        found += [sum(node.freed for node in nodes), sum(len(node.kept) for node in nodes)]
        yield
    return {str(i): part for i, part in enumerate(found)}


def asked(student, case, tools):
    class Some(student.Function):
        """The sum, whose rule has no gradient for b."""

        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            calls.append(ctx)
            return grad * 0.5, None

    calls = []
    x, w = (student.Tensor(data, requires_grad=True) for data in (case.x, case.w))
    y = x
    for _ in range(case.steps):
        y = case.step(Some.apply, y, w, x)
    with tools.work_limit(150 * case.steps + 20_000):
        found = student.propagate(y.grad_fn, student.Tensor(case.grad))
    return {"for x": found[x].data, "rules asked": len(calls), "different ones": len(set(calls)), "w in it": w in found}


NUMBERS = fixed(x=[0.5, -1.5], w=[2.0, 1.0], grad=[0.25, -1.0])
STEPS = (
    "lambda f, h, w, x: f(h, w) + f(h, x)",
    "lambda f, h, w, x: f(h, h)",
    "lambda f, h, w, x: f(f(h, x * w) + h, h)",
    "lambda f, h, w, x: f(h + h, w)",
)
STEPPED = NUMBERS * choice("steps", 1, 2, 5, 40) * choice("step", *texts(*STEPS))
STEPPED += NUMBERS * choice("steps", 2500) * choice("step", *texts("lambda f, h, w, x: h + x"))
ONCE, KEPT = {}, {"retain_graph": True}
RETAINED = GRAPHS.where(lambda f: "lambda x, w: x" != f).each(
    retain=lambda: [[ONCE, ONCE], [KEPT, ONCE, ONCE], [KEPT, KEPT], [{"retain_graph": False}, KEPT]]
)

function_backward.aspect("the gradients of the leaves", 2, cases=GRAPHS * choice("needed", True, False), few=27)(walk)
function_backward.aspect("each rule is asked once", 0.75, cases=STEPPED, few=16)(asked)
function_backward.aspect("freed, unless it is retained", 1.25, cases=RETAINED, few=16, corner=True)(twice)
