"""Write the recordings (`recorded`) of all checks, and find those that are stale."""

import contextlib
import io
import json
from pathlib import Path

from autograder.checks import all_checks
from autograder.checks.aspect import NOTEBOOK_SEED, Aspect
from autograder.checks.check import Check
from autograder.checks.inside import Trial, run_cases
from autograder.checks.tools import Tools
from autograder.judge.case_verdict import Cases, differences
from autograder.judge.expected import edited_sources, fit, forget, fresh, kept_by_all
from autograder.judge.fingerprint import OF_MISTAKES, RTOL_OF_MISTAKES, encode
from autograder.judge.outcome import MISSING, same
from autograder.judge.plan import examples_in, examples_request, plan_of, recorded_examples, use_examples
from autograder.judge.recorded import REFERENCE, WHOLE_TRIAL, decoded, file_of, read, recorded
from autograder.judge.reference import module_of, reference_namespace
from autograder.lesson.text import read_lesson

EXAMPLE = Aspect("an example", 0.0, "", None)


def write_recordings(modules: list[str]) -> list[Path]:
    """Write the recorded outcomes of these modules' checks that are not what a fresh run gives; returns the files."""
    changed = stale_recordings(modules)
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
    read.cache_clear()
    forget()
    return list(changed)


def stale_recordings(modules: list[str]) -> dict[Path, str]:
    """{file: its right text} for every file of recorded outcomes of these modules that a fresh run contradicts.

    Numbers are compared within each check's tolerances: mathematics libraries differ in the last digit.
    """
    files: dict[Path, list] = {}
    lessons = {f"m{module}" for module in modules}
    for check in [check for check in all_checks().values() if check.lesson in lessons]:
        files.setdefault(file_of(check), []).append(check)
    return {
        path: text_of({check.name: recording(check) for check in checks})
        for path, checks in files.items()
        if set(read(path)) != {check.name for check in checks} or any(map(out_of_date, checks))
    }


def text_of(recordings: dict[str, dict[str, dict]]) -> str:
    """{check: {mistake or REFERENCE: what is recorded of it}} as the text of a file, a line for each."""
    checks = []
    for check, content in recordings.items():
        lines = [f"{as_json(name)}: {as_json(part)}" for name, part in content.items()]
        checks.append(f"{as_json(check)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(checks) + "\n}\n"


def as_json(content) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def out_of_date(check: Check) -> str:
    """What a fresh run of the reference and of every mistake gives otherwise than it is recorded; "" for nothing."""
    content, now, plan = recorded(check), recording(check), plan_of(check.name, NOTEBOOK_SEED)
    if set(content) != set(now):
        return f"the mistakes {sorted(map(str, set(content) ^ set(now)))}"
    there, here = content[REFERENCE], json.loads(as_json(now[REFERENCE]))
    for part in ("names", "examples", "conditions"):
        if there.get(part) != here[part]:
            return f"the {part} of the reference: {there.get(part)} is recorded, now {here[part]}"
    if len(there["cases"]) != len(plan):
        return "the number of cases"
    for name, trials in now.items():
        there, here = content[name], trials
        if name == REFERENCE:
            there, here = (dict(enumerate(part["cases"])) for part in (content[name], trials))
        if set(there) != set(here):
            return f"which cases «{name}» fails: {sorted(set(there) ^ set(here))}"
        for number in here:
            aspect = plan[int(number)][0]
            rtol = aspect.rtol if name == REFERENCE else max(aspect.rtol, RTOL_OF_MISTAKES)
            if not alike(there[number], here[number], rtol, aspect.atol):
                return f"case {number} of «{name}»: {there[number]} is recorded, now {here[number]}"
    return ""


def alike(there: dict | None, here: dict | None, rtol: float, atol: float) -> bool:
    """The same outcomes; of a fingerprint, the same first numbers and sums."""
    if there is None or here is None:
        return there is here
    if set(there) != set(here):
        return False
    one, two = decoded(there), decoded(here)
    return all(same(one.get(label, MISSING), two.get(label, MISSING), rtol, atol) for label in one)


def recording(check: Check) -> dict:
    """What is recorded of a check: {REFERENCE: conditions and cases, mistake: {number of a case: its trial}}."""
    examples = examples_of(check)
    if examples != recorded_examples(check):
        use_examples(check.name, examples)
        forget()
    plan = plan_of(check.name, NOTEBOOK_SEED)
    right = fit(check.name, NOTEBOOK_SEED)
    cases = [None if trial is None else encoded(aspect, trial) for (aspect, _), trial in zip(plan, right)]
    found: dict = {
        REFERENCE: {
            "names": read_lesson(module_of(check.name)).exercise(check.name).names,
            "conditions": kept_by_all(check),
            "examples": examples,
            "cases": cases,
        }
    }
    whole = Cases(check, NOTEBOOK_SEED, plan, right, found[REFERENCE]["conditions"])
    for mistake in check.mistakes:
        trials = fresh(check.name, NOTEBOOK_SEED, mistake.name)
        failed = whole.failed(trials)
        found[mistake.name] = {str(n): other_than(plan[n][0], right[n] or Trial(), trials[n]) for n in failed}
    return found


def other_than(aspect: Aspect, right: Trial, trial: Trial) -> dict:
    """What is recorded of a mistake's trial: labels that are not the reference's; all, marked, where it lacks some."""
    if aspect.races:
        return {}
    entries = encoded(aspect, trial, *OF_MISTAKES)
    if set(right) - set(trial):
        return entries | {WHOLE_TRIAL: ""}
    close = {
        label
        for label, outcome in right.items()
        if not (aspect.exact and outcome.kind != trial[label].kind)
        and same(outcome, trial[label], aspect.rtol / 10, aspect.atol / 10)
    }
    return {label: entry for label, entry in entries.items() if label not in close}


def encoded(aspect: Aspect, trial: Trial, *size: int) -> dict:
    return {label: encode(outcome, bool(aspect.exact), *size) for label, outcome in trial.items()}


def examples_of(check: Check) -> list[list[str]]:
    """The examples of the exercise's docstrings that the reference runs without an error, and every variant as the reference does."""
    solved = read_lesson(module_of(check.name)).exercise(check.name).solved
    sessions = examples_in(solved)
    ways = [{}, *(edited_sources(check, variant.edit) for variant in check.variants)]
    runs = []
    for sources in ways:
        namespace = reference_namespace(module_of(check.name), sources)
        with contextlib.redirect_stdout(io.StringIO()):
            runs.append(run_cases(examples_request(sessions), namespace, Tools(), check.seconds))
    return [
        lines
        for lines, right, *others in zip(sessions, *runs)
        if right and not any(outcome.error for outcome in right.values())
        if not any(any(differences(EXAMPLE, right, other)) for other in others)
    ]
