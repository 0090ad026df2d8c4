"""How much of a solution do the texts of a students' copy hold? Statement by statement, whatever its variables are called.

A solution region (between nbgrader's markers) and each function of a copy become lists of statements. A statement is
its syntax without comments, docstrings, annotations and names: of variables, which are numbered in the order in which
they come, and of classes. What is called, attributes and constants stay. A statement weighs as much as its syntax has nodes.
The share of a region that a function holds is the weight of the statements that both have, in one order.
"""

import ast
import builtins
import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from autograder.lesson.symbols import BEGIN, END
from autograder.lesson.text import Lesson

SHARE = 0.6  # of a region's weight: what holds as much gives it away
REGION = re.compile(rf"{BEGIN}\n(.*?)^ *{END}", re.DOTALL | re.MULTILINE)
WEIGHT = 16  # of a region: what weighs less is written in a line, and anybody's
KEPT = {*dir(builtins), "np", "math", "cl", "ag", "nn"} - {"input", "sum", "id", "iter", "next", "max", "min", "filter"}


@dataclass(frozen=True)
class Statement:
    text: str
    weight: int


Body = tuple[Statement, ...]


class Anonymous(ast.NodeTransformer):
    """Numbers for the names of variables, one word for those of classes, nothing for annotations."""

    def __init__(self):
        self.numbers: dict[str, str] = {}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) and not node.func.id[0].isupper() else ""
        self.generic_visit(node)
        if name:
            node.func = ast.Name(name)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in KEPT:
            return node
        return ast.Name("Class" if node.id[0].isupper() else self.number(node.id))

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self.number(node.arg))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return self.visit(ast.Assign([node.target], node.value or ast.Constant(None)))

    def number(self, name: str) -> str:
        return self.numbers.setdefault(name, f"v{len(self.numbers)}")


def statements(nodes: list[ast.stmt]) -> Iterator[Statement]:
    """The statements of a body, those inside others after the line that these begin with."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from statements(node.body)
            continue
        inside = [name for name in ("body", "orelse", "finalbody") if getattr(node, name, None)]
        alone = ast.parse(ast.unparse(node)).body[0]
        for name in inside:
            setattr(alone, name, [ast.Pass()] if name == "body" else [])
        if getattr(alone, "handlers", None):
            alone.handlers = [ast.ExceptHandler(None, None, [ast.Pass()])]
        weight = sum(not isinstance(each, ast.expr_context | ast.Pass) for each in ast.walk(alone))
        yield Statement(ast.unparse(ast.fix_missing_locations(Anonymous().visit(alone))), weight)
        for name in inside:
            yield from statements(getattr(node, name))
        for handler in getattr(node, "handlers", []):
            yield from statements(handler.body)


def lines_of_c(text: str) -> Iterator[Statement]:
    """The lines of a kernel, which are read as words."""
    for line in re.sub(r"//.*|/\*.*?\*/", "", text).splitlines():
        words = re.findall(r"\w+|[^\w\s]", line)
        if len(words) > 1:
            yield Statement(" ".join(words), len(words))


def body_of(text: str) -> Body:
    """The statements of a piece of Python, or else the lines of a kernel."""
    try:
        return tuple(statements(ast.parse(textwrap.dedent(text)).body))
    except SyntaxError:
        return tuple(lines_of_c(text))


def solutions(lesson: Lesson) -> Iterator[tuple[str, Body]]:
    """(exercise, what a student writes): each region, and all those of one class; nothing that is a matter of one line."""
    for cell in lesson.cells:
        if cell.kind == "exercise":
            for definition in definitions(cell.source):
                regions = [body_of(text) for text in REGION.findall(definition)]
                joined = tuple(statement for region in regions for statement in region)
                yield from ((cell.name, body) for body in {*regions, joined} if weight(body) >= WEIGHT)


def definitions(source: str) -> list[str]:
    """A cell's text in parts: each function or class that begins at the margin, with what comes before it."""
    return re.split(r"(?<=\n)(?=(?:def|class) )", source)


def bodies_in(path: str, text: str) -> Iterator[Body]:
    """What a file of a copy holds: each function, each cell outside of functions, each text of several lines."""
    if path.endswith(".ipynb"):
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "code":
                yield from bodies("".join(cell["source"]))
    elif path.endswith(".json"):
        for each in texts_in(json.loads(text)):
            yield from bodies(each)
    elif path.endswith(".py"):
        yield from bodies(text)


def texts_in(value) -> Iterator[str]:
    """All texts of several lines in a JSON value."""
    if isinstance(value, str):
        if "\n" in value:
            yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


@lru_cache(None)
def bodies(text: str) -> tuple[Body, ...]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return (tuple(lines_of_c(text)),)
    functions = [node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    outside = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    strings = [
        tuple(lines_of_c(node.value))
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value
    ]
    return *(tuple(statements(each)) for each in [*functions, outside]), *strings


def weight(body: Body) -> int:
    return sum(each.weight for each in body)


def share(region: Body, body: Body) -> float:
    """The part of a region's weight that a body holds, in the region's order: the heaviest common subsequence."""
    known = {each.text for each in body}
    if weight(tuple(each for each in region if each.text in known)) < SHARE * weight(region):
        return 0.0
    best = [0] * (len(body) + 1)
    for mine in region:
        before = best[:]
        for i, theirs in enumerate(body):
            best[i + 1] = max(best[i], before[i + 1], before[i] + mine.weight * (mine.text == theirs.text))
    return best[-1] / weight(region)
