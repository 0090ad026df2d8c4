"""One way in which an engine may differ from its peer: what it explains, and what a statement has to meet for that."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from fuzz.programs import Statement, quiet, same_memory
from fuzz.reference import Reference
from fuzz.words import BY_NAME

DEFAULTS = {
    "leaf": {"data": "np.ones(2)", "grad": "True"},
    "backward": {"up": "np.ones(2)", "retain": "False"},
    "grad": {"up": "np.ones(2)", "retain": "True", "create": "False", "unused": "True"},
}


def statement(text):
    """A Statement, from such as "b = sum a axis=0 keepdims=True"; settings have no spaces, and "no_grad: " may stand in front."""
    mode, text = re.fullmatch(r"(?:(\w+): )?(.*)", text).groups("")
    target, text = re.fullmatch(r"(?:(\w) = )?(.*)", text).groups("")
    name = max((name for name in BY_NAME if (text + " ").startswith(name + " ")), key=len)
    rest = text[len(name) :].split()
    settings = DEFAULTS.get(name, {}) | dict(each.split("=", 1) for each in rest if "=" in each)
    return Statement(name, target, tuple(each for each in rest if "=" not in each), tuple(settings.items()), mode)


@dataclass(frozen=True)
class Difference:
    """One reason.

    engine, peer   where: "tensor" or "netcl", beside "reference", "tensor" or "torch"
    example        the shortest program that shows it, as statements between semicolons
    kind, says     regular expressions for the kind of a Disagreement, and for its detail
    word           for the word of the statement where it shows
    has, met       for the word of some statement before, and what is true of that: met(its settings, numbers of its operands)
    only           which of "ours" or "theirs" is NaN wherever the numbers differ
    """

    reason: str
    engine: str
    peer: str
    kind: str
    example: str
    says: str = ""
    word: str = ".*"
    has: str = ".*"
    met: Callable | None = None
    only: str = ""

    @property
    def program(self):
        return [statement(each.strip()) for each in self.example.split(";")]

    def explains(self, found) -> bool:
        return bool(
            re.fullmatch(self.kind, found.kind)
            and re.search(self.says, found.detail)
            and re.fullmatch(self.word, found.statement.name)
            and (not self.only or len(found.numbers) == 2 and self.is_nan(*found.numbers))
            and self.was_met(found)
        )

    def is_nan(self, ours, theirs) -> bool:
        """Do they agree wherever that one is no NaN?"""
        here = ~np.isnan(ours if self.only == "ours" else theirs)
        return np.allclose(ours[here], theirs[here], rtol=0.02, equal_nan=True)

    @quiet()
    def was_met(self, found) -> bool:
        """Is there such a statement? The numbers are those of the reference."""
        if not self.met:
            return any(re.fullmatch(self.has, each.name) for each in found.program[: found.index + 1])
        reference = Reference(same_memory if self.engine == "netcl" else None)
        for each in found.program[: found.index + 1]:
            operands = [reference.see(name) for name in each.operands]
            there = re.fullmatch(self.has, each.name) and None not in operands
            if there and self.met(dict(each.settings), *[seen.value for seen in operands]):
                return True
            try:
                reference.step(each)
            except Exception:
                reference.variables.pop(each.target, None)
        return False


# -- what a statement may meet -------------------------------------------------------------------------


def nan(settings, *numbers):
    return any(np.isnan(x).any() for x in numbers)


def infinite(settings, *numbers):
    return any(np.isinf(x).any() for x in numbers)


def to_the_0(settings, *numbers):
    """Of a power: is it the 0th?"""
    return (float(settings["k"]) == 0) if "k" in settings else (numbers[1] == 0).any()


def zero(settings, *numbers):
    return not (numbers[0] - numbers[1] if len(numbers) == 2 else numbers[0]).all()


def is_recorded(settings, *numbers):
    return settings["create"] == "True"


def has_indices(settings, *numbers):
    return "np.array" in settings["key"]


def is_twice(settings, x, *values):
    """Does an assignment name a place twice?"""
    places = np.arange(x.size).reshape(x.shape)[eval(f"np.s_[{settings['key']}]", {"np": np})]
    return len(np.unique(places)) < places.size


def one_number(settings, x):
    return x[eval(f"np.s_[{settings['key']}]", {"np": np})].ndim == 0


def of_several(settings, *numbers):
    return len({x.dtype for x in numbers}) > 1
