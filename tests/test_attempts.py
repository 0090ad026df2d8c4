"""Attempts at the exercises, right and wrong, that no author of a check wrote: none escapes, and no right one loses a point."""

import json
from pathlib import Path

import pytest

from autograder.judge.accesses import is_possible
from autograder.judge.calibrate import Judged, attempts_in, judged, table

ATTEMPTS = attempts_in(Path(__file__).with_name("attempts"))
FRESH = attempts_in(Path(__file__).with_name("attempts_long"))  # the round that docs/judgement.md reports


@pytest.mark.parametrize(
    "attempt",
    ATTEMPTS + [pytest.param(attempt, marks=pytest.mark.long) for attempt in FRESH],
    ids=lambda attempt: attempt["id"],
)
def test_a_right_attempt_earns_all_points_and_a_wrong_one_does_not(attempt):
    if attempt.get("seen_by") == "Oclgrind" and not is_possible():
        pytest.skip("Oclgrind is not installed")
    result = judged(attempt, "a secret")
    assert result.full == (attempt["label"] == "right"), result


@pytest.mark.parametrize("name", ["03-matmul_any-f2", "04-shapes-s1", "04-backward-f2"])
def test_of_parts_that_an_error_took_away_nothing_is_said_to_be_right(name):
    (attempt,) = [attempt for attempt in FRESH if attempt["id"] == name]
    result = judged(attempt, "a secret")
    assert not result.full and "right in all of them" not in result.text


def test_the_table_counts_by_lesson():
    results = [
        Judged("a", "value.mul", "wrong", "", 0.0, 2.0, "name", "it"),
        Judged("b", "value.mul", "wrong", "", 2.0, 2.0),
        Judged("c", "tape.mul", "right", "", 1.0, 2.0),
    ]
    assert [line.split("|")[1:-1] for line in table(results)][2:] == [
        [f" {part} " for part in row]
        for row in (
            ("value", 2, 1, 1, 0, 0, 0, 0, 0),
            ("tape", 0, 0, 0, 0, 0, 0, 1, 1),
            ("**all**", 2, 1, 1, 0, 0, 0, 1, 1),
        )
    ]


def test_a_file_of_attempts_is_read_line_by_line(tmp_path):
    (tmp_path / "one.jsonl").write_text(json.dumps({"id": "x"}) + "\n\n")
    assert attempts_in(tmp_path) == attempts_in(tmp_path / "one.jsonl") == [{"id": "x"}]
