"""docs/renamed.md: each new name is there, and each old one is not."""

import importlib
import re

import pytest

from autograder import paths

TEXT = (paths.ROOT / "docs" / "renamed.md").read_text(encoding="utf-8")
ROWS = [re.findall(r"`(tinygrad_cl[\w.]*)`", line) for line in TEXT.splitlines() if line.startswith("| `tinygrad_cl.")]


def exists(name):
    """Whether a dotted name can be imported, or is an attribute of what can be."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("old, new", ROWS, ids=str)
def test_the_new_name_is_there_in_place_of_the_old_one(old, new):
    assert exists(new)
    assert not exists(old) or "still offers" in next(line for line in TEXT.splitlines() if f"| `{old}`" in line)


def test_a_name_that_is_not_there_is_noticed():
    assert exists("tinygrad_cl.tensor.Tensor") and not exists("tinygrad_cl.tensor.Tensors") and not exists("tinygrad.x")
