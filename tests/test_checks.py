"""The checks, tested: the reference passes, every mistake loses points and is named, every variant loses none."""

import ast
import contextlib
import io
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from autograder import paths
from autograder.checks import all_checks, find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.checks.check import register
from autograder.checks.inside import Outcome
from autograder.errors import CourseError
from autograder.judge.authoring import NOTHING, Tried, does_nothing, try_all
from autograder.judge.device import compare_with_finite_differences, measured_cases
from autograder.judge.expected import cases_of, mistaken
from autograder.judge.plan import plan_of, run
from autograder.judge.recorder import out_of_date
from autograder.judge.reference import module_of, reference_namespace
from autograder.judge.verdict import judge
from autograder.lesson.text import read_lesson

CHECKS = list(all_checks().values())
SECRET = ["a secret", "another"]


def verdict_of(check, namespace, seed=NOTEBOOK_SEED):
    return judge(check, run(check, namespace, seed), seed)


def test_every_exercise_has_its_check_and_every_check_its_exercise():
    exercises = [name for module in paths.module_names() for name in read_lesson(module).exercises]
    assert sorted(exercises) == sorted(all_checks())


@pytest.mark.parametrize("seed", [NOTEBOOK_SEED, SECRET[0], pytest.param(SECRET[1], marks=pytest.mark.long)])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_the_reference_earns_all_points_without_an_error(check, seed):
    verdict = verdict_of(check, reference_namespace(module_of(check.name)), seed)
    assert verdict.status == "ok" and verdict.points == check.points


def test_a_mistake_that_passes_or_goes_unnamed_and_a_variant_that_loses_points_are_noticed():
    """The tester, tested."""
    check = find("value.mul")
    right = verdict_of(check, reference_namespace("01_value"))
    wrong = try_all(check, NOTEBOOK_SEED)[0].verdict
    assert Tried("mistake", check.mistakes[0].name, wrong).as_it_must_be
    assert not Tried("mistake", check.mistakes[1].name, wrong).as_it_must_be
    assert not Tried("mistake", check.mistakes[0].name, right).as_it_must_be
    assert Tried("variant", "any", right).as_it_must_be
    assert not Tried("variant", "any", wrong).as_it_must_be
    assert not Tried("variant", "any", right, "value.mul: right to 1e-09 only").as_it_must_be


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_an_exercise_left_out_fails_its_check_and_earns_nothing(check):
    lesson = read_lesson(module_of(check.name))
    namespace = reference_namespace(lesson.module, {check.name: lesson.exercise(check.name).stub})
    verdict = verdict_of(check, namespace)
    assert verdict.points == 0 and verdict.status == "missing" and not verdict.mistakes


def not_as_it_must_be(check, seed):
    return [
        (tried.kind, tried.name, tried.verdict.points, tried.verdict.mistakes, tried.flag)
        for tried in try_all(check, seed)
        if not tried.as_it_must_be
    ]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_mistake_loses_points_and_is_named_and_every_variant_earns_all(check):
    assert not not_as_it_must_be(check, NOTEBOOK_SEED)
    assert not out_of_date(check)  # here, since its fresh runs are those that were just judged


@pytest.mark.long
@pytest.mark.parametrize("seed", SECRET)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_so_they_do_for_a_secret_seed(check, seed):
    assert not not_as_it_must_be(check, seed)


def test_the_first_check_imports_its_own_lesson_alone():
    program = (
        "import sys\nfrom autograder.checks import find\nfind('value.mul')\n"
        "print(*{name.split('.')[2] for name in sys.modules if name.startswith('autograder.checks.m')})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["m01_value"]


def test_the_order_of_all_checks_does_not_depend_on_what_was_asked_for_first():
    program = "from autograder.checks import all_checks, find\nfind('tape.nest')\nprint(*all_checks())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(all_checks())


def test_a_check_that_find_would_look_for_in_another_lesson_is_refused():
    with pytest.raises(CourseError, match="begins with another lesson's name"):
        register(replace(find("value.mul"), name="tape.of_value"))


@pytest.mark.parametrize(
    "name, meant", [("value.mull", "value.mul"), ("valu.mul", "value.mul"), ("custom_op.op", "customop.")]
)
def test_a_wrong_name_gets_the_names_that_come_closest(name, meant):
    with pytest.raises(CourseError, match=f"did you mean .*{meant}"):
        find(name)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_each_aspect_is_lost_by_a_mistake_and_a_notebook_has_few_cases(check):
    cases = cases_of(check.name, NOTEBOOK_SEED)
    assert len(cases.plan) <= 60
    lost = {
        cases.plan[number][0].name
        for mistake in check.mistakes
        for number in mistaken(check.name, NOTEBOOK_SEED, mistake.name)[1]
    }
    aspects = {aspect.name for aspect in check.aspects if aspect.points}
    assert aspects <= lost, aspects - lost
    assert len(check.variants) >= 2
    names = [edit.name for edit in check.mistakes + check.variants]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_cases_are_the_same_for_the_same_seed_and_others_for_another(check):
    plans = [[case.inputs for _, case in plan_of.__wrapped__(check.name, seed)] for seed in ("a", "a", "b")]
    assert plans[0] == plans[1]
    assert plans[0] != plans[2] or all(aspect.cases.draw is None for aspect in check.aspects)


@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_what_does_nothing_earns_nothing(check, nothing):
    """Functions that return None, 0 or their first argument."""
    source = does_nothing(read_lesson(module_of(check.name)).exercise(check.name).solved, nothing)
    namespace = {}  # where there is no such function, or a cell of the lesson does not run with it
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        namespace = reference_namespace(module_of(check.name), {check.name: source or "raise NameError"})
    cases = cases_of(check.name, NOTEBOOK_SEED)
    first = [number for number in range(len(cases.plan)) if is_among_the_first(cases, number)]
    its = dict(zip(first, run(check, namespace, NOTEBOOK_SEED, first)))
    trials = [its.get(number, right) for number, right in enumerate(cases.expected)]  # more cases only cost more points
    assert cases.points(cases.failed(trials)) == 0 or verdict_of(check, namespace).points == 0


def is_among_the_first(cases, number):
    aspects = [aspect for aspect, _ in cases.plan]
    return number - aspects.index(aspects[number]) < 2


@pytest.mark.parametrize("check", [c for c in CHECKS if any(a.device for a in c.aspects)], ids=lambda check: check.name)
def test_central_differences_agree_with_the_reference_and_contradict_what_is_off_by_a_little(check):
    student = run(check, reference_namespace(module_of(check.name)), NOTEBOOK_SEED)
    assert " agree in " in compare_with_finite_differences(check, student, NOTEBOOK_SEED)
    for number in measured_cases(check.name, NOTEBOOK_SEED):
        for label, outcome in student[number].items():
            if outcome.array is not None and outcome.array.dtype.kind == "f":
                student[number][label] = Outcome(outcome.array * 2.001 + 0.1, kind=outcome.kind)
    assert " differ from yours in " in compare_with_finite_differences(check, student, NOTEBOOK_SEED)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_the_words_that_promise_a_type_stand_in_the_exercise(check):
    solved = read_lesson(module_of(check.name)).exercise(check.name).solved
    for aspect in check.aspects:
        assert " ".join(aspect.exact.split()) in " ".join(solved.split()), aspect.exact


def test_all_that_is_recorded_stays_small():
    folder = paths.ROOT / "autograder" / "checks"
    assert sum(path.stat().st_size for path in folder.glob("m*.json")) <= 4.5e6


COUNTED = {"arrays_kept", "gc", "tracemalloc", "weakref", "work_limit"}  # by what an observation counts


def words_in(source):
    return {getattr(node, "id", None) or getattr(node, "attr", None) for node in ast.walk(ast.parse(source))}


def test_what_is_counted_in_the_students_process_is_in_the_table_of_what_can_be_forged():
    counted = {
        (check.name, aspect.name)
        for check in CHECKS
        for aspect in check.aspects
        if aspect.points and (aspect.at_most or words_in(aspect.source) & COUNTED)
    }
    table = (paths.ROOT / "docs" / "judgement.md").read_text(encoding="utf-8").partition("## What can be forged")[2]
    assert set(re.findall(r"^\| `([\w.]+)` \| (.+?) \|", table, re.M)) == counted


# What observations may ask the package for: to launch a kernel, to record or not, to count. None gives what is expected.
ASKED = {"build_kernel", "faults", "launch", "run_guarded", "set_grad_enabled", "tried", "try_kernel"}
JUDGING = {"allclose", "array_equal", "array_equiv", "assert_allclose", "isclose"}
COMPARES_ITS_OWN = {("mnist.linear", "weight and bias at first")}  # whether two layers of the student's begin alike


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_what_is_expected_is_not_computed_where_the_students_code_runs(check):
    for aspect in check.aspects:
        for node in ast.walk(ast.parse(aspect.source)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith(("tinygrad_cl", "autograder")):
                assert {each.name for each in node.names} <= ASKED, aspect.name
            assert not (isinstance(node, ast.Import) and node.names[0].name.startswith(("tinygrad_cl", "autograder")))
        assert (check.name, aspect.name) in COMPARES_ITS_OWN or not words_in(aspect.source) & JUDGING, aspect.name
