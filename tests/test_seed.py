"""The secret seed: from the environment, else from a file that is made once and that nobody else may read."""

import stat
import sys

import pytest

from autograder import paths
from autograder.grading.seed import course_seed


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


def test_git_ignores_it():
    assert ".course_seed" in (paths.ROOT / ".gitignore").read_text(encoding="utf-8")
