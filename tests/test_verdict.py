"""The verdict: bytes of any kind are survived, points are shared, a status is always one of the eight."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.checks import find
from autograder.checks.inside import pack
from autograder.judge import expected
from autograder.judge.expected import expected_outcomes, trial_seed
from autograder.judge.outcome import outcome_of, outcomes_of, same_arrays
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
    outcome_of({"array": base64.b64encode(b"\x93NUMPY\x01\x00" + data).decode()})


@given(st.lists(JSON, min_size=1, max_size=3))
def test_any_reply_ends_in_a_verdict_and_a_report(trials):
    verdict = judge(find("value.mul"), trials, "notebook")
    assert verdict.points == 0 and verdict.status in HEADLINES
    assert str(Report(verdict)) and Report(verdict)._repr_html_()


def test_a_pickle_is_never_loaded():
    import io

    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    outcome = outcome_of({"array": base64.b64encode(buffer.getvalue()).decode()})
    assert outcome.error["type"] == "BadReply"


def right_records(name, trials=2):
    return [
        {quantity: {"array": pack(outcome.array)} for quantity, outcome in trial.items()}
        for trial in expected_outcomes(name, "notebook", trials)
    ]


def test_points_are_shared_over_the_quantities():
    check, records = find("value.mul"), right_records("value.mul")
    names = list(records[0])
    assert judge(check, records, "notebook").status == "ok"
    records[1][names[-1]] = {"array": pack(12345.678)}  # wrong in one trial of two
    verdict = judge(check, records, "notebook")
    assert verdict.status == "partial" and [d.quantity for d in verdict.wrong] == [names[-1]]
    assert verdict.points == round(check.points * (len(names) - 1) / len(names), 2)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), [1.0], "1.0", True])
def test_a_value_of_another_kind_is_wrong(wrong):
    records = right_records("value.mul")
    quantity = list(records[0])[0]
    records[0][quantity] = {"array": pack(wrong)}
    assert [d.quantity for d in judge(find("value.mul"), records, "notebook").wrong] == [quantity]


def test_quantities_that_were_not_asked_for_earn_nothing():
    records = right_records("value.mul")
    records[0]["bonus"] = {"array": pack(1.0)}
    assert judge(find("value.mul"), records, "notebook").points == find("value.mul").points


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
    seeds = {trial_seed(seed, check, trial) for seed in "ab" for check in ("x", "y") for trial in range(3)}
    assert len(seeds) == 12


def test_records_of_the_wrong_shape_are_one_error():
    assert outcomes_of([1, 2])[""].error["type"] == "BadReply"


def test_where_the_reference_itself_fails_nobody_is_judged(monkeypatch):
    monkeypatch.setattr("autograder.judge.reference.reference_namespace", lambda module, edits=None: {})
    forget()
    with pytest.raises(expected.ReferenceFailed, match="reference solution itself"):
        judge(find("value.mul"), [{}], "secret")
    forget()


def forget():
    for cached in (expected.fresh_outcomes, expected.fresh_records):
        cached.cache_clear()


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
    verdict = judge(
        check, expected.probe_namespace(check, namespace, expected.NOTEBOOK_SEED, 2), expected.NOTEBOOK_SEED
    )
    assert {difference.got.error["type"] for difference in verdict.wrong} == {"TypeError"}
    assert [mistake.name for mistake in verdict.mistakes] == ["the result is printed and not returned"] * named
