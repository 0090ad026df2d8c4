"""What a class is given: it answers as the whole course does, and holds no line of a solution."""

import json
import re
import subprocess
import sys
import tomllib
import types
import zipfile
from pathlib import Path

import nbformat
import pytest
from students_copy import python_in, unpacked

from autograder import paths
from autograder.__main__ import main
from autograder.bundle import contents as bundle
from autograder.bundle.archive import zipped
from autograder.checks import all_checks, find
from autograder.checks.aspect import NOTEBOOK_SEED
from autograder.checks.data import check_of, data_of
from autograder.checks.inside import Trial
from autograder.errors import CourseError
from autograder.grading.normalise import normalised_submission
from autograder.judge.expected import cases_of, edited_sources, mistaken
from autograder.judge.notebook import judge_notebook
from autograder.judge.notebook_run import course_cell
from autograder.judge.recorded import REFERENCE
from autograder.judge.report import Report
from autograder.judge.verdict import judge
from autograder.lesson.symbols import BEGIN, END
from autograder.lesson.text import read_lesson

MODULES = paths.module_names()
CHECKS = {
    module: [check for check in all_checks().values() if check.name in read_lesson(module).exercises]
    for module in MODULES
}
EVERY_CHECK = [check for checks in CHECKS.values() for check in checks]
# Lines that say nothing of a solution: any walk over a graph has them, or any work with NumPy.
COMMON = {
    "if self.data <= 0:",
    "while stack:",
    "for node in order:",
    "for node in reversed(order):",
    "node.grad = 0.0",
    "node, parents_done = stack.pop()",
    'with np.errstate(over="ignore"):',
    "ctx.axis = axis",
    "ctx.key = key",
    "ctx.save_for_backward(y)",
    "(y,) = ctx.saved_tensors",
    "return s",
    "return t",
    "return y",
    "return grad.reshape(ctx.input_shape)",
}

MISTAKES = 1  # of each check that are answered in the copy, too


@pytest.fixture(scope="module", params=MODULES)
def module(request):
    return request.param


@pytest.fixture(scope="module")
def files(module):
    """{path: bytes} of the students' copy for that module."""
    return bundle.contents([module])


@pytest.fixture(scope="module")
def copy(files, tmp_path_factory):
    return unpacked(files, tmp_path_factory.mktemp("student"))


@pytest.fixture(scope="module")
def copy_of_01(tmp_path_factory):
    return unpacked(bundle.contents(["01_value"]), tmp_path_factory.mktemp("student"))


def run_in(course, *arguments):
    """(exit code, stdout, stderr)"""
    process = python_in(course, *arguments)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


# -- what is in it ----------------------------------------------------------------------------------------------------


def plain(text):
    """With one space where there is any white space."""
    return re.sub(r"\s+", " ", text).strip()


def strings(value):
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.items() for part in item for text in strings(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in strings(part))


@pytest.fixture(scope="module")
def texts(files):
    return texts_of(files)


def texts_of(files):
    """{path: text} with plain white space; of JSON, what it says."""
    return {
        path: plain("\n".join(strings(json.loads(data))) if path.endswith((".json", ".ipynb")) else data.decode())
        for path, data in files.items()
        if not path.endswith(".npz")
    }


def found_in(texts, pieces, notebook):
    """{piece: files that hold it}, without pieces that the student finds in the notebook anyway, and common ones."""
    pieces = {plain(piece) for piece in pieces} - COMMON - {""}
    hits = {
        piece: [path for path, text in texts.items() if piece in text]
        for piece in pieces
        if piece not in texts[notebook]
    }
    return {piece: paths for piece, paths in hits.items() if paths}


def solutions(cell):
    """The regions of a cell that a student writes, as lists of lines."""
    found, inside = [], False
    for line in cell.source.splitlines():
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
            found += [[]] * inside
        elif inside and not line.strip().startswith("#"):
            found[-1] = found[-1] + [line]
    return found


def pieces(lines):
    """Each three lines that follow one another, as one text: fewer may be anybody's, or the last hint."""
    lines = [line for line in lines if line.strip()]
    return [" ".join(lines[i : i + 3]) for i in range(len(lines) - 2)]


def test_no_file_holds_three_lines_of_a_solution(module, texts):
    regions = [
        lines for cell in read_lesson(module).cells if cell.kind in ("exercise", "written") for lines in solutions(cell)
    ]
    assert (
        regions
        and found_in(texts, [piece for lines in regions for piece in pieces(lines)], f"modules/{module}/{module}.ipynb")
        == {}
    )


def test_no_file_holds_a_short_solution(module, texts):
    """But for hints, which are shown to whoever made the mistake, and the engine that the lesson builds on."""
    short = [
        " ".join(lines)
        for cell in read_lesson(module).cells
        if cell.kind == "exercise"
        for lines in solutions(cell)
        if len(lines) < 3
    ]
    others = {
        path: text
        for path, text in texts.items()
        if not path.endswith(".checks.json") and not path.startswith("tinygrad_cl/")
    }
    assert (
        found_in(others, [lines for lines in short if len(plain(lines)) >= 30], f"modules/{module}/{module}.ipynb")
        == {}
    )


def test_a_piece_of_a_solution_would_be_found():
    """The test, tested: on the reference itself, and in the text of a JSON file."""
    notebook = "modules/01_value/01_value.ipynb"
    texts = texts_of(bundle.contents(["01_value"]))
    (lines,) = solutions(read_lesson("01_value").exercise("value.mul"))
    source = (paths.ROOT / "tinygrad_cl" / "scalar.py").read_text()
    written = [*lines, "self.first = 1", "self.second = 2", "self.third = 3"]
    source += "self.first = 1\nself.second = 2\nself.third = 3\n"
    assert len(found_in(texts | {"scalar.py": plain(source)}, pieces(written), notebook)) == 1
    told = plain("\n".join(strings(json.loads(json.dumps({"hint": ["see\n" + "\n".join(written)]})))))
    assert found_in(texts | {"hints.json": told}, pieces(written)[:1], notebook) == {
        plain(pieces(written)[0]): ["hints.json"]
    }


def test_no_file_holds_the_code_of_a_mistake_or_a_variant(module, texts):
    edits = [each.edit for check in CHECKS[module] for each in check.mistakes + check.variants]
    written = [
        source.splitlines() for edit in edits for source in [*edit.sources.values(), *(new for _, new in edit.swaps)]
    ]
    data = {
        path: text for path, text in texts.items() if path.endswith((".json", ".ipynb"))
    }  # the engines are nobody's mistake
    assert (
        found_in(data, [piece for lines in written for piece in pieces(lines)], f"modules/{module}/{module}.ipynb")
        == {}
    )


def test_no_seed_no_tests_no_lessons_and_nothing_that_grades(module, files):
    assert not [
        path
        for path in files
        if not path.startswith("tinygrad_cl/")
        and re.search(
            r"seed|test|lesson|solution|sandbox|grading|mutant|trial|reference|second_chance|kernel\.py|nbgrader|\.course|work/",
            path,
        )
    ]
    assert sorted(path for path in files if path.endswith(".ipynb")) == [f"modules/{module}/{module}.ipynb"]


def test_what_a_lesson_asks_for_is_not_in_its_copy():
    scalar = bundle.contents(["01_value"])["tinygrad_cl/scalar.py"]
    assert b"asks you to write" in scalar and scalar.count(b"\n") == 1


def test_what_a_later_lesson_asks_for_is_an_error_whatever_the_notebook_defines(monkeypatch):
    made = {"__name__": "tinygrad_cl.gradcheck_of_01"}
    monkeypatch.setitem(sys.modules, made["__name__"], types.ModuleType(made["__name__"]))
    monkeypatch.setattr(sys.modules["__main__"], "taylor_remainders", lambda *_: "mine", raising=False)
    exec(bundle.contents(["01_value"])["tinygrad_cl/gradcheck.py"], made)
    sentence = (
        r"taylor_remainders is what module 08_custom asks you to write \(exercise custom.taylor\), so it is not in"
    )
    with pytest.raises(NotImplementedError, match=sentence):
        made["taylor_remainders"](None, None, None, None, [])
    whole = bundle.contents(["10_tape"])["tinygrad_cl/gradcheck.py"]
    assert whole == (paths.ROOT / "tinygrad_cl" / "gradcheck.py").read_bytes()  # lesson 08 comes before


def test_some_modules_alone_and_the_same_bytes_every_time(tmp_path):
    files = bundle.contents(["00_start"])
    assert not [path for path in files if "01_value" in path or "scalar" in path]
    assert {"tinygrad_cl/traced.py", "tinygrad_cl/py.typed"} <= files.keys()
    main(["bundle", "00_start", "--out", str(tmp_path)], standalone_mode=False)
    assert (tmp_path / "course-00.zip").read_bytes() == zipped(files)


def test_the_types_of_what_is_there_come_along_and_no_others():
    files = bundle.contents(["10_tape"])
    stubs = {path for path in files if path.endswith(".pyi")}
    assert "tinygrad_cl/netcl/tape/node.pyi" in stubs and "tinygrad_cl/scalar.pyi" not in stubs
    assert {path.removesuffix("i") for path in stubs} <= files.keys()


def test_each_module_comes_alone_unless_some_are_named(tmp_path):
    main(["bundle", "--out", str(tmp_path / "each")], standalone_mode=False)
    assert [path.name for path in sorted((tmp_path / "each").iterdir())] == [
        f"course-{module[:2]}.zip" for module in MODULES
    ]
    main(["bundle", "01_value", "00_start", "--out", str(tmp_path)], standalone_mode=False)
    assert zipfile.ZipFile(tmp_path / "course-00-01.zip").testzip() is None


def test_it_is_installed_as_the_course_is_without_the_sandbox(files):
    project = tomllib.loads(files["pyproject.toml"].decode())
    course = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())
    assert project["project"]["dependencies"] == course["project"]["dependencies"]
    assert "entry-points" not in project["project"] and set(project["tool"]) == {"setuptools"}
    assert project["project"]["readme"] in files and {*project["project"]["license-files"], "requirements.lock"} <= set(
        files
    )


# -- what it does -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", EVERY_CHECK, ids=lambda check: check.name)
def test_a_check_goes_through_json_and_back(check):
    again = check_of(json.loads(json.dumps(data_of(check))))
    assert data_of(again) == data_of(check) and again.about == check.about
    assert [(mistake.name, mistake.hints) for mistake in again.mistakes] == [
        (mistake.name, mistake.hints) for mistake in check.mistakes
    ]
    assert not again.variants and not any(mistake.edit.sources or mistake.edit.swaps for mistake in again.mistakes)


def trials_of(check, name):
    """What is recorded of the check, as a run gives it."""
    if name != REFERENCE:
        return mistaken(check.name, NOTEBOOK_SEED, name)[0]
    return [Trial(trial or {}) for trial in cases_of(check.name, NOTEBOOK_SEED).expected]


@pytest.mark.parametrize("check", EVERY_CHECK, ids=lambda check: check.name)
def test_a_check_made_from_data_reports_the_same_of_the_reference_and_of_every_mistake(check):
    again = check_of(json.loads(json.dumps(data_of(check))))
    for name in [REFERENCE] + [mistake.name for mistake in check.mistakes]:
        trials = trials_of(check, name)
        report, same = (Report(judge(each, trials, NOTEBOOK_SEED)) for each in (check, again))
        assert (str(report), report._repr_html_()) == (str(same), same._repr_html_())
        assert (
            [mistake.name for mistake in same.verdict.mistakes] in ([name], []) if name else not same.verdict.mistakes
        )


def submissions(module):
    """(check, cells) for the reference, the blank notebook and some mistakes."""
    lesson = read_lesson(module)
    for check in CHECKS[module]:
        blank = {check.name: lesson.exercise(check.name).stub}
        for sources in [{}, blank] + [edited_sources(check, mistake.edit) for mistake in check.mistakes[:MISTAKES]]:
            yield [
                check.name,
                [
                    (
                        f"<cell {cell.id}>",
                        sources.get(cell.name, cell.solved) if cell.kind == "exercise" else cell.solved,
                    )
                    for cell in lesson.cells
                    if cell.kind in ("given", "exercise")
                ],
            ]


def without_the_device(answer):
    """An answer without the finite-difference check: a students' copy has none where a check says itself how to measure."""
    text, html = answer
    return [
        re.sub(r"\n  Central differences.*", "", text),
        re.sub(r"<div style='[^']*'>Central differences[^<]*</div>", "", html),
    ]


def test_every_check_answers_as_in_the_whole_course_to_right_blank_and_wrong(module, copy):
    asked = list(submissions(module))
    program = Path(__file__).with_name("bundle_answers.py")
    processes = [python_in(course, program) for course in (copy, paths.ROOT)]
    here, there = [
        re.sub("at 0x[0-9a-f]+", "somewhere", process.communicate(json.dumps(asked), timeout=120)[0])
        for process in processes
    ]
    here, there = json.loads(here), json.loads(there)
    assert all(file.startswith(str(copy)) for file in here["files"]) and here["files"]
    assert len(here["answers"]) == (2 + MISTAKES) * len(CHECKS[module])
    for check, theirs, ours in zip(asked, here["answers"], there["answers"]):
        assert theirs == (without_the_device(ours) if find(check[0]).measured else ours)


def test_what_is_left_out_breaks_nothing_that_is_kept(copy_of_01):
    names = [f"autograder/{name}" for name in bundle.AUTOGRADER if name != "__main__"]
    names += [
        "tinygrad_cl/traced",
        "tinygrad_cl/opencl/kernels",
        "tinygrad_cl/gradcheck",
        "tinygrad_cl/viz/stepper_widget",
    ]
    imports = "\n".join(f"import {name.replace('/', '.').removesuffix('.__init__')}" for name in names)
    code = f"{imports}\nprint(autograder.__file__)\nimport tinygrad_cl.scalar"
    _, out, err = run_in(copy_of_01, "-c", code)
    assert out.strip() == str(copy_of_01 / "autograder" / "__init__.py"), err
    assert err.splitlines()[-1] == (
        "ImportError: tinygrad_cl.scalar is what module 01_value asks you to write, "
        "so it is not in your copy of the course"
    )


def test_lab_and_progress_work_and_the_other_commands_say_whose_copy_it_is(copy_of_01):
    assert "Open JupyterLab" in run_in(copy_of_01, "-m", "autograder", "lab", "--help")[1]
    code, out, err = run_in(copy_of_01, "-m", "autograder", "progress")
    assert code == 0 and "01_value" in out and "Next: value.slope" in out, err
    for command in (["compare", "01"], ["grade", "."], ["build"], ["bundle"], ["checks"], ["mutants"]):
        code, out, err = run_in(copy_of_01, "-m", "autograder", *command)
        assert (code, out, err.count("\n")) == (1, "", 1) and "this is the students' copy" in err, err


def test_make_offers_what_the_copy_can(copy_of_01):
    listed = subprocess.run(["make"], cwd=copy_of_01, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"make (\w+)", listed) == ["help", "lab", "progress", "copies"]
    planned = subprocess.run(["make", "-n", "lab"], cwd=copy_of_01, capture_output=True, text=True, check=True)
    assert "-m autograder lab" in planned.stdout and "requirements-dev" not in planned.stdout


def test_a_notebook_worked_on_in_the_copy_is_graded_like_any_other(copy_of_01):
    module = "01_value"
    path = copy_of_01 / "modules" / module / f"{module}.ipynb"
    assert path.read_text() == paths.student_notebook(module).read_text()
    lesson, notebook = read_lesson(module), nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        kind, name = course_cell(cell)
        if kind == "exercise" and name != "value.relu":
            cell.source = lesson.exercise(name).solved
    notebook = normalised_submission(nbformat.writes(notebook).encode(), module)
    verdicts = judge_notebook(notebook, module, "a secret").verdicts
    assert {name for name, verdict in verdicts.items() if verdict.status != "ok"} == {"value.relu"}
    assert verdicts["value.relu"].status == "missing"


# -- what cannot be bundled -------------------------------------------------------------------------------------------

ASKS = """# %% exercise="value.add" source="tinygrad_cl.scalar:Value.__add__"

# %% check="value.add"
"""
USES = """# %% given
from tinygrad_cl.scalar import Value
"""


def test_a_lesson_that_imports_what_another_asks_for_is_not_bundled_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "LESSONS", tmp_path)
    for module, text in {"97_asks": ASKS, "98_uses": USES}.items():
        (tmp_path / f"{module}.py").write_text(text)
    with pytest.raises(CourseError, match="98_uses imports tinygrad_cl.scalar, which 97_asks asks students to write"):
        bundle.engines([read_lesson("97_asks"), read_lesson("98_uses")])
    assert "class Value" in bundle.engines([read_lesson("98_uses")])["tinygrad_cl/scalar.py"]


def test_a_check_without_recorded_outcomes_is_not_bundled(monkeypatch):
    monkeypatch.setattr(bundle, "read", lambda path: {})
    with pytest.raises(CourseError, match="m00_start.json lacks outcomes of start.double: run `make notebooks` first"):
        bundle.checks([read_lesson("00_start")])


@pytest.mark.parametrize(
    "change",
    [
        lambda cells: cells.pop(),
        lambda cells: cells[-1].update(source="return self.data * other.data"),
        lambda cells: next(cell for cell in cells if cell["cell_type"] == "code")["outputs"].append(
            {"output_type": "stream"}
        ),
    ],
)
def test_a_notebook_that_somebody_worked_in_is_not_bundled(change, tmp_path, monkeypatch):
    notebook = json.loads(paths.student_notebook("00_start").read_text())
    change(notebook["cells"])
    monkeypatch.setattr(paths, "MODULES", tmp_path)
    monkeypatch.setattr(bundle, "relative", str)
    (tmp_path / "00_start").mkdir()
    paths.student_notebook("00_start").write_text(json.dumps(notebook))
    with pytest.raises(CourseError, match="00_start.ipynb is not what its lesson gives: run `make notebooks` first"):
        bundle.notebooks([read_lesson("00_start")])


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["99_none", "--out", "a"], "there is no module 99_none"),
        (["00_start", "--out", "/proc/no"], "/proc/no/course-00.zip cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_sentence(arguments, sentence):
    with pytest.raises(CourseError, match=f"^{sentence}"):
        main(["bundle", *arguments], standalone_mode=False)
