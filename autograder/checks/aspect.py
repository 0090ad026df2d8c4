"""An aspect of a check: one thing that the exercise's text asks for, observed in many cases.

An observation is a function of the student's names and of a case (and of `tools`, if it takes three arguments). It returns a
labelled tree: a number, an array, a text, or a dict of such; an error is an outcome, too. It runs on the student's code and
on the reference alike, so no expected value is written by hand. Where it pauses (`yield`), other cases may run in between.
"""

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from autograder.checks.cases import Case, Source

NOTEBOOK_SEED = "notebook"  # what a student sees; when it counts, the seed is secret
NOTEBOOK_CASES, CASES = 59, 240  # of all aspects of a check together; the docstring's examples are one more


@dataclass(frozen=True, eq=False)
class Aspect:
    """
        name      what the text asks for: "the gradient of a"; a report says that it is right, or not
        points    earned if all cases are right
        source    the observation's text, which travels to a student's process
        cases     where the inputs come from
        corner    counts only once the check's first aspect is right
        at_most   labels of numbers that may be smaller than the reference's: costs that the text promises
        exact     a sentence of the exercise's text that promises types: then dtypes and containers are compared, too
        agrees    function(expected, got) of {label: array}, for what the text leaves free; None: equal
        device    in how many cases, from the first on, the outcome is held against central differences on the device;
                  a case tagged NO_DERIVATIVE is passed over
        races     which wrong numbers come out depends on the device: that they are wrong is all that is compared with a mistake's
        few, many how many cases in a notebook, and when it counts; None: a fair part of 59 and of 240
    texts     a function's text: of the student's names it gives those that are kernels' texts, and no other can be observed
    """

    name: str
    points: float
    source: str
    cases: Source | None
    corner: bool = False
    at_most: tuple[str, ...] = ()
    exact: str = ""
    agrees: str = ""
    device: int = 0
    races: bool = False
    rtol: float = 1e-6
    atol: float = 1e-9
    few: int | None = None
    many: int | None = None
    texts: str = ""
    listed: list[Case] = field(default_factory=list)  # the notebook's cases, where a students' copy has them as data

    def plan(self, check: str, seed: str, aspects: int) -> list[Case]:
        """The cases for a seed: in a notebook few, and always the same."""
        if self.cases is None:
            return self.listed
        notebook = seed == NOTEBOOK_SEED
        count = (self.few if notebook else self.many) or max(4, (NOTEBOOK_CASES if notebook else CASES) // aspects)
        digest = hashlib.sha256(f"{seed}|{check}|{self.name}".encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        drawn = count // 4 if self.cases.draw else 0
        return self.cases.choose(rng, count - drawn, drawn)

    @cached_property
    def holds(self) -> Callable | None:
        """The function `agrees`."""
        from autograder.checks.inside import compile_function

        return compile_function(self.agrees, "agrees") if self.agrees else None


def texts_function(texts: tuple[str, ...] | Callable) -> str:
    """A function's text that hands over the texts with these names, the same for all cases; or that of the given function of
    (student, case), if they differ.
    """
    if callable(texts):
        return text_of(texts, "observe")
    given = ", ".join(f"{name!r}: student.{name}" for name in texts)
    return f"def observe(student):\n    return {{{given}}}" if texts else ""


WATCHED = """{source}

def observe(student, case):
    from tinygrad_cl.opencl.trial import watching
    with watching() as seen:
        for part in launched(student, case).values():
            part() if callable(part) else part
    counted = [fault for each in seen if not each.harmless for fault in each]
    return {{"found": "\\n".join(dict.fromkeys(counted)), "harmless": "\\n".join(f for each in seen if each.harmless for f in each),
            "failed": "\\n".join(dict.fromkeys(each.failed for each in seen if each.failed))}}
"""


def text_of(function: Callable | None, name: str) -> str:
    """A function's text without decorators, and under that name; "" for None."""
    if function is None:
        return ""
    if function.__name__ == "<lambda>":
        raise ValueError(f"{name}: give a function with a name, so that its text can travel")
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    made = tree.body[0]
    assert isinstance(made, ast.FunctionDef)
    made.decorator_list, made.name = [], name
    return ast.unparse(tree)
