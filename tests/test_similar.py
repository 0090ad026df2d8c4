"""Notebooks that are alike in what is their own: a copy is found whatever was renamed or moved, honest work is not."""

import json
import re
from pathlib import Path

import pytest

from autograder.grading.class_files import file_in
from autograder.grading.class_page import class_page
from autograder.grading.records import Graded, Row, Submission
from autograder.grading.sample_class import solved
from autograder.grading.similar import (
    FEW,
    FEWEST,
    LARGEST,
    LENGTH,
    Mistake,
    Work,
    course_names,
    course_runs,
    own_cells,
    runs_in,
    similar_page,
    similar_pairs,
    tokens,
    works_of,
    write_similar,
)

MODULE = "01_value"
OWN = """@add_to_class(Value)
def __pow__(self, exponent):
    if isinstance(exponent, Value):
        power, slope = power_and_slope(self.data, exponent.data)
        logarithm = math.log(self.data) if self.data > 0 else float("nan")
        parts = [slope, power * logarithm]
        return Value(power, [self, exponent], parts, op="**")
    steps, result = 0, 1.0
    while steps < abs(exponent):  # my own idea
        result = result * self.data if exponent > 0 else result / self.data
        steps += 1
    return Value(result, (self,), [exponent * result / self.data], op="**")
"""
BACKWARD = """@add_to_class(Value)
def backward(self):
    waiting, seen, ordered = [(self, False)], set(), []
    while waiting:
        node, done = waiting.pop()
        if done:
            ordered.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            waiting += [(node, True), *((parent, False) for parent in node.parents)]
    for node in ordered:
        node.grad = 0.0
    self.grad = 1.0
    for node in ordered[::-1]:
        for place, parent in enumerate(node.parents):
            parent.grad = parent.grad + node.grad * node.local_derivatives[place]
"""
NOBODYS: dict = {}
OTHER = """def topological_order(root):
    levels, depth = [[root]], {id(root): 0}
    for level in levels:
        below = [parent for node in level for parent in node.parents]
        for parent in below:
            depth[id(parent)] = max(depth.get(id(parent), 0), len(levels))
        if below:
            levels.append(below)
    everything = {id(node): node for level in levels for node in level}
    return sorted(everything.values(), key=lambda node: -depth[id(node)])
"""
TANH = """@add_to_class(Value)
def tanh(self):
    e = {0}
    t = {1}
    return Value(t, (self,), ({2},), op="tanh")
"""
HONEST = [
    ("math.exp(2 * self.data)", "(e - 1) / (e + 1)", "1 - t ** 2"),
    ("math.tanh(self.data)", "e", "1 - e * e"),
    ("math.exp(-2 * self.data)", "(1 - e) / (1 + e)", "(1 + t) * (1 - t)"),
    ("math.exp(self.data)", "(e - 1 / e) / (e + 1 / e)", "1.0 - t * t"),
    ("2 / (1 + math.exp(-2 * self.data))", "e - 1", "e * (2 - e)"),
]


def notebook(**sources):
    """The solved notebook as JSON, with these sources in the exercises value.<name>."""
    made = json.loads(json.dumps(solved(MODULE)))
    for cell in made["cells"]:
        course = cell["metadata"].get("course", {})
        name = course.get("exercise", "").removeprefix("value.")
        if course.get("kind") == "exercise" and name in sources:
            cell["source"] = sources[name]
    return made


def renamed(source):
    """As somebody hides a copy: other names, other comments, other spaces."""
    for old, new in zip(
        "power slope logarithm parts steps result node done seen ordered waiting".split(), "pqrstuvwxyz"
    ):
        source = re.sub(rf"\b{old}\b", f"{new}_", source)
    lines = source.replace("# my own idea", "").replace(" = ", "  =  ").splitlines()
    return "\n\n".join(line + "  # so" * (number % 3 == 1) for number, line in enumerate(lines))


def reordered(made):
    made["cells"] = made["cells"][::-1]
    return made


def honest(count=10):
    """Right ones, each in one of a few ways, of a small exercise."""
    return {f"honest-{i}": notebook(tanh_sigmoid=TANH.format(*HONEST[i % len(HONEST)])) for i in range(count)}


def works(notebooks, mistakes=NOBODYS):
    return [
        Work(name, own_cells(made["cells"], MODULE), frozenset(mistakes.get(name, ())))
        for name, made in notebooks.items()
    ]


def found(notebooks, mistakes=NOBODYS):
    return [(pair.one.student, pair.other.student) for pair in similar_pairs(works(notebooks, mistakes))]


COPIED = {
    "anna": notebook(pow=OWN, backward=BACKWARD),
    "ben": reordered(notebook(pow=renamed(OWN), backward=renamed(BACKWARD))),
}


def test_a_copy_with_other_names_other_layout_and_moved_cells_is_found_and_nothing_else_is():
    assert found(honest() | COPIED) == [("anna", "ben")]


def test_two_right_solutions_of_a_small_exercise_are_not_alike():
    assert found(honest()) == [] and found(honest(11)) == []
    twins = {name: notebook(tanh_sigmoid=TANH.format(*HONEST[0])) for name in ("one", "two")}
    others = {f"o{i}": notebook(tanh_sigmoid=TANH.format(*HONEST[1 + i % 4])) for i in range(16)}
    assert found(twins | others) == []


def test_what_many_write_and_what_the_course_gave_say_nothing():
    many = {f"m{i}": notebook(pow=OWN, backward=BACKWARD) for i in range(FEW + 1)}
    assert found(honest(12) | many) == []
    assert all(not own_cells(made["cells"], MODULE) for made in (notebook(), {"cells": []}))


def test_few_notebooks_are_no_class():
    few = dict([*COPIED.items(), *honest(FEWEST - 3).items()])
    assert len(few) == FEWEST - 1 and found(few) == []
    assert "no class to compare with" in similar_page(MODULE, len(few), [])


def test_rare_mistakes_that_both_made_count_most_and_are_said():
    rare = [Mistake("value.pow", "one"), Mistake("value.mul", "two")]
    halves = {"anna": notebook(backward=BACKWARD, pow=OWN), "ben": notebook(backward=renamed(BACKWARD), order=OTHER)}
    everybody = honest(20) | halves
    without, made = (dict.fromkeys(halves, mistakes) for mistakes in ((), rare))
    before, after = ([*similar_pairs(works(everybody, its)), None][0] for its in (without, made))
    assert after and (before is None or after.share > before.share)
    assert [(each.name, n) for each, n in after.mistakes] == [("two", 2), ("one", 2)]
    assert "a mistake in value.mul that 2 of 22 made: two." in similar_page(MODULE, 22, [after])
    common = dict.fromkeys(everybody, rare)
    assert all(not pair.mistakes for pair in similar_pairs(works(everybody, common)))


def test_the_page_shows_both_sides_escaped_with_what_it_does_not_prove():
    nasty = OWN.replace("my own idea", "<script>alert(1)</script>")
    copied = {"<b>anna": notebook(pow=nasty, backward=BACKWARD), "ben": COPIED["ben"]}
    page = similar_page(MODULE, 12, similar_pairs(works(honest() | copied)))
    assert "This proves nothing." in page and "&lt;b&gt;anna and ben" in page
    assert "<script" not in page and "&lt;script&gt;" in page and "<b>anna" not in page
    assert re.search(r"<mark> *while steps &lt; abs\(exponent\)", page) and "value.pow" in page


@pytest.mark.parametrize("source", ["def f(:\n", "x = 'open", "\x00", "%timeit f()\n!ls", "(((((", ""])
def test_what_is_no_python_is_read_as_far_as_it_goes(source):
    list(tokens(source, course_names(MODULE)))
    assert own_cells([{"cell_type": "code", "source": source, "metadata": {}}], MODULE) == []


def test_a_notebook_without_end_is_read_up_to_a_length():
    cell = {"cell_type": "code", "source": "x = [" + "1, 2.5, " * 100_000, "metadata": {}}
    assert sum(len(each.source) for each in own_cells([cell] * 50, MODULE)) <= LARGEST


def test_names_of_the_course_stay_and_chosen_ones_do_not():
    names = course_names(MODULE)
    assert {"Value", "as_value", ".data", ".local_derivatives", "math", "isinstance"} <= names and "data" not in names
    said = [text for text, _ in tokens("data = as_value(other).data  # why\n'a docstring'\nprint('x')", names)]
    assert said == ["name", "=", "as_value", "(", "name", ")", ".", "data", "print", "(", "text", ")"]
    assert runs_in([("a", 1)] * (LENGTH - 1), LENGTH) == {} and course_runs(MODULE)


def test_pages_are_written_for_what_was_judged_and_linked(tmp_path):
    everybody = honest() | COPIED
    graded = []
    for student, made in everybody.items():
        submission = Submission(student, MODULE, Path("nowhere"))
        path = file_in(tmp_path, "autograded", submission)
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(made))
        graded.append(Graded(submission, [Row(student, MODULE, "value.pow", 3.0, 3.0, "ok")], 1.0))
    assert write_similar(graded, tmp_path, ()) == [MODULE]
    page = tmp_path / "similar" / f"{MODULE}.html"
    assert "anna and ben" in page.read_text(encoding="utf-8")
    page.write_text("as it was")
    write_similar(graded, tmp_path, ())
    assert page.read_text() == "as it was"
    write_similar(graded, tmp_path, {MODULE})
    assert "anna and ben" in page.read_text(encoding="utf-8")
    link = f'<a href="similar/{MODULE}.html">'
    assert link in class_page(graded, alike=[MODULE]) and link not in class_page(graded)
    assert len(works_of(graded, tmp_path, MODULE)) == len(everybody)
