"""Report a verdict: short HTML in Jupyter, plain text elsewhere. First the known mistake; then the smallest case, expected, got."""

from html import escape

import numpy as np

from autograder.checks.inside import Outcome
from autograder.judge.outcome import outcome_text
from autograder.judge.verdict import Difference, Verdict

SHOWN = 3  # aspects in one report, and parts of each; other aspects are named
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


def row(difference: Difference) -> tuple[str, str, str]:
    """(expected, got, where they differ), with enough digits to see it."""
    expected, got = difference.expected, difference.got
    if expected.kind != got.kind and expected.kind and outcome_text(expected, 6) == outcome_text(got, 6):
        return with_kind(expected), with_kind(got), ""
    digits = next((n for n in (6, 10) if outcome_text(expected, n) != outcome_text(got, n)), 16)
    return outcome_text(expected, digits), outcome_text(got, digits), difference_text(difference, digits)


def with_kind(outcome: Outcome) -> str:
    """An outcome that differs from another in its type alone: "2 parts, a tuple"."""
    return f"{outcome_text(outcome, 6)}, of type {outcome.kind}"


def difference_text(difference: Difference, digits: int) -> str:
    expected, got = difference.expected.array, difference.got.array
    if expected is None or got is None:
        return ""
    if got.dtype.kind == "U" and expected.dtype.kind != "U":
        return "it is a text, it should be a number" if expected.ndim == 0 else "it holds texts, it should hold numbers"
    if expected.shape != got.shape:
        return f"the shape is {got.shape}, it should be {expected.shape}"
    if expected.ndim == 0 or expected.dtype.kind == "U" or got.dtype.kind == "U":
        return ""
    with np.errstate(
        all="ignore"
    ):  # times 1.0, since booleans have no difference, and that of unsigned numbers is wrong
        distance = np.nan_to_num(np.abs(got * 1.0 - expected * 1.0), nan=np.inf)
        wrong = ~np.isclose(got, expected, difference.aspect.rtol, difference.aspect.atol, equal_nan=True)
    worst = np.unravel_index(int(np.argmax(distance)), distance.shape)
    index = ", ".join(str(i) for i in worst)
    here, there = (
        str(array[worst]) if array.dtype.kind == "b" else f"{array[worst]:.{digits}g}" for array in (got, expected)
    )
    return f"{int(wrong.sum())} of {expected.size} differ; most at [{index}]: {here}, not {there}"


def counterexamples(verdict: Verdict) -> list[list[Difference]]:
    """The parts that differ in the smallest case of each wrong aspect, for the first few aspects.

    None after carried-error marking: what that kernel sent is never shown.
    """
    found: dict[str, list[Difference]] = {}
    errors = []
    for difference in [] if verdict.carried else verdict.wrong:
        if difference.got.error is None or difference.got.error not in errors:  # an error is shown once
            found.setdefault(difference.aspect.name, []).append(difference)
        errors.append(difference.got.error)
    return [parts[:SHOWN] for parts in list(found.values())[:SHOWN]]


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
        expected, got, where = row(part)
        name = f"{part.label}: " if part.label else ""
        lines += [f"{name}expected {expected}, got {got}" + (f" ({where})" if where else "")]
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
        named = [
            part.label,
            *(f"{label} {text}" if text else "" for label, text in zip(("expected", "got", ""), row(part))),
        ]
        rows.append(
            "<tr>" + "".join(f"<td {cell}><code>{escape(text.strip())}</code></td>" for text in named if text) + "</tr>"
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
