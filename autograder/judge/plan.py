"""The plan of a check for a seed: its aspects with their cases, and the examples of the exercise's docstrings."""

import ast
import doctest
from collections.abc import Container
from functools import lru_cache

from autograder.checks import find
from autograder.checks.aspect import Aspect, text_of
from autograder.checks.cases import Case, literal
from autograder.checks.check import Check
from autograder.checks.inside import Trial, run_cases
from autograder.checks.tools import Tools
from autograder.judge.recorded import REFERENCE, recorded

EXAMPLES = "the docstring's examples"


def examples(student, case):
    """What the lines of an example give, line by line. Whether the engine records is as before afterwards."""
    import contextlib
    import io
    import sys

    names, found = dict(student.__dict__["_namespace"]), {}
    engine = sys.modules.get("tinygrad_cl.tensor")
    recording = engine.set_grad_enabled(True) if engine else contextlib.nullcontext()
    with recording, contextlib.redirect_stdout(io.StringIO()):
        for line in case.lines:
            try:
                code = compile(line, "<example>", "eval")
            except SyntaxError:
                exec(line, names)
            else:
                try:
                    found[line] = eval(code, names)
                except Exception as error:
                    found[line] = error
    return found


def examples_in(source: str) -> list[list[str]]:
    """The examples of each docstring in a cell, as lines of code."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    parser = doctest.DocTestParser()
    sessions = [[example.source.rstrip("\n") for example in parser.get_examples(text)] for text in texts]
    return [lines for lines in sessions if lines]


def examples_request(sessions: list[list[str]]) -> list[dict]:
    return [{"observe": text_of(examples, "observe"), "cases": [{"lines": literal(lines)} for lines in sessions]}]


@lru_cache(maxsize=1024)
def aspects_of(name: str) -> tuple[Aspect, ...]:
    """The aspects of a check, and one of its examples, which earns nothing but costs if it fails."""
    check = find(name)
    cases = [Case({"lines": literal(lines)}) for lines in recorded_examples(check)]
    if not cases:
        return tuple(check.aspects)
    return (*check.aspects, Aspect(EXAMPLES, 0.0, text_of(examples, "observe"), None, listed=cases))


FRESH: dict[str, list[list[str]]] = {}  # sessions that are being recorded


def use_examples(name: str, sessions: list[list[str]]) -> None:
    """From now on these are the check's examples, and not the recorded ones."""
    FRESH[name] = sessions
    aspects_of.cache_clear()
    plan_of.cache_clear()


def recorded_examples(check: Check) -> list[list[str]]:
    """The sessions that the reference runs without an error, as the build recorded them."""
    if check.name in FRESH:
        return FRESH[check.name]
    return recorded(check).get(REFERENCE, {}).get("examples", [])


@lru_cache(maxsize=1024)
def plan_of(name: str, seed: str) -> tuple[tuple[Aspect, Case], ...]:
    """All cases for a seed, aspect by aspect."""
    sharing = find(name).sharing
    return tuple((aspect, case) for aspect in aspects_of(name) for case in aspect.plan(name, seed, sharing))


def request_of(name: str, seed: str, numbers: Container[int] | None = None) -> list[dict]:
    """The plan, or its cases with these numbers, as plain data, for `inside.run_cases`."""
    found: dict[int, dict] = {}
    for number, (aspect, case) in enumerate(plan_of(name, seed)):
        if numbers is None or number in numbers:
            found.setdefault(id(aspect), request(aspect))["cases"].append(case.inputs)
    return list(found.values())


def request(aspect: Aspect, *cases: Case) -> dict:
    """An aspect with cases as plain data."""
    return {"observe": aspect.source, "texts": aspect.texts, "cases": [case.inputs for case in cases]}


@lru_cache(maxsize=1024)
def watched_plan(name: str, seed: str) -> tuple[tuple[Aspect, Case], ...]:
    """The one launch that Oclgrind watches; none where the exercise hands over no kernel."""
    aspect = find(name).watched
    return tuple((aspect, case) for case in aspect.plan(name, seed, 1)) if aspect else ()


def run(check: Check, namespace: dict, seed: str, numbers: Container[int] | None = None) -> list[Trial]:
    """All cases, or those with these numbers, on a namespace of this process: a notebook's, the reference's, a mistake's."""
    return run_cases(request_of(check.name, seed, numbers), namespace, Tools(), check.seconds)
