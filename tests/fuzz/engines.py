"""Programs run on an engine beside a peer, the reference or another engine, statement by statement, until something differs."""

import contextlib
import dis
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from fuzz.programs import quiet, same_memory
from fuzz.reference import Reference, Seen, Unknown
from fuzz.words import HEADERS

import tinygrad_cl

PACKAGE = str(Path(tinygrad_cl.__file__).parent)
EXPECTED = (ValueError, TypeError, RuntimeError, IndexError)  # of an engine's errors

# -- engines ---------------------------------------------------------------------------------------


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

    def may_refuse(self, statement):
        """Why an engine beside this one may refuse it: for no reason."""
        return ""

    def see(self, name):
        """What the variable shows; None where it is none, or where PyTorch refuses to say what it is."""
        x = self.namespace.get(name)
        if x is None:
            return None
        if self.name == "torch":
            grad, leaf = x.grad if x.is_leaf or x.retains_grad else None, x.is_leaf
        else:
            grad, leaf = x.grad, x.grad_fn is None
        sure = self.name != "torch" or not x._is_view()
        return Seen(array(x), None if grad is None else array(grad), x.requires_grad, leaf, sure=sure)

    def forget(self, name):
        """The variable is none any more."""
        self.namespace[name] = None


NAMESPACES = {}


def namespace(engine):
    if engine not in NAMESPACES:
        NAMESPACES[engine] = {}
        exec(HEADERS[engine], NAMESPACES[engine])
    return NAMESPACES[engine]


# -- errors ----------------------------------------------------------------------------------------


@dataclass
class Disagreement:
    """What differed after which statement of which program.

    kind     "value", "shape", "dtype", "requires_grad", "leaf", "gradient", "raised alone", "did not raise", "no sentence", …
    about    the variable, or the error
    numbers  of values and gradients: what is seen, and what is true
    """

    kind: str
    about: str
    detail: str
    numbers: tuple = field(repr=False)
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


class TheReference(Reference):
    """The reference as a peer of an engine."""

    def step(self, statement):
        try:
            super().step(statement)
        except Unknown:
            raise
        except Exception as error:
            return Raised(type(error).__name__, str(error), "")
        return None


# -- comparison ------------------------------------------------------------------------------------


def differs(name, ours, true, single, scale, computed=False):
    """What differs between two that are Seen, as (kind, name, detail, and of numbers both arrays); None.

    Of a gradient that is not finite it is not compared whether it is NaN or infinite.

    single     were numbers of float32 met?
    scale      the largest number that was met: gradients are as exact as it allows
    computed   is this a gradient itself, that grad() gave?
    """
    if ours is None or true is None:
        there = ours or true
        same = ours is true or there.may_be_none and not np.nan_to_num(there.value).any()
        return None if same else ("gradient", name, f"{ours and ours.value} for {true and true.value}")
    rtol, atol = (2e-3, 2e-4) if single else (1e-6, 1e-9)
    for kind in ("shape", "dtype"):
        a, b = getattr(ours.value, kind), getattr(true.value, kind)
        if a != b:
            return kind, name, f"{a} for {b}"
    if not close(ours.value, true.value, rtol, atol, not_finite if computed else np.isnan):
        return "value", name, f"{ours.value} for {true.value}", ours.value, true.value
    a, b = [(seen.requires_grad, seen.leaf) for seen in (ours, true)]
    if true.sure and a != b:
        return "requires_grad", name, f"{a} for {b}, with is_leaf"
    a, b = ours.grad, true.grad
    if a is None or b is None:
        same = a is b or b is not None and true.grad_may_be_none and not np.nan_to_num(b).any()
        return None if same else ("gradient", name, f"{a} for {b}")
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return "gradient", name, f"{a.shape} {a.dtype} for {b.shape} {b.dtype}"
    scale = np.max(np.abs(b), initial=scale, where=np.isfinite(b))
    ours_known = np.where(np.isnan(b), b, a) if true.unknown else a
    if not close(ours_known, b, 10 * rtol, atol * scale, not_finite):
        return "gradient", name, f"{a} for {b}", a, b
    return None


def not_finite(x):
    return ~np.isfinite(x)


def close(ours, true, rtol, atol, special):
    """Is the same special in both, and do the others agree?"""
    with np.errstate(all="ignore"):
        near = np.isfinite(true) & (np.abs(ours - true) <= atol + rtol * np.abs(true))
    return bool(np.all((ours == true) | near | (special(ours) & special(true))))


class Comparison:
    """An engine beside a peer, statement by statement; `ran` counts them."""

    def __init__(self, engine, peer):
        self.engine, self.peer = engine, peer
        self.names, self.ran = [], 0
        self.single, self.scale = False, 1.0

    def run(self, program):
        """The first Disagreement; None."""
        for index, statement in enumerate(program):
            if not all(name in self.names for name in statement.operands):
                continue  # what it needs could not be made
            try:
                found = self.step(statement)
            except Unknown:
                return None
            if found == "end":
                return None
            if found:
                kind, about, detail, *numbers = found
                return Disagreement(kind, about, detail, numbers, program, index)
            self.ran += 1
        return None

    def step(self, statement):
        """(kind, about, detail, …) of what differs after the statement; None; "end" where nothing more can be compared."""
        reason = self.peer.may_refuse(statement)
        error = self.engine.step(statement)
        if error and error.fault:
            return "no sentence", error.type, error.fault
        theirs = error if error and reason else self.peer.step(statement)
        if theirs and theirs.type == "NotImplementedError":
            return "end"
        if theirs and not error:
            return "did not raise", statement.name, f"{self.peer.name} says {theirs}"
        if error and not theirs:
            return "raised alone", statement.name, str(error)
        if error:
            return "end" if statement.word.kind in ("backward", "threads", "grad", "change") else None
        self.names += [statement.target] * bool(statement.target)
        computed = statement.target if statement.word.kind in ("grad", "take") else ""
        found = self.compare(computed)
        if computed in self.names and not found and not np.isfinite(self.peer.see(computed).value).all():
            return "end"  # what comes of it may differ
        return found

    def compare(self, computed=""):
        """What differs of one of the variables, as of a step."""
        seen = {name: (self.engine.see(name), self.peer.see(name)) for name in self.names}
        values = [true.value for _, true in seen.values() if true]
        self.single = self.single or self.engine.name == "netcl" or any(x.dtype == np.float32 for x in values)
        self.scale = max([self.scale, *[np.max(np.abs(x), initial=0, where=np.isfinite(x)) for x in values]])
        for name, (ours, true) in seen.items():
            found = differs(name, ours, true, self.single, self.scale, name == computed)
            if found:
                return found
            if ours is None or true is None:
                self.names.remove(name)
                self.engine.forget(name)
                self.peer.forget(name)
        return None


def run(program, engine, peer="reference", faults=None):
    """(the first Disagreement or None, how many statements ran)."""
    views = same_memory if engine == "netcl" else None
    beside = Comparison(Engine(engine, faults), TheReference(views) if peer == "reference" else Engine(peer))
    with quiet():
        return beside.run(program), beside.ran


def is_ill_conditioned(found, engine):
    """Does what differs move in the reference, too, where the last digits of all that is rounded are moved?

    Then no two ways to compute it have to agree.
    """
    if found.kind not in ("value", "gradient"):
        return False
    single = engine == "netcl" or "'f4'" in str(found.program)
    plain, *moved = [said(found, engine, nudge) for nudge in range(4)]
    return any(differs(found.about, each, plain, single, 1.0) for each in moved)


@quiet()
def said(found, engine, nudge=0):
    """What the reference says of the variable that differs."""
    reference = TheReference(same_memory if engine == "netcl" else None, nudge)
    with contextlib.suppress(Unknown):
        for statement in found.program[: found.index + 1]:
            reference.step(statement)
    return reference.see(found.about)
