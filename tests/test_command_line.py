"""The command line of the autograder: what it says when something is not as it should be, and what it never overwrites."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from jupyterlab.labapp import LabApp

from autograder import paths
from autograder.__main__ import lab, say
from autograder.learner.lab import copy_notebooks


def run(*arguments, cwd=None):
    done = subprocess.run([sys.executable, "-m", "autograder", *arguments], capture_output=True, text=True, cwd=cwd)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments, code, part",
    [
        ([], 2, "Usage"),
        (["frobnicate"], 2, "No such command"),
        (["build", "99_nothing"], 1, "there is no module 99_nothing; there are: 00_start"),
        (["lab", "99_nothing"], 1, "there is no module 99_nothing"),
        (["grade"], 1, "say what to grade and where to"),
        (["grade", "not/there", "--out", "out"], 1, "is no folder"),
    ],
)
def test_a_wrong_call_is_one_sentence(arguments, code, part, tmp_path):
    returned, text = run(*arguments, cwd=tmp_path)
    assert returned == code and part in text
    assert not list(tmp_path.iterdir()), "a refused command leaves nothing behind"


def test_an_output_folder_that_cannot_be_written_is_said_before_anything_is_graded(tmp_path):
    (tmp_path / "class" / "ann" / "01_value").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    returned, text = run("grade", str(tmp_path / "class"), "--out", str(tmp_path / "file" / "out"))
    assert returned == 1 and "choose another folder" in text


def test_copies_to_work_in_are_made_once_and_then_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "WORK", tmp_path / "work")
    copy_notebooks()
    copy = tmp_path / "work" / "01_value" / "01_value.ipynb"
    assert copy.read_bytes() == paths.student_notebook("01_value").read_bytes()
    copy.write_text("my work")
    copy_notebooks()
    assert copy.read_text() == "my work"


def test_lab_opens_the_module_with_the_courses_settings_before_those_of_others(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(paths, "WORK", tmp_path / "work")
    monkeypatch.setattr(LabApp, "launch_instance", lambda argv: seen.append((argv, os.environ["JUPYTER_CONFIG_PATH"])))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/others")
    assert CliRunner().invoke(lab, ["02", "--no-browser"]).exit_code == 0
    [(arguments, path)] = seen
    assert "--LabApp.default_url=/lab/tree/02_neuron/02_neuron.ipynb" in arguments
    assert path.split(os.pathsep) == [str(paths.JUPYTER), "/others"]
    assert {path.name for path in (paths.JUPYTER / "labconfig").iterdir()} == {
        "default_setting_overrides.json",
        "page_config.json",
    }


def test_the_settings_switch_off_what_jupyterlab_has_for_teachers_and_authors():
    """By the names that these extensions have in this environment: a new version may bring another."""
    installed = Path(sys.prefix)
    extensions = {
        json.loads(path.read_text())["name"]
        for path in (installed / "share" / "jupyter" / "labextensions").rglob("package.json")
    }
    servers = {
        name
        for path in (installed / "etc" / "jupyter" / "jupyter_server_config.d").glob("*.json")
        for name in json.loads(path.read_text())["ServerApp"]["jpserver_extensions"]
    }
    settings = json.loads((paths.JUPYTER / "labconfig" / "page_config.json").read_text())
    others = json.loads((paths.JUPYTER / "jupyter_server_config.json").read_text())
    assert set(settings["disabledExtensions"]) == {
        name for name in extensions if "nbgrader" in name or "jupytext" in name
    }
    switched_off = others["ServerApp"]["jpserver_extensions"]
    assert set(switched_off) == {name for name in servers if "nbgrader" in name or "jupytext" in name}
    assert not any(switched_off.values())


@pytest.mark.parametrize(
    "text, shown",
    [
        ("lines\n\tstay as they are, ✓ é", "lines\n\tstay as they are, ✓ é"),
        ("\x1b[2J\x1b]52;c;YQ==\x07", "\\x1b[2J\\x1b]52;c;YQ==\\x07"),
        ("wrong\r✓ 2 of 2 points", "wrong\\r✓ 2 of 2 points"),
        ("\u202e2 fo 0\x9b", "\\u202e2 fo 0\\x9b"),
        ("half \ud83d", "half \ufffd"),
    ],
)
def test_nothing_that_is_printed_commands_the_terminal(text, shown, capsys):
    say(text)
    assert capsys.readouterr().out == shown + "\n"
