"""Run the cases of a check in the student's process and return plain arrays. No verdict is reached here.

This file travels as text to the student's kernel, so it imports nothing of the course. In a notebook's `check(…)` and on
the reference the same functions are called directly; only a kernel's answer is encoded (`encoded`).
"""

import base64
import contextlib
import functools
import io
import linecache
import math
import signal
import threading
import time
import types
from dataclasses import dataclass

import numpy as np


class ProbeTimeout(BaseException):
    """The check took too long. A BaseException, so that `except Exception` in a student's code does not swallow it."""


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
    """One part of what a case gave: an array, or what was raised instead ({"type", "message", "where"})."""

    array: np.ndarray | None = None
    error: dict | None = None
    kind: str = ""  # of what type it was, "float" or "ndarray of float64" say


class Trial(dict):
    """One run of a case: {label: Outcome}. An error of the whole observation stands under "", as a lone number does."""


def run_cases(aspects, namespace, tools, seconds):
    """One Trial for each case of each aspect, [{"observe": text, "cases": [{input: expression}, …]}, …], in one list.

    Of an aspect with "texts", a function, the observation sees nothing but the texts that it hands over; without an observation
    they are the outcome. "given" is a list of what is handed over, {name: text}, one for each case. An aspect with "once" is
    not run again.

    Each case is run once, in order; then some once more, in another order, and two at a time where the observation pauses
    (`yield`). A trial gets a label that begins with ~ for each condition that is broken: "~inputs" (the inputs were changed),
    "~later" (a later call changed what this one returned), "~again …" (the same call gives something else).
    """
    with np.errstate(all="ignore"):  # inputs are hard on purpose
        return [run.trial for run in case_runs(aspects, namespace, tools, Budget(seconds), seconds / 4)]


def case_runs(aspects, namespace, tools, left, reserve):
    runs = []
    names = {**namespace, "np": np, "math": math}
    for aspect in aspects:
        observe, texts = (
            compile_function(aspect[part], "observe") if aspect.get(part) else None for part in ("observe", "texts")
        )
        stopped, given = None, aspect.get("given") or [namespace] * len(aspect["cases"])
        for inputs, its in zip(aspect["cases"], given):
            run = CaseRun(observe, inputs, names, Student(its), tools, texts, aspect.get("once"))
            if stopped:
                run.trial = Trial({"": stopped})
            else:
                run.first(left)
                stopped = next(
                    (out for out in run.trial.values() if out.error and out.error["type"] == "ProbeTimeout"), None
                )
            runs.append(run)
    for run in runs:
        run.look_back()
    repeated = [run for run in runs if run.is_repeatable()]
    repeated = repeated[:: max(1, len(repeated) // REPEATED)][::-1]
    for one, other in zip(repeated[::2], repeated[1::2] + repeated[:1]):
        if left.half()[0] > reserve:
            CaseRun.side_by_side(one, other, left)
    return runs


REPEATED = 16  # cases that are run again


class CaseRun:
    """A case of an aspect in the student's process: its observation is run, its outcome kept and looked at again later."""

    def __init__(self, observe, inputs, names, student, tools, texts=None, once=False):
        self.observe, self.expressions, self.names, self.student, self.tools = observe, inputs, names, student, tools
        self.texts, self.once = texts, once
        self.trial, self.inputs, self.returned = Trial(), None, None

    def evaluated(self):
        """The inputs of the case, made anew."""
        scope, inputs = dict(self.names), {}
        for name, text in self.expressions.items():
            scope[name] = inputs[name] = eval(compiled(text), scope)
        return inputs

    def start(self, inputs):
        """The observation up to its first pause: what it returned, or a generator that waits."""
        arguments = (self.student, Case(inputs), self.tools)
        if self.texts:
            texts = only_texts(self.texts(*arguments[: self.texts.__code__.co_argcount]))
            if self.observe is None:
                return texts
            arguments = (Student(texts), *arguments[1:])
        returned = self.observe(*arguments[: self.observe.__code__.co_argcount])
        if isinstance(returned, types.GeneratorType):
            next(returned)
        return returned

    def first(self, left):
        try:
            with time_limit(*left.half()):
                self.inputs = self.evaluated()
                self.returned = settled(finished(self.start(self.inputs)))
            with time_limit(*left.half()):
                self.trial = Trial(leaves(self.returned))
        except BaseException as error:  # whatever a student's code raises is a result, SystemExit and interrupts too
            self.trial = Trial({"": Outcome(error=describe(error))})
        if self.inputs is not None:
            with contextlib.suppress(Exception):
                fresh = self.evaluated()
                changed = [name for name in fresh if prints(fresh[name]) != prints(self.inputs[name])]
                if changed:
                    self.trial["~inputs"] = Outcome(np.array(", ".join(changed)))

    def look_back(self):
        with contextlib.suppress(Exception):
            if self.returned is not None and prints(self.returned) != prints_of(self.trial):
                self.trial["~later"] = Outcome(np.array("changed"))

    def is_repeatable(self):
        return self.inputs is not None and not self.once and not any(out.error for out in self.trial.values())

    @staticmethod
    def side_by_side(one, other, left):
        """Both once more: the first parts of both, then the second parts of both."""
        for run in (one, other):
            run.second = None
        try:
            with time_limit(*left.half()):
                started = [(run, run.start(run.evaluated())) for run in (one, other)]
                for run, returned in started:
                    run.second = leaves(settled(finished(returned)))
        except BaseException as error:
            one.second = one.second or {"": Outcome(error=describe(error))}
        for run in (one, other):
            if run.second is not None and prints_of(run.second) != prints_of(run.trial):
                run.trial.update({f"~again {label}": outcome for label, outcome in run.second.items()})


def only_texts(given):
    """The kernels' texts that an exercise hands over, {name: text}."""
    for name, text in given.items():
        if not isinstance(text, str):
            raise TypeError(f"{name} is of type {type(text).__name__}; it should be a text")
    return given


class Case:
    """The inputs of a case as attributes."""

    def __init__(self, inputs):
        self.__dict__.update(inputs)


def finished(returned):
    """What an observation returns, after its pauses."""
    if not isinstance(returned, types.GeneratorType):
        return returned
    try:
        while True:
            next(returned)
    except StopIteration as stop:
        return stop.value


def settled(value):
    """What an observation returned, with its functions called: an exception in one of them costs that part alone."""
    if isinstance(value, dict):
        return {name: settled(part) for name, part in value.items()}
    if not isinstance(value, types.FunctionType):
        return value
    try:
        return value()
    except Exception as error:
        return error


def leaves(value, label=""):
    """A labelled tree as {label: Outcome}: numbers, arrays and texts as arrays, other objects by the name of their class.

    A long list of numbers is an array; of any other list or tuple each part has a label, and the list itself says how many.
    """
    if isinstance(value, dict):
        return {key: out for name, part in value.items() for key, out in leaves(part, joined(label, str(name))).items()}
    if isinstance(value, BaseException):
        return {label: Outcome(error=describe(value))}
    kind = type(value).__name__
    if isinstance(value, (list, tuple)) and (len(value) <= FEW_PARTS or not all(map(is_number, value))):
        found = {label: Outcome(np.array(f"{len(value)} parts"), kind=kind)}
        for i, part in enumerate(value):
            found |= leaves(part, f"{label}[{i}]")
        return found
    if isinstance(value, (bool, int, float, complex, str, list, tuple, np.generic, np.ndarray)):
        with contextlib.suppress(OverflowError):
            array = np.array(value)
            if array.dtype.kind in "biufcU":
                return {
                    label: Outcome(array, kind=f"{kind} of {array.dtype}" if isinstance(value, np.ndarray) else kind)
                }
    return {label: Outcome(np.array("None" if value is None else f"an object of class {kind}"), kind=kind)}


FEW_PARTS = 4


def is_number(value):
    return isinstance(value, (int, float, np.generic)) or isinstance(value, np.ndarray) and value.ndim == 0


def joined(label, name):
    return f"{label}.{name}" if label else name


def prints(value):
    """What an object holds, to compare it with itself later."""
    return prints_of(leaves(value))


def prints_of(outcomes):
    return [
        (label, out.error["type"]) if out.error else (label, str(out.array.dtype), out.array.shape, out.array.tobytes())
        for label, out in outcomes.items()
        if not label.startswith("~")
    ]


def encoded(trials):
    """Trials as plain text, ready for JSON: {label: {"array": npy bytes in base64, "kind": …} or {"error": …}}.

    The judge's `messages` decodes it.
    """
    return [{name: record_of(outcome) for name, outcome in trial.items()} for trial in trials]


def record_of(outcome):
    if outcome.error:
        return {"error": outcome.error}
    try:
        buffer = io.BytesIO()
        np.save(buffer, outcome.array, allow_pickle=False)
        kind = {"kind": outcome.kind} if outcome.kind else {}
        return {"array": base64.b64encode(buffer.getvalue()).decode()} | kind
    except Exception as error:  # out of memory, say: it costs this label alone
        return {"error": describe(error)}


def describe(error):
    """What was raised, in the student's words: type, message, and the last line of theirs that was running.

    Where none of theirs ran, "check" is what the check did with their result.
    """
    where = check = ""
    with contextlib.suppress(Exception):
        place = last_of_students(error.__traceback__)
        if place:
            code, line = place.tb_frame.f_code, place.tb_lineno
            text = linecache.getline(code.co_filename, line).strip()
            where = f"{code.co_name}, line {line}" + (f": {text}" if text else "")
        else:
            check = observed_by(error.__traceback__)
    with contextlib.suppress(Exception):
        bases = [kind.__name__ for kind in type(error).__mro__[1:-3]]  # a special kind of what is asked for is as good
        found = {"type": type(error).__name__, "message": str(error)[:2000], "where": where[:500], "bases": bases}
        return found | ({"check": check[:200]} if check else {})
    return {"type": "Exception", "message": "", "where": where[:500]}


def observed_by(place):
    """The expression of an observation that raised, as it reads in a cell; "" where it was none, or more than a line."""
    found = ""
    while place is not None:
        code, text = place.tb_frame.f_code, place.tb_frame.f_globals.get("__text__")
        if text and code.co_filename == "<observe>":
            line, end, start, stop = list(code.co_positions())[place.tb_lasti // 2]
            found = text.splitlines()[line - 1].encode()[start:stop].decode() if line == end else ""
        place = place.tb_next
    return found.replace("student.", "").replace("case.", "")


def last_of_students(place):
    """The last place of a traceback that is in a student's cell; None if there is none."""
    last = None
    while place is not None:
        if is_students(place.tb_frame.f_code.co_filename):
            last = place
        place = place.tb_next
    return last


def is_students(filename):
    return filename.startswith(("<ipython", "<cell")) or ("ipykernel_" in filename and "site-packages" not in filename)


SWALLOWS = ("__del__", "gc_callback")  # functions that Python calls on its own account


PATIENCE = 5  # on a busy machine, seconds on the clock for one of processor time


class Budget:
    """The time limit of a check: `seconds` of processor time, and PATIENCE times that of wall-clock time.

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


def compile_function(source, name):
    """The function of that name out of its text; besides its arguments it finds np and math."""
    names = {"np": np, "math": math, "__text__": source}
    exec(compile(source, f"<{name}>", "exec"), names)
    return names[name]


@functools.lru_cache(maxsize=4096)
def compiled(expression):
    return compile(expression, "<input>", "eval")
