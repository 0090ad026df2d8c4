"""Describing, trying and choosing OpenCL devices: made-up ones, and the one that is here."""

import warnings
from types import SimpleNamespace

import pyopencl as cl
import pytest

from tinygrad_cl.opencl import NoDeviceError, default_device, find_devices, find_fault
from tinygrad_cl.opencl.devices import choose, pin_threads


def made_up_platforms():
    """Oclgrind, then a driver without its hardware, then one whose GPU is broken, then a processor with two drivers."""
    return [
        made_up_platform("Oclgrind", ["Oclgrind Simulator", cl.device_type.CPU | cl.device_type.GPU]),
        SimpleNamespace(name="Empty", get_devices=no_hardware),
        made_up_platform("Nvidia CUDA", ["Broken 4090", cl.device_type.GPU], ["Working 3060", cl.device_type.GPU]),
        made_up_platform("Portable Computing Language", ["pthread-EPYC", cl.device_type.CPU]),
        made_up_platform("Portable Computing Language", ["cpu-EPYC", cl.device_type.CPU]),
    ]


def made_up_platform(name, *devices):
    handles = [
        SimpleNamespace(
            name=device_name, type=kind, version="OpenCL 3.0 made up", driver_version="1.0", max_compute_units=4,
            extensions="cl_khr_fp64 cl_khr_icd", preferred_vector_width_float=0,
        )
        for device_name, kind in devices
    ]  # fmt: skip
    return SimpleNamespace(name=name, get_devices=lambda: handles)


def no_hardware():
    raise cl.RuntimeError("clGetDeviceIDs", cl.status_code.DEVICE_NOT_FOUND)


def broken_is_broken(device):
    return "error: it is broken" if device.name.startswith("Broken") else ""


def choose_made_up(keep=lambda device: True, **environ):
    devices = [device for device in find_devices(made_up_platforms()) if keep(device)]
    return choose(devices, environ, broken_is_broken, {})


def test_devices_are_described_by_what_the_driver_says():
    devices = find_devices(made_up_platforms())
    assert [device.position for device in devices] == ["0:0", "2:0", "2:1", "3:0", "4:0"]
    assert [device.kind for device in devices] == ["CPU", "GPU", "GPU", "CPU", "CPU"]
    assert devices[1].facts() == {
        "name": "Broken 4090", "platform": "Nvidia CUDA", "position": "2:0", "kind": "GPU", "version": "OpenCL 3.0",
        "driver": "1.0", "fp64": True, "vector_width": 1, "compute_units": 4, "reason": "",
    }  # fmt: skip


def test_a_gpu_that_works_is_preferred_and_a_broken_one_passed_over():
    device = choose_made_up()
    assert device.name == "Working 3060"
    assert device.reason.startswith("the first GPU that works")
    assert "Broken 4090 (Nvidia CUDA): error: it is broken" in device.reason


def test_a_cpu_comes_before_the_interpreter_which_is_the_last_resort():
    assert choose_made_up(lambda device: device.kind == "CPU").name == "pthread-EPYC"
    interpreter = choose_made_up(lambda device: device.is_interpreter or device.name.startswith("Broken"))
    assert interpreter.name == "Oclgrind Simulator"
    assert "slow" in interpreter.reason


@pytest.mark.parametrize(
    "variable, wish, name",
    [
        ("TINYGRAD_CL_DEVICE", "oclgrind", "Oclgrind Simulator"),
        ("TINYGRAD_CL_DEVICE", "PORTABLE", "pthread-EPYC"),
        ("TINYGRAD_CL_DEVICE", "cpu-", "cpu-EPYC"),
        ("PYOPENCL_CTX", "3", "pthread-EPYC"),
        ("PYOPENCL_CTX", "2:1", "Working 3060"),
        ("PYOPENCL_CTX", "portable", "pthread-EPYC"),
        ("PYOPENCL_CTX", "nvidia:working", "Working 3060"),
        ("PYOPENCL_CTX", ":cpu", "cpu-EPYC"),
    ],
)
def test_both_variables_choose(variable, wish, name):
    device = choose_made_up(**{variable: wish})
    assert device.name == name
    assert f"{variable}={wish}" in device.reason


def test_our_variable_goes_before_pyopencls():
    assert choose_made_up(TINYGRAD_CL_DEVICE="oclgrind", PYOPENCL_CTX="3").name == "Oclgrind Simulator"


def test_an_empty_variable_is_no_wish():
    assert choose_made_up(TINYGRAD_CL_DEVICE="").name == "Working 3060"


@pytest.mark.parametrize(
    "variable, wish", [("TINYGRAD_CL_DEVICE", "amd"), ("PYOPENCL_CTX", "9"), ("PYOPENCL_CTX", "3:7")]
)
def test_a_wish_that_matches_nothing_is_told_what_there_is(variable, wish):
    with pytest.raises(NoDeviceError) as error:
        choose_made_up(**{variable: wish})
    assert str(error.value).startswith(f"{variable}={wish} matches no OpenCL device; there is: 0:0 Oclgrind Simulator")
    assert "\n" not in str(error.value)


def test_a_broken_device_that_was_asked_for_is_not_replaced_by_another():
    with pytest.raises(
        NoDeviceError, match="the device chosen by TINYGRAD_CL_DEVICE=4090 does not work: .*it is broken"
    ):
        choose_made_up(TINYGRAD_CL_DEVICE="4090")


def test_without_a_device_the_error_says_how_to_get_one():
    with pytest.raises(NoDeviceError, match="there is no OpenCL device here; `.* doctor --install` gets one"):
        choose_made_up(lambda device: False)
    with pytest.raises(NoDeviceError, match="no OpenCL device works here: Broken 4090 .*it is broken"):
        choose_made_up(lambda device: device.name.startswith("Broken"))


def test_the_default_device_is_kept_and_computes():
    device = default_device()
    assert device is default_device()
    assert device.context is device.context and device.queue is device.queue
    assert device.reason and find_fault(device) == ""


def test_building_a_kernel_warns_nobody(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default_device().build("#warning look out\n__kernel void k(__global int *a) { int unused; a[0] = 1; }")
    assert capfd.readouterr().err == ""


def test_a_kernel_that_does_not_build_or_computes_nonsense_is_a_fault():
    device = default_device()
    assert "error" in find_fault(device, "__kernel void test( { }")
    nonsense = (
        "__kernel void test(__global float *a, __global float *b, __global float *out) { out[get_global_id(0)] = 7; }"
    )
    assert find_fault(device, nonsense) == "a kernel ran, but gave wrong numbers"


@pytest.mark.parametrize(
    "cores, wish, pinned",
    [({0, 1, 2}, {}, "1"), ({1, 2}, {}, None), ({1, 2, 3}, {}, None), ({0, 1, 2}, {"POCL_AFFINITY": "0"}, "0")],
)
def test_threads_are_pinned_where_every_core_is_allowed_and_nobody_objects(cores, wish, pinned, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: cores, raising=False)
    environ = dict(wish)
    pin_threads(environ)
    assert environ.get("POCL_AFFINITY") == pinned


def test_without_a_word_on_cores_nothing_is_pinned(monkeypatch):
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    environ = {}
    pin_threads(environ)
    assert not environ


def choose_measured(gflops, keep=lambda device: True, **environ):
    """The choice where the doctor has measured: {name: what it reaches}."""
    devices = [device for device in find_devices(made_up_platforms()) if keep(device)]
    known = {device.key: gflops[device.name] for device in devices if device.name in gflops}
    return choose(devices, environ, broken_is_broken, known)


GFLOPS = {"Broken 4090": 9000.0, "Working 3060": 100.0, "pthread-EPYC": 50.0, "cpu-EPYC": 400.0}


def test_the_fastest_that_works_is_chosen_where_all_were_measured():
    device = choose_measured(GFLOPS)
    assert device.name == "cpu-EPYC" and device.reason.startswith("the fastest that works: ")
    assert "passed over Broken 4090 (Nvidia CUDA): error: it is broken" in device.reason
    assert choose_measured(GFLOPS | {"Working 3060": 401.0}).name == "Working 3060"


def test_one_that_was_not_measured_may_be_the_fastest_so_nothing_is_compared():
    for name in GFLOPS:
        device = choose_measured({other: GFLOPS[other] for other in GFLOPS if other != name})
        assert device.name == "Working 3060" and device.reason.startswith("the first GPU that works: ")


def test_the_user_decides_and_among_what_fits_the_measurements_do():
    assert choose_measured(GFLOPS, TINYGRAD_CL_DEVICE="portable").name == "cpu-EPYC"
    assert choose_measured(GFLOPS, TINYGRAD_CL_DEVICE="pthread").name == "pthread-EPYC"
    assert choose_measured(GFLOPS, TINYGRAD_CL_DEVICE="oclgrind").name == "Oclgrind Simulator"
