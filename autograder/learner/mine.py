"""`mine`: a later lesson on the engine that the learner built in earlier ones, read from their notebooks in work/.

What imports the lessons is imported when it is asked for: every notebook imports this file.
"""

import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from autograder import paths
from autograder.errors import CourseError
from autograder.student import Ran

if TYPE_CHECKING:
    from autograder.learner.own_work import Work
    from autograder.learner.transplant import Carried

WIDTH = 100  # of the paragraph, in characters


class Mine:
    """The learner's own engine.

    >>> mine(before=5)                  # the package runs on your functions from the lessons before 05
    >>> with mine.watch() as ran:       # whose functions run here, and how often
    ...     train()
    >>> with mine.reference():          # the reference's for a while, to compare
    ...     train()
    >>> mine.off()                      # the reference's again; so does a restart of the kernel
    """

    def __init__(self) -> None:
        self.carried: list[Carried] = []
        self.before: int | None = None

    def __call__(self, before: int | None = None) -> None:
        """Let the package run on the functions that are right in the notebooks in work/, and say whose stand where.

        before   the number of the lesson that goes on: what it and later ones ask for stays the reference's. None: all lessons

        It may be called again, after a notebook was saved.
        """
        self.off()
        try:
            print(textwrap.fill(self.go_on(before), WIDTH))
        except CourseError as error:
            print(error)

    def go_on(self, before: int | None) -> str:
        """Carry what is there; returns what there is to say."""
        from autograder.learner.own_work import lessons_before, work_on

        self.before = before
        modules = lessons_before(before)
        if not modules:
            return (
                "No lesson before this one builds a part of the engine that it uses, so there is nothing to go on with."
            )
        if not any(paths.work_notebook(module).exists() for module in modules):
            return (
                f"There is no notebook of yours in work/ yet for {listed(modules)}, so the reference's engine is used. "
                "`make lab` makes your copies; solve exercises there, save, and run this cell again."
            )
        works = [work_on(module) for module in modules]
        try:
            for work in works:
                if not work.unusable:
                    self.carry(work)
        except BaseException:
            self.off()
            raise
        return paragraph(works, self.carried)

    def carry(self, work: "Work") -> None:
        from autograder.learner.probes import probe
        from autograder.learner.transplant import carry

        try:
            self.carried.append(carry(work, lambda: probe(work.engine, self.before)))
        except Exception as error:
            work.unusable = f"{work.module} cannot be carried: {type(error).__name__}: {error}"

    def off(self) -> None:
        """Let the package run on its own functions again. A restart of the kernel does the same."""
        self.put(mine=False)
        self.carried = []

    def put(self, mine: bool) -> None:
        for carried in self.carried if mine else reversed(self.carried):
            carried.put(mine)

    @contextmanager
    def reference(self) -> Iterator[None]:
        """`with mine.reference():` the package runs on its own functions, and on yours again afterwards."""
        self.put(mine=False)
        try:
            yield
        finally:
            self.put(mine=True)

    @contextmanager
    def watch(self) -> Iterator[Ran]:
        """`with mine.watch() as ran:` counts the calls, in this thread, of the functions that lessons ask for, whoever wrote them.

        What runs inside is slower meanwhile. Of a captured step that is replayed no function runs, and none is counted.
        """
        ran, watched = Ran(), self.watched()

        def count(frame: FrameType, event: str, argument: object) -> None:
            if event == "call" and id(frame.f_code) in watched:
                ran.add(*watched[id(frame.f_code)][1:])

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            yield ran
        finally:
            sys.setprofile(before)

    def watched(self) -> dict[int, tuple[CodeType, str, str]]:
        """{id of its code: (code, name, whose)}; the code is held, so that its id stays its own."""
        from autograder.learner.own_work import lessons_before
        from autograder.learner.watched import notebooks_functions, references_functions

        carried = {each.module for each in self.carried}
        found = [(name, code, f"{'yours' if mine else 'the reference'}, {each.module}")
                 for each in self.carried for name, code, mine in each.functions()]  # fmt: skip
        found += [
            (name, code, f"the reference, {each.module}") for each in self.carried for name, code in each.replaced()
        ]
        for module in lessons_before(self.before):
            if module not in carried:
                found += [(name, code, f"the reference, {module}") for name, code in references_functions(module)]
        if self.before is not None:
            found += [(name, code, "this notebook") for name, code in notebooks_functions(self.before)]
        return {id(code): (code, name, whose) for name, code, whose in found}


def paragraph(works: "list[Work]", carried: "list[Carried]") -> str:
    """What is the learner's now, what is the reference's and why, and what is not carried at all."""
    own, counts, others = 0, [], []
    for each in carried:
        functions = [mine for _, _, mine in each.functions()]
        own += sum(functions)
        counts.append(f"{sum(functions)} of {len(functions)} functions of {each.module}")
        others += [f"{exercise} ({why})" for exercise, why in each.whys.items() if why]
    opening = "Your own engine carries you" if own else "The reference's engine is used"
    parts = [f"{opening}: {listed(counts)} are yours."] if counts else ["The reference's engine is used."]
    parts += [f"The reference stands in for {listed(others)}."] if others else []
    parts += [f"{work.unusable[0].upper()}{work.unusable[1:]}." for work in works if work.unusable]
    left = [f"{len(work.left_out)} of {work.module}" for work in works if not work.unusable and work.left_out]
    if left:
        parts.append(
            f"Exercises whose function the package does not have are not carried: {listed(left)} (docs/exercises.md)."
        )
    return " ".join(parts)


def listed(words: list[str]) -> str:
    """a; a and b; a, b and c."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


mine = Mine()
