"""Pull the source of a solution out of the reference package by its symbol, so that it stands in one place only.

A symbol is `module:name`, `module:Class.method`, or `module:Class[member member]` for a class with its docstring and
the named members alone.
"""

import ast
import importlib.util
import re
import textwrap
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.errors import CourseError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_WRITTEN, END_WRITTEN = "<!-- BEGIN SOLUTION -->", "<!-- END SOLUTION -->"
STUBS = {BEGIN: "raise NotImplementedError", BEGIN_WRITTEN: "YOUR ANSWER HERE"}
ENDS = (END, END_WRITTEN)
SYMBOL = re.compile(r"(?P<module>[\w.]+):(?P<name>\w+)(\.(?P<method>\w+)|\[(?P<members>[^\]]*)\])?$")


def split_symbols(text: str) -> list[str]:
    """The symbols of a `source="…"`, which are separated by spaces; brackets may hold spaces, too."""
    return re.findall(r"[\w.]+:\w+(?:\.\w+|\[[^\]]*\])?", text)


def pull(symbol: str) -> str:
    """The source behind a symbol, dedented; a method comes with `@add_to_class(Class)` in front of it."""
    match = parse(symbol)
    text, tree = module_source(match["module"])
    node = find(tree, match["name"], symbol)
    if match["members"] is not None:
        return class_with(text, node, match["members"].split(), symbol)
    if match["method"]:
        return f"@add_to_class({match['name']})\n" + source_of(text, find(node, match["method"], symbol))
    return source_of(text, node)


def parse(symbol: str) -> re.Match[str]:
    match = SYMBOL.match(symbol)
    if not match:
        raise CourseError(f"{symbol!r} is no symbol; write module:name, module:Class.method or module:Class[members]")
    return match


@lru_cache
def module_source(module: str) -> tuple[str, ast.Module]:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise CourseError(f"there is no module {module}")
    text = Path(spec.origin).read_text(encoding="utf-8")
    return text, ast.parse(text)


def find(parent: ast.Module | ast.ClassDef, name: str, symbol: str) -> Any:
    """The function, class or assignment of that name in a module or a class."""
    for node in parent.body:
        if name in names_of(node):
            return node
    raise CourseError(f"{symbol}: there is no {name} in it")


def names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def source_of(text: str, node: ast.stmt) -> str:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return textwrap.dedent("\n".join(text.splitlines()[first - 1 : node.end_lineno]))


def class_with(text: str, node: ast.ClassDef, members: list[str], symbol: str) -> str:
    """The class with its docstring and the named members, in the order of the class."""
    for member in members:
        find(node, member, symbol)
    header = "\n".join(text.splitlines()[node.lineno - 1 : node.body[0].lineno - 1])
    parts = [source_of(text, node.body[0])] if ast.get_docstring(node) else []
    parts += [source_of(text, child) for child in node.body if set(names_of(child)) & set(members)]
    return header + "\n" + textwrap.indent("\n\n".join(parts), "    ")


def mark_solutions(source: str) -> str:
    """Put nbgrader's solution markers around the body of every function and of every method, after its docstring."""
    lines = source.splitlines()
    for node in reversed(functions_of(ast.parse(source))):
        body = body_of(node)
        if not body:
            raise CourseError(f"{node.name} has no body to hide")
        start, indent = first_line(body[0]) - 1, " " * body[0].col_offset
        lines[node.end_lineno : node.end_lineno] = [indent + END]
        lines[start:start] = [indent + BEGIN]
    return "\n".join(lines)


def with_stand_ins(source: str, asked: dict[str, str]) -> str:
    """The source of a module in which what is behind symbols of it is the notebook's (`autograder.stand_in`).

    asked    {symbol: the sentence of the error where the notebook has none}; `{name}` in it is filled in

    What a notebook's stub shows stays: signatures, docstrings, a class's attributes.
    """
    lines, tree = source.splitlines(), ast.parse(source)
    changes = []  # (first line, last line, what stands there instead)
    for node, functions in asked_of(tree, asked).items():
        if isinstance(node, ast.ClassDef):
            changes.append((node.lineno, first_line(node.body[0]) - 1, header_of(node, functions)))
        else:
            changes.append((first_line(node), first_line(node) - 1, "@from_notebook"))
        for function, sentence in functions.items():
            said = sentence.format(name=called(node, function))
            changes.append(without_body(function, f"unwritten({said!r})", lines))
    if changes:
        line = next((first_line(node) for node in tree.body if not stays_first(node)), len(lines) + 1)
        changes.append((line, line - 1, "from autograder.stand_in import FromNotebook, from_notebook, unwritten\n"))
    for first, last, text in sorted(changes, reverse=True):
        lines[first - 1 : last] = [text]
    return "\n".join(lines) + "\n"


def without_solutions(source: str, asked: dict[str, str]) -> str:
    """The source of a module without what is behind symbols of it, whatever a notebook defines under their names.

    asked    {symbol: the sentence of the error in its place}; `{name}` in it is filled in
    """
    lines, changes = source.splitlines(), []
    for node, functions in asked_of(ast.parse(source), asked).items():
        for function, sentence in functions.items():
            said = sentence.format(name=called(node, function))
            changes.append(without_body(function, f"raise NotImplementedError({said!r})", lines))
    for first, last, text in sorted(changes, reverse=True):
        lines[first - 1 : last] = [text]
    return "\n".join(lines) + "\n"


def called(node: ast.ClassDef | ast.FunctionDef, function: ast.FunctionDef) -> str:
    """A function's name, a method's with its class."""
    return function.name if function is node else f"{node.name}.{function.name}"


def asked_of(
    tree: ast.Module, asked: dict[str, str]
) -> dict[ast.ClassDef | ast.FunctionDef, dict[ast.FunctionDef, str]]:
    """{function, or class: {each function of it that is asked for: the sentence}}. A constant is no secret: stubs show it."""
    found: dict[ast.ClassDef | ast.FunctionDef, dict[ast.FunctionDef, str]] = {}
    for symbol, sentence in asked.items():
        match = parse(symbol)
        node = find(tree, match["name"], symbol)
        members = match["method"] or match["members"]
        if isinstance(node, ast.ClassDef):
            methods = [each for each in functions_of(node) if not members or each.name in members.split()]
            found[node] = found.get(node, {}) | dict.fromkeys(methods, sentence)
        elif isinstance(node, ast.FunctionDef):
            found[node] = {node: sentence}
    return {node: functions for node, functions in found.items() if functions}


def without_body(function: ast.FunctionDef, error: str, lines: list[str]) -> tuple[int, int, str]:
    """The change that leaves of a function's body a statement that raises an error."""
    first = body_of(function)[0]
    before = lines[first_line(first) - 1][: first.col_offset]  # on one line with it: `def f(x): return x`
    return first_line(first), function.end_lineno or function.lineno, f"{before}{error}"


def header_of(node: ast.ClassDef, functions: Iterable[ast.FunctionDef]) -> str:
    """The line that a class begins with, and says which of its methods are the notebook's."""
    if any(keyword.arg == "metaclass" for keyword in node.keywords):
        raise CourseError(f"{node.name} has a metaclass: its methods cannot be pulled")
    names = ast.Tuple([ast.Constant(name) for name in dict.fromkeys(function.name for function in functions)])
    added = [ast.keyword("metaclass", ast.Name("FromNotebook")), ast.keyword("asks", names)]
    alone = ast.ClassDef(node.name, node.bases, [*node.keywords, *added], body=[ast.Pass()], decorator_list=[])
    return ast.unparse(alone).splitlines()[0]


def first_line(node: ast.stmt) -> int:
    """Where it begins, with its decorators."""
    return min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))


def stays_first(node: ast.stmt) -> bool:
    """A docstring or an import from __future__: nothing comes before it."""
    return isinstance(node, ast.Expr) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def functions_of(tree: ast.Module | ast.ClassDef) -> list[ast.FunctionDef]:
    """The functions of a module, and the methods of its classes, in their order; not the functions inside functions."""
    found: list[ast.FunctionDef] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append(node)
        elif isinstance(node, ast.ClassDef):
            found += functions_of(node)
    return found


def body_of(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements after the docstring."""
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def stubbed(source: str) -> str:
    """The source as nbgrader's ClearSolutions leaves it for students: each solution region is one stub."""
    lines, inside = [], False
    for line in source.splitlines():
        mark = line.strip()
        if mark in STUBS:
            lines.append(line.replace(mark, STUBS[mark]))
        if mark in STUBS or mark in ENDS:
            inside = mark in STUBS
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def strip_markers(source: str) -> str:
    """The source without its solution markers."""
    return "\n".join(line for line in source.splitlines() if line.strip() not in (*STUBS, *ENDS))
