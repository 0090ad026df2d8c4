"""The table of exercises: it is what the lessons say, nothing lacks its reason, and what is pulled is used by the package."""

import ast
import doctest
import io

import numpy as np
import pytest

from autograder import paths
from autograder.judge.reference import reference_namespace
from autograder.lesson import exercises
from autograder.lesson.symbols import SYMBOL, names_of
from autograder.lesson.text import read_lesson

CELLS = [cell for module in paths.module_names() for cell in exercises.exercises(read_lesson(module))]
PACKAGE = paths.ROOT / "tinygrad_cl"


def test_the_page_is_what_the_lessons_give():
    text = exercises.FILE.read_text(encoding="utf-8")
    assert all(text.count(f"| `{cell.name}` |") == 1 for cell in CELLS)
    assert f"{sum(bool(cell.pulled) for cell in CELLS)} of {len(CELLS)} exercises are pulled" in text


def test_each_exercise_is_pulled_or_says_why_it_is_not():
    assert [cell.name for cell in CELLS if not cell.pulled and not cell.own] == [], "it lacks source= and own="
    assert [cell.name for cell in CELLS if cell.pulled and cell.own] == [], "it is pulled: own= is out of date"


OF_A_DEMO = {"kernels.host"}  # its example runs a kernel that a demo above it builds


@pytest.mark.parametrize("module", paths.module_names())
def test_the_examples_in_docstrings_hold(module):
    """A check leaves out an example that the reference does not run; so nothing else would say that one is false."""
    names, said, count = reference_namespace(module), io.StringIO(), 0
    for cell in exercises.exercises(read_lesson(module)):
        for node in ast.walk(ast.parse(cell.solved)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and cell.name not in OF_A_DEMO:
                text = ast.get_docstring(node) or ""
                example = doctest.DocTestParser().get_doctest(text, dict(names), f"{cell.name}.{node.name}", None, 0)
                with np.errstate(all="ignore"):  # a notebook prints a warning beside the result
                    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.write)
                count += len(example.examples)
    assert count and not said.getvalue(), said.getvalue()


# -- a symbol counts if the package needs it --------------------------------------------------------------------------


def reached(sources, public):
    """What public names lead to, by name: {"function", "Class", "Class.method"}.

    A name leads to what it mentions: a function to what is in its body, a class to what is in its own. Methods are reached
    with their class if they are operators or have a public name, else if somebody mentions them.
    """
    definitions, renamed = {}, {}
    for source in sources:
        for node in ast.walk(tree := ast.parse(source)):
            if isinstance(node, ast.alias) and node.asname:
                renamed.setdefault(node.asname, set()).add(node.name.split(".")[-1])
        for node in tree.body:
            for name in names_of(node):
                definitions.setdefault(name, []).append(node)
    found, waiting = set(), set(public)
    while waiting:
        name = waiting.pop()
        found.add(name)
        for node in definitions.get(name, ()):
            said = mentioned(node)
            said |= {old for new in said for old in renamed.get(new, ())}
            if isinstance(node, ast.ClassDef):
                methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                known = {each for each in methods if is_public(each)} | (methods & (said | found | waiting))
                said |= {f"{name}.{each}" for each in known}
            waiting |= said - found
    return found


def is_public(name):
    return not name.startswith("_") or name.startswith("__")


def mentioned(node):
    """The names in a definition, without that of the thing itself."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def sources_and_public_names():
    """All of the package; what its `__all__` say, and the classes and functions of modules that stand by themselves."""
    sources, public = [], set()
    for file in PACKAGE.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        sources.append(source)
        for node in ast.parse(source).body:
            if names_of(node) == ["__all__"]:
                public |= set(ast.literal_eval(node.value))
            elif file.name == "scalar.py" and isinstance(node, ast.ClassDef):
                public.add(node.name)
            elif file.name == "gradcheck.py" and isinstance(node, ast.FunctionDef) and node.name.endswith("check"):
                public.add(node.name)
    return sources, public


def parts(symbol):
    """As `reached` names them: the class, and the methods that are pulled."""
    match = SYMBOL.match(symbol)
    members = [match["method"]] if match["method"] else (match["members"] or "").split()
    return [match["name"], *(f"{match['name']}.{member}" for member in members if is_public(member))]


def test_what_is_pulled_is_needed_by_a_public_name_of_the_package():
    """Nothing lies there for the lessons alone."""
    found = reached(*sources_and_public_names())
    assert [
        (cell.name, part) for cell in CELLS for symbol in cell.pulled for part in parts(symbol) if part not in found
    ] == []


@pytest.mark.parametrize(
    "name, is_needed", [("used", True), ("C.m", True), ("C._p", True), ("C._q", False), ("lonely", False)]
)
def test_what_nothing_leads_to_is_not_needed(name, is_needed):
    one = "from other import used as known\n\ndef start():\n    return known(C()._p())\n"
    other = "def used(x):\n    pass\n\nclass C:\n    def m(self): pass\n    def _p(self): pass\n    def _q(self): pass\n\ndef lonely():\n    return lonely()\n"
    assert (name in reached([one, other], {"start"})) == is_needed
