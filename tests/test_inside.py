"""What runs in the student's process: outcomes, errors and time, all as plain records."""

import base64
import io
import json
import signal
import time

import numpy as np
import pytest

from autograder.checks.aspect import text_of
from autograder.checks.inside import Outcome, Trial, encoded, run_cases
from autograder.checks.tools import Tools, WorkLimitExceeded
from autograder.judge.messages import decoded, outcome_of, with_characters

TOOLS = Tools()


def run(names=None, seconds=5.0, observe="def observe(student): return student.f()"):
    """The trial of one case, as it arrives from a kernel: the same as in the process where it was made."""
    (trial,) = run_cases([{"observe": observe, "cases": [{}]}], names or {}, TOOLS, seconds)
    (arrived,) = decoded(json.dumps(encoded([trial])))
    assert set(arrived) == set(trial)
    for name, outcome in trial.items():
        assert arrived[name].error == outcome.error and arrived[name].kind == outcome.kind
        assert outcome.error or (arrived[name].array.dtype, arrived[name].array.shape) == (
            outcome.array.dtype,
            outcome.array.shape,
        )
    return arrived


def of(function, seconds=5.0):
    """The outcome of a case in which the student's function is called, under its labels."""
    return run({"f": function}, seconds)


def loop():
    while True:
        pass


def test_numbers_lists_arrays_and_texts_arrive_as_arrays():
    outcomes = of(lambda: {"number": 1.5, "list": list(range(9)), "array": np.eye(2), "later": lambda: True, "": "a"})
    assert outcomes["number"].array == 1.5 and outcomes["later"].array and outcomes[""].array == "a"
    assert outcomes["list"].array.tolist() == list(range(9)) and outcomes["array"].array.shape == (2, 2)


@pytest.mark.parametrize(
    "thing, said",
    [
        (None, "None"),
        (object(), "an object of class object"),
        (len, "an object of class builtin_function_or_method"),
        (np.array([None]), "an object of class ndarray"),
        (10**400, "an object of class int"),
    ],
)
def test_of_anything_but_plain_data_only_its_class_leaves(thing, said):
    outcome = of(lambda: {"q": thing})["q"]
    assert outcome.array == said and outcome.kind == type(thing).__name__


@pytest.mark.parametrize(
    "error", [SystemExit, KeyboardInterrupt, ZeroDivisionError, RecursionError, NotImplementedError]
)
def test_whatever_is_raised_is_a_record(error):
    def fail():
        raise error("why")

    assert of(fail)[""].error["type"] == error.__name__


def test_an_exception_in_one_part_costs_that_part_alone():
    outcomes = of(lambda: {"bad": lambda: 1 / 0, "good": 1})
    assert outcomes["bad"].error["type"] == "ZeroDivisionError" and outcomes["good"].array == 1


def test_an_error_whose_text_cannot_be_made_is_still_a_record():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    def fail():
        raise Odd

    assert of(fail)[""].error


def test_a_missing_name_is_said():
    assert "defines no 'f'" in run()[""].error["message"]


def test_the_work_limit_counts_calls_not_seconds():
    def walk(n):
        return 1 if n == 0 else walk(n - 1) + walk(n - 1)

    with TOOLS.work_limit(1000):
        walk(5)
    with pytest.raises(WorkLimitExceeded), TOOLS.work_limit(1000):
        walk(50)


def test_an_observation_is_made_from_its_text_with_np_and_math():
    def observe():
        return np.ones(2) * math.pi  # noqa: F821

    assert run(observe=text_of(observe, "observe"))[""].array.tolist() == [np.pi, np.pi]


def test_an_outcome_is_what_it_was_when_it_was_given():
    array = np.ones(3)

    def change():
        array[:] = 2
        return array

    outcomes = of(lambda: {"before": array.copy(), "after": change()})
    assert outcomes["before"].array.tolist() == [1, 1, 1] and outcomes["after"].array.tolist() == [2, 2, 2]


def test_what_cannot_be_encoded_costs_its_label_alone():
    odd = np.array([object()])  # stands for an array that there is no room to encode
    (record,) = encoded([Trial({"large": Outcome(odd), "small": Outcome(np.ones(2))})])
    assert record["large"]["error"]["type"] and "array" in record["small"]


def test_after_an_endless_loop_the_other_cases_of_the_aspect_are_not_run():
    def f(n):
        return loop() if n == 1 else n

    observe, cases = "def observe(student, case): return student.f(case.n)", [{"n": str(n)} for n in range(4)]
    aspects = [{"observe": observe, "cases": cases}, {"observe": observe, "cases": [{"n": "7"}]}]
    start = time.monotonic()
    zero, *others, seven = run_cases(aspects, {"f": f}, TOOLS, 0.8)
    assert zero[""].array == 0 and seven[""].array == 7
    assert {trial[""].error["type"] for trial in others} == {"ProbeTimeout"}
    assert time.monotonic() - start < 4


def test_a_loop_that_catches_everything_once_is_stopped_all_the_same():
    def f():
        try:
            loop()
        except BaseException:
            loop()

    assert of(f, seconds=0.4)[""].error["type"] == "ProbeTimeout"


def test_what_sleeps_is_stopped_by_the_clock_and_what_waits_for_a_busy_machine_is_not():
    assert of(lambda: time.sleep(60), seconds=0.2)[""].error["type"] == "ProbeTimeout"
    outcome = of(lambda: time.sleep(0.15) or 1, seconds=0.2)[""]
    assert outcome.array == 1, "0.15 s on the clock, and next to none of the processor's"


def test_timers_and_handlers_are_as_before_afterwards():
    before = [signal.getsignal(number) for number in (signal.SIGPROF, signal.SIGALRM)]
    of(lambda: 1)
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
