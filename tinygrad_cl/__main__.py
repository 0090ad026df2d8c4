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
        "", "device", "OpenCL", "fp64", "floats\nat once", "a kernel\non it", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for device in found["devices"]:
        table.add_row(
            "→" if device["position"] == found["chosen"] else "",
            "\n".join(_lines(device)),
            device["version"].removeprefix("OpenCL "),
            "yes" if device["fp64"] else "no",
            str(device["vector_width"]),
            f"[green]works[/]\n{device['seconds']:.1f} s" if device["works"] else "[red]fails[/]",
        )
    if found["devices"]:
        console.print(table)
    names = [f"{device['name']}: " for device in found["devices"] if device["position"] == found["chosen"]]
    console.print(escape("".join(names) + (found["advice"] or f"{found['reason']}.")))


def _lines(device: dict[str, Any]) -> Iterator[str]:
    yield escape(device["name"])
    yield f"[dim]{escape('{kind} {position}, {platform}, {driver}'.format(**device))}[/]"
    if device["fault"]:
        yield f"[red]{escape(device['fault'])}[/]"


if __name__ == "__main__":
    main(prog_name="python -m tinygrad_cl")
