"""`mine`: a later lesson runs on the learner's own functions where they are right, and says whose stand where.

What changes the package runs in a process of its own.
"""

import ast
import json
import subprocess
import sys

import nbformat
import pytest
from students_copy import python_in, unpacked

from autograder import paths
from autograder.bundle.contents import contents
from autograder.checks import find
from autograder.judge.expected import edited_sources
from autograder.judge.kernel import Sandbox
from autograder.judge.notebook import judge_notebook
from autograder.judge.notebook_run import Limits
from autograder.learner.mine import mine
from autograder.learner.own_work import definitions_in, lessons_before
from autograder.learner.probes import PROGRAMS, differing, probe
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.symbols import functions_of
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not

COUNTER = "import math\nCALLS = []\nprint('this does not run again')\nraise SystemExit"
PROGRAM = """
import json, pathlib, sys
from autograder import paths
paths.WORK = pathlib.Path(sys.argv[1])
from autograder.notebook import mine
{before}
mine(before={number})
(spaces,) = [each.space for each in mine.carried][:1]
calls = spaces.CALLS
calls.clear()
{train}
own = sorted(set(calls))
with mine.watch() as ran:
    {call}
calls.clear()
with mine.reference():
    {call}
paused = len(calls)
{call}
again = len(calls) > 0
twice = {twice}
if twice:
    mine(before={number})
    calls = mine.carried[0].space.CALLS
    calls.clear()
    {call}
    twice = len(calls) > 0
mine.off()
calls.clear()
{call}
print(json.dumps([own, dict(ran), ran.whose, [paused, again, twice, len(calls)]]))
"""
ENGINE_1 = """
def train():
    w, b = Value(0.5), Value(0.0)
    for _ in range(5):
        loss = ((w * 2 + b).tanh() - 1) ** 2
        w.zero_grad() if w.parents else loss.zero_grad()
        loss.backward()
        w.data -= 0.1 * w.grad
    return w.data

learned = train()
with mine.reference():
    assert abs(train() - learned) < 1e-12
assert len(topological_order(Value(1.0))) == 1
"""
CHECKED = """
from autograder.judge.reference import reference_namespace
from autograder.notebook import run_check

before = len(calls)
assert run_check("neuron.sum", reference_namespace("02_neuron")).verdict.status == "ok"
assert len(calls) == before, "a check runs on the reference, as when it is graded"
assert abs(train() - learned) < 1e-12 and len(calls) > before
"""
ENGINE_2 = """
def train():
    x, w = Tensor(np.eye(3)), Tensor(np.ones((3, 3)), requires_grad=True)
    optimizer = SGD([w], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = cross_entropy((x @ w * 2.0).relu(), np.array([0, 1, 2]))
        loss.backward()
        optimizer.step()
    return loss.item()

learned = train()
with mine.reference():
    assert abs(train() - learned) < 1e-6
"""
ENGINE_3 = """
def train():
    start = np.random.default_rng(0)
    model = nn.Sequential(nn.Linear(queue, 4, 8), nn.ReLU(), nn.Linear(queue, 8, 3))
    for parameter in model.parameters():
        parameter.write(start.normal(size=parameter.shape))
    optimizer = Adam(model.parameters(), lr=0.01)
    x, y = (Tensor.from_host(queue, each) for each in (start.normal(size=(6, 4)), np.eye(3)[[0, 1, 2, 0, 1, 2]]))
    for _ in range(3):
        optimizer.zero_grad()
        with ag.Tape() as tape:
            h = model(x)
            loss = ag.cross_entropy(h * h + h + h, y)
        tape.backward(loss)
        optimizer.step()
    return float(loss.value.to_host())

learned = train()
with mine.reference():
    assert abs(train() - learned) < 1e-4
"""
BEFORE_3 = """
import numpy as np
import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl import nn
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.optim import Adam
queue = manager.default("auto").queue
"""


def counted(source):
    """The source with a line in each function that notes the call."""
    tree = ast.parse(source)
    for function in functions_of(tree):
        documented = ast.get_docstring(function) is not None
        function.body.insert(documented, ast.parse(f"CALLS.append({function.name!r})").body[0])
    return ast.unparse(tree)


def variant(name, number=-1):
    """Another right spelling of an exercise."""
    return edited_sources(find(name), find(name).variants[number].edit)[name]


def mistake(name):
    return edited_sources(find(name), find(name).mistakes[0].edit)[name]


def write(folder, module, changes, blank=()):
    """The solved notebook in a learner's folder, saved by them with these sources, and a cell of their own on top."""
    lesson = read_lesson(module)
    notebook = solved_notebook(lesson)
    for cell in notebook.cells:
        made = cell.metadata.get("course", {})
        if made.get("kind") == "exercise":
            name = made["exercise"]
            cell.source = lesson.exercise(name).stub if name in blank else changes.get(name, cell.source)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(COUNTER, id="my-own"))
    path = folder / module / f"{module}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def run(program, folder):
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def said_and_seen(folder, number, train, before, twice=False):
    """(the paragraph on one line, own functions that ran, calls, whose, [how often, with the reference, again, twice, off])."""
    out = run(PROGRAM.format(number=number, train=train, before=before, call="train()", twice=twice), folder)
    *said, last = out.strip().splitlines()
    return " ".join(said), *json.loads(last)


def test_a_neuron_learns_on_the_learners_own_numbers(tmp_path):
    """Engine 1; the notebook imported the package's names before, so they change hands in it, too."""
    changes = {"value.mul": counted(variant("value.mul")), "value.relu": mistake("value.relu")}
    changes["value.tanh_sigmoid"] = counted(read_lesson("01_value").exercise("value.tanh_sigmoid").solved)
    write(tmp_path, "01_value", changes, blank=["value.exp_log", "value.order", "value.backward"])
    said, own, ran, whose, counts = said_and_seen(
        tmp_path, 2, ENGINE_1 + CHECKED, "from tinygrad_cl.scalar import Value, topological_order", twice=True
    )
    assert own == ["__mul__", "tanh"]
    assert whose["Value.__mul__"] == whose["Value.tanh"] == "yours, 01_value" and ran["Value.__mul__"] > 0
    assert whose["Value.backward"] == whose["topological_order"] == "the reference, 01_value"
    assert counts == [0, True, True, 0], "the reference's for a while, on again, a second call, off"
    assert "13 of 19 functions of 01_value are yours" in said
    assert 'value.relu (not right yet, check("value.relu") says why)' in said
    assert "value.exp_log (not begun)" in said and "value.backward (not begun)" in said
    assert "2 of 01_value (docs/exercises.md)" in said


def test_closures_as_in_micrograd_are_carried(tmp_path):
    """They need an attribute for which the package's Value, which has slots, has no place."""
    lesson = read_lesson("01_value")
    closures = next(each for each in find("value.mul").variants if "closures" in each.name)
    sources = edited_sources(find("value.mul"), closures.edit)
    changes = {name: counted(sources.get(name, lesson.exercise(name).solved)) for name in lesson.exercises}
    write(tmp_path, "01_value", changes)
    train = ENGINE_1.replace("w.zero_grad() if w.parents else ", "")
    said, own, _, whose, counts = said_and_seen(
        tmp_path, 2, train, "from tinygrad_cl.scalar import Value, topological_order"
    )
    assert {"__mul__", "tanh", "backward", "topological_order"} <= set(own) and counts == [0, True, False, 0]
    assert "19 of 19 functions of 01_value are yours" in said and whose["Value.tanh"] == "yours, 01_value"


def test_a_network_of_tensors_learns_on_the_learners_own_functions(tmp_path):
    """Engine 2: methods of classes that they wrote, on the upper floor that lesson 07 uses."""
    own = {name: counted(variant(name, 0)) for name in ("function.apply", "function.backward")}
    own["function.add_mul"] = counted(variant("function.add_mul", 0))
    write(tmp_path, "04_function", own | {"function.matmul": mistake("function.matmul")}, blank=["function.shapes"])
    said, ran_own, ran, whose, counts = said_and_seen(
        tmp_path, 7, ENGINE_2, "import numpy as np\nfrom tinygrad_cl.tensor import SGD, Tensor, cross_entropy"
    )
    assert {"apply", "propagate", "forward", "backward"} <= set(ran_own)
    assert whose["Mul.forward"] == whose["Function.apply"] == "yours, 04_function" and ran["Mul.forward"] > 0
    assert whose["MatMul.forward"] == "the reference, 04_function", "it is not right"
    assert whose["SGD.update"] == "the reference, 05_layers", "there is no such notebook"
    assert counts == [0, True, False, 0]
    assert "function.matmul (not right yet" in said and "function.shapes (not begun)" in said
    assert "There is no work/05_layers/05_layers.ipynb." in said


def test_digits_could_be_trained_on_a_tape_of_the_learners_own(tmp_path):
    """Engine 3: the tape under the package's layers, losses and optimizers."""
    own = {name: counted(variant(name, 0)) for name in ("tape.accumulate", "tape.backward", "tape.apply_op")}
    write(tmp_path, "10_tape", own | {"tape.order": mistake("tape.order")}, blank=["tape.anomaly"])
    said, ran_own, ran, whose, counts = said_and_seen(tmp_path, 13, ENGINE_3, BEFORE_3)
    assert {"accumulate", "backward", "apply_op", "record"} <= set(ran_own)
    assert whose["Tape.backward"] == whose["apply_op"] == "yours, 10_tape" and ran["accumulate"] > 0
    assert whose["topological_order"] == "the reference, 10_tape"
    assert counts == [0, True, False, 0]
    assert "8 of 10 functions of 10_tape are yours" in said and "tape.order (not right yet" in said
    assert "tape.anomaly (not begun)" in said and "There is no work/12_jit/12_jit.ipynb." in said


@pytest.mark.parametrize(
    "content, sentence",
    [(b"{", "is not a notebook of this lesson (The file is not JSON"), (b'{"cells": []}', "01_value")],
)
def test_a_broken_notebook_is_one_sentence(content, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paths, "WORK", tmp_path)
    paths.work_notebook("01_value").parent.mkdir()
    paths.work_notebook("01_value").write_bytes(content)
    mine(before=2)
    assert sentence in " ".join(capsys.readouterr().out.split()) and not any(each.changes for each in mine.carried)


def test_without_a_notebook_one_sentence_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paths, "WORK", tmp_path)
    mine(before=5)
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("There is no notebook of yours in work/ yet for 03_broadcast and 04_function")
    assert "make lab" in said and not mine.carried
    mine(before=10)
    assert capsys.readouterr().out.startswith("No lesson before this one builds a part of the engine")
    mine(before=99)
    assert capsys.readouterr().out == "there is no lesson 99; mine(before=5) is for lesson 05\n"


def test_lessons_go_on_with_the_engine_that_they_use():
    assert [lessons_before(number) for number in (2, 5, 13)] == [
        ["01_value"],
        ["03_broadcast", "04_function"],
        ["10_tape", "12_jit"],
    ]


def test_of_a_learners_own_cell_what_it_defines_counts_and_nothing_runs():
    source = "import math\nx = [1, 2]\ny = train()\ndef f():\n    return 1\nprint(f())\nclass C:\n    pass"
    assert definitions_in(source) == ["import math", "x = [1, 2]", "def f():\n    return 1", "class C:\n    pass"]
    assert definitions_in("%matplotlib inline") == []


@pytest.mark.parametrize("engine", PROGRAMS)
def test_the_programs_that_functions_have_to_run_give_the_same_each_time(engine):
    for lesson in (5, None):
        numbers = probe(engine, lesson)
        assert all(numbers.values()) and differing(numbers, probe(engine, lesson)) == ""
        moved = {what: [number + 1 for number in each] for what, each in numbers.items()}
        assert differing(numbers, moved) in numbers


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_a_graded_notebook_that_calls_it_has_the_marks_that_it_had():
    """In the sandbox there is no work/: the reference stands in for earlier lessons, as ever."""
    lesson = read_lesson("03_broadcast")
    notebook = solved_notebook(lesson)
    for cell in notebook.cells:
        if cell.metadata.get("course") == {"kind": "exercise", "exercise": "broadcast.sum"}:
            cell.source = mistake("broadcast.sum")
    call = "from autograder.notebook import add_to_class, check, mine, predict\nmine(before=3)"
    watch = "with mine.watch() as ran:\n    pass\nwith mine.reference():\n    pass\nprint(ran)\nmine.off()"
    for number, source in enumerate((call, watch)):
        notebook.cells.insert(2 + number, nbformat.v4.new_code_cell(source, id=f"student-{number}"))
    verdicts = judge_notebook(notebook, lesson.module, "a seed", Limits(), Sandbox()).verdicts
    assert {name for name, verdict in verdicts.items() if verdict.status != "ok"} == {"broadcast.sum"}
    said = [cell.outputs[0].text for cell in notebook.cells[2:4]]
    assert said[0].startswith("mine(): while a notebook is graded, the reference stands in")
    assert said[1] == "No function that a lesson asks for was seen to run.\n"


def test_in_a_copy_of_a_class_it_says_whose_it_is(tmp_path):
    copy = unpacked(contents(["01_value"]), tmp_path)
    program = "from autograder.notebook import mine\nmine(before=2)\nwith mine.watch() as ran: pass\nmine.off()"
    process = python_in(copy, "-c", program)
    out, err = process.communicate(timeout=60)
    assert out.startswith("mine() is for the whole course") and process.returncode == 0, err
