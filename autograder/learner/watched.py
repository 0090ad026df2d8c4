"""The code behind the functions that lessons ask for: the package's, and those of the open notebook."""

import ast
import sys
from collections.abc import Iterator
from types import CodeType

from autograder.learner.own_work import lesson_numbered, pulled_by
from autograder.learner.transplant import code_of, functions_behind
from autograder.lesson.symbols import functions_of
from autograder.lesson.text import read_lesson


def references_functions(module: str) -> Iterator[tuple[str, CodeType]]:
    """(name, code) of the package's functions that a lesson asks for, of what is imported already."""
    for symbol in pulled_by(module):
        if symbol.split(":")[0] in sys.modules:
            yield from functions_behind(symbol)


def notebooks_functions(number: int) -> Iterator[tuple[str, CodeType]]:
    """(name, code) of what the open notebook defines for the exercises of its lesson, functions inside functions included."""
    space = vars(sys.modules["__main__"])
    for cell in read_lesson(lesson_numbered(number)).cells:
        if cell.kind != "exercise":
            continue
        for owner, name in defined_in(cell.solved):
            found = vars(space[owner]).get(name) if isinstance(space.get(owner), type) else space.get(name)
            code = code_of(found)
            if code is not None and getattr(found, "__module__", "__main__") == "__main__":
                yield from with_inner(f"{owner}.{name}" if owner else name, code)


def defined_in(source: str) -> Iterator[tuple[str, str]]:
    """(class, function) of a cell; the class is "" for a function alone, and the named one below `@add_to_class(Class)`."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            yield from ((node.name, function.name) for function in functions_of(node))
        elif isinstance(node, ast.FunctionDef):
            added_to = [ast.unparse(each.args[0]) for each in node.decorator_list if isinstance(each, ast.Call)]
            yield (added_to[0] if added_to else ""), node.name


def with_inner(name: str, code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """A function and those inside it, without lambdas and comprehensions."""
    yield name, code
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and not inner.co_name.startswith("<"):
            yield from with_inner(f"{name}.{inner.co_name}", inner)
