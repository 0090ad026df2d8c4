"""What a benchmark prints and keeps: Markdown tables, and the same as JSON."""

import argparse
import importlib.metadata
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from contenders import NAP, PROCESSOR, PROGRAMS, UNSET, against, compare

ROUNDS = 15
PER_SECOND = {"s": 1, "ms": 1e3, "µs": 1e6}
PACKAGES = ["numpy", "pyopencl", "torch", "jax", "tinygrad", "netcl", "micrograd", "autograd"]
PREFIXES = ("OPENBLAS_", "OMP_", "MKL_", "POCL_", "XLA_")


def main(description, comparisons):
    """The command line of a benchmark: measure, print, and write JSON where it is asked for.

    comparisons   comparisons(quick) gives the list of Comparisons; quick: tiny, to see that it runs
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns that count (default {ROUNDS})")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: only to see that it runs")
    parser.add_argument("--json", type=Path, help="write the results to this file, too")
    parser.add_argument("--against", type=Path, help="compare only our engines, with those in this older tree")
    options = parser.parse_args()
    machine = describe_machine()
    print(machine_text(machine), flush=True)
    results = []
    for comparison in chosen(comparisons(options.quick), options.against):
        rows, left_out = compare(comparison, options.rounds, 0 if options.quick else NAP)
        result = {
            "key": comparison.key,
            "title": comparison.title,
            "unit": comparison.unit,
            "first": comparison.contenders[0].name,
            "work": comparison.work,
            "rounds": max(1, options.rounds // comparison.fewer),
            "rows": [asdict(row) for row in rows],
            "left_out": left_out,
        }
        print(f"\n## {comparison.title}\n\n{table(result)}", flush=True)
        results.append(result)
    if options.json:
        options.json.write_text(
            json.dumps({"machine": machine, "comparisons": results}, indent=1, ensure_ascii=False), encoding="utf-8"
        )


def chosen(comparisons, tree):
    """What is measured: all of them, or our engines beside what they are in an older tree."""
    return [pair for each in comparisons for pair in against(each, tree)] if tree else comparisons


def table(result):
    """The Markdown table of one comparison, and who is left out."""
    lines = [
        f"| | contender | {result['unit']} | times {result['first']} | half of the rounds |",
        "|---|---|---:|---:|---:|",
    ]
    previous = None
    for row in result["rows"]:
        what = measured(row)
        lines.append(
            f"| {'' if what == previous else what} | {row['contender']} | {figure(result, row)} | {ratios(row)} |"
        )
        previous = what
    lines += [""] if result["left_out"] else []
    lines += [f"- left out: {name} ({reason})" for name, reason in result["left_out"].items()]
    return "\n".join(lines)


def measured(row):
    """The mode and the part of a row, in words."""
    return ", ".join(each for each in (row["mode"], row["part"]) if each not in ("", "step"))


def ratios(row):
    """The last two cells of a row."""
    if row["ratio"] is None:
        return "– | –"
    return f"{row['ratio']:.2f} | {row['low']:.2f} – {row['high']:.2f}"


def unit_of(result, row):
    """The unit of a row: that of its table, except where a part has its own."""
    return {PROCESSOR: "s", PROGRAMS: ""}.get(row["part"], result["unit"])


def figure(result, row):
    """The median of a row in its unit, in three digits or more."""
    if (unit := unit_of(result, row)) == "GFLOP/s":
        value = result["work"][row["mode"]] / row["median"] / 1e9
    else:
        value = row["median"] * PER_SECOND.get(unit, 1)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def describe_machine():
    """What it all ran on and with, without the name of the machine."""
    found = {name: version(name) for name in PACKAGES}
    return {
        "processor": processor(),
        "cpus": os.cpu_count(),
        "system": platform.system(),
        "device": device(),
        "python": platform.python_version(),
        "packages": {name: number for name, number in found.items() if number},
        "not installed": [name for name, number in found.items() if not number],
        "environment": {
            name: value for name, value in sorted(os.environ.items()) if name.startswith(PREFIXES) and name not in UNSET
        },
    }


def machine_text(machine):
    """The same in a few lines."""
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    variables = ", ".join(f"{name}={value}" for name, value in machine["environment"].items())
    lines = [
        f"{machine['processor']}, {machine['cpus']} CPUs, {machine['system']}",
        f"OpenCL device: {machine['device']}",
        f"Python {machine['python']}, {packages}",
        f"not installed: {', '.join(machine['not installed']) or 'none'}",
        f"{' and '.join(UNSET)} unset; {variables or 'no other variable of that kind is set'}",
    ]
    return "\n".join(f"- {line}" for line in lines)


def version(name):
    """The version of an installed package; None if it is not there."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor():
    """The model of the processor, as the system says it."""
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def device():
    """The OpenCL device of the course. Looking for it sets POCL_AFFINITY, if it may; contenders
    inherit that, so that PoCL serves netcl and tinygrad as it serves us.
    """
    # Here, since this module is loaded in every contender's process, where only its own is to be.
    from tinygrad_cl.opencl import NoDeviceError, default_device

    try:
        found = default_device()
    except NoDeviceError as error:
        return f"none ({error})"
    return f"{found.name} ({found.platform}, driver {found.driver}, {found.kind})"
