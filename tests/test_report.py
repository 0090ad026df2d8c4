"""Reports: what a student reads after a check, as text and as HTML."""

import re

import numpy as np
import pytest

from autograder.checks import find
from autograder.checks.inside import Outcome
from autograder.judge.expected import edited_sources
from autograder.judge.reference import module_of, reference_namespace
from autograder.judge.report import difference_text
from autograder.judge.verdict import Difference
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


@pytest.mark.parametrize(
    "expected, got, said",
    [
        ([True, False], [True, True], "1 of 2 differ; most at [1]: True, not False"),
        (np.array([1, 2], np.uint8), np.array([1, 3], np.uint8), "1 of 2 differ; most at [1]: 3, not 2"),
        ([1.0, 2.0], [True, False], "1 of 2 differ; most at [1]: False, not 2"),
    ],
)
def test_where_arrays_differ_whatever_they_hold(expected, got, said):
    aspect = find("value.mul").aspects[0]
    difference = Difference(aspect, Outcome(np.array(expected)), Outcome(np.array(got)))
    assert difference_text(difference, 6) == said


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
    expected, got = np.array([1.0, 2.0]), np.array([1.0 + 1e-12, 3.0])
    assert difference_text(Difference(aspect, Outcome(expected), Outcome(got)), 6).startswith("1 of 2 differ")
