"""The import contract of docs/architecture.md: arrows point one way, and there is no circle."""

import ast
from graphlib import TopologicalSorter

import pytest

from autograder import paths

# Each part, and the parts of ours that it may import. A module belongs to the longest name that fits.
CONTRACT = {
    "tinygrad_cl": set(),
    "tinygrad_cl.scalar": set(),
    "tinygrad_cl.tensor": set(),
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
    "autograder.files": set(),
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
    "autograder.lesson": {
        "autograder",
        "autograder.paths",
        "autograder.errors",
        "autograder.files",
        "autograder.checks",
    },
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
