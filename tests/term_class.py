"""For the tests of a term: workers that ask no judge, and a class folder that is used as an instructor uses it."""

import csv
import subprocess
import sys

import pytest
from nbgrader.api import Gradebook
from small_class import options

from autograder.checks import find
from autograder.grading.classroom import grade
from autograder.grading.sample_class import solved, write_submission
from autograder.grading.submissions import find_submissions
from autograder.grading.worker import finished, submission_in_template
from autograder.judge.notebook import Judgement, write_verdicts
from autograder.judge.verdict import Verdict
from autograder.lesson.text import read_lesson

MODULE = "01_value"
LESSON = read_lesson(MODULE)
WRITTEN = next(cell for cell in LESSON.cells if cell.kind == "written")
EXERCISES = LESSON.exercises
MUL = find("value.mul")
ALL = sum(find(name).points for name in EXERCISES)


class NoJudge:
    """Workers that find every exercise right, but for those that a cell names: `# wrong: value.mul`."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def results(self, jobs):
        for name, task in jobs:
            notebook = submission_in_template(task)
            judgement = self.judgement(notebook, task)
            write_verdicts(notebook, judgement.verdicts)
            yield name, finished(notebook, judgement, task, 0.1)

    def judgement(self, notebook, task):
        text = "\n".join(cell.source for cell in notebook.cells)
        verdicts = {exercise: self.verdict(exercise, text) for exercise in read_lesson(task.module).exercises}
        return Judgement(verdicts, unknown=self.unknown(verdicts, text))

    def verdict(self, exercise, text):
        check, wrong = find(exercise), f"# wrong: {exercise}" in text
        return Verdict(check, "wrong" if wrong else "ok", points=0.0 if wrong else check.points)

    def unknown(self, verdicts, text):
        """{exercise: the record of a wrong answer that no known mistake explains}."""
        return {}


class Term:
    def __init__(self, folder, out):
        self.folder, self.out = folder, out

    def hand_in(self, student, answer="Because.", wrong=(), timestamp=""):
        notebook = solved(MODULE)
        cells = {cell.id: cell for cell in notebook.cells}
        cells[WRITTEN.id].source = answer
        for exercise in wrong:
            cells[f"exercise-{exercise.replace('.', '-')}"].source += f"\n# wrong: {exercise}"
        write_submission(self.folder, student, MODULE, notebook)
        if timestamp:
            (self.folder / student / MODULE / "timestamp.txt").write_text(timestamp)

    def grade(self, **more):
        found, _ = find_submissions(self.folder)
        seen = []
        grade(found, self.out, [MODULE], seen.append, options(**more))
        return {each.submission.student: each for each in seen}

    def book(self):
        return Gradebook(f"sqlite:///{self.out / 'gradebook.db'}", "autodiff")

    def give(self, student, name, score=None, comment=None, module=MODULE):
        """What formgrader does when somebody types a mark, or a comment."""
        with self.book() as book:
            if score is not None:
                found = book.find_grade(name, module, module, student)
                found.manual_score, found.needs_manual_grade = score, False
            if comment is not None:
                book.find_comment(name, module, module, student).manual_comment = comment
            book.db.commit()

    def rows(self, table="grades.csv"):
        with open(self.out / table, encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def row(self, student, exercise):
        return next(row for row in self.rows() if (row["student"], row["exercise"]) == (student, exercise))

    def page(self, student, module=MODULE):
        return (self.out / "feedback" / student / module / f"{module}.html").read_text(encoding="utf-8")

    def index(self, student):
        return (self.out / "feedback" / student / "index.html").read_text(encoding="utf-8")

    def exported(self):
        """{student: row} of `nbgrader export`, of a class with one module."""
        return {row["student_id"]: row for row in self.all_exported()}

    def all_exported(self):
        """The rows of `nbgrader export`."""
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", "export", "--to", "exported.csv"],
            cwd=self.out,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return self.rows("exported.csv")

    def agree(self):
        """grades.csv, submissions.csv, report.html and `nbgrader export` say the same of everybody."""
        exported, report = self.exported(), (self.out / "report.html").read_text(encoding="utf-8")
        for row in self.rows("submissions.csv"):
            student = row["student"]
            theirs = exported[student]
            total = sum(float(each["points"]) for each in self.rows() if each["student"] == student)
            assert total == pytest.approx(float(theirs["raw_score"]))
            assert float(row["points"]) == pytest.approx(float(theirs["score"]))
            assert float(row["penalty"]) == pytest.approx(
                float(theirs["late_submission_penalty"]) if theirs["late_submission_penalty"] else 0
            )
            assert float(row["max_points"]) == float(theirs["max_score"])
            assert f">{float(row['points']):g}</td></tr>" in report or f"</span>{float(row['points']):g}</td>" in report
        return {row["student"]: row for row in self.rows("submissions.csv")}
