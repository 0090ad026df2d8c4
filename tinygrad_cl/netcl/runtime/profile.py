"""Profiling: which commands ran on the device, for how long, and how long the device was idle."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import pyopencl as cl

from tinygrad_cl.netcl.core.device import manager


@dataclass(frozen=True)
class ProfileRecord:
    """One command: its name (a kernel, "fill", "copy", "write" or "read"), and when it was queued,
    started and ended, in seconds since the first command of its device was queued.

    nbytes   bytes of its buffers, an upper bound of what it read and wrote; slightly more than the
             bytes of the tensors
    """

    name: str
    queued: float
    start: float
    end: float
    nbytes: int

    @property
    def duration_ms(self) -> float:
        """The duration in milliseconds."""
        return (self.end - self.start) * 1e3


class Profile:
    """The result of `with profile() as p:`.

    records   a ProfileRecord for each command of all threads and devices, in order
    wall      seconds from the start of the `with` until all commands had finished
    busy      total seconds in which commands ran
    """

    def __init__(self) -> None:
        self.records: list[ProfileRecord] = []
        self.wall = 0.0

    @property
    def busy(self) -> float:
        return sum(record.end - record.start for record in self.records)

    def timeline(self) -> list[tuple[str, float, float, float]]:
        """[(name, queued, start, end)] in seconds, for a plot: `viz.plot_timeline`."""
        return [(each.name, each.queued, each.start, each.end) for each in self.records]

    def totals(self) -> list[tuple[str, int, float, int]]:
        """[(name, count, seconds, bytes)], summed over all commands of a name, the longest first."""
        groups = defaultdict(list)
        for record in self.records:
            groups[record.name].append(record)
        return sorted(
            (
                (name, len(group), sum(each.end - each.start for each in group), sum(each.nbytes for each in group))
                for name, group in groups.items()
            ),
            key=lambda row: -row[2],
        )

    def table(self) -> str:
        """The totals as text, and the share of the time in which the device was busy."""
        rows = [("", "count", "total µs", "share", "µs each", "MB each")]
        busy = self.busy or 1.0
        for name, count, seconds, nbytes in self.totals():
            rows.append(
                (
                    name,
                    str(count),
                    f"{seconds * 1e6:.1f}",
                    f"{seconds / busy:.0%}",
                    f"{seconds / count * 1e6:.1f}",
                    f"{nbytes / count / 1e6:.3f}",
                )
            )
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *[cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]])
            for row in rows
        ]
        share = self.busy / self.wall if self.wall else 0.0
        lines.append(
            f"{len(self.records)} commands ran {self.busy * 1e3:.3f} ms of "
            f"{self.wall * 1e3:.3f} ms: the device was busy {share:.0%} of the time"
        )
        return "\n".join(lines)

    def __repr__(self):
        count = len(self.records)
        return f"Profile({count} command{'s' * (count != 1)}, {self.busy * 1e3:.3f} ms)"


@contextlib.contextmanager
def profile() -> Iterator[Profile]:
    """`with profile() as p:` — afterwards the Profile p has a record of every command of the devices in
    use: `print(p.table())`. Waits for all commands at the start and at the end.

    RuntimeError if a queue was used that has no profiling.
    """
    found, devices, seen = Profile(), manager.devices(), []

    def watcher(device):
        def note(command):  # without its operands, so that their memory can be freed
            seen.append((device, command.name, command.event, command.nbytes))

        return note

    with contextlib.ExitStack() as stack:
        for device in devices:
            device.queue.finish()
            stack.enter_context(device.watched_by(watcher(device)))
        begin = time.perf_counter()
        yield found
        for device in devices:
            device.queue.finish()
        found.wall = time.perf_counter() - begin
    found.records = records(seen)


def records(seen):
    """A ProfileRecord for each (device, name, event, bytes)."""
    times, first = [], {}
    for device, _, event, _ in seen:
        if not device.queue.properties & cl.command_queue_properties.PROFILING_ENABLE:
            raise RuntimeError(
                f"the queue of {device} takes no times: make it with properties="
                "cl.command_queue_properties.PROFILING_ENABLE"
            )
        profile = event.profile
        times.append((profile.queued, profile.start, profile.end))
        first[device] = min(first.get(device, profile.queued), profile.queued)
    return [
        ProfileRecord(name, *[(each - first[device]) * 1e-9 for each in three], nbytes)
        for (device, name, _, nbytes), three in zip(seen, times)
    ]
