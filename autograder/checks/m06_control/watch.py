"""Check 7 of lesson 06: hooks that measure."""

import numpy as np

from autograder.checks.check import check


@check("control.watch", points=3)
def control_watch(student, rng, tools):
    """The length of each gradient, under its own name, and the gradients as they were."""
    Tensor = student.Tensor
    numbers, factors, upstream = rng.normal(size=(3, 2, 5)) + 0.3
    names = [f"{name}{rng.integers(10, 99)}" for name in "abcd"]

    def network():
        a = Tensor(numbers, requires_grad=True)
        b = a * factors
        c = b.tanh() * b  # two ways lead from b
        d = Tensor(factors) * 2  # requires no gradient
        return dict(zip(names, (a, b, c, d))), (c * d * upstream).sum()

    def measured(again=False):
        tensors, loss = network()
        norms = student.watch(tensors)
        first = dict(norms)
        loss.backward(retain_graph=True)
        if again:
            loss.backward(-3.0)
        return tensors, norms, first

    def keys():
        _, norms, first = measured()
        return [str(len(first)), *sorted(norms)]

    def plain():
        tensors, norms, _ = measured()
        return [
            type(norm).__name__ in ("float", "float64", "float32")
            or np.ndim(norm) == 0
            and isinstance(norm, np.ndarray)
            for norm in norms.values()
        ] + [float(norms[names[0]])]

    def only_one():
        a = Tensor(numbers, requires_grad=True)
        norms = student.watch({"a": a})
        (a * upstream).sum().backward()
        return norms["a"]

    def two_watches():
        tensors, loss = network()
        some = student.watch({"first": tensors[names[0]]})
        more = student.watch({"second": tensors[names[1]], "third": tensors[names[2]]})
        loss.backward()
        return [some["first"], more["second"], more["third"], len(some), len(more)]

    return {
        "input": f"{names[0]} = {np.round(numbers, 3).tolist()}, {names[1]} = {names[0]} · factors, "
        f"{names[2]} = tanh({names[1]}) · {names[1]}; {names[3]} requires no gradient",
        "the names, before (how many) and after": keys,
        "the leaf": lambda: measured()[1][names[0]],
        "a tensor with two ways to the loss": lambda: measured()[1][names[1]],
        "the tensor next to the loss": lambda: measured()[1][names[2]],
        "after a second backward, times −3": lambda: [measured(again=True)[1][name] for name in names[:3]],
        "the leaf's gradient, as it would be": lambda: measured()[0][names[0]].grad.data,
        "plain numbers": plain,
        "one tensor alone": only_one,
        "two watches at once": two_watches,
    }


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
    "the length without its root",
    swap=("math.sqrt((gradient.data ** 2).sum())", "float((gradient.data ** 2).sum())"),
    hint="√Σg²: the root is missing.",
)
control_watch.mistake(
    "the mean in place of the sum",
    swap=("(gradient.data ** 2).sum()", "(gradient.data ** 2).mean()"),
    hint="√Σg², over all numbers: a sum.",
)
control_watch.mistake(
    "the sum of the absolute values",
    swap=("math.sqrt((gradient.data ** 2).sum())", "float(abs(gradient.data).sum())"),
    hint="Length means √Σg².",
)
control_watch.mistake(
    "the length of the tensor's numbers, not of its gradient",
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
