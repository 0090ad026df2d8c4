"""What runs in the student's process: quantities, errors and time, all as plain records."""

import base64
import io
import json
import signal
import time

import numpy as np
import pytest

from autograder.checks.inside import Outcome, Trial, compile_probe, encoded, run_probe, run_trials
from autograder.checks.tools import Tools, WorkLimitExceeded
from autograder.judge.messages import decoded, outcome_of, with_characters

TOOLS = Tools()


def run(probe, namespace=None, seconds=5.0, only=None):
    """The trial, as it arrives from a kernel: the same as in the process where it was made."""
    trial = run_probe(probe, namespace or {}, 0, TOOLS, seconds, only)
    (arrived,) = decoded(json.dumps(encoded([trial])))
    assert arrived.input == trial.input and set(arrived) == set(trial)
    for name, outcome in trial.items():
        assert arrived[name].error == outcome.error
        assert outcome.error or (arrived[name].array.dtype, arrived[name].array.shape) == (
            outcome.array.dtype,
            outcome.array.shape,
        )
    return arrived


def test_quantities_arrive_as_arrays():
    outcomes = run(
        lambda student, rng, tools: {"number": 1.5, "list": [1, 2], "array": np.eye(2), "later": lambda: True}
    )
    assert outcomes["number"].array == 1.5 and outcomes["later"].array
    assert outcomes["list"].array.tolist() == [1, 2] and outcomes["array"].array.shape == (2, 2)


@pytest.mark.parametrize(
    "thing, part",
    [
        (None, "None"),
        (object(), "object"),
        ({"a": 1}, "dict"),
        (len, "builtin"),
        ([1, None], "a part of it is None"),
        ([1, len], "a part of it is a builtin"),
    ],
)
def test_anything_but_plain_data_is_refused(thing, part):
    assert part in run(lambda student, rng, tools: {"q": lambda: thing})["q"].error["message"]


@pytest.mark.parametrize(
    "error", [SystemExit, KeyboardInterrupt, ZeroDivisionError, RecursionError, NotImplementedError]
)
def test_whatever_is_raised_is_a_record_and_costs_its_quantity_alone(error):
    def fail():
        raise error("why")

    outcomes = run(lambda student, rng, tools: {"bad": fail, "good": 1})
    assert outcomes["bad"].error["type"] == error.__name__ and outcomes["good"].array == 1
    assert run(lambda student, rng, tools: fail())[""].error["type"] == error.__name__


def test_an_error_whose_text_cannot_be_made_is_still_a_record():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    def fail():
        raise Odd

    assert run(lambda student, rng, tools: {"bad": fail})["bad"].error


def test_an_endless_loop_leaves_time_for_the_next_quantity():
    def loop():
        while True:
            pass

    start = time.monotonic()
    outcomes = run(lambda student, rng, tools: {"loop": loop, "next": 1}, seconds=0.4)
    assert outcomes["loop"].error["type"] == "ProbeTimeout" and outcomes["next"].array == 1
    assert time.monotonic() - start < 2


def test_a_missing_name_is_said():
    outcomes = run(lambda student, rng, tools: {"q": student.Value(1)})
    assert "defines no 'Value'" in outcomes[""].error["message"]


def test_only_the_named_quantities_are_computed():
    assert set(run(lambda student, rng, tools: {"a": 1, "b": lambda: 1 / 0}, only=("a",))) == {"a"}


def test_the_work_limit_counts_calls_not_seconds():
    def walk(n):
        return 1 if n == 0 else walk(n - 1) + walk(n - 1)

    with TOOLS.work_limit(1000):
        walk(5)
    with pytest.raises(WorkLimitExceeded), TOOLS.work_limit(1000):
        walk(50)


def test_what_is_asked_for_once_is_made_in_the_first_trial_and_each_trial_has_it_or_its_error():
    def probe(student, rng, tools):
        def long():
            student.made.append(1)
            return 7

        def wrong():
            student.made.append(1)
            raise ValueError("no")

        return {"long": lambda: tools.once(long), "wrong": lambda: tools.once(wrong)}

    made = []
    trials = run_trials(probe, {"made": made}, [1, 2, 3], Tools(), 5)
    assert len(made) == 2 and encoded(trials[:1]) == encoded(trials[1:2]) == encoded(trials[2:])
    assert trials[2]["wrong"].error["message"] == "no" and trials[2]["long"].array == 7


def test_a_probe_is_made_from_its_text_with_np_and_math():
    probe = compile_probe("def probe(student, rng, tools):\n    return {'q': np.ones(2) * math.pi}")
    assert run(probe)["q"].array.tolist() == [np.pi, np.pi]


def test_a_quantity_is_what_it_was_when_it_was_given():
    array = np.ones(3)

    def change():
        array[:] = 2
        return array

    trial = run_probe(lambda student, rng, tools: {"before": array, "after": change}, {}, 0, TOOLS, 5)
    assert trial["before"].array.tolist() == [1, 1, 1] and trial["after"].array.tolist() == [2, 2, 2]


def test_what_cannot_be_encoded_costs_its_quantity_alone():
    odd = np.array([object()])  # stands for an array that there is no room to encode
    (record,) = encoded([Trial({"large": Outcome(odd), "small": Outcome(np.ones(2))}, "x")])
    assert record["large"]["error"]["type"] and "array" in record["small"] and record["input"] == {"text": "x"}


def test_after_an_endless_loop_no_more_trials_are_made():
    def loop():
        while True:
            pass

    assert len(run_trials(lambda student, rng, tools: {"q": loop}, {}, [1, 2, 3], TOOLS, 0.2)) == 1
    assert len(run_trials(lambda student, rng, tools: {"q": rng.normal()}, {}, [1, 2, 3], TOOLS, 5)) == 3


def test_a_loop_that_catches_everything_once_is_stopped_all_the_same():
    def loop():
        try:
            while True:
                pass
        except BaseException:
            while True:
                pass

    assert run(lambda student, rng, tools: {"loop": loop}, seconds=0.4)["loop"].error["type"] == "ProbeTimeout"


def test_what_sleeps_is_stopped_by_the_clock_and_what_waits_for_a_busy_machine_is_not():
    outcomes = run(
        lambda student, rng, tools: {"sleep": lambda: time.sleep(60), "short": lambda: time.sleep(0.15) or 1},
        seconds=0.2,
    )
    assert outcomes["sleep"].error["type"] == "ProbeTimeout"
    assert outcomes["short"].array == 1, "0.15 s on the clock, and next to none of the processor's"


def test_timers_and_handlers_are_as_before_afterwards():
    before = [signal.getsignal(number) for number in (signal.SIGPROF, signal.SIGALRM)]
    run(lambda student, rng, tools: {"q": 1})
    assert [signal.getsignal(number) for number in (signal.SIGPROF, signal.SIGALRM)] == before
    assert signal.getitimer(signal.ITIMER_PROF)[0] == signal.getitimer(signal.ITIMER_REAL)[0] == 0


NUMBERS = {
    b"\xff\xff\xff\x7f": "\ufffd",
    b"\x00\xd8\x00\x00": "\ufffd",
    b"\x00\x00\x11\x00": "\ufffd",
    b"a\x00\x00\x00": "a",
}


@pytest.mark.parametrize("data", NUMBERS, ids=bytes.hex)
@pytest.mark.parametrize("order", "<>")
def test_b3_a_text_of_numbers_that_are_no_characters_arrives_as_one_that_can_be_printed(data, order):
    text = np.frombuffer(data, "<u4").astype(f"{order}u4").view(f"{order}U1")
    for array in (text, text.reshape(()), np.array([text, text])):
        buffer = io.BytesIO()
        np.save(buffer, array)
        found = outcome_of({"array": base64.b64encode(buffer.getvalue()).decode()}).array
        assert found.shape == array.shape and set(found.reshape(-1).tolist()) == {NUMBERS[data]}


@pytest.mark.parametrize("array", [np.array("ab"), np.array(["a", "bcd"], ">U3"), np.array([], "U3"), np.array([[""]])])
def test_b3_other_texts_arrive_as_they_are(array):
    np.testing.assert_array_equal(with_characters(array), array, strict=False)
    assert with_characters(array).shape == array.shape
