"""Reports: what a student reads after a check, as text and as HTML."""

import re
from dataclasses import replace

import numpy as np
import pytest

from autograder.checks import find
from autograder.checks.inside import Outcome
from autograder.judge.expected import edited_sources
from autograder.judge.fingerprint import decode, encode
from autograder.judge.reference import module_of, reference_namespace
from autograder.judge.report import counterexamples, row_text
from autograder.judge.verdict import Difference, Verdict
from autograder.lesson.text import read_lesson
from autograder.notebook import add_to_class, check, run_check
from autograder.student import Prediction


def report_on(name, edit=None, source=None):
    sources = {name: source} if source else edited_sources(find(name), edit) if edit else {}
    return run_check(name, reference_namespace(module_of(name), sources))


def test_right_work_is_one_line_and_the_devices_word():
    lines = str(report_on("value.mul")).splitlines()
    assert lines[0] == "✓ value.mul · 2 of 2 points · all right"
    assert lines[1].strip().startswith("Central differences on ") and len(lines) == 2


def test_a_mistake_shows_input_expected_got_and_its_name_and_first_hint():
    mistake = find("value.mul").mistakes[0]
    report = report_on("value.mul", mistake.edit)
    for text in (str(report), report._repr_html_()):
        for part in ("expected", "got", "Hint: "):
            assert part in text
    assert mistake.name in str(report) and mistake.hints[0] in str(report)
    assert "say so, too" in str(report)
    assert report._repr_html_().count("<details>") == len(mistake.hints) - 1


def test_a_stub_says_what_to_do_and_nothing_else():
    stub = read_lesson("01_value").exercise("value.mul").stub
    text = str(report_on("value.mul", source=stub))
    assert "not written yet" in text and "`__mul__`" in text and len(text.splitlines()) == 2


def test_an_error_names_the_line_and_is_shown_once():
    source = "@add_to_class(Value)\ndef __mul__(self, other):\n    return self.data * other.dota\n"
    text = str(report_on("value.mul", source=source))
    assert text.count("AttributeError") == 1
    assert "__mul__, line 3: return self.data * other.dota" in text


@pytest.mark.parametrize(
    "line, headline",
    [
        ("print(2 * x)", "not right yet"),  # the check stumbles over the None, not the student
        ("return 2 * y", "your code raised an error"),
    ],
)
def test_only_the_students_own_errors_are_called_that(line, headline):
    text = str(report_on("start.double", source=f"def double(x):\n    {line}\n"))
    assert f"0 of 1 points · {headline}\n" in text


def test_what_an_exercise_builds_on_comes_first():
    namespace = reference_namespace("01_value", edited_sources(find("value.mul"), find("value.mul").mistakes[0].edit))
    assert "builds on value.mul" in str(run_check("value.backward", namespace))


def test_html_of_hostile_texts_is_escaped():
    source = "@add_to_class(Value)\ndef __mul__(self, other):\n    raise ValueError('<script>alert(1)</script>')\n"
    assert "<script>" not in report_on("value.mul", source=source)._repr_html_()


def test_a_check_that_does_not_exist_suggests_one(capsys):
    check("value.mull")
    assert "value.mul" in capsys.readouterr().out


def test_check_prints_where_there_is_no_notebook(capsys):
    check("value.mul")
    assert "defines no 'Value'" in capsys.readouterr().out


@pytest.mark.parametrize(
    "guess, said", [(3, "✓"), (4, "why?"), (None, "no guess"), (..., "no guess"), ("many", "no number")]
)
def test_predictions(guess, said, capsys):
    Prediction({"a": guess}).compare(a=3.0)
    assert said in capsys.readouterr().out


def test_add_to_class():
    class Empty:
        pass

    @add_to_class(Empty)
    def name(self):
        return "it"

    assert Empty().name() == "it"


def test_a_function_that_checks_itself_comes_to_an_end_and_says_why(capsys):
    report = report_on(
        "start.double",
        source="""
from autograder.notebook import check
def double(x):
    check("start.double")
    return 3 * x
""",
    )
    assert report.verdict.points == 0
    assert "start.double is being checked: code that is checked cannot call check itself" in capsys.readouterr().out
    assert report_on("start.double").verdict.status == "ok"


def test_a_difference_in_a_late_digit_can_be_seen():
    text = str(report_on("start.sin_times", source="def sin_times(a, b):\n    return np.round(np.sin(a) * b, 7)"))
    expected, got = re.search(r"expected (\S+), got (\S+)", text).groups()
    assert expected != got


FIVE = np.arange(5)
LARGE = np.arange(120.0).reshape(4, 30)


def difference(expected, got, label="", kind="", **names):
    """A part that differs, as the notebook's recordings hold it: of a large array the first numbers alone."""
    aspect = find("value.mul").aspects[0]
    return Difference(
        aspect, decode(encode(Outcome(np.array(expected)))), Outcome(np.array(got), kind=kind), label, **names
    )


def changed(array, place, value):
    array = array.copy()
    array.ravel()[place] = value
    return array


@pytest.mark.parametrize(
    "expected, got, said",
    [
        ([True, False], [True, True], "expected [ True, False], got [ True,  True]"),
        (FIVE.astype(np.uint8), changed(FIVE, 1, 9).astype(np.uint8), "differs first at [1], in 1 of 5 numbers: "),
        (FIVE * 1.0, FIVE > 0, "differs first at [2], in 3 of 5 numbers: "),
        (FIVE, FIVE + 1, "expected [0, 1, 2, 3, 4], got [1, 2, 3, 4, 5]"),
        (FIVE, FIVE[:4], "the shape is (4,), it should be (5,): expected "),
        (0.5, [0.5], "the shape is (1,), it should be (): expected 0.5, got [0.5]"),
        (LARGE, changed(LARGE, 3, 9), "differs first at [0, 3]: expected 3, got 9"),
        (LARGE, changed(LARGE, 3, np.nan), "differs first at [0, 3]: expected 3, got nan"),
        (LARGE, changed(LARGE, 99, 9), "the first numbers are right, a later one is not"),
        (LARGE, LARGE.T, "the shape is (30, 4), it should be (4, 30): expected "),
        (None, FIVE, "expected None, got [0, 1, 2, 3, 4]"),
        ("4 parts", FIVE, "expected 4 parts, got [0, 1, 2, 3, 4]"),
    ],
)
def test_where_arrays_differ_whatever_they_hold(expected, got, said):
    expected = str(expected) if expected is None else expected
    assert row_text(difference(expected, got)).startswith(said)


def test_of_a_large_array_that_is_known_whole_the_numbers_that_differ_are_counted():
    """As when it counts: nothing is recorded for a secret seed."""
    aspect = find("value.mul").aspects[0]
    wrong = Difference(aspect, Outcome(LARGE), Outcome(changed(LARGE, [33, 34], 9)))
    assert row_text(wrong) == "differs first at [1, 3], in 2 of 120 numbers: expected 33, got 9"


@pytest.mark.parametrize(
    "array, kind, said", [("None", "NoneType", False), ("2 parts", "tuple", False), ("2", "str", True)]
)
def test_only_what_the_student_wrote_as_a_text_is_called_a_text(array, kind, said):
    assert ("it is a text" in row_text(difference(2.0, array, kind=kind))) == said


def test_of_a_list_that_is_too_short_what_is_missing_is_not_told_again():
    source = "def needed(lines, users):\n    return []\n"
    text = str(report_on("jit.needed", source=source))
    assert "lines: expected 1 part, got 0 parts" in text and "nothing" not in text


def test_an_error_comes_first_then_nan_then_the_rest():
    raised = {"type": "OverflowError", "message": "math range error", "where": "sigmoid, line 2"}
    aspects = [replace(find("value.mul").aspects[0], name=name) for name in ("number", "nan", "error", "stopped")]
    right, nan = Outcome(np.array(1.0)), Outcome(np.array(np.nan))
    got = [Outcome(np.array(2.0)), nan, Outcome(error=raised), Outcome(error=raised | {"type": "ProbeTimeout"})]
    wrong = [Difference(aspect, right, each) for aspect, each in zip(aspects, got)]
    shown = counterexamples(Verdict(find("value.mul"), "wrong", wrong=wrong))
    assert [parts[0].aspect.name for parts in shown] == ["error", "nan", "number"]


def test_the_same_array_is_not_shown_again():
    wrong = [difference(FIVE, FIVE + 1, f"process {n}") for n in range(3)] + [difference(FIVE, FIVE + 2, "process 3")]
    (parts,) = counterexamples(Verdict(find("value.mul"), "wrong", wrong=wrong))
    assert [part.label for part in parts] == ["process 0", "process 3"]


def test_a_text_in_place_of_a_number_is_called_a_text():
    text = str(report_on("start.double", source="def double(x):\n    return str(2 * x)"))
    assert "it is a text, it should be a number" in text


@pytest.mark.parametrize(
    "result, message",
    [
        ("None", "the result is None; is there a `return` missing?"),
        ("2.0", "the result is a float, not a Value"),
        ("Value(1.0, (self, 2.0), (1.0, 1.0))", "a parent is a float, not a Value"),
        (
            "Value(1.0, (self,), (1.0, 1.0))",
            "parents: 1, local derivatives: 2; each parent needs one, in the same order",
        ),
    ],
)
def test_what_is_no_graph_is_told_in_the_students_words(result, message):
    source = f"@add_to_class(Value)\ndef __add__(self, other):\n    return {result}"
    assert message in str(report_on("value.add", source=source))


def test_numbers_that_differ_by_rounding_alone_are_not_counted():
    aspect = find("value.mul").aspects[0]
    wrong = Difference(aspect, Outcome(LARGE), Outcome(changed(LARGE * (1 + 1e-12), 50, 9)))
    assert row_text(wrong).startswith("differs first at [1, 20], in 1 of 120 numbers")


def test_central_differences_say_nothing_of_gradients_that_never_came():
    source = '@add_to_class(Value)\ndef __mul__(self, other):\n    raise ValueError("later")\n'
    assert "Central differences" not in str(report_on("value.mul", source=source))


def test_what_the_check_stumbles_over_is_said_in_the_students_words_and_blamed_on_no_part():
    """A whole observation failed: the first of its parts may well be right."""
    source = read_lesson("04_function").exercise("function.apply").solved.replace("        out.grad_fn = ctx\n", "")
    text = str(report_on("function.apply", source=source))
    assert (
        "  got AttributeError: 'NoneType' object has no attribute 'function' (in the check, at y.grad_fn.function)\n"
        in text
    )
    assert "requires_grad: expected True" not in text


def test_a_kernel_that_is_told_too_many_numbers_does_not_end_the_notebook():
    """It would write beyond its buffers, and the process would die without an answer."""
    right = read_lesson("09_kernels").exercise("kernels.host").solved
    text = str(report_on("kernels.host", source=right.replace("np.int32(n)", "np.int32(100 * n)")))
    assert "ValueError: n = 100: the kernel would write beyond its arrays of 1 numbers (in run_on_device, line" in text
