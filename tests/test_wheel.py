"""The wheel, in an environment that has nothing else: `tinygrad-cl lab` opens the course in an empty folder.

Packages come from the registry, so it needs the network.
"""

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile

import pytest

from autograder import paths

pytestmark = pytest.mark.long
FIRST = "00_start"
SOLVE = f"""
import nbformat
from autograder.lesson.notebooks import solved_notebook
from autograder.lesson.text import read_lesson
nbformat.write(solved_notebook(read_lesson("{FIRST}")), "{FIRST}/{FIRST}.ipynb")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from the tracked files alone, and elsewhere, since building leaves files behind."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=paths.ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, tracked.stdout.split("\0")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths.ROOT / name, source / name)
    call(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, source)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """The folder of programs of a bare environment with the wheel."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=True)
    folder = environment / ("Scripts" if os.name == "nt" else "bin")
    call(folder / "python", "-m", "pip", "install", "--quiet", "--constraint", paths.ROOT / "requirements.lock", wheel)
    return folder


def run(*command, cwd=None):
    return subprocess.run([*map(str, command)], cwd=cwd, env=bare(), capture_output=True, text=True)


def call(*command, cwd=None):
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def bare():
    """The variables without those that lead to this checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def test_the_wheel_holds_each_lesson_solved_and_unsolved(wheel):
    held = set(zipfile.ZipFile(wheel).namelist())
    lessons = {f"solutions/{module}.py" for module in paths.module_names()}
    lessons |= {f"modules/{module}/{module}.ipynb" for module in paths.module_names()}
    lessons |= {"projects/projects.ipynb"}
    assert {name.removeprefix("autograder/texts/") for name in held if name.startswith("autograder/texts/")} == lessons


def test_the_command_opens_the_course_in_an_empty_folder(programs, tmp_path):
    server = subprocess.Popen(
        [programs / "tinygrad-cl", "lab", "--no-browser", "--port", "8900"],
        cwd=tmp_path, env=bare(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    said = []
    try:
        for line in server.stdout:
            said.append(line)
            if address := re.search(r"http://127\S+", line):
                break
        assert f"/lab/tree/{FIRST}/{FIRST}.ipynb" in address[0]
        assert "jupyter-config-data" in page_at(address[0])
    finally:
        server.terminate()
        server.wait(timeout=60)
        server.stdout.close()
    assert "WARN" not in "".join(said) and "nbgrader" not in "".join(said).lower()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name[0] != ".") == [
        *paths.module_names(),
        "projects",
    ]


def page_at(address):
    """The page, once the server listens, which is soon after it has said where."""
    for _ in range(120):
        try:
            with urllib.request.urlopen(address) as page:
                return page.read().decode()
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(address)


def test_a_lesson_runs_there_and_progress_knows_it(programs, tmp_path):
    (tmp_path / FIRST).mkdir()
    call(programs / "python", "-c", SOLVE, cwd=tmp_path)
    notebook = tmp_path / FIRST / f"{FIRST}.ipynb"
    call(programs / "jupyter", "nbconvert", "--to", "notebook", "--execute", "--inplace", notebook, cwd=tmp_path)
    done, of = re.search(
        rf"{FIRST}.*?(\d+) of (\d+)", call(programs / "tinygrad-cl", "progress", cwd=tmp_path)
    ).groups()
    assert done == of != "0"


def test_a_folder_with_other_files_is_left_alone(programs, tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    done = run(programs / "tinygrad-cl", "lab", cwd=tmp_path)
    assert done.returncode == 1 and "a folder of its own" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
