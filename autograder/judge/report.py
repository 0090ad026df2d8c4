"""Report a verdict: short HTML in Jupyter, plain text elsewhere. First the known mistake; then the smallest case, expected, got."""

import math
from html import escape

import numpy as np

from autograder.checks.inside import Outcome
from autograder.judge.outcome import MISSING, outcome_text, shape_of, tolerance
from autograder.judge.outcome import SHOWN as NUMBERS
from autograder.judge.verdict import Difference, Verdict

SHOWN = 3  # aspects in one report, and parts of each; other aspects are named
FEW = 4  # numbers in which everybody sees what differs
STOPPED = ("ProbeTimeout", "WorkLimitExceeded")  # where it stood then is no place of a mistake
WORDS = ("expected", "got")
LATER = "the first numbers are right, a later one is not"  # where no more than a fingerprint of the others is recorded
FAINT = "opacity:.75;font-size:90%"
VERDICT = "application/vnd.course.verdict+json"  # no page shows it; `progress` reads it from saved notebooks

HEADLINES = {
    "ok": "all right",
    "partial": "partly right",
    "wrong": "not right yet",
    "error": "your code raised an error",
    "timeout": "stopped: it took too long",
    "crashed": "the notebook's process ended",
    "missing": "not written yet",
    "invalid": "the notebook could not be read",
    "waiting": "not marked yet",  # a written answer
}
COLORS = {"ok": "#1a85c8", "partial": "#e69f00"}  # after Okabe and Ito; legible on white and on black
OTHER_COLOR = "#d55e00"


class Report:
    """A verdict for people; displays itself in Jupyter and prints as text elsewhere."""

    def __init__(self, verdict: Verdict):
        self.verdict = verdict

    def headline(self) -> str:
        verdict = self.verdict
        mark = "✓" if verdict.status == "ok" else "✗"
        return (
            f"{mark} {verdict.check.name} · {verdict.points:g} of {verdict.check.points:g} points · "
            f"{HEADLINES['wrong' if self.raised_elsewhere() else verdict.status]}"
        )

    def raised_elsewhere(self) -> bool:
        """Whether only the check raised, say because it got None, and no line of the student's code."""
        errors = [difference.got.error for difference in self.verdict.wrong if difference.got.error]
        return self.verdict.status == "error" and bool(errors) and not any(error.get("where") for error in errors)

    def advice(self) -> str:
        if self.verdict.stale:
            return (
                f"The exercise's cell did not run: {self.verdict.stale}. Mend that first; what is judged here is what an "
                "earlier run of it defined."
            )
        if self.verdict.reason or self.verdict.carried:
            return self.verdict.reason or self.verdict.carried
        if self.verdict.needs and self.explains:
            return f"This builds on {', '.join(self.verdict.needs)}: get that right first, then run this check again."
        if self.verdict.status == "missing":
            return f"Replace `raise NotImplementedError` in {unwritten(self.verdict)}, run that cell, then run this one again."
        return ""

    def __str__(self) -> str:
        verdict, lines = self.verdict, [self.headline()]
        if self.advice():
            lines.append(self.advice())
        if self.explains:
            for mistake in verdict.mistakes:
                lines += [f"This is what comes out when {mistake.name}.", f"Hint: {mistake.hints[0]}"]
            for parts in counterexamples(verdict):
                lines += counterexample_lines(parts)
            if others(verdict):
                lines.append(others(verdict))
            if verdict.right:
                lines.append(f"Right: {'; '.join(verdict.right)}.")
        lines += [sentence for sentence in (verdict.device, verdict.accesses) if sentence]
        return "\n  ".join(lines)

    __repr__ = __str__

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        verdict = self.verdict
        return {
            "text/plain": str(self),
            "text/html": self._repr_html_(),
            VERDICT: {"exercise": verdict.check.name, "status": verdict.status, "points": verdict.points},
        }

    def _repr_html_(self) -> str:
        verdict = self.verdict
        color = COLORS.get(verdict.status, OTHER_COLOR)
        parts = [f"<b style='color:{color}'>{escape(self.headline())}</b>"]
        if self.advice():
            parts.append(f"<div>{inline_code_html(self.advice())}</div>")
        if self.explains:
            parts += [mistake_html(mistake) for mistake in verdict.mistakes]
            parts += [counterexample_html(case) for case in counterexamples(verdict)]
            if others(verdict):
                parts.append(f"<div>{escape(others(verdict))}</div>")
            if verdict.right:
                parts.append(f"<div style='{FAINT}'>Right: {escape('; '.join(verdict.right))}.</div>")
        for said in filter(None, (verdict.device, verdict.accesses)):
            parts.append(f"<div style='{FAINT}'>{inline_code_html(said)}</div>")
        return f"<div style='border-left:4px solid {color};padding:.3em .8em;line-height:1.5'>{''.join(parts)}</div>"

    @property
    def explains(self) -> bool:
        """Is there a comparison to show?"""
        return self.verdict.status not in ("missing", "ok")


def unwritten(verdict: Verdict) -> str:
    """The function that is still a stub, perhaps of an earlier exercise."""
    places = [difference.got.error.get("where", "") for difference in verdict.wrong if difference.got.error]
    name = places[0].split(",")[0] if places and places[0] else ""
    return "the cell above" if not name or name == "<module>" else f"`{name}`"


def row(difference: Difference) -> list[str]:
    """What differs and where, then "expected …" and "got …" with enough digits; of a large array, its first number that differs."""
    expected, got, found = difference.expected, difference.got, places(difference)
    where = difference_text(difference)
    what = ": ".join(filter(None, (difference.label, where)))
    if where == LATER:
        return [what]
    if expected is MISSING and got.error:  # it came before any part was looked at
        return [what, f"got {outcome_text(got)}"]
    if expected.kind != got.kind and expected.kind and outcome_text(expected) == outcome_text(got):
        return [what, *(f"{word} {outcome_text(out)}, of type {out.kind}" for word, out in zip(WORDS, (expected, got)))]
    if found and math.prod(shape_of(got)) > NUMBERS:
        expected, got = (Outcome(out.array.ravel()[found[0]]) for out in (expected, got) if out.array is not None)
    digits = next((n for n in (6, 10) if outcome_text(expected, n) != outcome_text(got, n)), 16)
    return [what, *(f"{word} {outcome_text(out, digits)}" for word, out in zip(WORDS, (expected, got)))]


def row_text(difference: Difference) -> str:
    what, *said = row(difference)
    return ": ".join(filter(None, (what, ", ".join(said))))


def difference_text(difference: Difference) -> str:
    """What is wrong about an array as a whole, or where it differs first; "" where that can be seen."""
    expected, got = difference.expected.array, difference.got.array
    if expected is None or got is None or expected.dtype.kind == "U" != got.dtype.kind:
        return ""
    if got.dtype.kind == "U" != expected.dtype.kind:
        if got.ndim:
            return "it holds texts, it should hold numbers"
        is_text = difference.got.kind in ("str", "str_")  # a check's own words, "None" say, are none of the student's
        return f"it is a text, it should be {'an array' if expected.ndim else 'a number'}" if is_text else ""
    shape, size, found = shape_of(difference.expected), math.prod(shape_of(difference.expected)), places(difference)
    if shape_of(difference.got) != shape:
        return f"the shape is {shape_of(difference.got)}, it should be {shape}"
    if not found or size <= FEW or size <= NUMBERS and len(found) == size:
        return LATER if expected.size < size else ""
    index = ", ".join(str(i) for i in np.unravel_index(found[0], shape))
    count = f", in {len(found)} of {size} numbers" if expected.size == size else ""
    return f"differs first at [{index}]{count}"


def places(difference: Difference) -> list[int]:
    """Where two arrays of one shape differ, as places in flat arrays; of fingerprints, among the numbers that both hold."""
    expected, got = difference.expected.array, difference.got.array
    if expected is None or got is None or shape_of(difference.expected) != shape_of(difference.got):
        return []
    held = min(expected.size, got.size)
    expected, got = expected.ravel()[:held], got.ravel()[:held]
    if "U" in (expected.dtype.kind, got.dtype.kind):
        same = expected == got if expected.dtype.kind == got.dtype.kind else True
    else:
        with np.errstate(all="ignore"):
            rtol = tolerance(difference.aspect.rtol, expected, got)
            same = np.isclose(got, expected, rtol, difference.aspect.atol, equal_nan=True)
    return np.flatnonzero(~np.asarray(same)).tolist()


def counterexamples(verdict: Verdict) -> list[list[Difference]]:
    """The parts that differ in the smallest case of each wrong aspect, for the first few aspects.

    None after carried-error marking: what that kernel sent is never shown.
    """
    found: dict[str, list[Difference]] = {}
    shown: list = []  # errors and arrays, each of them once
    for difference in [] if verdict.carried else sorted(verdict.wrong, key=rank):
        array, error = difference.got.array, difference.got.error
        said = error or (row(difference)[1:] if array is not None and array.size > FEW else None)
        if not is_told(difference, verdict.wrong) and (said is None or said not in shown):
            found.setdefault(difference.aspect.name, []).append(difference)
        shown.append(said)
    return [parts[:SHOWN] for parts in list(found.values())[:SHOWN]]


def rank(difference: Difference) -> int:
    """What decides comes first: 0 for an error of the student's code, 1 for NaN or infinity in place of a number, 2 for all else."""
    expected, got = difference.expected, difference.got
    is_wrong = bool(got.error) and (expected is MISSING or not expected.error)
    if is_wrong and got.error.get("where") and got.error["type"] not in STOPPED:
        return 0
    arrays = [outcome.array for outcome in (expected, got) if outcome.array is not None]
    finite = [array.dtype.kind == "U" or bool(np.isfinite(array).all()) for array in arrays]
    return 1 if finite == [True, False] else 2


def is_told(difference: Difference, every: list[Difference]) -> bool:
    """Whether it is a part that is missing, or too much, in a list that is shown to be of another length."""
    one_alone = MISSING is difference.expected or MISSING is difference.got
    lists = [each.label for each in every if each.code == difference.code and each is not difference]
    return one_alone and any(difference.label.startswith(f"{label}[") for label in lists)


def others(verdict: Verdict) -> str:
    """One sentence on the wrong aspects that are not shown; "" where all are."""
    kept = [parts[0].aspect.name for parts in counterexamples(verdict)]
    left = dict.fromkeys(each.aspect.name for each in verdict.wrong if each.aspect.name not in kept)
    return f"Wrong{', too' if kept else ''}: {'; '.join(left)}." if left else ""


def counterexample_lines(parts: list[Difference]) -> list[str]:
    """The case as code; what was expected and what came, part by part; where it fails."""
    first, lines = parts[0], [f"{parts[0].aspect.name}:", *parts[0].code.splitlines()]
    for part in parts:
        if part.more:
            lines += part.more.splitlines()
            continue
        lines.append(row_text(part))
    return lines + ([f"{sentence(first.where)}"] if first.where else [])


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def counterexample_html(parts: list[Difference]) -> str:
    first, cell = parts[0], "style='text-align:left;vertical-align:top;padding:0 1.2em 0 0;white-space:normal'"
    rows = []
    for part in parts:
        if part.more:
            rows.append(f"<tr><td {cell} colspan=4>{inline_code_html(part.more).replace(chr(10), '<br>')}</td></tr>")
            continue
        rows.append(
            "<tr>" + "".join(f"<td {cell}><code>{escape(text)}</code></td>" for text in row(part) if text) + "</tr>"
        )
    where = f"<div style='{FAINT}'>{escape(sentence(first.where))}</div>" if first.where else ""
    return (
        f"<div style='margin-top:.4em'><b>{escape(first.aspect.name)}</b>"
        f"<pre style='margin:.2em 0;background:none;padding:0;white-space:pre-wrap'>{escape(first.code)}</pre>"
        f"<table style='margin:.2em 0;border:none'>{''.join(rows)}</table>{where}</div>"
    )


def mistake_html(mistake) -> str:
    more = "".join(
        f"<details><summary>another hint</summary>{inline_code_html(hint)}</details>" for hint in mistake.hints[1:]
    )
    return (
        f"<div style='margin-top:.3em'>This is what comes out when <b>{inline_code_html(mistake.name)}</b>.</div>"
        f"<div>Hint: {inline_code_html(mistake.hints[0])}</div>{more}"
    )


def with_hint(report: str, mistake) -> str:
    """A report, as HTML, with a mistake that was named since: below its headline. None leaves it as it is."""
    headline, end, rest = report.partition("</b>")
    return f"{headline}{end}{mistake_html(mistake)}{rest}" if mistake else report


def inline_code_html(text: str) -> str:
    """Escaped text in which `…` is set as code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))
