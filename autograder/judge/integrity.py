"""Integrity flags that are read off the notebook's code and its numbers. The instructor sees them; they change no mark."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from autograder.checks.check import Check
from autograder.checks.inside import Trial
from autograder.judge.expected import fit
from autograder.judge.outcome import of_label
from autograder.judge.plan import plan_of
from autograder.lesson.imports import names_imported

LIBRARIES = {
    "autograd",
    "casadi",
    "jax",
    "micrograd",
    "mxnet",
    "netcl",
    "numdifftools",
    "sympy",
    "tensorflow",
    "tinygrad",
    "torch",
}
EXACT = {"decimal", "fractions", "gmpy2", "mpmath"}  # so many digits that a difference quotient loses none
COMPLEX = {"cmath", "complex", "complex64", "complex128", "imag"}
HOOKS = {"ast_transformers", "events", "input_transformers_cleanup", "input_transformers_post"}  # of IPython's shell
COUNTERS = {"currentframe", "f_locals", "get_objects", "get_referrers", "setprofile", "settrace", "tb_frame"}
STARTERS = {
    "Popen",
    "execv",
    "execve",
    "execvp",
    "getoutput",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "subprocess",
    "system",
}
RUN_TEXT = {"eval", "exec", "ex", "ev", "run_cell", "run_cell_magic", "run_code", "run_line_magic"}
BUILTINS = {"builtins", "__builtins__"}
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda
IMPORT_NAME = {"__import__", "import_module"}
ASSEMBLY = re.compile(r"\b_*asm_*\b")
DEPTH = 3  # texts of code within texts of code
OPTIONS = 6  # words of a magic before the code that it runs
MEASURED = 1e-4  # relative; a larger error is a mistake
VALUES = (
    "y.data",
    "y",
    "out",
    "output",
    "product",
)  # parts that are no gradients, beside gradients; so is a lone result
ROUNDING = 1e-12  # relative; rounding errors in float64 are far below, errors of central differences above


def measured_gradient(check: Check, trials: list[Trial], seed: str) -> str:
    """A flag if a gradient is right, but only to the precision of finite differences; else "".

    The gradients are the aspects that are compared with finite differences on the device, or that are named ∂…, label by label.
    Who measures them has exact values. Where the values are as inexact, the cause is another one, such as a constant of a few digits.
    """
    values: dict[str, list[float]] = {}
    gradients: dict[str, list[float]] = {}
    for (aspect, _), want, got in zip(plan_of(check.name, seed), fit(check.name, seed), trials):
        for label, outcome in (want or {}).items():
            if outcome.array is not None and outcome.array.dtype == np.float64 and outcome.array.any():
                is_gradient = aspect.device or aspect.name.startswith("∂")
                is_value = label in VALUES or not (label or is_gradient)
                if is_value or is_gradient:
                    errors = (values if is_value else gradients).setdefault(label or aspect.name, [])
                    errors.append(relative_error(outcome.array, of_label(got, label).array))
    if any(map(is_inexact, values.values())):
        return ""
    for label, found in gradients.items():
        if is_inexact(found):
            return f"{check.name}, {label}: right to {max(found):.0e} only, the precision of finite differences"
    return ""


def is_inexact(errors: list[float]) -> bool:
    """Whether something is right, but not to the precision of float64."""
    return max(errors) < MEASURED and bool(np.median(errors) > ROUNDING)


def relative_error(expected, got) -> float:
    """The largest difference by the largest number, where numbers are finite; infinite where the two cannot be compared in float64."""
    if (
        expected is None
        or got is None
        or expected.shape != got.shape
        or {expected.dtype, got.dtype} != {np.dtype(np.float64)}
    ):
        return np.inf
    finite = np.isfinite(expected)
    if not np.array_equal(expected[~finite], got[~finite], equal_nan=True):
        return np.inf
    size = np.abs(expected[finite]).max(initial=0)
    with np.errstate(all="ignore"):
        return float(np.abs(got[finite] - expected[finite]).max(initial=0) / size) if size else 0.0


def signs_in(cells) -> list[str]:
    """Integrity flags for what stands in cells of code: libraries that differentiate, and arithmetic that hides a difference quotient."""
    names, flags = set(), set()
    for cell in cells:
        if cell.cell_type == "code":
            for tree in trees_in(cell.source):
                names |= {name.partition(".")[0] for name in names_imported(tree)}
                flags |= signs_of(tree)
    if names & EXACT:
        flags.add("computes with exact fractions or many digits, as difference quotients without rounding do")
    return [f"imports {name}" for name in sorted(names & LIBRARIES)] + sorted(flags)


def signs_in_kernel(text: str) -> list[str]:
    """Integrity flags for a kernel's text. OpenCL C has no assembly; a compiler that takes it runs any machine code in the process
    that launches the kernels.
    """
    return ["a kernel holds assembly (asm)"] if ASSEMBLY.search(text.replace("\\\n", "")) else []


def signs_of(tree: ast.AST) -> set[str]:
    """The flags for one piece of code, but for the libraries that it imports."""
    found = set()
    if STARTERS & {name_of(node) for each in ast.walk(tree) if isinstance(each, FUNCTIONS) for node in ast.walk(each)}:
        found.add("a function starts other programs, which could compute for it")
    for node in ast.walk(tree):
        name = name_of(node)
        if name in COMPLEX or isinstance(getattr(node, "value", None), complex):
            found.add("computes with complex numbers, as derivatives by the complex step do")
        if isinstance(node, ast.Attribute) and name in HOOKS:
            found.add("looks at, or changes, the cells that its kernel runs")
        if isinstance(node, ast.Attribute) and name in COUNTERS:
            found.add("looks at frames, traces or all objects: what is counted in its kernel can be forged so")
        if name in BUILTINS and not isinstance(node, ast.Constant):
            found.add("looks at, or changes, Python's built-in functions, which the checks use, too")
        if isinstance(node, ast.Call) and name_of(node.func) in IMPORT_NAME and not is_text(node.args[:1]):
            found.add("imports a module by a computed name")
    return found


def name_of(node: ast.AST) -> str:
    """What a node is called: a name, an attribute, an imported module, a text."""
    name = getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None)
    return str(name or (node.value if isinstance(node, ast.Constant) else ""))


def is_text(arguments: list) -> bool:
    return bool(arguments) and isinstance(arguments[0], ast.Constant)


def trees_in(source: str, depth: int = DEPTH) -> Iterator[ast.AST]:
    """The syntax of a cell, with its magics, and of the texts in it that it runs as code."""
    tree = syntax_of(source)
    if tree is None:
        return
    yield tree
    for node in ast.walk(tree) if depth else ():
        if isinstance(node, ast.Call) and name_of(node.func) in RUN_TEXT:
            for part in (*node.args, *(named.value for named in node.keywords)):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    words = part.value.split(" ", OPTIONS)
                    rest = (" ".join(words[skipped:]) for skipped in range(len(words)))
                    yield from next((found for text in rest if (found := list(trees_in(text, depth - 1)))), ())


def syntax_of(source: str) -> ast.AST | None:
    """The syntax tree of a cell; None where IPython could not run it either."""
    try:
        return ast.parse(transformer().transform_cell(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache
def transformer():
    """What turns magics into Python. IPython takes long to import, and a notebook's own checks need none of this."""
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager()
