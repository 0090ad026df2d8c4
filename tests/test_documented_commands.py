"""Every command that README.md, CONTRIBUTING.md and docs/ name: it is run, or looked at, as COMMANDS says.

None finds the environment's programs on the PATH, as for whoever types `.venv/bin/python …`.
"""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from nbgrader.apps.nbgraderapp import NbGraderApp
from small_class import SANDBOX

import autograder.__main__
import tinygrad_cl.__main__
from autograder.grading.sample_class import solved, write_submission

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = "cd conda dask git jupyter make mpiexec nbgrader pip pytest python sudo .venv/bin/python".split()
MODULE = "01_value"


@dataclass(frozen=True)
class Run:
    """Run the command, in a folder with a tiny class; `instead` is what is really run, where the command itself takes long."""

    instead: str = ""
    reason: str = ""
    long: bool = False


@dataclass(frozen=True)
class Look:
    """Do not run it here, for this reason; look whether what it names is there."""

    reason: str


MINUTES, FOREVER, OTHERS = Look("takes minutes"), Look("runs until it is stopped"), Look("a program of somebody else")
NETWORK, SET_UP = Look("needs the network"), Look("sets the course up first")
NAMED = Look("needs a class that makes the mistake; tests/test_unknown.py has one")
BARE = "" if SANDBOX else " --no-sandbox"
GRADE = Run(
    f"python -m autograder grade SUBMISSIONS --out OUT --workers 1{BARE}", "one worker is enough for one notebook"
)
COMMANDS = {
    "make": Run(f"make -C {ROOT}", "help, which is all that needs no set-up"),
    "make bench": MINUTES,
    'make bench ARGS="--against HEAD~1"': MINUTES,
    "make bundle": SET_UP,
    "make collect M=01": SET_UP,
    "make compare M=01": SET_UP,
    "make compare M=01 ALL=1": SET_UP,
    "make compare": SET_UP,
    "make format": SET_UP,
    "make grade": MINUTES,
    "make lab": FOREVER,
    "make copies": SET_UP,
    "make lint": SET_UP,
    "make lock": NETWORK,
    "make notebooks": SET_UP,
    "make peers": MINUTES,
    "make progress": SET_UP,
    "make release M=01": SET_UP,
    "make return M=01": SET_UP,
    "make size": SET_UP,
    "make test": MINUTES,
    'make test ARGS="tests/test_devices.py -v"': MINUTES,
    "make test-all": MINUTES,
    "python -m autograder build": Run("python -m autograder build --check 00_start", "writes nothing, of one module"),
    'python -m autograder adopt start.sin_times "the product is halved" --out OUT': NAMED,
    'python -m autograder name start.sin_times 10f566 "the product is halved" "Where does the 2 come from?" --out OUT': NAMED,
    "python -m autograder bundle 00_start 01_value": Run(),
    "python -m autograder calibrate ATTEMPTS": Run(
        f"python -m autograder calibrate {ROOT}/tests/attempts/03_broadcast.jsonl --workers 1", "few attempts"
    ),
    "python -m autograder checks value.mul": Run("python -m autograder checks start.double", "it has fewer mistakes"),
    "python -m autograder due 01 2026-10-01T18:00 --out OUT": Run(),
    "python -m autograder due 01 2026-10-08T18:00 --student ada --out OUT": Run(
        "python -m autograder due 01 2026-10-01T18:00 --out OUT"
        " && python -m autograder due 01 2026-10-08T18:00 --student ada --out OUT",
        "an extension of a time that is set",
    ),
    "python -m autograder explain ada value.mul --out OUT --notebook mul.ipynb": Run(
        f"python -m autograder explain ada value.mul --out OUT --notebook mul.ipynb{BARE}", "with the sandbox there is"
    ),
    "python -m autograder export --out OUT --anonymous anonymous.csv": Run(),
    "python -m autograder export --out OUT --canvas canvas.csv": Run(),
    "python -m autograder export --out OUT --feedback-zip feedback.zip": Run(),
    "python -m autograder export --out OUT --gradescope ada 01 results.json": Run(),
    "python -m autograder export --out OUT --moodle moodle.csv": Run(),
    "python -m autograder grade": GRADE,
    "python -m autograder grade --no-similar": Look("is what the next one says, and one option"),
    "python -m autograder grade OUT/submitted --out OUT": Run(
        f"python -m autograder grade OUT/submitted --out OUT{BARE}"
    ),
    "python -m autograder grade SUBMISSIONS --out OUT": GRADE,
    "python -m autograder grade SUBMISSIONS --out OUT --scheduler ADDRESS": Look("needs Dask's workers"),
    "python -m autograder lab": FOREVER,
    "python -m autograder lab projects": FOREVER,
    "python -m autograder mutants value.mul": Run("python -m autograder mutants start.double", "it has fewer changes"),
    "python -m autograder release 01 --out OUT --exchange FOLDER": Run(),
    "python -m autograder roster ROSTER.csv --out OUT": Run(),
    "python -m pip wheel --no-deps .": Look("the tests of the wheel do"),
    "python -m pytest --record-torch": Look("needs PyTorch"),
    "python -m uv tool install pre-commit": NETWORK,
    "python -m tinygrad_cl doctor": Run(),
    "python -m tinygrad_cl doctor --install": NETWORK,
    "python -m tinygrad_cl tune": Look("takes half a minute, and is kept"),
    "python benchmarks/grading.py": Run(
        f"python {ROOT}/benchmarks/grading.py --module 00_start --submissions 2 --workers 1 --rounds 1",
        "a tiny class",
        long=True,
    ),
    "python benchmarks/report.py": MINUTES,
    "cd OUT && jupyter lab": FOREVER,
    "cd OUT && nbgrader export --to totals.csv": Run(),
    "nbgrader autograde": Run(f"cd OUT && nbgrader autograde {MODULE}", "as the next one says"),
    "nbgrader autograde 01_value": Run("cd OUT && nbgrader autograde 01_value", "in the class folder"),
    "nbgrader validate": Look("is told a notebook"),
    "nbgrader fetch_feedback": Look("a student's, as tests/test_exchange_accounts.py has it"),
    "nbgrader export": Look("as the last line of the table says"),
    "nbgrader db student remove NAME --force": Run(
        "cd OUT && nbgrader db student add NAME && nbgrader db student remove NAME --force", "a student made for it"
    ),
    "conda activate tinygrad-cl-course": OTHERS,
    "conda env create -f environment.yml": NETWORK,
    "dask scheduler": FOREVER,
    "dask worker ADDRESS --nthreads 1 --nworkers 4": FOREVER,
    "git clone": Look("is what the time was taken from"),
    "git clone <this repository> course && cd course": NETWORK,
    "pip install 'tinygrad-cl-course[cluster]'": NETWORK,
    "pip install tinygrad-cl-course[peers]": NETWORK,
    "sudo apt-get install pocl-opencl-icd": NETWORK,
    "sudo dnf install pocl": NETWORK,
}


def documented() -> dict[str, str]:
    """{command: the page that names it first}: lines of consoles, and code within a line that is more than a program's name."""
    found = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [
            line for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S) for line in block.splitlines()
        ]
        commands = [line[2:] for line in lines if line.startswith("$ ")]
        spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
        commands += [span for span in spans if span.partition(" ")[0] in PROGRAMS and " " in span]
        for command in commands:
            found.setdefault(plain(command), page.name)
    return found


def plain(command: str) -> str:
    """Without its comment, and with one name for Python."""
    return re.sub(r"\s+# .*", "", command).strip().replace(".venv/bin/python", "python")


DOCUMENTED = documented()


def test_the_table_knows_each_command_and_no_other():
    assert set(DOCUMENTED) == set(COMMANDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with SUBMISSIONS, of one student, and FOLDER, an exchange; grading has made OUT a class folder."""
    made = tmp_path_factory.mktemp("commands")
    write_submission(made / "SUBMISSIONS", "ada", MODULE, solved(MODULE))
    (made / "ROSTER.csv").write_text("id,first_name,last_name\nada,Ada,Lovelace\n")
    (made / "FOLDER").mkdir()
    (made / "FOLDER").chmod(0o777)
    run(GRADE.instead, made)
    return made


@lru_cache
def run(command: str, folder: Path) -> None:
    """Run it, once, as somebody does who has not activated the environment; programs of the environment are called by their paths."""
    own, steps = sysconfig.get_path("scripts"), []
    for step in command.split(" && "):
        program, *arguments = shlex.split(step)
        path = {"python": sys.executable, "nbgrader": os.path.join(own, "nbgrader")}.get(program, program)
        steps.append(shlex.join((path, *arguments)))
    places = [place for place in os.environ["PATH"].split(os.pathsep) if place != own]
    environment = os.environ | {"PATH": os.pathsep.join(places), "PYTHONPATH": str(ROOT), "COURSE_SEED": "a seed"}
    done = subprocess.run(" && ".join(steps), shell=True, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=[pytest.mark.long] * way.long)
        for command, way in COMMANDS.items()
        if isinstance(way, Run)
    ],
)
def test_a_command_runs_without_the_environment_on_the_path(command, folder):
    run(COMMANDS[command].instead or command, folder)


@pytest.mark.parametrize("command", [command for command in COMMANDS if isinstance(COMMANDS[command], Look)])
def test_what_a_command_names_is_there(command):
    look_at(command)


def look_at(command: str) -> None:
    program, *arguments = shlex.split(command.rpartition(" && ")[2] if command.startswith("cd ") else command)
    if program == "make":
        planned = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True)
        assert planned.returncode == 0 or "say which module" in planned.stderr, planned.stderr
        for line in re.findall(r"-m (?:autograder|tinygrad_cl)\b.*", planned.stdout):
            look_at(f"python {line}")
        for script in re.findall(r"(?:benchmarks|tests)/[\w/]+\.py", planned.stdout):
            assert (ROOT / script).exists()
    elif program == "python" and arguments[1:] and arguments[1] in ("pip", "pytest", "uv"):
        assert arguments[1] == "pip" or find_spec(arguments[1])
    elif program == "python" and arguments[0] == "-m":
        parse(arguments[1], *arguments[2:])
    elif program == "python":
        assert (ROOT / arguments[0]).exists()
        shown = subprocess.run(
            [sys.executable, ROOT / arguments[0], "--help"], capture_output=True, text=True, cwd=ROOT
        )
        assert all(word in shown.stdout for word in arguments[1:] if word.startswith("--"))
    elif program == "nbgrader":
        assert arguments[0].replace("_", "-") in {name.replace("_", "-") for name in NbGraderApp.subcommands}
    elif program in ("jupyter", "dask"):
        assert (
            os.path.exists(os.path.join(sysconfig.get_path("scripts"), f"{program}-{arguments[0]}"))
            or program == "dask"
        )
    elif program == "conda":
        named = re.search(r"^name: (\S+)", (ROOT / "environment.yml").read_text(), re.M)[1]
        assert arguments[-1] in ("environment.yml", named)
    elif program == "pip":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        name, extra = re.fullmatch(r"([\w-]+)\[(\w+)\]", arguments[1]).groups()
        assert name == project["name"] and extra in project["optional-dependencies"]
    else:
        assert program in ("git", "sudo"), "nobody looks at this program"


def parse(package: str, name: str, *arguments: str) -> None:
    """Parse the arguments of a command of ours as click does, and run nothing."""
    group = {"autograder": autograder.__main__.main, "tinygrad_cl": tinygrad_cl.__main__.main}[package]
    command = group.commands[name]
    with command.make_context(name, list(arguments)) as context:
        assert isinstance(context, click.Context)


def test_an_option_a_target_or_a_command_that_is_not_there_is_noticed():
    for command in (
        "make frobnicate",
        "python -m autograder lab --frobnicate",
        "python benchmarks/report.py --frobnicate",
    ):
        with pytest.raises((AssertionError, click.UsageError)):
            look_at(command)
    with pytest.raises(KeyError):
        look_at("python -m autograder frobnicate")
