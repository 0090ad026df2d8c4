"""Task 3: a tape that plans its memory: where each value of a training step lies, before the step runs."""

import copy
import math
import operator
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from autograder.projects import steps
from autograder.projects.on_device import on
from autograder.projects.task import Broken, Figure, Task, run, same
from tinygrad_cl.netcl.core.device import Device

task = Task("memory", ("plan",), "pages of the plan, divided by the most that live at once", higher=False)
check, measure, board = task.check, task.measure, task.board

SHOWN = 12  # notes of a program that is written out
STEPS: dict[str, Callable[[Device], steps.Step]] = {"digits": steps.digits, "attention": steps.attention}


@dataclass(frozen=True)
class Program:
    """What a plan is asked for: `notes`, the values that each launch uses; their `sizes`, in pages; and which of them `stay`."""

    notes: list[tuple[int, ...]]
    sizes: dict[int, int]
    stays: set[int]
    name: str = ""

    def lives(self) -> dict[int, range]:
        """For each value the notes during which it lives, the first that uses it and the last one included."""
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for number, note in enumerate(self.notes):
            for value in note:
                first.setdefault(value, number)
                last[value] = number
        last |= dict.fromkeys(self.stays, len(self.notes))
        return {value: range(first[value], last[value] + 1) for value in first}

    def least(self) -> int:
        """The pages that live at once, at most: no plan needs fewer."""
        lives = self.lives()
        return max(sum(self.sizes[value] for value in lives if n in lives[value]) for n in range(len(self.notes)))

    def pages(self, plan: dict[int, int]) -> int:
        return max(plan[value] + size for value, size in self.sizes.items())

    def text(self) -> str:
        if self.name or len(self.notes) > SHOWN:
            return f"the step {self.name}" if self.name else f"{len(self.notes)} notes, {len(self.sizes)} values"
        return f"plan(notes={self.notes}, sizes={self.sizes}, stays={self.stays})"


# From the smallest on: one value; two in one note; one after the other; one that lives across another; one that stays; and sizes
# that differ, so that a hole is too small, or wide enough for two.
SMALL = [
    Program([(0,)], {0: 1}, {0}),
    Program([(0, 1)], {0: 1, 1: 1}, set()),
    Program([(0,), (1,)], {0: 1, 1: 1}, set()),
    Program([(0,), (0, 1)], {0: 1, 1: 1}, {1}),
    Program([(0,), (1,)], {0: 1, 1: 1}, {0}),
    Program([(0,), (1,), (0,)], {0: 1, 1: 1}, set()),
    Program([(0,), (1,), (2,)], {0: 1, 1: 1, 2: 1}, {0, 2}),
    Program([(0,), (0, 1), (1, 2)], {0: 1, 1: 1, 2: 2}, set()),
    Program([(0,), (0, 1), (1, 2), (2, 3)], {0: 1, 1: 3, 2: 2, 3: 3}, {3}),
    Program([(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)], {0: 2, 1: 1, 2: 2, 3: 1, 4: 4}, {4}),
    Program([(7, 3), (3, 5), (7, 5), (5, 3)], {3: 1, 5: 2, 7: 3}, {3}),
]
CHAINS = [Program([(0,), *zip(range(n), range(1, n))], dict.fromkeys(range(n), 1), {n - 1}) for n in (3, 4, 8, 40)]


def drawn(count: int, seed: int) -> Program:
    """A program with so many values: each note makes one, from a few of those before, near and far."""
    rng, notes = np.random.default_rng([count, seed]), []
    for value in range(count):
        back = np.minimum(rng.geometric(0.3, rng.integers(0, 3)), value)
        far = rng.integers(0, value + 1, int(rng.random() < 0.3))
        notes.append(tuple(sorted({value, *(value - back).tolist(), *far.tolist()})))
    sizes = {value: int(2 ** rng.uniform(0, 6)) for value in range(count)}
    return Program(notes, sizes, set(rng.choice(count, max(1, count // 10), replace=False).tolist()))


DRAWN = [drawn(count, seed) for count in (3, 4, 5, 6, 8, 12, 30, 100) for seed in range(20)]
BENCH = [drawn(count, 1000 + seed) for count in (40, 80, 120, 160) for seed in range(5)]


@lru_cache
def step_named(device: Device, name: str) -> steps.Step:
    """The Step "digits" or "attention", recorded once."""
    return STEPS[name](device)


def program_of(step: steps.Step, name: str) -> Program:
    return Program(step.notes, step.sizes, step.stays, name)


def planned(plan: Callable, program: Program) -> dict[int, int]:
    """The plan of a program. Broken unless it has a place for each value, and leaves what it was given as it is."""
    given = copy.deepcopy((program.notes, program.sizes, program.stays))
    text, most = program.text(), "a dict with the first page, 0 or more, of each value"
    found = run(text, plan, *given)
    if not isinstance(found, dict):
        raise Broken(text, most, type(found).__name__)
    if given != (program.notes, program.sizes, program.stays):
        raise Broken(text, "notes, sizes and stays as they were", "other ones after the call")
    if set(found) != set(program.sizes):
        missing, more = sorted(set(program.sizes) - set(found)), sorted(set(found) - set(program.sizes), key=repr)
        raise Broken(text, most, f"none for {missing}" if missing else f"one for {more}, which are no values")
    for value, page in found.items():
        if not isinstance(page, int | np.integer) or page < 0:
            raise Broken(text, most, f"{page!r} for value {value}")
    return {value: operator.index(page) for value, page in found.items()}


def apart(plan: Callable, program: Program) -> dict[int, int]:
    """The plan of a program. Broken where two values share a page while both live."""
    found, lives = planned(plan, program), program.lives()
    values = sorted(lives, key=lambda each: found[each])
    for place, one in enumerate(values):
        end = found[one] + program.sizes[one]
        for other in values[place + 1 :]:
            if found[other] >= end:
                break
            both = range(max(lives[one].start, lives[other].start), min(lives[one].stop, lives[other].stop))
            if both:
                when = f"in note {both.start}" if both.start < len(program.notes) else "after the last note"
                stay = [f"{value} stays." for value in (one, other) if value in program.stays]
                raise Broken(
                    program.text(),
                    f"values {one} and {other} apart: both live {when}",
                    f"pages {pages(found[one], program.sizes[one])} and {pages(found[other], program.sizes[other])}",
                    " ".join(stay),
                )
    return found


def pages(first: int, size: int) -> str:
    return f"{first}" if size == 1 else f"{first} to {first + size - 1}"


@task.property("every value has a place, and the inputs stay as they are")
def places(plan: Callable, device: Device | None = None) -> None:
    for program in SMALL + CHAINS + DRAWN:
        planned(plan, program)


@task.property("no page is shared by two values that live at the same time")
def no_sharing(plan: Callable, device: Device | None = None) -> None:
    for program in SMALL + CHAINS + DRAWN:
        apart(plan, program)


@task.property("pages are used again")
def reused(plan: Callable, device: Device | None = None) -> None:
    for program in CHAINS:
        total, used = sum(program.sizes.values()), program.pages(planned(plan, program))
        if used >= total:
            raise Broken(program.text(), f"fewer than {total} pages: value 0 is not used after note 1", f"{used} pages")


@task.property("it needs less memory than the plain tape")
def less(plan: Callable, device: Device | None = None) -> None:
    for name in STEPS:
        step = step_named(on(device), name)
        program = program_of(step, name)
        used = program.pages(planned(plan, program))
        if used >= step.plain:
            raise Broken(
                program.text(),
                f"fewer than {step.plain} pages, which the plain tape has in use at most",
                f"{used} pages",
            )


@task.property("a step that runs by the plan gives the gradients of the plain tape")
def gradients(plan: Callable, device: Device | None = None) -> None:
    for name in STEPS:
        step = step_named(on(device), name)
        found = step.run(apart(plan, program_of(step, name)))
        for value, wanted in step.results.items():
            same(f"the step {name}, value {value}, which stays", wanted, found[value], 1e-5 * np.abs(wanted).max())


@task.measures
def tightness(plan: Callable, device: Device | None = None) -> Figure:
    """How near the plans are to what no plan can go below: the geometric mean over real steps and drawn programs."""
    programs = [program_of(step_named(on(device), name), name) for name in STEPS] + BENCH
    start = time.perf_counter()
    ratios = [program.pages(apart(plan, program)) / program.least() for program in programs]
    seconds = time.perf_counter() - start
    each = ", ".join(f"{program.name} {ratio:.3f}" for program, ratio in zip(programs, ratios) if program.name)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return Figure(mean, f"{each}, {len(BENCH)} drawn programs; {seconds:.1f} s")
