"""The benchmarks: turns are taken as they say, everybody computes the same, every script runs. No
times are judged.
"""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "benchmarks"
sys.path.append(str(FOLDER))  # its scripts import one another by their bare names

import contenders  # noqa: E402
import fused  # noqa: E402
import matmul  # noqa: E402
import mlp  # noqa: E402
import report  # noqa: E402
import tables  # noqa: E402
import targets  # noqa: E402
import tensor  # noqa: E402
from against import old_tree, slower  # noqa: E402
from contenders import Comparison, Contender, compare  # noqa: E402

QUICK = 1  # round that counts


# -- taking turns ---------------------------------------------------------------------------------


def make_right(settings):
    return lambda mode: ({"step": 2.0}, settings * mode)


def make_slow(settings):
    return lambda mode: ({"step": 6.0}, settings * mode)


def make_wrong(settings):
    return lambda mode: ({"step": 1.0}, settings * mode + 1)


def make_limit(settings):
    return lambda mode: ({"step": 0.5}, None)


def make_nothing(settings):
    raise ValueError("not today\nand a second line")


def make_choosy(settings):
    def turn(mode):
        if mode == 3:
            raise ValueError("no threes")
        return {"step": 4.0}, settings * mode

    return turn


def make_dying(settings):
    return lambda mode: os._exit(7)


def make_environment(settings):
    names = ("OPENBLAS_CORETYPE", "OURS", "OPENBLAS_L2_SIZE")
    return lambda mode: ({"step": 1.0}, [name in os.environ for name in names])


def make_expected(settings):
    return lambda mode: ({"step": 1.0}, [False, True, False])


MODES = {"two": 2, "three": 3}


def turns(*makes, modes=MODES, needs=()):
    """compare() of contenders named after their functions."""
    contestants = [
        Contender(make.__name__.removeprefix("make_"), make, needs if n else ()) for n, make in enumerate(makes)
    ]
    return compare(Comparison("key", "title", tuple(contestants), 10, modes), QUICK, nap=0)


def test_a_ratio_is_to_the_first_contender():
    rows, left_out = turns(make_right, make_slow, make_limit)
    assert left_out == {}
    expected = ("right", 2.0, 1.0), ("slow", 6.0, 3.0), ("limit", 0.5, 0.25)
    assert [tuple(vars(row).values()) for row in rows] == [
        (mode, "step", name, seconds, ratio, ratio, ratio, seconds)
        for mode in ("two", "three")
        for name, seconds, ratio in expected
    ]


def test_who_computes_something_else_fails_or_dies_is_left_out_by_name_and_the_others_go_on():
    rows, left_out = turns(make_right, make_wrong, make_nothing, make_choosy, make_dying)
    assert left_out == {
        "wrong: two": "it computes something else than right: 21, not 20",
        "wrong: three": "it computes something else than right: 31, not 30",
        "nothing": "ValueError: not today",
        "choosy: three": "ValueError: no threes",
        "dying: two": "its process ended with exit code 7",
        "dying: three": "its process has ended",
    }
    assert [(row.mode, row.contender) for row in rows] == [("two", "right"), ("two", "choosy"), ("three", "right")]


def test_without_the_first_contender_there_are_no_ratios():
    rows, left_out = turns(make_nothing, make_right)
    assert [(row.contender, row.median, row.ratio) for row in rows] == [("right", 2.0, None)] * 2
    result = {
        "key": "key",
        "rows": [vars(row) for row in rows],
        "unit": "s",
        "first": "nothing",
        "left_out": left_out,
        "work": {},
    }
    assert targets.Target("", "key", ("two",), "right", 1, 1).values([result]) == []
    assert "| two | right | 2 | – | – |" in tables.table(result)


def test_who_is_not_installed_is_left_out_by_name():
    _, left_out = turns(make_right, make_slow, needs=("no_such_module",))
    assert left_out == {"slow": "no_such_module is not installed"}


def test_each_process_has_its_own_environment(monkeypatch):
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        monkeypatch.setenv(name, "Haswell")
    contender = Contender("environment", make_environment, environment={"OURS": "1"})
    right = Contender("expected", make_expected)
    comparison = Comparison("key", "title", (right, contender), None, {"": None})
    rows, left_out = compare(comparison, QUICK, nap=0)
    assert left_out == {} and len(rows) == 2
    assert "OURS" not in os.environ and os.environ["OPENBLAS_CORETYPE"] == "Haswell"


def test_a_spread_is_that_of_the_ratios_within_a_round():
    first = [{"step": seconds} for seconds in (1.0, 2.0, 4.0, 8.0, 16.0)]
    other = [{"step": seconds} for seconds in (2.0, 8.0, 4.0, 40.0, 48.0)]
    row = contenders.row("", "step", "other", other, first)  # ratios 2, 4, 1, 5, 3
    assert (row.median, row.low, row.ratio, row.high, row.fastest) == (8.0, 2.0, 3.0, 4.0, 2.0)


# -- an older tree --------------------------------------------------------------------------------


def make_number(settings):
    import tinygrad_cl

    return lambda mode: ({"step": float(tinygrad_cl.NUMBER)}, None)


def test_now_and_before_import_their_own_trees(tmp_path):
    for name, number in ("before", 2), ("now", 3):
        (tmp_path / name / "tinygrad_cl").mkdir(parents=True)
        (tmp_path / name / "tinygrad_cl" / "__init__.py").write_text(f"NUMBER = {number}")
    contestants = tuple(Contender(name, make_number, tree=str(tmp_path / name)) for name in ("before", "now"))
    rows, left_out = compare(Comparison("key", "title", contestants, None, {"": None}), QUICK, nap=0)
    assert left_out == {}
    assert [(row.contender, row.median, row.ratio) for row in rows if row.part == "step"] == [
        ("before", 2.0, 1.0),
        ("now", 3.0, 1.5),
    ]


def make_busy(settings):
    def turn(mode):
        end = time.process_time() + settings
        while time.process_time() < end:
            pass
        return {"step": 1.0}, None

    return turn


def test_processor_time_is_measured_where_an_older_tree_takes_part_alone():
    def parts(**more):
        contender = Contender("busy", make_busy, **more)
        rows, _ = compare(Comparison("key", "title", (contender,), 0.02, {"": None}), QUICK, nap=0)
        return {row.part: row.median for row in rows}

    assert parts() == {"step": 1.0}
    assert parts(tree=str(ROOT))[contenders.PROCESSOR] >= 0.02


@pytest.mark.parametrize("name", report.SCRIPTS)
def test_every_engine_of_ours_is_compared_with_its_older_self_and_nobody_else_is(name, tmp_path):
    for comparison in __import__(name).comparisons(quick=True):
        imports_ours = [each for each in comparison.contenders if each.ours]
        pairs = contenders.against(comparison, tmp_path)
        assert len(pairs) == len(imports_ours) > 0
        for pair, contender in zip(pairs, imports_ours):
            before, now = pair.contenders
            assert (before.name, before.tree, now.name, now.tree) == ("before", str(tmp_path), "now", str(ROOT))
            assert contender.name in pair.title and now.make is before.make is contender.make
        others = [each for each in comparison.contenders if not each.ours]
        assert not [each for each in others if each.name.startswith("tinygrad_cl")]


def test_slower_is_more_than_three_per_cent_and_outside_the_spread():
    def row(low, ratio):
        return {"low": low, "ratio": ratio}

    assert slower(row(1.01, 1.04)) and not slower(row(0.99, 1.04)) and not slower(row(1.01, 1.02))


def test_a_commit_that_git_does_not_know_is_an_error():
    with pytest.raises(SystemExit, match="no-such-commit"), old_tree("no-such-commit"):
        pass


def test_a_run_against_a_commit_has_every_row_and_leaves_the_page_of_docs_alone(tmp_path):
    page = (ROOT / "docs" / "performance.md").read_bytes()
    command = [sys.executable, str(FOLDER / "report.py"), "--quick", "--rounds", "1", "--output", str(tmp_path)]
    command += ["--against", "HEAD", "--only", "eager", "cold"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "against.md").read_text(encoding="utf-8")
    results = json.loads((tmp_path / "against.json").read_text(encoding="utf-8"))
    assert done.stdout.endswith(f"{text}\n") and "# Our engines now and at HEAD" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["against.json", "against.md"]
    assert (ROOT / "docs" / "performance.md").read_bytes() == page
    for comparison in (each for result in results.values() for each in result["comparisons"]):
        assert comparison["left_out"] == {} and comparison["title"] in text
        assert {row["contender"] for row in comparison["rows"]} == {"before", "now"}
    programs = [row for row in results["cold"]["comparisons"][0]["rows"] if row["part"] == contenders.PROGRAMS]
    assert [row["median"] > 0 for row in programs] == [True, True]


# -- what the contenders compute ------------------------------------------------------------------


def losses(settings, steps):
    """The losses of the MLP's first steps, in float64, from the definition of the softmax."""
    weights, biases, x, classes = mlp.problem(settings)
    weights, biases = ([p.astype(np.float64) for p in ps] for ps in (weights, biases))
    one_hot, found = np.eye(settings[0][-1])[classes], []
    for _ in range(steps):
        activations = [x.astype(np.float64)]
        for n, (weight, bias) in enumerate(zip(weights, biases)):
            z = activations[-1] @ weight + bias
            activations.append(np.where(z > 0, z, 0) if n < len(weights) - 1 else z)
        p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
        found.append(-(one_hot * np.log(p)).sum(1).mean())
        slope = (p - one_hot) / len(x)
        for n in reversed(range(len(weights))):
            previous = slope @ weights[n].T * (activations[n] > 0)
            weights[n] = weights[n] - mlp.RATE * activations[n].T @ slope
            biases[n] = biases[n] - mlp.RATE * slope.sum(0)
            slope = previous
    return found


def each(*makes):
    return pytest.mark.parametrize("make", makes, ids=lambda make: make.__name__)


@each(mlp.make_captured, mlp.make_eager, mlp.make_numpy, tensor.make_ours)
def test_the_losses_of_the_mlp_are_right(make):
    settings = ((7, 6, 5, 3), 4)
    _, answers = make(settings)((3, 2))
    assert np.allclose(np.ravel(answers), losses(settings, contenders.FIRST), rtol=1e-5)


@each(fused.make_compiled, fused.make_eager, fused.make_numpy)
def test_the_gradients_of_the_fused_chain_are_right(make):
    size = 1024
    a, b = fused.inputs(size).astype(np.float64)
    t = np.tanh(a * b + a)
    every = size // fused.SAMPLES
    expected = [(t * b).sum() / size**0.5, *((1 - t * t) * b * (b + 1))[::every], *((1 - t * t) * b * a + t)[::every]]
    _, answers = make(size)((1, 1))
    assert all(np.allclose(answer, expected, rtol=1e-4, atol=1e-5) for answer in answers)


@pytest.mark.parametrize("kind", matmul.KINDS)
def test_the_products_are_right(kind):
    a, b = matmul.matrices(16)
    expected = (a.T if kind == "TN" else a) @ (b.T if kind == "NT" else b)
    for make in (matmul.make_ours, matmul.make_numpy):
        _, answer = make(None)((16, kind))
        assert np.allclose(answer, expected[::2, ::2], rtol=1e-4, atol=1e-5)


# -- the scripts ----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=report.SCRIPTS)
def results(request, tmp_path_factory):
    """What a quick run of a script writes."""
    file = tmp_path_factory.mktemp("benchmarks") / "results.json"
    command = [sys.executable, str(FOLDER / f"{request.param}.py"), "--quick", "--rounds", "1", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    result = json.loads(file.read_text(encoding="utf-8"))
    for comparison in result["comparisons"]:
        assert tables.table(comparison) in done.stdout
    return result


def test_every_script_runs_and_all_contenders_agree(results):
    """Only a peer may be left out, and only because it is not there or will not do it."""
    for comparison in results["comparisons"]:
        rows = comparison["rows"]
        assert comparison["first"] in {row["contender"] for row in rows}
        for name, reason in comparison["left_out"].items():
            assert not name.startswith(("tinygrad_cl", "NumPy", "limit")), (name, reason)
            refuses = name.startswith("netcl: ") and reason.startswith("ValueError: its matmul")
            assert reason.endswith("is not installed") or refuses, (name, reason)
        assert all(row["median"] > 0 and row["ratio"] > 0 for row in rows)


def test_the_page_names_the_machine_by_its_parts_alone(results):
    machine = tables.machine_text(results["machine"])
    assert "OpenCL device" in machine and "OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE unset" in machine
    assert platform.node() not in machine


def test_every_target_names_what_is_measured():
    """A target whose comparison, mode or contender was renamed would silently be «not measured»."""
    found = {}
    for name in report.SCRIPTS:
        module = __import__(name)
        for comparison in module.comparisons(quick=False):
            found[comparison.key] = comparison
    for target in targets.TARGETS:
        comparison = found[target.key]
        assert set(target.modes) <= comparison.modes.keys(), target
        assert target.contender in {each.name for each in comparison.contenders}, target


def test_a_target_is_judged_by_its_worst_value():
    rows = [
        {"mode": mode, "part": "step", "contender": "other", "ratio": ratio}
        for mode, ratio in (("sync", 2.0), ("pipelined", 1.5))
    ]
    comparisons = [{"key": "mlp", "rows": rows}]

    def verdict(least, aim, **more):
        target = targets.Target("", "mlp", ("sync", "pipelined"), "other", least, aim, **more)
        return target.verdict(target.values(comparisons))

    assert verdict(1.4, 1.5) == "aim reached"
    assert verdict(1.4, 1.9) == "reached"
    assert verdict(2.0, 3.0) == "missed by 25%"
    assert verdict(2.5, 2.0, most=True) == "aim reached"
    assert verdict(1.9, 1.0, most=True, limit="the bus") == "missed by 5%: the bus"
    assert verdict(1.505, 2.0) == "missed by less than 1%"
    assert verdict(1.9, 1.0, part="another") == "not measured"


def test_the_report_has_a_table_for_each_comparison(tmp_path):
    command = [
        sys.executable,
        str(FOLDER / "report.py"),
        "--quick",
        "--rounds",
        "1",
        "--only",
        "scalar",
        "--output",
        str(tmp_path),
    ]
    subprocess.run(command, check=True, capture_output=True)
    page = (tmp_path / "performance.md").read_text(encoding="utf-8")
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    comparisons = results["scalar"]["comparisons"]
    assert len(comparisons) == 3 and all(tables.table(each) in page for each in comparisons)
    assert "its times mean nothing" in page and "## What was reached" not in page
