"""Check 3 of lesson 07: parameters, gradients, and what an optimizer remembers."""

from autograder.checks.check import exercise
from autograder.checks.programs import pick, printed, scripts

memory_state = exercise("memory.state", "Bytes of parameters, gradients and an optimizer's arrays.")

SHAPES = ("(3, 4)", "(5,)", "(2, 3), np.float32", "(1,)", "(4, 1), np.float32", "(2, 2)")
KINDS = ("SGD({}, lr=0.1)", "SGD({}, lr=0.1, momentum=0.9)", "Adam({}, lr=0.1)", "Adam({}, lr=0.1)")
ODD = (
    "{'m': np.zeros((2, 3)), 'step': 4}",
    "{}",
    "{'mask': np.zeros(7, bool)}",
    "{'m': np.zeros(3, np.float32), 'v': np.zeros(5), 'rate': 0.1}",
)
STEP = ["optimizer.zero_grad()", "for p in used:", "    (p * p).sum().backward()", "optimizer.step()"]


def made(shapes):
    return [f"ps = [{', '.join(f'Tensor(np.ones({shape}), requires_grad=True)' for shape in shapes)}]"]


def stepped(shapes, kind, steps, used="ps", after=()):
    return [*made(shapes), f"optimizer, used = {kind.format('ps')}, {used}", *STEP * steps, *after]


def odd(shapes, states):
    """An optimizer of another kind."""
    lines = [*made(shapes), "(ps[0] * 2.0).sum().backward()", "optimizer = SGD(ps, lr=0.1)"]
    return [*lines, f"optimizer.state = [{', '.join(states)}]"]


def drawn(rng):
    shapes = [pick(rng, SHAPES) for _ in range(rng.integers(1, 5))]
    if rng.random() < 0.3:
        return odd(shapes, [pick(rng, ODD) for _ in shapes])
    after = pick(rng, ([], [], ["optimizer.zero_grad()"], ["ps[0].grad = None"]))
    return stepped(
        shapes, pick(rng, KINDS), int(rng.integers(0, 4)), pick(rng, ("ps", "ps", "ps[1:]", "ps[:1]")), after
    )


SMALL = [
    stepped(SHAPES[:n], kind, steps, used)
    for n in (1, 2, 3)
    for kind in KINDS[:3]
    for steps, used in ((1, "ps"), (0, "ps"), (1, "ps[1:]"), (2, "ps"))
]
SMALL += [odd(SHAPES[:2], ODD[i : i + 2]) for i in range(3)] + [
    stepped(SHAPES[:2], KINDS[2], 1, "ps", ["optimizer.zero_grad()"])
]

for place, (name, points) in enumerate((("parameters", 0.5), ("gradients", 0.75), ("the optimizer's arrays", 0.75))):
    line = f"print(training_bytes(optimizer)[{place}])"
    memory_state.aspect(
        name, points, cases=scripts([[*lines, line] for lines in SMALL], lambda rng, line=line: [*drawn(rng), line])
    )(printed)


memory_state.mistake(
    "numbers are counted, not bytes",
    swap=[("p.data.nbytes", "p.data.size"), ("p.grad.data.nbytes", "p.grad.data.size"), ("array.nbytes", "array.size")],
    hint=["One parameter is float64, the others are float32.", "`nbytes`, not `size`."],
)
memory_state.mistake(
    "every number is taken for four bytes",
    swap=[
        ("p.data.nbytes", "4 * p.data.size"),
        ("p.grad.data.nbytes", "4 * p.grad.data.size"),
        ("array.nbytes", "4 * array.size"),
    ],
    hint=["One parameter is float64.", "`nbytes` knows the type."],
)
memory_state.mistake(
    "a gradient that is None is asked for its array",
    swap=(" if p.grad is not None", ""),
    hint=["What is p.grad before the first backward?", "Leave out the parameters whose `grad` is None."],
)
memory_state.mistake(
    "gradients are taken to be there, as large as the parameters",
    swap=(
        "gradients = sum(p.grad.data.nbytes for p in optimizer.parameters if p.grad is not None)",
        "gradients = parameters",
    ),
    hint=["And before the first backward, or after zero_grad?", "Look at each `p.grad`."],
)
memory_state.mistake(
    "the count of steps is counted as memory",
    swap=[
        ("if isinstance(value, np.ndarray)]", "]"),
        ("array.nbytes for array in arrays", "np.asarray(array).nbytes for array in arrays"),
    ],
    hint=["What else is in Adam's dict, besides m and v?", "Only what is an np.ndarray counts."],
)
memory_state.mistake(
    "sys.getsizeof measures the state's dict, not its arrays",
    source="""
import sys

def training_bytes(optimizer):
    parameters = sum(p.data.nbytes for p in optimizer.parameters)
    gradients = sum(p.grad.data.nbytes for p in optimizer.parameters if p.grad is not None)
    return parameters, gradients, sum(sys.getsizeof(state) for state in optimizer.state)
""",
    hint=[
        "getsizeof of a dict is the dict alone, not what is in it.",
        "Go over `state.values()`, and ask each array for `nbytes`.",
    ],
)
memory_state.mistake(
    "sys.getsizeof of the tensor's array adds Python's own bytes",
    swap=("sum(p.data.nbytes for", "sum(p.data.__sizeof__() for"),
    hint=["Your numbers are a little too large, by the same for each array.", "`nbytes` is the numbers alone."],
)
memory_state.mistake(
    "m and v are taken to be there",
    swap=(
        "sum(array.nbytes for array in arrays)",
        "sum(state['m'].nbytes + state['v'].nbytes for state in optimizer.state)",
    ),
    hint=[
        "What is in the dict before the first step? And with SGD?",
        "Go over `state.values()`, whatever the names are.",
    ],
)
memory_state.mistake(
    "tensors are looked for in the state, where arrays are",
    swap=[("isinstance(value, np.ndarray)", "isinstance(value, Tensor)")],
    hint=["What does the docstring say is in the dict?", "`isinstance(value, np.ndarray)`."],
)
memory_state.mistake(
    "one sum comes back, not three",
    swap=(
        "return parameters, gradients, sum(array.nbytes for array in arrays)",
        "return parameters + gradients + sum(array.nbytes for array in arrays)",
    ),
    hint="Parameters, gradients and state, three numbers: the first line of the docstring.",
)
memory_state.mistake(
    "only one of the two arrays of Adam is counted",
    swap=("for value in state.values()", "for value in [v for k, v in state.items() if k != 'm']"),
    hint=["Adam has m and v.", "All values of each dict that are arrays."],
)
memory_state.mistake(
    "only the first parameter's state is counted",
    swap=("for state in optimizer.state ", "for state in optimizer.state[:1] "),
    hint=[
        "`optimizer.state` is a list, one dict for each parameter.",
        "Loop over the list, and in each dict over its values.",
    ],
)
memory_state.mistake(
    "Adam is taken for granted: twice the parameters, whatever the optimizer is",
    swap=(
        "return parameters, gradients, sum(array.nbytes for array in arrays)",
        "return parameters, gradients, 2 * parameters",
    ),
    hint=["What does plain SGD remember? And Adam before its first step?", "Look into `optimizer.state`."],
)
memory_state.variant(
    "loops",
    source="""
def training_bytes(optimizer):
    sizes = [0, 0, 0]
    for p, state in zip(optimizer.parameters, optimizer.state):
        sizes[0] += p.data.nbytes
        if p.grad is not None:
            sizes[1] += p.grad.data.nbytes
        for value in state.values():
            if hasattr(value, "nbytes"):
                sizes[2] += value.nbytes
    return sizes
""",
)
memory_state.variant(
    "size times itemsize",
    source="""
def training_bytes(optimizer):
    def size(a):
        return a.size * a.dtype.itemsize

    tensors = optimizer.parameters
    state = [np.asarray(v) for s in optimizer.state for v in s.values() if not isinstance(v, (int, float))]
    return tuple([sum(map(size, [p.data for p in tensors])),
                     sum(size(p.grad) for p in tensors if p.grad is not None),
                     sum(map(size, state))])
""",
)
memory_state.variant("a gradient is as large as its parameter", swap=("p.grad.data.nbytes", "p.data.nbytes"))
