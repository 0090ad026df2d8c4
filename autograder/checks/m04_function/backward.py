"""Check 5 of lesson 04: the walk from the root to the leaves."""

from autograder.checks.check import check


@check("function.backward", points=4, needs=("function.context", "function.apply", "function.add_mul", "function.ends"))
def function_backward(student, rng, tools):
    """Gradients over every path, each rule asked once; the graph is freed, unless it is retained."""
    x_data, w_data, grad = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    row = rng.normal(size=2)
    calls = []

    class Twice(student.Function):
        """2 a, and a note of each time that its rule is asked."""
        @staticmethod
        def forward(ctx, a):
            return a * 2.0

        @staticmethod
        def backward(ctx, grad):
            calls.append(ctx)
            return student.Tensor(raw(grad) * 2.0)

    class OnlyLeft(student.Function):
        """a + b, but the rule has no gradient for b, though b needs one."""
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    class Found(dict):
        def __missing__(self, leaf):
            raise KeyError("propagate found no gradient for one of the leaves")

    def raw(x):
        return x.data if isinstance(x, student.Tensor) else np.asarray(x)

    def leaves(*arrays):
        return [student.Tensor(array, requires_grad=True) for array in arrays or (x_data, w_data)]

    def walk(out, gradient=None, **options):
        """{leaf: gradient as an array}, as propagate finds it."""
        upstream = student.Tensor(grad if gradient is None else gradient)
        found = student.propagate(out.grad_fn or out, upstream, **options)
        if found is None:
            raise TypeError("propagate gave None; is there a `return` missing?")
        return Found({leaf: raw(part) for leaf, part in dict(found).items()})

    def of_x(f):
        x, w = leaves()
        return walk(f(x, w))[x]

    def of_w(f):
        x, w = leaves()
        return walk(f(x, w))[w]

    def diamond(x, w):
        h = x * x
        return h * w + h

    def shortcut(x, w):
        s = x + w
        t = s * x
        return s + t * t

    def shortcut_first(x, w):
        s = x + w
        t = s * x
        return t * t + s

    def of_row():
        x, _ = leaves()
        b = student.Tensor(row, requires_grad=True)
        return walk(x * b)[b]

    def who():
        """How many leaves are found, whether they are x and w, and the constants' place in it."""
        x, w = leaves()
        c = student.Tensor(row)
        found = walk((x * w + c) * x + c)
        return [len(found), x in found, w in found, c in found, *found[w].ravel()]

    def no_rule_for_one():
        x, w = leaves()
        h = w * x
        found = walk(OnlyLeft.apply(h, x * w) + h + OnlyLeft.apply(x, h))
        return [*found[x].ravel(), *found[w].ravel()]

    def from_leaf():
        x, _ = leaves()
        found = walk(x)
        return [len(found), *found[x].ravel()]

    def doublings(n=40):
        x, _ = leaves()
        h = x
        calls.clear()
        for _ in range(n):
            h = Twice.apply(h)
            h = h + h
        with tools.work_limit(100_000):
            found = walk(h, grad * 0.25 ** n)
        return [*found[x].ravel(), len(calls)]

    def long_chain(n=3000):
        x, w = leaves()
        h = x
        for _ in range(n):
            h = h + w
        with np.errstate(over="ignore"):  # of what a mistake doubles 3,000 times
            return walk(h)[w]

    def in_diamond():
        """How often each rule is asked where two paths meet."""
        x, _ = leaves()
        calls.clear()
        h = Twice.apply(x)
        out = Twice.apply(h) + Twice.apply(h)
        found = walk(out)
        return [len(calls), len(set(map(id, calls))), *found[x].ravel()]

    def shared():
        """Add hands one tensor to both sides: nobody may change it."""
        x, w = leaves()
        found = walk((x + w) + x)
        return [*found[x].ravel(), *found[w].ravel()]

    def upstream_afterwards():
        x, w = leaves()
        upstream = student.Tensor(grad)
        student.propagate((x + w + x).grad_fn, upstream)
        return upstream.data

    def nodes_of(out):
        return [node for node in student.topological_order([out.grad_fn]) if not isinstance(node, student.Tensor)]

    def freed(**options):
        """How many nodes there are, are freed, hold something; and the gradient."""
        x, w = leaves()
        out = (x * w + x) * w
        found = walk(out, **options)
        nodes = nodes_of(out)
        return [len(nodes), sum(node.freed for node in nodes), sum(len(node.saved or ()) > 0 for node in nodes), *found[x].ravel()]

    def again(first, second=None):
        """The gradient of a second walk; RuntimeError leaves 0."""
        x, w = leaves()
        out = x * w + x
        one = walk(out, **first)[x]
        try:
            two = walk(out, w_data)[x]
        except RuntimeError as error:
            if isinstance(error, NotImplementedError):
                raise
            two = 0 * one
        return [*one.ravel(), *two.ravel()]

    def third():
        """Retained once, freed by the second walk, so the third is an error."""
        x, w = leaves()
        out = x * w + x
        one = walk(out, retain_graph=True)[x]
        walk(out)
        try:
            walk(out)
        except RuntimeError as error:
            if isinstance(error, NotImplementedError):
                raise
            return [1, *one.ravel()]
        return [0, *one.ravel()]

    def from_backward():
        """The method backward, twice, for two results that share a leaf."""
        x, w = leaves()
        (x * w).backward(grad)
        (x + w).backward(w_data)
        return [*x.grad.data.ravel(), *w.grad.data.ravel()]

    def on_the_way():
        x, w = leaves()
        h = x * w
        (h * x).backward(grad)
        return [h.grad is None, *x.grad.data.ravel()]

    return {
        "input": f"x = {np.round(x_data, 3).tolist()}, w = {np.round(w_data, 3).tolist()}; grad = {np.round(grad, 3).tolist()}",
        "x · w: for x": lambda: of_x(lambda x, w: x * w),
        "x · w: for w": lambda: of_w(lambda x, w: x * w),
        "x · w + x: for x": lambda: of_x(lambda x, w: x * w + x),
        "x + x: for x": lambda: of_x(lambda x, w: x + x),
        "x · x · w + x · x, shared: for x": lambda: of_x(diamond),
        "s = x + w, t = s · x, s + t · t: for w": lambda: of_w(shortcut),
        "s = x + w, t = s · x, t · t + s: for w": lambda: of_w(shortcut_first),
        "x · row: for the row": of_row,
        "which leaves are found; for w": who,
        "a rule without a gradient for one input: for x, for w": no_rule_for_one,
        "the root is a leaf": from_leaf,
        "a diamond: rules asked, different ones; for x": in_diamond,
        "40 doublings: for x; rules asked": doublings,
        "3,000 sums in a row: for w": long_chain,
        "x + w + x: for x, for w": shared,
        "the gradient that was given, afterwards": upstream_afterwards,
        "nodes, freed, still full; for x": freed,
        "with retain_graph: nodes, freed, still full; for x": lambda: freed(retain_graph=True),
        "a second walk (0 where it is refused)": lambda: again({}),
        "a second walk after retain_graph=True": lambda: again({"retain_graph": True}),
        "retained, freed: is the third walk refused": third,
        "backward of two results: x.grad, w.grad": from_backward,
        "no grad on the way; x.grad": on_the_way,
    }


PUT = "arrived[below] = arrived[below] + part if below in arrived else part"
FREE = "        if not retain_graph:\n            node.free()\n"

function_backward.mistake(
    "the second part that arrives overwrites the first", swap=(PUT, "arrived[below] = part"),
    hint=["x is used twice. How many parts arrive at x?", "Over paths we add: `arrived[below] + part` if there is one already."])
function_backward.mistake(
    "only the first part that arrives counts", swap=(PUT, "arrived.setdefault(below, part)"),
    hint=["x is used twice. What happens to the second part?", "Add it to what has arrived."])
function_backward.mistake(
    "parts are added in place, into a tensor that others hold, too",
    swap=(PUT, "if below in arrived:\n                    arrived[below].data += part.data\n                else:\n                    arrived[below] = part"),
    hint=["Add hands the very same tensor to both of its inputs. You change it for one of them.", "`arrived[below] + part` is a new tensor."])
function_backward.mistake(
    "the order is walked forwards, from the leaves", swap=("reversed(topological_order([root]))", "topological_order([root])"),
    hint=["Who has a gradient when the walk begins?", "`reversed(…)`: the root comes first."])
function_backward.mistake(
    "nodes are visited as they are met: some hand on a gradient that is not complete", source='''
def propagate(root, gradient, retain_graph=False):
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
        for below, part in zip(node.next_nodes, input_gradients(node, grad)):
            if part is not None:
                arrived[below] = arrived[below] + part if below in arrived else part
                queue.append(below)
        if not retain_graph:
            node.free()
    return found


@add_to_class(Tensor)
def backward(self, gradient=None, retain_graph=False):
    root, gradient = start(self, gradient)
    with set_grad_enabled(False):
        for leaf, grad in propagate(root, gradient, retain_graph).items():
            leaf.accumulate_grad(grad)
''', hint=["s + t·t, and t uses s: when is the gradient of s complete?", "Walk `reversed(topological_order([root]))`: a node comes when all who use it are done."])
function_backward.mistake(
    "each part is carried down alone, path by path", source='''
def propagate(root, gradient, retain_graph=False):
    found, nodes = {}, topological_order([root])

    def carry(node, grad):
        if not isinstance(node, Context):
            found[node] = found[node] + grad if node in found else grad
            return
        for below, part in zip(node.next_nodes, input_gradients(node, grad)):
            if part is not None:
                carry(below, part)

    carry(root, gradient)
    for node in nodes:
        if isinstance(node, Context) and not retain_graph:
            node.free()
    return found


@add_to_class(Tensor)
def backward(self, gradient=None, retain_graph=False):
    root, gradient = start(self, gradient)
    with set_grad_enabled(False):
        for leaf, grad in propagate(root, gradient, retain_graph).items():
            leaf.accumulate_grad(grad)
''', hint=["40 doublings have a million million paths. How many nodes?", "Add up what arrives at a node, and ask its rule once."])
function_backward.mistake(
    "nothing is freed", swap=(FREE, ""),
    hint=["What does `retain_graph=False` promise?", "`if not retain_graph: node.free()`."])
function_backward.mistake(
    "freed though it shall be retained", swap=("        if not retain_graph:\n            node.free()\n", "        node.free()\n"),
    hint=["retain_graph=True: the next walk needs what was saved.", "`if not retain_graph:`."])
function_backward.mistake(
    "freed when it shall be retained, and the other way round", swap=("if not retain_graph", "if retain_graph"),
    hint=["Read your condition aloud.", "`if not retain_graph:`."])
function_backward.mistake(
    "only the root is freed", swap=("if not retain_graph", "if not retain_graph and node is root"),
    hint=["Which nodes hold arrays?", "Each node, after it has handed its gradient on."])
function_backward.mistake(
    "a node is freed before its rule is asked", swap=[(FREE, ""), ("        for below, part in zip(", "        if not retain_graph:\n            node.free()\n        for below, part in zip(")],
    hint=["What does the rule find in the bag after free?", "Free it as the last thing in the loop."])
function_backward.mistake(
    "a rule is asked again for each of its inputs", swap=("        for below, part in zip(node.next_nodes, input_gradients(node, grad)):",
                                                            "        for i, below in enumerate(node.next_nodes):\n            part = input_gradients(node, grad)[i] if input_gradients(node, grad) else None"),
    hint=["How often do you call input_gradients for one node?", "Once, before the loop over its parts."])
function_backward.mistake(
    "missing parts are handed on, too", swap=("if part is not None:", "if True:"),
    hint=["None means: this input gets no gradient. What is `arrived[None]`?", "Skip a part that is None."])
function_backward.mistake(
    "nodes on the way are listed among the leaves", swap=("        if not isinstance(node, Context):\n            found[node] = grad\n            continue",
                                                         "        found[node] = grad\n        if not isinstance(node, Context):\n            continue"),
    hint=["Whose gradients does the docstring ask for?", "Put only leaves into the result."])
function_backward.mistake(
    "the gradient that is given is not used: the walk starts from ones", swap=("{root: gradient}", "{root: Tensor(np.ones(gradient.shape))}"),
    hint=["Where does `gradient` come in?", "`arrived = {root: gradient}`."])
function_backward.variant("gradients by id, and a list of parts that is summed at the node", source='''
def propagate(root, gradient, retain_graph=False):
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
            answers = input_gradients(node, total)
            for i, below in enumerate(node.next_nodes):
                if answers[i] is not None:
                    parts_for.setdefault(id(below), []).append(answers[i])
            if retain_graph is False:
                node.free()
    return found


@add_to_class(Tensor)
def backward(self, gradient=None, retain_graph=False):
    root, gradient = start(self, gradient)
    with set_grad_enabled(False):
        for leaf, grad in propagate(root, gradient, retain_graph).items():
            leaf.accumulate_grad(grad)
''')
function_backward.variant("users are counted, in place of an order; all is freed at the end", source='''
def propagate(root, gradient, retain_graph=False):
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
            answers = input_gradients(node, Tensor.wrap(sums[node]))
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


@add_to_class(Tensor)
def backward(self, gradient=None, retain_graph=False):
    root, gradient = start(self, gradient)
    with set_grad_enabled(False):
        for leaf, grad in propagate(root, gradient, retain_graph).items():
            leaf.accumulate_grad(grad)
''')
