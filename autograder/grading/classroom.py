"""Grade a folder of submissions into a class folder: nbgrader's gradebook, autograded notebooks, feedback, grades.csv.

`submissions` finds them. OUT becomes an nbgrader course folder, so that `nbgrader autograde`,
formgrader and export work in it. Workers grade; this process alone writes. An autograded notebook is written last, whole or
not at all, and says what it was made from: a run that was stopped goes on with the submissions that have none.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import nbformat

from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.grading.class_files import Pages, copy_submission, failed_in, file_in, rows_of, stamp_of, write_csv
from autograder.grading.class_page import class_page
from autograder.grading.export import roster, spoken
from autograder.grading.gradebook import ClassFolder, read_json
from autograder.grading.local import LocalWorkers
from autograder.grading.marks import SUBMISSION_COLUMNS, Earlier, Marks, earlier_in, marked, submission_row
from autograder.grading.proved import Proofs
from autograder.grading.records import Choice, Graded, Row, Submission
from autograder.grading.seed import Seeds
from autograder.grading.similar import write_similar
from autograder.grading.student_page import student_page
from autograder.grading.unknown import Names, with_answer
from autograder.grading.version import course_digest, key_of
from autograder.grading.worker import Result, Task, merged, with_marks
from autograder.judge.accesses import is_possible, kernels_of
from autograder.judge.notebook import notes_on, reports_in
from autograder.judge.reference import module_of
from autograder.judge.report import HEADLINES
from autograder.lesson.notebooks import blank_notebook, solved_notebook
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not
from autograder.sandbox.folders import temporary_files_kept

CSV_SECONDS = 5  # between two writings of grades.csv, while a class is graded


@dataclass(frozen=True)
class GradingOptions:
    """Options of grading a class.

    sandbox    False runs notebooks with the rights of who grades
    workers    processes on this machine; 0: one for each core
    scheduler  the address of a Dask scheduler, whose workers grade instead; "" for none
    fresh      grade also what has been graded before
    choice     what is graded; all else keeps the results that it has
    similar    compare the notebooks of a module with each other, and write OUT/similar
    """

    sandbox: bool = True
    workers: int = 0
    scheduler: str = ""
    fresh: bool = False
    choice: Choice = Choice()
    similar: bool = True

    def start_workers(self):
        if self.scheduler:
            from autograder.grading.cluster import Cluster

            return Cluster(self.scheduler)
        return LocalWorkers(self.workers or cores())


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def grade(
    submissions: list[Submission],
    out: Path,
    modules: list[str],
    progress: Callable[[Graded], None],
    options: GradingOptions = GradingOptions(),
    left: Sequence[str] = (),
    doing: Callable[[str], None] = lambda what: None,
) -> list[Row]:
    """Grade every submission that is chosen; returns the rows of OUT/grades.csv. No submission stops the others.

    progress(graded) is called after each, with its Graded, in the order in which they end; doing(what) is called with what is
    done before the first. `left` are sentences on what was left out; report.html repeats them. CourseError where a sandbox
    is asked for and there is none here, or OUT cannot be written.
    """
    if options.sandbox and not options.scheduler and why_not():
        raise CourseError(why_not())
    with temporary_files_kept():
        with said_if_it_cannot_be_written(out):
            run = ClassRun(submissions, ClassFolder(out, modules), options, progress, doing)
        try:
            run.grade()
        finally:
            with said_if_it_cannot_be_written(out):
                run.write_csv()
    with said_if_it_cannot_be_written(out):
        alike = write_similar(run.in_order(), out, run.renewed) if options.similar else ()
        people = {each.id: spoken(each) for each in roster(out).values()}
        report = class_page(
            run.in_order(),
            options.sandbox,
            left,
            run.absent(),
            run.watched,
            people,
            run.ungraded(),
            run.names.outdated(),
            alike,
        )
        write_pages(run.in_order(), out, report)
    return run.rows()


@contextmanager
def said_if_it_cannot_be_written(out: Path) -> Iterator[None]:
    """A CourseError that says what to do, where a file of the class's folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise CourseError(
            f"{error.filename or out} cannot be written ({error.strerror}); make room or see to the folder, "
            "then run the same command again: what is graded already is kept."
        ) from None


class ClassRun:
    """One run over a class. What has been graded is in `graded`, by the place of its submission."""

    def __init__(
        self,
        submissions: list[Submission],
        folder: ClassFolder,
        options: GradingOptions,
        progress: Callable[[Graded], None],
        doing: Callable[[str], None] = lambda what: None,
    ):
        self.submissions, self.folder, self.options = submissions, folder, options
        self.progress, self.doing = progress, doing
        self.seeds, self.limits = Seeds(folder.out), folder.limits
        self.watched = is_possible()
        self.graded: dict[int, Graded] = {}
        self.marks: dict[tuple[str, str], Marks] = {}
        self.renewed: set[str] = set()  # modules of which something was judged
        self.pages, self.names = Pages(folder.out), Names(folder.out)
        self.written = time.monotonic()

    def grade(self) -> None:
        with said_if_it_cannot_be_written(self.folder.out):
            self.folder.note_times(each for each in self.submissions if self.options.choice.takes(each))
            self.marks = self.folder.marks(sorted({each.module for each in self.submissions}))
            waiting = [place for place in self.by_module() if not self.is_done(place)]
        self.keep_seeds()
        modules = sorted({self.submissions[place].module for place in waiting})
        if not modules:
            return
        with self.options.start_workers() as workers:
            compiled = self.prove(modules, workers)
            self.renew_names(modules, workers)
            self.doing("grading")
            for place, result in workers.results(self.jobs(waiting, compiled)):
                with said_if_it_cannot_be_written(self.folder.out):
                    self.keep(place, result)

    def by_module(self) -> list[int]:
        """Places, module after module: a worker starts the next kernel of a module while one of its notebooks runs."""
        return sorted(range(len(self.submissions)), key=lambda place: self.submissions[place].module)

    def keep_seeds(self) -> None:
        with said_if_it_cannot_be_written(self.folder.out):
            self.seeds.save()

    def task_of(self, submission: Submission, **more) -> Task:
        data = submission.read()
        return self.task(submission.module, data, self.seeds.of(submission.student, submission.module, data), **more)

    def task(self, module: str, data: bytes, seed: str, **more) -> Task:
        watched = self.watched and bool(kernels_of(module))
        key = key_of(module, data, seed, self.limits, self.options.sandbox, watched)
        return Task(module, data, seed, key, self.limits, self.options.sandbox, watched=watched, **more)

    def is_done(self, place: int) -> bool:
        """Whether nothing is to be graded: it is not chosen, or an earlier run graded exactly this and wrote all results."""
        submission = self.submissions[place]
        chosen = self.options.choice.takes(submission)
        key = self.task_of(submission).key if chosen else ""  # its seed is noted before anything is judged
        if (submission.student, submission.module) not in self.folder.known:
            return not chosen
        notebook = read_json(file_in(self.folder.out, "autograded", submission)) or {}
        stamp = stamp_of(notebook)
        if chosen and (self.options.fresh or not stamp.get("key") or stamp["key"] != key):
            return False
        if stamp:
            rows, reports = rows_of(submission, stamp["verdicts"]), reports_in(notebook)
            flags, notes = tuple(stamp["flags"]), notes_on(notebook)
            graded = Graded(
                submission,
                rows,
                stamp["seconds"],
                flags=flags,
                reports=reports,
                notes=notes,
                unknown=stamp.get("unknown", {}),
                failed=failed_in(stamp["verdicts"]),
            )
            self.add(place, graded, notebook)
            self.show_marks(graded, stamp["verdicts"], notebook)
        return True

    def show_marks(self, graded: Graded, verdicts: dict, notebook: dict) -> None:
        """Write the page of feedback again, where what a person gave has changed since."""
        submission, marks = graded.submission, self.marks_of(graded.submission, graded.unknown)
        if self.pages.shown(submission) != marks.digest(earlier_in(notebook)):
            data = file_in(self.folder.out, "autograded", submission).read_bytes()
            result = Result(data, verdicts=verdicts, reports=graded.reports)
            self.show(submission, result, marks, earlier_in(notebook))

    def show(self, submission: Submission, result: Result, marks: Marks, earlier: Earlier) -> None:
        """Write a page of feedback."""
        if marks.digest(earlier) or not result.feedback:
            result = with_marks(result, submission.module, marks)
        write_atomically(file_in(self.folder.out, "feedback", submission, "html"), result.feedback)
        self.pages.note(submission, marks.digest(earlier))

    def marks_of(self, submission: Submission, unknown: dict[str, dict]) -> Marks:
        """What a person gave, and the names of what its wrong answers compute."""
        marks = self.marks.get((submission.student, submission.module), Marks())
        return replace(marks, hints=self.names.hints(submission.module, unknown))

    def prove(self, modules: list[str], workers) -> dict[str, bytes]:
        """Prove that the references of the modules pass here, unless that is known; returns kernels compiled ahead, by module."""
        digests = {module: course_digest(module) for module in modules}
        if self.options.scheduler:  # nothing is known of other machines
            self.check_reference(modules, workers)
            return self.compiled_ahead(modules, workers)
        proofs = Proofs(self.limits, self.options.sandbox)
        known = {module: proofs.kernels(module, digests[module]) for module in modules}
        new = [module for module in modules if known[module] is None]
        if new:
            self.check_reference(new, workers)
            made = self.compiled_ahead(new, workers)
            for module in new:
                proofs.keep(module, digests[module], made[module])
            known |= made
        return {module: kernels or b"" for module, kernels in known.items()}

    def check_reference(self, modules: list[str], workers) -> None:
        """The reference self-check: judge the solved notebooks like submissions. If one loses a point, raise, and grade nobody."""
        jobs = [
            (
                module,
                self.task(module, nbformat.writes(solved_notebook(read_lesson(module))).encode(), self.seeds.latest),
            )
            for module in modules
        ]
        self.doing(f"first the reference solutions: 0 of {len(modules)} pass")
        for number, (module, result) in enumerate(workers.results(jobs), start=1):
            wrong = [name for name, verdict in result.verdicts.items() if verdict["status"] != "ok"]
            if result.failure or wrong:
                reason = result.failure or f"{wrong[0]}: {HEADLINES[result.verdicts[wrong[0]]['status']]}"
                raise CourseError(
                    f"nothing was graded, because on this machine the reference solution of {module} itself fails:\n{reason}"
                )
            self.doing(f"first the reference solutions: {number} of {len(modules)} pass")

    def compiled_ahead(self, modules: list[str], workers) -> dict[str, bytes]:
        """OpenCL kernels that drivers compile for the blank notebooks, by module: those that a solution needs are not among them."""
        blank = {module: nbformat.writes(blank_notebook(read_lesson(module))).encode() for module in modules}
        jobs = [(module, self.task(module, data, self.seeds.latest, fill=True)) for module, data in blank.items()]
        compiled = {}
        self.doing(f"compiling kernels ahead: 0 of {len(modules)} modules")
        for module, result in workers.results(jobs):
            compiled[module] = result.compiled
            self.doing(f"compiling kernels ahead: {len(compiled)} of {len(modules)} modules")
        return compiled

    def renew_names(self, modules: list[str], workers) -> None:
        """Observe the answers of named mistakes again where their checks have changed: each in a notebook of its own, as handed in."""
        old = self.names.to_renew(modules)
        jobs = [(each, self.task(module_of(each.exercise), with_answer(each), self.seeds.latest)) for each in old]
        for named, result in workers.results(jobs):
            with said_if_it_cannot_be_written(self.folder.out):
                self.names.renew(named, result.unknown.get(named.exercise))

    def jobs(self, places: list[int], compiled: dict[str, bytes]) -> Iterator[tuple[int, Task]]:
        """Tasks, each made when a worker is free: memory holds the submissions that are being graded, not the class."""
        for place in places:
            submission = self.submissions[place]
            task = self.task_of(submission, compiled=compiled[submission.module])
            self.keep_seeds()  # it may have been replaced since
            yield place, task

    def keep(self, place: int, result: Result) -> None:
        """Write a result. The autograded notebook comes last: it records that everything else is written."""
        submission, out = self.submissions[place], self.folder.out
        self.renewed.add(submission.module)
        if result.failure:
            self.add(place, Graded(submission, rows_of(submission, {}), result.seconds, result.failure), {})
            return
        earlier_notebook = read_json(file_in(out, "autograded", submission)) or {}
        if self.options.choice.exercises:
            result = merged(result, earlier_notebook, submission.module, self.options.choice.exercises)
        if not submission.path.resolve().is_relative_to((out / "submitted").resolve()):
            copy_submission(submission, file_in(out, "submitted", submission))
        notebook = nbformat.reads(result.notebook.decode(), as_version=4)
        earlier = self.folder.outdated(submission, notebook, earlier_notebook)
        if earlier and earlier != earlier_in(
            earlier_notebook
        ):  # noted before it is withdrawn, so that no power cut loses it
            earlier_notebook["metadata"]["course"]["earlier"] = earlier
            write_atomically(file_in(out, "autograded", submission), json.dumps(earlier_notebook))
        self.marks[submission.student, submission.module] = self.folder.save(submission, notebook, earlier)
        if earlier:
            notebook.metadata["course"]["earlier"] = earlier
            result = replace(result, notebook=nbformat.writes(notebook).encode(errors="replace"))
        self.show(submission, result, self.marks_of(submission, result.unknown), earlier)
        write_atomically(file_in(out, "autograded", submission), result.notebook)
        rows = rows_of(submission, result.verdicts)
        graded = Graded(
            submission,
            rows,
            result.seconds,
            flags=result.flags,
            reports=result.reports,
            notes=result.notes,
            unknown=result.unknown,
            failed=failed_in(result.verdicts),
        )
        self.add(place, graded, notebook)

    def absent(self) -> list[str]:
        """Who is in the gradebook with one of the modules of this run, and has no submission in it."""
        present = {(each.student, each.module) for each in self.submissions}
        gone = sorted(self.folder.known - present)  # who was granted an extension is in the gradebook, too
        graded = [each for each in gone if file_in(self.folder.out, "autograded", Submission(*each, Path())).exists()]
        return [f"{student}/{module}" for student, module in graded]

    def ungraded(self) -> list[Submission]:
        """What lies among the submissions, and has no result: it was never chosen."""
        return [each for place, each in enumerate(self.submissions) if place not in self.graded]

    def add(self, place: int, graded: Graded, notebook: dict) -> None:
        """Add a result, with what a person gave; `notebook` is the autograded one, {} where there is none."""
        graded = marked(graded, self.marks_of(graded.submission, graded.unknown), earlier_in(notebook))
        self.graded[place] = graded
        if time.monotonic() > self.written + CSV_SECONDS:
            self.write_csv()
        if self.options.choice.takes(graded.submission):
            self.progress(graded)

    def in_order(self) -> list[Graded]:
        return [self.graded[place] for place in sorted(self.graded)]

    def rows(self) -> list[Row]:
        return [row for each in self.in_order() for row in (*each.rows, *each.written)]

    def write_csv(self) -> None:
        """grades.csv, a row for each exercise, and submissions.csv, a row for each submission; which pages show which marks."""
        write_csv([each.name for each in fields(Row)], map(astuple, self.rows()), self.folder.out / "grades.csv")
        write_csv(SUBMISSION_COLUMNS, map(submission_row, self.in_order()), self.folder.out / "submissions.csv")
        self.pages.save()
        self.written = time.monotonic()


def write_pages(graded: list[Graded], out: Path, report: str) -> None:
    """OUT/report.html for the instructor, and OUT/feedback/<student>/index.html for each student."""
    write_atomically(out / "report.html", report)
    students: dict[str, list[Graded]] = {}
    for each in graded:
        students.setdefault(each.submission.student, []).append(each)
    for student, own in students.items():
        write_atomically(out / "feedback" / student / "index.html", student_page(own))
