"""What becomes of each foreign test, as a pytest plugin; and the word of an adapter for what it has
not.

    PEERS_VERDICTS=FILE python -m pytest -p verdicts …

writes {test: [verdict, reason]}. A verdict is "passed", "failed", "not offered", or "skipped", by
the suite itself.
"""

import json
import os
from pathlib import Path

import pytest


class NotOffered(AttributeError):
    """Our engine has not what a test asks for, so the test does not apply; the message names it."""


verdicts = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    name = f"{item.path.name}::{item.nodeid.partition('::')[2]}"
    if report.skipped:
        verdicts[name] = ["skipped", str(report.longrepr[2]).removeprefix("Skipped: ")]
    elif report.failed:
        missing = not_offered(call.excinfo.value)
        verdicts[name] = ["not offered", missing] if missing else ["failed", brief(call.excinfo)]
    elif report.when == "call":
        verdicts[name] = ["passed", ""]
    return report


def not_offered(error):
    """The words of a NotOffered behind this exception, if there is one."""
    while error is not None:
        if isinstance(error, NotOffered):
            return str(error)
        error = error.__cause__ or error.__context__
    return None


def brief(excinfo):
    """An exception in one line."""
    lines = [line for line in str(excinfo.value).splitlines() if line.strip()]
    return f"{excinfo.typename}: {' '.join(lines)[:200]}"


def pytest_collectreport(report):
    """A file that cannot even be imported."""
    if report.failed:
        lines = [line for line in str(report.longrepr).splitlines() if line.startswith("E ")]
        reason = lines[-1].lstrip("E ") if lines else "it cannot be collected"
        verdicts[Path(report.fspath).name] = ["failed", reason]


def pytest_sessionfinish(session):
    Path(os.environ["PEERS_VERDICTS"]).write_text(json.dumps(verdicts, indent=1), encoding="utf-8")
