"""Check 1 of lesson 04: what a node keeps for backward, and lets go of."""

import numpy as np

from autograder.checks.check import check


@check("function.context", points=2)
def function_context(student, rng, tools):
    """What was saved comes back as tensors, and free drops it."""
    a, b = rng.normal(size=(2, 3)), rng.normal(size=4)
    number = float(rng.uniform(2, 3))

    def saved(*things):
        ctx = student.Context(type("Twice", (), {}), (True, False), student.Tensor)
        ctx.save_for_backward(*things)
        return ctx

    def numbers(things):
        return np.concatenate([np.ravel(x.data) if isinstance(x, student.Tensor) else [np.nan] for x in things])

    def mixed():
        back = saved(None, a, number, None).saved_tensors
        is_tensor = [isinstance(x, student.Tensor) for x in back]
        return [len(back), *[x is None for x in back], *is_tensor, -1 if is_tensor[2] else back[2]]

    def is_plain():
        (back,) = saved(number).saved_tensors
        return [float(back), isinstance(back, student.Tensor)]

    def twice():
        ctx = saved(a, b)
        return np.concatenate([numbers(ctx.saved_tensors), numbers(ctx.saved_tensors)])

    def replaced():
        ctx = saved(a)
        ctx.save_for_backward(b)
        return numbers(ctx.saved_tensors)

    def no_copy():
        x, y = saved(a, b).saved_tensors
        return [x.data is a, y.data is b]

    def is_alive():
        """Whether an array that only the node holds is alive, before and after free."""
        import weakref

        array = rng.normal(size=5)
        watched = weakref.ref(array)
        ctx = saved(array, b)
        del array
        before = [watched() is not None, bool(ctx.freed)]
        ctx.free()
        return before + [watched() is not None, bool(ctx.freed)]

    def another():
        """What is saved in one node, after another has saved something and was freed."""
        first, second = saved(a), saved(b)
        back = numbers(first.saved_tensors)
        second.free()
        return np.concatenate([back, numbers(first.saved_tensors), [first.freed]])

    return {
        "input": f"a = {np.round(a, 3).tolist()}, b = {np.round(b, 3).tolist()}, the number {number:.4g}",
        "one array: its numbers": lambda: numbers(saved(a).saved_tensors),
        "a, b: their numbers, in this order": lambda: numbers(saved(a, b).saved_tensors),
        "how many come back, of a, b; of b": lambda: [len(saved(a, b).saved_tensors), len(saved(b).saved_tensors)],
        "None, a, number, None: what comes back": mixed,
        "a plain number: its value; is it a tensor": is_plain,
        "asked twice": twice,
        "saved twice: the numbers": replaced,
        "are the tensors around the very arrays": no_copy,
        "is the array alive, freed: before free, after": is_alive,
        "two nodes: the one, before and after the other is freed": another,
    }


function_context.mistake(
    "arrays come back as arrays: backward needs tensors",
    swap=("tuple([wrap(x) if isinstance(x, np.ndarray) else x for x in self.kept])", "self.kept"),
    hint=[
        "What does `grad * b` record if b is a plain array? Look at the example in the docstring.",
        "`self.tensor_type.wrap(x)` for each x that is an np.ndarray.",
    ],
)
function_context.mistake(
    "numbers and None are wrapped, too",
    swap=("wrap(x) if isinstance(x, np.ndarray) else x for", "Tensor.wrap(np.asarray(x, float)) for"),
    hint=["A rule asks `is None`. What does a tensor around None answer?", "Wrap only what is an np.ndarray."],
)
function_context.mistake(
    "numbers are wrapped; only None comes back as it is",
    swap=(
        "wrap(x) if isinstance(x, np.ndarray) else x for",
        "None if x is None else Tensor.wrap(np.asarray(x)) for",
    ),
    hint=["What comes back for the 3 in the docstring's example?", "Wrap only what is an np.ndarray."],
)
function_context.mistake(
    "the arrays are copied",
    swap=("[wrap(x)", "[self.tensor_type(x)"),
    hint=[
        "A copy of every saved array, at every use: what does that do to the memory?",
        "`self.tensor_type.wrap(x)`, not `self.tensor_type(x)`.",
    ],
)
function_context.mistake(
    "a second call adds to what the first has saved",
    swap=("self.kept = arrays", "self.kept += arrays"),
    hint=["Look at the last sentence of the docstring.", "`self.kept = arrays`, without +."],
)
function_context.mistake(
    "only the first of the arrays is saved",
    swap=("self.kept = arrays", "self.kept = arrays[:1]"),
    hint=["What is `arrays` if a and b are saved?", "All of it: `self.kept = arrays`."],
)
function_context.mistake(
    "the tuple is saved within a tuple",
    swap=("self.kept = arrays", "self.kept = (arrays,)"),
    hint=["With `*arrays` in the signature, what is `arrays`?", "It is a tuple already: `self.kept = arrays`."],
)
function_context.mistake(
    "the order is reversed",
    swap=("for x in self.kept]", "for x in self.kept[::-1]]"),
    hint=["Which one did forward save first?", "The order in which they were saved."],
)
function_context.mistake(
    "free says that it is freed, and lets nothing go",
    swap=("    self.kept = ()\n", ""),
    hint=["Who still holds the array after free?", "`self.kept = ()`."],
)
function_context.mistake(
    "free drops what was saved, but does not set freed",
    swap=("    self.freed = True", ""),
    hint=["How shall the engine tell a freed node from one that saved nothing?", "`self.freed = True`."],
)
function_context.mistake(
    "what is saved belongs to the class: all nodes share it",
    swap=[("self.kept = arrays", "Context.kept = arrays"), ("in self.kept]", "in Context.kept]")],
    hint=["Two nodes save something. Whose arrays come back?", "`self.kept`: each node has its own."],
)
function_context.variant(
    "a list",
    swap=(
        "tuple([wrap(x) if isinstance(x, np.ndarray) else x for x in self.kept])",
        "[wrap(x) if isinstance(x, np.ndarray) else x for x in self.kept]",
    ),
)
function_context.variant(
    "a loop and a list; what holds nothing is a list",
    source="""
@add_to_class(Context)
def save_for_backward(self, *arrays):
    self.kept = list(arrays)


@add_to_class(Context)
@property
def saved_tensors(self):
    found = []
    for x in self.kept:
        if type(x) is np.ndarray:
            x = Tensor.wrap(x)
        found.append(x)
    return found


@add_to_class(Context)
def free(self):
    self.kept, self.freed = [], True
""",
)
function_context.variant(
    "wrapped at once, not when they are asked for",
    source="""
def wrapped(x):
    return Tensor.wrap(x) if hasattr(x, "dtype") else x


@add_to_class(Context)
def save_for_backward(self, *arrays):
    self.kept = arrays
    self.tensors = tuple(map(wrapped, arrays))


@add_to_class(Context)
@property
def saved_tensors(self):
    return self.tensors


@add_to_class(Context)
def free(self):
    self.freed = not None
    self.kept = self.tensors = ()
""",
)
