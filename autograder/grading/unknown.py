"""A class teaches the grader: wrong answers that no known mistake explains, in groups that compute the same, and their names.

OUT/mistakes.json holds the name and the hint that an instructor gave to a group, and what its answers compute. Whoever's answer
computes the same gets both, in every later run, under every seed; a copy of the file takes them to another class.
"""

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import nbformat

from autograder.characters import one_line
from autograder.checks import find
from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.grading.class_files import stamp_of
from autograder.grading.gradebook import read_json
from autograder.grading.records import Graded, Named
from autograder.judge.notebook_run import course_cell
from autograder.judge.reference import module_of
from autograder.judge.unknown import alike, digest_of
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.text import read_lesson

FILE = "mistakes.json"
LONGEST = 300  # characters of a name, and of a hint
SHOWN = 60  # groups on the class page; of answers that nobody else gave, as many again in one line each


class Names:
    """OUT/mistakes.json."""

    def __init__(self, out: Path):
        self.file = out / FILE
        self.known: list[Named] = []
        if self.file.exists():
            try:
                self.known = [read_entry(entry) for entry in json.loads(self.file.read_text(encoding="utf-8"))]
            except (OSError, ValueError, TypeError) as error:
                raise CourseError(
                    f"{self.file} does not hold the names of mistakes any more ({error}); mend or restore it, or delete it: "
                    "then nobody gets them"
                ) from None

    def of(self, exercise: str, record: dict) -> Named | None:
        """The name of what an answer computes, if it has one."""
        return next((each for each in self.known if is_one(each, exercise, record)), None)

    def hints(self, module: str, unknown: Mapping[str, dict]) -> dict[str, Named]:
        """{id of the check's cell: the mistake} for the answers of one notebook."""
        ids = {cell.name: cell.id for cell in read_lesson(module).cells if cell.kind == "check"}
        found = {name: self.of(name, record) for name, record in unknown.items() if name in ids}
        return {ids[name]: named for name, named in found.items() if named}

    def outdated(self) -> list[Named]:
        """Those that nobody can get any more: their exercise is observed in other cases now, or is gone."""
        return [each for each in self.known if not is_current(each)]

    def give(self, exercise: str, record: dict, name: str, hint: str) -> Named:
        """Name what an answer computes, and write that down. A name that it has is replaced."""
        for word, text in (("name", name), ("hint", hint)):
            if not one_line(text) or len(text) > LONGEST:
                raise CourseError(f"a {word} is one line of at most {LONGEST} characters")
        known = [mistake.name for mistake in find(exercise).mistakes]
        if one_line(name) in known:
            raise CourseError(f"{exercise} has a mistake of that name; give this one another")
        answer = without_words(record.get("answer", ""))
        named = Named(exercise, one_line(name), one_line(hint), answer, record["check"], record["cases"])
        self.known = [each for each in self.known if not is_one(each, exercise, record)] + [named]
        self.write()
        return named

    def to_renew(self, modules: Iterable[str]) -> list[Named]:
        """Those of these modules' exercises whose answers are to be observed in the cases that there are now."""
        exercises = {name for module in modules for name in read_lesson(module).exercises}
        return [each for each in self.outdated() if each.exercise in exercises and each.answer]

    def renew(self, named: Named, record: dict | None) -> None:
        """Note what the answer computes now; None where a known mistake explains it, or nothing does."""
        if record:
            self.known[self.known.index(named)] = replace(named, check=record["check"], cases=record["cases"])
            self.write()

    def write(self) -> None:
        write_atomically(self.file, json.dumps([asdict(each) for each in self.known], indent=1, ensure_ascii=False))


def with_answer(named: Named) -> bytes:
    """The solved notebook with the answer of a named mistake, as a file that is handed in."""
    notebook = solved_notebook(read_lesson(module_of(named.exercise)))
    for cell in notebook.cells:
        if course_cell(cell) == ("exercise", named.exercise):
            cell.source = named.answer
    return nbformat.writes(notebook).encode()


def read_entry(entry: dict) -> Named:
    """An entry of the file; ValueError or TypeError for one that is none."""
    named = Named(**entry)
    if not all(isinstance(value, str) for value in entry.values()) or not isinstance(json.loads(named.cases), dict):
        raise ValueError("an entry holds something else than text")
    return named


def is_one(named: Named, exercise: str, record: dict) -> bool:
    return named.exercise == exercise and alike(exercise, {"check": named.check, "cases": named.cases}, record)


def is_current(named: Named) -> bool:
    try:
        return named.check == digest_of(named.exercise)
    except CourseError:
        return False


@dataclass
class Group:
    """Equal wrong answers: the record of the first, and who gave them."""

    exercise: str
    record: dict
    students: list[str]

    @property
    def id(self) -> str:
        return id_of(self.record)


def id_of(record: dict) -> str:
    """A short name of what an answer computes."""
    return hashlib.sha256((record["check"] + record["cases"]).encode()).hexdigest()[:6]


def groups_of(answers: Iterable[tuple[str, str, dict]]) -> list[Group]:
    """(student, exercise, record) in groups that compute the same, the largest first."""
    found: dict[tuple, list[Group]] = {}
    for student, exercise, record in answers:
        failing = frozenset(json.loads(record["cases"]))
        its = found.setdefault((exercise, record["check"], failing), [])
        group = next((group for group in its if alike(exercise, group.record, record)), None)
        if group is None:
            its.append(group := Group(exercise, record, []))
        group.students.append(student)
    return sorted((group for its in found.values() for group in its), key=lambda group: -len(group.students))


def unnamed(graded: Iterable[Graded]) -> list[Group]:
    """The groups of a class that have no name."""
    return groups_of(
        (each.submission.student, row.exercise, each.unknown[row.exercise])
        for each in graded
        for row in each.rows
        if row.exercise in each.unknown and not row.mistake
    )


def unknown_section(graded: Iterable[Graded], outdated: Iterable[Named] = ()) -> dict:
    """What unknown.html shows: groups of several students, answers that nobody else gave, names that hold no more."""
    groups = unnamed(graded)
    several = [group for group in groups if len(group.students) > 1]
    alone = [group for group in groups if len(group.students) == 1]
    return {
        "groups": [row_of(group) for group in several[:SHOWN]],
        "more": len(several[SHOWN:]),
        "alone": [{"exercise": each.exercise, "id": each.id, "student": each.students[0]} for each in alone[:SHOWN]],
        "alone_more": len(alone[SHOWN:]),
        "outdated": [f"{each.exercise}: {each.name}" for each in outdated],
    }


def row_of(group: Group) -> dict:
    return {
        "exercise": group.exercise,
        "id": group.id,
        "students": group.students,
        "shown": group.record["shown"],
        "answer": group.record.get("answer", ""),
        "by": group.students[0],
    }


def answers_in(out: Path, exercise: str) -> list[tuple[str, str, dict]]:
    """(student, exercise, record) of all autograded notebooks of a class folder that have one."""
    module, found = module_of(exercise), []
    for path in sorted(out.glob(f"autograded/*/{module}/{module}.ipynb")):
        record = stamp_of(read_json(path) or {}).get("unknown", {}).get(exercise)
        if record:
            found.append((path.parts[-3], exercise, record))
    return found


def group_named(out: Path, exercise: str, group: str) -> Group:
    """The group of a class that has this id; CourseError where there is none."""
    answers = answers_in(out, exercise)
    record = next((record for _, _, record in answers if id_of(record) == group), None)
    if record is None:
        there = ", ".join(f"{each.id} ({len(each.students)})" for each in groups_of(answers)) or "none"
        raise CourseError(f"{out} has no group {group} of {exercise}; the groups there, and their students: {there}")
    return next(each for each in groups_of(answers) if alike(exercise, each.record, record))


def name_group(out: Path, exercise: str, group: str, name: str, hint: str) -> str:
    """Name a group; returns a sentence."""
    found = group_named(out, exercise, group)
    named = Names(out).give(exercise, found.record, name, hint)
    count = f"{len(found.students)} student{'s' * (len(found.students) != 1)}"
    return f"{exercise}: «{named.name}» of {count} is in {out / FILE}; they get it with the next `grade`"


def adopted(out: Path, exercise: str, name: str) -> str:
    """A named mistake as Python code for the lesson's checks. `name`: its name, or the beginning of it."""
    check = find(exercise)
    its = [each for each in Names(out).known if each.exercise == exercise]
    found = [each for each in its if each.name == name] or [each for each in its if each.name.startswith(name)]
    if len(found) != 1:
        there = "; ".join(each.name for each in its) or "none; first name a group"
        raise CourseError(f"{out / FILE} has {len(found)} mistakes «{name}» of {exercise}; there are: {there}")
    if not found[0].answer:
        raise CourseError(f"«{found[0].name}» was given to an answer that is no plain Python; write its edit by hand")
    file, variable = place_of(check.name)
    return stub(found[0], file, variable)


def stub(named: Named, file: str, variable: str) -> str:
    """A call of `mistake`. All that was typed by somebody is a literal in it."""
    lines = "\n".join(f"        {line!r}" for line in named.answer.splitlines(keepends=True))
    return (
        f"# For {file}. The source is a program of a student: read it before you run it. Make it a `swap` if you can,\n"
        f"# then run: python -m autograder checks {named.exercise}\n"
        f"{variable}.mistake(\n    {named.name!r},\n    source=(\n{lines}\n    ),\n    hint={named.hint!r},\n)"
    )


def place_of(exercise: str) -> tuple[str, str]:
    """(the file of an exercise's check, the variable that it has there)."""
    from autograder import paths
    from autograder.grading.version import checks_of

    for part in checks_of(module_of(exercise)):
        for path in sorted(part.glob("*.py")) if part.is_dir() else [part]:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
                    first = node.value.args[0]
                    if isinstance(first, ast.Constant) and first.value == exercise:
                        return str(path.relative_to(paths.ROOT)), ast.unparse(node.targets[0])
    return f"the checks of {module_of(exercise)}", "x"


def without_words(source: str) -> str:
    """Code without comments and docstrings, in which people write names; "" where it is no Python."""
    try:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef | ast.Module):
                said = [each for each in node.body if is_text(each)]
                left = [each for each in node.body if each not in said]
                node.body = left if left or isinstance(node, ast.Module) else [ast.Pass()]
        return ast.unparse(ast.fix_missing_locations(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
