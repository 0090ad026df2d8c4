"""The instructor's page: what it says about a class that is made up here, so that each sentence can be checked."""

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.grading.class_page import class_page, frequent_mistakes, histogram, odd_exercises
from autograder.grading.records import Graded, Row, Submission
from autograder.grading.student_page import student_page


def row(student, exercise, share=1.0, status=None, mistake=""):
    return Row(student, "01_value", exercise, 2 * share, 2.0, status or ("ok" if share == 1 else "wrong"), mistake)


def graded(student, rows, seconds=1.0, failure=""):
    return Graded(Submission(student, "01_value", Path("nowhere")), rows, seconds, failure)


def test_an_exercise_that_nearly_everyone_fails_is_named():
    rows = [row(f"s{i}", "hard", 0.25 * (i % 2), mistake=f"m{i % 3}") for i in range(8)] + [
        row(f"s{i}", "easy") for i in range(8)
    ]
    assert [exercise for exercise, _ in odd_exercises(rows)] == ["hard"]
    assert "hard for nearly everyone: 12% of the points on average, 8 tried it." in dict(odd_exercises(rows))["hard"]


def test_an_exercise_that_is_failed_in_one_way_is_named_with_the_way():
    rows = [row(f"s{i}", "odd", 0.75 if i < 6 else 1.0, "partial" if i < 6 else "ok") for i in range(20)]
    ((exercise, reason),) = odd_exercises(rows)
    assert (
        exercise == "odd"
        and "6 of the 6 who failed did so in one way: no known mistake (partly right, 1.5 points)" in reason
    )
    rows = [row(f"s{i}", "odd", 0.75, "partial", "the sign is wrong") for i in range(5)] + [
        row(f"t{i}", "odd") for i in range(9)
    ]
    assert "the known mistake «the sign is wrong»" in odd_exercises(rows)[0][1]


@pytest.mark.parametrize(
    "rows",
    [
        [row(f"s{i}", "few", 0.0) for i in range(4)],
        [row(f"s{i}", "untried", 0.0, "missing") for i in range(30)],
        [row(f"s{i}", "mixed", 0.5 + 0.05 * i, "partial") for i in range(10)],
        [row(f"s{i}", "fine") for i in range(30)],
    ],
)
def test_an_ordinary_exercise_is_not(rows):
    assert odd_exercises(rows) == []


def test_who_fails_because_of_an_earlier_exercise_does_not_count():
    rows = [row(f"s{i}", name, 0.5, "partial") for i in range(9) for name in ("value.mul", "value.derived")]
    assert [exercise for exercise, _ in odd_exercises(rows)] == ["value.mul"]


def test_mistakes_are_counted_the_most_frequent_first():
    rows = [row("a", "x", 0, mistake="m"), row("b", "x", 0, mistake="n"), row("c", "x", 0, mistake="n"), row("d", "x")]
    assert [(found["name"], found["students"]) for found in frequent_mistakes(rows)] == [
        ("n", ["b", "c"]),
        ("m", ["a"]),
    ]


def test_every_share_is_in_one_bar():
    bins = histogram([0.0, 0.0999, 0.1, 0.5, 0.999, 1.0])
    assert [each["count"] for each in bins] == [2, 1, 0, 0, 0, 1, 0, 0, 0, 2]


def test_names_and_logs_are_escaped():
    hostile = "<script>alert(1)</script>"
    page = class_page([graded(hostile, [row(hostile, "x", 0, mistake=hostile)], failure=hostile)])
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "<script" not in student_page([replace(graded(hostile, [row(hostile, "x")]), reports={"x": "<b>fine</b>"})])


def test_a_class_of_300_is_one_page():
    page = class_page(
        [
            graded(f"student-{i:03}", [row(f"student-{i:03}", f"e{j}", (i + j) % 4 / 3) for j in range(11)], seconds=i)
            for i in range(300)
        ]
    )
    assert page.count("<tr>") > 300 and "300 students, 300 notebooks" in page
    assert "the longest: student-299/01_value" in page and len(page) < 1_000_000
