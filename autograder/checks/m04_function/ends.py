"""Check 4 of lesson 04: where backward starts, and where it ends."""

import numpy as np

from autograder.checks.cases import array, filled, literal
from autograder.checks.check import exercise
from autograder.checks.m04_function.inputs import texts

function_ends = exercise(
    "function.ends",
    "The root and its gradient; errors where there is none; leaves that add up, and forget.",
    needs=("function.apply", "function.add_mul"),
)
ONE, SEVERAL = ((), (1,), (1, 1)), ((2,), (2, 3), (3, 2), (2, 1), (0,))
KINDS = ("decimals", "whole", "float32")
PICTURE = "type('Picture', (Tensor,), {})"


def tensors(x):
    made = f"{{}}({literal(x)}, requires_grad=True)".format
    return texts(made("Tensor"), f"-{made('Tensor')}", made(PICTURE), f"-{made(PICTURE)}")


def given(x, rng):
    numbers = filled(x.shape, "decimals", rng)
    text, integers = literal(numbers), literal(filled(x.shape, "integers", rng))
    if x.shape == ():
        return texts(f"[{text}]", f"[{numbers}]", f"[Tensor({text})]")
    if not isinstance(numbers, np.ndarray):  # many, which are an expression
        return texts(f"[{text}]", f"[({text}).tolist()]", f"[Tensor({text})]", f"[{integers}]")
    return texts(f"[{text}]", f"[{numbers.tolist()}]", f"[Tensor({text})]", f"[{integers}]")


def unfit(x, rng):
    n = x.size
    shapes = {x.shape[::-1], (*x.shape, 1), (1, *x.shape), (n,), (n + 1,), (1,), (), x.shape[:-1], x.shape[1:]} - {
        x.shape
    }
    wrong = [literal(filled(shape, "decimals", rng)) for shape in sorted(shapes)]
    return texts(*(f"[{text}]" for text in wrong), *(f"[Tensor({text})]" for text in wrong[:2]))


def begin(student, case):
    root, gradient = student.start(case.y, *case.given)
    where = "the tensor" if root is case.y else "its node" if root is case.y.grad_fn else "something else"
    found = {"root": where, "gradient": gradient.data}
    for given in case.given:
        used = "the very tensor" if gradient is given else f"{type(gradient).__name__}, {gradient.data.dtype}"
    return found | {"gradient is": used} if case.given else found


def arrive(student, case):
    x, y = (student.Tensor(case.x, requires_grad=True) for _ in range(2))
    grads = [student.Tensor(grad) for grad in case.grads]
    for grad in grads:
        x.accumulate_grad(grad)
    yield
    y.accumulate_grad(grads[0])
    x.accumulate_grad(grads[-1])
    found = {"x.grad": x.grad.data, "y.grad": y.grad.data, "given": [grad.data for grad in grads]}
    found["memory is shared"] = any(np.shares_memory(one.grad.data, grad.data) for one in (x, y) for grad in grads)
    found["y.grad is what arrived"] = y.grad is grads[0]
    return found | {"x.grad is of": type(x.grad).__name__, "x": x.data}


def forget(student, case):
    x, y = (student.Tensor(case.x, requires_grad=True) for _ in range(2))
    for grad in case.grads[1:]:
        x.accumulate_grad(student.Tensor(grad))
    y.accumulate_grad(student.Tensor(case.grads[0]))
    x.zero_grad()
    forgotten = x.grad is None
    x.accumulate_grad(student.Tensor(case.grads[0]))
    return {"x.grad is None": forgotten, "then": x.grad.data, "y.grad": y.grad.data, "x": x.data}


GRADS = array("x", ((2,), (2, 3), (1,), (3, 2), ()), KINDS[:2]).add(
    grads=lambda x, rng: [
        filled(x.shape, kind, rng) for kind in ("decimals", "whole", "decimals")[: rng.integers(1, 4)]
    ]
)
STARTS = array("x", ONE + SEVERAL, KINDS).each(y=tensors)
ALONE = array("x", ONE, KINDS).where(lambda x: x.size == 1).each(y=tensors, given=lambda: texts("[]"))
UNSAID = array("x", SEVERAL, KINDS).where(lambda x: x.size != 1).each(y=tensors, given=lambda: texts("[]"))
CONSTANT = (
    array("x", ONE + SEVERAL, KINDS[:1])
    .each(y=lambda x: texts(f"Tensor({literal(x)})", f"-Tensor({literal(x)})"))
    .each(given=given)
)

function_ends.aspect("start: the root and its gradient", 1, cases=STARTS.each(given=given) + ALONE, few=24)(begin)
function_ends.aspect("accumulate_grad", 1, cases=GRADS, few=12)(arrive)
function_ends.aspect("zero_grad", 0.25, cases=GRADS, corner=True, few=6)(forget)
function_ends.aspect(
    "start refuses what has no gradient", 0.75, cases=STARTS.each(given=unfit) + UNSAID + CONSTANT, corner=True, few=17
)(begin)


ADD = "self.grad = grad.clone() if self.grad is None else self.grad + grad"

function_ends.mistake(
    "a gradient overwrites the one before",
    swap=(ADD, "self.grad = grad.clone()"),
    hint=["A weight that is used in two losses: what is its gradient?", "Add, if there is one already."],
)
function_ends.mistake(
    "the leaf keeps the very tensor that arrived",
    swap=(ADD, "self.grad = grad if self.grad is None else self.grad + grad"),
    hint=["Add hands the same tensor to both of its inputs. Who else may hold it?", "A copy: `grad.clone()`."],
)
function_ends.mistake(
    "the leaf keeps the tensor that arrived, and adds into it in place",
    swap=(ADD, "if self.grad is None:\n        self.grad = grad\n    else:\n        self.grad.data += grad.data"),
    hint=[
        "x and y get the same gradient tensor. Then x gets more. What has y?",
        "A copy at first, `grad.clone()`, and a new sum after.",
    ],
)
function_ends.mistake(
    "the memory is shared: wrapped, not copied",
    swap=("grad.clone() if", "Tensor.wrap(grad.data) if"),
    hint=["A new tensor around the same array: what happens to it when the array changes?", "`grad.clone()` copies."],
)
function_ends.mistake(
    "the first gradient is counted twice",
    swap=(ADD, "if self.grad is None:\n        self.grad = grad.clone()\n    self.grad = self.grad + grad"),
    hint=["Follow the first call: which lines run?", "Either set it or add to it: `else`."],
)
function_ends.mistake(
    "zero_grad sets zeros, not None",
    swap=("    self.grad = None", "    self.grad = Tensor(np.zeros_like(self.data))"),
    hint=["What does the docstring say that it is again?", "`self.grad = None`."],
)
function_ends.mistake(
    "zero_grad does nothing for good: it makes a local name",
    swap=("    self.grad = None", "    grad = None"),
    hint=["`grad = None` names a local variable.", "`self.grad = None`."],
)
function_ends.mistake(
    "for several numbers ones are taken, without an error",
    swap=("if tensor.size != 1:", "if False:"),
    hint=[
        "∂L/∂y = 1 for each number: that is the sum's gradient. Who said that L is the sum?",
        "RuntimeError if size is not 1.",
    ],
)
function_ends.mistake(
    "only shape () counts as one number",
    swap=("if tensor.size != 1:", "if tensor.ndim != 0:"),
    hint=["How many numbers are in a tensor of shape (1, 1)?", "`tensor.size`."],
)
function_ends.mistake(
    "what requires no gradient is not refused",
    swap=("if not tensor.requires_grad:", "if False:"),
    hint=[
        "A constant has no graph behind it. Silence would look like success.",
        "RuntimeError if not tensor.requires_grad.",
    ],
)
function_ends.mistake(
    "a gradient of another shape is not refused",
    swap=("if gradient.shape != tensor.shape:", "if False:"),
    hint=[
        "y is (3, 2), the gradient (2,): it would even broadcast, and mean something else.",
        "ValueError if the shapes differ.",
    ],
)
function_ends.mistake(
    "only the number of numbers is compared, not the shape",
    swap=("gradient.shape != tensor.shape", "gradient.size != tensor.size"),
    hint=["(2, 3) and (3, 2) hold six numbers each.", "Compare `shape`."],
)
function_ends.mistake(
    "the gradient that is given is ignored: ones are taken",
    swap=(
        "    if not isinstance(gradient, Variable):\n        gradient = tensor.wrap(np.array(gradient, tensor.dtype))\n",
        "    gradient = tensor.wrap(np.ones(np.shape(raw(gradient))))\n",
    ),
    hint=["backward([1, 10]) shall count the second number ten times.", "`np.array(gradient, tensor.dtype)`."],
)
function_ends.mistake(
    "the root is the tensor, though a node computed it",
    swap=("tensor.grad_fn or tensor", "tensor"),
    hint=["A computed tensor is no part of the graph: the graph is made of nodes.", "`tensor.grad_fn or tensor`."],
)
function_ends.mistake(
    "a leaf is refused a root: its grad_fn is None",
    swap=("tensor.grad_fn or tensor", "tensor.grad_fn"),
    hint=["x.backward(g) of a leaf x: who gets g?", "`tensor.grad_fn or tensor`."],
)
function_ends.variant(
    "NumPy asks the tensor for its dtype", swap=("np.array(gradient, tensor.dtype)", "np.array(gradient, tensor)")
)
function_ends.variant(
    "in long form; adds in place, into a copy of its own",
    source="""
def start(tensor, gradient=None):
    if tensor.requires_grad is False:
        raise RuntimeError("no gradient is wanted")
    if gradient is not None:
        gradient = gradient if isinstance(gradient, Tensor) else tensor.wrap(np.array(gradient, tensor.dtype))
        if tuple(gradient.shape) != tuple(tensor.shape):
            raise ValueError("another shape")
    elif math.prod(tensor.shape) == 1:
        gradient = Tensor(np.full(tensor.shape, 1.0))
    else:
        raise RuntimeError("which gradient?")
    if tensor.is_leaf:
        return tensor, gradient
    return tensor.grad_fn, gradient


@add_to_class(Tensor)
def accumulate_grad(self, grad):
    if self.grad is None:
        self.grad = Tensor.wrap(grad.data.copy())
    else:
        self.grad.data += grad.data


@add_to_class(Tensor)
def zero_grad(self):
    self.grad = None
""",
)
function_ends.variant(
    "from zeros, with plain arrays; a list is returned",
    source="""
def start(tensor, gradient=None):
    if not tensor.requires_grad or (gradient is None and tensor.data.size != 1):
        raise RuntimeError("backward is not possible from here")
    array = np.ones(tensor.shape) if gradient is None else raw(gradient)
    if np.shape(array) != tensor.shape:
        raise ValueError("the shapes differ")
    if not isinstance(gradient, Tensor):
        gradient = type(tensor)(np.asarray(array, dtype=tensor.dtype))
    return [tensor if tensor.grad_fn is None else tensor.grad_fn, gradient]


@add_to_class(Tensor)
def accumulate_grad(self, grad):
    before = np.zeros(self.shape) if self.grad is None else self.grad.data
    self.grad = Tensor(before + grad.data)


@add_to_class(Tensor)
def zero_grad(self):
    self.__dict__["grad"] = None
""",
)
