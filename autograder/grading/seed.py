"""The secret seed of a class: COURSE_SEED, or a file that git ignores, made on first use."""

import os
import secrets

from autograder import paths


def course_seed() -> str:
    """COURSE_SEED from the environment, else the content of .course_seed, which is written if it is not there."""
    seed = os.environ.get("COURSE_SEED", "").strip()
    if seed:
        return seed
    try:
        with open(paths.SEED_FILE, "x", encoding="ascii") as file:
            os.chmod(paths.SEED_FILE, 0o600)
            file.write(secrets.token_hex(16) + "\n")
    except FileExistsError:
        pass
    return paths.SEED_FILE.read_text(encoding="ascii").strip()
