"""The peers' own tests on our engines: how they are judged, that the adapters stand on our engines,
and, where their sources were fetched (make peers), that none fails for an unknown reason.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
PEERS = ROOT / "tests" / "peers"
sys.path.append(str(PEERS))

import run  # noqa: E402
import suites  # noqa: E402
import words  # noqa: E402

JUDGED = """
import unittest
import pytest
from verdicts import NotOffered

def test_good(): pass
def test_bad(): assert 1 == 2, "one is not two"
def test_absent(): raise NotOffered("einsum")
def test_absent_inside():
    try:
        raise NotOffered("conv2d")
    except AttributeError as error:
        raise ValueError("wrapped") from error
def test_skipped(): pytest.skip("no time")
class TestClass(unittest.TestCase):
    def test_good(self): pass
    def test_absent(self): raise NotOffered("pad")
"""


def test_each_foreign_test_gets_its_verdict(tmp_path):
    (tmp_path / "test_judged.py").write_text(JUDGED)
    (tmp_path / "test_broken.py").write_text("import no_such_module")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    file = tmp_path / "verdicts.json"
    environment = os.environ | {"PYTHONPATH": str(PEERS), "PEERS_VERDICTS": str(file)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "verdicts",
        "-p",
        "no:cacheprovider",
        "-q",
        "--continue-on-collection-errors",
        str(tmp_path),
    ]
    subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True)
    found = json.loads(file.read_text())
    assert found == {
        "test_judged.py::test_good": ["passed", ""],
        "test_judged.py::test_bad": ["failed", "AssertionError: one is not two assert 1 == 2"],
        "test_judged.py::test_absent": ["not offered", "einsum"],
        "test_judged.py::test_absent_inside": ["not offered", "conv2d"],
        "test_judged.py::test_skipped": ["skipped", "no time"],
        "test_judged.py::TestClass::test_good": ["passed", ""],
        "test_judged.py::TestClass::test_absent": ["not offered", "pad"],
        "test_broken.py": ["failed", "ModuleNotFoundError: No module named 'no_such_module'"],
    }


def adapted(package, program, **settings):
    """What a program prints in which a peer's name stands for its adapter."""
    path = os.pathsep.join(map(str, (PEERS, PEERS / "shadow" / package)))
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path} | settings,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_adapter_of_micrograd_is_engine_1():
    program = "from micrograd.engine import Value; print(Value.__module__)"
    assert adapted("micrograd", program) == "tinygrad_cl.scalar"


TINYGRAD = """
import json
from tinygrad import Tensor
from tinygrad.engines import ENGINE
from verdicts import NotOffered

x, y = Tensor([[1.0, -2.0, 3.0]]), Tensor([[0.5], [2.0]])
z = (x * y).relu().softmax(1).log().sum()
dx, dy = z.gradient(x, y)
try:
    x.conv2d(y)
except NotOffered as error:
    missing = str(error)
print(json.dumps([missing, type(z.value).__module__, (x > 0).tolist(), dx.tolist(), dy.tolist()]))
"""


@pytest.mark.parametrize("engine, module", [("2", "tinygrad_cl.tensor"), ("3", "tinygrad_cl.netcl")])
def test_the_adapter_of_tinygrad_computes_on_our_engines(engine, module):
    missing, name, positive, dx, dy = json.loads(adapted("tinygrad", TINYGRAD, PEERS_ENGINE=engine))
    assert missing == "conv2d" and name.startswith(module) and positive == [[True, False, True]]
    # With s = softmax(r) of a row r = relu(x · y), the slope of Σ ln s along r is 1 − 3 s.
    x, y = np.array([[1.0, -2.0, 3.0]]), np.array([[0.5], [2.0]])
    r = np.maximum(x * y, 0)
    slope = (1 - 3 * np.exp(r) / np.exp(r).sum(1, keepdims=True)) * (x * y > 0)
    assert np.allclose(dx, (slope * y).sum(0, keepdims=True), rtol=1e-4)
    assert np.allclose(dy, (slope * x).sum(1, keepdims=True), rtol=1e-4)


def test_a_wrong_rule_of_the_engine_is_noticed_by_a_foreign_check(tmp_path):
    """autograd's check_grads, on engine 2 with a rule that is off by a thousandth."""
    folder = suites.SUITES[1].folder
    if not folder.exists():
        pytest.skip("autograd's sources are not there: make peers fetches them")
    program = """
import autograd.numpy as np
from autograd.test_util import check_grads
from tinygrad_cl.tensor.elementwise import Sin
check_grads(np.sin, modes=["rev"])(0.7)
right = Sin.backward
Sin.backward = staticmethod(lambda ctx, grad: right(ctx, grad) * 1.001)
try:
    check_grads(np.sin, modes=["rev"])(0.7)
except AssertionError:
    print("noticed")
"""
    assert adapted("autograd", program, PEERS_SUITE=str(folder)) == "noticed"


def test_sources_that_cannot_be_fetched_leave_a_suite_out_by_name(tmp_path, monkeypatch, capsys):
    def fetch(suite):
        raise subprocess.CalledProcessError(128, ["git", "fetch"])

    monkeypatch.setattr(run, "fetch", fetch)
    monkeypatch.setattr(run, "missing", lambda suite: None)
    monkeypatch.setattr(sys, "argv", ["run.py", "--output", str(tmp_path / "peers.md")])
    with pytest.raises(SystemExit) as end:
        run.main()
    assert end.value.code == 0
    page = (tmp_path / "peers.md").read_text(encoding="utf-8")
    assert page.count("not run: its sources could not be fetched from https://github.com/tinygrad/tinygrad") == 2
    assert "could not be fetched" in capsys.readouterr().out


@pytest.mark.parametrize("suite", suites.SUITES, ids=lambda each: f"{each.package}-{each.engine}")
def test_no_foreign_test_fails_without_a_reason(suite):
    if name := run.missing(suite):
        pytest.skip(f"{name} is not installed: the suite compares with it")
    if not suite.folder.exists():
        pytest.skip("its sources are not there: make peers fetches them")
    if suite.slow:
        pytest.skip("takes minutes: make peers runs it")
    found = run.verdicts(suite)
    assert run.unexplained(found) == {}
    assert sum(verdict == "passed" for verdict, _ in found.values()) > len(found) / 2
    failed = [test for test, (verdict, _) in found.items() if verdict == "failed"]
    idle = [name for name in suite.failures if not any(each.startswith(name) for each in failed)]
    assert idle == [], "these do not fail"


def test_the_page_has_a_row_for_every_suite():
    page = run.PAGE.read_text(encoding="utf-8")
    for suite in suites.SUITES:
        assert f"| {suite.name} | {suite.version[:12]} | {suite.engine} |" in page
    assert "unexplained" not in page


def test_the_page_lists_the_words_of_the_peers():
    assert words.section() in run.PAGE.read_text(encoding="utf-8")
    offered = {where: words.names(where) for *_, places in words.IMPORTS for where in places.split()}
    assert {"randn", "exp", "where"} <= set(offered["torch"]) and "_prev" in offered["micrograd.Value"]
    assert all(hasattr(words.found(where), name) for where in offered for name in offered[where])


ADAPTED = {
    "minitorch": (
        "from minitorch import Scalar as A, Tensor as B",
        ["tinygrad_cl.scalar", "tinygrad_cl.tensor.tensor_class"],
    ),
    "mxnet": ("import mxnet as mx; A = B = mx.nd.NDArray", ["tinygrad_cl.tensor.tensor_class"]),
    "needle": ("from needle import Tensor as A; B = A", ["tinygrad_cl.tensor.tensor_class"]),
    "tinytorch": ("from tinytorch.core.tensor import Tensor as A; B = A", ["tinygrad_cl.tensor.tensor_class"]),
}


@pytest.mark.parametrize("package", ADAPTED)
def test_the_adapters_stand_on_our_engines(package, tmp_path):
    program, engines = ADAPTED[package]
    suite = tmp_path / "minitorch"  # with what the adapter takes of minitorch itself
    suite.mkdir()
    (suite / "testing.py").write_text("MathTest = MathTestVariable = None")
    bases = f"{program}; print(*[each.__module__ for kind in (A, B) for each in kind.__mro__])"
    assert set(engines) <= set(adapted(package, bases, PEERS_SUITE=str(tmp_path)).split())


def test_a_page_says_what_failed_what_does_not_apply_and_what_did_not_run():
    suite = suites.Suite(
        "peer", "1.0", 2, ("test_a.py",), others={"test_b": "why"}, failures={"test_a.py::test_x": "known"}
    )
    found = {
        "test_a.py::test_x": ("failed", "known"),
        "test_a.py::test_y": ("not offered", "fft"),
        "test_a.py::test_z": ("not offered", "fft"),
        "test_a.py::test_w": ("passed", ""),
    }
    page = run.page([(suite, found), (suite, "torch is not installed")])
    assert "| peer, test_a | 1.0 | 2 | 4 | 1 | 1 | 2 | 0 |" in page
    assert "- `test_x`: known" in page and "fft (2)" in page and "- test_b: why" in page
    assert "| peer, test_a | 1.0 | 2 | not run: torch is not installed |" in page
    assert suite.reason("test_a.py::test_x[1]") == "known"
    assert suite.reason("test_a.py::test_q") == ""
