"""Check 4 of lesson 04: where backward starts, and where it ends."""

import numpy as np

from autograder.checks.check import check


@check("function.ends", points=3, needs=("function.apply", "function.add_mul"))
def function_ends(student, rng, tools):
    """The root and its gradient; errors where there is none; leaves that add up, and forget."""
    x_data, grad, more = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    one = rng.normal(size=(1, 1))

    def leaf(data=x_data):
        return student.Tensor(data, requires_grad=True)

    def start(tensor, *gradient):
        root, gradient = student.start(tensor, *gradient)
        if not isinstance(gradient, student.Tensor):
            raise TypeError(f"start returned a {type(gradient).__name__} as the gradient, not a Tensor")
        return root, gradient

    def given(gradient):
        return start(leaf(), gradient)[1]

    def root_of_leaf():
        x = leaf()
        root, gradient = start(x, grad)
        return [root is x, *gradient.data.ravel()]

    def root_of_result():
        y = leaf() * x_data
        root, gradient = start(y, grad)
        return [root is y.grad_fn, *gradient.data.ravel()]

    def is_tensor():
        return [
            *given(grad).data.ravel(),
            *[isinstance(given(g), student.Tensor) for g in (grad, grad.tolist(), student.Tensor(grad))],
        ]

    def of_one_number(data):
        x = student.Tensor(data, requires_grad=True)
        gradient = start(x * 2.0)[1]
        return [
            *np.ravel(gradient.data),
            gradient.ndim,
            isinstance(gradient, student.Tensor),
            float(np.ravel(x.data)[0]),
        ]

    def refuses(run, error):
        """1 if it raises that error, and 0 or another error if not; with numbers that change."""
        try:
            run()
        except error as raised:
            if isinstance(raised, NotImplementedError):  # an exercise that is not written yet is no answer
                raise
            return [1, *x_data.ravel()]
        return [0, *x_data.ravel()]

    def constant():
        return student.start(student.Tensor(x_data), grad)

    def constant_number():
        return student.start(student.Tensor(one))

    def added(*grads):
        x = leaf()
        for g in grads:
            x.accumulate_grad(student.Tensor(g))
        return x.grad

    def arrived():
        """What arrived, after it was given to two leaves, and one of them got more."""
        shared, later = student.Tensor(grad), student.Tensor(more)
        x, y = leaf(), leaf()
        x.accumulate_grad(shared)
        y.accumulate_grad(shared)
        x.accumulate_grad(later)
        return [*shared.data.ravel(), *later.data.ravel(), *y.grad.data.ravel(), *x.grad.data.ravel()]

    def own_memory():
        shared = student.Tensor(grad)
        x = leaf()
        x.accumulate_grad(shared)
        return [
            x.grad is shared,
            np.shares_memory(x.grad.data, shared.data),
            isinstance(x.grad, student.Tensor),
            *x.grad.data.ravel(),
        ]

    def forgotten():
        x = leaf()
        x.accumulate_grad(student.Tensor(grad))
        before = x.grad.data.copy()
        x.zero_grad()
        none = x.grad is None
        x.accumulate_grad(student.Tensor(more))
        return [none, *before.ravel(), *x.grad.data.ravel()]

    def never_had_one():
        x = leaf()
        x.zero_grad()
        return [x.grad is None, *x.data.ravel()]

    return {
        "input": f"x = {np.round(x_data, 3).tolist()}, gradients {np.round(grad, 3).tolist()} and {np.round(more, 3).tolist()}",
        "start of a leaf: is it the root; the gradient": root_of_leaf,
        "start of a product: is its node the root; the gradient": root_of_result,
        "the gradient given as array, list, tensor: is it a Tensor": is_tensor,
        "one number, no gradient given": lambda: of_one_number(one[0, 0]),
        "shape (1, 1), no gradient given": lambda: of_one_number(one),
        "six numbers, no gradient: RuntimeError": lambda: refuses(lambda: student.start(leaf()), RuntimeError),
        "no gradient required: RuntimeError": lambda: refuses(constant, RuntimeError),
        "one number, no gradient required: RuntimeError": lambda: refuses(constant_number, RuntimeError),
        "gradient of shape (2, 3): ValueError": lambda: refuses(lambda: given(grad.T), ValueError),
        "gradient of shape (2,): ValueError": lambda: refuses(lambda: given(grad[0]), ValueError),
        "a first gradient": lambda: added(grad).data,
        "two gradients": lambda: added(grad, more).data,
        "three gradients": lambda: added(grad, more, grad).data,
        "what arrived, and the other leaf": arrived,
        "does the leaf keep what arrived, share its memory": own_memory,
        "zero_grad, then another gradient": forgotten,
        "zero_grad before any gradient": never_had_one,
    }


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
        gradient = gradient if isinstance(gradient, Tensor) else Tensor(np.array(gradient, tensor.dtype))
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
    if not tensor.requires_grad or (gradient is None and tensor.data.size > 1):
        raise RuntimeError("backward is not possible from here")
    array = np.ones(tensor.shape) if gradient is None else np.asarray(raw(gradient), dtype=tensor.dtype)
    if array.shape != tensor.shape:
        raise ValueError("the shapes differ")
    return [tensor if tensor.grad_fn is None else tensor.grad_fn, Tensor(array)]


@add_to_class(Tensor)
def accumulate_grad(self, grad):
    before = np.zeros(self.shape) if self.grad is None else self.grad.data
    self.grad = Tensor(before + grad.data)


@add_to_class(Tensor)
def zero_grad(self):
    self.__dict__["grad"] = None
""",
)
