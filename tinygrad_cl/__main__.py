"""The package's command line: `python -m tinygrad_cl doctor`."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tinygrad_cl.opencl.doctor import report
from tinygrad_cl.opencl.install import install

NO_DEVICE = 3  # the exit code


@click.group()
def main() -> None:
    """The reference package of the course."""


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Write the report as JSON, for programs.")
@click.option("--install", "wants_install", is_flag=True, help="Install a driver if no device works.")
def doctor(as_json: bool, wants_install: bool) -> None:
    """Show every OpenCL device, whether a kernel runs on it, and which one is chosen and why.

    The exit code is 3 if no device can be chosen.
    """
    say = Console(stderr=as_json, highlight=False, markup=False).print
    found = install(say) if wants_install else report()
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        show(found, Console(highlight=False))
    sys.exit(0 if found["chosen"] else NO_DEVICE)


def show(found: dict[str, Any], console: Console) -> None:
    """Print the report as a table, and the choice as a sentence."""
    table = Table(
        "", "device", "OpenCL", "fp64", "a kernel", "GFLOP/s", "GB/s", "launch",
        box=box.SIMPLE_HEAD, pad_edge=False,
    )  # fmt: skip
    for device in found["devices"]:
        table.add_row(
            "→" if device["position"] == found["chosen"] else "",
            "\n".join(_lines(device)),
            device["version"].removeprefix("OpenCL "),
            "yes" if device["fp64"] else "no",
            "[green]works[/]" if device["works"] else "[red]fails[/]",
            *_speed(device["speed"]),
        )
    if found["devices"]:
        console.print(table)
        console.print(f"NumPy's matrix product reaches {found['numpy']:.0f} GFLOP/s on this computer.")
    for device in found["devices"]:
        if device["slow"]:
            console.print(escape(f"{device['name']}, {device['driver']}: {device['slow']}"))
    chosen = next((device["name"] for device in found["devices"] if device["position"] == found["chosen"]), "")
    works = any(device["works"] for device in found["devices"])
    if works or not found["advice"]:
        console.print(escape(f"{chosen}: {found['reason']}." if chosen else f"{found['reason']}."))
    if found["advice"]:
        console.print(escape(found["advice"]))


def _lines(device: dict[str, Any]) -> Iterator[str]:
    yield escape(device["name"])
    yield f"[dim]{escape('{kind} {position}, {platform}, {driver}'.format(**device))}[/]"
    if device["fault"]:
        yield f"[red]{escape(device['fault'])}[/]"


def _speed(speed: dict[str, float] | None) -> tuple[str, ...]:
    if speed is None:
        return "", "", ""
    return f"{speed['gflops']:.0f}", f"{speed['gigabytes']:.0f}", f"{speed['launch']:.0f} µs"


if __name__ == "__main__":
    main(prog_name="python -m tinygrad_cl")
