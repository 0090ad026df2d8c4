"""The verdict: bytes of any kind are survived, points are shared, a status is always one of the eight."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.checks import find
from autograder.checks.inside import Outcome, Trial
from autograder.judge import expected
from autograder.judge.expected import expected_outcomes
from autograder.judge.messages import decoded, outcome_of
from autograder.judge.outcome import same_arrays
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


def right_trials(name, trials=2):
    return [Trial(trial) for trial in expected_outcomes(name, "notebook", trials)]


def test_points_are_shared_over_the_quantities():
    check, trials = find("value.mul"), right_trials("value.mul")
    names = list(trials[0])
    assert judge(check, trials, "notebook").status == "ok"
    trials[1][names[-1]] = Outcome(np.array(12345.678))  # wrong in one trial of two
    verdict = judge(check, trials, "notebook")
    assert verdict.status == "partial" and [d.quantity for d in verdict.wrong] == [names[-1]]
    assert verdict.points == round(check.points * (len(names) - 1) / len(names), 2)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), [1.0], "1.0", True])
def test_a_value_of_another_kind_is_wrong(wrong):
    trials = right_trials("value.mul")
    quantity = list(trials[0])[0]
    trials[0][quantity] = Outcome(np.array(wrong))
    assert [d.quantity for d in judge(find("value.mul"), trials, "notebook").wrong] == [quantity]


def test_quantities_that_were_not_asked_for_earn_nothing():
    trials = right_trials("value.mul")
    trials[0]["bonus"] = Outcome(np.array(1.0))
    assert judge(find("value.mul"), trials, "notebook").points == find("value.mul").points


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


def test_a_trial_seed_depends_on_all_three():
    checks = find("value.mul"), find("value.add")
    seeds = {number for seed in "ab" for check in checks for number in check.seeds(seed, 3)}
    assert len(seeds) == 12


def test_where_the_reference_itself_fails_nobody_is_judged(monkeypatch):
    monkeypatch.setattr("autograder.judge.reference.reference_namespace", lambda module, edits=None: {})
    forget()
    with pytest.raises(expected.ReferenceFailed, match="reference solution itself"):
        judge(find("value.mul"), [Trial()], "secret")
    forget()


def forget():
    expected.fresh_outcomes.cache_clear()


@pytest.mark.parametrize(
    "source, named",
    [
        ("def double(x):\n    print(2 * x)", True),
        ("def double(x):\n    print('the double is', x + x)", True),
        ("def double():\n    return 2", False),
        ("def double(x):\n    return x + None", False),
    ],
)
def test_where_there_are_only_errors_they_must_say_the_same_to_have_a_mistakes_name(source, named):
    """Each raises a TypeError in every quantity."""
    check, namespace = find("start.double"), {}
    exec(source, namespace)
    verdict = judge(check, check.run(namespace, expected.NOTEBOOK_SEED, 2), expected.NOTEBOOK_SEED)
    assert {difference.got.error["type"] for difference in verdict.wrong} == {"TypeError"}
    assert [mistake.name for mistake in verdict.mistakes] == ["the result is printed and not returned"] * named
