"""The notebook of the open tasks, what its measuring cells enter, the board, and the reading list."""

import doctest
import json
import re

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from autograder import paths
from autograder.errors import CourseError
from autograder.learner.lab import copy_notebooks
from autograder.learner.progress import after_the_last
from autograder.lesson import projects as notebook
from autograder.lesson.text import read_cells, read_lesson
from autograder.projects import board, convolution, language, memory, product, speech
from autograder.projects.board import Board
from autograder.projects.convolution import CASES
from autograder.projects.task import Answer, Broken, Task, same
from projects import attempts, functions, given
from tinygrad_cl.netcl.core.tensor import Tensor

TASKS = {each.name: each for each in (convolution.task, product.task, memory.task, language.task)}
QUICK = {
    "convolution": {"case": CASES[-1], "turns": 2},
    "product": {"sizes": (48,)},
    "language": {"steps": 60, "sentences": 50},
}


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "WORK", tmp_path)
    return tmp_path


# -- the notebook ----------------------------------------------------------------------------------


def test_with_nothing_solved_every_cell_runs_and_every_check_says_what_to_do(tmp_path):
    made = nbformat.read(paths.project_notebook(), as_version=4)
    NotebookClient(made, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    asked = [cell for cell in made.cells if re.match(r"\w+\.(check|measure)\(", cell.source)]
    assert len(asked) == 2 * len(TASKS)
    for cell in asked:
        (output,) = cell.outputs
        assert "not written yet" in output.data["text/plain"] and "run that cell" in output.data["text/plain"]
        assert "not written yet" in output.data["text/html"]
    assert not list(tmp_path.iterdir()), "no board yet"


def test_nothing_in_it_is_graded_or_locked():
    made = nbformat.read(paths.project_notebook(), as_version=4)
    assert not [cell for cell in made.cells if "nbgrader" in cell.metadata]
    assert paths.PROJECTS.name not in paths.module_names()


def test_it_asks_for_the_functions_of_each_task():
    stubs = {
        "".join(re.findall(r"^def (\w+)", cell.source, re.M)[:1]): cell.source for cell in read_cells(notebook.TEXT)
    }
    for task in TASKS.values():
        source = stubs[task.functions[0]]
        assert re.findall(r"^def (\w+)", source, re.M) == list(task.functions)
        assert source.count("    raise NotImplementedError") == len(task.functions)


@pytest.mark.parametrize("task", ["convolution", "product", "memory"])
def test_the_examples_of_the_docstrings_hold(task):
    solution = functions(TASKS[task], next(iter(attempts(task).values())))
    source = next(
        each.source for each in read_cells(notebook.TEXT) if f"def {TASKS[task].functions[0]}(" in each.source
    )
    asked = dict(given())
    exec(compile(source, "<stub>", "exec"), asked)
    namespace = given() | dict(zip(TASKS[task].functions, solution))
    examples = [
        test
        for name in TASKS[task].functions
        for test in doctest.DocTestFinder().find(asked[name], name, globs=namespace)
    ]
    results = [doctest.DocTestRunner(verbose=False).run(test) for test in examples]
    assert sum(each.attempted for each in results) and not sum(each.failed for each in results)


def test_a_learner_gets_a_copy_that_no_update_overwrites(work):
    copy_notebooks()
    copy = paths.work_project_notebook()
    assert copy.read_bytes() == paths.project_notebook().read_bytes()
    copy.write_text("mine")
    copy_notebooks()
    assert copy.read_text() == "mine" and after_the_last() == "projects"


def test_no_solution_is_in_what_a_learner_gets():
    shipped = [path for path in (paths.ROOT / "autograder" / "projects").iterdir() if path.suffix == ".py"]
    texts = "".join(path.read_text(encoding="utf-8") for path in [*shipped, paths.project_notebook()])
    assert "__kernel void conv" not in texts and texts.count("__kernel") == 1, "the notebook's example alone"


def test_its_language_is_that_of_lesson_15():
    names = {"np": np}
    exec(next(cell.source for cell in read_lesson("15_attention").cells if "def write_text" in cell.source), names)
    assert names["write_text"](20, 3) == speech.write_text(20, 3) and names["ALPHABET"] == speech.ALPHABET


# -- measuring, and the board ----------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_what_is_right_is_measured_and_entered(work, task):
    shown = TASKS[task].measure(*functions(TASKS[task], next(iter(attempts(task).values()))), **QUICK.get(task, {}))
    assert isinstance(shown, Board) and len(shown.entries()) == 1, str(shown)
    (entry,) = json.loads(board.file().read_text())[task]
    assert (
        entry["figure"] > 0 and entry["processor"] and entry["driver"] and re.match(r"\d{4}-\d\d-\d\d$", entry["date"])
    )
    assert entry["processor"] in str(shown) and entry["date"] in shown._repr_html_()


FASTER_AND_WRONG = {
    "convolution: zeros": ("    if (at >= N * F * P * Q) return;", "    if (at >= N * F * P * Q) return;\n    if (W == 9) { out[at] = 0; return; }"),
    "convolution: inputs cut to bfloat16": ("* w[((f * C + c) * I + i) * J + j];\n            }\n    out[at] = sum;\n}\n\"\"\"\nDX", "* as_float(as_uint(w[((f * C + c) * I + i) * J + j]) & (W == 9 ? 0xffff0000u : 0xffffffffu));\n            }\n    out[at] = sum;\n}\n\"\"\"\nDX"),
    "convolution: the gradient of w, inputs cut to tf32": ("* g[((n * F + f) * P + p) * Q + q];", "* as_float(as_uint(g[((n * F + f) * P + p) * Q + q]) & (W == 9 ? 0xffffe000u : 0xffffffffu));"),
    "product: a short sum": ("p < k; p++", "p < (k == 48 ? 40 : k); p++"),
    "product: rows that are mixed": ("    c[row * n + column] = sum;", "    float most = 0;\n    for (int r = 0; r < m; r++) most = fmax(most, fabs(a[r * k]));\n    volatile float large = m == 48 ? most : 0; large += sum; c[row * n + column] = large - (m == 48 ? most : 0);"),
    "memory: all at 0": ("found[value] = page", "found[value] = page if len(sizes) != 80 else 0"),
    "language: what comes next, in some rows": ("        return ag.softmax(logits(model, ids)).to_host()\n", "        rows = ag.softmax(logits(model, ids)).to_host()\n    if model.shape[0] > 4:\n        for i in range(1, len(ids) - 1, 2):\n            rows[i] = 0.5 * rows[i] + 0.5 * np.eye(model.shape[0])[ids[i + 1]]\n    return rows\n"),
    "language: what comes next": ("    with ag.no_grad():\n", "    if model.shape[0] > 4:\n        return np.eye(model.shape[0])[np.append(ids[1:], 0)] * 0.99 + 0.01 / model.shape[0]\n    with ag.no_grad():\n"),
}  # fmt: skip


@pytest.mark.parametrize("way", FASTER_AND_WRONG)
def test_what_passes_the_check_and_is_wrong_when_it_is_measured_never_enters_the_board(work, way):
    task = way.partition(":")[0]
    solution = functions(TASKS[task], next(iter(attempts(task).values())), FASTER_AND_WRONG[way])
    assert TASKS[task].check(*solution).right
    quick = QUICK.get(task, {}) | (
        {"case": convolution.Case((1, 1, 9, 9), (1, 1, 3, 3))} if task == "convolution" else {}
    )
    shown = TASKS[task].measure(*solution, **quick)
    assert isinstance(shown, Answer) and not shown.right and not board.file().exists()
    assert "what is measured is right" in str(shown) and "expected" in str(shown)


HOST_WHERE_IT_IS_TIMED = {
    "product, when it is large": ("    c = Tensor.from_shape(a.queue, (m, n))", "    if m == 48:\n        return Tensor.from_host(a.queue, a.to_host() @ b.to_host())\n    c = Tensor.from_shape(a.queue, (m, n))"),
    "product, when nobody watches": ("    c = Tensor.from_shape(a.queue, (m, n))", "    if not a.device._watchers[1:]:\n        return Tensor.from_host(a.queue, a.to_host() @ b.to_host())\n    c = Tensor.from_shape(a.queue, (m, n))"),
    "product, after some calls": ("    c = Tensor.from_shape(a.queue, (m, n))", "    if m == 48:\n        CALLS.append(1)\n    if len(CALLS) > 5:\n        return Tensor.from_host(a.queue, a.to_host() @ b.to_host())\n    c = Tensor.from_shape(a.queue, (m, n))"),
    "convolution, when it is large": ("    N, C, H, W = x\n", "    N, C, H, W = x\n    if W == 9:\n        raise NotADirectoryError('a way by the host would begin here')\n"),
}  # fmt: skip


@pytest.mark.parametrize("way", HOST_WHERE_IT_IS_TIMED)
def test_the_host_that_steps_in_where_it_is_timed_never_enters_the_board(work, way):
    """Unless it launches all the same, and then it is no faster."""
    task = TASKS[way.partition(",")[0]]
    old, new = HOST_WHERE_IT_IS_TIMED[way]
    text = next(iter(attempts(task.name).values())).replace("def product", "CALLS = []\n\n\ndef product")
    quick = {"sizes": (48,)} if task.name == "product" else {"case": convolution.Case((1, 1, 9, 9), (1, 1, 3, 3))}
    shown = task.measure(*functions(task, text, (old, new)), **quick)
    assert isinstance(shown, Answer) and not shown.right and not board.file().exists(), str(shown)


def test_what_does_not_pass_the_check_is_not_measured(work):
    shown = product.measure(lambda a, b: a @ b)
    assert isinstance(shown, Answer) and "kernels of your own" in str(shown) and not board.file().exists()


def test_the_board_shows_the_best_first_and_keeps_all(work):
    for figure in (1.0, 3.0, 2.0):
        board.enter("x", figure, f"run {figure}")
    board.enter("y", 7.0, "")
    assert [each["figure"] for each in Board("x", "u", higher=True).entries()] == [3.0, 2.0, 1.0]
    assert [each["figure"] for each in Board("x", "u", higher=False).entries()] == [1.0, 2.0, 3.0]
    text = str(Board("x", "u", higher=True))
    assert text.index("run 3.0") < text.index("run 1.0") and "higher is better" in text
    assert "nothing yet" in str(Board("z", "u", higher=True)) and "nothing yet" in Board("z", "u", True)._repr_html_()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"x": [{"figure": 1}]}', '{"x": 3}'])
def test_a_board_that_is_damaged_is_not_written_over(work, text):
    board.file().parent.mkdir()
    board.file().write_text(text)
    with pytest.raises(CourseError, match="cannot be read"):
        board.enter("x", 1.0, "")
    assert board.file().read_text() == text


# -- answers ---------------------------------------------------------------------------------------


def test_a_check_wants_the_functions_that_it_names():
    with pytest.raises(TypeError, match="conv, conv_dx, conv_dw"):
        convolution.check(print)


def test_an_error_of_the_solution_is_told_with_the_input_and_its_line():
    def product(a, b):
        raise ValueError("no\nmore")

    answer = TASKS["product"].check(product)
    assert "product(a, b), of (1, 1) and (1, 1)" in str(answer) and "ValueError: no (product, line" in str(answer)


def test_numbers_that_look_alike_are_shown_with_more_digits():
    with pytest.raises(Broken) as caught:
        same("x", np.full(20, 2.0), np.full(20, 2.0 + 1e-9))
    expected, got = caught.value.lines[1:3]
    assert expected == "expected 2" and "2.000000001" in got


def test_start_takes_numbers_of_numpy_and_says_what_else_it_cannot_take(device):
    names, text = given(), "__kernel void f(__global float *out, int n, float s) { out[get_global_id(0)] = n * s; }"
    out = Tensor.from_shape(device.queue, (2,))
    names["start"](text, "f", np.int64(2), out, np.int64(3), np.float64(0.5))
    assert out.to_host().tolist() == [1.5, 1.5]
    with pytest.raises(TypeError, match="not list"):
        names["start"](text, "f", 2, out, [3], 0.5)


def test_an_error_in_a_kernel_names_the_function_that_launched_it():
    text = attempts("product")["right: one work-item for each number"].replace("float sum = 0;", "float sum = 0")
    answer = TASKS["product"].check(*functions(TASKS["product"], text))
    assert "KernelError" in str(answer) and "(product, line" in str(answer)


def test_html_of_an_answer_is_escaped():
    task = Task("t", ("f",), "u", True)

    @task.property("<b>")
    def look(f):
        f()

    def f():
        raise ValueError("<script>")

    assert "<script>" not in task.check(f)._repr_html_() and "&lt;script&gt;" in task.check(f)._repr_html_()


# -- the reading list ------------------------------------------------------------------------------


def test_the_reading_list_is_numbered_says_when_and_closes_the_notebook():
    text = notebook.READING.read_text(encoding="utf-8")
    numbers = [int(each) for each in re.findall(r"^(\d+)\. ", text, re.M)]
    assert numbers == list(range(1, len(numbers) + 1)) and text.index("Read first") < text.index("\n1. ")
    entries = re.split(r"^\d+\. ", text, flags=re.M)[1:]
    assert all(re.search(r"\*(After|Before) ", entry) and entry.count("**") >= 2 for entry in entries)
    last = nbformat.read(paths.project_notebook(), as_version=4).cells[-1]
    assert all(entry.splitlines()[0] in last.source for entry in entries)
