"""The term of `term_events` in a class folder: each event is what an instructor or a student does, by the documented commands.

A worker stands in for the judge: it finds what the events say.
"""

import re
from dataclasses import dataclass
from datetime import UTC
from functools import lru_cache
from os import utime

from bs4 import BeautifulSoup
from click.testing import CliRunner
from small_class import SANDBOX
from term_class import NoJudge, Term
from term_events import DUE, HINT, NAME, SIN_TIMES, STUDENTS, WRITTEN, Extension, Grade, HandIn, Mark, Name
from test_unknown import HALF, OTHERS, SPELLINGS, trials_of

from autograder.__main__ import main
from autograder.checks import find
from autograder.grading.gradebook import CONFIG
from autograder.grading.sample_class import solved, write_submission
from autograder.grading.unknown import id_of
from autograder.judge.unknown import SEED, record_of
from autograder.judge.verdict import Verdict, judge
from autograder.lesson.text import read_lesson

SANDBOXED = "--sandbox" if SANDBOX else "--no-sandbox"
PLUGIN = """
from nbgrader.plugins import LateSubmissionPlugin

class TwoADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 2.0 * -(-total_seconds_late // 86400)
"""


class AsTheEventsSay(NoJudge):
    """Workers that find what a cell says: `# judged: value.mul partial 0.5`. What is unknown of SIN_TIMES is recorded as ever."""

    def verdict(self, exercise, text):
        check = find(exercise)
        said = re.search(rf"# judged: {exercise} (\w+) ([\d.]+)", text)
        status, points = (said[1], float(said[2])) if said else ("ok", check.points)
        mistakes = check.mistakes[:1] if exercise == "value.mul" and status == "partial" else []
        return Verdict(check, status, mistakes=mistakes, points=points)

    def unknown(self, verdicts, text):
        verdict = verdicts.get(SIN_TIMES)
        if verdict is None or verdict.status != "wrong":
            return {}
        source = next(each for each in (*SPELLINGS.values(), *OTHERS.values()) if each in text)
        return {SIN_TIMES: dict(record(source))}


@lru_cache
def record(source):
    verdict = judge(find(SIN_TIMES), trials_of(source, "a seed"), "a seed")
    return record_of(verdict, trials_of(source, SEED)) | {"answer": source}


@dataclass
class Seen:
    """What the class folder held after a run."""

    said: str
    rows: list
    submissions: list
    report: BeautifulSoup
    pages: dict
    book: dict


class WholeTerm(Term):
    def __init__(self, folder):
        super().__init__(folder / "in", folder / "OUT")
        self.seen = {}

    def command(self, *words, code=0):
        done = CliRunner().invoke(main, [*map(str, words), "--out", str(self.out)])
        assert done.exit_code == code, done.output
        return done.output

    def begin(self):
        roster = self.folder.parent / "roster.csv"
        lines = [f"{who},{who.title()},Of {who[::-1].title()},{who}@x.org,{1000 + i}" for i, who in enumerate(STUDENTS)]
        roster.write_text("\n".join(["id,first_name,last_name,email,lms_user_id", *lines]))
        assert "40 students are in the gradebook" in self.command("roster", roster)
        for module, when in DUE.items():
            assert f"{module} is due {when.replace('T', ' ')} UTC" in self.command("due", module[:2], f"{when}+00:00")
        (self.out / "late_days.py").write_text(PLUGIN)
        (self.out / "nbgrader_config.py").write_text(
            CONFIG + "c.AssignLatePenalties.plugin_class = 'late_days.TwoADay'\n"
        )

    def happen(self, event):
        match event:
            case HandIn():
                self.write(event)
            case Extension():
                self.command("due", event.module[:2], f"{event.until}+00:00", "--student", event.who)
            case Mark():
                lesson = read_lesson(event.module)
                written = event.exercise == WRITTEN[event.module][0]
                cells = {(cell.kind, cell.name): cell.id for cell in lesson.cells}
                score = cells["written" if written else "check", event.exercise]
                comment = score if written else cells["exercise", event.exercise]
                self.give(event.who, score, event.points, module=event.module)
                if event.comment:
                    self.give(event.who, comment, comment=event.comment, module=event.module)
            case Name():
                group = id_of(record(HALF))
                assert f"«{NAME}» of 7 students" in self.command("name", SIN_TIMES, group, NAME, HINT)
            case Grade():
                self.seen[event.run] = self.look(self.command("grade", self.folder, SANDBOXED))

    def write(self, each):
        notebook, lesson = solved(each.module), read_lesson(each.module)
        cells = {(cell.kind, cell.name): cell.id for cell in lesson.cells}
        theirs = {cell.id: cell for cell in notebook.cells}
        written = cells["written", WRITTEN[each.module][0]]
        theirs[written].source = each.written or next(cell.stub for cell in lesson.cells if cell.id == written)
        for exercise, source in each.own.items():
            theirs[cells["exercise", exercise]].source = source
        for exercise, (status, points) in each.judged.items():
            theirs[cells["exercise", exercise]].source += f"\n# judged: {exercise} {status} {points}"
        write_submission(self.folder, each.who, each.module, notebook)
        folder = self.folder / each.who / each.module
        if each.by == "file":
            utime(folder / f"{each.module}.ipynb", (each.time.replace(tzinfo=UTC).timestamp(),) * 2)
        else:
            (folder / "timestamp.txt").write_text(f"{each.time:%Y-%m-%d %H:%M:%S}.000000 UTC")
        if each.file:
            (folder / f"{each.module}.ipynb").rename(folder / each.file)

    def look(self, said):
        report = BeautifulSoup((self.out / "report.html").read_text("utf-8"), "html.parser")
        pages = {path.parent.name: path.read_text("utf-8") for path in self.out.glob("feedback/*/index.html")}
        return Seen(said, self.rows(), self.rows("submissions.csv"), report, pages, self.in_book())

    def in_book(self):
        """{(student, module): (points without lateness, what lateness costs, when it came)}, by nbgrader's API."""
        with self.book() as book:
            return {
                (made.student.id, assignment.name): (
                    made.score,
                    sum(each.late_submission_penalty or 0.0 for each in made.notebooks),
                    made.timestamp,
                )
                for assignment in book.assignments
                for made in book.assignment_submissions(assignment.name)
            }
