"""Programs run on an engine beside the reference, or on two engines, statement by statement, until something differs."""

import dis
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from fuzz.programs import quiet, same_memory
from fuzz.reference import Reference, Unknown
from fuzz.words import HEADERS

import tinygrad_cl

PACKAGE = str(Path(tinygrad_cl.__file__).parent)
EXPECTED = (ValueError, TypeError, RuntimeError, IndexError)  # of an engine's errors

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


@dataclass
class Raised:
    """An error, without its frames, which would keep tensors alive: its type, its text, and why it is none of ours, or ""."""

    type: str
    text: str
    fault: str

    def __str__(self):
        return f"{self.type}: {self.text}"


class Engine:
    """Runs statements in the words of an engine.

    faults   {name: function} that stand for what the words use: a fault to be found
    """

    def __init__(self, name, faults=None):
        self.name, self.namespace = name, dict(namespace(name)) | (faults or {})

    def step(self, statement):
        """Run a statement; what it Raised, or None."""
        try:
            exec(statement.source(self.name), self.namespace)
            if self.name == "torch" and statement.target and statement.mode == "no_grad":
                # PyTorch 2.13 says of a view made here that it requires a gradient.
                self.namespace[statement.target] = self.namespace[statement.target].detach()
        except Exception as error:
            return Raised(type(error).__name__, str(error), fault_of(error))
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


class Comparison:
    """Two ways to run a program, statement by statement; `ran` counts them.

    is_missing(name)   whether a variable could not be made
    step(statement)    (kind, about, detail) of what differs after it; None; "end" where nothing more can be compared
    """

    ran = 0

    def run(self, program):
        """The first Disagreement; None."""
        for index, statement in enumerate(program):
            if any(map(self.is_missing, statement.operands)):
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


class Beside(Comparison):
    """An engine beside the reference."""

    def __init__(self, engine, faults=None):
        self.engine = Engine(engine, faults)
        self.reference = Reference(same_memory if engine == "netcl" else None)
        self.scale = 1.0

    def is_missing(self, name):
        return self.reference.variables.get(name) is None

    def step(self, statement):
        reason = self.reference.may_refuse(statement)
        error = self.engine.step(statement)
        if error and error.fault:
            return "no sentence", error.type, error.fault
        if error is None or not reason:
            try:
                self.reference.step(statement)
                wrong = None
            except Unknown:
                raise
            except Exception as refusal:
                wrong = f"{type(refusal).__name__}: {refusal}"
            if error is None and wrong is not None:
                return "did not raise", statement.name, f"the reference says {wrong}"
            if error is not None and wrong is None:
                return "raised alone", statement.name, str(error)
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
                continue
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


class Pair(Comparison):
    """Two engines: what the first says is held against the second."""

    def __init__(self, engine, peer, faults=None):
        self.engine, self.peer = Engine(engine, faults), Engine(peer)
        self.names, self.scale = [], 1.0

    def is_missing(self, name):
        return name not in self.names or self.engine.see(name) is None

    def step(self, statement):
        error, theirs = self.engine.step(statement), self.peer.step(statement)
        if error and error.fault:
            return "no sentence", error.type, error.fault
        if theirs and theirs.type == "NotImplementedError":
            return "end"
        if error is None and theirs is not None:
            return "did not raise", statement.name, f"{self.peer.name} says {theirs}"
        if error is not None and theirs is None:
            return "raised alone", statement.name, str(error)
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
