"""What is worth a look: gradients that were measured, and libraries that do the work."""

import nbformat
import numpy as np
import pytest

from autograder.checks import all_checks, find
from autograder.checks.inside import Outcome, Trial
from autograder.judge.expected import edited_sources, expected_outcomes
from autograder.judge.integrity import libraries_in, measured_gradient
from autograder.judge.reference import module_of, reference_namespace

SEED, TRIALS = "a seed", 3


def trials_of(check, off):
    """The reference's own trials, the device's quantities multiplied by 1 + off."""
    return [
        Trial(
            (name, Outcome(outcome.array * (1 + off)) if name in check.device else outcome)
            for name, outcome in trial.items()
        )
        for trial in expected_outcomes(check.name, SEED, TRIALS)
    ]


@pytest.mark.parametrize(
    "off, told", [(0.0, False), (1e-15, False), (3e-14, False), (1e-10, True), (1e-7, True), (1e-2, False)]
)
def test_gradients_that_are_right_to_few_digits_are_told_apart(off, told):
    check = find("value.mul")
    assert bool(measured_gradient(check, trials_of(check, off), SEED)) == told


def test_what_came_back_may_be_anything():
    check = find("value.mul")
    for trials in (
        [],
        [Trial()] * TRIALS,
        [Trial({"a.grad": Outcome(error={"type": "BadReply", "message": "", "where": ""})})] * TRIALS,
        [Trial({"a.grad": Outcome(np.full((), np.nan))})] * TRIALS,
        [Trial({"a.grad": Outcome(np.array("text"))})] * TRIALS,
    ):
        assert measured_gradient(check, trials, SEED) == ""


@pytest.mark.parametrize(
    "source, found",
    [
        ("import torch.nn as nn", ["imports torch"]),
        ("from jax import numpy", ["imports jax"]),
        ("importlib.import_module('autograd.numpy')", ["imports autograd"]),
        ("f = __import__('sympy')", ["imports sympy"]),
        ("import numpy\nfrom autograder.notebook import check\nfrom . import torch", []),
        ("import torch as", []),
        ("%timeit import torch", []),
        ("(" * 10_000, []),
        ("\0", []),
    ],
)
def test_libraries_are_found_in_whatever_somebody_wrote(source, found):
    cells = [nbformat.v4.new_code_cell(source), nbformat.v4.new_markdown_cell("import tensorflow")]
    assert libraries_in(cells) == found


@pytest.mark.parametrize(
    "check", [check for check in all_checks().values() if check.device], ids=lambda check: check.name
)
def test_no_right_way_to_write_it_looks_measured(check):
    for variant in check.variants:
        namespace = reference_namespace(module_of(check.name), edited_sources(check, variant.edit))
        assert measured_gradient(check, check.run(namespace, SEED, TRIALS), SEED) == ""
