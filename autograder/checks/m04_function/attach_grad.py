"""Check 10 of lesson 04: the engine with MXNet's manners."""

import numpy as np

from autograder.checks.cases import array
from autograder.checks.check import exercise
from autograder.checks.m04_function.inputs import lists

function_attach_grad = exercise(
    "function.attach_grad",
    "attach_grad, what backward overwrites or adds, and the head gradient.",
    needs=("function.apply", "function.ends", "function.backward"),
)


def script(student, case):
    """What x and w are after each step, and what the step gave."""
    x, w, found = student.NDArray(case.x), student.NDArray(2 - case.x), {}
    w.attach_grad()
    for i, step in enumerate(case.steps):
        made = step(x, w)
        for name, one in (("x", x), ("w", w), ("what it gave", made)):
            if isinstance(one, student.NDArray):
                grad = one.grad
                found[f"{i}: {name}"] = {
                    "grad": grad if grad is None else np.array(student.raw(grad)),
                    "grad is a Tensor": isinstance(grad, student.Tensor),
                    "requires_grad": one.requires_grad,
                    "is a leaf": one.grad_fn is None,
                }
        yield
    return found | {"x": x.data}


def steps(*small, parts=()):
    """The first step attaches; H is a head gradient of x's shape."""
    said = ["lambda x, w: " + ", lambda x, w: ".join(script) for script in small]
    drawn = [f"lambda x, w: {part}" for part in parts or sorted({step for script in small for step in script})]
    return array("x", ((2,), (2, 3), (1,)), ("decimals", "whole")) * lists("steps", said, drawn, 5)


H = "np.arange(x.size).reshape(x.shape) - 1.5"
WRITE, ADD, NULL = "x.attach_grad()", "x.attach_grad('add')", "x.attach_grad('null')"
ONCE, SQUARE, BOTH, SUM = (
    f"(x * w).backward({H})",
    f"(x * x).backward({H})",
    f"(x * w + x * x).backward({H})",
    "(x * w).sum().backward()",
)
BY_HAND, W_ADDS = "setattr(x, 'grad_req', 'add')", "w.attach_grad('add')"
GRADS = steps(
    (WRITE, ONCE), (WRITE, BY_HAND, ONCE, SQUARE), (WRITE, ONCE, SQUARE), (ADD, ONCE, SQUARE), (WRITE, BOTH, BOTH), (ADD, BOTH, WRITE, ONCE),
    (WRITE, ONCE, ADD, ONCE, ONCE), (WRITE, W_ADDS, ONCE, ONCE), ("x.attach_grad('write')", ONCE, ONCE), (ADD, ONCE, ADD, SQUARE),
    parts=(WRITE, ADD, ONCE, SQUARE, BOTH, W_ADDS),
)  # fmt: skip
ROOM = steps(
    (WRITE,),
    (ADD,),
    (WRITE, WRITE),
    (WRITE, SQUARE, WRITE),
    (f"[h := w * w, h.attach_grad(), (h * h).backward({H})][0]",),
    (W_ADDS,),
)
HEADS = steps(
    (WRITE, "(x * x).backward()"), (WRITE, SQUARE), (WRITE, SUM), (WRITE, "(x * w).backward(None)"), (ADD, "x.backward()"),
    (WRITE, f"(x * x).backward(({H}).tolist())"), (WRITE, f"(x * x).backward(out_grad={H})"), (ADD, "(x * x).backward()", SQUARE),
)  # fmt: skip
NONE = steps(
    (NULL,),
    (NULL, ONCE),
    (WRITE, NULL, ONCE),
    (WRITE, ONCE, NULL, "x * 2.0"),
    (NULL, ADD, ONCE),
    (ADD, NULL, WRITE, SQUARE),
)
AGAIN = f"[y := x * w, y.backward({H}, {{}}), y.backward()][0]".format
RETAINED = steps(
    (ADD, AGAIN("True")), (WRITE, AGAIN("retain_graph=True")), (WRITE, AGAIN("False")), (WRITE, AGAIN("retain_graph=False")),
    ("x.attach_grad('overwrite')",), (WRITE, "x.attach_grad('Add')"), ("x.attach_grad(None)",), ("x.attach_grad('')",), (WRITE, "x.attach_grad(True)"),
)  # fmt: skip

function_attach_grad.aspect("write and add", 1, cases=GRADS, few=16)(script)
function_attach_grad.aspect("room for a gradient", 0.5, cases=ROOM, few=8)(script)
function_attach_grad.aspect("the head gradient", 0.75, cases=HEADS, few=12)(script)
function_attach_grad.aspect("null", 0.25, cases=NONE, few=8)(script)
function_attach_grad.aspect("retained or refused", 0.5, cases=RETAINED, corner=True, few=16)(script)


function_attach_grad.mistake(
    "backward adds, as PyTorch does",
    swap=('        if self.grad_req == "write":\n            self.grad = None\n', ""),
    hint=[
        'Two backwards, grad_req is "write". What is left of the first?',
        "Forget the old gradient before the new one is added.",
    ],
)
function_attach_grad.mistake(
    'overwritten also where "add" was asked for',
    swap=('if self.grad_req == "write":', "if True:"),
    hint=["What is `self.grad_req`?", 'Overwrite only if it is "write".'],
)
function_attach_grad.mistake(
    'grad_req is not noted, so it is always "write"',
    swap=("        self.grad_req = grad_req\n", ""),
    hint=["accumulate_grad reads self.grad_req. Who sets it?", "`self.grad_req = grad_req`."],
)
function_attach_grad.mistake(
    "the room is None, not zeros",
    swap=("self.grad = Tensor(np.zeros_like(self.data)) if self.requires_grad else None", "self.grad = None"),
    hint=["What is x.grad right after attach_grad?", "A Tensor of zeros, of the shape of x."],
)
function_attach_grad.mistake(
    "the room holds ones",
    swap=("Tensor(np.zeros_like(self.data))", "Tensor(np.ones_like(self.data))"),
    hint=['With "add", everything starts from there.', "Zeros."],
)
function_attach_grad.mistake(
    "the room is a plain array",
    swap=("Tensor(np.zeros_like(self.data))", "np.zeros_like(self.data)"),
    hint=["grad is a tensor, with `.data` and a `+` of its own.", "`Tensor(np.zeros_like(…))`."],
)
function_attach_grad.mistake(
    '"null" asks for a gradient all the same',
    swap=('self.requires_grad_(grad_req != "null")', "self.requires_grad_(True)"),
    hint=['Who wants the gradient of an array with "null"?', "requires_grad is False there, and grad is None."],
)
function_attach_grad.mistake(
    "no gradient is asked for: requires_grad stays False",
    swap=('        self.requires_grad_(grad_req != "null")\n', ""),
    hint=["How does apply know that x wants a gradient?", '`self.requires_grad_(True)`, except for "null".'],
)
function_attach_grad.mistake(
    "a result stays in its graph: it is no leaf",
    swap=("        self.grad_fn = None\n", ""),
    hint=["attach_grad on a computed array: where does backward go on from it?", "`self.grad_fn = None`."],
)
function_attach_grad.mistake(
    "the head gradient that is given is ignored",
    swap=(
        "        if out_grad is None:\n            out_grad = np.ones_like(self.data)\n",
        "        out_grad = np.ones_like(self.data)\n",
    ),
    hint=["When are ones taken?", "Only if out_grad is None."],
)
function_attach_grad.mistake(
    "without a head gradient, nothing is put in its place",
    swap=("        if out_grad is None:\n            out_grad = np.ones_like(self.data)\n", ""),
    hint=["Tensor's backward refuses several numbers without a gradient. MXNet does not.", "Ones of this shape."],
)
function_attach_grad.mistake(
    "without a head gradient, the mean is taken",
    swap=("out_grad = np.ones_like(self.data)", "out_grad = np.ones_like(self.data) / self.size"),
    hint=["As if you had summed: what is each number worth?", "Ones, not ones / size."],
)
function_attach_grad.mistake(
    "retain_graph is not handed on",
    swap=("super().backward(out_grad, retain_graph, **options)", "super().backward(out_grad)"),
    hint=[
        "backward(head, retain_graph=True), and then once more.",
        "`super().backward(out_grad, retain_graph, **options)`.",
    ],
)
function_attach_grad.mistake(
    "an unknown grad_req is let through",
    swap=('if grad_req not in ("write", "add", "null"):', "if False:"),
    hint=["A slip of the pen in grad_req would be silent.", "ValueError for what is none of the three."],
)
function_attach_grad.variant(
    "the three in another order", swap=('("write", "add", "null")', '("null", "add", "write")')
)
function_attach_grad.variant(
    "in other words, without super in accumulate_grad",
    source="""
class NDArray(Tensor):
    grad_req = "write"

    def attach_grad(self, grad_req="write"):
        kinds = {"write": True, "add": True, "null": False}
        if grad_req not in kinds:
            raise ValueError(f"grad_req: one of {list(kinds)}")
        self.requires_grad, self.grad_req, self.grad_fn = kinds[grad_req], grad_req, None
        if kinds[grad_req]:
            self.grad = NDArray(0 * self.data)
        else:
            self.grad = None

    def accumulate_grad(self, grad):
        if self.grad_req == "add" and self.grad is not None:
            self.grad = Tensor(self.grad.data + grad.data)
        else:
            self.grad = Tensor(grad)

    def backward(self, out_grad=None, retain_graph=False):
        head = Tensor(np.ones(self.shape)) if out_grad is None else out_grad
        Tensor.backward(self, gradient=head, retain_graph=retain_graph)
""",
)
function_attach_grad.variant(
    "zero_grad, and a dict of requests",
    source="""
class NDArray(Tensor):
    grad_req = "write"

    def attach_grad(self, grad_req="write"):
        self.grad_fn = None
        self.zero_grad()
        if grad_req == "null":
            self.requires_grad = False
        elif grad_req in {"write", "add"}:
            self.requires_grad = True
            self.grad = Tensor(np.zeros(self.shape))
        else:
            raise ValueError(grad_req)
        self.grad_req = grad_req

    def accumulate_grad(self, grad):
        if self.grad_req != "add":
            self.zero_grad()
        super().accumulate_grad(grad)

    def backward(self, out_grad=None, retain_graph=False):
        if out_grad is None and self.size == 1:
            return super().backward(retain_graph=retain_graph)
        return super().backward(np.ones(self.shape) if out_grad is None else out_grad, retain_graph)
""",
)
