"""The mistakes and variants of check 5 of lesson 04."""

from autograder.checks.m04_function.backward import function_backward

PUT = "arrived[below] = arrived[below] + part if below in arrived else part"
FREE = "        if not retain_graph:\n            node.free()\n"

function_backward.mistake(
    "the second part that arrives overwrites the first",
    swap=(PUT, "arrived[below] = part"),
    hint=[
        "x is used twice. How many parts arrive at x?",
        "Over paths we add: `arrived[below] + part` if there is one already.",
    ],
)
function_backward.mistake(
    "only the first part that arrives counts",
    swap=(PUT, "arrived.setdefault(below, part)"),
    hint=["x is used twice. What happens to the second part?", "Add it to what has arrived."],
)
function_backward.mistake(
    "parts are added in place, into a tensor that others hold, too",
    swap=(
        PUT,
        "if below in arrived:\n                    arrived[below].data += part.data\n                else:\n                    arrived[below] = part",
    ),
    hint=[
        "Add hands the very same tensor to both of its inputs. You change it for one of them.",
        "`arrived[below] + part` is a new tensor.",
    ],
)
function_backward.mistake(
    "the order is walked forwards, from the leaves",
    swap=("reversed(topological_order([root]))", "topological_order([root])"),
    hint=["Who has a gradient when the walk begins?", "`reversed(…)`: the root comes first."],
)
function_backward.mistake(
    "nodes are visited as they are met: some hand on a gradient that is not complete",
    source="""
def propagate(root, gradient, retain_graph=False, ask=input_gradients):
    arrived, found, queue, seen = {root: gradient}, {}, [root], set()
    while queue:
        node = queue.pop(0)
        if node in seen:
            continue
        seen.add(node)
        grad = arrived.pop(node)
        if not isinstance(node, Context):
            found[node] = grad
            continue
        for below, part in zip(node.next_nodes, ask(node, grad)):
            if part is not None:
                arrived[below] = arrived[below] + part if below in arrived else part
                queue.append(below)
        if not retain_graph:
            node.free()
    return found
""",
    hint=[
        "s + t·t, and t uses s: when is the gradient of s complete?",
        "Walk `reversed(topological_order([root]))`: a node comes when all who use it are done.",
    ],
)
function_backward.mistake(
    "each part is carried down alone, path by path",
    source="""
def propagate(root, gradient, retain_graph=False, ask=input_gradients):
    found, nodes = {}, topological_order([root])

    def carry(node, grad):
        if not isinstance(node, Context):
            found[node] = found[node] + grad if node in found else grad
            return
        for below, part in zip(node.next_nodes, ask(node, grad)):
            if part is not None:
                carry(below, part)

    carry(root, gradient)
    for node in nodes:
        if isinstance(node, Context) and not retain_graph:
            node.free()
    return found
""",
    hint=[
        "40 doublings have a million million paths. How many nodes?",
        "Add up what arrives at a node, and ask its rule once.",
    ],
)
function_backward.mistake(
    "nothing is freed",
    swap=(FREE, ""),
    hint=["What does `retain_graph=False` promise?", "`if not retain_graph: node.free()`."],
)
function_backward.mistake(
    "freed though it shall be retained",
    swap=("        if not retain_graph:\n            node.free()\n", "        node.free()\n"),
    hint=["retain_graph=True: the next walk needs what was saved.", "`if not retain_graph:`."],
)
function_backward.mistake(
    "freed when it shall be retained, and the other way round",
    swap=("if not retain_graph", "if retain_graph"),
    hint=["Read your condition aloud.", "`if not retain_graph:`."],
)
function_backward.mistake(
    "only the root is freed",
    swap=("if not retain_graph", "if not retain_graph and node is root"),
    hint=["Which nodes hold arrays?", "Each node, after it has handed its gradient on."],
)
function_backward.mistake(
    "a node is freed before its rule is asked",
    swap=[
        (FREE, ""),
        (
            "        for below, part in zip(",
            "        if not retain_graph:\n            node.free()\n        for below, part in zip(",
        ),
    ],
    hint=["What does the rule find in the bag after free?", "Free it as the last thing in the loop."],
)
function_backward.mistake(
    "a rule is asked again for each of its inputs",
    swap=(
        "        for below, part in zip(node.next_nodes, ask(node, grad)):",
        "        for i, below in enumerate(node.next_nodes):\n            part = ask(node, grad)[i] if ask(node, grad) else None",
    ),
    hint=["How often do you call `ask` for one node?", "Once, before the loop over its parts."],
)
function_backward.mistake(
    "missing parts are handed on, too",
    swap=("if part is not None:", "if True:"),
    hint=["None means: this input gets no gradient. What is `arrived[None]`?", "Skip a part that is None."],
)
function_backward.mistake(
    "nodes on the way are listed among the leaves",
    swap=(
        "        if not isinstance(node, Context):\n            found[node] = grad\n            continue",
        "        found[node] = grad\n        if not isinstance(node, Context):\n            continue",
    ),
    hint=["Whose gradients does the docstring ask for?", "Put only leaves into the result."],
)
function_backward.mistake(
    "the gradient that is given is not used: the walk starts from ones",
    swap=("{root: gradient}", "{root: Tensor(np.ones(gradient.shape))}"),
    hint=["Where does `gradient` come in?", "`arrived = {root: gradient}`."],
)
function_backward.variant(
    "gradients by id, and a list of parts that is summed at the node",
    source="""
def propagate(root, gradient, retain_graph=False, ask=input_gradients):
    parts_for, found = {id(root): [gradient]}, {}
    order = list(topological_order([root]))
    while order:
        node = order.pop()
        parts = parts_for.get(id(node), [])
        if not parts:
            continue
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        if isinstance(node, Tensor):
            found[node] = total
        else:
            answers = ask(node, total)
            for i, below in enumerate(node.next_nodes):
                if answers[i] is not None:
                    parts_for.setdefault(id(below), []).append(answers[i])
            if retain_graph is False:
                node.free()
    return found
""",
)
function_backward.variant(
    "users are counted, in place of an order; all is freed at the end",
    source="""
def propagate(root, gradient, retain_graph=False, ask=input_gradients):
    users = {}
    nodes = [node for node in topological_order([root]) if isinstance(node, Context)]
    for node in nodes:
        for below in node.next_nodes:
            users[below] = users.get(below, 0) + 1
    sums, ready = {root: gradient.data.copy()}, [root]
    while ready:
        node = ready.pop()
        if not isinstance(node, Context):
            continue
        if node in sums:
            answers = ask(node, Tensor.wrap(sums[node]))
        else:
            answers = [None] * len(node.next_nodes)
        for below, part in zip(node.next_nodes, answers):
            if part is not None:
                sums[below] = sums.get(below, 0) + part.data
            users[below] -= 1
            if below is not None and users[below] == 0:
                ready.append(below)
    if not retain_graph:
        for node in nodes:
            node.free()
    return {leaf: Tensor(total) for leaf, total in sums.items() if isinstance(leaf, Tensor)}
""",
)
