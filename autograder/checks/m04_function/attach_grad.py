"""Check 10 of lesson 04: the engine with MXNet's manners."""

import numpy as np

from autograder.checks.check import check


@check("function.attach_grad", points=3, needs=("function.apply", "function.ends", "function.backward"))
def function_attach_grad(student, rng, tools):
    """attach_grad, what backward overwrites or adds, and the head gradient."""
    x_data, w_data, head = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))

    def array(data=x_data, *request):
        x = student.NDArray(data)
        x.attach_grad(*request)
        return x

    def room():
        x = array()
        before = x.grad.data.copy()
        (x * w_data).backward(head)
        return [*before.ravel(), isinstance(x.grad, student.Tensor), x.requires_grad, x.is_leaf, *x.grad.data.ravel()]

    def room_alone():
        x = array()
        return [x.grad is None, isinstance(x.grad, student.Tensor), x.data[0, 0]]

    def asked_by_hand():
        """grad_req is set as an attribute."""
        x = array()
        x.grad_req = "add"
        (x * w_data).backward(head)
        (x * x).backward(w_data)
        return x.grad.data

    def twice(*request):
        x = array(x_data, *request)
        (x * w_data).backward(head)
        (x * x).backward(w_data)
        return x.grad.data

    def both_in_one():
        """x is used twice in one program: overwriting is for the next backward."""
        x = array()
        (x * w_data + x * x).backward(head)
        return x.grad.data

    def without():
        x, w = array(x_data, "null"), array(w_data)
        (x * w).backward(head)
        return [x.requires_grad, x.grad is None, *w.grad.data.ravel()]

    def taken_back():
        """First "write", then "null"."""
        x = array()
        x.attach_grad("null")
        out = x * w_data
        return [out.requires_grad, x.grad is None, *out.data.ravel()]

    def afresh():
        """attach_grad once more: zeros again, and with "add" it goes on from there."""
        x = array()
        (x * w_data).backward(head)
        x.attach_grad("add")
        zeros = x.grad.data.copy()
        (x * w_data).backward(head)
        return [*zeros.ravel(), *x.grad.data.ravel()]

    def in_the_middle():
        """attach_grad to a result cuts it from its graph: it is a leaf from now on."""
        x = array()
        h = x * w_data
        h.attach_grad()
        (h * h).backward(head)
        return [h.is_leaf, *h.grad.data.ravel(), *x.grad.data.ravel()]

    def heads(given, f=lambda x: x * x):
        x = array()
        f(x).backward(given) if given is not None else f(x).backward()
        return x.grad.data

    def retained():
        x = array(x_data, "add")
        y = x * w_data
        y.backward(head, retain_graph=True)
        y.backward(head)
        return x.grad.data

    def freed():
        """Without retain_graph a second backward is refused (1)."""
        x = array()
        y = x * w_data
        y.backward(head)
        try:
            y.backward(head)
        except RuntimeError as error:
            if isinstance(error, NotImplementedError):
                raise
            return [1, *x.grad.data.ravel()]
        return [0, *x.grad.data.ravel()]

    def refused():
        x = student.NDArray(x_data)
        try:
            x.attach_grad("overwrite")
        except ValueError:
            return [1, x.data[0, 0]]
        return [0, x.data[0, 0]]

    def two_arrays():
        x, w = array(), array(w_data, "add")
        for _ in range(2):
            (x * w).backward(head)
        return [*x.grad.data.ravel(), *w.grad.data.ravel()]

    def afterwards():
        x, given = array(), head.copy()
        (x * w_data).backward(given)
        return [*x.data.ravel(), *given.ravel()]

    return {
        "input": f"x = {np.round(x_data, 3).tolist()}, w = {np.round(w_data, 3).tolist()}, head = {np.round(head, 3).tolist()}",
        "zeros at first; is it a Tensor, requires_grad, leaf; after backward": room,
        "after attach_grad: is grad None, is it a Tensor": room_alone,
        "two backwards": twice,
        'two backwards, grad_req="write"': lambda: twice("write"),
        'two backwards, grad_req="add"': lambda: twice("add"),
        'two backwards, x.grad_req = "add"': asked_by_hand,
        "x used twice in one program": both_in_one,
        'grad_req="null": requires_grad, grad is None; for w': without,
        'first "write", then "null"': taken_back,
        'attach_grad("add") after a backward: zeros; then': afresh,
        "attach_grad to a result: is it a leaf; its gradient, that of x": in_the_middle,
        "x · x without a head gradient": lambda: heads(None),
        "x · x with a head gradient": lambda: heads(head),
        "one number, without a head gradient": lambda: heads(None, lambda x: (x * w_data).sum()),
        "retain_graph, add: two backwards": retained,
        "is a second backward refused; the gradient": freed,
        'grad_req="overwrite": ValueError': refused,
        "two arrays, write and add": two_arrays,
        "x and head afterwards": afterwards,
    }


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
