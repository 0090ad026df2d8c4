"""The import contract of docs/architecture.md: arrows point one way, and there is no circle."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

from autograder import paths

# Each part, and the parts of ours that it may import. A module belongs to the longest name that fits.
CONTRACT = {
    "tinygrad_cl": set(),
    "tinygrad_cl.scalar": set(),
    "tinygrad_cl.tensor": {"tinygrad_cl.tensor.core"},
    "tinygrad_cl.tensor.core": set(),
    "tinygrad_cl.opencl": set(),
    "tinygrad_cl.traced": {"tinygrad_cl.opencl"},
    "tinygrad_cl.gradcheck": {"tinygrad_cl.traced"},
    "tinygrad_cl.netcl": {"tinygrad_cl.netcl.ops"},
    "tinygrad_cl.netcl.core": {"tinygrad_cl.opencl"},
    "tinygrad_cl.netcl.ops": {"tinygrad_cl.netcl.core"},
    "tinygrad_cl.netcl.autograd": {"tinygrad_cl.netcl.core", "tinygrad_cl.netcl.ops"},
    "tinygrad_cl.netcl.nn": {"tinygrad_cl.netcl.core", "tinygrad_cl.netcl.ops", "tinygrad_cl.netcl.autograd"},
    "tinygrad_cl.netcl.runtime": {"tinygrad_cl.netcl.core", "tinygrad_cl.netcl.autograd"},
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
    "tinygrad_cl.__main__": {"tinygrad_cl.opencl"},
    "autograder": set(),
    "autograder.paths": {"autograder"},
    "autograder.errors": set(),
    # What probes, and measurements on the device, import when they run.
    "autograder.checks": {
        "autograder",
        "autograder.paths",
        "autograder.errors",
        "tinygrad_cl.opencl",
        "tinygrad_cl.traced",
        "tinygrad_cl.gradcheck",
        "tinygrad_cl.measured",
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
    "autograder.lesson": {"autograder", "autograder.paths", "autograder.errors", "autograder.checks"},
    "autograder.student": set(),
    "autograder.sandbox": {"autograder", "autograder.paths", "autograder.lesson"},
    "autograder.judge": {
        "autograder",
        "autograder.paths",
        "autograder.errors",
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
    },
    "autograder.notebook": {
        "autograder",
        "autograder.errors",
        "autograder.student",
        "autograder.checks",
        "autograder.judge",
    },
    "autograder.grading": {
        "autograder",
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
        "autograder",
        "autograder.paths",
        "autograder.errors",
        "autograder.checks",
        "autograder.lesson",
        "autograder.judge",
        "autograder.grading",
        "autograder.learner",
        "autograder.bundle",
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
    TopologicalSorter({name: imports(file) - {name} for name, file in MODULES.items()}).prepare()


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


GROUNDS = ["tinygrad_cl.tensor.core"]


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name.startswith("tinygrad_cl.")))
def test_nothing_is_assigned_into_a_module_of_the_ground_floor(module):
    """No attribute of a module, a class or a function that is imported from there is set, by = or by setattr."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    ground = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not module.startswith(tuple(GROUNDS)):
            names = [(f"{node.module}.{alias.name}", alias.asname or alias.name) for alias in node.names]
            ground |= {name for full, name in names if full.startswith(tuple(GROUNDS))}
    ground -= MAY_BE_SET
    assert not [name for name in assigned(tree) if name in ground]


MAY_BE_SET = {"switch"}  # an object that is there to be set


def assigned(tree):
    """The names n in n.a = …, n.a.b = …, n[k] = … and setattr(n, …) anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            while isinstance(node, (ast.Attribute, ast.Subscript)):
                node = node.value
            if isinstance(node, ast.Name):
                yield node.id
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("setattr", "delattr"):
            if isinstance(node.args[0], ast.Name):
                yield node.args[0].id


def test_what_is_assigned_is_seen():
    source = "a.x = 1\nb.x.y += 1\nc['k'] = 1\nsetattr(d, 'x', 1)\ndel e.x\nf = g.x\n"
    assert list(assigned(ast.parse(source))) != [] and set(assigned(ast.parse(source))) == set("abcde")
