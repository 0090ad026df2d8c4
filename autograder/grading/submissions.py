"""Find the submissions in a folder as people, browsers and learning platforms leave them.

What counts is <student>/<module>/<module>.ipynb. Other names are recognised where they leave no doubt; what is not
recognised is named, never left out in silence.
"""

import hashlib
import os
import re
from collections import defaultdict
from pathlib import Path

from autograder import paths
from autograder.characters import one_line
from autograder.errors import CourseError
from autograder.grading.records import Submission

LITTER = {"__MACOSX", "Thumbs.db", "desktop.ini", "timestamp.txt"}  # of systems, and of nbgrader's exchange
COPY = re.compile(
    r"(?:[ _-]*(?:\(\d+\)|copy ?\d*|kopie|- ?\d+))+$"
)  # what browsers and file managers put behind a name
FORMULA = "=+-@＝＋－＠"  # a spreadsheet takes a text that begins so for a formula
LONGEST_NAME = 255  # bytes of a file's name

HELP = "it should hold <student>/<module>/<module>.ipynb"


def find_submissions(folder: Path) -> tuple[list[Submission], list[str]]:
    """The submissions in a folder, and a sentence for everything in it that is none, or was not clear."""
    if not folder.is_dir():
        raise CourseError(f"{folder} is no folder; {HELP}")
    found, left, taken = [], [], set()
    for path in sorted(entries(folder), key=lambda path: (student_name(path.name) != path.name, path.name)):
        name = student_name(path.name)
        if path.is_symlink():
            left.append(f"{readable(path.name)} is a link, perhaps to another student's folder; left out")
        elif not path.is_dir():
            left.append(f"{readable(path.name)} is no folder of a student; left out")
        elif name in taken:
            left.append(f"{readable(path.name)} would be another student called {name}; left out")
        else:
            taken.add(name)
            own, sentences = submissions_of(name, path)
            found += own
            left += [f"{name}{sentence}" for sentence in sentences]
    if not found:
        raise CourseError("\n".join([*left, f"{folder} holds no submission; {HELP}"]))
    return sorted(found, key=lambda each: (each.student, each.module)), left


def submissions_of(student: str, folder: Path) -> tuple[list[Submission], list[str]]:
    """What one student handed in; sentences go on after the student's name."""
    offers: defaultdict[str, list[Path]] = defaultdict(list)
    left, empty = [], {}
    try:
        inside = sorted(entries(folder))
    except OSError as error:
        return [], [f" cannot be read ({error.strerror}); left out"]
    for path in inside:
        module = module_called(path.stem if is_notebook(path) else path.name)
        if is_notebook(path) and module:
            offers[module].append(path)
        elif path.is_dir():
            notebooks = notebooks_in(path)
            called = {each: module_called(each.stem) or module for each in notebooks}
            for each, its in called.items():
                if its:
                    offers[its].append(each)
                else:
                    left.append(f"/{place(each, folder)} is a notebook of no module of the course; left out")
            if module and module not in called.values():
                empty[module] = path
            elif not notebooks:
                left.append(f"/{readable(path.name)} is no module of the course; left out")
        else:
            left.append(f"/{readable(path.name)} is no module of the course; left out")
    found = []
    for module, notebooks in offers.items():
        chosen = chosen_of(module, notebooks, folder)
        found.append(Submission(student, module, chosen.parent, chosen))
        others = [each for each in notebooks if each != chosen and not same_content(each, chosen)]
        left += [f"/{place(each, folder)} was not looked at; {place(chosen, folder)} counts" for each in others]
    for module, path in empty.items():
        if module not in offers:
            found.append(Submission(student, module, path))
            left.append(f"/{readable(path.name)} holds no notebook of that module")
    if not found and not left:
        left.append(" handed in nothing")
    return found, left


def entries(folder: Path) -> list[Path]:
    """What lies in a folder, without what systems put there."""
    return [path for path in folder.iterdir() if not path.name.startswith(".") and path.name not in LITTER]


def notebooks_in(folder: Path) -> list[Path]:
    """A folder's notebooks, also those that are none; none of a folder that is a link, or cannot be read."""
    try:
        return [] if folder.is_symlink() else sorted(path for path in entries(folder) if is_notebook(path))
    except OSError:
        return []


def is_notebook(path: Path) -> bool:
    return path.suffix.casefold() == ".ipynb"


def module_called(name: str) -> str | None:
    """The module that a folder or file is called after: "01-value", "01", "Value", "doe_123_01_value-1", "01_value (2)"."""
    word = re.sub(r"[^a-z0-9]+", "_", COPY.sub("", name.strip().casefold())).strip("_")
    for module in paths.module_names():
        number, _, rest = module.partition("_")
        if word in (module, rest) or word.isdigit() and int(word) == int(number):
            return module
        if word.endswith(f"_{module}"):
            return module
    return None


def chosen_of(module: str, notebooks: list[Path], folder: Path) -> Path:
    """The notebook that counts: the one under the right name in the right place; else the last download."""

    def rank(path: Path) -> tuple:
        number = re.search(r"\(?(\d+)\)?$", path.stem.removesuffix(module))
        return (
            path == folder / module / f"{module}.ipynb",
            path.stem == module,
            int(number[1][:9]) if number else 0,
            path,
        )

    return max(notebooks, key=rank)


def same_content(one: Path, other: Path) -> bool:
    """Whether two files hold the same bytes."""
    return Submission("", "", one.parent, one).read() == Submission("", "", other.parent, other).read() != b""


def place(path: Path, folder: Path) -> str:
    return readable(str(path.relative_to(folder)))


def readable(name: str) -> str:
    """A file's name as it can be shown in one line."""
    return one_line(decoded(name))


def decoded(name: str) -> str:
    """A name that is no UTF-8 as Windows meant it: zip files bring such names."""
    try:
        name.encode()
        return name
    except UnicodeEncodeError:
        data = os.fsencode(name)
        try:
            return data.decode("cp1252")
        except UnicodeDecodeError:
            return data.decode("cp850", "replace")


def student_name(folder: str) -> str:
    """The name under which a student's folder is graded: in all files, in the gradebook, on all pages.

    It is one line of text, begins no formula, and is the name of a file.
    """
    name = readable(folder)
    if not name or name.startswith("."):
        name = f"_{name}"
    if name[0] in FORMULA:
        name = f"_{name}"
    if len(name.encode()) > LONGEST_NAME:
        name = f"{name.encode()[: LONGEST_NAME - 40].decode(errors='ignore')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return name
