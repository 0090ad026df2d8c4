"""What a device reaches: measured in a moment, and kept for every process."""

import os
import stat

import numpy as np
import pytest

from tinygrad_cl import measurements
from tinygrad_cl.opencl import find_devices, find_fault
from tinygrad_cl.opencl.speed import CHAINS, measure, multiply_adds, numpy_gflops

DEVICES = [device for device in find_devices() if not device.is_interpreter and not find_fault(device)]
every_device = pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)


@every_device
def test_a_device_is_measured_and_the_numbers_can_be_true(device):
    speed = measure(device)
    assert 0.1 < speed.gflops < 1e6  # a slow core; ten times the fastest GPU
    assert 0.1 < speed.gigabytes < 1e5
    assert 0.01 < speed.launch < 1e5


@every_device
@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_the_kernel_that_is_timed_computes_what_is_counted(device, lanes):
    """c ← 0.999 c + 0.001 moves every accumulator towards 1; it is not optimised away."""
    import pyopencl as cl

    kernel = cl.Kernel(device.build(multiply_adds(lanes)), "arithmetic")
    out = np.zeros((3, lanes), np.float32)
    buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, out.nbytes)
    for rounds in (0, 1, 500):
        kernel(device.queue, (3,), None, np.int32(rounds), buffer)
        cl.enqueue_copy(device.queue, out, buffer)
        starts = np.arange(3)[:, None] + np.arange(CHAINS)
        expected = (1 + (starts - 1) * 0.999**rounds).sum(1)
        np.testing.assert_allclose(out, np.repeat(expected[:, None], lanes, 1), rtol=1e-4)


def test_numpy_is_measured():
    assert 0.1 < numpy_gflops() < 1e5


@pytest.fixture
def file(monkeypatch, tmp_path):
    path = tmp_path / "some" / "folder" / "measured.json"
    monkeypatch.setenv(measurements.VARIABLE, str(path))
    return path


def test_what_is_kept_is_read_and_added_to(file):
    assert measurements.read() == {}
    measurements.keep({"a": 1})
    measurements.keep({"b": [2]})
    assert measurements.read() == {"a": 1, "b": [2]} and os.listdir(file.parent) == [file.name]


@pytest.mark.parametrize("text", ["", "{", "[1]", "\udce4"])
def test_a_damaged_file_is_as_good_as_none(file, text):
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8", "surrogateescape")
    assert measurements.read() == {}
    measurements.keep({"a": 1})
    assert measurements.read() == {"a": 1}


def test_a_place_that_cannot_be_written_costs_nothing(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(measurements.VARIABLE, str(tmp_path / "file" / "measured.json"))
    measurements.keep({"a": 1})
    assert measurements.read() == {} and stat.S_ISREG(os.stat(tmp_path / "file").st_mode)
