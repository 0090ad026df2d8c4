"""Run every benchmark, and write docs/performance.md and benchmarks/results.json.

    python benchmarks/report.py [--quick] [--rounds 15] [--only mlp fused] [--output FOLDER] [--against COMMIT]

With --against, our engines are compared with what they were at a commit, and nobody else takes part: that
page is printed, and written only where --output says.

`make bench` does it with the course's own Python. Another Python, in which the peers are installed
(`pip install -e '.[peers]'`), compares with them.
"""

import argparse
import ast
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import contenders
from against import against_page, old_tree
from tables import ROUNDS, machine_text, table
from targets import target_table

HERE = Path(__file__).parent
RANGES = "A range is over the ways of waiting, the sizes, the transpositions or the operations; the worst counts."
SCRIPTS = ("mlp", "fused", "matmul", "eager", "tensor", "scalar", "cold")


def run(name, options, tree=None):
    """The results of one script, which prints its tables; None if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        command = [
            sys.executable,
            str(HERE / f"{name}.py"),
            "--json",
            str(file),
            "--rounds",
            str(options.rounds),
            *["--quick"] * options.quick,
            *(["--against", str(tree)] if tree else []),
        ]
        print(f"\n== {name}.py", flush=True)
        failed = subprocess.run(command).returncode
        return None if failed else json.loads(file.read_text(encoding="utf-8"))


def page(results, options):
    """docs/performance.md, from {script: results}."""
    machine = next(result for result in results.values())["machine"]
    comparisons = [each for result in results.values() for each in result["comparisons"]]
    parts = [
        "# Performance",
        f"Written by `make bench` (`python benchmarks/report.py`),"
        f" {options.rounds} rounds; the numbers behind it are in `benchmarks/results.json`.",
    ]
    if options.quick:
        parts += ["A quick run on tiny sizes: its times mean nothing."]
    else:
        parts += ["## What was reached", target_table(comparisons), RANGES]
    parts += ["## Measured on", machine_text(machine), "## How", contenders.__doc__]
    for name, result in results.items():
        for number, comparison in enumerate(result["comparisons"]):
            parts += [f"## {comparison['title']}", *[described(name)] * (number == 0), table(comparison)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def described(name):
    """What a script says of itself."""
    return ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns that count")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: only to see that it runs")
    parser.add_argument(
        "--only", nargs="+", choices=SCRIPTS, default=SCRIPTS, metavar="SCRIPT", help=f"some of {', '.join(SCRIPTS)}"
    )
    parser.add_argument("--output", type=Path, help="write both files to this folder instead")
    parser.add_argument("--against", metavar="COMMIT", help="compare our engines with what they were at this commit")
    options = parser.parse_args()
    if options.against:
        with old_tree(options.against) as tree:
            results = {name: run(name, options, tree) for name in options.only}
    else:
        results = {name: run(name, options) for name in options.only}
    failed = [name for name, result in results.items() if result is None]
    results = {name: result for name, result in results.items() if result}
    if results and options.against:
        text = against_page(results, options)
        print(f"\n{text}")
        if options.output:
            (options.output / "against.md").write_text(text, encoding="utf-8")
            (options.output / "against.json").write_text(
                json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )
    elif results:
        text, data = (options.output or HERE.parent / "docs", options.output or HERE)
        (text / "performance.md").write_text(page(results, options), encoding="utf-8")
        (data / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"\nwritten: {text / 'performance.md'}, {data / 'results.json'}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
