"""The tests, tested: none returns without having asserted something, as far as its syntax shows.

Every path through a test function has to meet one of these: an assert; `with pytest.raises` or `pytest.warns`; pytest.skip or
pytest.fail; np.testing.assert_…; a raise; a call of a function of tests/ that does so itself. A loop counts as run once.
"""

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.py"))
ENDS = {"pytest.raises", "pytest.warns", "pytest.skip", "pytest.fail"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Tests that assert nothing themselves, each with the reason.
EXCEPTIONS = {
    "test_netcl_recording.py::test_a_step_is_replayed_by_one_thread_at_a_time": "run_threads raises what its threads assert",
}


def called(call: ast.Call) -> str:
    """What is called, as it is written: "f", "module.f"; "" where it is no name."""
    return ast.unparse(call.func) if isinstance(call.func, (ast.Name, ast.Attribute)) else ""


def parts(statement: ast.stmt):
    """A statement's own expressions and all in them, but for what only a later call would run."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [
            each for each in ast.iter_child_nodes(node) if not isinstance(each, (*FUNCTIONS, ast.Lambda, ast.stmt))
        ]


def asserts(statements: list[ast.stmt], helpers: set[str]) -> bool | None:
    """True: every path through the statements asserts. None: one may come to their end without. False: one returns without."""
    helpers = helpers | {
        each.name for each in statements if isinstance(each, FUNCTIONS) and asserts(each.body, helpers) is True
    }
    for statement in statements:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(statement, (ast.Assert, ast.Raise)):
            return True
        calls = [called(node) for node in parts(statement) if isinstance(node, ast.Call)]
        if any(name in ENDS or name in helpers or "testing.assert_" in name for name in calls):
            return True
        if isinstance(statement, ast.Return):
            return False
        if isinstance(statement, ast.If):
            found = [asserts(branch, helpers) for branch in (statement.body, statement.orelse)]
        elif isinstance(statement, ast.Try):
            found = [asserts(statement.body + statement.orelse + statement.finalbody, helpers)]
        else:  # with, for, while, match
            found = [asserts(getattr(each, "body", []), helpers) for each in getattr(statement, "cases", [statement])]
        if False in found:
            return False
        if found and all(found):
            return True
    return None


def helpers_of(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """{file: the functions that its tests can call, its own or imported from another file, and that assert on every path}"""
    found: dict[str, set[str]] = {name: set() for name in trees}
    before = None
    while found != before:
        before = {name: set(helpers) for name, helpers in found.items()}
        for name, tree in trees.items():
            for node in tree.body:
                if isinstance(node, FUNCTIONS) and asserts(node.body, before[name]) is True:
                    found[name].add(node.name)
                elif isinstance(node, ast.ImportFrom) and f"{node.module}.py" in trees:
                    theirs = before[f"{node.module}.py"]
                    found[name] |= {each.asname or each.name for each in node.names if each.name in theirs}
    return found


TREES = {path.name: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
HELPERS = helpers_of(TREES)
TESTS = [
    (name, node)
    for name, tree in TREES.items()
    for node in ast.walk(tree)
    if isinstance(node, FUNCTIONS) and node.name.startswith("test_")
]


def test_no_test_returns_without_asserting():
    silent = {f"{name}::{node.name}" for name, node in TESTS if asserts(node.body, HELPERS[name]) is not True}
    assert silent == set(EXCEPTIONS)


@pytest.mark.parametrize(
    "source, found",
    [
        ("assert x", True),
        ("f(x)", None),
        ("if x:\n    return\nassert x", False),
        ("if x:\n    assert x", None),
        ("if x:\n    assert x\nelse:\n    with pytest.raises(E):\n        f()", True),
        ("for y in x:\n    if y:\n        assert y", None),
        ("for y in x:\n    if y:\n        continue\n    assert y", True),
        ("def inner():\n    assert x\ninner()", True),
        ("def inner():\n    assert x\nreturn inner", False),
        ("try:\n    f()\nfinally:\n    assert x", True),
        ("subprocess.run(x)", None),
        ("np.testing.assert_allclose(x, y)", True),
        ("helper(x)", True),
        ("return helper(x)", True),
    ],
)
def test_the_rule(source, found):
    assert asserts(ast.parse(source).body, {"helper"}) is found
