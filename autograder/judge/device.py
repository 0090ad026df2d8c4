"""The finite-difference check: the same observations, with a `Value` or operations whose gradients are central differences on the device."""

from functools import lru_cache

import numpy as np

from autograder.checks import find
from autograder.checks.cases import NO_DERIVATIVE, Case
from autograder.checks.check import Check
from autograder.checks.inside import Trial, run_cases
from autograder.checks.tools import DeviceTools, Tools
from autograder.judge.expected import ReferenceFailed, cases_of
from autograder.judge.outcome import of_label, same, same_arrays
from autograder.judge.plan import request
from autograder.judge.verdict import Verdict

MEASURING = 5  # times the time of a check, since each number in an array costs two evaluations
# How far central differences may lie from a right gradient: (rtol, atol) by the precision of the device.
TOLERANCES = {"float64": (1e-5, 1e-7), "float32": (2e-2, 2e-3)}


def names_on_device(check: Check) -> dict:
    """The namespace for a check's observations in which gradients are measured: of a traced `Value`, or as the check itself says."""
    if check.measured is None:
        from tinygrad_cl.traced import TracedValue

        return {"Value": TracedValue}
    from autograder.judge.reference import module_of, reference_namespace
    from tinygrad_cl import measured

    reference = reference_namespace(module_of(check.name))
    return reference | check.measured(measured, reference)


def add_finite_differences(verdict: Verdict, trials: list[Trial], seed: str) -> Verdict:
    if any(wrong.got.error["type"] == "NotImplementedError" for wrong in verdict.wrong if wrong.got.error):
        return verdict
    verdict.device = compare_with_finite_differences(verdict.check, trials, seed)
    return verdict


@lru_cache(maxsize=256)
def measured_cases(name: str, seed: str) -> dict[int, Trial]:
    """{number of a case: its outcome, by central differences on the device}, for the first cases of each aspect that asks for it."""
    from tinygrad_cl.traced import TracedValue

    check, cases = find(name), cases_of(name, seed)
    names = names_on_device(check)
    tools = DeviceTools() if names.get("Value") is TracedValue else Tools()
    numbers = []
    for aspect in check.aspects:
        usable = [
            n for n, (its, case) in enumerate(cases.plan) if its is aspect and is_measurable(case, cases.expected[n])
        ]
        numbers += usable[: aspect.device]
    requests = [request(*cases.plan[n]) for n in numbers]
    return dict(zip(numbers, run_cases(requests, names, tools, check.seconds * MEASURING)))


def is_measurable(case: Case, expected: Trial | None) -> bool:
    return (
        NO_DERIVATIVE not in case.tags
        and expected is not None
        and not any(outcome.error for outcome in expected.values())
    )


def compare_with_finite_differences(check: Check, trials: list[Trial], seed: str) -> str:
    """One sentence on the student's gradients and the device's; "" where none are asked for."""
    from tinygrad_cl.opencl import NoDeviceError, default_device

    if not any(aspect.device for aspect in check.aspects):
        return ""
    try:
        device, measured = default_device(), measured_cases(check.name, seed)
    except NoDeviceError:
        return "No OpenCL device: not compared with finite differences (python -m tinygrad_cl doctor says what to do)."
    precision = "float64" if device.fp64 else "float32"
    cases, wrong, worst = cases_of(check.name, seed), 0, 0.0
    for number, there in measured.items():
        aspect = cases.plan[number][0]
        allowed = np.maximum(TOLERANCES[precision], (aspect.rtol, aspect.atol))
        expected, mine = cases.expected[number] or Trial(), trials[number] if number < len(trials) else Trial()
        for label, outcome in there.items():
            if label.startswith("~"):
                continue
            if outcome.array is None:
                return f"The device {device.name} gave no answer for case {number}: {outcome.error['message']}"
            if not same(expected[label], outcome, *allowed):
                raise ReferenceFailed(
                    f"{check.name} cannot be checked on this machine: in case {number} the reference's {label or 'result'} "
                    f"is not what central differences on {device.name} give"
                )
            got = of_label(mine, label)
            if got.array is None or outcome.array.dtype.kind == "U":  # an error, or no number: there is no difference
                continue
            if not same_arrays(outcome.array, got.array, *allowed):
                wrong += 1
                break
            if outcome.array.dtype.kind == "f":
                worst = max(worst, float(np.abs(outcome.array - got.array).max(initial=0)))
    place = f"Central differences on {device.name} ({precision})"
    if not wrong and cases.failed(trials):
        return ""  # it would seem to contradict what was found elsewhere
    if wrong:
        return f"{place} say so, too: they differ from yours in {wrong} of {len(measured)} cases."
    return f"{place} agree in {len(measured)} cases, to {worst:.1e}."
