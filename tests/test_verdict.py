"""The verdict: bytes of any kind are survived, points are shared, a status is always one of the eight."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.checks import find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.checks.inside import Outcome, Trial
from autograder.judge import expected
from autograder.judge.expected import cases_of, fresh, mistaken
from autograder.judge.fingerprint import OF_MISTAKES, decode, encode
from autograder.judge.known import is_telling
from autograder.judge.messages import decoded, outcome_of
from autograder.judge.outcome import same_arrays
from autograder.judge.plan import plan_of, run
from autograder.judge.recorded import recorded
from autograder.judge.report import HEADLINES, Report
from autograder.judge.verdict import judge

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.binary() | st.text() | JSON)
def test_no_record_makes_the_judge_raise(record):
    outcome = outcome_of(record)
    assert (outcome.array is None) != (outcome.error is None)


@given(st.binary(max_size=200))
def test_no_bytes_in_an_array_make_the_judge_raise(data):
    outcome = outcome_of({"array": base64.b64encode(b"\x93NUMPY\x01\x00" + data).decode()})
    assert (outcome.array is None) != (outcome.error is None)


@given(st.lists(st.dictionaries(st.sampled_from(["input", "out", "a.grad"]) | st.text(), JSON), min_size=1, max_size=3))
def test_any_reply_ends_in_a_verdict_and_a_report(records):
    verdict = judge(find("value.mul"), decoded(json.dumps(records)), "notebook")
    assert verdict.points == 0 and verdict.status in HEADLINES
    assert str(Report(verdict)) and Report(verdict)._repr_html_()


def test_a_pickle_is_never_loaded():
    import io

    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    outcome = outcome_of({"array": base64.b64encode(buffer.getvalue()).decode()})
    assert outcome.error["type"] == "BadReply"


def right_trials(name):
    """The reference's trials, as a student's process would send them."""
    return [Trial(trial or {}) for trial in cases_of(name, "notebook").expected]


def test_points_are_those_of_the_aspects_that_are_right():
    check, trials = find("value.mul"), right_trials("value.mul")
    plan = plan_of("value.mul", "notebook")
    assert judge(check, trials, "notebook").status == "ok"
    last = max(n for n, (aspect, _) in enumerate(plan) if aspect.points and aspect is not plan[0][0])
    aspect = plan[last][0]
    trials[last] = Trial({label: Outcome(np.array(12345.678)) for label in trials[last]})  # one case of many
    verdict = judge(check, trials, "notebook")
    assert verdict.status == "partial" and {d.aspect.name for d in verdict.wrong} == {aspect.name}
    assert verdict.points == check.points - aspect.points


def test_a_corner_earns_nothing_while_the_main_thing_is_wrong():
    check, trials = find("broadcast.unbroadcast"), right_trials("broadcast.unbroadcast")
    main = next(n for n, (aspect, _) in enumerate(plan_of(check.name, "notebook")) if not aspect.corner)
    trials[main] = Trial({"": Outcome(np.array(7.5))})
    verdict = judge(check, trials, "notebook")
    assert verdict.points == 0 and "what does not fit is refused" in verdict.right


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), [1.0], "1.0", None])
def test_a_value_of_another_kind_is_wrong(wrong):
    trials = right_trials("value.mul")
    label = next(label for label, outcome in trials[0].items() if outcome.array.ndim == 0)
    trials[0][label] = Outcome(np.array("None" if wrong is None else wrong))
    verdict = judge(find("value.mul"), trials, "notebook")
    assert [d.label for d in verdict.wrong] == [label] and verdict.points < verdict.check.points


def test_a_part_that_was_not_asked_for_is_a_difference():
    trials = right_trials("value.mul")
    trials[0]["bonus"] = Outcome(np.array(1.0))
    assert [d.label for d in judge(find("value.mul"), trials, "notebook").wrong] == ["bonus"]


@pytest.mark.parametrize(
    "expected, got, right",
    [
        (1.0, 1.0 + 1e-9, True),
        (1.0, 1.001, False),
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (np.inf, -np.inf, False),
        (np.ones(3), np.ones((1, 3)), False),
        (np.zeros((0, 2)), np.zeros((0, 2)), True),
        (2, 2.0, True),
    ],
)
def test_same_arrays(expected, got, right):
    assert same_arrays(np.asarray(expected), np.asarray(got), 1e-6, 1e-9) is right


def test_the_cases_depend_on_the_seed_and_on_the_check():
    plans = [plan_of(name, seed) for seed in "ab" for name in ("value.mul", "value.add")]
    drawn = [tuple(str(case.inputs) for _, case in plan if case.drawn) for plan in plans]
    assert len(set(drawn)) == 4


def test_where_the_reference_itself_fails_nobody_is_judged(monkeypatch):
    monkeypatch.setattr("autograder.judge.reference.reference_namespace", lambda module, edits=None: {})
    expected.forget()
    with pytest.raises(expected.ReferenceFailed, match="reference solution itself"):
        judge(find("value.mul"), [Trial()], "secret")
    expected.forget()


@pytest.mark.parametrize(
    "source, named",
    [
        ("def double(x):\n    print(2 * x)", True),
        ("def double(x):\n    print('the double is', x + x)", True),
        ("def double():\n    return 2", False),
        ("def double(x):\n    return x + None", False),
    ],
)
def test_code_that_only_raises_does_not_get_the_name_of_a_mistake_that_gives_nothing(source, named):
    check, namespace = find("start.double"), {}
    exec(source, namespace)
    verdict = judge(check, run(check, namespace, expected.NOTEBOOK_SEED), expected.NOTEBOOK_SEED)
    assert [mistake.name for mistake in verdict.mistakes] == ["the result is printed and not returned"] * named


def test_two_mistakes_that_act_on_one_another_are_named_when_it_counts():
    check = find("value.mul")
    names = [
        "the rule of the sum is noted: 1 and 1",
        "b · 2 is not handled: 2 is no `float`, but an `int`",
    ]
    trials = expected.fresh("value.mul", "a secret", *names)
    assert sorted(mistake.name for mistake in judge(check, trials, "a secret").mistakes) == sorted(names)
    other = [
        Trial({label: Outcome(out.array + 1) if out.array is not None else out for label, out in trial.items()})
        if n == 3
        else trial
        for n, trial in enumerate(trials)
    ]
    assert not judge(check, other, "a secret").mistakes


def test_a_recorded_array_says_as_much_of_a_mistake_as_the_array_itself():
    right = Trial({"": Outcome(np.ones(20))})
    for made, telling in ((np.full(20, 2.0), True), (np.zeros(20), False), (np.full(20, np.nan), True)):
        for outcome in (Outcome(made), decode(encode(Outcome(made), False, *OF_MISTAKES))):
            assert is_telling(Trial({"": outcome}), right) == telling


def test_a_mistake_whose_work_items_race_is_known_whatever_numbers_come_out():
    """They depend on how many work-items the device runs at once."""
    check = find("kernels.tree")
    cases = cases_of(check.name, NOTEBOOK_SEED)
    racing = [number for number, (aspect, _) in enumerate(cases.plan) if aspect.races]
    mistake = next(found for found in check.mistakes if "neighbours" in found.name)
    _, failed = mistaken(check.name, NOTEBOOK_SEED, mistake.name)
    assert racing and failed.issuperset(racing)
    assert not any(recorded(check)[mistake.name][str(number)] for number in racing), (
        "that it fails is all that is recorded"
    )
    trials = list(fresh(check.name, NOTEBOOK_SEED, mistake.name))
    for number in racing:
        trials[number] = Trial(trials[number] | {"out": Outcome(np.array([1.5, float(number)], np.float32), None, "")})
    assert judge(check, trials, NOTEBOOK_SEED).mistakes == [mistake]
    for number in set(range(len(trials))) - set(racing):  # where nothing races, the numbers count
        if number in failed:
            trials[number] = Trial(trials[number] | {"out": Outcome(np.array([1.5]), None, "")})
    assert judge(check, trials, NOTEBOOK_SEED).mistakes == []
