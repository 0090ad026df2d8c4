"""docs/netcl.md: its program runs on engine 3 and on netcl, its names are in both, its tests exist."""

import functools
import importlib
import re

import pytest

from autograder import paths

TEXT = (paths.ROOT / "docs" / "netcl.md").read_text(encoding="utf-8")
ROOTS = ["tinygrad_cl.netcl", pytest.param("netcl", marks=pytest.mark.filterwarnings("ignore"))]


def rows(heading):
    """The cells of each row of the table under a heading."""
    table = TEXT.partition(f"## {heading}")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def need(root):
    if root == "netcl":
        pytest.importorskip("netcl", reason="netcl is not installed: pip install tinygrad-cl-course[peers]")


@pytest.mark.parametrize("root", ROOTS)
def test_the_program_runs_on_both(root, capsys):
    need(root)
    (program,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(program.replace("tinygrad_cl.netcl", root), {})
    word, loss = capsys.readouterr().out.split()[-2:]
    assert word == "loss" and float(loss) < 0.1


NAMES = [(quoted(where)[0], name) for where, names in rows("Names that both have") for name in quoted(names)]


@pytest.mark.parametrize("root", ROOTS)
def test_the_names_are_in_both(root):
    need(root)
    missing = []
    for where, name in NAMES:
        module = importlib.import_module(f"{root}.{where}")
        try:
            functools.reduce(getattr, name.split("."), module)
        except AttributeError:
            missing.append(f"{where}.{name}")
    assert len(NAMES) > 90 and not missing


FAULTS = rows("Faults of netcl 0.4.4")


@pytest.mark.parametrize("fault, guards", [(row[0], quoted(row[3])) for row in FAULTS], ids=str)
def test_every_fault_is_guarded_by_a_test(fault, guards):
    assert guards
    for guard in guards:
        file, _, name = guard.partition("::")
        assert f"\ndef {name}(" in (paths.ROOT / "tests" / file).read_text(encoding="utf-8"), guard


def test_every_test_of_a_fault_is_in_the_table():
    file = "test_netcl_faults.py"
    named = {guard.partition("::")[2] for row in FAULTS for guard in quoted(row[3]) if guard.startswith(file)}
    there = re.findall(r"\ndef (test_\w+)\(", (paths.ROOT / "tests" / file).read_text(encoding="utf-8"))
    assert sorted(there) == sorted(named) and len(FAULTS) >= 18
