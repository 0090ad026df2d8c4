"""Attacks: none earns a point, reads what it must not, leaves a process behind, or stops the grader."""

import json
import tempfile
from functools import lru_cache
from pathlib import Path

import psutil
import pytest
from attacks import ATTACKS, CANARY

from autograder.grading.normalise import normalised_submission
from autograder.grading.sample_class import MODULE
from autograder.judge.kernel import Sandbox
from autograder.judge.notebook import judge_notebook
from autograder.judge.notebook_run import Limits
from autograder.judge.report import HEADLINES
from autograder.sandbox.bubblewrap import why_not
from autograder.sandbox.course import course_for
from autograder.sandbox.folders import kept_folder

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())
LIMITS = Limits(cell_seconds=3, seconds=40, deaths=2)
SEED = f"{CANARY}, the seed"


def graded(make):
    """The notebook that comes out, and what the judge says of it."""
    notebook = normalised_submission(json.dumps(make()).encode(), MODULE)
    return notebook, judge_notebook(notebook, MODULE, SEED, LIMITS, Sandbox(), unknown=True)


@lru_cache
def points_of(honest) -> dict[str, float]:
    return {name: verdict.points for name, verdict in graded(honest)[1].verdicts.items()}


def processes_in(folder) -> list[psutil.Process]:
    """The processes whose kernel was started in that folder."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(folder) in " ".join(process.info["cmdline"] or ())
    ]


def processes_left_in(folder, seconds=10.0) -> list[psutil.Process]:
    """Those that do not end by themselves: what a sandbox holds is killed with it, and gone a moment later."""
    return psutil.wait_procs(processes_in(folder), timeout=seconds)[1]


def withstands(attack, monkeypatch):
    """Grade it in a place full of canaries, and look at what came of it."""
    course_for(MODULE)  # made once for each process, and not in the folder that goes at the end
    before = set(kept_folder().glob("kernel-*"))
    with tempfile.TemporaryDirectory(prefix="atk") as folder:
        monkeypatch.setenv("COURSE_SEED", SEED)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        other = Path(folder, "submitted", "another-student", MODULE, f"{MODULE}.ipynb")
        other.parent.mkdir(parents=True)
        for path in (other, Path(folder, "gradebook.db"), Path(folder, "course_seed")):
            path.write_text(CANARY)
            path.chmod(0o644)
        Path(folder).chmod(0o755)
        notebook, judgement = graded(attack.make)
        honest = points_of(attack.honest) if attack.honest else {}
        for name, verdict in judgement.verdicts.items():
            assert verdict.points <= honest.get(name, 0), f"{name} gained: {verdict}"
            assert verdict.status in HEADLINES
        text = json.dumps([cell.outputs for cell in notebook.cells if cell.cell_type == "code"])
        assert CANARY not in text, "it has read what it must not"
        assert "stack.extend" not in text, "it has read the reference"
        assert not attack.flag or any(attack.flag in flag for flag in judgement.flags), judgement.flags
        assert other.read_text() == Path(folder, "gradebook.db").read_text() == CANARY
        assert len(json.dumps(notebook)) < 2_000_000
        assert not processes_left_in(folder), "it left a process behind"
        left = [*Path(folder).glob("course-*"), *set(kept_folder().glob("kernel-*")) - before]
        assert not left, "it left files behind"


# What is forged is read by the same few lines, which test_verdict feeds with any bytes.
SHORT = [
    name
    if name in ("forged ones", "forged pickle", "forged shape of billions") or not name.startswith(("forged", "JSON"))
    else pytest.param(name, marks=pytest.mark.long)
    for name in ATTACKS
]


@pytest.mark.parametrize("name", SHORT)
def test_an_attack_gains_nothing(name, monkeypatch):
    withstands(ATTACKS[name], monkeypatch)
