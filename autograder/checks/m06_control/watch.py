"""Check 7 of lesson 06: hooks that measure."""

from autograder.checks.check import exercise
from autograder.checks.programs import pick, printed, scripts

control_watch = exercise("control.watch", "Hooks that measure.")

STEPS = ("{a} * 2.0", "{a}.tanh()", "{a} * {a}", "{a} + o", "{a} * o", "{a}", "{a} + a")
LEAVES = (
    "Tensor([3.0, 4.0], requires_grad=True)",
    "Tensor(np.arange(6.0).reshape(2, 3) - 2.5, requires_grad=True)",
    "Tensor(1.5, requires_grad=True)",
)
OTHERS = ("Tensor(3.0)", "Tensor(np.array(0.5), requires_grad=True)")
LOSSES = ("({z} * {z}).sum()", "{z}.sum()", "(3.0 * {z}).sum()", "(o * {z}).sum()")


def network(rng):
    lines, names = [f"o = {pick(rng, OTHERS)}", f"a = {pick(rng, LEAVES)}"], ["o", "a"]
    for b in "bcde"[: rng.integers(1, 5)]:
        lines.append(f"{b} = {pick(rng, STEPS).format(a=pick(rng, names[1:]))}")
        names.append(b)
    return [*lines, f"loss = {pick(rng, LOSSES).format(z=b)}"], names


def watched(names):
    return "watch({" + ", ".join(f"'{name}': {name}" for name in names) + "})"


def measured(rng):
    lines, names = network(rng)
    chosen = [name for name in names if rng.random() < 0.7] or names[-1:]
    return [*lines, f"norms = {watched(chosen)}", "loss.backward()", "print(norms)", "print(a.grad)"]


def again(rng):
    lines, names = network(rng)
    more = [f"more = {watched(names[-1:])}", "loss.backward(-3.0, retain_graph=True)", "print(norms)", "print(more)"]
    return [
        *lines,
        f"norms = {watched(names)}",
        "print(norms)",
        "loss.backward(retain_graph=True)",
        *more,
        "loss.backward(0.5)",
        "print(norms)",
        "print(a.grad)",
    ]


A, SHOW = "a = Tensor([3.0, 4.0], requires_grad=True)", ["print(norms)", "print(a.grad)"]
SMALL = (
    [A, "norms = watch({'a': a})", "(a * 2.0).sum().backward()", *SHOW],
    [A, "b = a * 2.0", "norms = watch({'a': a, 'b': b})", "(b * b).sum().backward()", *SHOW],
    [A, "b = a * 2.0", "norms = watch({'x': b, 'y': b})", "b.sum().backward()", *SHOW],
    [A, "k = Tensor([1.0, 2.0])", "norms = watch({'k': k, 'a': a})", "(a * k).sum().backward()", *SHOW],
    [A, "b = a.tanh()", "c = b * a", "norms = watch({'c': c, 'a': a})", "c.sum().backward()", *SHOW],
    [A, "norms = watch({})", "a.sum().backward()", *SHOW],
    [A, "b, c = a * 2.0, a * 3.0", "norms = watch({'b': b, 'c': c})", "b.sum().backward()", *SHOW],
    [A, "norms = watch({1: a, 'b': a * 1.0})", "(a * 0.0).sum().backward()", *SHOW],
)
TWICE = ["(a * 2.0).sum().backward()", "print(norms)", "(a * a).sum().backward()", *SHOW]
AGAIN = (
    [A, "norms = watch({'a': a})", "print(norms)", *TWICE],
    [A, "one = watch({'a': a})", "two = watch({'b': a})", "a.sum().backward()", "print(one)", "print(two)"],
    [A, "norms = watch({'a': a})", "a.sum().backward()", "(a * 0.0).sum().backward()", *SHOW],
    [A, "norms = watch({'a': a})", "a.sum().backward()", "print(isinstance(norms['a'], Tensor))", *SHOW],
    [A, "b = a * 2.0", "norms = watch({'a': a, 'b': b})", "b.sum().backward()", "(a * 7.0).sum().backward()", *SHOW],
)

control_watch.aspect("the length under each name; gradients pass unchanged", 2, cases=scripts(SMALL, measured))(printed)
control_watch.aspect("before, and after a second backward; floats; two at once", 1, cases=scripts(AGAIN, again))(
    printed
)


control_watch.mistake(
    "the hooks look up the name after the loop: all write under the last one",
    source="""
def watch(tensors):
    norms = {}
    for name, tensor in tensors.items():
        if tensor.requires_grad:
            def hook(gradient):
                norms[name] = math.sqrt((gradient.data ** 2).sum())
            tensor.register_hook(hook)
    return norms
""",
    hint=[
        "When does the hook ask for `name`? When it is called, long after the loop.",
        "Bind it at once: `def hook(gradient, name=name):`, or make the hook in a function `hook_for(name)`.",
    ],
)
control_watch.mistake(
    "the length is taken without its root",
    swap=("math.sqrt((gradient.data ** 2).sum())", "float((gradient.data ** 2).sum())"),
    hint="√Σg²: the root is missing.",
)
control_watch.mistake(
    "the mean is taken in place of the sum",
    swap=("(gradient.data ** 2).sum()", "(gradient.data ** 2).mean()"),
    hint="√Σg², over all numbers: a sum.",
)
control_watch.mistake(
    "the absolute values are added up",
    swap=("math.sqrt((gradient.data ** 2).sum())", "float(abs(gradient.data).sum())"),
    hint="Length means √Σg².",
)
control_watch.mistake(
    "the length is that of the tensor's numbers, not of its gradient",
    swap=[
        ("hook_for(name):", "hook_for(name, tensor):"),
        ("(gradient.data ** 2)", "(tensor.data ** 2)"),
        ("hook_for(name))", "hook_for(name, tensor))"),
    ],
    hint="The hook is given the gradient: measure that.",
)
control_watch.mistake(
    "the hook replaces the gradient by one of length 1",
    swap=(
        "norms[name] = math.sqrt((gradient.data ** 2).sum())",
        "norms[name] = math.sqrt((gradient.data ** 2).sum())\n            return gradient / norms[name]",
    ),
    hint=["What a hook returns goes on in place of the gradient.", "Look, and return nothing."],
)
control_watch.mistake(
    "the hook returns the length, which replaces the gradient",
    swap=(
        "norms[name] = math.sqrt((gradient.data ** 2).sum())",
        "norms[name] = math.sqrt((gradient.data ** 2).sum())\n            return gradient.wrap(np.array(norms[name]))",
    ),
    hint="What a hook returns goes on in place of the gradient. Return nothing.",
)
control_watch.mistake(
    "a lambda returns what it computes, and that replaces the gradient",
    swap=(
        "tensor.register_hook(hook_for(name))",
        "tensor.register_hook(lambda g, name=name: norms.setdefault(name, g.norm().item()))",
    ),
    hint=[
        "What a hook returns goes on in place of the gradient, and a lambda always returns.",
        "A `def` without `return`; or a call that gives None, such as norms.update(…).",
    ],
)
control_watch.mistake(
    "the lengths are tensors, not floats",
    swap=("math.sqrt((gradient.data ** 2).sum())", "gradient.norm()"),
    hint="A tensor that has one number gives it by `.item()`.",
)
control_watch.mistake(
    "lengths of several backwards are added up",
    swap=("norms[name] = math", "norms[name] = norms.get(name, 0.0) + math"),
    hint="The docstring: after a second backward, that of the second. `=`, not `+=`.",
)
control_watch.mistake(
    "only the first backward is measured",
    swap=(
        "norms[name] = math.sqrt((gradient.data ** 2).sum())",
        "norms.setdefault(name, math.sqrt((gradient.data ** 2).sum()))",
    ),
    hint="The docstring: after a second backward, that of the second.",
)
control_watch.mistake(
    "a tensor that requires no gradient is asked for a hook",
    swap=("if tensor.requires_grad:", "if True:"),
    hint=["register_hook raises there.", "`if tensor.requires_grad:`"],
)
control_watch.mistake(
    "only leaves are watched",
    swap=("if tensor.requires_grad:", "if tensor.requires_grad and tensor.is_leaf:"),
    hint="Hooks are there for the tensors in between: every tensor that requires a gradient.",
)
control_watch.mistake(
    "all watches share one dict",
    swap=[("def watch(tensors):", "def watch(tensors, norms={}):"), ("norms = {}\n", "pass\n")],
    hint=["A default argument is made once, when the function is defined.", "`norms = {}` inside the function."],
)
control_watch.mistake(
    "the names are there from the start, with 0",
    swap=("norms = {}", "norms = {name: 0.0 for name, tensor in tensors.items() if tensor.requires_grad}"),
    hint="The dict is empty before backward; a name appears with its gradient.",
)
control_watch.variant(
    "the name as a default argument",
    source="""
def watch(tensors):
    norms = {}
    for name in tensors:
        if not tensors[name].requires_grad:
            continue

        def hook(g, name=name):
            norms[name] = g.norm().item()
            return g
        tensors[name].register_hook(hook)
    return norms
""",
)
control_watch.variant(
    "with functools.partial, and NumPy's norm",
    source="""
import functools

def measure(norms, name, gradient):
    norms[name] = np.linalg.norm(gradient.data)

def watch(tensors):
    norms = {}
    [t.register_hook(functools.partial(measure, norms, n)) for n, t in tensors.items() if t.requires_grad]
    return norms
""",
)
control_watch.variant(
    "a tensor's square, too, under backward's own no_grad", swap=("(gradient.data ** 2)", "(gradient ** 2)")
)
control_watch.variant(
    "update returns nothing, so a lambda will do",
    source="""
def watch(tensors):
    lengths = dict()
    for name, tensor in tensors.items():
        try:
            tensor.register_hook(lambda g, key=name: lengths.update({key: np.sqrt(np.square(g.detach().numpy()).sum())}))
        except RuntimeError:
            pass
    return lengths
""",
)
