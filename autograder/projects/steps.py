"""Training steps as lists of notes: what each launch uses, in order; and the same launches with all values in one piece of memory."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyopencl as cl

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl import nn
from tinygrad_cl.netcl.core.commands import Command, Launch, Transfer
from tinygrad_cl.netcl.core.device import Device
from tinygrad_cl.netcl.core.memory import NAN, SLACK
from tinygrad_cl.netcl.core.tensor import Tensor

PAGE = 512  # bytes; memory is planned in whole pages, and where a page begins, any device lets a tensor begin


@dataclass(frozen=True)
class Step:
    """One forward and backward pass, as its tape has run it.

    notes       for each launch the numbers of the values that it uses
    names       for each launch the name of its kernel
    sizes       {value: pages}
    stays       values that are needed afterwards: the loss and the gradients
    plain       pages that the plain tape had in use at most
    results     what stays, as the plain tape computed it
    commands    the launches themselves, with all values apart
    buffers     {value: its memory there}
    """

    device: Device
    notes: list[tuple[int, ...]]
    names: list[str]
    sizes: dict[int, int]
    stays: set[int]
    plain: int
    results: dict[int, np.ndarray]
    commands: list[Command]
    buffers: dict[int, cl.Buffer]

    def run(self, plan: dict[int, int]) -> dict[int, np.ndarray]:
        """What stays, after the launches ran with each value where the plan puts it, in memory that held NaN."""
        device, pages = self.device, max(plan[value] + self.sizes[value] for value in self.sizes)
        memory = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, pages * PAGE + SLACK)
        device.fill(memory, NAN, pages * PAGE + SLACK)
        places = {
            self.buffers[value].int_ptr: memory.get_sub_region(plan[value] * PAGE, self.sizes[value] * PAGE)
            for value in self.sizes
        }
        for command in self.commands:
            operands = tuple(places.get(getattr(each, "int_ptr", 0), each) for each in command.operands)
            moved: Any = replace(command, operands=operands)
            if isinstance(command, Launch):
                moved = replace(moved, kernel=command.kernel.clone())
            moved.again(device.queue)()
        found = {}
        for value in self.stays:
            found[value] = np.empty_like(self.results[value])
            device.read(found[value], places[self.buffers[value].int_ptr])
        return found


def pages_of(nbytes: int) -> int:
    return -(-nbytes // PAGE)


def recorded(device: Device, step: Callable[[], tuple[Tensor, ...]]) -> Step:
    """The Step of a function that computes a loss and gradients, and returns them.

    It runs three times: to compile; with the plain tape's memory, where a value's pages are free again as soon as Python lets
    go of it; and with all values apart, which is what is recorded.
    """
    step()
    plain = plain_pages(device, step)
    buffers: list[cl.Buffer] = []

    def lend(nbytes: int) -> cl.Buffer:
        buffers.append(cl.Buffer(device.context, cl.mem_flags.READ_WRITE, pages_of(nbytes) * PAGE))
        return buffers[-1]

    commands: list[Command] = []
    with device.pool.lent_by(lend), device.watched_by(commands.append):
        results = step()
    assert not any(isinstance(each, Transfer) for each in commands), "a step takes nothing from the host"
    numbers = {buffer.int_ptr: number for number, buffer in enumerate(buffers)}
    notes = [
        tuple(sorted({numbers[each.int_ptr] for each in command.buffers() if each.int_ptr in numbers}))
        for command in commands
    ]
    used = {value for note in notes for value in note}
    return Step(
        device,
        notes,
        [command.name for command in commands],
        {value: pages_of(buffers[value].size) for value in sorted(used)},
        {numbers[each.buffer.int_ptr] for each in results},
        plain,
        {numbers[each.buffer.int_ptr]: each.to_host() for each in results},
        commands,
        {value: buffers[value] for value in used},
    )


def plain_pages(device: Device, step: Callable[[], object]) -> int:
    """The pages that are in use at most while a step runs."""
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(device.queue), leading_bits_in_bin_id=16)  # no rounding up
    most = 0

    def lend(nbytes: int) -> Any:
        nonlocal most
        buffer = pool.allocate(pages_of(nbytes) * PAGE)
        most = max(most, pool.active_bytes)
        return buffer

    with device.pool.lent_by(lend):
        step()
    return pages_of(most)


def digits(device: Device, rows: int = 64, widths: tuple[int, ...] = (196, 100, 60, 10)) -> Step:
    """A step of a network as in lesson 13: layers with ReLU, and the cross-entropy."""
    rng = np.random.default_rng(16)

    def numbers(*shape: int) -> Tensor:
        return Tensor.from_host(device.queue, rng.normal(0, 1 / math.sqrt(shape[0]), shape))

    x, y = numbers(rows, widths[0]), Tensor.from_host(device.queue, rng.integers(0, widths[-1], rows), "int32")
    weights = [numbers(*shape) for shape in zip(widths, widths[1:])]

    def step() -> tuple[Tensor, ...]:
        leaves = [ag.tensor(each, requires_grad=True) for each in weights]
        h = ag.tensor(x)
        with ag.Tape() as tape:
            for leaf in leaves[:-1]:
                h = ag.relu(ag.matmul(h, leaf))
            loss = ag.cross_entropy(ag.matmul(h, leaves[-1]), y)
        return differentiated(tape, loss, leaves)

    return recorded(device, step)


def attention(device: Device, rows: int = 4, length: int = 16, width: int = 16) -> Step:
    """A step of a block as in lesson 15, on random numbers."""
    rng = np.random.default_rng(17)
    block = nn.TransformerBlock(width, 2, causal=True, queue=device.queue, seed=1)
    x = Tensor.from_host(device.queue, rng.normal(size=(rows, length, width)))
    leaves = [ag.tensor(each, requires_grad=True) for each in block.parameters()]

    def step() -> tuple[Tensor, ...]:
        with ag.Tape() as tape:
            loss = ag.mean(ag.square(block(ag.tensor(x))))
        return differentiated(tape, loss, leaves)

    return recorded(device, step)


def differentiated(tape: ag.Tape, loss: ag.Node, leaves: list[ag.Node]) -> tuple[Tensor, ...]:
    """(loss, gradient of each leaf), and the leaves without them."""
    tape.backward(loss)
    gradients = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    assert all(gradient is not None for gradient in gradients)
    return loss.value, *[gradient for gradient in gradients if gradient is not None]
