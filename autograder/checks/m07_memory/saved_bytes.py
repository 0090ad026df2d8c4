"""Check 1 of lesson 07: the bytes that a graph keeps."""

import numpy as np

from autograder.checks.cases import choice
from autograder.checks.check import exercise
from autograder.checks.programs import pick, printed, scripts

memory_saved_bytes = exercise("memory.saved_bytes", "The bytes that a graph keeps.")

LEAVES = (
    "{} = Tensor(np.ones((3, 4)), requires_grad=True)",
    "{} = Tensor(np.ones((3, 4), np.float32), requires_grad=True)",
    "{} = Tensor(np.arange(12.0).reshape(3, 4), requires_grad=True)",
    "{} = Tensor(np.ones((3, 4)))",
)
STEPS = (
    "{a} * {b}", "{a}.exp()", "{a} + {b}", "{a}.reshape(4, 3).exp().reshape(3, 4)", "{a}.mT.mT", "{a} * {a}", "{a}[1:].sum() * {b}",
    "{a}.reshape(12).tanh().reshape(3, 4)", "{a}.relu()", "({a} @ {b}.mT) @ {b}", "dropout({a}, 0.5)", "{a} * 3.0", "{a}.sigmoid() * {a}",
)  # fmt: skip


def graph(rng):
    lines, names = [pick(rng, LEAVES[:3]).format("x"), pick(rng, LEAVES).format("w")], ["x", "w"]
    for name in "abcd"[: rng.integers(1, 5)]:
        lines.append(f"{name} = {pick(rng, STEPS).format(a=pick(rng, names), b=pick(rng, names))}")
        names.append(name)
    return lines, names


def counted(rng):
    lines, names = graph(rng)
    return [*lines, f"print(saved_bytes({names[-1]}))", f"print(saved_bytes({pick(rng, names)}.sum()))"]


def without(rng):
    lines, names = graph(rng)
    views = [f"{a}{pick(rng, ('', '', '.mT', '.reshape(12)', '[:2]'))}" for a in names if rng.random() < 0.5]
    brackets = pick(rng, ("[{}]", "({},)")) if views else "[{}]"
    return [
        *lines,
        f"print(saved_bytes({names[-1]}, {brackets.format(', '.join(views))}))",
        f"print(saved_bytes({names[-1]}))",
    ]


X, W = "x = Tensor(np.ones((3, 5)), requires_grad=True)", "w = Tensor(np.ones((5, 2), np.float32), requires_grad=True)"
TWIN = "y = Tensor(np.ones((3, 5)), requires_grad=True)"
COUNTED = [
    [X, W, "print(saved_bytes(x @ w))"], [X, "print(saved_bytes((x * x).exp() * x))"], [X, "print(saved_bytes(x))"],
    [X, TWIN, "print(saved_bytes(x * y))"], [X, TWIN, "print(saved_bytes(x + y))"], [X, "print(saved_bytes(x.mT.exp() * x.mT))"],
    [X, "print(saved_bytes(x[1:] * x[:2]))"], [X, "h = (x + 1.0)[1:]", "print(saved_bytes(h * h))"],
    [X, "print(saved_bytes(dropout(x, 0.5)))"], [X, "y = (x * x).exp().sum()", "y.backward()", "print(saved_bytes(y))"],
]  # fmt: skip
WITHOUT = [
    [X, W, "print(saved_bytes(x @ w, [w]))"], [X, W, "print(saved_bytes(x @ w, without=[w, x]))"], [X, "print(saved_bytes(x.exp(), [x]))"],
    [X, "print(saved_bytes((x * x.mT.mT).exp(), [x.reshape(15)]))"], [X, "print(saved_bytes(x, [x]))"], [X, TWIN, "print(saved_bytes(x * x, [y]))"],
    [X, W, "print(saved_bytes(x[:, :2] @ w[:2], [w]))"], [X, "y = (x * x).exp()", "print(saved_bytes(y, [x]))", "print(saved_bytes(y))", "print(saved_bytes(y, (x,)))"],
]  # fmt: skip

memory_saved_bytes.aspect("shared memory counts once", 1.75, cases=scripts(COUNTED, counted))(printed)
memory_saved_bytes.aspect("`without` does not count", 1, cases=scripts(WITHOUT, without))(printed)


@memory_saved_bytes.aspect("many ways to one node", 0.25, corner=True, cases=choice("doublings", 20, 30, 40, 60))
def doublings(student, case, tools):
    h = student.Tensor(np.ones((3, 5)), requires_grad=True).exp()
    for _ in range(case.doublings):
        h = h + h
    with tools.work_limit(50_000):
        return student.saved_bytes(h)


memory_saved_bytes.mistake(
    "an array that two nodes keep is counted twice",
    source="""
def saved_bytes(tensor, without=()):
    known = {id(owner(x.data)) for x in without}
    return sum(owner(array).nbytes
               for node in topological_order([tensor.grad_fn or tensor]) if isinstance(node, Context)
               for array in node.kept_arrays() if id(owner(array)) not in known)
""",
    hint=[
        "In exp(x·x)·x, how many arrays are there really? And how often are they kept?",
        "Collect in a dict {id(array): array}, and sum up at the end.",
    ],
)
memory_saved_bytes.mistake(
    "a view counts as memory of its own",
    swap=(
        "map(owner, node.kept_arrays() if isinstance(node, Context) else [])",
        "(node.kept_arrays() if isinstance(node, Context) else [])",
    ),
    hint=[
        "x.reshape(…) and x are one piece of memory. How would your dict know?",
        "Take `owner(array)` before you ask for its id.",
    ],
)
memory_saved_bytes.mistake(
    "`without` is compared by the tensors' arrays, not by who owns the memory",
    swap=("id(owner(x.data)) for x", "id(x.data) for x"),
    hint=[
        "What if the tensor in `without` is itself a view?",
        "`owner` on both sides: of what is kept, and of `x.data`.",
    ],
)
memory_saved_bytes.mistake(
    "neither side asks for the owner",
    swap=[
        (
            "map(owner, node.kept_arrays() if isinstance(node, Context) else [])",
            "(node.kept_arrays() if isinstance(node, Context) else [])",
        ),
        ("id(owner(x.data)) for x", "id(x.data) for x"),
    ],
    hint=[
        "x.reshape(…) and x are one piece of memory. How would your dict know?",
        "Take `owner(…)` before you ask for an id, on both sides.",
    ],
)
memory_saved_bytes.mistake(
    "each owner counts once, but with the bytes of its view",
    source="""
def saved_bytes(tensor, without=()):
    seen = {id(owner(x.data)) for x in without}
    total = 0
    for node in topological_order([tensor.grad_fn or tensor]):
        if isinstance(node, Context):
            for array in node.kept_arrays():
                if id(owner(array)) not in seen:
                    seen.add(id(owner(array)))
                    total += array.nbytes
    return total
""",
    hint=[
        "A slice of two rows is kept. May the other rows be freed?",
        "`owner(array).nbytes`: a view holds all of the memory.",
    ],
)
memory_saved_bytes.mistake(
    "the bytes of `without` are subtracted, kept or not",
    source="""
def saved_bytes(tensor, without=()):
    arrays = {}
    for node in topological_order([tensor.grad_fn or tensor]):
        if isinstance(node, Context):
            arrays |= {id(owner(array)): owner(array) for array in node.kept_arrays()}
    return sum(array.nbytes for array in arrays.values()) - sum(x.data.nbytes for x in without)
""",
    hint=[
        "Is everything in `without` kept by somebody?",
        "Leave an array out where you find it, instead of subtracting at the end.",
    ],
)
memory_saved_bytes.mistake(
    "the walk starts at the tensor, where it ends, too",
    swap=("[tensor.grad_fn or tensor]", "[tensor]"),
    hint=[
        "What was computed from what, the nodes know, not the tensors.",
        "The root is `tensor.grad_fn`; for a leaf, the tensor itself.",
    ],
)
memory_saved_bytes.mistake(
    "`without` is ignored",
    swap=("if id(array) not in known:", "if True:"),
    hint=["Weights are there anyway. Who takes them out?", "Skip an array whose id is among those of `without`."],
)
memory_saved_bytes.mistake(
    "numbers are counted, not bytes",
    swap=("array.nbytes", "array.size"),
    hint=["How many bytes has a float64?", "`array.nbytes`."],
)
memory_saved_bytes.mistake(
    "every number is taken for four bytes",
    swap=("array.nbytes", "4 * array.size"),
    hint=["Look at the dtype: float64, float32 and a mask of booleans are not the same size.", "`array.nbytes` knows."],
)
memory_saved_bytes.mistake(
    "only the last node is asked, not the graph below it",
    swap=("topological_order([tensor.grad_fn or tensor])", "[tensor.grad_fn or tensor]"),
    hint=["Who keeps the arrays of the first layer?", "`topological_order([tensor.grad_fn])` gives all nodes below."],
)
memory_saved_bytes.mistake(
    "a leaf alone is not handled: its grad_fn is None",
    swap=("tensor.grad_fn or tensor", "tensor.grad_fn"),
    hint=[
        "What is the grad_fn of a tensor that was made by hand?",
        "`tensor.grad_fn or tensor` is a root in both cases.",
    ],
)
memory_saved_bytes.mistake(
    "the leaves in the order are asked for kept_arrays, too",
    swap=(" if isinstance(node, Context) else []", ""),
    hint=["The order ends in leaves. What do they keep?", "Ask only an `isinstance(node, Context)`."],
)
memory_saved_bytes.mistake(
    "results are counted, not what is kept",
    source="""
def saved_bytes(tensor, without=()):
    known = {id(owner(x.data)) for x in without}
    total = 0
    for node in topological_order([tensor.grad_fn or tensor]):
        if isinstance(node, Context) and id(node) not in known:
            total += 8 * int(np.prod(node.result_shape))
    return total
""",
    hint=["x + y has a result. Does its node keep anything?", "Sum up over `node.kept_arrays()`."],
)
memory_saved_bytes.variant(
    "sets of ids, with a loop",
    source="""
def saved_bytes(tensor, without=()):
    seen = set()
    for x in without:
        seen.add(id(owner(x.data)))
    total = 0
    for node in topological_order([tensor.grad_fn or tensor]):
        if not isinstance(node, Context):
            continue
        for array in node.kept_arrays():
            memory = owner(array)
            if id(memory) in seen:
                continue
            seen.add(id(memory))
            total += memory.nbytes
    return total
""",
)
memory_saved_bytes.variant(
    "a walk of its own, by next_nodes",
    source="""
def saved_bytes(tensor, without=()):
    known = [owner(x.data) for x in without]
    arrays, visited, todo = [], set(), [tensor.grad_fn]
    while todo:
        node = todo.pop()
        if not hasattr(node, "next_nodes") or node in visited:
            continue
        visited.add(node)
        todo.extend(node.next_nodes)
        for array in node.kept_arrays():
            array = owner(array)
            if not any(array is other for other in known + arrays):
                arrays.append(array)
    return np.sum([a.size * a.itemsize for a in arrays], dtype=int)
""",
)
memory_saved_bytes.variant(
    "the memory's address instead of its id",
    source="""
def saved_bytes(tensor, without=()):
    def address(array):
        return owner(array).__array_interface__["data"][0]

    found = {}
    if tensor.grad_fn is None:
        return 0
    for node in topological_order([tensor.grad_fn]):
        if isinstance(node, Context):
            found.update({address(a): owner(a).nbytes for a in node.kept_arrays()})
    for x in without:
        found.pop(address(x.data), None)
    return sum(found.values())
""",
)
