"""Check 5 of lesson 07: a function as one node that computes again."""

import numpy as np

from autograder.checks.check import check


@check("memory.checkpoint", points=4, device=("x.grad", "w.grad"))
def memory_checkpoint(student, rng, tools):
    """The same gradients, one node, only the inputs kept, one run more."""
    import weakref

    n, k, m = int(rng.integers(3, 5)), int(rng.integers(6, 8)), int(rng.integers(9, 11))
    arrays = {"x": rng.normal(size=(n, k)), "w": rng.normal(size=(k, m)), "v": rng.normal(size=(m, k))}
    upstream = rng.normal(size=(n, k))

    def leaves():
        return [student.Tensor(a, requires_grad=True) for a in arrays.values()]

    def nodes_below(out):
        found, todo = [], [out.grad_fn]
        while todo:
            node = todo.pop()
            if hasattr(node, "next_nodes") and node not in found:
                found.append(node)
                todo += node.next_nodes
        return found

    def two_layers(calls=None):
        def function(x, w, v):
            if calls is not None:
                calls.append(bool(student.is_grad_enabled()))
            return ((x @ w).tanh() @ v).exp()

        return function

    def apply(function, *inputs):
        return student.Checkpoint.apply(*inputs, function=function)

    def gradient_of(which):
        inputs = leaves()
        apply(two_layers(), *inputs).backward(upstream)
        return inputs[which].grad.data

    def in_the_middle():
        x, w, v = leaves()
        h = x.sin()
        h.retain_grad()
        out = apply(two_layers(), h, w, v) * h
        out.backward(upstream)
        return np.concatenate([t.grad.data.ravel() for t in (x, h, w)])

    def chain():
        """Two in a row, and one whose result is one number."""
        x, w, v = leaves()
        h = apply(lambda a, b: (a @ b).tanh(), x, w)
        apply(lambda a, b: ((a @ b).sin() * student.Tensor(upstream)).sum(), h, v).backward(upstream[0, 0])
        return np.concatenate([t.grad.data.ravel() for t in (x, w, v)])

    def without_gradient():
        """An input that asks for none, and one that the function does not use."""
        x, w, v = leaves()
        x.requires_grad_(False)
        apply(two_layers(), x, w, v).backward(upstream)
        given = [0.0 if x.grad is None else 1.0, *w.grad.data.ravel()]
        y, unused, _ = leaves()
        apply(lambda a, b: a.tanh(), y, unused).backward(upstream)
        return [*given, *y.grad.data.ravel(), 0.0 if unused.grad is None else np.abs(unused.grad.data).sum()]

    def whole_numbers():
        x, w, v = leaves()
        apply(lambda a, i: (a * i).tanh(), x, student.Tensor(np.arange(k))).backward(upstream)
        return x.grad.data

    def from_outside():
        x, w, v = leaves()
        apply(lambda a: (a @ w).tanh() @ v, x).backward(upstream)
        return np.concatenate([x.grad.data.ravel(), w.grad.data.ravel()])

    def kept():
        out = apply(two_layers(), *leaves())
        held = {id(a): a.nbytes for node in nodes_below(out) for a in node.kept_arrays()}
        return sum(held.values())

    def alive_inside(times, outside):
        """Numbers of the result, and how many arrays made on the way are there still."""
        made = []

        def function(x, w=None):
            h = (x @ (weights if w is None else w)).tanh()
            made.append(weakref.ref(h.data))
            return h.exp() @ others

        out, weights, others = leaves()
        for _ in range(times):
            out = apply(function, out) if outside else apply(function, out, weights)
        return [out.size, sum(r() is not None for r in made)]

    def runs(backwards):
        calls = []
        out = apply(two_layers(calls), *leaves())
        for _ in range(backwards):
            out.backward(upstream, retain_graph=True)
        return len(calls)

    def attempt(program):
        """What happened before an error counts, too."""
        try:
            program()
        except NotImplementedError:  # a RuntimeError, too, and what an untouched exercise raises
            raise
        except RuntimeError:
            pass

    def recorded():
        calls = []
        attempt(lambda: apply(two_layers(calls), *leaves()).backward(upstream))
        return [float(enabled) for enabled in calls]

    def asked():
        """Which inputs of the last run ask for a gradient, of x (not asked), w and v."""
        seen = []

        def function(x, w, v):
            seen[:] = [float(t.requires_grad) for t in (x, w, v)]
            return ((x @ w).tanh() @ v).exp()

        x, w, v = leaves()
        x.requires_grad_(False)
        attempt(lambda: apply(function, x, w, v).backward(upstream))
        return seen

    def again():
        inputs = leaves()
        out = apply(two_layers(), *inputs)
        out.backward(upstream, retain_graph=True)
        out.backward(-0.25 * upstream)
        return inputs[0].grad.data

    def same_input_twice():
        x, w, v = leaves()
        apply(lambda a, b: a * b.exp(), x, x).backward(upstream)
        return x.grad.data

    def changed():
        x, w, v = leaves()
        h = x + 1.0
        out = apply(two_layers(), h, w, v)
        h.copy_(2.0 * h.data)
        try:
            out.backward(upstream)
        except RuntimeError:
            return "an error"
        return "no error"

    return {
        "input": f"x ({n}, {k}), w ({k}, {m}), v ({m}, {k}); function(x, w, v) = exp(tanh(x @ w) @ v)",
        "the value": lambda: apply(two_layers(), *leaves()).data,
        "x.grad": lambda: gradient_of(0),
        "w.grad": lambda: gradient_of(1),
        "with h = sin(x) as the input, times h: gradients of x, h, w": in_the_middle,
        "two in a row, the second with one number as its result: all gradients": chain,
        "x asks for no gradient, or an input is not used: all gradients": without_gradient,
        "an input of whole numbers: x.grad": whole_numbers,
        "w from outside the function: x.grad and w.grad": from_outside,
        "the same input twice: x.grad": same_input_twice,
        "backward twice, with retain_graph: x.grad": again,
        "nodes in the graph": lambda: len(nodes_below(apply(two_layers(), *leaves()))),
        "bytes kept": kept,
        "numbers of the result, and arrays made on the way that are still there": lambda: alive_inside(1, False),
        "three in a row: numbers, and arrays that are still there": lambda: alive_inside(3, False),
        "w from outside: numbers, and arrays that are still there": lambda: alive_inside(1, True),
        "runs of the function after forward, after backward": lambda: [runs(0), runs(1)],
        "runs of the function after two backwards": lambda: runs(2),
        "is the first run recorded, is the second?": recorded,
        "x asks for no gradient, w and v do: do those of the second run?": asked,
        "an input was changed in place before backward": changed,
    }


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
    "the second run is not recorded",
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
