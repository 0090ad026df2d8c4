"""The doctor's report, its command line and its advice, with drivers that crash and hang."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tinygrad_cl import measurements
from tinygrad_cl.opencl import default_device
from tinygrad_cl.opencl.doctor import advice, report
from tinygrad_cl.opencl.install import WHEEL_DRIVERS


def default_position():
    """Of the default device in a new process, which reads what the doctor has kept."""
    asked = "from tinygrad_cl.opencl import default_device; print(default_device().position)"
    return subprocess.check_output([sys.executable, "-c", asked], text=True).strip()


def test_the_report_on_this_computer_agrees_with_the_default_device():
    found = report()
    assert found["chosen"] == default_position()
    good = [device for device in found["devices"] if device["works"] and not device["slow"]]
    assert found["advice"] == ("" if good else advice(works=True))
    assert all(device["works"] == (device["fault"] == "") for device in found["devices"])


FACTS = {
    "name": "cpu", "platform": "Made up", "position": "0:0", "kind": "CPU", "version": "OpenCL 3.0", "driver": "1.0",
    "fp64": True, "vector_width": 8, "compute_units": 4,
}  # fmt: skip


@pytest.fixture(autouse=True)
def measured_elsewhere(monkeypatch, tmp_path):
    """Made-up devices do not get into the user's own file of measurements."""
    path = measurements.file()
    if path.exists():
        shutil.copy(path, tmp_path / "measured.json")
    monkeypatch.setenv(measurements.VARIABLE, str(tmp_path / "measured.json"))


LIST_ONE = "import json, sys; facts = {facts}; print(json.dumps([facts])) if len(sys.argv) == 1 else {trial}"


@pytest.mark.parametrize(
    "trial, fault",
    [
        ("__import__('os').abort()", "the driver crashed (SIGABRT)"),
        ("sys.exit('a driver complains')", "the driver crashed (a driver complains)"),
        ("__import__('time').sleep(60)", "the driver did not end within 3 s"),
        ("print('\"error: unknown target CPU\"')", "error: unknown target CPU"),
    ],
)
def test_a_driver_that_crashes_or_hangs_harms_nobody(trial, fault):
    found = report({}, (sys.executable, "-S", "-c", LIST_ONE.format(facts=FACTS, trial=trial)), patience=3)
    assert [device["fault"] for device in found["devices"]] == [fault]
    assert found["chosen"] is None
    assert found["advice"].startswith("No OpenCL device works here: ")


def test_a_driver_that_crashes_as_soon_as_it_is_listed_harms_nobody():
    found = report({}, (sys.executable, "-S", "-c", "import os; os.abort()"))
    assert found["devices"] == []
    assert found["reason"] == "listing the OpenCL devices crashed (SIGABRT)"


SPEED = {"gflops": 0.001, "gigabytes": 2.0, "launch": 3.0}
TWO = f"""
import json, sys
facts = {FACTS!r}
if len(sys.argv) == 1:
    print(json.dumps([facts, facts | {{"position": "1:0", "name": "gpu", "kind": "GPU", "driver": "2.0"}}]))
elif len(sys.argv) == 2:
    print('""')
else:
    print(json.dumps({SPEED!r} | {{"gflops": {{"0:0": 1e6, "1:0": 0.001}}[sys.argv[1]]}}))
"""


def test_the_fastest_is_chosen_and_what_was_measured_is_kept():
    found = report({}, (sys.executable, "-S", "-c", TWO))
    fast, slow = found["devices"]
    assert (fast["speed"], slow["speed"]) == (SPEED | {"gflops": 1e6}, SPEED)
    assert found["chosen"] == "0:0" and found["reason"].startswith("the fastest that works")
    assert fast["slow"] == "" and slow["slow"].startswith("It reaches 0.00 of")
    assert f"of NumPy's matrix product on this computer (0 of {found['numpy']:.0f} GFLOP/s)" in slow["slow"]
    assert found["advice"] == ""
    kept = measurements.read()["gflops"]
    assert kept["Made up, cpu, 1.0"] == 1e6 and kept["Made up, gpu, 2.0"] == 0.001


def test_where_only_slow_devices_work_the_advice_names_a_faster_one():
    found = report({"TINYGRAD_CL_DEVICE": "gpu"}, (sys.executable, "-S", "-c", TWO.replace("1e6", "0.001")))
    assert found["chosen"] == "1:0"
    assert found["advice"] == advice(works=True) and found["advice"].startswith("For a faster device, ")


def test_a_device_that_cannot_be_measured_still_works():
    found = report({}, (sys.executable, "-S", "-c", TWO.replace("else:", "else:\n    sys.exit(1)")))
    assert [(device["works"], device["speed"], device["slow"]) for device in found["devices"]] == [(True, None, "")] * 2
    assert found["chosen"] is not None


def run_doctor(*options, **environ):
    """The doctor as a user runs it."""
    command = [sys.executable, "-m", "tinygrad_cl", "doctor", *options]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environ)


def test_the_doctor_shows_every_device_and_the_choice():
    process = run_doctor(COLUMNS="200")
    assert process.returncode == 0
    assert process.stderr == ""
    shown = [default_device().name, default_device().platform, "fp64", "works", "gave the right numbers", "GFLOP/s"]
    for text in [*shown, "NumPy's matrix product reaches "]:
        assert text in process.stdout


def test_json_is_the_report():
    process = run_doctor("--json")
    assert process.returncode == 0
    found = json.loads(process.stdout)
    assert found["chosen"] == default_position()


@pytest.mark.skipif(
    list(WHEEL_DRIVERS.glob("*.icd")) != [], reason="PyOpenCL always sees the drivers installed beside it"
)
def test_without_any_device_the_doctor_ends_with_exit_code_3_and_one_sentence(tmp_path):
    process = run_doctor(OCL_ICD_VENDORS=f"{tmp_path}/")
    assert process.returncode == 3
    assert " ".join(process.stdout.split()) == advice()


def test_a_name_that_matches_nothing_ends_with_exit_code_3():
    process = run_doctor(TINYGRAD_CL_DEVICE="no such device")
    assert process.returncode == 3
    assert "TINYGRAD_CL_DEVICE=no such device matches no OpenCL device; there is: " in " ".join(process.stdout.split())


@pytest.mark.parametrize(
    "system, linux, conda, command",
    [
        ("linux", "debian", False, "sudo apt-get install pocl-opencl-icd"),
        ("linux", "ubuntu debian", False, "sudo apt-get install pocl-opencl-icd"),
        ("linux", "fedora", False, "sudo dnf install pocl"),
        ("linux", "manjaro arch", False, "sudo pacman -S pocl"),
        ("linux", "opensuse-leap suse opensuse", False, "sudo zypper install pocl"),
        ("linux", "nixos", False, "python -m tinygrad_cl doctor --install"),
        ("darwin", "", False, "conda env create -f environment.yml"),
        ("win32", "", False, "conda env create -f environment.yml"),
        ("linux", "debian", True, "conda install -c conda-forge pocl"),
    ],
)
def test_the_advice_fits_the_system(system, linux, conda, command):
    sentence = advice(system, linux, conda)
    assert f"`{command}`" in sentence
    assert sentence.endswith(".") and sentence.count(". ") == 0
    faster = advice(system, linux, conda, works=True)
    assert faster.startswith("For a faster device, ") and (f"`{command}`" in faster or "package manager" in faster)
    assert "--install" not in faster
