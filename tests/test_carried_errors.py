"""Carried-error marking: an error early in a notebook costs once, and no kernel holds the reference of what is judged in it."""

from contextlib import contextmanager

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.checks import find
from autograder.judge.carried_errors import explanation, mark_carried_errors, style_of
from autograder.judge.expected import edited_sources
from autograder.judge.kernel import Run, Sandbox
from autograder.judge.notebook import judge_notebook
from autograder.judge.notebook_run import Limits, NotebookRun, course_cell
from autograder.judge.report import Report
from autograder.judge.verdict import Verdict
from autograder.lesson.notebooks import blank_notebook, solved_notebook
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not

MODULE = "01_value"
LESSON = read_lesson(MODULE)
NAMES = LESSON.exercises
SANDBOX = None if why_not() else Sandbox()


def at(cells, cell_id):
    return next(i for i, cell in enumerate(cells) if cell.id == cell_id)


def solved(**sources):
    """The solved notebook with these sources in the exercises value.<name>."""
    notebook = solved_notebook(LESSON)
    for name, source in sources.items():
        notebook.cells[at(notebook.cells, f"exercise-value-{name}")].source = source
    return notebook


def solution(name):
    return LESSON.exercise(f"value.{name}").solved


def mistaken(name, mistake):
    """The source of the exercise value.<name> with the mistake whose name begins so."""
    check = find(f"value.{name}")
    edit = next(found.edit for found in check.mistakes if found.name.startswith(mistake))
    return edited_sources(check, edit)[check.name]


def judged(notebook):
    return judge_notebook(notebook, MODULE, "a seed", Limits(), SANDBOX).verdicts


def not_ok(verdicts):
    return {name: verdict.status for name, verdict in verdicts.items() if verdict.status != "ok"}


MUL = mistaken("mul", "each factor keeps its own value")


# -- with kernels -----------------------------------------------------------------------------------------------------


def test_a_wrong_product_and_a_wrong_order_cost_themselves_alone():
    """With the order the wrong way round, a right `backward` gives just what a known mistake in it gives."""
    notebook = solved(mul=MUL, order=mistaken("order", "the list is the wrong way round"))
    verdicts = judged(notebook)
    assert not_ok(verdicts) == {"value.mul": "partial", "value.order": "wrong"}
    derived, backward = verdicts["value.derived"].carried, verdicts["value.backward"].carried
    assert derived == (
        "Your value.derived is right; it failed because `__mul__` above is not right yet. "
        "With the reference in its place it passes."
    )
    assert backward == (
        "Your `backward` is right; it failed because of what is not right yet above: `__mul__`, "
        "`topological_order`. With the reference in their place it passes."
    )
    outputs = notebook.cells[at(notebook.cells, "check-value-backward")].outputs
    assert backward in outputs[0].data["text/plain"] and outputs[1].data["text/plain"] == "4"
    assert not any(verdict.carried for verdict in (verdicts["value.mul"], verdicts["value.pow"]))


def test_a_mistake_of_its_own_is_found_behind_that_of_another_and_costs_once_too():
    verdicts = judged(solved(mul="", backward=mistaken("backward", "`grad =` overwrites")))
    assert not_ok(verdicts) == {"value.mul": "missing", "value.backward": "wrong"}
    backward = verdicts["value.backward"]
    assert [mistake.name.split(":")[0] for mistake in backward.mistakes] == ["`grad =` overwrites"]
    assert len(backward.right) >= 2 and backward.needs == ["value.mul"]
    text = str(Report(backward))
    assert "Not written yet, above: `__mul__`. With the reference in its place" in text
    assert "; expected" not in text and "got" not in text and "\n  Wrong: " in text
    assert "not right yet above: `__mul__`, `backward`." in verdicts["value.gradcheck"].carried


KILLS_WHERE_THE_PRODUCT_IS_RIGHT = """
if (Value(2.0) * Value(3.0)).local_derivatives == (3.0, 2.0):
    import os; os._exit(0)
"""
TELLS = """
@add_to_class(Value)
def zero_grad(self):
    found = [text for text in In if "(other.data, self.data)" in text and "def " + "__mul__" in text]
    if found:
        raise LookupError(found[0])
    for node in topological_order(self):
        node.grad = 0.0
"""
STEALS = """
import gc, types

def two_gradients(f, inputs):
    try:
        import tinygrad_cl.scalar, autograder.lesson
    except ImportError:
        pass
    for text in In:
        if "def two_gradients" in text and "gc" not in text:
            exec(text, globals())
            return two_gradients(f, inputs)
    for each in gc.get_objects():
        if isinstance(each, types.FunctionType) and each.__name__ == "two_gradients":
            if "gc" not in each.__code__.co_names:
                return each(f, inputs)
"""


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_who_looks_for_the_reference_of_what_is_judged_finds_none_and_what_else_is_found_is_not_shown():
    notebook = solved(
        mul=MUL,
        derived=solution("derived") + KILLS_WHERE_THE_PRODUCT_IS_RIGHT,
        backward=solution("backward") + TELLS,
        gradcheck=STEALS,
    )
    verdicts = judged(notebook)
    assert not_ok(verdicts).keys() == {"value.mul", "value.derived", "value.backward", "value.gradcheck"}
    assert not verdicts["value.derived"].carried, "a kernel that dies in the second run changes nothing"
    wrong = [difference.aspect.name for difference in verdicts["value.backward"].wrong]
    assert verdicts["value.backward"].carried and wrong, "it found the product's"
    assert all("zero_grad" in quantity for quantity in wrong)
    assert "other.data, self.data" not in str([cell.get("outputs") for cell in notebook.cells])
    assert verdicts["value.gradcheck"].points == 0 and not verdicts["value.gradcheck"].carried


def test_helpers_are_there_wherever_they_stand_and_what_undoes_a_reference_is_undone():
    derived = solution("derived").replace("self * -1.0", "negated(self)").replace("-as_value(other)", "opposite(other)")
    notebook = solved(mul=MUL + "\n\ndef negated(a):\n    return a * -1.0", derived=derived)
    added = """
def opposite(other):
    return -as_value(other)

@add_to_class(Value)
def __mul__(self, other):
    return None
"""
    notebook.cells.insert(at(notebook.cells, "exercise-value-derived"), nbformat.v4.new_code_cell(added))
    notebook.cells.insert(at(notebook.cells, "check-value-backward"), nbformat.v4.new_code_cell("sys.exit(1)"))
    assert not_ok(judged(notebook)) == {"value.mul": "partial"}


def test_a_method_that_a_later_cell_writes_over_by_mistake_costs_that_cell():
    notebook = solved(derived=solution("derived").replace("__rmul__", "__mul__"))
    assert not_ok(judged(notebook)) == {"value.derived": "error"}


# -- with kernels that only write down what is asked of them ----------------------------------------------------------


class FakeKernel:
    """Notes what it is to run. Every check comes back without an answer, as from code that raises."""

    def __init__(self, log):
        self.log, self.alive = log, True

    def run(self, code, seconds):
        self.log.append(("run", code))
        return Run("ok")

    def answer(self, check, seed, seconds):
        self.log.append(("check", check.name))
        return Run("error")


def second_run(notebook, statuses, kernel=FakeKernel, limits=Limits(), mistakes=()):
    """What is asked of each kernel after a first run that gave these verdicts; the verdicts; those of the first run."""
    run = NotebookRun(notebook, LESSON, "a seed", limits, None)
    first = {name: Verdict(find(name), statuses.get(name, "ok")) for name in NAMES}
    for name, verdict in first.items():
        verdict.needs = [need for need in find(name).needs if need in statuses]
        verdict.mistakes = find(name).mistakes[:1] if name in mistakes else []
    logs = []

    @contextmanager
    def new_kernel():
        logs.append([])
        yield kernel(logs[-1])

    return logs, mark_carried_errors(first, run, new_kernel), first


def probed(log):
    return [what for kind, what in log if kind == "check"]


def test_right_work_and_blank_work_is_not_run_again():
    assert second_run(solved(), {})[0] == []
    assert second_run(blank_notebook(LESSON), dict.fromkeys(NAMES, "missing"))[0] == []


def test_a_single_error_is_not_run_again_and_each_that_fails_again_costs_a_kernel():
    assert second_run(solved(), {"value.pow": "wrong"})[0] == []
    wrong = ["value.add", "value.pow", "value.order", "value.backward"]
    logs, _, _ = second_run(solved(), dict.fromkeys(wrong, "wrong"))
    assert [probed(log) for log in logs] == [wrong[1:], wrong[2:], wrong[3:]]


def test_a_known_mistake_is_its_own_unless_what_it_builds_on_is_wrong():
    wrong = dict.fromkeys(["value.add", "value.pow", "value.backward"], "partial")
    logs, _, _ = second_run(solved(), wrong, mistakes=["value.pow", "value.backward"])
    assert [probed(log) for log in logs] == [["value.backward"]]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_reference_of_an_exercise_that_is_judged_is_in_no_kernel_before(data):
    """Neither is one that the lesson has later, however the student ordered the cells, and whatever else is in them."""
    notebook = solved()
    for cell in notebook.cells:
        if course_cell(cell)[0] == "exercise":
            cell.source = f"# the student's\n{cell.source}"
    for _ in range(data.draw(st.integers(0, 6))):
        cell = notebook.cells.pop(data.draw(st.integers(0, len(notebook.cells) - 1)))
        notebook.cells.insert(data.draw(st.integers(0, len(notebook.cells))), cell)
    wrong = data.draw(st.lists(st.sampled_from(NAMES), min_size=2, unique=True))
    logs, _, _ = second_run(notebook, dict.fromkeys(wrong, "wrong"))
    there, judged_names = set(), set()
    for log in logs:
        here = set()
        for kind, what in log:
            if kind == "check":
                assert what not in there and not {name for name in here if NAMES.index(name) > NAMES.index(what)}
                judged_names.add(what)
            elif "# the student's" not in what:
                here |= {name for name in NAMES if LESSON.exercise(name).solved in what}
                there |= here
    assert judged_names <= set(wrong)


def test_all_that_the_lesson_has_before_is_in_place_when_it_is_judged():
    again = ["value.derived", "value.backward"]
    logs, _, _ = second_run(solved(), dict.fromkeys(["value.mul", *again], "wrong"))
    for name in again:
        before_it = logs[0][: logs[0].index(("check", name))]
        kind, source = next(entry for entry in reversed(before_it) if LESSON.exercise("value.add").solved in entry[1])
        before = [earlier for earlier in NAMES[: NAMES.index(name)] if earlier not in again]
        assert kind == "run" and all(LESSON.exercise(earlier).solved in source for earlier in before)


def test_kernels_that_die_and_time_that_is_up_change_nothing():
    class Dies(FakeKernel):
        def run(self, code, seconds):
            self.alive = "__mul__" not in code
            return Run("ok" if self.alive else "dead")

    wrong = dict.fromkeys(NAMES[2:], "wrong")
    logs, best, first = second_run(solved(), wrong, Dies)
    assert best == first and logs and not any(map(probed, logs))
    assert len(second_run(solved(), wrong, Dies, Limits(deaths=3))[0]) <= 3
    assert second_run(solved(), wrong, limits=Limits(seconds=-1))[0] == []


def test_cells_that_did_not_end_are_not_run_again():
    class Loops(FakeKernel):
        def run(self, code, seconds):
            super().run(code, seconds)
            return Run("timeout" if code == "while True: pass" else "ok")

    notebook = solved()
    notebook.cells.insert(0, nbformat.v4.new_code_cell("while True: pass"))
    logs, _, _ = second_run(notebook, dict.fromkeys(["value.add", "value.mul", "value.pow"], "wrong"), Loops)
    assert [("run", "while True: pass") in log for log in logs] == [True, False]


# -- what is said, and how the student writes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statuses, reason",
    [
        ({"value.mul": "missing"}, "`__mul__` above is not written yet. With the reference in its place"),
        ({"value.mul": "wrong"}, "`__mul__` above is not right yet. With the reference in its place"),
        (
            {"value.slope": "wrong", "value.exp_log": "missing"},
            "of what is not right yet above: `slope`, value.exp_log. With the reference in their place",
        ),
    ],
)
def test_what_was_in_the_way_is_named(statuses, reason):
    best = {name: Verdict(find(name), statuses.get(name, "ok")) for name in NAMES}
    best["value.backward"].needs = [need for need in find("value.backward").needs if need in statuses]
    sentence = f"Your `backward` is right; it failed because {reason} it passes."
    assert explanation(best["value.backward"], best, LESSON) == sentence


def test_the_references_are_written_as_the_student_writes():
    def style(notebook):
        return style_of(NotebookRun(notebook, LESSON, "a seed", Limits(), None))

    closures = edited_sources(find("value.mul"), find("value.mul").variants[0].edit)
    assert style(solved()) == {} == style(blank_notebook(LESSON))
    assert style(solved(add=closures["value.add"])) == closures
    assert style(solved(add="a.something_else = (")) == {}
