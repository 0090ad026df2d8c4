"""Launch configurations that are measured: right on every shape, kept, read, and no more launches than by rules."""

import itertools
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyopencl as cl
import pytest
from netcl_devices import close, devices

from tinygrad_cl import measurements
from tinygrad_cl.netcl.core.device import TUNED, by_rules, launch_config_for, manager, tuning_key
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.matmul import matmul
from tinygrad_cl.netcl.runtime.tune import TILES, kept, tune

FOUND = devices()
DEVICE = next(device for device in FOUND.values() if not isinstance(device, str)).found
CPU = pytest.mark.skipif(by_rules(DEVICE).local_memory, reason="a GPU has nothing to choose")


@pytest.fixture(autouse=True)
def file(monkeypatch, tmp_path):
    monkeypatch.setenv(measurements.VARIABLE, str(tmp_path / "measured.json"))


def test_without_measurements_the_rules_decide():
    assert launch_config_for(DEVICE) == by_rules(DEVICE)
    assert kept(DEVICE) == {"settings": {}, "tried": []}


def keep(settings, key=None):
    measurements.keep({"tuned": {key or tuning_key(DEVICE): {"settings": settings, "tried": []}}})


def test_what_was_measured_is_used():
    settings = {"rows": 11, "vectors": 1, "packed": 4096, "panel": 8192}
    keep(settings)
    assert launch_config_for(DEVICE) == replace(by_rules(DEVICE), **settings)


@pytest.mark.parametrize("key", ["another device", f"{DEVICE.key}, generator 0"])
def test_what_was_measured_on_something_else_is_not(key):
    keep({"rows": 11}, key)
    assert launch_config_for(DEVICE) == by_rules(DEVICE)


@pytest.mark.parametrize(
    "settings", [{"rows": 0}, {"rows": "8"}, {"rows": None}, {"vectors": 1e9}, {"panel": -1}, {"lanes": {}}], ids=str
)
def test_values_that_cannot_be_are_left_out(settings):
    keep(settings)
    assert launch_config_for(DEVICE) == by_rules(DEVICE)


def candidate(settings):
    config = replace(by_rules(DEVICE), **settings)
    return manager.use(DEVICE, cl.CommandQueue(DEVICE.context), config)


SHAPES = [(1, 1, 1), (13, 5, 33), (31, 70, 130), (64, 64, 64)]
FLAGS = list(itertools.product((False, True), repeat=2))


@CPU
@pytest.mark.parametrize("settings", [*TILES[::3], {"packed": 1, "panel": 1024}, {"packed": 1, "rows": 14}], ids=str)
def test_every_candidate_is_right_on_odd_shapes_with_as_many_launches(settings):
    rng, device, plain = np.random.default_rng(0), candidate(settings), candidate({})
    for (m, k, n), (turn_a, turn_b) in itertools.product(SHAPES, FLAGS):
        a, b = rng.normal(size=(m, k)).astype(np.float32), rng.normal(size=(k, n)).astype(np.float32)
        launches = []
        for each in (device, plain):
            x = Tensor.from_host(each.queue, np.ascontiguousarray(a.T if turn_a else a))
            y = Tensor.from_host(each.queue, np.ascontiguousarray(b.T if turn_b else b))
            seen = []
            with each.watched_by(seen.append), each.pool.poisoned():
                assert close(matmul(x, y, turn_a, turn_b).to_host(), a @ b, "float32", k * 10)
            launches.append(len(seen))
        assert launches[0] == launches[1]


@CPU
def test_tuning_tries_the_candidates_and_keeps_what_wins():
    result = tune(DEVICE, sizes=(16,), tiles=TILES[:2])
    assert [settings for settings, _ in result["tried"]][:2] == TILES[:2]
    assert all(0 < ratio for _, ratio in result["tried"]) and set(result["settings"]) <= set(TUNED)
    assert kept(DEVICE) == json.loads(json.dumps(result))
    assert launch_config_for(DEVICE) == replace(by_rules(DEVICE), **result["settings"])


@CPU
def test_when_the_time_is_over_the_rules_stay():
    result = tune(DEVICE, sizes=(16,), seconds=0)
    assert result == {"settings": {}, "tried": []}


def test_the_command_shows_what_was_tried():
    measurements.keep({"tuned": {tuning_key(DEVICE): {"settings": {"rows": 12}, "tried": [[{"rows": 12}, 0.85]]}}})
    shown = subprocess.run([sys.executable, "-m", "tinygrad_cl", "tune", "--show"], capture_output=True, text=True)
    assert shown.returncode == 0 and shown.stderr == ""
    assert "0.85" in shown.stdout and "rows 12." in shown.stdout
