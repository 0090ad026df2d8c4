"""Random programs: made, run on an engine beside the reference or on two engines, compared, and made short.

python -m fuzz.programs tensor 20000                   engine 2 beside the reference, in tests/
python -m fuzz.programs netcl 5000                     engine 3
python -m fuzz.programs tensor 20000 --peer torch      engine 2 beside PyTorch, where it is installed
"""

import argparse
import dis
import random
import re
import string
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import tinygrad_cl
from fuzz.reference import Reference, Unknown
from fuzz.words import BY_NAME, EVERY_SPECIAL, HEADERS, SPECIAL, WORDS, Draw

PACKAGE = str(Path(tinygrad_cl.__file__).parent)
SHAPES = [(), (1,), (3,), (2, 3), (3, 1), (1, 3), (1, 1), (0,), (2, 0), (0, 3), (2, 1, 3), (2, 3, 2), (3, 3), (5, 7)]
FEW_SHAPES = [(), (3,), (2, 3), (3, 1), (0, 3), (3, 3)]  # on a device: each shape is a kernel to compile
MODES = {"": "", "no_grad": "with no_grad(): ", "enable_grad": "with no_grad(), enable_grad(): "}
EXPECTED = (ValueError, TypeError, RuntimeError, IndexError)  # of an engine's errors
OF_NUMBERS = ("value", "gradient", "shape", "dtype", "requires_grad")  # kinds, whatever the variable


def same_memory(word, result, x):
    """Does a result of engine 3 share the memory of its input? Tensors are contiguous: where all of it is there, in its order."""
    if word in ("reshape", "squeeze", "unsqueeze"):
        return True
    whole = result.size == x.size and result.__array_interface__["data"] == x.__array_interface__["data"]
    return word == "index" and whole and result.flags.c_contiguous


# -- programs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """A word with its operands and settings, all of them source; `target` is the new variable, mode one of MODES."""

    name: str
    target: str = ""
    operands: tuple = ()
    settings: tuple = ()
    mode: str = ""

    @property
    def word(self):
        return BY_NAME[self.name]

    def setting(self, key):
        return dict(self.settings)[key]

    def text(self, engine):
        """The expression, or the statement, in an engine's words; None where it has none."""
        text = getattr(self.word, engine)
        return text and text.format(*self.operands, **dict(self.settings))

    def source(self, engine):
        return MODES[self.mode] + f"{self.target} = " * bool(self.target) + self.text(engine)


def source(program, engine):
    """A program as Python that runs."""
    return HEADERS[engine].strip() + "\n\n" + "\n".join(each.source(engine) for each in program) + "\n"


@contextmanager
def quiet():
    """No warnings of NumPy: of infinities, of the mean of nothing."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@quiet()
def generate(seed, engines, odd=None):
    """A random program in which every statement has words in all the engines, and a meaning for the reference as a rule.

    odd   True, False: with NaN and infinities, or without; by default in a quarter of the programs
    """
    rng = random.Random(seed)
    device = "netcl" in engines
    odd = rng.random() < 0.25 if odd is None else odd
    draw = Draw(
        rng,
        FEW_SHAPES if device else SHAPES,
        ["f4"] if device else rng.choice([["f8"], ["f8"], ["f4"], ["f4", "f8"]]),
        layouts=not device,
        odd=() if not odd else EVERY_SPECIAL if device else SPECIAL,
        keep=device,
    )
    words = [
        word for word in WORDS if all(getattr(word, engine) is not None for engine in engines) and word.kind != "leaf"
    ]
    reference = Reference(same_memory if device else None)
    draw.variables = reference.variables
    program = []

    def add(word, drawn, mode=""):
        names = word.kind in ("leaf", "op", "cut", "grad", "take")
        target = string.ascii_letters[sum(bool(each.target) for each in program)] if names else ""
        statement = Statement(word.name, target, tuple(drawn[0]), tuple((k, str(v)) for k, v in drawn[1].items()), mode)
        program.append(statement)
        try:
            reference.step(statement)
        except Exception:  # noqa: BLE001 (a statement that has no meaning stays: an engine has to say so)
            reference.variables.pop(target, None)

    for _ in range(rng.randint(1, 3)):
        add(BY_NAME["leaf"], BY_NAME["leaf"].draw(draw))
    for _ in range(rng.choice([4, 6, 8] if device else [4, 8, 8, 14])):
        (word,) = rng.choices(words, [word.weight for word in words])
        drawn = word.draw(draw)
        if drawn and None not in drawn[0] and all(x is None or x.data.size < 200 for x in reference.variables.values()):
            island = word.kind in ("op", "change") and rng.random() < (0.5 if word.kind == "change" else 0.06)
            add(word, drawn, rng.choice(["no_grad", "no_grad", "enable_grad"]) if island else "")
    keep = draw.keep
    for name, x in list(reference.variables.items())[-3:]:
        if x is not None and x.requires_grad and not x.leaf:
            ones = ([name], {"up": f"np.ones({x.data.shape})", "retain": str(keep or rng.random() < 0.5)})
            add(BY_NAME["backward"], ones)
    return program


# -- engines ---------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What a variable shows: an array, its gradient or None, and what it says of itself."""

    value: np.ndarray
    grad: np.ndarray | None
    requires_grad: bool
    leaf: bool
    view: bool = False


def array(x):
    if hasattr(x, "to_host"):
        return x.to_host()
    return x.detach().numpy() if hasattr(x, "grad_fn") and not hasattr(x, "wrap") else x.data


class Engine:
    """Runs statements in the words of an engine.

    faults   {name: function} that stand for what the words use: a fault to be found
    """

    def __init__(self, name, faults=None):
        self.name, self.namespace = name, dict(namespace(name)) | (faults or {})

    def step(self, statement):
        """Run a statement; the error that it raised, or None."""
        try:
            exec(statement.source(self.name), self.namespace)
            if self.name == "torch" and statement.target and statement.mode == "no_grad":
                # PyTorch 2.13 says of a view made here that it requires a gradient.
                self.namespace[statement.target] = self.namespace[statement.target].detach()
        except Exception as error:  # noqa: BLE001 (that is what is compared)
            return error
        return None

    def see(self, name):
        """What the variable shows; None where it is none."""
        x = self.namespace.get(name)
        if x is None:
            return None
        if self.name == "torch":
            grad, leaf = x.grad if x.is_leaf or x.retains_grad else None, x.is_leaf
        else:
            grad, leaf = x.grad, x.grad_fn is None
        view = self.name == "torch" and x._is_view()
        return Seen(array(x), None if grad is None else array(grad), x.requires_grad, leaf, view)


NAMESPACES = {}


def namespace(engine):
    if engine not in NAMESPACES:
        NAMESPACES[engine] = {}
        exec(HEADERS[engine], NAMESPACES[engine])
    return NAMESPACES[engine]


# -- comparison ------------------------------------------------------------------------------------


@dataclass
class Disagreement:
    """What differed after which statement of which program.

    kind     "value", "shape", "dtype", "requires_grad", "leaf", "gradient", "raised alone", "did not raise", "no sentence", …
    about    the variable, or the error
    """

    kind: str
    about: str
    detail: str
    program: list = field(repr=False)
    index: int = 0

    @property
    def statement(self):
        return self.program[self.index]

    def __str__(self):
        return f"{self.kind} of {self.about} after statement {self.index + 1}: {self.detail}"


# Sentences of NumPy that engine 2 hands on: they name the axis, the index or the shapes, as ours would.
NUMPY_SAYS = re.compile(
    "axis -?\\d+ is out of bounds for array of dimension"
    "|index -?\\d+ is out of bounds for axis"
    "|too many indices for array"
    "|cannot reshape array of size"
    "|cannot select an axis to squeeze out"
    "|axes don't match array"
    "|zero-size array to reduction operation"
    "|all the input array dimensions except for the concatenation axis must match exactly"
    "|all the input arrays must have same number of dimensions"
    "|zero-dimensional arrays cannot be concatenated"
    "|shape mismatch: (value array of shape|indexing arrays)"
    "|could not broadcast input array"
    "|operands could not be broadcast together with remapped shapes"
    "|input operand has more dimensions than allowed by the axis remapping"
    "|repeated axis"
)


def fault_of(error):
    """Why an error is none of ours: a type nobody expects, or words of somebody else. "" if it is."""
    if type(error) not in EXPECTED and not isinstance(error, (ValueError, IndexError)):
        return f"{type(error).__name__} is no type for a user: {error}"
    text = str(error)
    if NUMPY_SAYS.search(text):
        return ""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    raised = dis.opname[code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"
    if not raised or not code.co_filename.startswith(PACKAGE):
        return f"these are not our words: {type(error).__name__}: {text}"
    return "" if " " in text and "\n" not in text else f"no sentence: {text!r}"


def close(ours, true, rtol, atol):
    """Do they agree wherever `true` is no NaN?"""
    with np.errstate(all="ignore"):
        good = (ours == true) | np.isnan(true) | (np.abs(ours - true) <= atol + rtol * np.abs(true))
    return bool(np.all(good))


class Beside:
    """An engine beside the reference, statement by statement; `ran` counts them."""

    def __init__(self, engine, faults=None):
        self.engine = Engine(engine, faults)
        self.reference = Reference(same_memory if engine == "netcl" else None)
        self.ran = 0
        self.scale = 1.0

    def run(self, program):
        """The first Disagreement; None."""
        for index, statement in enumerate(program):
            if not set(statement.operands) <= self.reference.variables.keys():
                continue  # what it needs could not be made
            try:
                found = self.step(statement)
            except Unknown:
                return None
            if found == "end":
                return None
            if found:
                return Disagreement(*found, program, index)
            self.ran += 1
        return None

    def step(self, statement):
        reason = self.reference.may_refuse(statement)
        error = self.engine.step(statement)
        fault = error and fault_of(error)
        if fault:
            return "no sentence", type(error).__name__, fault
        if error is None or not reason:
            try:
                self.reference.step(statement)
                wrong = None
            except Unknown:
                raise
            except Exception as refusal:  # noqa: BLE001 (NumPy's or our own: it has no meaning)
                wrong = refusal
            if error is None and wrong is not None:
                return "did not raise", statement.name, f"the reference says {type(wrong).__name__}: {wrong}"
            if error is not None and wrong is None:
                return "raised alone", statement.name, f"{type(error).__name__}: {error}"
        if error is not None:
            self.reference.variables.pop(statement.target, None)
            return "end" if statement.word.kind in ("backward", "threads", "grad", "change") else None
        return self.compare()

    def compare(self):
        for name, x in self.reference.variables.items():
            seen = self.engine.see(name)
            if x is None or seen is None:
                if x is not seen and not (x is not None and x.doubtful and not np.nan_to_num(x.data).any()):
                    return "gradient", name, f"{seen and seen.value} for {x and x.data}"
                self.reference.variables[name] = None
                return None
            found = self.differs(name, x, seen)
            if found:
                return found
        return None

    def differs(self, name, x, seen):
        """Of one variable: (kind, name, what is seen and what is true), or None."""
        device = self.engine.name == "netcl"
        single = device or any(
            each is not None and each.data.dtype == np.float32 for each in self.reference.variables.values()
        )
        self.scale = max(self.scale, np.max(np.abs(x.data), initial=0, where=np.isfinite(x.data)))
        rtol, atol = (2e-3, 2e-4) if single else (1e-6, 1e-9)
        if seen.value.shape != x.data.shape:
            return "shape", name, f"{seen.value.shape} for {x.data.shape}"
        if seen.value.dtype != x.data.dtype:
            return "dtype", name, f"{seen.value.dtype} for {x.data.dtype}"
        if not (np.array_equal(np.isnan(seen.value), np.isnan(x.data)) and close(seen.value, x.data, rtol, atol)):
            return "value", name, f"{seen.value} for {x.data}"
        if not x.loose and (seen.requires_grad, seen.leaf) != (x.requires_grad, x.leaf):
            return (
                "requires_grad",
                name,
                f"{(seen.requires_grad, seen.leaf)} for {(x.requires_grad, x.leaf)}, with is_leaf",
            )
        true = None if x.grad is None else x.grad.data
        if (seen.grad is None) != (true is None):
            if true is not None and x.grad.doubtful and not np.nan_to_num(true).any():
                return None
            return "gradient", name, f"{seen.grad} for {true}"
        if true is None:
            return None
        if seen.grad.shape != true.shape or seen.grad.dtype != true.dtype:
            return "gradient", name, f"{seen.grad.shape} {seen.grad.dtype} for {true.shape} {true.dtype}"
        largest = np.max(np.abs(true), initial=self.scale, where=np.isfinite(true))
        if not close(seen.grad, true, 10 * rtol, atol * largest):
            return "gradient", name, f"{seen.grad} for {true}"
        return None


class Pair:
    """Two engines, statement by statement: what the first says is held against the second."""

    def __init__(self, engine, peer, faults=None):
        self.engine, self.peer = Engine(engine, faults), Engine(peer)
        self.names, self.ran, self.scale = [], 0, 1.0

    def run(self, program):
        for index, statement in enumerate(program):
            if not set(statement.operands) <= set(self.names):
                continue  # what it needs could not be made
            found = self.step(statement)
            if found == "end":
                return None
            if found:
                return Disagreement(*found, program, index)
            self.ran += 1
        return None

    def step(self, statement):
        error, theirs = self.engine.step(statement), self.peer.step(statement)
        fault = error and fault_of(error)
        if fault:
            return "no sentence", type(error).__name__, fault
        if isinstance(theirs, NotImplementedError):
            return "end"
        if error is None and theirs is not None:
            return "did not raise", statement.name, f"{self.peer.name} says {type(theirs).__name__}: {theirs}"
        if error is not None and theirs is None:
            return "raised alone", statement.name, f"{type(error).__name__}: {error}"
        if error is not None:
            return "end" if statement.word.kind in ("backward", "threads", "grad", "change") else None
        if statement.target:
            self.names.append(statement.target)
        for name in self.names:
            try:
                true = self.peer.see(name)
            except RuntimeError:  # PyTorch may refuse to say what a view is
                return "end"
            found = self.differs(name, self.engine.see(name), true)
            if found:
                return found
        return None

    def differs(self, name, ours, true):
        if ours is None or true is None:
            return None if ours is true else ("gradient", name, f"{ours} for {true}")
        single = "netcl" in (self.engine.name, self.peer.name) or ours.value.dtype == np.float32
        rtol, atol = (2e-3, 2e-4) if single else (1e-6, 1e-9)
        for kind, a, b in [("value", ours.value, true.value), ("gradient", ours.grad, true.grad)]:
            if a is None or b is None:
                if a is not b:
                    return kind, name, f"{a} for {b}"
                continue
            if a.shape != b.shape:
                return "shape" if kind == "value" else kind, name, f"{a.shape} for {b.shape}"
            if a.dtype != b.dtype:
                return "dtype" if kind == "value" else kind, name, f"{a.dtype} for {b.dtype}"
            self.scale = np.max(np.abs(b), initial=self.scale, where=np.isfinite(b))
            if not (np.array_equal(np.isnan(a), np.isnan(b)) and close(a, b, rtol, atol * self.scale)):
                return kind, name, f"{a} for {b}"
        if not true.view and (ours.requires_grad, ours.leaf) != (true.requires_grad, true.leaf):
            return (
                "requires_grad",
                name,
                f"{(ours.requires_grad, ours.leaf)} for {(true.requires_grad, true.leaf)}, with is_leaf",
            )
        return None


def run(program, engine, peer="reference", faults=None):
    """(the first Disagreement or None, how many statements ran)."""
    beside = Beside(engine, faults) if peer == "reference" else Pair(engine, peer, faults)
    with quiet():
        return beside.run(program), beside.ran


# -- reduction -------------------------------------------------------------------------------------


def in_double(program):
    """The program with all leaves in float64."""
    return [
        Statement(s.name, s.target, s.operands, tuple((k, v.replace("'f4'", "'f8'")) for k, v in s.settings), s.mode)
        for s in program
    ]


def is_rounding(found, engine, peer="reference"):
    """Does a wrong number become right in float64?"""
    if found.kind not in ("value", "gradient") or engine == "netcl" or "f4" not in str(found.program):
        return False
    return run(in_double(found.program), engine, peer)[0] is None


def without(program, index):
    """Programs without a statement: with all that needs its variable gone, or with an earlier variable in its place."""
    target = program[index].target
    gone, kept = {target} - {""}, program[:index]
    for statement in program[index + 1 :]:
        if gone & set(statement.operands):
            gone |= {statement.target} - {""}
        else:
            kept = [*kept, statement]
    yield kept
    for other in [each.target for each in program[:index] if target and each.target]:
        names = lambda operands: tuple(other if name == target else name for name in operands)
        yield program[:index] + [replace(each, operands=names(each.operands)) for each in program[index + 1 :]]


def reduced(found, engine, peer="reference", faults=None):
    """The shortest disagreement of the same kind that deleting statements one by one leads to."""
    best = replace(found, program=found.program[: found.index + 1])
    index = len(best.program)
    while index:
        index -= 1
        for program in without(best.program, index):
            again, _ = run(program, engine, peer, faults)
            if again and again.kind == best.kind and (again.kind in OF_NUMBERS or again.about == best.about):
                best = replace(again, program=again.program[: again.index + 1])
                index = len(best.program)
                break
    return best


# -- many programs -----------------------------------------------------------------------------------


@dataclass
class Count:
    """What came out of many programs: how many, their statements, and the disagreements that no one explains."""

    programs: int = 0
    statements: int = 0
    found: list = field(default_factory=list)
    explained: Counter = field(default_factory=Counter)


def campaign(engine, seeds, peer="reference", explain=lambda found: "", most=20, odd=None):
    """Generate and run a program for each seed; what is found is reduced, unless explain(found) names why it may be.

    most   stop after so many disagreements
    """
    count = Count()
    engines = [engine] + [peer] * (peer != "reference")
    for seed in seeds:
        found, ran = run(generate(seed, engines, odd), engine, peer)
        count.programs += 1
        count.statements += ran
        if not found or is_rounding(found, engine, peer):
            continue
        found = reduced(found, engine, peer)
        reason = explain(found)
        if reason:
            count.explained[reason] += 1
            continue
        count.found.append(replace(found, detail=f"{found.detail}\nseed {seed}:\n\n{source(found.program, engine)}"))
        if len(count.found) >= most:
            break
    return count


def main():
    parser = argparse.ArgumentParser(prog="fuzz.programs", description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=["tensor", "netcl"])
    parser.add_argument("programs", type=int)
    parser.add_argument("--peer", default="reference", choices=["reference", "tensor", "torch"])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--most", type=int, default=20, help="stop after so many disagreements")
    options = parser.parse_args()
    from fuzz.differences import explain  # it needs this module

    seeds = range(options.first, options.first + options.programs)
    began = time.perf_counter()
    count = campaign(options.engine, seeds, options.peer, explain(options.engine, options.peer), options.most)
    for found in count.found:
        print(found, end="\n\n")
    for reason, times in count.explained.most_common():
        print(f"{times:6}  {reason}")
    kinds = dict(Counter(found.kind for found in count.found))
    print(
        f"{count.programs} programs, {count.statements} statements, {time.perf_counter() - began:.0f} s, disagreements: {kinds}"
    )


if __name__ == "__main__":
    main()
