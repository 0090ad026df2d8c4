"""Check 5 of lesson 07: a function as one node that computes again."""

import numpy as np

from autograder.checks.cases import Text, array, choice, filled
from autograder.checks.check import exercise
from autograder.checks.programs import printed, programs, scripts

memory_checkpoint = exercise("memory.checkpoint", "A function as one node that computes again.")

FUNCTIONS = programs(
    "f",
    (
        "x * w",
        "(x * w).tanh()",
        "x.exp() * w + x",
        "x.tanh()",
        "(x * w).sum() + 0.0 * w.sum()",
        "(lambda h: h * h * w)(x.sigmoid())",
    ),
    ("x", "w"),
    ("{}.tanh()", "({} * 0.5).exp()", "{}.sigmoid()"),
    ("({} * {})", "({} + {})", "({} - {})"),
)
INPUTS = choice(
    "inputs", Text("lambda x, w: (x, w)"), Text("lambda x, w: (x * 2.0, w)"), Text("lambda x, w: (x, x)"), Text("lambda x, w: (w, x.tanh())"),
    Text("lambda x, w: (x, w.detach())"), Text("lambda x, w: (x.detach(), w * x)"),
)  # fmt: skip
NUMBERS = array("x", ((2,), (), (2, 3), (1,), (3, 2)), ("decimals", "transposed")).add(
    w=lambda x, rng: filled(x.shape, "decimals", rng)
)


def wide(student, case):
    """Gradients of the inputs, and of a tensor from outside that the function uses."""
    x, w, outside = (student.Tensor(a, requires_grad=True) for a in (case.x, case.w, 1.5))
    y = student.Checkpoint.apply(*case.inputs(x, w), function=lambda a, b: case.f(a, b) * outside)
    yield
    y.backward(np.arange(1.0, 1 + y.size).reshape(y.shape))
    leaves = {"x.grad": x, "w.grad": w, "outside.grad": outside}
    return {"y": y.data, **{name: None if t.grad is None else t.grad.data for name, t in leaves.items()}}


memory_checkpoint.aspect("the value and the gradients", 2, device=4, cases=NUMBERS * FUNCTIONS * INPUTS)(wide)


@memory_checkpoint.aspect(
    "one node that keeps the inputs and nothing else",
    0.75,
    corner=True,
    cases=choice(
        "f",
        Text("lambda x, w: (x @ w).tanh().exp() @ w"),
        Text("lambda x, w: (x @ w).exp()"),
        Text("lambda x, w: (x * x).exp() @ w"),
    )
    * choice("times", 1, 2, 3),
    at_most=("nodes", "bytes kept", "arrays of the first run alive", "arrays of the second run alive"),
)
def kept(student, case):
    import weakref

    made = []

    def function(x, w):
        h = x.tanh()
        result = case.f(h, w)
        made.extend(weakref.ref(t.data) for t in (h, result))
        return result

    out, w = (student.Tensor(np.ones((4, 4)), requires_grad=True) for _ in "xw")
    for _ in range(case.times):
        out = student.Checkpoint.apply(out, w, function=function)
    order = [node for node in student.topological_order([out.grad_fn]) if hasattr(node, "kept_arrays")]
    found = {
        "nodes": len(order),
        "bytes kept": sum({id(a): a.nbytes for node in order for a in node.kept_arrays()}.values()),
    }
    found["arrays of the first run alive"] = sum(array() is not None for array in made)
    out.sum().backward(retain_graph=True)
    return found | {
        "arrays of the second run alive": sum(array() is not None for array in made),
        "runs": len(made) // 2,
    }


@memory_checkpoint.aspect(
    "two runs: the first is not recorded, the second is; inputs ask for what is needed",
    0.75,
    corner=True,
    cases=choice("asks", [True, True], [True, False], [False, True]) * choice("backwards", 0, 1, 2),
)
def runs(student, case):
    seen = []

    def function(x, w):
        seen.append(
            [student.is_grad_enabled(), x.requires_grad, w.requires_grad][: 1 if not student.is_grad_enabled() else 3]
        )
        return x * w

    x, w = (student.Tensor([1.0, 2.0], requires_grad=asks) for asks in case.asks)
    out = student.Checkpoint.apply(x, w, function=function).sum()
    for _ in range(case.backwards):
        out.backward(retain_graph=True)
    return "; ".join(map(str, seen))


START = ["x = Tensor([1.0, 2.0], requires_grad=True)", "h, k = x + 1.0, Tensor([2, 3])"]
OUT = "out = Checkpoint.apply({}, function=lambda *t: t[0] * t[0] * t[-1])"
TRY = ["try:", "    out.sum().backward()", "    print(x.grad)", "except RuntimeError:", "    print('RuntimeError')"]
CHANGES = [
    [*START, OUT.format(inputs), line, *TRY]
    for inputs in ("h, h", "h, k", "h")
    for line in ("h += 1", "h *= 1.0", "h.copy_(2 * h)", "view = h.reshape(2, 1)", "z = h.clone()\nz += 1")
]
CHANGES += [[*START, "h += 1", OUT.format(inputs), *TRY] for inputs in ("h, h", "h, k", "x, k", "h")]
memory_checkpoint.aspect(
    "inputs of whole numbers, and inputs that are changed in place", 0.5, corner=True, cases=scripts(CHANGES)
)(printed)


@memory_checkpoint.on_device
def names(on, reference):
    class Checkpoint:
        @staticmethod
        def apply(*inputs, function):
            return function(*inputs)

    return {"Tensor": on.MeasuredTensor, "Checkpoint": Checkpoint}


memory_checkpoint.mistake(
    "the inputs are not detached: the small backward runs on into the graph above, or adds to the leaves itself",
    swap=(
        "[x.detach().requires_grad_(needed)\n                  for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad)]",
        "list(ctx.saved_tensors)",
    ),
    hint=[
        "What is the grad_fn of a tensor in ctx.saved_tensors, and whose `grad` do you read?",
        "`x.detach()` makes a leaf of its own, in the same memory.",
    ],
)
memory_checkpoint.mistake(
    "the gradient from above is not used: the small backward starts from ones",
    swap=(
        "result = ctx.rerun(*leaves)\n        result.backward(grad)",
        "result = ctx.rerun(*leaves).sum()\n        result.backward()",
    ),
    hint=["What arrives in `grad`?", "`result.backward(grad)`."],
)
memory_checkpoint.mistake(
    "the small backward gets no gradient to start from",
    swap=("result.backward(grad)", "result.backward()"),
    hint=["The result is no single number.", "`result.backward(grad)`."],
)
memory_checkpoint.mistake(
    "what backward is called on was not recorded: the second run, or what is computed from it, is outside of enable_grad()",
    swap=("with enable_grad():\n            result", "if True:\n            result"),
    hint=["In a backward, recording is off.", "`with enable_grad():` around the second run."],
)
memory_checkpoint.mistake(
    "the first run is recorded",
    swap=("with no_grad():", "with enable_grad():"),
    hint=[
        "Weights from outside ask for a gradient: a whole graph is built, and thrown away.",
        "`with no_grad():` around the first run.",
    ],
)
memory_checkpoint.mistake(
    "the leaves ask for no gradient",
    swap=("x.detach().requires_grad_(needed)", "x.detach()"),
    hint=["What does detach() do with requires_grad?", "`.requires_grad_(needed)` after it."],
)
memory_checkpoint.mistake(
    "every input is asked for a gradient, whole numbers, too",
    swap=("requires_grad_(needed)", "requires_grad_()"),
    hint=[
        "An input may be indices or labels. Have they a gradient?",
        "`.requires_grad_(needed)`, with what ctx.needs_input_grad says.",
    ],
)
memory_checkpoint.mistake(
    "the graph of the first run is kept instead of computed again",
    source="""
class Checkpoint(Function):
    @staticmethod
    def forward(ctx, *arrays, function):
        ctx.save_for_backward(*arrays)
        ctx.leaves = [Tensor(array, requires_grad=needed) for array, needed in zip(arrays, ctx.needs_input_grad)]
        with enable_grad():
            ctx.result = function(*ctx.leaves)
        return ctx.result.data

    @staticmethod
    def backward(ctx, grad):
        ctx.saved_tensors
        for leaf in ctx.leaves:
            leaf.zero_grad()
        ctx.result.backward(grad, retain_graph=True)
        return tuple(leaf.grad for leaf in ctx.leaves)
""",
    hint=[
        "All gradients are right. How many bytes were saved?",
        "Run the function in backward, once more; keep no graph.",
    ],
)
memory_checkpoint.mistake(
    "the inputs are kept on ctx, where nobody notices that one was changed",
    source="""
class Checkpoint(Function):
    @staticmethod
    def forward(ctx, *arrays, function):
        ctx.rerun, ctx.arrays = function, arrays
        with no_grad():
            return function(*[Tensor(array) for array in arrays]).data

    @staticmethod
    def backward(ctx, grad):
        leaves = [Tensor(a, requires_grad=needed) for a, needed in zip(ctx.arrays, ctx.needs_input_grad)]
        with enable_grad():
            result = ctx.rerun(*leaves)
        result.backward(grad)
        return tuple(leaf.grad for leaf in leaves)
""",
    hint=[
        "What if h is changed in place between forward and backward?",
        "`ctx.save_for_backward(*arrays)`: it counts versions.",
    ],
)
memory_checkpoint.mistake(
    "the result is kept as well",
    swap=(
        "ctx.save_for_backward(*arrays)\n        ctx.rerun = function\n        with no_grad():\n            return function(*[Tensor(array) for array in arrays]).data",
        "ctx.rerun = function\n        with no_grad():\n            result = function(*[Tensor(array) for array in arrays]).data\n"
        "        ctx.save_for_backward(*arrays, result)\n        return result",
    ),
    hint=["What does backward need the result for?", "Keep the inputs, and nothing else."],
)
memory_checkpoint.mistake(
    "the function is kept as ctx.function, where the engine keeps the class",
    swap=[("ctx.rerun = function", "ctx.function = function"), ("ctx.rerun(", "ctx.function(")],
    hint=["The engine looks into ctx.function for the class whose backward it calls.", "Another name: ctx.rerun."],
)
memory_checkpoint.mistake(
    "backward returns what `result.backward(grad)` returns: nothing",
    swap=(
        "        result.backward(grad)\n        return tuple(leaf.grad for leaf in leaves)",
        "        return result.backward(grad)",
    ),
    hint=[
        "Where does backward leave the gradients, and what does it return?",
        "`tuple(leaf.grad for leaf in leaves)`.",
    ],
)
memory_checkpoint.mistake(
    "a leaf without a gradient is asked for its array",
    swap=("tuple(leaf.grad for leaf in leaves)", "tuple(leaf.grad.data for leaf in leaves)"),
    hint=["What is the `grad` of a leaf that asks for none?", "Return `leaf.grad` itself: a tensor, or None."],
)
memory_checkpoint.mistake(
    "the function is kept as ctx.segment, which the engine looks into",
    swap=[("ctx.rerun = function", "ctx.segment = function"), ("ctx.rerun(", "ctx.segment(")],
    hint=["Which two names are taken, says the docstring?", "Another name: ctx.rerun."],
)
memory_checkpoint.mistake(
    "the function gets one list, not one tensor after the other",
    swap=("function(*[Tensor(array) for array in arrays])", "function([Tensor(array) for array in arrays])"),
    hint=["How many arguments has function(x, w, v)?", "A star before the list: `function(*tensors)`."],
)
memory_checkpoint.mistake(
    "only the first input gets a gradient",
    swap=("tuple(leaf.grad for leaf in leaves)", "leaves[0].grad"),
    hint=["How many inputs are there?", "One gradient for each, in a tuple."],
)
memory_checkpoint.mistake(
    "the gradients come in the wrong order",
    swap=("tuple(leaf.grad for leaf in leaves)", "tuple(leaf.grad for leaf in reversed(leaves))"),
    hint=["Which gradient belongs to the first input?", "In the order of the inputs."],
)
memory_checkpoint.mistake(
    "the function gets arrays, not tensors",
    swap=("function(*[Tensor(array) for array in arrays]).data", "function(*arrays)"),
    hint=["Has an array a method tanh()?", "`Tensor(array)` for each, and `.data` of the result."],
)
memory_checkpoint.variant(
    "a loop, the engine's `detach` by hand",
    source="""
class Checkpoint(Function):
    @staticmethod
    def forward(ctx, *arrays, function):
        tensors = []
        for array in arrays:
            tensors.append(Tensor.wrap(array))
        with no_grad():
            result = function(*tensors)
        ctx.again = function
        ctx.save_for_backward(*arrays)
        return result.numpy()

    @staticmethod
    def backward(ctx, grad):
        leaves = []
        for saved, needed in zip(ctx.saved_tensors, ctx.needs_input_grad):
            leaf = Tensor(saved.data)
            if needed:
                leaf.requires_grad_()
            leaves.append(leaf)
        with enable_grad():
            (ctx.again(*leaves) * grad).sum().backward()
        return [leaf.grad for leaf in leaves]
""",
)
memory_checkpoint.variant(
    "the engine takes the array out of a tensor that was not recorded", swap=("arrays]).data", "arrays])")
)
memory_checkpoint.variant(
    "modes by set_grad_enabled, the result as a tensor",
    source="""
from tinygrad_cl.tensor import set_grad_enabled

class Checkpoint(Function):
    @staticmethod
    def forward(ctx, *arrays, function):
        ctx.save_for_backward(*arrays)
        ctx.options = {"function": function}
        with set_grad_enabled(False):
            return function(*map(Tensor, arrays))

    @staticmethod
    def backward(ctx, grad):
        inputs = tuple(t.detach() for t in ctx.saved_tensors)
        for i in range(len(inputs)):
            inputs[i].requires_grad = ctx.needs_input_grad[i]
        with set_grad_enabled(True):
            out = ctx.options["function"](*inputs)
        out.backward(gradient=grad.data)
        return tuple(t.grad for t in inputs)
""",
)
