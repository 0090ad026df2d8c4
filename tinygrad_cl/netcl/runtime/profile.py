"""What ran on the device, for how long, and how long it had nothing to do."""

import contextlib
import time
from collections import defaultdict
from dataclasses import dataclass

import pyopencl as cl

from tinygrad_cl.netcl.core.device import manager


@dataclass(frozen=True)
class ProfileRecord:
    """One command: its name ("fill", "copy", "write" and "read" are no kernels), and when it was
    queued, started and ended, in seconds since its device's first one was queued.

    nbytes   of the buffers it was given, a little more than the tensors: it can have read and
             written as much
    """

    name: str
    queued: float
    start: float
    end: float
    nbytes: int

    @property
    def duration_ms(self):
        """How long it ran, in milliseconds."""
        return (self.end - self.start) * 1e3


class Profile:
    """What `with profile() as p:` saw.

    records   the commands of all threads and devices, a ProfileRecord for each, in order
    wall      seconds from the beginning of the `with` until all was done
    busy      seconds that commands ran
    """

    def __init__(self):
        self.records, self.wall = [], 0.0

    @property
    def busy(self):
        return sum(record.end - record.start for record in self.records)

    def timeline(self):
        """[(name, queued, start, end)] in seconds, for a plot: `viz.plot_timeline`."""
        return [(each.name, each.queued, each.start, each.end) for each in self.records]

    def totals(self):
        """[(name, count, seconds, bytes)] over all commands of a name, the longest first."""
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

    def table(self):
        """The totals as text, and how much of the time the device was busy."""
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
def profile():
    """`with profile() as p:` — afterwards p, a Profile, knows every command of the devices in use:
    `print(p.table())`. It waits for all commands, before and after.

    RuntimeError if a queue that was used takes no times.
    """
    found, devices, seen = Profile(), manager.devices(), []

    def watcher(device):
        def note(command):  # without its operands, whose memory others wait for
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
