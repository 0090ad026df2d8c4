"""Exercises that hand over a kernel's text: when it counts, the text is launched in a process that no cell of the student's has touched.

The student's process is asked for the texts (`asked`). What is launched with them, and with which arrays, is the judge's (`launches`),
and so is what comes of it (`joined`). In the notebook all of it happens in one process (`plan.run`), by the same functions of `inside`.
"""

import ast
from collections.abc import Callable
from typing import Any

from autograder.checks.aspect import Aspect
from autograder.checks.cases import Case
from autograder.checks.inside import Outcome, Trial

Plan = tuple[tuple[Aspect, Case], ...]
NO_TEXT = Outcome(error={"type": "TypeError", "message": "what was handed over is no text", "where": ""})


def is_constant(aspect: Aspect) -> bool:
    """Whether the texts are the same in all cases."""
    function = ast.parse(aspect.texts).body[0]
    return isinstance(function, ast.FunctionDef) and len(function.args.args) == 1


def questions(plan: Plan) -> list[int]:
    """Which cases of the plan the student's process is asked: of texts that are the same in all cases, one."""
    known: set[str] = set()
    asked = []
    for number, (aspect, _) in enumerate(plan):
        if not (aspect.texts and is_constant(aspect)):
            asked.append(number)
        elif aspect.texts not in known:
            known.add(aspect.texts)
            asked.append(number)
    return asked


def asked(plan: Plan) -> list[dict]:
    """For the student's process: the outcomes of cases, and of kernels the texts alone."""
    found: dict[int, dict] = {}
    for number in questions(plan):
        aspect, case = plan[number]
        what = {"texts": aspect.texts, "observe": ""} if aspect.texts else {"observe": aspect.source}
        request = found.setdefault(id(aspect), {**what, "cases": []})
        request["cases"].append(case.inputs)
    return list(found.values())


def given(plan: Plan, answers: list[Trial]) -> list[Trial]:
    """The answers, one for each case of the plan."""
    answered, constant, found = iter(answers), dict[str, Trial](), []
    numbers = set(questions(plan))
    for number, (aspect, _) in enumerate(plan):
        answer = next(answered, Trial()) if number in numbers else constant[aspect.texts]
        if aspect.texts and is_constant(aspect):
            constant[aspect.texts] = answer
        found.append(answer)
    return found


def texts_in(answer: Trial) -> dict[str, str] | None:
    """The texts that were handed over; None where they were not."""
    texts = {label: outcome.array for label, outcome in answer.items() if label[:1] != "~"}
    if not texts or any(array is None or array.dtype.kind != "U" or array.ndim for array in texts.values()):
        return None
    return {label: str(array) for label, array in texts.items()}


def launches(plan: Plan, answers: list[Trial]) -> list[dict]:
    """For the clean process: the cases whose texts were handed over."""
    found: dict[int, dict] = {}
    for (aspect, case), answer in zip(plan, answers):
        if aspect.texts and (texts := texts_in(answer)):
            new = {"observe": aspect.source, "cases": [], "given": [], "once": not aspect.points}
            request = found.setdefault(id(aspect), new)
            request["cases"].append(case.inputs)
            request["given"].append(texts)
    return list(found.values())


def joined(plan: Plan, answers: list[Trial], launched: list[Trial]) -> list[Trial]:
    """A trial for each case: the launches' outcomes, and what went wrong before. Whoever hands over a text changes no input by it."""
    outcomes, found = iter(launched), []
    for (aspect, _), answer in zip(plan, answers):
        if not aspect.texts:
            found.append(answer)
        elif texts_in(answer):
            conditions = {label: outcome for label, outcome in answer.items() if label == "~inputs"}
            found.append(Trial(next(outcomes, Trial()) | conditions))
        else:
            found.append(Trial({"": answer.get("", NO_TEXT)}) if answer else answer)
    return found


class Launcher:
    """The process that launches what a notebook hands over. It starts at the first launch, and again after a kernel that was not
    right: it may have written anywhere, or not have ended.

    watched   whether Oclgrind looks at a launch, too
    """

    def __init__(self, new_kernel: Callable, watched: bool):
        self.new_kernel, self.watched = new_kernel, watched
        self.kernel: Any = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()

    def stop(self) -> None:
        if self.kernel:
            self.kernel.stop()
        self.kernel = None

    def run(self, request: list[dict], seconds: float):
        """The `Run` of these cases."""
        if self.kernel and not self.kernel.alive:
            self.stop()
        if self.kernel is None:
            self.kernel = self.new_kernel().__enter__()
        return self.kernel.cases(request, seconds)
