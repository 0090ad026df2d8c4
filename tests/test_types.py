"""What type checkers and editors see: stubs say what their modules offer, and what is exported has types.

`make lint` runs the type checker itself.
"""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import types
import typing
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STUBS = sorted((ROOT / "tinygrad_cl").rglob("*.pyi"))
EXPORTING = (
    "tinygrad_cl.datasets",
    "tinygrad_cl.opencl",
    "tinygrad_cl.viz",
    "tinygrad_cl.tensor",
    "tinygrad_cl.tensor.core",
    "tinygrad_cl.tensor.mxnet.ndarray",
    "tinygrad_cl.netcl.autograd",
    "tinygrad_cl.netcl.nn",
    "tinygrad_cl.netcl.nn.functional",
    "tinygrad_cl.netcl.optim",
    "tinygrad_cl.netcl.runtime",
    "tinygrad_cl.netcl.distributed",
)
# They have no list of what they export: these are the names that lessons and netcl's programs use.
FURTHER = {
    "tinygrad_cl.netcl.core.device": ("Device", "LaunchConfig", "Manager"),
    "tinygrad_cl.netcl.core.tensor": ("Tensor", "TensorSpec", "spec_of"),
    "tinygrad_cl.netcl.core.parameter": ("Parameter",),
    "tinygrad_cl.netcl.data.dataloader": ("DataLoader",),
    "tinygrad_cl.netcl.io": ("export_model", "load", "load_into_model", "save"),
    "tinygrad_cl.netcl.nn.init": ("constant", "kaiming_uniform", "manual_seed", "normal", "xavier_uniform"),
    "tinygrad_cl.netcl.ops.primitives": ("get_primitive", "register_primitive"),
}


def check_stubs(folder, modules):
    """mypy's stubtest: every name, parameter and default of each module, as it is when imported, held against its stub."""
    config = folder / "stubtest.ini"
    config.write_text("[mypy]\nfollow_imports = silent\nignore_missing_imports = true\n")
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", str(config), *modules]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def module_of(stub):
    return ".".join(stub.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


STUBBED = {module_of(stub) for stub in STUBS}


def test_each_stub_says_what_its_module_offers(tmp_path):
    modules = [module_of(stub) for stub in STUBS]
    assert {"tinygrad_cl.scalar", "tinygrad_cl.gradcheck", "tinygrad_cl.tensor.tensor_class"} <= set(modules)
    done = check_stubs(tmp_path, modules)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(modules)} modules" in done.stdout


def test_a_stub_that_lacks_a_name_or_a_parameter_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "lean.py").write_text("def f(x, y): return x\ndef g(): return 1\n")
    (tmp_path / "lean.pyi").write_text("def f(x: int) -> int: ...\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("MYPYPATH", str(tmp_path))
    said = check_stubs(tmp_path, ["lean"]).stdout
    assert (
        "lean.g is not present in stub" in said and 'lean.f is inconsistent, stub does not have parameter "y"' in said
    )


def untyped(text):
    """The functions in a stub that lack a type."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            names = [each for each in every if each and each.arg not in ("self", "cls")]
            if node.returns is None or not all(each.annotation for each in names):
                found.append(node.name)
    return found


@pytest.mark.parametrize("stub", STUBS, ids=module_of)
def test_stubs_are_complete(stub):
    assert untyped(stub.read_text(encoding="utf-8")) == []


def test_a_function_without_types_in_a_stub_is_found():
    text = "def f(x: int): ...\ndef g(x, *y: int) -> int: ...\nclass A:\n    def h(self, x: int) -> int: ...\n"
    assert untyped(text) == ["f", "g"]


def exported():
    names = {module: importlib.import_module(module).__all__ for module in EXPORTING} | FURTHER
    for module, offered in names.items():
        for name in offered:
            thing = getattr(importlib.import_module(module), name)
            if not isinstance(thing, types.ModuleType):  # its own names are exported, too
                yield pytest.param(thing, id=f"{module}.{name}")


def functions_of(thing):
    """The function itself, or the methods of a class that are written out, without the private ones."""
    if inspect.isfunction(thing):
        return [thing]
    methods = [
        getattr(each, "fget", None) or getattr(each, "func", None) or getattr(each, "__func__", None) or each
        for name, each in vars(thing).items()
        if name == "__init__" or not name.startswith("_")
    ]
    written = [each for each in methods if inspect.isfunction(each)]
    return [each for each in written if each.__code__.co_filename == inspect.getfile(thing)]  # no dataclass's __init__


UNSTUBBED = [each for each in exported() if each.values[0].__module__ not in STUBBED]  # the others: the tests above


@pytest.mark.parametrize("thing", UNSTUBBED)
def test_what_is_exported_has_types(thing):
    for function in functions_of(thing):
        signature = inspect.signature(function)
        names = [name for name in signature.parameters if name not in ("self", "cls")]
        untyped = [name for name in names if signature.parameters[name].annotation is inspect.Parameter.empty]
        assert typing.get_overloads(function) or (
            untyped == [] and signature.return_annotation is not inspect.Signature.empty
        ), function.__qualname__


# -- a user's program -------------------------------------------------------------------------------------------------

RIGHT = """
from typing import Any, assert_type

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.gradcheck import gradcheck
from tinygrad_cl.netcl import nn, optim
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor as DeviceTensor
from tinygrad_cl.netcl.runtime import capture
from tinygrad_cl.scalar import Value
from tinygrad_cl.tensor import SGD, Function, Tensor, grad, mse_loss, mxnet, no_grad, where


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: np.ndarray) -> np.ndarray:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


x = Tensor([1.0, 2.0], requires_grad=True)
assert_type(2 * x + x @ x, Tensor)
assert_type((x > 0) & (x == x), Tensor)
assert_type(where(x > 0, x.sqrt(), 0.0).sum(axis=0, keepdims=True)[0], Tensor)
mse_loss(Cube.apply(x), [1.0, 1.0]).backward()
assert_type(x.grad, Tensor | None)
SGD(x, lr=0.1, momentum=0.9).step()
(dx,) = grad(x.sum(), x)
assert_type(dx, Tensor)
a = mxnet.array([1.0])
with mxnet.record():
    assert_type(2 * a, mxnet.NDArray)


@no_grad()
def predict(x: Tensor) -> Tensor:
    return x.relu()


assert_type(predict(x), Tensor)
assert_type(Value(2.0) * 3 + 1, Value)
assert_type(gradcheck(np.square, lambda grad, x: 2 * x * grad, [1.0]).ok, bool)

queue = manager.default("auto").queue
t = DeviceTensor.from_host(queue, [[1.0, 2.0]])
assert_type(2 * t - t / 2, DeviceTensor)
n = ag.tensor(t, requires_grad=True)
assert_type(t + n, ag.Node)
assert_type(ag.leaky_relu(n @ np.ones((2, 2)), 0.2), ag.Node)
assert_type(ag.split(n, 1, axis=1)[0], ag.Node)
model = nn.Sequential(nn.Linear(queue, 2, 3), nn.LeakyReLU(0.1), nn.Linear(queue, 3, 1))
optimizer = optim.Adam(model.parameters(), lr=0.01)
with ag.Tape() as tape:
    loss = nn.functional.mse_loss(model(n), np.ones((1, 1)))
tape.backward(loss)
assert_type(model.parameters()[0].grad, DeviceTensor | None)
optimizer.step()


@ag.jit_compile
def fast(x: ag.Node) -> ag.Node:
    return ag.sum(x * x)


assert_type(fast(n), ag.Node)


@capture
def step(x: DeviceTensor) -> DeviceTensor:
    return x + 1


assert_type(step.num_launches, int)
"""

# Each line that ends with a comment is refused.
WRONG = """
import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl import nn, optim
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor as DeviceTensor
from tinygrad_cl.scalar import Value
from tinygrad_cl.tensor import SGD, Tensor, cat, dropout, mse_loss

x = Tensor([1.0, 2.0], require_grad=True)  # no such parameter
x.backwards()  # no such method
x.softmax("rows")  # no such axis
x.reshape(2.5)  # no length
x.grad.data  # None before backward
len(x.shape) + x.shape  # an int and a tuple
dropout(0.5, x)  # the wrong way round
cat(x, x)  # several arguments, not one iterable
SGD([x])  # no learning rate
mse_loss(x)  # no target
Value("1")  # a text
queue = manager.default("auto").queue
t = DeviceTensor.from_host([1.0, 2.0])  # no queue
n = ag.tensor([1.0])  # no Tensor
ag.sum(n, dim=0)  # PyTorch's name
ag.mse_loss(n, n, reduction="average")  # no such reduction
ag.leaky_relu(n, slope=0.1)  # no such constant
ag.no_such_operation(n)  # no such name
nn.Linear(2, 3)  # the queue comes first
optim.Adam([n])  # Nodes, not Parameters
"""


def mypy(folder, program):
    """{line: errors} that the type checker, strict, finds in a program of somebody who uses the package."""
    file, config = folder / "program.py", folder / "mypy.ini"
    file.write_text(program)
    config.write_text(f"[mypy]\nstrict = true\nmypy_path = {ROOT}\n[mypy-tinygrad_cl.*]\nfollow_imports = silent\n")
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), "--no-error-summary", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = {}
    for line in re.findall(r"^.*?program\.py:(\d+): error: (.*)", done.stdout, flags=re.MULTILINE):
        found.setdefault(int(line[0]), []).append(line[1])
    assert done.returncode == bool(found), done.stdout + done.stderr
    return found


def test_a_users_program_has_types(tmp_path):
    assert mypy(tmp_path, RIGHT) == {}


def test_a_wrong_program_is_refused_line_by_line(tmp_path):
    wrong = {number for number, line in enumerate(WRONG.splitlines(), start=1) if "  # " in line}
    assert len(wrong) >= 15 and set(mypy(tmp_path, WRONG)) == wrong


def test_values_have_the_types_that_the_type_checker_sees(monkeypatch):
    """The same program, run: `assert_type` looks at the value."""
    seen = []

    def look(value, kind):
        seen.append(kind)
        assert isinstance(value, kind), (type(value), kind)

    monkeypatch.setattr(typing, "assert_type", look)
    exec(compile(RIGHT, "program", "exec"), {"__name__": "program"})
    assert len(seen) == RIGHT.count("assert_type(")
