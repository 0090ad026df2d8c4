"""The instructor's page: what it says about a class that is made up here, so that each sentence can be checked."""

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_class import made_class

from autograder.grading.class_numbers import (
    ENOUGH,
    correlation,
    exercise_numbers,
    frequent_mistakes,
    histogram,
    odd_exercises,
)
from autograder.grading.class_page import class_page
from autograder.grading.marks import TO_MARK
from autograder.grading.records import Graded, Row, Submission
from autograder.grading.student_page import student_page
from autograder.pages import script


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
    assert page.count("<script") == 1 and f"<script>{script('class.js')}</script>" in page and "&lt;script&gt;" in page
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


def test_the_numbers_of_an_exercise_are_those_counted_by_hand():
    def one(student, shares, failed=(), mistake="", states=("ok", "ok", "ok")):
        rows = [
            row(student, f"e{i}", share, state, mistake if i == 0 else "")
            for i, (share, state) in enumerate(zip(shares, states))
        ]
        return replace(graded(student, rows), failed={"e0": failed})

    members = [
        one("a", (1, 1, 1)),
        one("b", (0.5, 1, 0), ["sign"], "m", ("partial", "ok", "wrong")),
        one("c", (0, 0, 0), ["sign", "shape"], "n", ("wrong", "missing", "missing")),
        one("d", (0, 0, 0), [], "", ("timeout", "wrong", "wrong")),
        one("e", (0, 0, 0), [], "", ("missing", "missing", "missing")),
        one("f", (0, 0, 0), [], "", ("invalid", "invalid", "invalid")),
    ]
    first, second, _ = exercise_numbers(members)
    assert (first.module, first.exercise, first.points) == ("01_value", "e0", 2.0)
    assert (first.tried, first.handed_in, first.lost) == (4, 5, 3)
    assert first.share == pytest.approx((1 + 0.5 + 0 + 0) / 4) and first.discrimination is None
    assert first.aspects == [("sign", 2), ("shape", 1)] and first.mistakes == [("m", 1), ("n", 1)]
    assert first.states == [("timeout", 1)]
    assert (second.tried, second.share) == (3, pytest.approx(2 / 3))


def test_discrimination_is_the_correlation_with_the_rest_of_the_module_of_those_who_tried():
    shares = np.random.default_rng(1).integers(0, 5, (40, 4)) / 4
    shares[:, 1] = 1 - shares[:, 0]  # who can do the one cannot do the other
    members = [
        graded(f"s{i}", [row(f"s{i}", f"e{j}", share) for j, share in enumerate(own)]) for i, own in enumerate(shares)
    ]
    for i in range(5):  # not tried: they count in no number of e3
        members[i].rows[3] = row(f"s{i}", "e3", 0, "missing")
        shares[i, 3] = 0
    for j, numbers in enumerate(exercise_numbers(members)):
        own = slice(5 if j == 3 else 0, None)
        rest = np.delete(shares, j, axis=1).mean(axis=1)[own]
        assert numbers.share == pytest.approx(shares[own, j].mean())
        assert numbers.discrimination == pytest.approx(np.corrcoef(shares[own, j], rest)[0, 1])
    numbers = exercise_numbers(members)
    assert numbers[0].discrimination < 0
    assert "did no better here: discrimination −0." in dict(odd_exercises([], numbers))["e0"]


def test_a_written_answer_counts_once_it_is_marked():
    members = [
        replace(graded(f"s{i}", [row(f"s{i}", "e", i % 2)]), written=[row(f"s{i}", "w", i % 2, state)])
        for i, state in enumerate(["wrong", "ok"] * 10 + ["waiting"] * 10)
    ]
    exercise, answer = exercise_numbers(members)
    assert (answer.tried, answer.share) == (20, 0.5) and answer.discrimination == pytest.approx(1)
    assert exercise.tried == 30 and exercise.discrimination == pytest.approx(1), "the rest of ten is not known yet"


@pytest.mark.parametrize("pairs", [[(0.1 * i, i) for i in range(ENOUGH - 1)], [(1, i) for i in range(50)], []])
def test_there_is_no_correlation_of_few_or_of_what_is_the_same_for_all(pairs):
    assert correlation(pairs) is None


def test_the_same_sum_in_another_order_is_the_same_number():
    assert correlation([(0.1 + 0.2 + 0.3 if i % 2 else 0.3 + 0.2 + 0.1, i) for i in range(30)]) is None


def test_who_handed_in_nothing_is_named_and_who_was_not_chosen_is_not():
    roster = {"ada": "Ada Lovelace", "ben": "ben", "cem": "Cem K", "dora": "Dora D", "eve": "Eve E"}
    page = class_page(
        [graded("ada", [row("ada", "e")])],
        roster=roster,
        absent=["dora/01_value"],
        ungraded=[Submission("eve", "01_value", Path("nowhere"))],
    )
    named = re.search(r"Handed in nothing.*?<p[^>]*>(.*?)</p>", page, re.DOTALL).group(1)
    assert named == "ben, cem (Cem K)"
    assert "dora/01_value" in page and page.count('class="none"') == 3 and page.count("<td>…</td>") == 1


def test_worth_a_look_comes_first_and_counts_what_waits():
    late = replace(
        graded("ada", [row("ada", "e", 0)], failure="Traceback"),
        flags=("imports torch",),
        written=[replace(row("ada", "w", 0, "waiting"), mark=TO_MARK)],
        seconds_late=7200,
    )
    page = class_page([late], left=["zoe/[x] is no module"])
    assert re.findall(r"<h2>(.*?)</h2>", page)[0] == "Worth a look"
    heads = re.findall(r"<h3>(.*?)(?: <span.*)?</h3>", page)
    assert heads[:5] == [
        "Not settled",
        "The grader itself failed on",
        "Integrity flags",
        "Exercises to look at",
        "To be marked",
    ]
    assert "1 student, 1 notebook, 1 of them late. 1 cell to be marked in formgrader." in page and "w (1)" in page


def test_an_empty_class_and_one_student_have_a_page():
    page = class_page([], roster={"ada": "ada"})
    assert "0 students, 0 notebooks" in page and "Handed in nothing" in page and "Nothing was graded" in page
    assert class_page([]).count("<table") == 1, "that of the run"
    assert "1 student, 1 notebook" in class_page([graded("ada", [row("ada", "e")])])


def test_the_policy_allows_the_script_of_the_page_and_no_other():
    page = class_page([graded("ada", [row("ada", "e")])])
    (text,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', page)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy and policy.startswith("default-src 'none';")
    assert "script-src" not in student_page([graded("ada", [row("ada", "e")])])


def test_all_modules_of_a_large_class_are_one_file_that_can_be_sent():
    everyone, roster = made_class(300, 16)
    page = class_page(everyone, roster=roster)
    assert len(page.encode()) < 4_000_000
