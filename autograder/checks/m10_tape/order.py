"""Check 4 of lesson 10: parents before children, each node once."""

from autograder.checks.check import check


@check("tape.order", points=2)
def order(student, rng, tools):
    """Which nodes are in the order, each once, and none before its parents; on deep graphs and where many paths meet."""

    def node(*parents, requires_grad=True):
        made = student.Node(None, requires_grad, parents, (lambda grad: None) if parents else None, "op")
        made.number = len(made_so_far)
        made_so_far.append(made)
        return made

    made_so_far = []
    size = int(rng.integers(12, 18))
    random = [node(requires_grad=k != 2) for k in range(4)]
    for _ in range(size):
        chosen = rng.choice(len(random), int(rng.integers(1, 4)))
        random.append(node(*[random[k] for k in chosen], random[-1] if rng.integers(2) else random[0]))

    def described(found):
        """How often a node stands before one of its parents; the numbers of the nodes, sorted."""
        found = list(found)
        place = {id(each): k for k, each in enumerate(found)}
        early = sum(place.get(id(parent), -1) > place[id(each)] for each in found for parent in each.parents)
        return [early, *sorted(each.number for each in found)]

    def diamond():
        x = node()
        left, right = node(x), node(x, x)
        return described(student.topological_order(node(left, right, x)))

    def shortcut(first):
        x = node()
        s = node(x)
        t = node(s, x)
        u = node(t, x)
        return described(student.topological_order(node(s, u) if first else node(u, s)))

    def with_constants():
        a, c, d = node(), node(requires_grad=False), node(requires_grad=False)
        return described(student.topological_order(node(c, node(a, c, d), d)))

    def apart():
        """A graph with more nodes than the root was computed from."""
        x = node()
        root = node(x)
        node(root, node(x))
        return described(student.topological_order(root))

    def leaf():
        return described(student.topological_order(node()))

    def last():
        found = list(student.topological_order(random[-1]))
        return [found[-1].number, len(found)]

    def again():
        return [len(list(student.topological_order(random[-k]))) for k in (1, 1, 2, 1)] + [size]

    def doublings(n=40):
        x = node()
        for _ in range(n):
            x = node(x, x)
        with tools.work_limit(100_000):
            return described(student.topological_order(x))

    def deep(n=3000):
        x = node()
        for _ in range(n):
            x = node(x)
        return described(student.topological_order(x))[:200]

    return {
        "input": f"nodes are numbered as they were made; the random graph has {len(random)} of them, number 2 requires no gradient",
        "a random graph: nodes before a parent, which nodes": lambda: described(student.topological_order(random[-1])),
        "a random graph: the last one, how many": last,
        "a diamond": diamond,
        "a short way and a long one, the short one first": lambda: shortcut(True),
        "a short way and a long one, the long one first": lambda: shortcut(False),
        "constants among the parents": with_constants,
        "not all nodes lead to the root": apart,
        "a leaf": leaf,
        "four times, on one graph: how many": again,
        "40 doublings": doublings,
        "3,000 operations in a row": deep,
    }


order.mistake(
    "by recursion, which ends at about 1,000 nodes",
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
    "nodes in the order in which they are met, reversed",
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
    "level by level from the root",
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
    "children before parents",
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
