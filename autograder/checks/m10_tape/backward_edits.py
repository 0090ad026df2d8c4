"""The mistakes and variants of check 6 of lesson 10."""

from autograder.checks.m10_tape.backward import backward

LEAF = "leave(node, gradient, held)"
HAND = "accumulate(gradients, ours, parent, unbroadcast(part, parent))"
SEED = "seed = seed_gradient(loss, grad)"

backward.mistake(
    "the order is walked forwards, from the leaves",
    swap=("reversed(topological_order(loss))", "topological_order(loss)"),
    hint=["Who has a gradient when the walk begins?", "`reversed(…)`: the loss comes first."],
)
backward.mistake(
    "the nodes of the tape are walked, not those behind the loss",
    swap=(
        "reversed(topological_order(loss))",
        "[*reversed(self.nodes), *[n for n in topological_order(loss) if not n.parents]]",
    ),
    hint=["A part of the way may lie on another tape.", "`topological_order(loss)`."],
)
backward.mistake(
    "a new part overwrites what has arrived",
    swap=(HAND, "gradients[parent] = unbroadcast(part, parent)"),
    hint="Over paths we add: accumulate(…).",
)
backward.mistake(
    "parts are added in place, into a buffer that others hold",
    swap=(
        HAND,
        "part = unbroadcast(part, parent)\n                if parent in gradients:\n                    add_into(gradients[parent], part)\n                else:\n                    gradients[parent] = part",
    ),
    hint=["`add` hands one Tensor to both of its parents.", "accumulate(…) knows which sums are ours."],
)
backward.mistake(
    "what broadcasting repeated is not summed up",
    swap=("unbroadcast(part, parent)", "part"),
    hint="A row's gradient has the shape of the row: unbroadcast(part, parent).",
)
backward.mistake(
    "the gradient that is passed is ignored",
    swap=(SEED, "seed = loss.value * 0.0 + 1.0"),
    hint="`grad` says how much each number of the loss counts: seed_gradient(loss, grad).",
)
backward.mistake(
    "leaves do not accumulate: the last call wins",
    swap=(LEAF, "node.grad = gradient.copy()"),
    hint="Gradients of leaves add up over calls, until grad is None again: leave does that.",
)
backward.mistake(
    "a leaf keeps the Tensor that arrived, and so does somebody else",
    swap=(LEAF, "node.grad = gradient if node.grad is None else node.grad + gradient"),
    hint=[
        "Whose Tensor is it? The caller's, perhaps, or that of the other leaf of an `add`.",
        "`leave(node, gradient, held)` copies what somebody else can see.",
    ],
)
backward.mistake(
    "the sum is written into the old grad, which somebody may hold",
    swap=(
        LEAF,
        "if node.grad is None:\n                node.grad = gradient.copy()\n            else:\n                add_into(node.grad, gradient)",
    ),
    hint="The old grad stays as it was. leave makes a new Tensor, the sum.",
)
backward.mistake(
    "nodes between keep their gradients, and a second call adds to them",
    source="""
@add_to_class(Tape)
def backward(self, loss, grad=None):
    seed = seed_gradient(loss, grad)
    loss.grad = seed.copy() if loss.grad is None else loss.grad + seed
    for node in reversed(topological_order(loss)):
        if node.grad_fn is None or node.grad is None:
            continue
        for parent, part in zip(node.parents, parts_of(node, node.grad)):
            if part is not None and parent.requires_grad:
                part = unbroadcast(part, parent)
                parent.grad = part.copy() if parent.grad is None else parent.grad + part
""",
    hint=[
        "That is netcl's fault: what does the second call start from?",
        "Nodes between belong to one call: a dictionary `gradients` of this call's own.",
    ],
)
backward.mistake(
    "parents that require no gradient get one, too",
    swap=(
        " and parent.requires_grad:",
        ":\n                if parent.grad_fn is None and not parent.requires_grad:\n                    parent.grad = unbroadcast(part, parent).copy()",
    ),
    hint="`add` gives a part for everybody. Skip who requires none.",
)
backward.mistake(
    "what comes for constants is added up, though nobody wants it",
    swap=(" and parent.requires_grad:", ":"),
    hint=["A constant that is used five times: four launches for nothing.", "Skip a parent that requires no gradient."],
)
backward.mistake(
    "a part that is None is handed on",
    swap=("part is not None and ", ""),
    hint="None: this parent gets no gradient from here.",
)
backward.mistake(
    "a node without a gradient stops everything",
    swap=("if gradient is None:\n            continue", "if gradient is None:\n            break"),
    hint="Only this node has nothing to hand on: continue.",
)
backward.mistake(
    "where nothing has arrived, the rule is asked all the same",
    swap=(
        "        if gradient is None:\n            continue\n        if node.grad_fn is None:",
        "        if node.grad_fn is None and gradient is None:\n            continue\n        if node.grad_fn is None:",
    ),
    hint="No gradient has arrived: nothing goes on from here.",
)
backward.mistake(
    "the rule is asked for each parent anew",
    swap=(
        "for parent, part in zip(node.parents, parts_of(node, gradient)):",
        "for number, parent in enumerate(node.parents):\n            node.grad_fn(gradient)\n            part = parts_of(node, gradient)[number]",
    ),
    hint="Once for each node: its list has all parts. Each call launches kernels.",
)
backward.mistake(
    "rules are asked without parts_of, so nobody can look at them",
    swap=("parts_of(node, gradient)", "node.grad_fn(gradient)"),
    hint="parts_of(node, gradient) asks the rule, and looks at what it says if detect_anomaly is on.",
)
backward.mistake(
    "nodes between keep a grad",
    swap=("if self.retain_grads:", "if True:"),
    hint="Only leaves keep one, unless the tape retains gradients. Each of the others would hold a buffer.",
)
backward.mistake(
    "each part is handed on alone, path by path",
    source="""
@add_to_class(Tape)
def backward(self, loss, grad=None):
    def carry(node, gradient):
        if node.grad_fn is None:
            node.grad = gradient.copy() if node.grad is None else node.grad + gradient
            return
        for parent, part in zip(node.parents, parts_of(node, gradient)):
            if part is not None and parent.requires_grad:
                carry(parent, unbroadcast(part, parent))

    carry(loss, seed_gradient(loss, grad))
""",
    hint=[
        "20 doublings have a million paths, and 41 nodes.",
        "Add up what arrives at a node, and ask its rule once: in topological order.",
    ],
)
backward.mistake(
    "grads are set to None at the start of each call",
    swap=(
        "    for node in reversed(",
        "    for node in topological_order(loss):\n        node.grad = None\n    for node in reversed(",
    ),
    hint="Leaves accumulate over calls. Who wants them empty sets `grad = None`.",
)
backward.mistake(
    "retain_grads is not asked",
    swap=("        if self.retain_grads:\n            node.grad = gradient.copy()\n", ""),
    hint="With `Tape(retain_grads=True)`, nodes between get a copy of their gradient.",
)
backward.mistake(
    "nodes between retain the sum over all calls",
    swap=("node.grad = gradient.copy()", "leave(node, gradient, held)"),
    hint="Leaves add up over calls. A node between gets the gradient of this call, in place of the one before.",
)
backward.mistake(
    "retained gradients are not copied",
    swap=("node.grad = gradient.copy()", "node.grad = gradient"),
    hint="Others hold that Tensor: the caller, or a parent to which the rule hands it on. A copy.",
)
backward.mistake(
    "the buffer of the caller's gradient is not held",
    swap=("{id(seed.buffer)}", "set()"),
    hint="Somebody else can see it: `held` begins with the id of the seed's buffer.",
)
backward.variant(
    "one set for both: Nodes and ids do not meet in it",
    swap=("accumulate(gradients, ours,", "accumulate(gradients, held,"),
)
backward.variant(
    "sums in lists, added up when it is a node's turn",
    source="""
@add_to_class(Tape)
def backward(self, loss, grad=None):
    seed = seed_gradient(loss, grad)
    arrived = {id(loss): [seed]}
    order = list(topological_order(loss))
    while order:
        node = order.pop()
        parts = arrived.pop(id(node), [])
        if not parts:
            continue
        gradient = parts[0]
        for more in parts[1:]:
            gradient = gradient + more
        if not node.parents:
            if node.value.grad is not None:
                node.value.grad = gradient + node.value.grad
            else:
                node.value.grad = gradient.copy()
        else:
            if self.retain_grads:
                node.value.grad = gradient.copy()
            answers = parts_of(node, gradient)
            for number in range(len(node.parents)):
                parent, part = node.parents[number], answers[number]
                if not parent.requires_grad or part is None:
                    continue
                arrived.setdefault(id(parent), []).append(unbroadcast(part, parent))
""",
)
backward.variant(
    "the start goes through accumulate; leaves at the end",
    source="""
@add_to_class(Tape)
def backward(self, loss, grad=None):
    gradients, ours, leaves = dict(), set(), []
    accumulate(gradients, ours, loss, seed_gradient(loss, grad))
    held = {id(gradients[loss].buffer)}
    for node in topological_order(loss)[::-1]:
        if node not in gradients:
            continue
        if node.grad_fn is None:
            leaves.append(node)
            continue
        gradient = gradients.pop(node)
        if self.retain_grads:
            node.grad = 1.0 * gradient
        wanted = [(p, g) for p, g in zip(node.parents, parts_of(node, gradient)) if p.requires_grad]
        for parent, part in wanted:
            if part is None:
                continue
            accumulate(gradients, ours, parent, unbroadcast(part, parent))
    for leaf in leaves:
        leave(leaf, gradients[leaf], held)
""",
)
