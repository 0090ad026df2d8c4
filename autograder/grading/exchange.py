"""nbgrader's exchange: hand a module out to the accounts of one machine, a JupyterHub say, collect what they hand in, return feedback."""

import hashlib
import os
import warnings
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from nbgrader.exchange.default import Exchange

from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.grading.class_files import file_in, stamp_of
from autograder.grading.gradebook import ClassFolder, read_json
from autograder.grading.records import TIMESTAMP, Submission

SECRET = "submission_secret.txt"  # nbgrader's, beside what was handed in

NO_FOLDER = "The exchange {root} is no folder that everybody may write to; make it (`mkdir -p {root}; chmod ugo+rwx {root}`), or name another one with --exchange"


def hand_out(modules: list[str], out: Path, exchange: str = "") -> None:
    """Make OUT a class folder with these modules, and release them: students fetch them with nbgrader, and submit."""
    folder = ClassFolder(out, modules)
    for module in modules:
        run(folder, exchange, "release_assignment", module)


def collect(modules: list[str], out: Path, exchange: str = "") -> int:
    """Copy the newest submission of each student to OUT/submitted; returns how many students have one there."""
    folder = ClassFolder(out, modules)
    for module in modules:
        run(folder, exchange, "collect", module)
    return len({path.parent.name for module in modules for path in (out / "submitted").glob(f"*/{module}")})


def hand_back(modules: list[str], out: Path, exchange: str = "") -> tuple[int, list[str]]:
    """Put the pages of feedback where `nbgrader fetch_feedback` finds them, each for its student alone.

    Returns how many, and a sentence for each submission that has none, or one of an earlier version.
    """
    folder, count, left = ClassFolder(out, modules), 0, []
    for module in modules:
        for submitted in sorted((out / "submitted").glob(f"*/{module}/{SECRET}")):
            place = Submission(submitted.parents[1].name, module, submitted.parent)
            page = file_in(out, "feedback", place, "html")
            stamp = stamp_of(read_json(file_in(out, "autograded", place)) or {})
            if not page.exists() or stamp.get("file") != hashlib.sha256(place.read()).hexdigest():
                left.append(f"{place.student}/{module} is not graded since it was handed in; grade, and return again")
                continue
            # nbgrader knows by the secret whose page it is; both files come from the student
            write_atomically(page.with_name(SECRET), submitted.read_text(encoding="utf-8", errors="replace"))
            write_atomically(page.with_name(TIMESTAMP), f"{place.handed_in[0]} UTC")
            run(folder, exchange, "release_feedback", module, place.student)
            count += 1
    return count, left


def run(folder: ClassFolder, exchange: str, step: str, module: str, *more: str) -> None:
    """A step of nbgrader's with its exchange; what goes wrong is one sentence."""
    config = folder.config.copy()
    if exchange:
        config.Exchange.root = exchange
    api = NbGraderAPI(config=config)
    root = Path(Exchange(config=config).root)
    if not os.access(root, os.W_OK | os.X_OK):
        raise CourseError(NO_FOLDER.format(root=root))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # release_feedback misspells an argument of traitlets'
        result = getattr(api, step)(module, *more)
    if not result["success"]:
        said = [line for line in (result.get("log") or result.get("error") or "").splitlines() if line.strip()]
        reason = next((line for line in said if "ERROR" in line), said[-1] if said else "no reason was given")
        raise CourseError(f"nbgrader {step} {module} failed: {reason.split('ERROR')[-1].strip(' |]')}")
