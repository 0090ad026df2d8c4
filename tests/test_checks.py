"""The checks, tested: the reference passes, every mistake loses points and is named, every variant loses none."""

import contextlib
import io
import subprocess
import sys
from dataclasses import replace

import pytest

from autograder import paths
from autograder.checks import all_checks, find
from autograder.checks.check import register
from autograder.checks.inside import Outcome, encoded, run_probe
from autograder.errors import CourseError
from autograder.judge.authoring import NOTHING, Tried, does_nothing, try_all
from autograder.judge.device import compare_with_finite_differences, device_outcomes, measured_cases
from autograder.judge.expected import NOTEBOOK_SEED, expected_outcomes
from autograder.judge.expected_cases import cases_of, mistaken
from autograder.judge.outcome import same_trials
from autograder.judge.plan import plan_of, run
from autograder.judge.recorded import recorded_outcomes
from autograder.judge.recorder import is_recorded
from autograder.judge.reference import module_of, reference_namespace
from autograder.judge.verdict import judge
from autograder.lesson.text import read_lesson

CHECKS = list(all_checks().values())
PROBES = [check for check in CHECKS if not check.aspects]
OF_CASES = [check for check in CHECKS if check.aspects]
MOST = 0.6  # of the quantities of a check
SECRET = [("a secret", 5), ("another", 5)]


def verdict_of(check, namespace, seed=NOTEBOOK_SEED, trials=2):
    return judge(check, run(check, namespace, seed, trials), seed)


def test_every_exercise_has_its_check_and_every_check_its_exercise():
    exercises = [name for module in paths.module_names() for name in read_lesson(module).exercises]
    assert sorted(exercises) == sorted(all_checks())


@pytest.mark.parametrize("check", PROBES, ids=lambda check: check.name)
def test_mistakes_lose_most_quantities_and_mistakes_and_variants_are_called_differently(check):
    """A quantity that no mistake loses shows nothing; such may be a condition, as "the inputs afterwards" are."""
    right, lost = recorded_outcomes(check), set()
    for mistake in check.mistakes:
        wrong = recorded_outcomes(check, mistake.name)
        lost |= {name for name in right[0] if not same_trials(right, wrong, [name], check.rtol, check.atol)}
    assert len(lost) >= MOST * len(right[0]), set(right[0]) - lost
    assert len(check.variants) >= 2
    names = [edit.name for edit in check.mistakes + check.variants]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("seed, trials", [(NOTEBOOK_SEED, 2), *SECRET])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_the_reference_earns_all_points_without_an_error(check, seed, trials):
    verdict = verdict_of(check, reference_namespace(module_of(check.name)), seed, trials)
    assert verdict.status == "ok" and verdict.points == check.points


def test_a_mistake_that_passes_or_goes_unnamed_and_a_variant_that_loses_points_are_noticed():
    """The tester, tested."""
    check = find("value.mul")
    right = verdict_of(check, reference_namespace("01_value"))
    wrong = try_all(check, NOTEBOOK_SEED, 2)[0].verdict
    assert Tried("mistake", check.mistakes[0].name, wrong).as_it_must_be
    assert not Tried("mistake", check.mistakes[1].name, wrong).as_it_must_be
    assert not Tried("mistake", check.mistakes[0].name, right).as_it_must_be
    assert Tried("variant", "any", right).as_it_must_be
    assert not Tried("variant", "any", wrong).as_it_must_be


def test_no_mistake_is_only_a_kernel_that_does_not_compile():
    """That would be a slip of who wrote the mistake: its name says something else."""
    kinds = {
        (check.name, mistake.name): {
            outcome.error and outcome.error["type"]
            for trial in recorded_outcomes(check, mistake.name)
            for outcome in trial.values()
        }
        for check in PROBES
        for mistake in check.mistakes
    }
    assert not [name for name, kind in kinds.items() if kind == {"KernelError"}]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_an_exercise_left_out_fails_its_check_and_earns_nothing(check):
    lesson = read_lesson(module_of(check.name))
    namespace = reference_namespace(lesson.module, {check.name: lesson.exercise(check.name).stub})
    verdict = verdict_of(check, namespace)
    assert verdict.points == 0 and verdict.status == "missing" and not verdict.mistakes


def not_as_it_must_be(check, seed, trials):
    return [
        (tried.kind, tried.name, tried.verdict.points, tried.verdict.mistakes)
        for tried in try_all(check, seed, trials)
        if not tried.as_it_must_be
    ]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_mistake_loses_points_and_is_named_and_every_variant_earns_all(check):
    assert not not_as_it_must_be(check, NOTEBOOK_SEED, 2)
    assert is_recorded(check)  # here, since its fresh runs are those that were just judged


@pytest.mark.long
@pytest.mark.parametrize("seed, trials", SECRET)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_so_they_do_for_a_secret_seed(check, seed, trials):
    assert not not_as_it_must_be(check, seed, trials)


@pytest.mark.parametrize("check", [check for check in PROBES if check.device], ids=lambda check: check.name)
def test_the_device_agrees_with_the_reference(check):
    seed, trials = NOTEBOOK_SEED, 2
    _, _, measured = device_outcomes(check.name, seed, trials)
    assert all(trial[name].array is not None for trial in measured for name in check.device)
    student = check.run(reference_namespace(module_of(check.name)), seed, trials)
    assert " agree, to " in compare_with_finite_differences(check, student, seed)


@pytest.mark.parametrize("check", [check for check in PROBES if check.device], ids=lambda check: check.name)
def test_the_device_contradicts_gradients_that_are_off_by_a_little(check):
    """The tester, tested: every quantity that the device vouches for is doubled."""
    student = run(check, reference_namespace(module_of(check.name)), NOTEBOOK_SEED, 2)
    expected = expected_outcomes(check.name, NOTEBOOK_SEED, 2)
    for trial, right in zip(student, expected):
        for name in check.device:
            trial[name] = Outcome(right[name].array * 2.001)
    assert "say otherwise" in compare_with_finite_differences(check, student, NOTEBOOK_SEED)


@pytest.mark.parametrize("check", PROBES, ids=lambda check: check.name)
def test_a_probe_gives_the_same_for_the_same_seed_and_other_inputs_for_another(check):
    namespace = reference_namespace(module_of(check.name))
    first, again, other = (encoded(check.run(namespace, seed, 1)) for seed in ("a", "a", "b"))
    assert first == again
    assert first != other


def test_a_probe_alone_needs_no_module():
    """A probe's text is all that travels: it runs with np and math and its three arguments."""
    from autograder.checks.tools import Tools

    for check in PROBES:
        trial = run_probe(
            check.standalone_probe,
            reference_namespace(module_of(check.name)),
            check.seeds("x", 1)[0],
            Tools(),
            check.seconds,
        )
        assert not any(outcome.error for outcome in trial.values()), (check.name, trial)


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


@pytest.mark.parametrize("check", OF_CASES, ids=lambda check: check.name)
def test_each_aspect_is_lost_by_a_mistake_and_a_notebook_has_few_cases(check):
    cases = cases_of(check.name, NOTEBOOK_SEED)
    assert len(cases.plan) <= 60
    lost = {
        cases.plan[number][0].name
        for mistake in check.mistakes
        for number in mistaken(check.name, NOTEBOOK_SEED)(mistake)[1]
    }
    aspects = {aspect.name for aspect in check.aspects if aspect.points}
    assert aspects <= lost, aspects - lost
    assert len(check.variants) >= 2
    names = [edit.name for edit in check.mistakes + check.variants]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("check", OF_CASES, ids=lambda check: check.name)
def test_cases_are_the_same_for_the_same_seed_and_others_for_another(check):
    plans = [[case.inputs for _, case in plan_of.__wrapped__(check.name, seed)] for seed in ("a", "a", "b")]
    assert plans[0] == plans[1]
    assert plans[0] != plans[2] or all(aspect.cases.draw is None for aspect in check.aspects)


@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize("check", OF_CASES, ids=lambda check: check.name)
def test_what_does_nothing_earns_nothing(check, nothing):
    """Functions that return None, 0 or their first argument."""
    source = does_nothing(read_lesson(module_of(check.name)).exercise(check.name).solved, nothing)
    if source:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            namespace = reference_namespace(module_of(check.name), {check.name: source})
            assert verdict_of(check, namespace).points == 0


@pytest.mark.parametrize(
    "check", [c for c in OF_CASES if any(a.device for a in c.aspects)], ids=lambda check: check.name
)
def test_central_differences_agree_with_the_reference_and_contradict_what_is_off_by_a_little(check):
    student = run(check, reference_namespace(module_of(check.name)), NOTEBOOK_SEED, 2)
    assert " agree in " in compare_with_finite_differences(check, student, NOTEBOOK_SEED)
    for number in measured_cases(check.name, NOTEBOOK_SEED):
        for label, outcome in student[number].items():
            if outcome.array is not None and outcome.array.dtype.kind == "f":
                student[number][label] = Outcome(outcome.array * 2.001 + 0.1, kind=outcome.kind)
    assert " differ from yours in " in compare_with_finite_differences(check, student, NOTEBOOK_SEED)


@pytest.mark.parametrize("check", OF_CASES, ids=lambda check: check.name)
def test_the_words_that_promise_a_type_stand_in_the_exercise(check):
    solved = read_lesson(module_of(check.name)).exercise(check.name).solved
    for aspect in check.aspects:
        assert " ".join(aspect.exact.split()) in " ".join(solved.split()), aspect.exact


def test_all_that_is_recorded_stays_small():
    folder = paths.ROOT / "autograder" / "checks"
    assert sum(path.stat().st_size for path in folder.glob("m*.json")) < 11e6
