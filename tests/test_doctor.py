"""The doctor's report, its command line and its advice, with drivers that crash and hang."""

import json
import os
import subprocess
import sys

import pytest

from tinygrad_cl.opencl import default_device
from tinygrad_cl.opencl.doctor import advice, report
from tinygrad_cl.opencl.install import WHEEL_DRIVERS


def test_the_report_on_this_computer_agrees_with_the_default_device():
    found = report()
    assert found["chosen"] == default_device().position
    assert found["advice"] == ""
    assert all(device["works"] == (device["fault"] == "") for device in found["devices"])


FACTS = {
    "name": "cpu", "platform": "Made up", "position": "0:0", "kind": "CPU", "version": "OpenCL 3.0", "driver": "1.0",
    "fp64": True, "vector_width": 8, "compute_units": 4,
}  # fmt: skip
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


def run_doctor(*options, **environ):
    """The doctor as a user runs it."""
    command = [sys.executable, "-m", "tinygrad_cl", "doctor", *options]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environ)


def test_the_doctor_shows_every_device_and_the_choice():
    process = run_doctor(COLUMNS="200")
    assert process.returncode == 0
    assert process.stderr == ""
    for text in [default_device().name, default_device().platform, "fp64", "works", "gave the right numbers"]:
        assert text in process.stdout


def test_json_is_the_report():
    process = run_doctor("--json")
    assert process.returncode == 0
    assert json.loads(process.stdout)["chosen"] == default_device().position


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
