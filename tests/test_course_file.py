"""course.toml: the modules of a course, and what its exercises count."""

import json
import os
import subprocess
import sys

import pytest

from autograder import course as settings
from autograder import paths
from autograder.__main__ import of_the_course
from autograder.course import Course, course, course_modules
from autograder.errors import CourseError
from autograder.grading.console import of_the_course as submissions_of_the_course
from autograder.grading.records import Submission


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "FILE", tmp_path / "course.toml")
    course.cache_clear()
    yield tmp_path / "course.toml"
    course.cache_clear()


def test_without_a_file_all_is_as_the_course_has_it(file):
    assert course() == Course() and course_modules() == paths.module_names()


def test_modules_by_number_or_name(file):
    file.write_text('modules = ["01", "03_broadcast"]')
    assert course_modules() == ["01_value", "03_broadcast"] and of_the_course("01") == "01_value"
    with pytest.raises(CourseError, match="leaves 02_neuron out; it has: 01_value, 03_broadcast"):
        of_the_course("02")
    taken, others = Submission("anna", "01_value", file.parent), Submission("anna", "02_neuron", file.parent)
    found, left = submissions_of_the_course([taken, others], ["x"])
    assert found == [taken] and left == ["x", "anna/02_neuron is of a module that course.toml leaves out"]
    with pytest.raises(CourseError, match="nothing to grade"):
        submissions_of_the_course([others], [])


@pytest.mark.parametrize(
    "text, part",
    [
        ("modules = 1", "modules is a list of names"),
        ('modules = ["99"]', "there is no module 99; there are: 00_start"),
        ("weights = 1", "knows modules and points, not weights"),
        ('[points]\n"value.mul" = "many"', "a number above 0"),
        ('[points]\n"value.mul" = 0', "a number above 0"),
        ("modules = [", "cannot be read"),
    ],
)
def test_what_the_file_cannot_say_is_one_sentence(file, text, part):
    file.write_text(text)
    with pytest.raises(CourseError, match=part):
        course()


ASK = """
import json
from pathlib import Path
from autograder import course
course.FILE = Path({file!r})
from autograder.checks import find
from autograder.grading.version import course_digest
from autograder.lesson.notebooks import source_notebook
from autograder.lesson.text import read_lesson
check = find("value.mul")
cells = {{cell.id: cell.metadata.nbgrader.get("points") for cell in source_notebook(read_lesson("01_value")).cells if "nbgrader" in cell.metadata}}
print(json.dumps([check.points, [a.points for a in check.aspects], cells["check-value-mul"], course_digest("01_value"), find("value.add").points]))
"""


def asked(file):
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(file=str(file))], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_points_are_those_of_the_file_in_checks_and_notebooks_and_marks_are_made_anew(tmp_path):
    before = asked(tmp_path / "course.toml")
    (tmp_path / "course.toml").write_text('[points]\n"value.mul" = 5')
    points, aspects, released, digest, other = asked(tmp_path / "course.toml")
    assert points == pytest.approx(5) and released == pytest.approx(5) and other == before[4]
    assert aspects == pytest.approx([each * 5 / before[0] for each in before[1]])
    assert digest != before[3]


def test_an_exercise_that_is_not_there_is_named(tmp_path):
    (tmp_path / "course.toml").write_text('[points]\n"value.nul" = 5')
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(file=str(tmp_path / "course.toml"))], capture_output=True, text=True
    )
    assert "course.toml: there is no exercise 'value.nul'" in done.stderr
