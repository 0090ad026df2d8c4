"""nbgrader's exchange: hand a module out to the accounts of one machine, a JupyterHub say, and collect what they hand in."""

import os
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from nbgrader.exchange.default import Exchange

from autograder.errors import CourseError
from autograder.grading.gradebook import ClassFolder

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


def run(folder: ClassFolder, exchange: str, step: str, module: str) -> None:
    """A step of nbgrader's with its exchange; what goes wrong is one sentence."""
    config = folder.config.copy()
    if exchange:
        config.Exchange.root = exchange
    api = NbGraderAPI(config=config)
    root = Path(Exchange(config=config).root)
    if not os.access(root, os.W_OK | os.X_OK):
        raise CourseError(NO_FOLDER.format(root=root))
    result = getattr(api, step)(module)
    if not result["success"]:
        said = [line for line in (result.get("log") or result.get("error") or "").splitlines() if line.strip()]
        reason = next((line for line in said if "ERROR" in line), said[-1] if said else "no reason was given")
        raise CourseError(f"nbgrader {step} {module} failed: {reason.split('ERROR')[-1].strip(' |]')}")
