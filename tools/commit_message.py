"""Holds a commit message to the rule: a subject of at most 72 characters, then an empty line, then the reasons.

    python tools/commit_message.py FILE

pre-commit runs it when you commit; FILE is what git wrote the message to.
"""

import sys
from pathlib import Path

LONGEST = 72
MADE_BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")
SCISSORS = "# ------------------------ >8 ------------------------"  # git writes the difference below it


def fault(message: str) -> str:
    """What is wrong with a message, in one sentence; "" where nothing is."""
    above = message.partition(SCISSORS)[0]
    lines = [line.rstrip() for line in above.splitlines() if not line.startswith("#")]
    while lines and not lines[0]:
        del lines[0]
    if not lines:
        return ""  # git itself refuses it
    if lines[0].startswith(MADE_BY_GIT):
        return ""
    if len(lines[0]) > LONGEST:
        return f"The subject has {len(lines[0])} characters; say it in at most {LONGEST}."
    if len(lines) > 1 and lines[1]:
        return "Leave the second line empty: the first is the subject, the reasons come after."
    return ""


if __name__ == "__main__":
    sys.exit(fault(Path(sys.argv[1]).read_text(encoding="utf-8")) or 0)
