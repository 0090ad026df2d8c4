"""The secret seed: from the environment, else from a file that is made once and that nobody else may read."""

import stat
import sys

import pytest

from autograder import paths
from autograder.errors import CourseError
from autograder.grading.classroom import GradingOptions, grade
from autograder.grading.sample_class import MODULE, write_submission
from autograder.grading.seed import Seeds, course_seed
from autograder.grading.submissions import find_submissions
from autograder.grading.worker import Result


@pytest.fixture(autouse=True)
def seed_file(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_SEED", raising=False)
    monkeypatch.setattr(paths, "SEED_FILE", tmp_path / ".course_seed")
    return tmp_path / ".course_seed"


def test_the_environment_comes_first(seed_file, monkeypatch):
    monkeypatch.setenv("COURSE_SEED", "mine")
    assert course_seed() == "mine" and not seed_file.exists()


def test_a_seed_is_made_once(seed_file):
    first = course_seed()
    assert len(first) == 32 and course_seed() == first


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_nobody_else_may_read_it(seed_file):
    course_seed()
    assert stat.S_IMODE(seed_file.stat().st_mode) == 0o600


def test_a_seed_that_is_somebody_elses_is_one_sentence(seed_file, monkeypatch):
    def refused(*arguments, **more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refused)
    with pytest.raises(CourseError, match="is not yours to read or write; set COURSE_SEED"):
        course_seed()


def test_git_ignores_it():
    assert ".course_seed" in (paths.ROOT / ".gitignore").read_text(encoding="utf-8")


# -- what is handed in later gets another ---------------------------------------------------------------------------------


def test_a4_what_is_first_met_in_a_later_run_gets_another_seed_and_keeps_it(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_SEED", "secret")
    first = Seeds(tmp_path)
    assert first.of("anna", "01_value", b"a") == first.of("ben", "01_value", b"b") == first.latest == "secret"
    first.save()
    second = Seeds(tmp_path)
    again = second.of("anna", "01_value", b"better")
    assert again != "secret" and second.latest == again
    assert second.of("carl", "02_neuron", b"a") == again, "those of one run share a seed"
    assert second.of("ben", "01_value", b"a") == again, "the bytes of another student are not one's own"
    assert second.of("anna", "01_value", b"a") == second.of("ben", "01_value", b"b") == "secret"
    second.save()
    third = Seeds(tmp_path)
    assert third.of("anna", "01_value", b"better") == again and third.of("dora", "01_value", b"") not in (
        "secret",
        again,
    )
    assert "secret" not in (tmp_path / "seeds.json").read_text()


def test_a4_seeds_are_kept_before_anything_is_judged(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_SEED", "secret")
    seen = {}

    class Stopped(Exception):
        pass

    class Workers:
        def __enter__(self):
            return self

        def __exit__(self, *exception):
            pass

        def results(self, jobs):
            assert (tmp_path / "out" / "seeds.json").exists()
            for name, task in jobs:
                if isinstance(name, int) and seen.setdefault(task.data, task.seed) == stop_at:
                    raise Stopped
                yield name, Result(failure="" if isinstance(name, str) else "it was not judged")

    monkeypatch.setattr(GradingOptions, "start_workers", lambda self: Workers())

    def grade_those(*texts):
        for text in texts:
            write_submission(tmp_path / "in", f"student-{text}", MODULE, text)
        grade(find_submissions(tmp_path / "in")[0], tmp_path / "out", [MODULE], print, GradingOptions(sandbox=False))

    stop_at = "secret"
    with pytest.raises(Stopped):
        grade_those("a", "b")
    stop_at = None
    grade_those("c")
    assert seen[b"a"] == seen[b"b"] == "secret" != seen[b"c"], "b was met in the first run, which did not get to it"


def test_seeds_that_cannot_be_read_are_one_sentence(tmp_path):
    for text in ("", "[]", '{"a": "b"}', "{"):
        (tmp_path / "seeds.json").write_text(text)
        with pytest.raises(CourseError, match="does not hold the runs"):
            Seeds(tmp_path)
