"""Contenders take turns: how every benchmark here measures.

- Each contender has a process of its own. In one process, the threads of one library's matrix
  product keep a core from the next contender, and its garbage is collected in the next one's time.
- They take turns, round after round, with a nap between, so that a machine that slows down for a
  while slows down all of them. The figures are medians over the rounds; a ratio is the median of
  the ratios within a round, and its spread says between which two ratios half of the rounds lie.
- OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are unset: set for another processor, they halve NumPy's
  speed. POCL_AFFINITY=1, which the package sets for PoCL, is set for all that run on it.
- All must compute the same: whoever gives another answer is left out, by name, as is whoever is not
  installed or fails.
- Rounds go forth and back, so that nobody always comes after the same one.
"""

import contextlib
import importlib.util
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
NAP = 0.15  # seconds: OpenBLAS's threads were seen to spin for 105 ms after their last product
WARM_UP = 2  # turns that do not count
FIRST = 4  # steps whose answers are compared
PROGRAMS = "programs"  # a part that is a number of programs, not of seconds
PROCESSOR = "processor time"  # a part: seconds of a whole turn on all cores, whoever else uses them
UNSET = {"OPENBLAS_CORETYPE": None, "OPENBLAS_L2_SIZE": None}


@dataclass(frozen=True)
class Contender:
    """One that takes part.

    name          as the tables show it
    make          make(settings) prepares everything and returns turn; called in the contender's own
                  process, so it imports what it measures, and nobody else has it in memory
    needs         the modules that must be installed
    environment   variables for its process: a text, or None to unset one
    ours          it measures tinygrad_cl, so that it can be compared with an older commit
    tree          the folder that tinygrad_cl is imported from, in its process and in those that it
                  starts; without one, what is installed

    turn(mode) measures once: it returns ({part: seconds}, answer), where the answer is what all
    contenders must agree on, a number or an array; None where there is nothing to compare, as for a
    limit. It may raise, to say why it does not take part in a mode.
    """

    name: str
    make: Callable
    needs: tuple = ()
    environment: dict = field(default_factory=dict)
    ours: bool = False
    tree: str = ""


@dataclass(frozen=True)
class Row:
    """What a table says of one contender in one mode and part.

    median      seconds
    ratio       its time as a multiple of the first contender's, the median over the rounds
    low, high   half of the rounds' ratios lie between these two; all three None where the first
                contender is left out
    fastest     seconds, of its fastest turn: what is left where others take the machine's time
    """

    mode: str
    part: str
    contender: str
    median: float
    ratio: float | None
    low: float | None
    high: float | None
    fastest: float


def stepping(step, finish, answer, fewer=1):
    """The turn of something that is repeated: its mode is (steps, how often to wait), its part
    "step". Its answers are those of the first FIRST steps, which are done at once, as a warm-up.

    step()     does one step, or enqueues it
    finish()   waits until all steps are done
    answer()   what to compare, after each of the first steps
    fewer      a slow one does so many times fewer steps in a turn
    """
    answers = []
    for _ in range(FIRST):
        step()
        finish()
        answers.append(np.array(answer(), float))

    def turn(mode):
        count, every = mode
        count = max(1, count // fewer)
        start = time.perf_counter()
        for number in range(1, count + 1):
            step()
            if number % every == 0:
                finish()
        finish()
        return {"step": (time.perf_counter() - start) / count}, answers

    return turn


def missing(contender):
    """The first module that the contender needs and that is not installed, or None."""
    return next((each for each in contender.needs if not importlib.util.find_spec(each)), None)


@dataclass(frozen=True)
class Comparison:
    """What is measured, and of whom.

    key          one word for it
    title        of the table
    contenders   the first is the one that ratios refer to
    settings     what each `make` is given
    modes        {title: mode}, each measured on its own, one after the other
    unit         "s", "ms" or "µs" of one part; or "GFLOP/s", with the operations in `work`
    work         {title of a mode: floating-point operations}
    tolerance    how far answers may be apart, relative to the first contender's
    fewer        a long one takes so many times fewer rounds
    """

    key: str
    title: str
    contenders: tuple
    settings: object
    modes: dict
    unit: str = "ms"
    work: dict = field(default_factory=dict)
    tolerance: float = 1e-4
    fewer: int = 1


def against(comparison, tree):
    """One Comparison for each contender of ours, of «now» with «before»: itself as it is in an older tree."""
    return [
        replace(
            comparison,
            title=f"{comparison.title}: {each.name}",
            contenders=(replace(each, name="before", tree=str(tree)), replace(each, name="now", tree=str(ROOT))),
        )
        for each in comparison.contenders
        if each.ours
    ]


def compare(comparison, rounds, nap=NAP):
    """Let the contenders take turns: (rows, left_out).

    left_out   {contender, or "contender: mode": reason}
    """
    rows, left_out, running = [], {}, {}
    names = [contender.name for contender in comparison.contenders]
    assert len(set(names)) == len(names), names
    try:
        for contender in comparison.contenders:
            if name := missing(contender):
                left_out[contender.name] = f"{name} is not installed"
                continue
            process = Process(contender, comparison.settings)
            running[contender.name] = process
            kind, reason = process.receive()
            if kind == "failed":
                left_out[contender.name] = reason
        for title, mode in comparison.modes.items():
            ready = {name: each for name, each in running.items() if name not in left_out}
            times, fallen = take_turns(ready, mode, max(1, rounds // comparison.fewer), comparison.tolerance, nap)
            left_out |= {f"{name}: {title}": reason for name, reason in fallen.items()}
            parts = next(iter(times.values()))[0] if times else ()
            rows += [row(title, part, name, times[name], times.get(names[0])) for part in parts for name in times]
    finally:
        for process in running.values():
            process.stop()
    return rows, left_out


def take_turns(running, mode, rounds, tolerance, nap):
    """({contender: its turns in one mode, a list of {part: seconds}}, {contender: reason}): who
    fails, or gives another answer than the first, is in the second.
    """
    times, answers, fallen = {name: [] for name in running}, {}, {}
    for number in range(rounds + WARM_UP):
        for name in list(times)[:: 1 if number % 2 else -1]:
            time.sleep(nap)
            kind, reply = running[name].take_turn(mode)
            if kind == "failed":
                fallen[name] = reply
                del times[name]
                continue
            seconds, answer = reply
            if answer is not None:
                answers.setdefault(name, np.asarray(answer, float))
            if number >= WARM_UP:
                times[name].append(seconds)
    compared = [name for name in times if name in answers]
    for name in compared[1:]:
        if not agree(answers[name], answers[compared[0]], tolerance):
            fallen[name] = (
                f"it computes something else than {compared[0]}:"
                f" {brief(answers[name])}, not {brief(answers[compared[0]])}"
            )
            del times[name]
    return times, fallen


def row(title, part, name, times, first):
    """The Row of one contender, from its turns and those of the first, None if it is left out."""
    seconds = [turn[part] for turn in times]
    median, fastest = statistics.median(seconds), min(seconds)
    if first is None:
        return Row(title, part, name, median, None, None, None, fastest)
    ratios = [mine[part] / theirs[part] for mine, theirs in zip(times, first)]
    if len(ratios) == 1:  # has no quartiles
        ratios *= 2
    low, ratio, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return Row(title, part, name, median, ratio, low, high, fastest)


def agree(answer, other, tolerance):
    """Whether two answers are the same, within a tolerance."""
    return answer.shape == other.shape and np.allclose(answer, other, tolerance, tolerance)


def brief(answer):
    """The first numbers of an answer, as text."""
    return ", ".join(f"{number:.6g}" for number in answer.ravel()[:3])


class Process:
    """A contender's process."""

    def __init__(self, contender, settings):
        spawn = multiprocessing.get_context("spawn")  # nothing of this process is in it
        self.connection, theirs = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(theirs, contender, settings))
        with environment(UNSET | contender.environment):
            self.process.start()
        theirs.close()

    def take_turn(self, mode):
        """("done", ({part: seconds}, answer)), or ("failed", reason)."""
        try:
            self.connection.send(mode)
        except OSError:
            return "failed", "its process has ended"
        return self.receive()

    def receive(self):
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return "failed", f"its process ended with exit code {self.process.exitcode}"

    def stop(self):
        """End it; at once, where it does not end by itself."""
        self.connection.close()
        self.process.join(timeout=10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def serve(connection, contender, settings):
    """What a contender's process does: prepare, then a turn for each mode that it is sent."""
    if contender.tree:
        assert "tinygrad_cl" not in sys.modules, "a benchmark imports tinygrad_cl before its contenders do"
        sys.path.insert(0, contender.tree)
        os.environ["PYTHONPATH"] = contender.tree

    def attempt(function, argument):
        try:
            return "done", function(argument)
        except Exception as error:
            text = str(error).strip().partition("\n")[0][:200]
            return "failed", f"{type(error).__name__}: {text}"

    def timed(mode):
        start = time.process_time()
        parts, answer = turn(mode)
        if contender.tree:
            parts.setdefault(PROCESSOR, time.process_time() - start)
        return parts, answer

    kind, turn = attempt(contender.make, settings)
    connection.send((kind, None if kind == "done" else turn))
    with contextlib.suppress(EOFError, OSError):  # the other end was closed: nothing more to do
        while True:
            connection.send(attempt(timed, connection.recv()))


@contextlib.contextmanager
def environment(changes):
    """Environment variables changed inside, and as before afterwards; None unsets one."""
    before = {name: os.environ.get(name) for name in changes}
    apply(changes)
    try:
        yield
    finally:
        apply(before)


def apply(changes):
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
