"""Check 2 of lesson 04: a call of a Function becomes a node of the graph."""

from itertools import product

from autograder.checks.cases import Text, choice, fixed
from autograder.checks.check import exercise
from autograder.checks.m04_function.inputs import texts

function_apply = exercise(
    "function.apply", "A call of a Function becomes a node of the graph.", needs=("function.context",)
)

FORWARD = "type('Scale', (Function,), {{'forward': staticmethod({})}})".format
NAMED = {
    "Scale": FORWARD(
        "lambda ctx, a, b, c, power=1: [setattr(ctx, 'got', (*getattr(ctx, 'got', ()), a, b, c)), a * b**power + c][1]"
    ),
    "Needs": FORWARD("lambda ctx, *arrays: np.array(ctx.needs_input_grad) * 1.0"),
    "x": "Tensor(np.array([[1.5, -0.5], [2.0, 3.0]]), requires_grad=True)",
    "w": "Tensor([0.5, -2.0], requires_grad=True)",
    "h": "Scale.apply(w, -1.0, 0.5)",  # Neg comes further down in the lesson
    "c": "Tensor(np.array([4.0, 0.0]))",
    "p": "type('Picture', (Tensor,), {})([[2.5, 1.0]], requires_grad=True)",
    "n": "np.array([3.0, 5.0])",
}
FIRST = [
    "x, w, 2.5",
    "h, c, x",
    "x, x, x",
    "2.5, c, w",
    "n, h, c",
    "p, w, x",
    "h, h, w",
    "c, p, n",
    "3, n, x",
    "c, h, 3",
]
MORE = [", ".join(some) for some in product("xwhcpn3", repeat=3) if set(some) & set("xwhp")]
ONE = {name: Text(text) for name, text in NAMED.items()}
LINKED = (
    fixed(ONE)
    * choice("options", {}, {"power": 2})
    * choice("inputs", *texts(*(f"[{some}]" for some in FIRST + MORE[::2])))
)
CONSTANT = (
    fixed(ONE)
    * choice("recording", True)
    * choice("inputs", *texts("[c, c, 2.5]", "[3, c]", "[n, 2.5, c]", "[c]", "[c, n]"))
)
OFF = fixed(ONE) * choice("recording", False) * choice("inputs", *texts(*(f"[{some}]" for some in FIRST)))
WANTED = (
    fixed(ONE)
    * choice("recording", True)
    * choice("inputs", *texts("[x]", "[c, h]", "[2.5, w, c]", "[x, x]", "[c, n, p]"))
)


def node(student, case):
    names = {
        id(x): name
        for name, x in {"None": None, "x": case.x, "w": case.w, "p": case.p, "the node of h": case.h.grad_fn}.items()
    }
    y = case.Scale.apply(*case.inputs, **case.options)
    case.Scale.apply(case.w, case.w, case.x)
    yield
    return {
        "requires_grad": y.requires_grad,
        "forward had this node as ctx": hasattr(y.grad_fn, "got"),
        "its function": y.grad_fn.function.__name__,
        "needs_input_grad": [bool(need) for need in y.grad_fn.needs_input_grad],
        "next_nodes": ", ".join(names.get(id(below), "something else") for below in y.grad_fn.next_nodes),
        "input_shapes": " ".join(str(tuple(shape)) for shape in y.grad_fn.input_shapes),
    }


def result(student, case):
    y = case.Scale.apply(*case.inputs, **case.options)
    yield
    got = ", ".join(type(x).__name__ for x in getattr(y.grad_fn, "got", ()))
    return {"y": y.data, "y is of": f"{type(y).__name__}, {y.data.dtype}", "forward got": got}


def unlinked(student, case):
    with student.GradMode(case.recording):
        y = case.Needs.apply(*case.inputs)
    return {
        "needs_input_grad, in forward": y.data,
        "requires_grad": y.requires_grad,
        "grad_fn is None": y.grad_fn is None,
    }


def kinds(student, case):
    node = case.Scale.apply(*case.inputs).grad_fn
    return {name: type(getattr(node, name)).__name__ for name in ("needs_input_grad", "next_nodes", "input_shapes")}


function_apply.aspect("the node and what it is linked to", 1.5, cases=LINKED, few=22)(node)
function_apply.aspect("the result", 0.75, cases=LINKED, few=16)(result)
function_apply.aspect("nothing is linked where no gradient is needed", 0.5, cases=OFF + CONSTANT + WANTED, few=18)(
    unlinked
)
function_apply.aspect("tuples", 0.25, cases=LINKED, corner=True, few=4)(kinds)


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
for attribute, text in [("needs_input_grad", f"tuple({NEEDED})"), ("next_nodes", NEXT), ("input_shapes", SHAPES)]:
    function_apply.mistake(
        f"{attribute} is a list, not a tuple",
        swap=(text, text.removeprefix("tuple(").removesuffix(")")),
        hint=["What says the docstring that it is?", "`tuple([…])`."],
    )
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
    ctx.next_nodes = tuple(nodes)
    ctx.input_shapes = tuple(x.shape if isinstance(x, (Tensor, np.ndarray)) else () for x in inputs)
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
