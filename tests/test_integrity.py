"""What is worth a look: gradients that were measured, and libraries that do the work."""

import nbformat
import numpy as np
import pytest

from autograder import paths
from autograder.checks import all_checks, find
from autograder.checks.inside import Outcome, Trial
from autograder.judge.expected import cases_of, edited_sources
from autograder.judge.integrity import measured_gradient, signs_in
from autograder.judge.plan import run
from autograder.judge.reference import module_of, reference_namespace
from autograder.lesson.text import read_lesson

NAMED = "imports a module by a computed name"
STEP = "computes with complex numbers, as derivatives by the complex step do"
DIGITS = "computes with exact fractions or many digits, as difference quotients without rounding do"
FORGED = "looks at frames, traces or all objects: what is counted in its kernel can be forged so"
BUILTIN = "looks at, or changes, Python's built-in functions, which the checks use, too"
PROGRAM = "a function starts other programs, which could compute for it"
CELLS = "looks at, or changes, the cells that its kernel runs"
SEED = "a seed"


def trials_of(check, off):
    """The reference's own trials, the gradient of a multiplied by 1 + off."""
    return [
        Trial((label, Outcome(out.array * (1 + off)) if label == "a.grad" else out) for label, out in trial.items())
        for trial in (trial or {} for trial in cases_of(check.name, SEED).expected)
    ]


@pytest.mark.parametrize(
    "off, told", [(0.0, False), (1e-15, False), (3e-14, False), (1e-10, True), (1e-7, True), (1e-2, False)]
)
def test_gradients_that_are_right_to_few_digits_are_told_apart(off, told):
    check = find("value.mul")
    assert bool(measured_gradient(check, trials_of(check, off), SEED)) == told


def test_what_came_back_may_be_anything():
    check = find("value.mul")
    for trials in (
        [],
        [Trial()] * 3,
        [Trial({"a.grad": Outcome(error={"type": "BadReply", "message": "", "where": ""})})] * 3,
        [Trial({"a.grad": Outcome(np.full((), np.nan))})] * 3,
        [Trial({"a.grad": Outcome(np.array("text"))})] * 3,
    ):
        assert measured_gradient(check, trials, SEED) == ""


@pytest.mark.parametrize(
    "source, found",
    [
        ("import torch.nn as nn", ["imports torch"]),
        ("from jax import numpy", ["imports jax"]),
        ("importlib.import_module('autograd.numpy')", ["imports autograd"]),
        ("f = __import__('sympy')", ["imports sympy"]),
        ("import numpy\nfrom autograder.notebook import check\nfrom . import torch", []),
        ("import torch as", []),
        ("%timeit import torch", ["imports torch"]),
        ("%precision 6\nimport torch", ["imports torch"]),
        ("%%time\nimport torch", ["imports torch"]),
        ("%timeit -n 1 -r 1 import torch", ["imports torch"]),
        ("exec('x = 1; import torch')", ["imports torch"]),
        ("exec('exec(\"import jax\")')", ["imports jax"]),
        ("get_ipython().run_cell('%time import jax')", ["imports jax"]),
        ("importlib.import_module('to' + 'rch')", [NAMED]),
        ("__import__(name)", [NAMED]),
        ("importlib.import_module('math')", []),
        ("D = lambda f, x: f(complex(x, 1e-200)).imag / 1e-200", [STEP]),
        ("slope = (f(x + 1e-30j)).imag / 1e-30", [STEP]),
        ("getattr(f(x), 'imag')", [STEP]),
        ("import numpy as np\nz = np.complex128(1)", [STEP]),
        ("from fractions import Fraction as F", [DIGITS]),
        ("import decimal", [DIGITS]),
        ("get_ipython().events.register('pre_run_cell', print)", [CELLS]),
        ("get_ipython().ast_transformers.append(0)", [CELLS]),
        ("import sys; sys.setprofile(None)", [FORGED]),
        ("inspect.currentframe().f_back.f_locals['found'] = 0", [FORGED]),
        ("import gc; [o for o in gc.get_objects()]", [FORGED]),
        ("import gc, tracemalloc; gc.collect(); tracemalloc.start()", []),
        ("imagine = 1; events = 2; simple_complex = {'events': 3}", []),
        ("import builtins\nbuiltins.sum = max", [BUILTIN]),
        ("__builtins__['len'] = None", [BUILTIN]),
        ("def exp(x):\n    return float(subprocess.run(['bc'], input=x).stdout)", [PROGRAM]),
        ("f = lambda x: os.popen('bc')", [PROGRAM]),
        ("def f():\n    !bc", [PROGRAM]),
        ("import subprocess, os\nprint(subprocess.run(['ls']))\nos.system('ls')", []),
        ("!ls", []),
        ("(" * 10_000, []),
        ("\0", []),
    ],
)
def test_a5_libraries_and_tricks_are_found_in_whatever_somebody_wrote(source, found):
    cells = [nbformat.v4.new_code_cell(source), nbformat.v4.new_markdown_cell("import tensorflow")]
    assert signs_in(cells) == found


def test_a5_no_lesson_and_no_right_way_to_write_it_is_accused():
    cells = [cell for module in paths.module_names() for cell in read_lesson(module).cells]
    sources = [
        cell.solved for cell in cells if cell.kind in ("given", "exercise")
    ]  # a demo runs only where it was changed
    for check in all_checks().values():
        for variant in check.variants:
            sources += edited_sources(check, variant.edit).values()
    assert signs_in([nbformat.v4.new_code_cell(source) for source in sources]) == []


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("layers.softmax", "np.exp(x - x.max(axis, keepdims=True))", "2.718281828 ** (x - x.max(axis, keepdims=True))"),
        ("layers.gelu", "math.pi", "3.14159265"),
        ("value.exp_log", "math.exp(self.data)", "2.718281828 ** self.data"),
        ("layers.index", "np.zeros(shape, x.dtype)", "np.zeros(shape, np.float32)"),
    ],
)
def test_a_constant_of_a_few_digits_or_float32_is_no_measured_gradient(name, old, new):
    source = read_lesson(module_of(name)).exercise(name).solved
    check, namespace = find(name), reference_namespace(module_of(name), {name: source.replace(old, new)})
    assert old in source and measured_gradient(check, run(check, namespace, SEED), SEED) == ""


def test_gradients_that_a_student_measured_are_found():
    source = """
class GELU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return GELU.value(x)

    @staticmethod
    def value(x):
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * Tensor((GELU.value(x.data + 1e-5) - GELU.value(x.data - 1e-5)) / 2e-5)
"""
    check, namespace = find("layers.gelu"), reference_namespace("05_layers", {"layers.gelu": source})
    assert "layers.gelu, x.grad: right to" in measured_gradient(check, run(check, namespace, SEED), SEED)


def test_a_lone_gradient_that_a_student_measured_is_found():
    source = """
def sin_times_gradient(a, b, upstream):
    h = 1e-5
    return upstream * b * (np.sin(a + h) - np.sin(a - h)) / (2 * h), upstream * np.sin(a)
"""
    check, namespace = find("start.gradient"), reference_namespace("00_start", {"start.gradient": source})
    assert "start.gradient, ∂loss/∂a, of " in measured_gradient(check, run(check, namespace, SEED), SEED)
