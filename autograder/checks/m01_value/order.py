"""Check 9 of lesson 01: the order, parents before children."""

from autograder.checks.cases import Draft, Source, Text, choice, fixed
from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES

value_order = exercise(
    "value.order", "Every box once, after all of its parents; also for many paths and for long chains."
)
SMALL = (
    [[]],
    [[], [], [0, 1]],
    [[], [0], [0], [1, 2]],
    [[], [0, 0]],
    [[], [0], [1, 0]],
    [[], [0], [0, 1], [1, 2]],
    [[], [], [0, 1], [2, 0], [3, 2], [0, 4, 1], [4, 5]],
    [[], [0], [1], [2], [3, 0], [4, 1]],
    [[], [0], [1], [0, 2], [1, 3, 0], [2, 4]],
)


def drawn(rng):
    """The parents of each box, which come before it; the last box is the root."""
    graph = [
        [int(j) for j in rng.integers(0, i, size=rng.integers(0, 4))] if i else [] for i in range(rng.integers(3, 13))
    ]
    return Draft({"graph": [*graph, sorted({0, len(graph) - 1})]})


GRAPHS = Source(lambda rng: (Draft({"graph": list(graph)}) for graph in SMALL), drawn)


@value_order.aspect("each box once, parents first", 3, cases=GRAPHS * choice("kinds", 100, 1), few=48)
def order(student, case):
    boxes = []
    for i, parents in enumerate(case.graph):
        boxes.append(student.Value(i % case.kinds, tuple(boxes[j] for j in parents), (1.0,) * len(parents)))
    order = [boxes.index(box) for box in student.topological_order(boxes[-1])]
    return {
        "the boxes, sorted": sorted(order),
        "edges to a parent that stands later": sum(j in order[order.index(i) :] for i in order for j in case.graph[i]),
        "asked again: how many boxes": len(student.topological_order(boxes[-1])),
    }


LARGE = fixed(  # how many boxes, and the parents of each
    {"n": 20_000, "parents": Text("lambda i: [i - 1]")},
    {"n": 60, "parents": Text("lambda i: [i - 1, i - 1]")},
    {"n": 3000, "parents": Text("lambda i: [i - 1, i - 2]")},
    {"n": 2000, "parents": Text("lambda i: [i - 2, i - 1] if i % 2 == 0 else []")},
    {"n": 2000, "parents": Text("lambda i: [i - 1, i - 2] if i % 2 == 0 else []")},
)


@value_order.aspect("long chains and many paths", 1, few=5, many=5, cases=LARGE)
def large(student, case, tools):
    class Box(student.Value):
        """Compares itself by a call, and calls are counted."""

        __hash__ = object.__hash__

        def __eq__(self, other):
            return self is other

    boxes = []
    for i in range(case.n):
        parents = [boxes[j] for j in case.parents(i) if j >= 0]
        boxes.append(Box(1.0, parents, [1.0] * len(parents)))
    with tools.work_limit(30 * case.n):
        order = student.topological_order(boxes[-1])
    place = {id(box): i for i, box in enumerate(order)}
    wrong = sum(place[id(parent)] > place[id(box)] for box in boxes for parent in box.parents)
    return {"boxes": len(order), "edges to a parent that stands later": wrong}


value_order.mistake(
    "visited boxes are not noted, so a box with two paths comes twice",
    swap=("visited.add(node)", "pass"),
    hint=[
        "How often does the leaf of a diamond stand in your list?",
        "Keep a set of visited nodes, and skip what is in it.",
    ],
)
value_order.mistake(
    "the list is the wrong way round: the root first",
    swap=("return order", "return order[::-1]"),
    hint=["Parents come first, so where is the root?", "Drop the reversal; `backward` walks it from its end."],
)
value_order.mistake(
    "a box is appended before its parents",
    source="""
def topological_order(root):
    order, visited, stack = [], set(), [root]
    while stack:
        node = stack.pop()
        if node not in visited:
            visited.add(node)
            order.append(node)
            stack.extend(node.parents)
    return order
""",
    hint=[
        "When may a box be appended? Look at the picture: s needs a and b.",
        "Put the box back on the stack, with its parents on top; append it when it comes up the second time.",
    ],
)
value_order.mistake(
    "the boxes are listed as they are met on the way down, then reversed",
    source="""
def topological_order(root):
    order, visited, stack = [], set(), [root]
    while stack:
        node = stack.pop()
        if node not in visited:
            visited.add(node)
            order.append(node)
            stack.extend(node.parents)
    return order[::-1]
""",
    hint=[
        "Right for trees. With a shortcut, a parent may be met before one of its children is.",
        "Append a box only after all its parents are in the list; then nothing has to be reversed.",
    ],
)
value_order.mistake(
    "the boxes are sorted by their distance from the root",
    source="""
def topological_order(root):
    order, visited, queue = [root], {root}, [root]
    while queue:
        node = queue.pop(0)
        for parent in node.parents:
            if parent not in visited:
                visited.add(parent)
                order.append(parent)
                queue.append(parent)
    return order[::-1]
""",
    hint=[
        "c = s · b with s = a + b: b is one step from c, and so is s. Who is first?",
        "The shortest way to the root says nothing; what counts is that all parents are done.",
    ],
)
value_order.mistake(
    "the root is not in the list",
    swap=("return order", "return order[:-1]"),
    hint=["`backward` starts at the root. Does it find it?", "root itself comes last."],
)
value_order.mistake(
    "the leaves are not in the list",
    swap=("return order", "return [node for node in order if node.parents]"),
    hint=["`zero_grad` and `size` need the leaves, too.", "Every box, those without parents included."],
)
value_order.mistake(
    "only the first parent is followed",
    swap=("*node.parents]", "*node.parents[:1]]"),
    hint=["How many parents has a product?", "Loop over all of node.parents."],
)
value_order.mistake(
    "it recurses, so a long chain ends in RecursionError",
    source="""
def topological_order(root):
    order, visited = [], set()

    def visit(node):
        if node not in visited:
            visited.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(root)
    return order
""",
    hint=[
        "All is right but the depth: Python lets functions call each other some thousand times only; "
        "a higher limit is only a longer way to the same end.",
        "A list as your own stack, with pairs (node, are its parents done?): hint 2 below the exercise.",
    ],
)
value_order.mistake(
    "a box is marked as visited when it is put on the stack, so a shortcut comes too early",
    source="""
def topological_order(root):
    order, visited, stack = [], {root}, [(root, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        else:
            stack.append((node, True))
            for parent in node.parents:
                if parent not in visited:
                    visited.add(parent)
                    stack.append((parent, False))
    return order
""",
    hint=[
        "A box waits on the stack, marked. Another box needs it first, finds it marked, and does not wait.",
        "Mark a box when it is taken from the stack, and skip it there if it is marked.",
    ],
)
value_order.mistake(
    "every path is walked again, although each box is listed once",
    source="""
def topological_order(root):
    order = []

    def visit(node):
        for parent in node.parents:
            visit(parent)
        if node not in order:
            order.append(node)

    visit(root)
    return order
""",
    hint=[
        "20 doublings have a million paths. What is known at the second visit of a box?",
        "Look before you go down: if the box was visited, return at once.",
    ],
)
value_order.mistake(
    "boxes with the same number are taken for the same box",
    swap=[("node not in visited", "node.data not in visited"), ("visited.add(node)", "visited.add(node.data)")],
    hint=["Two boxes may hold the same number and still be two.", "Put the node itself into the set, not its data."],
)
value_order.mistake(
    "`visited` lives on between calls",
    source="""
def topological_order(root, visited=set()):
    order, stack = [], [(root, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        elif node not in visited:
            visited.add(node)
            stack.append((node, True))
            stack.extend((parent, False) for parent in node.parents)
    return order
""",
    hint=[
        "What does the second call with the same root give?",
        "A default argument is made once: make the set inside the function.",
    ],
)
value_order.mistake(
    "each box is looked for in `order`, a list, and compared with all the boxes in it",
    swap=("node not in visited", "node not in order"),
    hint=[
        "What does Python do for `node in order`, if order is a list of 50,000 boxes?",
        "Note what was visited in a set, `visited`.",
    ],
)
value_order.mistake(
    "`visited` is a list, so each box is compared with all the boxes in it",
    swap=[
        ("order, visited, stack = [], set(), [root]", "order, visited, stack = [], [], [root]"),
        ("visited.add", "visited.append"),
    ],
    hint=[
        "What does Python do for `node in visited`, if that is a list of 50,000 boxes?",
        "`visited = set()`, and `visited.add(node)`.",
    ],
)
value_order.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_order.variant(
    "by counting users (Kahn)",
    source="""
def topological_order(root):
    users, found, todo = {root: 0}, {root}, [root]
    while todo:
        for parent in todo.pop().parents:
            users[parent] = users.get(parent, 0) + 1
            if parent not in found:
                found.add(parent)
                todo.append(parent)
    order, free = [], [root]
    while free:
        node = free.pop()
        order.append(node)
        for parent in node.parents:
            users[parent] -= 1
            if users[parent] == 0:
                free.append(parent)
    return order[::-1]
""",
)
value_order.variant(
    "a stack of iterators, the result a tuple",
    source="""
def topological_order(root):
    order, visited, stack = [], {id(root)}, [(root, iter(root.parents))]
    while stack:
        node, parents = stack[-1]
        for parent in parents:
            if id(parent) not in visited:
                visited.add(id(parent))
                stack.append((parent, iter(parent.parents)))
                break
        else:
            order.append(node)
            stack.pop()
    return tuple(order)
""",
)
value_order.variant(
    "sorted by depth, with lists in place of sets",
    source="""
def topological_order(root):
    depth, stack = {}, [root]
    while stack:
        node = stack[-1]
        missing = [parent for parent in node.parents if parent not in depth]
        if missing:
            stack.extend(missing)
        else:
            depth[node] = 1 + max([depth[parent] for parent in node.parents], default=0)
            stack.pop()
    return sorted(depth, key=depth.get)
""",
)
