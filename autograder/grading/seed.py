"""The secret seed of a class: COURSE_SEED, or a file that git ignores, made on first use; and what each submission gets of it."""

import contextlib
import hashlib
import json
import os
import secrets
from pathlib import Path

from autograder import paths
from autograder.errors import CourseError
from autograder.files import write_atomically


def course_seed() -> str:
    """COURSE_SEED from the environment, else the content of .course_seed, which is written if it is not there."""
    seed = os.environ.get("COURSE_SEED", "").strip()
    if seed:
        return seed
    try:
        with contextlib.suppress(FileExistsError), open(paths.SEED_FILE, "x", encoding="ascii") as file:
            os.chmod(paths.SEED_FILE, 0o600)
            file.write(secrets.token_hex(16) + "\n")
        return paths.SEED_FILE.read_text(encoding="ascii").strip()
    except PermissionError:  # somebody else's installation
        raise CourseError(
            f"{paths.SEED_FILE}, the secret seed of the class, is not yours to read or write; set COURSE_SEED to a long "
            "random text that you keep, or use an installation of your own"
        ) from None


class Seeds:
    """The seeds that the submissions of a class are judged with.

    Those that are first judged in one run share a seed; what is handed in later gets another. A notebook can print the
    inputs of its checks into its page of feedback, and then they help nobody any more. OUT/seeds.json says in which run a
    submission was first met, and is written before it is judged: whenever it is judged again, its seed is the same.
    """

    def __init__(self, out: Path):
        self.file, self.secret = out / "seeds.json", course_seed()
        try:
            self.runs: dict[str, int] = json.loads(self.file.read_bytes()) if self.file.exists() else {}
            self.run = max(self.runs.values(), default=0) + 1
        except (ValueError, TypeError, AttributeError):
            raise CourseError(
                f"{self.file} does not hold the runs of the submissions any more; restore it, or delete it together with "
                "the secret seed (.course_seed): then all are graded with a new one"
            ) from None
        self.saved = True

    def of(self, student: str, module: str, data: bytes) -> str:
        """The seed for a submission. Save before it is judged."""
        known = hashlib.sha256(repr((student, module)).encode() + data).hexdigest()
        if known not in self.runs:
            self.runs[known], self.saved = self.run, False
        return self.of_run(self.runs[known])

    @property
    def latest(self) -> str:
        """The seed of the submissions that came last."""
        return self.of_run(max(self.runs.values(), default=1))

    def of_run(self, run: int) -> str:
        return self.secret if run == 1 else f"{self.secret}, run {run}"

    def save(self) -> None:
        if not self.saved:
            write_atomically(self.file, json.dumps(self.runs, indent=0))
            self.saved = True
