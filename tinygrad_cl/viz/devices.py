"""`draw_devices(report)`: the doctor's report as a picture; `draw_launch(n)`: which work-item computes which element."""

import textwrap
from typing import Any

from tinygrad_cl.viz.svg import BLUE, GREEN, INK, LINE, MUTED, ORANGE, PALE, SKY, VERMILLION, Picture, path, rect, text

WIDTH, MARGIN, CARD, LANE = 720, 18, 96, 9  # pixels


def draw_devices(report: dict[str, Any]) -> Picture:
    """A card for every OpenCL device of `tinygrad_cl.opencl.report()`; the one that computes has a thick frame.

    The squares are its vector lanes, one row per core if a core has several lanes.
    """
    devices = report["devices"]
    count = (
        f"{len(devices)} OpenCL device{'s' * (len(devices) != 1)} on this computer" if devices else "No OpenCL device"
    )
    parts, y = [text(MARGIN, 30, count, size=15, bold=True)], 46
    for device in devices:
        chosen = device["position"] == report["chosen"]
        colour = GREEN if chosen else LINE if device["works"] else VERMILLION
        verdict = "✓ you compute here" if chosen else "✓ works" if device["works"] else "✗ does not work"
        parts += [
            rect(MARGIN, y, WIDTH - 2 * MARGIN, CARD, PALE[colour], colour, 6, 3 if chosen else 1.5),
            text(MARGIN + 14, y + 25, device["name"], size=14, bold=True),
            text(WIDTH - MARGIN - 14, y + 25, verdict, anchor="end", bold=True, fill=INK),
            text(MARGIN + 14, y + 44, f"{device['kind']} · {device['platform']} · {device['version']}", fill=MUTED),
        ]
        if device["works"]:
            unit = "core" if device["kind"] == "CPU" else "compute unit"
            double = "single and double precision" if device["fp64"] else "single precision only (float32)"
            parts += [
                text(
                    MARGIN + 14,
                    y + 63,
                    f"{plural(device['compute_units'], unit)}, each likes "
                    f"{plural(device['vector_width'], 'float')} at once",
                ),
                text(MARGIN + 14, y + 82, f"{double} · a kernel was built and ran in {device['seconds']:.1f} s"),
            ]
            parts += draw_cores(device, y)
        else:
            parts += [
                text(MARGIN + 14, y + 65 + 17 * i, line, fill=VERMILLION)
                for i, line in enumerate(textwrap.wrap(device["fault"], 100, max_lines=2, placeholder=" …"))
            ]
        y += CARD + 10
    sentences = [f"Why this one: {report['reason']}." if report["chosen"] else report["reason"], report["advice"]]
    for line in [line for sentence in sentences for line in textwrap.wrap(sentence.replace("`", ""), 108)]:
        parts.append(text(MARGIN, y + 14, line, size=12.5, fill=MUTED if report["chosen"] else VERMILLION))
        y += 18
    return Picture(parts, WIDTH, y + 16, "OpenCL devices")


def draw_cores(device, y):
    """A device's cores and lanes as rows of squares, at the right of its card; as many as fit."""
    lanes = min(device["vector_width"], 16) if device["vector_width"] > 1 else min(device["compute_units"], 16)
    rows = min(device["compute_units"] * device["vector_width"] // lanes, 6)
    left = WIDTH - MARGIN - 14 - lanes * LANE
    return [
        rect(left + lane * LANE, y + 36 + row * LANE, LANE - 2, LANE - 2, SKY, SKY, 1)
        for row in range(rows)
        for lane in range(lanes)
    ]


def plural(count, noun):
    return f"{count} {noun}{'s' * (count != 1)}"


def draw_launch(n: int = 10, local_size: int = 4) -> Picture:
    """Which work-item computes which of n numbers, in groups of `local_size`; the last work-items may have none.

    >>> draw_launch(10, 4)
    Picture(12 work-items for 10 numbers, 652 × 222)
    """
    if n < 1 or local_size < 1:
        raise ValueError(f"a launch needs n ≥ 1 and local_size ≥ 1, not {n} and {local_size}")
    work_items = -(-n // local_size) * local_size
    if work_items > 32:
        raise ValueError(f"{work_items} work-items are too many to draw; 32 are the most")
    cell, left, parts = 44, 92, []
    width = left + work_items * cell + (work_items // local_size - 1) * 4 + 24
    for y, name in ((54, "group"), (89, "work-item"), (166, "out")):
        parts.append(text(left - 14, y, name, size=12, anchor="end", fill=MUTED))
    for i in range(work_items):
        x = left + i * cell + (i // local_size) * 4
        if i % local_size == 0:
            group = local_size * cell - 4
            parts += [
                path(f"M{x} 62v-4h{group}v4", stroke=MUTED),
                text(x + group / 2, 52, i // local_size, size=12, anchor="middle", fill=MUTED),
            ]
        colour = BLUE if i < n else VERMILLION
        parts += [
            rect(x, 68, cell - 4, 32, PALE[SKY if i < n else VERMILLION], colour, 16),
            text(x + cell / 2 - 2, 89, i, anchor="middle", mono=True, bold=True),
            path(f"M{x + cell / 2 - 2} 102V140", stroke=colour, dash=None if i < n else "3 3"),
            rect(
                x,
                146,
                cell - 4,
                30,
                PALE[ORANGE] if i < n else "#fff",
                ORANGE if i < n else VERMILLION,
                2,
                dash=None if i < n else "3 3",
            ),
            text(
                x + cell / 2 - 2,
                166,
                f"[{i}]" if i < n else "?",
                size=12,
                anchor="middle",
                mono=True,
                fill=INK if i < n else VERMILLION,
            ),
        ]
    title = f"{plural(work_items, 'work-item')} for {plural(n, 'number')}"
    note = (
        f"{plural(work_items - n, 'work-item')} too many: what would be written there?"
        if work_items > n
        else "no work-item too many, this time"
    )
    parts += [
        text(MARGIN, 28, title, size=15, bold=True),
        text(left, 202, note, size=12.5, fill=VERMILLION if work_items > n else MUTED),
    ]
    return Picture(parts, max(width, 420), 222, title)
