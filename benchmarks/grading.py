"""Grading a class: stock `nbgrader autograde`, one after another as it works, beside ours, on the same submissions.

    python benchmarks/grading.py [--module 01_value] [--submissions 12] [--workers 2] [--rounds 2] [--sizes 10 100 1000]

The submissions are the solved lesson, so that both run every cell that there is to run. Stock runs its own Execute and
nothing else of ours; ours runs each in a sandbox, judges with more trials, and writes the page of feedback, too. They
take turns, round after round. What is paid once a run (making the class folder, judging the reference) is a row of its own.
With --sizes, classes of these sizes are graded, too: what a submission costs, and the memory of the process that writes.
"""

import argparse
import io
import json
import resource
import statistics
import sys
import tempfile
import time
from contextlib import redirect_stderr
from pathlib import Path

import nbformat
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from autograder.grading.classroom import GradingOptions, grade
from autograder.grading.feedback import feedback_page
from autograder.grading.gradebook import ClassFolder
from autograder.grading.normalise import normalised_submission
from autograder.grading.records import Submission
from autograder.grading.sample_class import solved, write_submission
from autograder.grading.submissions import find_submissions
from autograder.judge.accesses import is_possible
from autograder.judge.kernel import Sandbox, StudentKernel
from autograder.judge.launched import Launcher
from autograder.judge.notebook import write_verdicts
from autograder.judge.notebook_run import Limits, NotebookRun
from autograder.lesson.build import convert, course_folder, write_source
from autograder.lesson.text import read_lesson


def stock(folder: Path, module: str, students: list[str]) -> float:
    """Seconds that nbgrader's own autograde takes for the students."""
    write_source(read_lesson(module), folder)
    convert(folder, module, solution=False)
    for student in students:
        write_submission(folder / "submitted", student, module, solved(module))
    api = NbGraderAPI(config=course_folder(Config(), folder))
    start = time.perf_counter()
    for student in students:
        with redirect_stderr(io.StringIO()):  # its kernel warns of TCP
            result = api.autograde(module, student)
        if not result["success"]:
            sys.exit(f"nbgrader failed:\n{result.get('log')}")
    return time.perf_counter() - start


def ours(folder: Path, module: str, students: list[str], workers: int) -> tuple[float, float]:
    """Seconds (until the first submission is graded, from then to the end)."""
    for student in students:
        write_submission(folder / "submissions", student, module, solved(module))
    found, _ = find_submissions(folder / "submissions")
    ends, start = [], time.perf_counter()
    rows = grade(
        found,
        folder / "out",
        [module],
        lambda graded: ends.append(time.perf_counter()),
        GradingOptions(workers=workers),
    )
    assert all(row.status in ("ok", "waiting") for row in rows)  # written answers wait for a person
    return ends[0] - start, time.perf_counter() - ends[0]


def stages(module: str) -> dict[str, float]:
    """Seconds of each part of grading one submission, one after another, with nothing started ahead."""
    data, seconds, last = json.dumps(solved(module)).encode(), {}, [time.perf_counter()]

    def done(stage):
        now = time.perf_counter()
        seconds[stage], last[0] = now - last[0], now

    with tempfile.TemporaryDirectory() as out:
        folder = ClassFolder(Path(out), [module])
        last[0] = time.perf_counter()
        notebook = normalised_submission(data, module)
        done("the file is read and normalised")
        with (
            Launcher(lambda: StudentKernel(module, Sandbox()), is_possible()) as launcher,
            StudentKernel(module, Sandbox()) as kernel,
        ):
            done("a kernel starts in its sandbox")
            verdicts = NotebookRun(notebook, read_lesson(module), "a seed", Limits(), kernel, launcher).judge_all()
            done("cells run, checks are asked and judged")
        done("the kernel ends")
        write_verdicts(notebook, verdicts)
        feedback_page(notebook, module)
        done("the page of feedback")
        folder.save(Submission("a student", module, Path(out)), nbformat.from_dict(notebook))
        done("the gradebook")
    return seconds


def compare(options):
    students = [f"student-{number:03}" for number in range(options.submissions)]
    theirs, own, once = [], [], []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            few = students[: max(1, len(students) // 3)]
            theirs.append(stock(Path(first), options.module, few) / len(few))
            before, after = ours(Path(second), options.module, students, options.workers)
            once.append(before)
            own.append(after / (len(students) - 1))
    a, b = statistics.median(theirs), statistics.median(own)
    print(f"| {options.module}, solved | seconds for each submission | submissions a minute |\n|---|---:|---:|")
    print(f"| stock nbgrader autograde | {a:.2f} | {60 / a:.0f} |")
    print(f"| ours, {options.workers} workers | {b:.2f} | {60 / b:.0f} |")
    print(f"\n{a / b:.1f} times stock's throughput; before the first is graded: {statistics.median(once):.1f} s")


def scale(options):
    print("\n| class | workers | seconds for each submission | memory of who writes, MB |\n|---:|---:|---:|---:|")
    for size in options.sizes:
        for workers in sorted({1, options.workers}) if size == options.sizes[0] else [options.workers]:
            with tempfile.TemporaryDirectory() as folder:
                _, after = ours(
                    Path(folder), options.module, [f"student-{number:04}" for number in range(size)], workers
                )
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"| {size} | {workers} | {after / (size - 1):.2f} | {most:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=12, help="graded by ours; stock gets a third of them")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--module", default="01_value")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="*", default=[], help="of classes, from small to large")
    options = parser.parse_args()
    compare(options)
    stages(options.module)  # what is paid once in a process
    print("\n| stage | seconds |\n|---|---:|")
    for stage, seconds in stages(options.module).items():
        print(f"| {stage} | {seconds:.2f} |")
    scale(options)


if __name__ == "__main__":
    main()
