"""The finite-difference check: the same probe, with a `Value` or operations whose gradients are central differences on the device."""

from functools import lru_cache

import numpy as np

from autograder.checks import find
from autograder.checks.check import Check
from autograder.checks.inside import Trial, run_probe
from autograder.checks.tools import DeviceTools, Tools
from autograder.judge.outcome import same_arrays
from autograder.judge.verdict import Verdict

MEASURING = 5  # times the time of a check, since each number in an array costs two evaluations
# How far central differences may lie from a right gradient: (rtol, atol) by the precision of the device.
TOLERANCES = {"float64": (1e-5, 1e-7), "float32": (2e-2, 2e-3)}


@lru_cache(maxsize=256)
def device_outcomes(check_name: str, seed: str, trials: int):
    """(name of the device, its precision, trials of the device's quantities); NoDeviceError where there is none."""
    from tinygrad_cl.opencl import default_device
    from tinygrad_cl.traced import TracedValue

    check, device = find(check_name), default_device()
    names = names_on_device(check)
    tools = DeviceTools() if names.get("Value") is TracedValue else Tools()
    seconds = check.seconds * MEASURING
    measured = [
        run_probe(check.standalone_probe, names, number, tools, seconds, only=check.device)
        for number in check.seeds(seed, trials)
    ]
    return device.name, "float64" if device.fp64 else "float32", measured


def names_on_device(check: Check) -> dict:
    """The namespace for a check's probe in which gradients are measured: of a traced `Value`, or as the check itself says."""
    if check.measured is None:
        from tinygrad_cl.traced import TracedValue

        return {"Value": TracedValue}
    from autograder.judge.reference import module_of, reference_namespace
    from tinygrad_cl import measured

    reference = reference_namespace(module_of(check.name))
    return reference | check.measured(measured, reference)


def compare_with_finite_differences(check: Check, trials: list[Trial], seed: str) -> str:
    """One sentence: do the student's gradients agree with central differences on the device? "" if the check asks for none."""
    from tinygrad_cl.opencl import NoDeviceError

    if not check.device:
        return ""
    try:
        name, precision, measured = device_outcomes(check.name, seed, len(trials))
    except NoDeviceError:
        return "No OpenCL device: not compared with finite differences (python -m tinygrad_cl doctor says what to do)."
    wrong, worst = [], 0.0
    allowed = np.maximum(TOLERANCES[precision], (check.rtol, check.atol))
    for quantity in check.device:
        for device, student in zip(measured, trials):
            there, here = device.get(quantity), student.get(quantity)
            if there is None or there.array is None:
                reason = (there or device.get("")).error["message"] if there or device.get("") else "no answer"
                return f"The device {name} gave no answer for {quantity}: {reason}"
            if here is None or here.array is None or not same_arrays(there.array, here.array, *allowed):
                wrong.append(f"{quantity} = {there.array:.6g}" if there.array.ndim == 0 else quantity)
                break
            worst = max(worst, float(abs(there.array - here.array).max(initial=0)))
    place = f"Central differences on {name} ({precision})"
    if wrong:
        return f"{place} say otherwise, too: {'; '.join(wrong)}."
    return f"{place} agree, to {worst:.1e}."


def add_finite_differences(verdict: Verdict, trials: list[Trial], seed: str) -> Verdict:
    if any(wrong.got.error["type"] == "NotImplementedError" for wrong in verdict.wrong if wrong.got.error):
        return verdict
    verdict.device = compare_with_finite_differences(verdict.check, trials, seed)
    return verdict
