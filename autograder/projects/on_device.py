"""What a call enqueued on a device, and the same commands once more on other numbers: so it is known that they compute the result.

A result that the host has computed, that is kept from an earlier call, or that comes from commands beside the device's own
methods, does not follow when the numbers of the inputs change and the commands run again.
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.projects.task import Broken, run, same
from tinygrad_cl.netcl.core.commands import Command, Fill, Launch, Transfer
from tinygrad_cl.netcl.core.device import Device, manager
from tinygrad_cl.netcl.core.memory import SLACK
from tinygrad_cl.netcl.core.tensor import Tensor

UNTOUCHED = 0xFF  # the bytes of memory that is poisoned
KEPT = 40  # results that live at the same time, where each must have memory of its own


@dataclass(frozen=True)
class Call:
    """What a function returned, and the commands that it enqueued: each with the file that asked for it. They keep their memory."""

    result: Any
    commands: list[tuple[Command, str]]

    def again(self, device: Device) -> None:
        """Enqueue the commands once more, but for what the host wrote: that stays as it is."""
        from_host = {
            buffer.int_ptr for each, _ in self.commands if is_write(each) for buffer in each.buffers()
        }  # a fill of it, by the poison, would come after it
        for command, _ in self.commands:
            if isinstance(command, Fill) and command.operands[0].int_ptr in from_host:
                continue
            if not isinstance(command, Transfer):
                command.again(device.queue)()  # type: ignore[attr-defined] # Launch, Fill and Copy have it

    def launches(self) -> list[tuple[Launch, str]]:
        return [(each, file) for each, file in self.commands if isinstance(each, Launch)]


def on(device: Device | None) -> Device:
    """The device that was asked for, or the default one."""
    return device or manager.default("auto")


def is_write(command: Command) -> bool:
    return isinstance(command, Transfer) and command.name == "write"


def called(device: Device, case: str, function: Callable, *args: Any) -> Call:
    """The call of a function, which is a part of a solution. New memory holds NaN until somebody writes it."""
    commands: list[tuple[Command, str]] = []

    def note(command: Command) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.endswith(("core/device.py", r"core\device.py")):
            frame = frame.f_back
        commands.append((command, frame.f_code.co_filename))

    with device.watched_by(note), device.pool.poisoned():
        result = run(case, function, *args)
    return Call(result, commands)


def tensor(case: str, result: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The numbers of a result. Broken unless it is a float32 Tensor of this shape."""
    if not isinstance(result, Tensor):
        why = "Of a Node, return its `.value`." if type(result).__name__ == "Node" else ""
        raise Broken(case, f"a Tensor of shape {shape}", f"{type(result).__name__}", why)
    if result.shape != shape or result.dtype != np.float32:
        raise Broken(case, f"a Tensor of shape {shape}, float32", f"one of shape {result.shape}, {result.dtype}")
    return result.to_host()


def stays_inside(case: str, call: Call, *inputs: Tensor) -> None:
    """Broken if a call wrote behind the numbers of its result or of its inputs (from `fresh`), where poison was.

    A result that lies in a larger piece of memory may have other numbers behind it.
    """
    result = call.result
    poisoned = {each.operands[0].int_ptr: each.size for each, _ in call.commands if isinstance(each, Fill)}
    whole = poisoned.get(result.buffer.int_ptr) == result.nbytes + SLACK
    for each in [*inputs, *([result] if whole else [])]:
        raw = np.empty(each.nbytes + SLACK, np.uint8)
        each.device.read(raw, each.buffer)
        changed = int((raw[each.nbytes :] != UNTOUCHED).sum())
        if changed:
            raise Broken(
                case,
                "no number written outside of a Tensor",
                f"{changed} bytes changed behind a Tensor of shape {each.shape}",
                "Does a work-item that has nothing to compute do nothing?",
            )


def fresh(device: Device, *arrays: np.ndarray) -> list[Tensor]:
    """A Tensor for each array, with poison behind its numbers."""
    with device.pool.poisoned():
        return [Tensor.from_host(device.queue, array) for array in arrays]


def follows(
    device: Device,
    case: str,
    function: Callable,
    first: Sequence[np.ndarray],
    others: Sequence[np.ndarray],
    right: Callable[[str, Sequence[np.ndarray], Any], object],
    rest: tuple = (),
) -> None:
    """Broken unless the commands of function(*tensors, *rest) compute its result.

    first, others   the inputs of the call, and the numbers that stand there when its commands run again
    right           right(case, arrays, result) raises Broken if it is not the result for these inputs
    """
    inputs = fresh(device, *first)
    call = called(device, case, function, *inputs, *rest)
    right(case, first, call.result)
    put(inputs, others)
    call.again(device)
    try:
        right(case, others, call.result)
    except Broken:
        seen = ", ".join(dict.fromkeys(each.name for each, _ in call.commands)) or "nothing"
        raise Broken(
            f"{case}\nthe commands that this call gave the device, once more, after the inputs got other numbers",
            "the result for these",
            "another one, so it was not these commands that computed it",
            f"Seen: {seen}. All the work is done by kernels that are launched by `device.launch`, in each call.\n"
            "What the host wrote is not written again. Memory that must begin with 0 comes from `Tensor.full`, or a kernel sets it.",
        ) from None
    put(inputs, first)
    case = f"{case}\ncalled once more, after the inputs got other numbers. Nothing is kept from earlier calls"
    right(case, first, run(case, function, *inputs, *rest))


def put(tensors: Sequence[Tensor], arrays: Sequence[np.ndarray]) -> None:
    for each, array in zip(tensors, arrays):
        each.write(array)


class Clock:
    """Times calls of a function, and sees to it that they launch what untimed calls launch: what was looked at is what counts.

    case      a text that names the function
    fastest   the seconds of its fastest timed call
    """

    def __init__(self, device: Device, case: str, function: Callable) -> None:
        self.device, self.case, self.function = device, case, function
        self.fastest = math.inf

    def warm(self, *args: Any) -> Any:
        """Two calls that are not timed: the first compiles, the second shows what is usual. Its result."""
        for _ in range(2):
            result, _, self.usual = self._call(*args)
        return result

    def call(self, *args: Any) -> Any:
        """The result of a timed call. Broken if it launches something else than usual."""
        result, seconds, launches = self._call(*args)
        if launches != self.usual:
            usual, seen = (", ".join(name for name, *_ in each) or "nothing" for each in (self.usual, launches))
            raise Broken(self.case, f"the launches of the calls before: {usual}", seen)
        self.fastest = min(self.fastest, seconds)
        return result

    def _call(self, *args: Any) -> tuple[Any, float, list[tuple]]:
        self.device.queue.finish()
        with self.device.watch() as launches:
            start = time.perf_counter()
            result = run(self.case, self.function, *args)
            self.device.queue.finish()
            seconds = time.perf_counter() - start
        return result, seconds, [(each.name, each.kernel.source, each.size, each.group) for each in launches]


def own_memory(
    name: str, function: Callable, device: Device, draw: Callable[..., Sequence[np.ndarray]], *rest: Any
) -> None:
    """Broken if an input is changed, or if a later call changes what an earlier one returned. draw(seed=…) gives the inputs."""
    kept = []
    for seed in range(KEPT):
        arrays = draw(seed=seed)
        inputs = fresh(device, *arrays)
        result = function(*inputs, *rest)
        kept.append((result, result.to_host()))
        for array, each in zip(arrays, inputs):
            same(f"{name}(…)\nan input, after the call", array, each.to_host())
    for number, (result, before) in enumerate(kept, 1):
        case = (
            f"{KEPT} calls of {name}, each of other numbers; all results are kept\nresult {number}, after the last call"
        )
        same(case, before, result.to_host())
