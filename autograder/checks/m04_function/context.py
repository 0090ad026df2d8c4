"""Check 1 of lesson 04: what a node keeps for backward, and lets go of."""

import numpy as np

from autograder.checks.cases import choice
from autograder.checks.check import exercise
from autograder.checks.m04_function.inputs import lists, texts

function_context = exercise("function.context", "What was saved comes back as tensors, and free drops it.")

ROW, MATRIX = "np.array([0.5, -1.5])", "np.array([[1.0, 2.0], [3.0, 4.0]])"
THINGS = [ROW, MATRIX, "np.array([0, 1, 2])", "np.array(7.5)", "np.zeros((0, 2))", "None", "2.5", "0"]
SMALL = [
    *THINGS,
    f"{ROW}, {MATRIX}",
    "None, " + ROW,
    ROW + ", None",
    f"2.5, {ROW}, None",
    f"None, {MATRIX}, 0, {ROW}",
    "",
    f"{ROW}, {ROW}",
]
EARLIER = lists("earlier", ["", "", f"[{MATRIX}]", f"[None], [{ROW}, 2.5]"], [f"[{thing}]" for thing in THINGS], 2)
SAVED = lists("things", SMALL, THINGS, 4) * EARLIER * choice("kind", *texts("Tensor", "type('Picture', (Tensor,), {})"))


def saved(student, case):
    ctx, another = (student.Context(None, (True,), case.kind) for _ in range(2))
    for things in case.earlier:
        ctx.save_for_backward(*things)
        ctx.saved_tensors
    ctx.save_for_backward(*case.things)
    another.save_for_backward(np.ones(3))
    yield
    back = ctx.saved_tensors
    return {
        "classes": ", ".join(type(x).__name__ for x in back),
        "numbers": [student.raw(x) for x in back],
        "they are what was saved, not copies": [student.raw(x) is y for x, y in zip(back, case.things)],
        "asked again": [student.raw(x) for x in ctx.saved_tensors],
        "kept": [x is y for x, y in zip(ctx.kept, case.things)],
    }


def freed(student, case):
    import weakref

    ctx, another = (student.Context(None, (True,), case.kind) for _ in range(2))
    arrays = [np.array(numbers) for numbers in ([1.0, 2.0], [3.0])[: 1 + len(case.things) % 2]]
    watched = [weakref.ref(array) for array in arrays]
    ctx.save_for_backward(*arrays)
    another.save_for_backward(*case.things)
    if case.earlier:
        ctx.saved_tensors
    before = ctx.freed, another.freed
    del arrays
    ctx.free()
    return {
        "freed before": before,
        "freed": [ctx.freed, another.freed],
        "still alive": [ref() is not None for ref in watched],
        "kept": len(ctx.kept),
        "saved_tensors": len(ctx.saved_tensors),
        "another's": len(another.saved_tensors),
    }


def kinds(student, case):
    ctx = student.Context(None, (True,), student.Tensor)
    ctx.save_for_backward(*case.things)
    before = type(ctx.saved_tensors).__name__
    ctx.free()
    return before, ctx.kept == ()


function_context.aspect("saved_tensors", 1.25, cases=SAVED, few=40)(saved)
function_context.aspect("free", 0.5, cases=SAVED, few=15)(freed)
function_context.aspect(
    "a tuple, and () after free", 0.25, cases=lists("things", SMALL, THINGS, 4), corner=True, few=5
)(kinds)


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
function_context.mistake(
    "saved_tensors is a list, not a tuple",
    hint=["Look at the docstring's first words.", "`tuple([…])`."],
    swap=(
        "tuple([wrap(x) if isinstance(x, np.ndarray) else x for x in self.kept])",
        "[wrap(x) if isinstance(x, np.ndarray) else x for x in self.kept]",
    ),
)
function_context.variant(
    "a loop and a list",
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
            x = self.tensor_type.wrap(x)
        found.append(x)
    return tuple(found)


@add_to_class(Context)
def free(self):
    self.kept, self.freed = (), True
""",
)
function_context.variant(
    "wrapped at once, not when they are asked for",
    source="""

@add_to_class(Context)
def save_for_backward(self, *arrays):
    self.kept = arrays
    self.tensors = tuple(self.tensor_type.wrap(x) if hasattr(x, "dtype") else x for x in arrays)


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
