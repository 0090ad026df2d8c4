"""Check 1 of lesson 07: the bytes that a graph keeps."""

import numpy as np

from autograder.checks.check import check


@check("memory.saved_bytes", points=3)
def memory_saved_bytes(student, rng, tools):
    """Shared arrays once, views by their owner, parameters left out."""
    n, k, m = int(rng.integers(3, 6)), int(rng.integers(7, 11)), int(rng.integers(12, 16))

    def tensor(*shape, dtype=np.float64, requires_grad=True):
        return student.Tensor(rng.normal(size=shape).astype(dtype), requires_grad=requires_grad)

    def count(result, without=()):
        return int(student.saved_bytes(result, without))

    def product():
        return count(tensor(n, k) @ tensor(k, m))

    def shared():
        x = tensor(n, k)
        return count((x * x).exp() * x)

    def layers():
        x, v, w = tensor(n, k, requires_grad=False), tensor(k, m), tensor(m, 2)
        return count(((x @ v).relu() @ w).tanh().sum(), without=[v, w])

    def two_types():
        x, y = tensor(n, k, dtype=np.float32), tensor(k, m)
        return count((x.exp().sum() * y.exp().sum()).sqrt())

    def views():
        x = tensor(n, k)
        return count(x.reshape(k, n).exp() * x.reshape(k, n) + x.mT * 3.0 * x.mT)

    def part_of_a_parameter():
        w = tensor(k, m)
        return count((tensor(n, 3) @ w[:3]).tanh(), without=[w])

    def part_of_a_sum():
        h = (tensor(n, k) + tensor(n, k))[1:]
        return count(h * h)

    def without_a_view():
        x = tensor(n, k)
        return count((x * x.mT.mT).exp(), without=[x.reshape(k * n)])

    def mask():
        return count(student.dropout(tensor(n, k), 0.5))

    def called_twice():
        x = tensor(n, k)
        y = (x * x).exp()
        count(y, [x])
        return [count(y, [x]), count(y, (x,)), count(y)]

    def after_backward():
        x = tensor(n, k)
        y = (x * x).exp()
        z = y.sum()
        z.backward()
        return [count(z), count(y)]

    def diamond():
        h = tensor(n, k).exp()
        for _ in range(40):
            h = h + h
        with tools.work_limit(100_000):
            return count(h)

    return {
        "input": f"n = {n}, k = {k}, m = {m}; float64, so 8 bytes a number, where nothing else is said",
        "x (n, k) @ w (k, m)": product,
        "exp(x·x)·x": shared,
        "two layers, without their weights": layers,
        "float32 and float64 in one graph": two_types,
        "views of x (reshape, mT)": views,
        "a slice of a weight, without the weight": part_of_a_parameter,
        "h = (x + y)[1:], a slice, then h · h": part_of_a_sum,
        "without a view of x": without_a_view,
        "dropout: a mask of booleans": mask,
        "asked three times, twice without x": called_twice,
        "after backward": after_backward,
        "x + y: nothing is kept": lambda: count(tensor(n, k) + tensor(n, k)),
        "a leaf alone": lambda: [count(tensor(n, k)), count(tensor(n, k), [tensor(m)])],
        "exp, and 40 doublings of it": diamond,
    }


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
