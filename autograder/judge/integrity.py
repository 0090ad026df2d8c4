"""Integrity flags that are read off the notebook's code and its numbers. The instructor sees them; they change no mark."""

import contextlib

import numpy as np

from autograder.checks.check import Check
from autograder.checks.inside import Trial
from autograder.judge.expected import expected_outcomes
from autograder.judge.expected_cases import cases_of
from autograder.judge.outcome import of_quantity
from autograder.lesson.imports import names_imported

LIBRARIES = {
    "autograd",
    "casadi",
    "jax",
    "micrograd",
    "mxnet",
    "netcl",
    "numdifftools",
    "sympy",
    "tensorflow",
    "tinygrad",
    "torch",
}
ROUNDING = 1e-12  # relative; rounding errors in float64 are far below, errors of central differences above


def measured_gradient(check: Check, trials: list[Trial], seed: str) -> str:
    """A flag if a gradient is right, but only to the precision of finite differences; else "".

    The gradients are the quantities that the check compares with finite differences on the device.
    """
    if check.aspects:
        return measured_cases(check, trials, seed)
    expected = expected_outcomes(check.name, seed, len(trials))
    for name in check.device:
        errors = [
            relative_error(want[name].array, of_quantity(have, name).array) for want, have in zip(expected, trials)
        ]
        if errors and max(errors) < max(check.rtol, 1e-4) and np.median(errors) > ROUNDING:
            return f"{check.name}, {name}: right to {max(errors):.0e} only, the precision of finite differences"
    return ""


def measured_cases(check: Check, trials: list[Trial], seed: str) -> str:
    """The same for a check of cases: its aspects that are held against the device."""
    cases = cases_of(check.name, seed)
    for aspect in (aspect for aspect in check.aspects if aspect.device):
        errors = [
            relative_error(want[label].array, of_quantity(got, label).array)
            for (its, _), want, got in zip(cases.plan, cases.expected, trials)
            if its is aspect and want is not None
            for label in want
            if want[label].array is not None and want[label].array.dtype == np.float64 and want[label].array.any()
        ]
        if errors and max(errors) < max(aspect.rtol, 1e-4) and np.median(errors) > ROUNDING:
            return f"{check.name}, {aspect.name}: right to {max(errors):.0e} only, the precision of finite differences"
    return ""


def relative_error(expected, got) -> float:
    """The largest difference by the largest number; infinite where the two cannot be compared in float64."""
    if (
        expected is None
        or got is None
        or expected.shape != got.shape
        or {expected.dtype, got.dtype} != {np.dtype(np.float64)}
    ):
        return np.inf
    size = np.abs(expected).max(initial=0)
    with np.errstate(all="ignore"):
        return float(np.abs(got - expected).max(initial=0) / size) if size else np.inf


def libraries_in(cells) -> list[str]:
    """The libraries for automatic differentiation that cells of code import."""
    names = set()
    for cell in cells:
        if cell.cell_type == "code":
            with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                names |= {name.partition(".")[0] for name in names_imported(cell.source)}
    return [f"imports {name}" for name in sorted(names & LIBRARIES)]
