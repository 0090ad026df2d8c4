"""Check 4 of lesson 10: parents before children, each node once."""

from autograder.checks.cases import Draft, Source, fixed
from autograder.checks.check import exercise

order = exercise("tape.order", "Parents before children, each node once.", seconds=6)

SMALL = (
    [[]], [[], [0]], [[], [0, 0]], [[], [], [0, 1]], [[], [0], [1, 0]], [[], [0], [0, 1]], [[], [0], [0, 0], [1, 2, 0]],
    [[], [0], [1, 0], [2, 0], [1, 3]], [[], [0], [1, 0], [2, 0], [3, 1]], [[], [0], [1], [1, 0], [1]], [[], [], [0, 1], [2, 0], [3, 3, 2]],
)  # fmt: skip


def graph(parents, constants):
    """parents[k] lists the parents of node k. A constant was not recorded, so it has no parents. A first root is the last node."""
    parents = [[] if k in constants else above for k, above in enumerate(parents)]
    recorded = [k for k in range(len(parents)) if k not in constants] or [0]
    other = recorded[len(parents) // 3 - 1]
    twice = any(len({*above}) < len(above) for above in parents)
    tags = ["a constant is among the nodes"] * bool(constants) + ["a parent is listed twice"] * twice
    return Draft(
        {"parents": parents, "constants": constants, "roots": [len(parents) - 1, other, len(parents) - 1]}, tuple(tags)
    )


def small(rng):
    yield graph([[]], [0])  # a root that requires no gradient
    for parents in SMALL:
        yield graph(parents, [])
        if len(parents) > 2:
            yield graph(parents, [int(rng.integers(len(parents) - 1))])


def drawn(rng):
    parents = [
        [int(k) for k in rng.integers(n, size=rng.integers(1, 4))] if n else [] for n in range(rng.integers(3, 14))
    ]
    return graph(parents, [int(k) for k in rng.integers(len(parents) - 1, size=rng.integers(3))])


@order.aspect("each node once, its parents before it", 1.5, cases=Source(small, drawn))
def ordered(student, case):
    nodes = []
    for number, parents in enumerate(case.parents):
        nodes.append(student.Node(None, number not in case.constants, tuple(nodes[k] for k in parents)))
    seen = []
    for root in case.roots:
        numbers = [nodes.index(node) for node in student.topological_order(nodes[root])]
        late = {(k, n) for place, n in enumerate(numbers) for k in case.parents[n] if k in numbers[place:]}
        seen.append({"which nodes": str(sorted(numbers)), "a parent comes after its child": str(sorted(late))})
    return dict(zip(["from the last node", "from another", "from the last one again"], seen))


@order.aspect(
    "any depth, and any number of paths",
    0.5,
    corner=True,
    few=6,
    many=6,
    cases=fixed(
        *[
            {"steps": steps, "times": times}
            for times, steps in ((1, 2), (2, 12), (1, 3000), (3, 12), (1, 20_000), (2, 60))
        ]
    ),
)
def deep(student, case):
    import sys

    limit, node = sys.getrecursionlimit(), student.Node(None, True)
    for _ in range(case.steps):
        node = student.Node(None, True, (node,) * case.times)
    try:
        return {"nodes": len(student.topological_order(node)), "recursion limit kept": sys.getrecursionlimit() == limit}
    finally:
        sys.setrecursionlimit(limit)


order.mistake(
    "the walk is a recursion, which ends at about 1,000 nodes",
    source="""
def topological_order(root):
    order, visited = [], set()

    def visit(node):
        if node not in visited:
            visited.add(node)
            for parent in node.parents:
                if parent.requires_grad:
                    visit(parent)
            order.append(node)

    visit(root)
    return order
""",
    hint="A list of your own as the stack: it has no limit.",
)
order.mistake(
    "nobody notes who was visited: a walk for each path",
    source="""
def topological_order(root):
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        if node is None:
            order.append(stack.pop())
        else:
            stack += [node, None]
            stack += [parent for parent in node.parents if parent.requires_grad]
    return order
""",
    hint=[
        "40 doublings have a million million paths, and 41 nodes.",
        "A set `visited`: who is in it is not visited again.",
    ],
)
order.mistake(
    "the nodes come in the order in which they are met, reversed",
    source="""
def topological_order(root):
    order, visited, stack = [], {root}, [root]
    while stack:
        node = stack.pop()
        order.append(node)
        for parent in node.parents:
            if parent.requires_grad and parent not in visited:
                visited.add(parent)
                stack.append(parent)
    return order[::-1]
""",
    hint=[
        "A short way and a long one lead to s. The short one meets it too early.",
        "A node goes into the order on the way up: when all its parents are in it.",
    ],
)
order.mistake(
    "the nodes come level by level from the root",
    source="""
def topological_order(root):
    order, visited, queue = [], {root}, [root]
    for node in queue:
        order.append(node)
        for parent in node.parents:
            if parent.requires_grad and parent not in visited:
                visited.add(parent)
                queue.append(parent)
    return order[::-1]
""",
    hint=[
        "How far is s from the root? There may be two answers.",
        "A node goes into the order when all its parents are in it.",
    ],
)
order.mistake(
    "children come before their parents",
    swap=("return order", "return order[::-1]"),
    hint="Parents first: backward turns it round itself.",
)
order.mistake(
    "constants are in it, too",
    swap=(
        "                if parent.requires_grad:\n                    stack.append(parent)",
        "                stack.append(parent)",
    ),
    hint="Who requires no gradient needs no visit.",
)
order.mistake(
    "the root is missing", swap=("return order", "return order[:-1]"), hint="The walk back begins at the root."
)
order.mistake(
    "leaves are missing",
    swap=(
        "order.append(stack.pop())",
        "done = stack.pop()\n            if done.parents:\n                order.append(done)",
    ),
    hint="Leaves are those whose gradients everybody wants.",
)
order.mistake(
    "only the first parent is followed",
    swap=("for parent in node.parents:", "for parent in node.parents[:1]:"),
    hint="All of its parents.",
)
order.mistake(
    "a mark is left on the nodes, so the second call finds nothing",
    swap=[
        ("elif node not in visited:", 'elif not hasattr(node, "visited"):'),
        ("visited.add(node)", "node.visited = True"),
    ],
    hint="A second backward walks the same nodes. A set of this call's own keeps no traces.",
)
order.variant(
    "pairs (node, all parents done)",
    source="""
def topological_order(root):
    order, seen = [], set()
    stack = [(root, False)]
    while len(stack) > 0:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        stack.append((node, True))
        for parent in reversed(node.parents):
            if parent.requires_grad and id(parent) not in seen:
                stack.append((parent, False))
    return order
""",
)
order.variant(
    "whoever is in the order was visited: right, though a list is slow to look into",
    swap=("elif node not in visited:", "elif node not in order:"),
)
order.variant(
    "children are counted, as Kahn does",
    source="""
from collections import Counter, deque

def topological_order(root):
    below, todo, seen = Counter(), [root], {root}
    while todo:
        for parent in todo.pop().parents:
            if parent.requires_grad:
                below[parent] += 1
                if parent not in seen:
                    seen.add(parent)
                    todo.append(parent)
    order, ready = deque(), [root]
    while ready:
        node = ready.pop()
        order.appendleft(node)
        for parent in node.parents:
            if parent.requires_grad:
                below[parent] -= 1
                if not below[parent]:
                    ready.append(parent)
    return list(order)
""",
)
order.variant(
    "with iterators on the stack, a tuple comes back",
    source="""
def topological_order(root):
    order, visited, stack = [], {root}, [(root, iter(root.parents))]
    while stack:
        node, parents = stack[-1]
        for parent in parents:
            if parent.requires_grad and parent not in visited:
                visited.add(parent)
                stack.append((parent, iter(parent.parents)))
                break
        else:
            stack.pop()
            order.append(node)
    return tuple(order)
""",
)
