"""The course as a submission finds it: without the parts that its module asks the student to write."""

import compileall
import shutil
from functools import lru_cache
from pathlib import Path

from autograder import paths
from autograder.lesson.imports import names_imported
from autograder.lesson.symbols import module_source, with_stand_ins
from autograder.lesson.text import read_lesson
from autograder.sandbox.bubblewrap import COURSE
from autograder.sandbox.folders import kept_folder

NOTEBOOK = '''"""What a student's notebook imports, while it is graded: checks are run by the grader, not here."""

from autograder.student import ReferenceAlone, add_to_class, predict

mine = ReferenceAlone("mine(): while a notebook is graded, the reference stands in for earlier lessons.")


def check(name: str) -> None:
    """Nothing: the grader asks by itself."""
'''
ASKED = "{name} is what module {module} asks you to write (exercise {exercise}): run your cell first"
ABSENT = "{name} is what module {module} asks you to write, so it is not there while your notebook is graded"
UNUSED = "{name} is not used by module {module}, so it is not there while your notebook is graded"
ALWAYS = {
    "__init__.py",
    "measurements.py",
    "opencl",
}  # parts of tinygrad_cl that every notebook may import; checks ask for the device


def hidden_symbols(module: str) -> dict[str, dict[str, str]]:
    """What this module's exercises ask for: {module of tinygrad_cl: {symbol: exercise}}."""
    found = {}
    for cell in read_lesson(module).cells:
        if cell.kind == "exercise":
            for symbol in (*cell.pulled, *cell.hides):
                found.setdefault(symbol.split(":")[0], {})[symbol] = cell.name
    return found


def less_what_is_asked(module: str, used: set[str], absence: str) -> dict[str, str]:
    """The modules of tinygrad_cl that hold what this module asks for, {name: source}, without it.

    Where the lesson uses the part that one belongs to, what the notebook defines stands for what is asked for. Else it
    is one line that says why it is not there: `absence`, with {name} and {module} in it.
    """
    return {
        name: stand_ins(module, name, asked) if uses(used, name) else absent(name, module, absence)
        for name, asked in hidden_symbols(module).items()
    }


def stand_ins(module: str, name: str, asked: dict[str, str]) -> str:
    """A module of tinygrad_cl that runs on what the notebook defines."""
    sentences = {
        symbol: ASKED.format(name="{name}", module=module, exercise=exercise) for symbol, exercise in asked.items()
    }
    return with_stand_ins(module_source(name)[0], sentences)


def uses(parts: set[str], name: str) -> bool:
    """Is a module of tinygrad_cl in one of these parts of it?"""
    part = name.split(".")[1]
    return part in parts or f"{part}.py" in parts


def absent(name: str, module: str, sentence: str) -> str:
    """A module that cannot be imported, and says why."""
    return f"raise ImportError({sentence.format(name=name, module=module)!r})\n"


def used_parts(module: str, kinds=("given",)) -> set[str]:
    """The parts of tinygrad_cl (a file or folder each) that the module's cells of these kinds import, and what those import.

    No others are shown: they hold derivatives that an exercise could borrow, as the other engines and gradient checks do.
    """
    return parts_behind([cell.solved for cell in read_lesson(module).cells if cell.kind in kinds])


def parts_behind(sources: list[str]) -> set[str]:
    """The parts of tinygrad_cl that sources import, and what those import."""
    found, sources = set(ALWAYS), list(sources)
    while sources:
        parts = parts_imported(sources.pop()) - found
        found |= parts
        sources += [
            path.read_text(encoding="utf-8") for part in parts for path in files_of(paths.ROOT / "tinygrad_cl" / part)
        ]
    return found


def parts_imported(source: str) -> set[str]:
    """The files and folders in tinygrad_cl that a source imports from, anywhere in it."""
    names = names_imported(source)
    parts = {name.split(".")[1] for name in names if name.startswith("tinygrad_cl.")}
    folder = paths.ROOT / "tinygrad_cl"
    return {
        part if (folder / part).is_dir() else f"{part}.py"
        for part in parts
        if files_of(folder / part) or (folder / f"{part}.py").exists()
    }


def files_of(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


@lru_cache
def course_for(module: str) -> Path:
    """A folder with what the module uses of tinygrad_cl, less what is hidden, and the `autograder.notebook` that notebooks import.

    It is made once for each process, readable by everybody, and goes with the process.
    """
    folder = kept_folder() / module
    package = folder / "tinygrad_cl"
    shutil.copytree(
        paths.ROOT / "tinygrad_cl", package, ignore=shutil.ignore_patterns("__pycache__", "*.pyi", "py.typed")
    )
    used = used_parts(module)
    for path in [path for path in package.iterdir() if path.name not in used]:
        put_in_place(path, absent(f"tinygrad_cl.{path.stem}", module, UNUSED))
    for name, source in less_what_is_asked(module, used, ABSENT).items():
        path = folder / Path(*name.split(".")).with_suffix(".py")
        if path.parent.exists():  # else the folder that it lies in is not there
            path.write_text(source, encoding="utf-8")
    (folder / "autograder").mkdir()
    (folder / "autograder" / "__init__.py").write_text("")
    for name in ("student.py", "stand_in.py"):
        shutil.copyfile(paths.ROOT / "autograder" / name, folder / "autograder" / name)
    (folder / "autograder" / "notebook.py").write_text(NOTEBOOK, encoding="utf-8")
    # Compiled once, not in each kernel, which cannot write here; under the names that files have inside.
    compileall.compile_dir(folder, quiet=2, stripdir=str(folder), prependdir=COURSE)
    return folder


def put_in_place(path: Path, source: str) -> None:
    """Let `source` stand where a module, or a package with all in it, was."""
    if path.is_dir():
        shutil.rmtree(path)
        path = path.with_suffix(".py")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
