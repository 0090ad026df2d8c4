"""What type checkers and editors see: stubs say what their modules offer, and what is exported has types.

`make lint` runs the type checker itself.
"""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STUBS = sorted((ROOT / "tinygrad_cl").rglob("*.pyi"))
EXPORTING = ("tinygrad_cl.datasets", "tinygrad_cl.opencl", "tinygrad_cl.viz")


def check_stubs(folder, modules):
    """mypy's stubtest: every name, parameter and default of each module, as it is when imported, held against its stub."""
    config = folder / "stubtest.ini"
    config.write_text("[mypy]\nfollow_imports = silent\nignore_missing_imports = true\n")
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", str(config), *modules]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def module_of(stub):
    return ".".join(stub.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_each_stub_says_what_its_module_offers(tmp_path):
    modules = [module_of(stub) for stub in STUBS]
    assert {"tinygrad_cl.scalar", "tinygrad_cl.gradcheck"} <= set(modules)
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


def exported():
    for module in EXPORTING:
        for name in importlib.import_module(module).__all__:
            yield pytest.param(getattr(importlib.import_module(module), name), id=f"{module}.{name}")


def functions_of(thing):
    """The function itself, or the methods of a class that are written out, without the private ones."""
    if inspect.isfunction(thing):
        return [thing]
    methods = [
        getattr(each, "fget", None) or getattr(each, "func", None) or each
        for name, each in vars(thing).items()
        if name == "__init__" or not name.startswith("_")
    ]
    written = [each for each in methods if inspect.isfunction(each)]
    return [each for each in written if each.__code__.co_filename == inspect.getfile(thing)]  # no dataclass's __init__


@pytest.mark.parametrize("thing", list(exported()))
def test_what_is_exported_has_types(thing):
    for function in functions_of(thing):
        signature = inspect.signature(function)
        names = [name for name in signature.parameters if name not in ("self", "cls")]
        untyped = [name for name in names if signature.parameters[name].annotation is inspect.Parameter.empty]
        assert untyped == [] and signature.return_annotation is not inspect.Signature.empty, function.__qualname__
