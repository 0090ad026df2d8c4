"""Pairs of notebooks that are alike in what is their own, with the places that say so. It proves nothing: people work together.

A notebook is a set of short runs of tokens (k-grams, as in winnowing: Schleimer, Wilkerson, Aiken, SIGMOD 2003), each within one
cell, so the order of cells does not matter. Names that a student may choose are all one token; comments, docstrings and layout
are none. What the course gave, or has as a solution, is taken out. A run counts log(N / n) if n of N notebooks have it, and
nothing if more than a few have: what many write says nothing, and a wrong answer that only two gave says most.

No library does this: copydetect and its like compare files in pairs, without the rest of the class.
"""

import ast
import builtins
import io
import keyword
import math
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from autograder.checks import find
from autograder.files import write_atomically
from autograder.grading.class_files import file_in
from autograder.grading.gradebook import read_json
from autograder.grading.records import Graded
from autograder.grading.unknown import unnamed
from autograder.judge.expected import edited_sources
from autograder.lesson.text import read_lesson
from autograder.pages import render

FOLDER = "similar"  # of pages in OUT, one for each module
LENGTH, WORDS = 10, 6  # tokens of a run, words of one in a written answer
FEW, COMMON = 3, 0.05  # more than so many, and than this part of the class: then a run, or a mistake, says nothing
FEWEST = 8  # notebooks, to say what is rare
MISTAKE = 25  # runs that a shared mistake counts for
# Two solutions of lessons 01 to 04 that were written apart share less than a fifth of what is rare.
ENOUGH, ALIKE = 60, 0.4  # runs that a pair must share, and of what is rare in the one that has less of it
PAIRS, CELLS = 20, 3  # on a page, and in a pair
LONGEST, LARGEST = 20_000, 100_000  # characters of a cell, and of a notebook, that are read: nobody writes as many
AT_ONCE = 8192  # runs that are multiplied at a time
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

Run = tuple[str, ...]
Token = tuple[str, int]  # text, line


@dataclass(frozen=True, order=True)
class Mistake:
    """A mistake in an exercise, by its name, or as the unknown one of a group."""

    exercise: str
    name: str


@dataclass(frozen=True)
class OwnCell:
    """A cell with a student's own text, and its runs: {run: the lines on which it stands}."""

    name: str
    source: str
    runs: dict[Run, set[int]]


@dataclass(frozen=True, eq=False)
class Work:
    """What of a notebook is a student's own."""

    student: str
    cells: list[OwnCell]
    mistakes: frozenset[Mistake] = frozenset()

    @cached_property
    def features(self) -> frozenset[Run | Mistake]:
        return frozenset(run for cell in self.cells for run in cell.runs) | self.mistakes


@dataclass(frozen=True)
class Pair:
    """Two notebooks.

    share     of what is rare in the one with less of it, the part that the other has, too
    runs      the rare runs that both have
    mistakes  rare ones that both made, with how many made each
    """

    one: Work
    other: Work
    share: float
    runs: frozenset[Run]
    mistakes: tuple[tuple[Mistake, int], ...]


def similar_pairs(works: Sequence[Work]) -> list[Pair]:
    """The pairs of a module that are most alike, the most first. Fewer than FEWEST are no class to compare with."""
    if len(works) < FEWEST:
        return []
    have = Counter(feature for work in works for feature in work.features)
    rare = {each: math.log(len(works) / n) for each, n in have.items() if n <= max(FEW, COMMON * len(works))}
    own = np.array([sum(rare[each] * size_of(each) for each in work.features if each in rare) for work in works])
    names = [each for each in rare if have[each] > 1]
    places = {each: place for place, each in enumerate(names)}
    rows = [np.array(sorted(places[each] for each in work.features if each in places), int) for work in works]
    sizes = np.array([size_of(each) for each in names], np.float32)
    amount = overlaps(rows, sizes)
    shared = overlaps(rows, sizes * np.array([rare[each] for each in names], np.float32))
    least = np.minimum.outer(own, own)
    share = np.divide(shared, least, out=np.zeros_like(shared), where=least > 0)
    found = np.argwhere(np.triu((amount >= ENOUGH) & (share >= ALIKE), 1)).tolist()
    found = sorted(found, key=lambda pair: -shared[pair[0], pair[1]])[:PAIRS]
    return [Pair(works[i], works[j], float(share[i, j]), *reasons(works[i], works[j], rare, have)) for i, j in found]


def size_of(feature: Run | Mistake) -> int:
    """How many runs a feature counts for."""
    return MISTAKE if isinstance(feature, Mistake) else 1


def overlaps(rows: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """The sum of the weights of what each two notebooks share. `rows` says what each has, as places in `weights`."""
    found = np.zeros((len(rows), len(rows)))
    for start in range(0, len(weights), AT_ONCE):
        here = np.zeros((len(rows), len(weights[start : start + AT_ONCE])), np.float32)
        for row, its in enumerate(rows):
            here[row, its[(its >= start) & (its < start + AT_ONCE)] - start] = 1
        found += (here * weights[start : start + AT_ONCE]) @ here.T
    return found


def reasons(
    one: Work, other: Work, rare: dict, have: Counter
) -> tuple[frozenset[Run], tuple[tuple[Mistake, int], ...]]:
    """The rare runs that two notebooks share, and the rare mistakes, with how many made each."""
    both = [each for each in one.features & other.features if each in rare]
    mistakes = sorted((have[each], each) for each in both if isinstance(each, Mistake))
    return frozenset(each for each in both if not isinstance(each, Mistake)), tuple((each, n) for n, each in mistakes)


# -- what is somebody's own ---------------------------------------------------------------------------


def works_of(graded: Iterable[Graded], out: Path, module: str) -> list[Work]:
    """What is their own of all who handed in a module."""
    graded = [each for each in graded if each.submission.module == module]
    made: dict[str, set[Mistake]] = {}
    for group in unnamed(graded):
        for student in group.students:
            made.setdefault(student, set()).add(Mistake(group.exercise, f"an unknown mistake, group {group.id}"))
    for each in graded:
        known = {Mistake(row.exercise, row.mistake) for row in each.rows if row.mistake}
        made.setdefault(each.submission.student, set()).update(known)
    works = []
    for each in graded:
        notebook = read_json(file_in(out, "autograded", each.submission))
        if notebook:
            cells = own_cells(notebook.get("cells", []), module)
            works.append(Work(each.submission.student, cells, frozenset(made[each.submission.student])))
    return works


def own_cells(cells: Iterable[dict], module: str) -> list[OwnCell]:
    """The cells of a notebook, as JSON, that hold more than the course gave."""
    given, names, left = course_runs(module), course_names(module), LARGEST
    found = []
    for cell in cells:
        course, source = cell.get("metadata", {}).get("course", {}), "".join(cell.get("source", ""))
        if course.get("kind") in ("check", "given", "text"):
            continue
        source = source[: min(LONGEST, left)]
        left -= len(source)
        is_code = cell.get("cell_type") == "code"
        runs = runs_in(list(tokens(source, names)), LENGTH) if is_code else runs_in(list(words(source)), WORDS)
        own = {run: lines for run, lines in runs.items() if run not in given}
        if own:
            found.append(OwnCell(course.get("exercise", ""), source, own))
    return found


@lru_cache(maxsize=4)
def course_runs(module: str) -> frozenset[Run]:
    """The runs of the course's own text: of each cell as it is handed out and solved, of each mistake and variant of a check."""
    lesson, names = read_lesson(module), course_names(module)
    code = [text for cell in lesson.cells if cell.is_code for text in (cell.stub, cell.solved)]
    for name in lesson.exercises:
        check = find(name)
        for edit in [tried.edit for tried in (*check.mistakes, *check.variants)]:
            code += edited_sources(check, edit).values()
    text = [text for cell in lesson.cells if not cell.is_code for text in (cell.stub, cell.solved)]
    found = {run for source in set(code) for run in runs_in(list(tokens(source, names)), LENGTH)}
    return frozenset(found | {run for source in set(text) for run in runs_in(list(words(source)), WORDS)})


@lru_cache(maxsize=4)
def course_names(module: str) -> frozenset[str]:
    """The names that nobody may choose: of Python, of what the lesson imports and asks for, and ".data", of attributes in it."""
    found = {*keyword.kwlist, *dir(builtins)}
    for cell in read_lesson(module).cells:
        if cell.is_code:
            found |= {*cell.names, *re.findall(r"\.[A-Za-z_]\w*", cell.solved)}
            found |= {
                alias.asname or alias.name.split(".")[0]
                for node in ast.walk(ast.parse(cell.solved))
                if isinstance(node, ast.Import | ast.ImportFrom)
                for alias in node.names
            }
    return frozenset(found)


def tokens(source: str, names: frozenset[str]) -> Iterator[Token]:
    """The tokens of a cell without comments and docstrings; a name that is not one of `names` is "name"."""
    starts, before = True, ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in SKIPPED:
                starts = starts or token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
                continue
            if token.type != tokenize.STRING or not starts:
                name = "." + token.string if before == "." else token.string
                chosen = token.type == tokenize.NAME and name not in names
                yield ("name" if chosen else "text" if token.type == tokenize.STRING else token.string), token.start[0]
            starts, before = False, token.string
    except (tokenize.TokenError, SyntaxError, ValueError):  # what came before it counts
        return


def words(text: str) -> Iterator[Token]:
    for number, line in enumerate(text.splitlines(), start=1):
        for word in re.findall(r"\w+", line.lower()):
            yield word, number


def runs_in(found: Sequence[Token], length: int) -> dict[Run, set[int]]:
    """The runs of so many tokens, {run: the lines on which it stands}."""
    runs: dict[Run, set[int]] = {}
    for start in range(len(found) - length + 1):
        part = found[start : start + length]
        runs.setdefault(tuple(text for text, _ in part), set()).update(line for _, line in part)
    return runs


# -- the page -----------------------------------------------------------------------------------------


def write_similar(graded: Sequence[Graded], out: Path, renewed: Collection[str]) -> list[str]:
    """Write OUT/similar/<module>.html for these modules, and for others that have none; returns all modules that have one."""
    modules = sorted({each.submission.module for each in graded})
    for module in modules:
        path = out / FOLDER / f"{module}.html"
        if module in renewed or not path.exists():
            works = works_of(graded, out, module)
            write_atomically(path, similar_page(module, len(works), similar_pairs(works)))
    return modules


def similar_page(module: str, count: int, pairs: Sequence[Pair]) -> str:
    return render(
        "similar.html",
        title=f"Alike: {module}",
        count=count,
        fewest=FEWEST,
        pairs=[
            {
                "students": (pair.one.student, pair.other.student),
                "share": f"{min(pair.share, 1):.0%}",
                "runs": len(pair.runs),
                "mistakes": [(each.exercise, each.name, n) for each, n in pair.mistakes],
                "cells": side_by_side(pair),
            }
            for pair in pairs
        ],
    )


def side_by_side(pair: Pair) -> list[dict]:
    """The cells that share most, as lines that are marked or not."""
    found = []
    for one in pair.one.cells:
        other = max(pair.other.cells, key=lambda cell: len(pair.runs & one.runs.keys() & cell.runs.keys()))
        both = pair.runs & one.runs.keys() & other.runs.keys()
        if both:
            found.append((len(both), one.name or other.name, marked(one, both), marked(other, both)))
    found.sort(key=lambda cell: -cell[0])
    return [{"name": name, "sides": (one, other)} for _, name, one, other in found[:CELLS]]


def marked(cell: OwnCell, runs: Iterable[Run]) -> list[tuple[str, bool]]:
    """(line, whether a shared run stands on it)."""
    hit = {line for run in runs for line in cell.runs[run]}
    return [(line, number in hit) for number, line in enumerate(cell.source.splitlines(), start=1)]
