"""Check 2 of lesson 04: a call of a Function becomes a node of the graph."""

import numpy as np

from autograder.checks.check import check


@check("function.apply", points=3, needs=("function.context",))
def function_apply(student, rng, tools):
    """Forward runs on arrays; the result is linked to its inputs where a gradient is wanted."""
    x_data, w_data, number = rng.normal(size=(3, 2)), rng.normal(size=2), float(rng.uniform(1.2, 1.9))
    calls, wrapped = [], []

    class Scale(student.Function):
        @staticmethod
        def forward(ctx, a, b, c=0.5, power=1):
            calls.append((ctx, [a, b, c], [student.raw(x) is x for x in (a, b, c)], tuple(ctx.needs_input_grad)))
            return a * b**power + c

    class Total(student.Function):
        @staticmethod
        def forward(ctx, a):
            return a.sum()

    class Keep(student.Function):
        @staticmethod
        def forward(ctx, a, b, c):
            ctx.save_for_backward(a, b)
            return a + b + c

    class Noting(student.Context):
        """A node that notes what wrap_result is given."""

        def wrap_result(self, returned, inputs):
            wrapped.append((returned, inputs))
            return super().wrap_result(returned, inputs)

    class Picture(student.Tensor):
        @classmethod
        def context(cls, function, needs_input_grad):
            return Noting(function, needs_input_grad, cls)

    def leaves():
        return student.Tensor(x_data, requires_grad=True), student.Tensor(w_data, requires_grad=True)

    def same(found, wanted):
        return [found[i] is wanted[i] for i in range(len(wanted))] + [len(found)]

    def value(*inputs, **options):
        return Scale.apply(*inputs, **options).data

    def what_forward_gets():
        x, w = leaves()
        Scale.apply(x, w, number)
        return [*calls[-1][2], *[np.sum(array) for array in calls[-1][1]]]

    def needed():
        x, w = leaves()
        Scale.apply(x, student.Tensor(w_data), number)
        Scale.apply(x_data, w, student.Tensor(number))
        return [*calls[-2][3], *calls[-1][3]]

    def linked():
        x, w = leaves()
        out = Scale.apply(x, w, number)
        return [out.requires_grad, out.grad_fn is calls[-1][0], out.grad_fn.function is Scale, out.data[1, 1]]

    def next_of_leaves():
        x, w = leaves()
        return same(Scale.apply(x, w, number).grad_fn.next_nodes, [x, w, None])

    def next_of_results():
        x, w = leaves()
        first = Scale.apply(x, w)
        second = Scale.apply(first, student.Tensor(w_data), x)
        return same(second.grad_fn.next_nodes, [first.grad_fn, None, x])

    def square():
        x, _ = leaves()
        node = Scale.apply(x, x).grad_fn
        return same(node.next_nodes, [x, x])

    def shapes():
        x, w = leaves()
        node = Scale.apply(x, w, number).grad_fn
        return [
            *node.input_shapes[0],
            len(node.input_shapes[0]),
            *node.input_shapes[1],
            len(node.input_shapes[1]),
            len(node.input_shapes[2]),
            len(node.input_shapes),
        ]

    def unrecorded(run):
        out = run()
        return [*np.ravel(out.data), bool(out.requires_grad), out.grad_fn is None]

    def plain():
        return Scale.apply(student.Tensor(x_data), student.Tensor(w_data), number)

    def switched_off():
        x, w = leaves()
        with student.GradMode(False):
            return Scale.apply(x, w, number)

    def needed_while_off():
        switched_off()
        return [*calls[-1][3], calls[-1][1][2]]

    def of_a_subclass():
        x, w = leaves()
        out = Scale.apply(x_data, Picture(w_data), w_data)
        of_node = [calls[-1][0].tensor_type is Picture, *saved_in(Picture(w_data, requires_grad=True))]
        return [*of_node, type(out) is Picture, type(Scale.apply(x, w)) is student.Tensor, out.data[0, 0]]

    def saved_in(picture):
        """Of which class are the tensors of a node whose first tensor is of a subclass."""
        return [type(x) is Picture for x in Keep.apply(x_data, picture, student.Tensor(x_data)).grad_fn.saved_tensors]

    def what_is_wrapped():
        x = Picture(x_data, requires_grad=True)
        Scale.apply(x, w_data, number)
        returned, inputs = wrapped[-1]
        return [np.sum(returned), *same(inputs, [x, w_data, number])]

    def one_number():
        x, _ = leaves()
        out = Total.apply(x)
        return [isinstance(out.data, np.ndarray), out.data, *np.shape(out.data)]

    def two_calls():
        x, w = leaves()
        one, two = Scale.apply(x, w), Scale.apply(x, w, number)
        return [one.grad_fn is not two.grad_fn, len(one.grad_fn.next_nodes), len(two.grad_fn.next_nodes)]

    def inputs_afterwards():
        x, w = leaves()
        Scale.apply(x, w, number)
        return [*x.data.ravel(), *w.data, x.is_leaf, w.is_leaf, x.grad is None]

    return {
        "input": f"x = {np.round(x_data, 3).tolist()}, w = {np.round(w_data, 3).tolist()}, a number {number:.4g}; "
        "a Function of a, b, c with the option power: a · b^power + c",
        "the numbers": lambda: value(*leaves(), number),
        "the numbers, with an option": lambda: value(*leaves(), power=3),
        "what forward gets: all plain; the sum of each": what_forward_gets,
        "needs_input_grad of two calls": needed,
        "requires_grad; is grad_fn the ctx of forward; its function": linked,
        "next_nodes of (leaf, leaf, number)": next_of_leaves,
        "next_nodes of (result, constant, leaf)": next_of_results,
        "next_nodes of (x, x)": square,
        "shapes of the inputs": shapes,
        "constants only: the numbers, requires_grad, no grad_fn": lambda: unrecorded(plain),
        "recording off: the numbers, requires_grad, no grad_fn": lambda: unrecorded(switched_off),
        "recording off: needs_input_grad": needed_while_off,
        "class of the result, of its node, of what it saves": of_a_subclass,
        "what wrap_result gets: the sum of the numbers; are these the inputs": what_is_wrapped,
        "a forward that returns one number": one_number,
        "two calls have two nodes": two_calls,
        "x and w afterwards": inputs_afterwards,
    }


NEXT = "tuple([(x.grad_fn or x) if need else None for x, need in pairs])"
SHAPES = "tuple([np.shape(array) for array in arrays])"

function_apply.mistake(
    "the result knows no node: the graph is cut here",
    swap=("        out.grad_fn = ctx\n", ""),
    hint=["The number is right. How would backward find the way?", "`out.grad_fn = ctx`."],
)
function_apply.mistake(
    "the result does not ask for a gradient, so the next call cuts the graph",
    swap=("        out.requires_grad = True\n", ""),
    hint=["(x * w) + 2: does the Add know that a gradient is wanted on the way to x?", "`out.requires_grad = True`."],
)
function_apply.mistake(
    "next_nodes holds the tensors, not the nodes that computed them",
    swap=(NEXT, "tuple(x if need else None for x, need in pairs)"),
    hint=[
        "For a tensor that was computed, where does the gradient go on?",
        "`x.grad_fn`; only for a leaf, which has none, x itself.",
    ],
)
function_apply.mistake(
    "leaves are missing: next_nodes holds grad_fn, and of a leaf this is None",
    swap=("(x.grad_fn or x)", "x.grad_fn"),
    hint=["x.grad_fn of a leaf is None. Where shall its gradient go?", "`x.grad_fn or x`."],
)
function_apply.mistake(
    "next_nodes leaves out what needs no gradient, so gradients get to the wrong inputs",
    swap=(NEXT, "tuple(x.grad_fn or x for x, need in pairs if need)"),
    hint=[
        "backward returns one gradient for each input. Which entry belongs to which?",
        "One entry for each input, None where none is needed.",
    ],
)
function_apply.mistake(
    "constants get a place in the graph",
    swap=(NEXT, "tuple([(x.grad_fn or x) if isinstance(x, Variable) else None for x in inputs])"),
    hint=["requires_grad of the constant is False: who wants its gradient?", "None where `needed` is False."],
)
function_apply.mistake(
    "recorded, whatever the switches say",
    swap=("recording = is_grad_enabled()", "recording = True"),
    hint=[
        "Under GradMode(False) nothing shall be linked.",
        "Ask `is_grad_enabled()` for each input that may need a gradient.",
    ],
)
function_apply.mistake(
    "recording is asked for the link only: forward is told that gradients are needed, and saves",
    swap=[
        ("recording and isinstance(x, Variable)", "isinstance(x, Variable)"),
        ("if True in ctx.needs_input_grad:", "if recording and True in ctx.needs_input_grad:"),
    ],
    hint=[
        "What does needs_input_grad say while recording is off?",
        "Put `is_grad_enabled()` into the condition of each input.",
    ],
)
function_apply.mistake(
    "linked only if all inputs need a gradient",
    swap=("if True in ctx.needs_input_grad", "if all(needed)"),
    hint=["x * 2: the 2 needs no gradient. Does x still want its own?", "`True in ctx.needs_input_grad`."],
)
function_apply.mistake(
    "linked always, constants too",
    swap=("if True in ctx.needs_input_grad", "if True"),
    hint=[
        "Nobody wants a gradient of two constants. What does the graph cost?",
        "Only `if True in ctx.needs_input_grad`.",
    ],
)
function_apply.mistake(
    "forward gets the tensors, not their arrays",
    swap=("arrays = [raw(x) for x in inputs]", "arrays = list(inputs)"),
    hint=["`a * b` of tensors calls apply again: forward of Mul would call itself.", "`raw(x)` of each input."],
)
function_apply.mistake(
    "options are not handed on",
    swap=("run_forward(ctx, arrays, options)", "run_forward(ctx, arrays, {})"),
    hint=["`x.sum(axis=1)`: does forward hear of the axis?", "`run_forward(ctx, arrays, options)`."],
)
function_apply.mistake(
    "each tensor counts, whether it requires a gradient or not",
    swap=(" and x.requires_grad", ""),
    hint=["Three conditions: recording, a tensor, and …?", "`and x.requires_grad`."],
)
function_apply.mistake(
    "every input has the shape of the result",
    swap=(SHAPES, "tuple([out.shape for array in arrays])"),
    hint=[
        "w has shape (2,), the result (3, 2). To which shape must w's gradient be summed?",
        "`np.shape(array)` of each input.",
    ],
)
function_apply.mistake(
    "the result is always a Tensor, also where the input is of a subclass",
    swap=(
        "ctx.wrap_result(run_forward(ctx, arrays, options), inputs)",
        "Tensor.wrap(np.asarray(run_forward(ctx, arrays, options)))",
    ),
    hint=["The docstring says who makes the result.", "`ctx.wrap_result(…, inputs)`."],
)
function_apply.variant(
    "the shape of a tensor is that of its array",
    swap=("np.shape(array) for array in arrays", "np.shape(array) for array in inputs"),
)
NEEDED = "[recording and isinstance(x, Variable) and x.requires_grad for x in inputs]"
for reason, text in [("needs_input_grad", f"tuple({NEEDED})"), ("next_nodes", NEXT), ("input_shapes", SHAPES)]:
    function_apply.variant(f"{reason} is a list", swap=(text, text.removeprefix("tuple(").removesuffix(")")))
function_apply.variant(
    "loops, conditions one by one; forward is called directly",
    source="""
@add_to_class(Function)
@classmethod
def apply(cls, *inputs, **options):
    needs = []
    for x in inputs:
        if not is_grad_enabled() or not isinstance(x, Tensor):
            needs.append(False)
        else:
            needs.append(bool(x.requires_grad))
    ctx = new_context(cls, inputs, tuple(needs))
    result = cls.forward(ctx, *map(raw, inputs), **options)
    result = ctx.wrap_result(result, inputs)
    if not any(needs):
        return result
    result.requires_grad, result.grad_fn = True, ctx
    nodes = []
    for x, need in zip(inputs, needs):
        if not need:
            nodes.append(None)
        elif x.is_leaf:
            nodes.append(x)
        else:
            nodes.append(x.grad_fn)
    ctx.next_nodes = nodes
    ctx.input_shapes = [x.shape if isinstance(x, (Tensor, np.ndarray)) else () for x in inputs]
    return result
""",
)
function_apply.variant(
    "linked before forward runs",
    source="""
@add_to_class(Function)
@classmethod
def apply(cls, *inputs, **options):
    def parent(x):
        if is_grad_enabled() and getattr(x, "requires_grad", False):
            return x if x.grad_fn is None else x.grad_fn

    parents = tuple(map(parent, inputs))
    ctx = new_context(cls, inputs, tuple(p is not None for p in parents))
    ctx.next_nodes = parents
    ctx.input_shapes = tuple(np.asarray(raw(x)).shape for x in inputs)
    out = ctx.wrap_result(run_forward(ctx, [raw(x) for x in inputs], options), inputs)
    out.requires_grad = any(ctx.needs_input_grad)
    out.grad_fn = ctx if out.requires_grad else None
    return out
""",
)
