"""Programs: statements made of words, and how random ones are generated."""

import random
import string
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from fuzz.draws import EVERY_SPECIAL, SPECIAL, Draw
from fuzz.reference import Reference
from fuzz.words import BY_NAME, HEADERS, WORDS

SHAPES = [(), (1,), (3,), (2, 3), (3, 1), (1, 3), (1, 1), (0,), (2, 0), (0, 3), (2, 1, 3), (2, 3, 2), (3, 3), (5, 7)]
FEW_SHAPES = [(), (3,), (2, 3), (3, 1), (0, 3), (3, 3)]  # on a device: each shape is a kernel to compile
MODES = {"": "", "no_grad": "with no_grad(): ", "enable_grad": "with no_grad(), enable_grad(): "}


def same_memory(word, result, x):
    """Does a result of engine 3 share the memory of its input? Tensors are contiguous: where all of it is there, in its order."""
    if word in ("reshape", "squeeze", "unsqueeze"):
        return True
    whole = result.size == x.size and result.__array_interface__["data"] == x.__array_interface__["data"]
    return word in ("index", "narrow", "split", "chunk") and whole and result.flags.c_contiguous


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
        except Exception:
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
