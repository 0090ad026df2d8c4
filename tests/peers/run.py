"""Run the tests of micrograd, autograd, tinygrad and others on our engines, and write down how much passes.

    python tests/peers/run.py [--only autograd] [--output docs/peers.md]

Their sources are fetched once, into a cache outside the checkout (PEERS_CACHE, by default
~/.cache/tinygrad-cl-course/peers). Each suite runs in a process of its own, where the package that
it imports is an adapter (`shadow/`): the peer's names on top of our engine. Nothing of the peers is
copied. The exit status is 1 if a test fails for a reason that `suites.py` does not name.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import words
from suites import SUITES, fetch

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "peers.md"
UNKNOWN = "unexplained: "
INTRODUCTION = """# The peers' own tests, on our engines

Written by `make peers`. The test suites of micrograd, HIPS autograd, tinygrad, minitorch, MXNet, needle
(homework 1) and TinyTorch (module 05) are fetched and run on our engines, through adapters
(`tests/peers/shadow`) that offer the peer's names; nothing of the peers is copied. A test that asks
for what an engine has not is «not applicable»; one that fails does so for the reason given below the table.
"""


def missing(suite):
    """The first module that the suite needs and that is not installed, or None."""
    return next((name for name in suite.needs if not importlib.util.find_spec(name)), None)


def verdicts(suite):
    """{test: (verdict, reason)} of a suite that was fetched. The reason of a failure is that in
    `suite.failures`, or begins with UNKNOWN.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, settings = Path(folder) / "verdicts.json", Path(folder) / "pytest.ini"
        settings.write_text("[pytest]\n")  # in place of the suite's own
        path = [HERE, HERE / "shadow" / suite.package, *[suite.folder] * bool(suite.git)]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "PEERS_SUITE": str(suite.folder),
            "PEERS_VERDICTS": str(file),
            "PEERS_ENGINE": str(suite.engine),
            "OMP_NUM_THREADS": "1",
        }  # PyTorch's threads wait by spinning
        plugins = [word for name in ("verdicts", *suite.plugins) for word in ("-p", name)]
        command = [
            sys.executable,
            "-m",
            "pytest",
            *plugins,
            "-p",
            "no:cacheprovider",
            "-c",
            str(settings),
            "-q",
            "--tb=no",
            "-W",
            "ignore",
            *[str(suite.folder / each) for each in suite.files],
        ]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
        if not file.exists():
            sys.exit(f"{suite.name}: pytest did not come to an end:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        found = json.loads(file.read_text(encoding="utf-8"))
    return {
        test: (verdict, suite.reason(test) or UNKNOWN + reason) if verdict == "failed" else (verdict, reason)
        for test, (verdict, reason) in found.items()
    }


def unexplained(found):
    return {test: reason for test, (_, reason) in found.items() if reason.startswith(UNKNOWN)}


def counted(reasons):
    """Reasons, the most frequent ones first, with their numbers where there are several."""
    return ", ".join(f"{reason} ({count})" if count > 1 else reason for reason, count in Counter(reasons).most_common())


def section(suite, found):
    """What there is to say of a suite below the table."""

    def of(verdict):
        return {test.partition("::")[2]: reason for test, (its, reason) in found.items() if its == verdict}

    lines = []
    if failed := of("failed"):
        lines += ["Failed:", "", *[f"- `{test}`: {why}" for test, why in failed.items()], ""]
    if absent := of("not offered"):
        lines += [f"Not applicable, since the engine has not: {counted(absent.values())}.", ""]
    if skipped := of("skipped"):
        lines += [f"Skipped by the suite itself: {counted(skipped.values())}.", ""]
    if suite.others:
        lines += ["Files that are not run:", "", *[f"- {files}: {why}" for files, why in suite.others.items()], ""]
    return [f"## {suite.name}, on engine {suite.engine}", "", *lines] if lines else []


def page(results):
    """docs/peers.md, from [(suite, its verdicts, or why it did not run)]."""
    lines = [
        INTRODUCTION,
        "| suite | version | engine | tests | passed | failed | not applicable | skipped |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    below = []
    for suite, found in results:
        row = f"| {suite.name} | {suite.version[:12]} | {suite.engine} |"
        if isinstance(found, str):
            lines.append(f"{row} not run: {found} | | | | |")
            continue
        count = Counter(verdict for verdict, _ in found.values())
        numbers = [count[each] for each in ("passed", "failed", "not offered", "skipped")]
        lines.append(f"{row} {' | '.join(map(str, [len(found), *numbers]))} |")
        below += section(suite, found)
    if importlib.util.find_spec("torch"):
        lines += ["", f"Where a suite compares with PyTorch, that is {version('torch')}."]
    return "\n".join([*lines, "", words.section(), *below]).strip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="PACKAGE", help="the suites of these packages")
    parser.add_argument("--output", type=Path, help="the page to write (default docs/peers.md; none with --only)")
    options = parser.parse_args()
    results, surprises = [], {}
    for suite in SUITES:
        if options.only and suite.package not in options.only:
            continue
        print(f"{suite.name}, engine {suite.engine}: ", end="", flush=True)
        if name := missing(suite):
            results.append((suite, f"{name} is not installed"))
            print(results[-1][1])
            continue
        try:
            fetch(suite)
        except (OSError, subprocess.CalledProcessError):
            where = suite.git or "the package index"
            results.append((suite, f"its sources could not be fetched from {where}"))
            print(results[-1][1])
            continue
        found = verdicts(suite)
        counts = Counter(verdict for verdict, _ in found.values())
        print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
        surprises |= unexplained(found)
        results.append((suite, found))
    output = options.output or (None if options.only else PAGE)
    if output:
        output.write_text(page(results), encoding="utf-8")
    for test, reason in surprises.items():
        print(f"{test}: {reason}")
    sys.exit(bool(surprises))


if __name__ == "__main__":
    main()
