"""The import contract of docs/architecture.md: arrows point one way, and there is no circle."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

from autograder import paths

# Each part, and the parts of ours that it may import. A module belongs to the longest name that fits.
CONTRACT = {
    "tinygrad_cl": set(),
    "tinygrad_cl.scalar": set(),
    "tinygrad_cl.micrograd": {"tinygrad_cl.scalar"},
    "tinygrad_cl.tensor": {"tinygrad_cl.tensor.core"},
    "tinygrad_cl.tensor.mxnet": {"tinygrad_cl.tensor", "tinygrad_cl.tensor.core"},
    "tinygrad_cl.tensor.tinytorch": {"tinygrad_cl.tensor", "tinygrad_cl.tensor.core"},
    "tinygrad_cl.tensor.torch": {"tinygrad_cl.tensor", "tinygrad_cl.tensor.core"},
    "tinygrad_cl.tensor.core": set(),
    "tinygrad_cl.measurements": set(),
    "tinygrad_cl.opencl": {"tinygrad_cl", "tinygrad_cl.measurements"},
    "tinygrad_cl.traced": {"tinygrad_cl.opencl"},
    "tinygrad_cl.gradcheck": {"tinygrad_cl.traced"},
    "tinygrad_cl.netcl": {"tinygrad_cl.netcl.ops"},
    "tinygrad_cl.netcl.core": {"tinygrad_cl", "tinygrad_cl.measurements", "tinygrad_cl.opencl"},
    "tinygrad_cl.netcl.ops": {"tinygrad_cl.netcl.core"},
    "tinygrad_cl.netcl.tape": {"tinygrad_cl.netcl.core", "tinygrad_cl.netcl.ops"},
    "tinygrad_cl.netcl.autograd": {"tinygrad_cl.netcl.core", "tinygrad_cl.netcl.ops", "tinygrad_cl.netcl.tape"},
    "tinygrad_cl.netcl.nn": {
        "tinygrad_cl.netcl.core",
        "tinygrad_cl.netcl.ops",
        "tinygrad_cl.netcl.tape",
        "tinygrad_cl.netcl.autograd",
    },
    "tinygrad_cl.netcl.runtime": {
        "tinygrad_cl",
        "tinygrad_cl.measurements",
        "tinygrad_cl.opencl",
        "tinygrad_cl.netcl.core",
        "tinygrad_cl.netcl.ops",
        "tinygrad_cl.netcl.tape",
    },
    "tinygrad_cl.netcl.optim": {"tinygrad_cl.netcl.core", "tinygrad_cl.netcl.ops"},
    "tinygrad_cl.netcl.data": {"tinygrad_cl.netcl.core"},
    "tinygrad_cl.netcl.io": {"tinygrad_cl.netcl.core"},
    "tinygrad_cl.netcl.distributed": {"tinygrad_cl.netcl.core"},
    "tinygrad_cl.measured": {
        "tinygrad_cl.gradcheck",
        "tinygrad_cl.netcl",
        "tinygrad_cl.netcl.core",
        "tinygrad_cl.netcl.autograd",
    },
    "tinygrad_cl.datasets": set(),
    "tinygrad_cl.viz": set(),
    "tinygrad_cl.__main__": {"tinygrad_cl.opencl", "tinygrad_cl.netcl.runtime"},
    "autograder": set(),
    "autograder.paths": {"autograder"},
    "autograder.errors": set(),
    "autograder.names": {"autograder", "autograder.paths", "autograder.files", "tinygrad_cl.netcl.ops"},
    "autograder.files": set(),
    "autograder.characters": set(),
    "autograder.course": {"autograder", "autograder.paths", "autograder.errors"},
    # What observations, and measurements on the device, import when they run.
    "autograder.checks": {
        "autograder",
        "autograder.course",
        "autograder.paths",
        "autograder.errors",
        "tinygrad_cl.opencl",
        "tinygrad_cl.traced",
        "tinygrad_cl.gradcheck",
        "tinygrad_cl.measured",
        "tinygrad_cl.tensor",
        "tinygrad_cl.netcl",
        "tinygrad_cl.netcl.core",
        "tinygrad_cl.netcl.ops",
        "tinygrad_cl.netcl.autograd",
        "tinygrad_cl.netcl.runtime",
        "tinygrad_cl.netcl.nn",
        "tinygrad_cl.netcl.optim",
        "tinygrad_cl.netcl.data",
        "tinygrad_cl.netcl.distributed",
    },
    "autograder.lesson": {
        "autograder",
        "autograder.paths",
        "autograder.errors",
        "autograder.files",
        "autograder.checks",
    },
    "autograder.student": set(),
    "autograder.stand_in": set(),
    "autograder.sandbox": {
        "autograder",
        "autograder.paths",
        "autograder.lesson",
        "tinygrad_cl",
        "tinygrad_cl.measurements",
    },
    "autograder.judge": {
        "autograder",
        "autograder.characters",
        "autograder.paths",
        "autograder.errors",
        "autograder.files",
        "autograder.checks",
        "autograder.lesson",
        "autograder.sandbox",
        "tinygrad_cl",
        "tinygrad_cl.opencl",
        "tinygrad_cl.traced",
        "tinygrad_cl.measured",
    },
    "autograder.pages": set(),
    "autograder.learner": {
        "autograder",
        "autograder.paths",
        "autograder.errors",
        "autograder.checks",
        "autograder.lesson",
        "autograder.judge",
        "autograder.grading",
        "autograder.pages",
        "autograder.stand_in",
        "autograder.student",
        # The programs of learner/probes, one for each engine.
        "tinygrad_cl.scalar",
        "tinygrad_cl.tensor",
        "tinygrad_cl.tensor.core",
        "tinygrad_cl.tensor.mxnet",
        "tinygrad_cl.netcl",
        "tinygrad_cl.netcl.core",
        "tinygrad_cl.netcl.autograd",
        "tinygrad_cl.netcl.nn",
        "tinygrad_cl.netcl.optim",
        "tinygrad_cl.netcl.runtime",
    },
    "autograder.projects": {
        "autograder",
        "autograder.paths",
        "autograder.errors",
        "autograder.files",
        "tinygrad_cl.netcl",
        "tinygrad_cl.netcl.core",
        "tinygrad_cl.netcl.ops",
        "tinygrad_cl.netcl.autograd",
        "tinygrad_cl.netcl.nn",
        "tinygrad_cl.netcl.runtime",
    },
    "autograder.notebook": {
        "autograder",
        "autograder.paths",
        "autograder.errors",
        "autograder.learner",
        "autograder.student",
        "autograder.checks",
        "autograder.judge",
    },
    "autograder.grading": {
        "autograder",
        "autograder.course",
        "autograder.characters",
        "autograder.files",
        "autograder.paths",
        "autograder.errors",
        "autograder.checks",
        "autograder.lesson",
        "autograder.judge",
        "autograder.pages",
        "autograder.sandbox",
        "autograder.nbgrader_config",
    },
    "autograder.bundle": {
        "autograder",
        "autograder.paths",
        "autograder.errors",
        "autograder.checks",
        "autograder.lesson",
        "autograder.judge",
        "autograder.sandbox",
    },
    "autograder.nbgrader_config": {"autograder.grading", "autograder.lesson"},
    "autograder.__main__": {
        "tinygrad_cl",
        "tinygrad_cl.__main__",
        "autograder",
        "autograder.course",
        "autograder.paths",
        "autograder.characters",
        "autograder.errors",
        "autograder.checks",
        "autograder.lesson",
        "autograder.judge",
        "autograder.grading",
        "autograder.learner",
        "autograder.bundle",
        "autograder.names",
    },
}


def modules():
    """{module name: file} of both packages."""
    found = {}
    for package in ("tinygrad_cl", "autograder"):
        for file in (paths.ROOT / package).rglob("*.py"):
            parts = file.relative_to(paths.ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


MODULES = modules()


def imports(file):
    """The modules of ours that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in MODULES else node.module for name in names}
    return {name for name in found if name in MODULES}


def part_of(module):
    return max((part for part in CONTRACT if module == part or module.startswith(part + ".")), key=len)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_imports_only_what_its_part_may(module):
    part = part_of(module)
    foreign = {name for name in imports(MODULES[module]) if part_of(name) not in CONTRACT[part] | {part}}
    assert not foreign, f"{module} is part of {part}, which may not import {foreign}"


def test_there_is_no_circle_of_imports():
    """Counting imports inside functions, too: a late import is no excuse for a circle."""
    order = TopologicalSorter({name: imports(file) - {name} for name, file in MODULES.items()}).static_order()
    assert set(MODULES) <= set(order), "a CycleError would have named the circle"


def test_nothing_is_imported_with_a_star():
    for module, file in MODULES.items():
        stars = [
            node
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
        ]
        assert not stars, module


def test_the_ground_floor_of_engine_2_works_alone():
    """Lesson 04's engine, in a process that finds nothing of the package but the ground floor."""
    program = """
import importlib.util, pathlib, sys, types

core = pathlib.Path(sys.argv[1])
for name in ("tinygrad_cl", "tinygrad_cl.tensor"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
spec = importlib.util.spec_from_file_location("tinygrad_cl.tensor.core", core / "__init__.py")
ground = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ground)

x = ground.Tensor([[1.0, 2.0, 3.0]], requires_grad=True)
w = ground.Tensor([[0.5], [-1.0], [2.0]], requires_grad=True)
for _ in range(2):
    loss = (((x @ w).tanh() * 2.0 - x) ** 2).sum() + x.exp().max() + x.relu().mean()
    loss.backward()
print(x.grad.shape, w.grad.shape, [name for name in sys.modules if name.startswith("tinygrad_cl.tensor.") and "core" not in name])
"""
    core = paths.ROOT / "tinygrad_cl" / "tensor" / "core"
    done = subprocess.run([sys.executable, "-I", "-c", program, core], capture_output=True, text=True, timeout=60)
    assert done.stdout == "(1, 3) (3, 1) []\n", done.stderr


# -- two storeys -----------------------------------------------------------------------------------

# The ground floor of an engine, and the hooks in it that others may set; docs/architecture.md lists them.
GROUNDS = {"tinygrad_cl.tensor.core": {"switch.on"}, "tinygrad_cl.netcl.tape": {"state.trace", "state.leaves"}}

LESSON_10 = """
import sys
import numpy as np
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.tape.node import tensor
from tinygrad_cl.netcl.tape.tape import Tape, apply_op


def mul(a, b):
    return apply_op(lambda x, y: x * y, lambda grad: [grad * b.value, grad * a.value], a, b, op_name="mul")


queue = manager.default("auto").queue
x, row = (tensor(Tensor.from_host(queue, array), True) for array in ([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]))
with Tape() as tape:
    out = mul(mul(x, row), x)
tape.backward(out, np.ones((2, 2)))
print(x.grad.to_host().tolist(), row.grad.to_host().tolist(), len(tape.nodes))
try:
    x * row
except TypeError as error:
    print(error)
print([name for name in sys.modules if name.startswith("tinygrad_cl.netcl.") and name.split(".")[2] not in PARTS])
"""


def test_the_ground_floor_of_engine_3_is_an_engine_of_its_own():
    """Operations out of two functions; operators are not there until somebody defines them."""
    program = LESSON_10.replace("PARTS", repr(("core", "ops", "tape")))
    out = subprocess.run([sys.executable, "-c", program], cwd=paths.ROOT, capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == [
        "[[10.0, 24.0], [30.0, 48.0]] [[10.0, 20.0]] 2",
        "unsupported operand type(s) for *: 'Node' and 'Node'",
        "[]",
    ]


def assigned(file, ground):
    """What a file sets, deletes or changes of what it imports from a ground floor, as text."""
    tree, names = ast.parse(file.read_text(encoding="utf-8")), set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names |= {each.asname or each.name for each in node.names if (above + each.name).startswith(ground)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            found.add(ast.unparse(node))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
            found.add(f"{ast.unparse(node.args[0])}.{ast.unparse(node.args[1])}")
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("update", "setdefault", "clear"):
            found.add(ast.unparse(node.func))
    return {text for text in found if re.match(r"\w*", text)[0] in names}


@pytest.mark.parametrize("ground, hooks", GROUNDS.items())
def test_nothing_assigns_into_a_ground_floor_but_its_hooks(ground, hooks):
    above = {name: file for name, file in MODULES.items() if not name.startswith(ground)}
    found = {name: assigned(file, ground) - hooks for name, file in above.items()}
    assert not {name: texts for name, texts in found.items() if texts}


def test_an_assignment_into_a_ground_floor_is_found(tmp_path):
    file = tmp_path / "above.py"
    file.write_text(
        "from tinygrad_cl.netcl.tape import node\nfrom tinygrad_cl.netcl.tape.modes import state\n"
        "from tinygrad_cl.netcl.tape.node import Node as N\nimport os\nos.x = 1\nhere = state.tapes\nhere.y = 2\n"
        "node.OURS = ''\nN.__mul__ = None\nstate.enabled, z = 1, 2\nsetattr(N, 'a', 3)\ndel node.place\n"
    )
    found = assigned(file, "tinygrad_cl.netcl.tape")
    assert found == {"node.OURS", "N.__mul__", "state.enabled", "N.'a'", "node.place"}
