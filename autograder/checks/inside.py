"""Run one probe in the student's process and return plain arrays. No verdict is reached here.

This file travels as text to the student's kernel, so it imports nothing of the course. In a notebook's `check(…)` and on
the reference the same functions are called directly; only a kernel's answer is encoded (`encoded`).
"""

import base64
import contextlib
import io
import math
import signal
import threading
import time
import traceback
from dataclasses import dataclass

import numpy as np


class ProbeTimeout(BaseException):
    """The probe took too long. A BaseException, so that `except Exception` in a student's code does not swallow it."""


class Student:
    """The student's names as attributes: `student.Value` is the notebook's `Value`."""

    def __init__(self, namespace):
        self.__dict__["_namespace"] = namespace

    def __getattr__(self, name):
        try:
            return self._namespace[name]
        except KeyError:
            raise NameError(f"the notebook defines no {name!r}; did its cell run?") from None


@dataclass(frozen=True)
class Outcome:
    """One quantity of one trial: an array, or what was raised instead ({"type", "message", "where"})."""

    array: np.ndarray | None = None
    error: dict | None = None


class Trial(dict):
    """One run of a probe: {quantity: Outcome}. An error of the whole probe stands under "" (no quantity has that name).

    input   the probe's text about its inputs; shown, never compared
    """

    def __init__(self, outcomes=(), input=""):
        super().__init__(outcomes)
        self.input = input


def run_trials(probe, namespace, seeds, tools, seconds):
    """One Trial per seed. After a trial that ran out of time no more are made: one endless loop is enough."""
    trials = []
    for seed in seeds:
        trials.append(run_probe(probe, namespace, seed, tools, seconds))
        if any(outcome.error and outcome.error["type"] == "ProbeTimeout" for outcome in trials[-1].values()):
            break
    return trials


def run_probe(probe, namespace, seed, tools, seconds, only=None):
    """Run a probe once and return its Trial; with `only`, of these quantities alone.

    All of it together takes at most `seconds` of processor time; each quantity may use half of what is left, so that an
    endless loop in one leaves time for the others.
    """
    left = Budget(seconds)
    student, rng = Student(namespace), np.random.default_rng(seed)
    try:
        with time_limit(*left.half()):
            quantities = dict(probe(student, rng, tools))
            trial = Trial(input=str(quantities.pop("input", ""))[:2000])
    except BaseException as error:  # whatever a student's code raises is a result, SystemExit and interrupts too
        return Trial({"": Outcome(error=describe(error))})
    for name, quantity in quantities.items():
        if only is not None and name not in only:
            continue
        try:
            with time_limit(*left.half()):
                trial[name] = Outcome(plain_array(quantity() if callable(quantity) else quantity))
        except BaseException as error:
            trial[name] = Outcome(error=describe(error))
    return trial


def plain_array(quantity):
    """A copy of a number, list or array as an array. Objects are refused: nothing but plain data leaves."""
    if quantity is None:
        raise TypeError("it is None; is there a `return` missing, or was it never set?")
    array = np.array(quantity)
    if array.dtype.kind not in "biufcU":
        odd = [part for part in array.flat if not isinstance(part, (int, float))]
        if odd and odd[0] is None:
            raise TypeError("a part of it is None; is there a `return` missing, or was it never set?")
        kind = type(odd[0] if odd else quantity).__name__
        raise TypeError(
            f"it is a {kind}, not a number or an array of numbers"
            if array.ndim == 0
            else f"a part of it is a {kind}, not a number"
        )
    return array


def encoded(trials):
    """Trials as plain text, ready for JSON: {quantity: {"array": npy bytes in base64} or {"error": …}}, {"text"} under "input".

    The judge's `messages` decodes it.
    """
    return [
        {"input": {"text": trial.input}} | {name: record_of(outcome) for name, outcome in trial.items()}
        for trial in trials
    ]


def record_of(outcome):
    if outcome.error:
        return {"error": outcome.error}
    try:
        buffer = io.BytesIO()
        np.save(buffer, outcome.array, allow_pickle=False)
        return {"array": base64.b64encode(buffer.getvalue()).decode()}
    except Exception as error:  # out of memory, say: it costs this quantity alone
        return {"error": describe(error)}


def describe(error):
    """What was raised, in the student's words: type, message, and the last line of theirs that was running."""
    where = ""
    with contextlib.suppress(Exception):
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if is_students(frame.filename)]
        if own:
            where = f"{own[-1].name}, line {own[-1].lineno}" + (f": {own[-1].line}" if own[-1].line else "")
    with contextlib.suppress(Exception):
        return {"type": type(error).__name__, "message": str(error)[:2000], "where": where[:500]}
    return {"type": "Exception", "message": "", "where": where[:500]}


def is_students(filename):
    return filename.startswith(("<ipython", "<cell")) or ("ipykernel_" in filename and "site-packages" not in filename)


SWALLOWS = ("__del__", "gc_callback")  # functions that Python calls on its own account


PATIENCE = 5  # on a busy machine, seconds on the clock for one of processor time


class Budget:
    """The time limit of a probe: `seconds` of processor time, and PATIENCE times that of wall-clock time.

    Processor time is fair on a machine that grades ten notebooks at once. The wall clock stops code that sleeps.
    """

    def __init__(self, seconds):
        self.processor, self.clock = time.process_time() + seconds, time.monotonic() + PATIENCE * seconds

    def half(self):
        """Half of what is left: (seconds of processor time, seconds on the clock)."""
        return max((self.processor - time.process_time()) / 2, 0.01), max((self.clock - time.monotonic()) / 2, 0.01)


@contextlib.contextmanager
def time_limit(seconds, clock):
    """Raise ProbeTimeout in the block after that many seconds of processor time, or on the clock, where the platform
    can (the main thread, not Windows).
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    running = True

    def stop(signum, frame):
        if running and (frame is None or frame.f_code.co_name not in SWALLOWS):
            raise ProbeTimeout(f"stopped after {seconds:.1f} s; is there a loop that never ends?")

    timers = [(signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, clock)]
    before = [signal.signal(number, stop) for number, _, _ in timers]
    for _, timer, after in timers:
        signal.setitimer(timer, after, 0.05)  # again and again: one that is swallowed would be the last
    try:
        yield
    finally:
        running = False
        for (number, timer, _), handler in zip(timers, before):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def compile_probe(source):
    """The function `probe` out of its text; besides its arguments it finds np and math."""
    names = {"np": np, "math": math}
    exec(compile(source, "<probe>", "exec"), names)
    return names["probe"]
