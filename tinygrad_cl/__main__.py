"""The package's command line: `python -m tinygrad_cl doctor` and `python -m tinygrad_cl tune`."""

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


@main.command()
@click.option("--show", "only_show", is_flag=True, help="Show what was measured before, and measure nothing.")
def tune(only_show: bool) -> None:
    """Measure which kernels of matrix products suit the device, about 20 seconds, and keep what wins.

    Engine 3 uses it from then on. Results do not change but for rounding.
    """
    from tinygrad_cl.netcl.runtime.tune import kept, tune
    from tinygrad_cl.opencl import NoDeviceError, default_device

    console = Console(highlight=False)
    try:
        device = default_device()
    except NoDeviceError as error:
        console.print(escape(f"{error}."))
        sys.exit(NO_DEVICE)
    found = kept(device) if only_show else tune(device)
    table = Table("time", "tried", box=box.SIMPLE_HEAD, pad_edge=False)
    for settings, ratio in found["tried"]:
        table.add_row(f"{ratio:.2f}", _settings(settings))
    if found["tried"]:
        console.print(table)
        console.print("Times are ratios to the best so far, and the last one to the rules without measurement.")
    console.print(escape(f"{device.name}: {_settings(found['settings']) or 'the rules without measurement'}."))


def _settings(settings: dict[str, int]) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in settings.items())


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
