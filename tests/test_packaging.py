"""pyproject.toml, the lock files and environment.yml say the same, and say all that the code imports."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder import paths
from tinygrad_cl.opencl.install import SOURCES, DebianPackage

ROOT = Path(__file__).parent.parent
PACKAGES = ["tinygrad_cl", "autograder"]
PYPROJECT_TEXT = (ROOT / "pyproject.toml").read_text()
PROJECT = tomllib.loads(PYPROJECT_TEXT)["project"]
LOCKS = {name: (ROOT / name).read_text() for name in ("requirements.lock", "requirements-dev.lock")}
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
PYTHONS = WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["python"]  # that are tested
CONDA_ALONE = {"python", "pocl", "pip"}  # not from PyPI, or not ours to lock


def requirements(lines):
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, lines)}


def locked(name):
    """The version of each package in a lock file, on this Python and system."""
    lines = [line for line in LOCKS[name].splitlines() if line and not line.lstrip().startswith("#")]
    found = [
        requirement
        for requirement in map(Requirement, lines)
        if not requirement.marker or requirement.marker.evaluate()
    ]
    return {canonicalize_name(requirement.name): str(requirement.specifier).removeprefix("==") for requirement in found}


def conda():
    """The packages of environment.yml, by their names on PyPI."""
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(entry["pip"] for entry in entries if isinstance(entry, dict))
    return requirements([*filter(lambda entry: isinstance(entry, str), entries), *(x for x in pip if x[0] != "-")])


DIRECT = requirements(PROJECT["dependencies"])
EXTRAS = PROJECT["optional-dependencies"]
PEERS = requirements(EXTRAS["peers"])  # too large for the lock
OPTIONAL = requirements(line for extra in EXTRAS if extra != "peers" for line in EXTRAS[extra])
OPTIONAL.pop(canonicalize_name(PROJECT["name"]))
PARALLEL = requirements(EXTRAS["parallel"] + EXTRAS["cluster"])  # netcl.distributed and grading do without, too


@pytest.mark.parametrize("name, requirement", (DIRECT | OPTIONAL).items(), ids=str)
def test_the_lock_is_within_the_range_of_every_requirement(name, requirement):
    if requirement.marker and not requirement.marker.evaluate():
        pytest.skip(f"{name} is not for this system")
    assert locked("requirements-dev.lock")[name] in requirement.specifier
    if name in DIRECT:
        assert locked("requirements.lock")[name] in requirement.specifier


def test_students_get_the_versions_that_were_tested_and_nothing_that_only_tests_need():
    course, tested = locked("requirements.lock"), locked("requirements-dev.lock")
    assert course.items() <= tested.items()
    assert not course.keys() & {"pytest", "hypothesis", "playwright", "sphinx", "mpi4py"}


def test_conda_gets_the_same_packages_in_the_same_ranges():
    ranges = {name: str(requirement.specifier) for name, requirement in conda().items() if name not in CONDA_ALONE}
    assert ranges == {name: str(requirement.specifier) for name, requirement in DIRECT.items()}
    assert str(conda()["python"].specifier) == PROJECT["requires-python"]


def test_every_requirement_has_a_reason():
    lines = [line for line in PYPROJECT_TEXT.splitlines() if re.match(r'    "[a-z].*[<>=\]].*",', line)]
    assert len(lines) >= len(DIRECT | OPTIONAL | PEERS)
    assert [line for line in lines if not re.search(r'",\s+# \w+', line)] == []


def test_no_peer_is_locked_or_imported_by_the_packages():
    imported = {name for package in PACKAGES for name in imported_names(ROOT / package)}
    assert not PEERS.keys() & (imported | locked("requirements-dev.lock").keys())


@pytest.mark.parametrize("text", LOCKS.values(), ids=LOCKS)
def test_a_lock_names_no_host(text):
    assert not re.search(r"://|--(index|find|extra|trusted)", text)


def imported_names(folder):
    """The first names of all absolute imports under a folder, wherever in a file they are."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield node.module.partition(".")[0]


@pytest.mark.parametrize("package", PACKAGES)
def test_whatever_is_imported_is_required(package):
    distributions = packages_distributions()
    imported = set(imported_names(ROOT / package)) - set(PACKAGES) - set(sys.stdlib_module_names)
    undeclared = {
        name
        for name in imported
        if not (DIRECT | PARALLEL).keys() & {canonicalize_name(each) for each in distributions.get(name, [name])}
    }
    assert undeclared == set()


def test_every_data_file_of_the_packages_is_shipped():
    patterns = tomllib.loads(PYPROJECT_TEXT)["tool"]["setuptools"]["package-data"]["*"]
    files = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    data = [path for path in files.splitlines() if not path.endswith((".py", "ruff.toml"))]
    named = [{f"**/*{Path(path).suffix}", f"**/{Path(path).name}"} for path in data]
    assert [path for path, names in zip(data, named) if not names & set(patterns)] == []


# -- other doors: VS Code's container, and Binder -----------------------------------------------------------


def test_the_container_sets_up_by_make_and_names_no_package():
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    makefile = (ROOT / "course.mk").read_text()
    command, target = settings["postCreateCommand"].split()
    assert command == "make" and re.search(rf"^{target}: \$\(READY\)", makefile, re.M)
    interpreter = settings["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert interpreter == "${containerWorkspaceFolder}/" + re.search(r"^VENV := .* (\S+)$", makefile, re.M)[1]
    assert re.search(r":(\d\.\d+)-", settings["image"])[1] in PYTHONS


def test_binder_takes_the_lock_the_device_that_the_doctor_knows_and_a_python_that_is_tested():
    binder = ROOT / ".binder"
    assert (binder / "apt.txt").read_text().split() == [
        source.package for source in SOURCES if isinstance(source, DebianPackage)
    ]
    assert (binder / "runtime.txt").read_text().strip().removeprefix("python-") in PYTHONS
    scripts = {name: (binder / name).read_text() for name in ("postBuild", "start")}
    assert all(os.access(binder / name, os.X_OK) for name in scripts)
    assert "--requirement requirements.lock" in scripts["postBuild"]
    assert (
        re.search(r'JUPYTER_CONFIG_PATH="\$PWD/(.*)"', scripts["start"])[1]
        == paths.JUPYTER.relative_to(paths.ROOT).as_posix()
    )
