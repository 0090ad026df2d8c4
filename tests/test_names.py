"""The generated files of engine 3's public names: what the records say, and nothing that the records do not have."""

import math

import pytest

import tinygrad_cl.netcl.autograd as ag
from autograder import names
from tinygrad_cl.netcl import nn
from tinygrad_cl.netcl.nn import functional, layers
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES, register_primitive

RECORDS = list(PRIMITIVES.values())


def test_the_committed_files_are_what_the_records_give():
    assert names.stale() == []


def test_a_file_that_was_edited_is_stale(monkeypatch):
    path, text = next(iter(names.generated().items()))
    monkeypatch.setattr(names, "generated", lambda: {path: text + "# by hand\n"})
    (sentence,) = names.stale()
    assert path.name in sentence


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_a_record_has_its_function_and_its_layers(record):
    function = getattr(ag, record.name)
    assert function.__name__ == record.name and function.__doc__ == record.formula
    for layer in record.layers:
        assert getattr(nn, layer) is getattr(layers, layer)
        assert getattr(nn, layer).primitive == record.name
        assert getattr(functional, record.name) is function
    for alias in record.aliases:
        assert getattr(functional, alias) is function


@pytest.mark.parametrize("module", [ag, nn, layers, functional], ids=lambda module: module.__name__)
def test_each_name_that_is_offered_is_there(module):
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def test_a_new_record_is_a_function_with_its_constants_and_a_layer():
    record = register_primitive(
        "bend", lambda a, k: a[0], attrs={"knee": 0.5, "top": math.inf}, layers=("Bend",), formula="x, bent"
    )
    del PRIMITIVES["bend"]
    text = names.functions([record])
    assert (
        "def bend(x: Operand, knee: float = 0.5, top: float = math.inf, tape: Tape | None = None) -> Node:" in text
        and '"""x, bent"""' in text
    )
    assert "class Bend(Activation):" in names.layers([record])
