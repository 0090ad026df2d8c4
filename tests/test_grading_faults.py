"""Where results are written: a gradebook in PostgreSQL, one that may only be read, a disk that is full."""

import copy
import dataclasses
import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from small_class import STUDENTS, graded

from autograder import paths
from autograder.errors import CourseError
from autograder.grading import classroom, version
from autograder.grading.gradebook import CONFIG, ClassFolder, follow
from autograder.grading.sample_class import CASES, MODULE, write_submission
from autograder.lesson.build import convert
from autograder.lesson.notebooks import source_notebook
from autograder.lesson.text import read_lesson

PROGRAMS = (
    max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
    if shutil.which("initdb") is None
    else Path(shutil.which("initdb")).parent
)


def with_database(out, url):
    out.mkdir(exist_ok=True)
    (out / "nbgrader_config.py").write_text(CONFIG + f"c.CourseDirectory.db_url = {url!r}\n")


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory):
    """The address of a database of a server that is started for these tests."""
    pytest.importorskip("psycopg2", reason="the driver psycopg2 is not installed")
    if PROGRAMS is None:
        pytest.skip("PostgreSQL is not installed")
    # Root may not run it: then it is the system's own user for it, in a folder that everybody may pass.
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder = Path(
        subprocess.run(
            [*as_user, "mktemp", "-d", "/tmp/pgXXXXXX"], capture_output=True, text=True, check=True
        ).stdout.strip()
    )

    def run(program, *arguments):
        subprocess.run(
            [*as_user, PROGRAMS / program, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    try:
        run("initdb", "-D", folder / "data", "--auth=trust", "--username=course")
        run(
            "pg_ctl",
            "-D",
            folder / "data",
            "-w",
            "-o",
            f"-c listen_addresses='' -k {folder}",
            "-l",
            folder / "log",
            "start",
        )
        yield f"postgresql+psycopg2://course@/postgres?host={folder}"
        run("pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_the_gradebook_may_be_postgresql(postgresql, small_class, done, tmp_path):
    with_database(tmp_path, postgresql)
    for _ in range(2):  # the second run takes what the first has graded
        graded(small_class, tmp_path)
        assert (tmp_path / "grades.csv").read_bytes() == (done / "grades.csv").read_bytes()
    assert not (tmp_path / "gradebook.db").exists()
    scores = []
    for url in (postgresql, f"sqlite:///{done / 'gradebook.db'}"):
        with Gradebook(url, "autodiff") as book:
            scores.append({made.student.id: made.score for made in book.assignment_submissions(MODULE)})
    assert scores[0] == scores[1] and set(scores[0]) == set(STUDENTS)


def test_a_database_that_does_not_answer_is_one_sentence(small_class, tmp_path):
    pytest.importorskip("psycopg2", reason="the driver psycopg2 is not installed")
    with_database(tmp_path, f"postgresql+psycopg2://course@/postgres?host={tmp_path}")
    with pytest.raises(CourseError, match="^The gradebook cannot be written"):
        graded(small_class, tmp_path)


def test_a_gradebook_that_may_only_be_read_is_one_sentence_and_nothing_is_lost(small_class, done, tmp_path, caplog):
    out, larger = tmp_path / "out", tmp_path / "larger"
    shutil.copytree(done, out)
    shutil.copytree(small_class, larger)
    write_submission(larger, "another", MODULE, CASES["blank"].make())
    with_database(out, f"sqlite:///file:{out / 'gradebook.db'}?mode=ro&uri=true")
    with pytest.raises(CourseError, match="gradebook cannot be written.*readonly"):
        graded(larger, out)
    assert not [record for record in caplog.records if record.exc_info]  # nbgrader logs a traceback
    (out / "nbgrader_config.py").write_text(CONFIG)
    rows, _ = graded(larger, out)
    kept = [line for line in (out / "grades.csv").read_text().splitlines() if not line.startswith("another,")]
    assert kept == (done / "grades.csv").read_text().splitlines() and {row.student for row in rows} == {
        *STUDENTS,
        "another",
    }


def test_a_full_disk_is_one_sentence_and_the_next_run_goes_on(small_class, done, tmp_path, monkeypatch):
    written = []

    def write(path, data):
        if len(written) > 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        written.append(path)
        whole(path, data)

    whole = classroom.write_atomically
    with monkeypatch.context() as full:
        full.setattr(classroom, "write_atomically", write)
        with pytest.raises(CourseError, match="cannot be written .No space left on device.; make room"):
            graded(small_class, tmp_path)
    graded(small_class, tmp_path)
    assert (tmp_path / "grades.csv").read_bytes() == (done / "grades.csv").read_bytes()


@pytest.mark.parametrize("size", ["100k", "200k", "300k", "400k", "500k"])
def test_g_a_disk_that_is_really_full_is_one_sentence(size, tmp_path):
    """Wherever it is full: the gradebook, nbgrader's own files, a result, a page."""
    write_submission(tmp_path / "in", "anna", MODULE, CASES["blank"].make())
    small = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"', "sh"]
    (tmp_path / "out").mkdir()
    if (
        shutil.which("unshare") is None
        or subprocess.run([*small, size, tmp_path / "out", "true"], capture_output=True).returncode
    ):
        pytest.skip("no small disk can be made here")
    command = [sys.executable, "-m", "autograder", "grade", tmp_path / "in", "--out", tmp_path / "out"]
    done = subprocess.run([*small, size, tmp_path / "out", *command], capture_output=True, text=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert re.search("cannot be written .*(full|No space left)", done.stderr)


def test_g_a_disk_that_is_full_for_nbgrader_is_one_sentence(tmp_path, monkeypatch):
    """It answers with a log, in which the error is a traceback."""
    log = f"[ERROR] Traceback …\nOSError: [Errno 28] {os.strerror(errno.ENOSPC)}: 'release/x'"
    monkeypatch.setattr(NbGraderAPI, "generate_assignment", lambda *_, **__: {"success": False, "log": log})
    with pytest.raises(CourseError, match=r"^\S+ cannot be written \(the disk is full\); make room, .* again$"):
        convert(tmp_path, MODULE, solution=False)


def test_what_could_not_be_written_whole_is_not_kept(tmp_path, monkeypatch):
    from autograder import files

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        files.write_atomically(tmp_path / "grades.csv", "text")
    assert list(tmp_path.iterdir()) == []


def test_g_a_student_who_was_removed_is_named_and_leaves_grades_csv(small_class, done, tmp_path):
    out, less = tmp_path / "out", tmp_path / "less"
    shutil.copytree(done, out)
    shutil.copytree(small_class, less)
    shutil.rmtree(less / "blank")
    graded(less, out)
    assert "blank," not in (out / "grades.csv").read_text()
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "Without a submission in this run" in report and f"blank/{MODULE}" in report
    assert f"solved/{MODULE}" not in report.partition("Without a submission in this run")[2].partition("</section>")[0]
    assert "Without a submission" not in (done / "report.html").read_text(encoding="utf-8")


# -- a lesson that changed ----------------------------------------------------------------------------------------------


def test_g_a_result_is_good_as_long_as_what_the_module_uses_is_as_it_was():
    names = {
        module: {str(path.relative_to(paths.ROOT)) for path in version.files_that_decide(module)}
        for module in ("00_start", "01_value", "05_layers", "12_jit")
    }
    for each in names.values():
        assert {"autograder/judge/verdict.py", "autograder/grading/normalise.py", "autograder/checks/inside.py"} <= each
    uses = {
        "autograder/checks/m00_start/kernel.py": ["00_start"],
        "autograder/checks/m01_value/mul.py": ["01_value"],
        "autograder/checks/value_programs.py": ["00_start", "01_value"],
        "autograder/checks/m10_tape/programs.py": ["12_jit"],  # whose checks import it
        "tinygrad_cl/tensor/core/engine.py": ["05_layers"],
        "tinygrad_cl/netcl/tape/tape.py": ["12_jit"],
    }
    for file, modules in uses.items():
        assert [name for name, files in names.items() if file in files] == modules, file


def test_g_a_lesson_that_changed_is_graded_again(monkeypatch):
    version.course_digest.cache_clear()
    before = [version.course_digest(module) for module in ("01_value", "02_neuron")]
    lesson = version.read_lesson("01_value")
    changed = dataclasses.replace(lesson, cells=lesson.cells[:1] + lesson.cells[2:])
    real = version.read_lesson
    monkeypatch.setattr(version, "read_lesson", lambda name: changed if name == "01_value" else real(name))
    version.course_digest.cache_clear()
    after = [version.course_digest(module) for module in ("01_value", "02_neuron")]
    version.course_digest.cache_clear()
    assert before[0] != after[0] and before[1] == after[1]


def test_g_cells_that_come_and_go_change_the_gradebook_and_keep_what_was_marked_by_hand(done, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(done, out)
    folder = ClassFolder(out, [MODULE])
    source = source_notebook(read_lesson(MODULE))
    gone = {cell.id for cell in source.cells if cell.metadata.course.get("exercise") == "value.gradcheck"}
    source.cells = [cell for cell in source.cells if cell.id not in gone]
    given = next(cell for cell in source.cells if cell.metadata.course.kind == "given")
    given.id = given.metadata.nbgrader.grade_id = "given-changed"
    added = [copy.deepcopy(cell) for cell in source.cells if cell.metadata.course.get("exercise") == "value.mul"]
    for cell in added:
        cell.id = cell.metadata.nbgrader.grade_id = f"{cell.id}-again"
    source.cells += added
    with folder.gradebook() as book:
        made = book.find_submission_notebook(MODULE, MODULE, "solved")
        next(grade for grade in made.grades if grade.name == "check-value-mul").manual_score = 1.25
        book.db.commit()
        follow(book, MODULE, source)
    nbformat.write(source, out / "source" / MODULE / f"{MODULE}.ipynb")
    convert(out, MODULE, solution=False, config=folder.config)
    wanted = {cell.id for cell in source.cells if cell.metadata.get("nbgrader", {}).get("grade")}
    with folder.gradebook() as book:
        for student in STUDENTS:
            made = book.find_submission_notebook(MODULE, MODULE, student)
            assert {grade.name for grade in made.grades} == wanted and "check-value-mul-again" in wanted
            scores = {grade.name: grade.manual_score for grade in made.grades}
            assert scores["check-value-mul"] == (1.25 if student == "solved" else None)
