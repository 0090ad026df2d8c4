"""Lessons in what a class is given of them: they run from the first cell to the last, and the package runs on the student's code."""

import ast
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from students_copy import python_in, unpacked

from autograder import paths
from autograder.bundle.contents import contents
from autograder.judge.kernel import Sandbox, StudentKernel
from autograder.judge.notebook import judge_notebook
from autograder.judge.notebook_run import Limits, course_cell
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.symbols import functions_of, pull
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import why_not
from autograder.sandbox.course import hidden_symbols

MODULES = paths.module_names()
QUICK = {"01_value", "04_function", "05_layers", "10_tape", "12_jit"}  # some of each engine
LESSONS = [pytest.param(each, marks=[pytest.mark.long] * (each not in QUICK)) for each in MODULES]


@pytest.fixture
def copy_of(tmp_path):
    return lambda module: unpacked(contents([module]), tmp_path)


def run_in(copy, sources):
    """[(what it raised, what it printed), …] for cells that are run one after the other."""
    process = python_in(copy, Path(__file__).with_name("class_copy_cells.py"))
    out, err = process.communicate(json.dumps(sources), timeout=600)
    assert process.returncode == 0, err
    return json.loads(out)


@pytest.mark.parametrize("module", LESSONS)
def test_a_solved_lesson_runs_in_its_copy(module, copy_of):
    """Demos included: what they look at is written above them, or is not hidden."""
    cells = [cell for cell in read_lesson(module).cells if cell.is_code]
    done = run_in(copy_of(module), [cell.solved for cell in cells])
    assert {cell.id: error for cell, (error, _) in zip(cells, done, strict=True) if error} == {}


@pytest.mark.parametrize("module", MODULES)
def test_what_hides_a_symbol_defines_its_name(module):
    """Else nothing would ever stand in its place."""
    lesson = read_lesson(module)
    for symbols in hidden_symbols(module).values():
        for symbol, exercise in symbols.items():
            assert set(defined_by(symbol)) <= set(defined_in(lesson.exercise(exercise).solved)), symbol


def defined_by(symbol):
    """What a notebook has to define for a symbol: "f", or "Class.method" for each method."""
    return defined_in(pull(symbol))


def defined_in(source):
    for node in ast.parse(source).body:
        added_to = [each.args[0].id for each in getattr(node, "decorator_list", ()) if isinstance(each, ast.Call)]
        for function in functions_of(ast.Module([node], [])):
            owner = added_to[0] if added_to else node.name
            yield function.name if function is node and not added_to else f"{owner}.{function.name}"


# -- the package runs on what the student wrote -----------------------------------------------------------------------


RELU = """
from tinygrad_cl.tensor import Function

class ReLU(Function):
    @staticmethod
    def forward(ctx, x):
        print("forward of mine")
        ctx.save_for_backward(x)
        return x * (x > 0)

    @staticmethod
    def backward(ctx, grad):
        print("backward of mine")
        (x,) = ctx.saved_tensors
        return grad * (x.data > 0)
"""
CLIP = """
def clip_grad_norm_(parameters, max_norm):
    print("clip_grad_norm_ of mine")
"""
STEP = """
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.primitives import c_number
from tinygrad_cl.netcl.optim import RMSProp

queue = manager.default("auto").queue
p = Parameter.from_host(queue, [1.0, 2.0])
p.grad = Tensor.from_host(queue, [4.0, -4.0])
"""
MEAN = """
def running_mean(beta, mean, x):
    print("running_mean of mine")
    return f"((V)(0.0) * {mean} + {x})"
"""


@dataclass(frozen=True)
class Case:
    """A public function of the package that runs through what a module asks for."""

    module: str
    exercise: str
    name: str  # what is asked for
    before: str  # a cell that needs none of it
    use: str  # a cell that does
    own: str  # the student's
    prints: str  # what `use` prints then
    imports: str  # what is no definition


CASES = [
    Case(
        "05_layers",
        "layers.activations",
        "ReLU.forward",
        "from tinygrad_cl.tensor import Tensor\nx = Tensor([-1.0, 2.0], requires_grad=True)",
        "x.relu().backward([1.0, 1.0])\nprint(x.grad)",
        RELU,
        "forward of mine\nbackward of mine\nTensor([0., 1.])\n",
        "from tinygrad_cl.tensor.core.activations import ReLU",
    ),
    Case(
        "06_control",
        "control.clip",
        "clip_grad_norm_",
        "import tinygrad_cl.tensor",
        "tinygrad_cl.tensor.clip_grad_norm_([], 1.0)",
        CLIP,
        "clip_grad_norm_ of mine\n",
        "from tinygrad_cl.tensor import clip_grad_norm_",
    ),
    Case(
        "13_mnist",
        "mnist.adam",
        "running_mean",
        STEP,
        "RMSProp([p], lr=0.5).step()\nprint(p.to_host())",
        MEAN,
        "running_mean of mine\n[0.5 2.5]\n",
        "from tinygrad_cl.netcl.optim.adam import running_mean",
    ),
]


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_nobody_gets_a_point_for_what_the_package_has():
    lesson = read_lesson("05_layers")
    notebook = solved_notebook(lesson)
    (cell,) = [cell for cell in notebook.cells if course_cell(cell) == ("exercise", "layers.activations")]
    cell.source = "from tinygrad_cl.tensor.core.activations import ReLU, Sigmoid, Tanh"
    verdicts = judge_notebook(notebook, lesson.module, "a secret", Limits(), Sandbox()).verdicts
    assert {name for name, verdict in verdicts.items() if verdict.status != "ok"} == {"layers.activations"}
    assert verdicts["layers.activations"].points == 0


JIT = """
import numpy as np
import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor

x = Tensor.from_host(manager.default("auto").queue, np.float32([1, 2]))
"""
FUSED = "step = ag.jit_compile(lambda x: (x + 1.0) * 2.0, quiet=True)\nprint(step(x).to_host(), step.why)"


def test_the_jit_of_lesson_12_says_why_it_does_not_fuse_until_its_lines_are_written(copy_of):
    lesson = read_lesson("12_jit")
    above = lesson.cells[: lesson.cells.index(lesson.exercise("jit.forward")) + 1]
    written = "\n\n".join(cell.solved for cell in above if cell.kind == "given" or cell.name == "jit.forward")
    before, _, after = [printed for _, printed in run_in(copy_of("12_jit"), [JIT + FUSED, written, FUSED])]
    assert before == (
        "[4. 6.] NotImplementedError: forward_lines is what module 12_jit asks you to write "
        "(exercise jit.forward): run your cell first\n"
    )
    assert after == "[4. 6.] \n"


def runner(where, module, copy_of):
    """A function of sources, that runs them as cells: [(what each raised, what it printed), …]."""
    if where == "class":
        return lambda sources: run_in(copy_of(module), sources)

    def run(sources):
        with StudentKernel(module, Sandbox()) as kernel:
            return [outcome(kernel.run(source, 60)) for source in sources]

    return run


def outcome(run):
    errors = [f"{each.ename}: {each.evalue}" for each in run.outputs if each.output_type == "error"]
    return "".join(errors), "".join(each.text for each in run.outputs if each.output_type == "stream")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module)
@pytest.mark.parametrize(
    "where", ["class", pytest.param("sandbox", marks=pytest.mark.skipif(bool(why_not()), reason=why_not()))]
)
def test_the_package_runs_on_the_students_definition_and_until_then_says_what_is_to_do(where, case, copy_of):
    run = runner(where, case.module, copy_of)
    cells = [case.before, case.use, case.own, case.use, case.imports, case.use]
    (_, unwritten, _, own, _, imported) = done = run(cells)
    for error, _ in (unwritten, imported):
        assert error.strip().splitlines()[-1] == (
            f"NotImplementedError: {case.name} is what module {case.module} asks you to write "
            f"(exercise {case.exercise}): run your cell first"
        )
    assert tuple(own) == ("", case.prints)
    assert not any(error for error, _ in done[::2]), done
