"""What is special about a case, in words that fit after «where»: computed from its inputs."""

import ast
import itertools
import math
import re

import numpy as np

from autograder.checks.cases import Case

WRITTEN_OUT = {"arange", "array", "full", "ones", "zeros"}
UNSEEN = {"fill", "took", "queued"}  # inputs that only the check knows: a seed, times on a clock
LAUNCH = {"work_items", "first", "group"}  # how a check launches a kernel: its own tags say what matters there
DOTTED = re.compile(r"^[A-Za-z_]\w*(\.\w+)+$")


def tags_of(case: Case) -> frozenset[str]:
    """The case's own tags, those of each input, and of pairs of inputs."""
    found = set(case.tags)
    unseen = UNSEEN | LAUNCH if "work_items" in case.inputs else UNSEEN
    each = {name: set(tags(value)) for name, value in case.values.items() if name not in unseen}
    for name, text in case.inputs.items():
        if name not in case.values and (array := array_in(text)) is not None:  # that the student's names are given
            each[name] = set(tags_of_array(array))
    for name, said in each.items():
        found |= {f"{name} {tag}" for tag in said}
    for (one, ones), (two, twos) in itertools.combinations(each.items(), 2):
        found |= {f"{one} or {two} {tag}" for tag in ones | twos}
        found |= set(tags_of_pair(one, case.values.get(one), two, case.values.get(two)))
    for name, text in case.inputs.items():
        if name in unseen:
            continue
        if DOTTED.match(text):
            found.add(f"{name} is `{text}`")
        elif name not in case.values or "lambda" in text:
            found |= {f"{name} uses {used}" for used in names_in(text)}
    return frozenset(found)


def tags(value):
    """Of one input; each completes «a …»."""
    if isinstance(value, np.ndarray):
        yield from tags_of_array(value)
    elif isinstance(value, str) and "\n" in value:
        yield from (f"has the line `{line.strip()}`" for line in value.splitlines())
        yield from (f"uses {used}" for used in names_in(value))
    elif value is None or isinstance(value, (bool, str)):
        yield f"is {value!r}"
    elif isinstance(value, (int, float)):
        yield from tags_of_number(value)
    elif isinstance(value, tuple) and any(isinstance(part, (np.ndarray, list, tuple)) for part in value):
        yield "is a tuple"
    elif isinstance(value, tuple):
        yield f"is {value!r}"
        yield "is a tuple"
        yield f"has {len(value)} entries"
        if 1 in value:
            yield "has a size of 1"
        if 0 in value:
            yield "holds 0"
        if len(set(value)) < len(value):
            yield "has two equal entries"
        if all(isinstance(part, int) for part in value) and any(part < 0 for part in value):
            yield "has a negative entry"
        if list(value) != sorted(value, key=repr):
            yield "is in no rising order"
    elif isinstance(value, list):
        yield f"has {len(value)} entries"
        if len(value) > 1:
            yield "has more than one entry"


def tags_of_number(value):
    if isinstance(value, float) and not math.isfinite(value):
        yield "is not finite"
        return
    if value in (0, 1):  # other numbers are drawn: a word for each of them fits by chance
        yield f"is {value:g}"
    if value < 0:
        yield "is negative"
    if value > 1:
        yield "is greater than 1"
    if isinstance(value, int):
        yield "is an int"
        yield "is odd" if value % 2 else "is even"
    elif value == int(value):
        yield "is a whole number"


def tags_of_array(array: np.ndarray):
    yield f"has {array.ndim} axes" if array.ndim != 1 else "has one axis"
    if array.ndim > 1:
        yield "has more than one axis"
    if array.ndim > 2:
        yield "has more than two axes"
    if array.size == 1:
        yield "is one number"
    if array.size == 0:
        yield "is empty"
    if 1 in array.shape:
        yield "has an axis of size 1"
    if array.ndim > 1 and len(set(array.shape)) == 1:
        yield "is square"
    if array.ndim > 1 and len(set(array.shape)) < array.ndim:
        yield "has two axes of one size"
    if not array.flags.c_contiguous:
        yield "is a transposed view"
    if array.size > 60:
        yield "is large"
    if array.dtype.kind in "iu":
        yield "holds whole numbers (int)"
    if array.dtype == np.float32:
        yield "is float32"
    if array.dtype.kind not in "fiu" or not array.size:
        return
    finite = np.isfinite(array)
    if np.isnan(array).any():
        yield "holds NaN"
    if np.isinf(array).any():
        yield "holds ∞"
    if (array[finite] == 0).any():
        yield "holds 0"
    if (array == 0).all():
        yield "holds nothing but 0"
    if (array[finite] < 0).any():
        yield "holds a negative number"
    if (array[finite] > 0).any():
        yield "holds a positive number"
    if len(np.unique(array)) < array.size:
        yield "holds two equal numbers"
    if (array == array.max()).sum() > 1:
        yield "holds its largest number twice"
    if finite.all() and (array == np.round(array)).all():
        yield "holds only whole numbers"
    if (np.abs(array[finite]) >= 100).any():
        yield "holds a number of 100 or more"


def tags_of_pair(one, first, two, second):
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first is second:
            yield f"{one} and {two} are the same array"
        if first.shape == second.shape:
            yield f"{one} and {two} have one shape"
        elif first.ndim != second.ndim:
            yield f"{one} has {'more' if first.ndim > second.ndim else 'fewer'} axes than {two}"
        try:
            shape = np.broadcast_shapes(first.shape, second.shape)
        except ValueError:
            return
        for name, array in ((one, first), (two, second)):
            if array.shape != shape:
                yield f"{name} is stretched against the other"
        if shape not in (first.shape, second.shape):
            yield "both are stretched"
    elif isinstance(first, np.ndarray) and is_shape(second):
        yield from tags_of_shape(one, first, two, second)
    elif isinstance(second, np.ndarray) and is_shape(first):
        yield from tags_of_shape(two, second, one, first)
    elif isinstance(first, (int, float)) and isinstance(second, (int, float)) and not isinstance(first, bool):
        if first == second:
            yield f"{one} = {two}"
        elif type(first) is type(second):
            yield f"{one} {'<' if first < second else '>'} {two}"


def is_shape(value) -> bool:
    return isinstance(value, tuple) and all(isinstance(part, int) for part in value)


def tags_of_shape(one, array, two, shape):
    """Of an array, and of a tuple that may be a shape."""
    if array.shape == shape:
        yield f"{two} is the shape of {one}"
    elif array.ndim != len(shape):
        yield f"{one} has {'more' if array.ndim > len(shape) else 'fewer'} axes than {two} has entries"
    else:
        yield f"{one} has as many axes as {two} has entries, of other sizes"


SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@", "USub": "-x"}


def names_in(text: str) -> set[str]:
    """What an expression or a program uses: functions, attributes, operators, "a number"."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        return set()
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    kinds = {type(node.op).__name__ for node in nodes if isinstance(node, (ast.BinOp, ast.UnaryOp))}
    named = {f"`{name}`" for name in called | attributes | {SIGNS[kind] for kind in kinds if kind in SIGNS}}
    numbers = any(isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) for node in nodes)
    return named | ({"a number"} if numbers else set())


def array_in(text: str) -> np.ndarray | None:
    """The first array that an expression writes out, `np.array(…)` say; None where there is none."""
    try:
        nodes = ast.walk(ast.parse(text, mode="eval"))
    except SyntaxError:
        return None
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITTEN_OUT:
            try:
                made = eval(compile(ast.Expression(node), "<array>", "eval"), {"np": np, "math": math})
            except (NameError, AttributeError):
                continue
            return made if isinstance(made, np.ndarray) else None
    return None
