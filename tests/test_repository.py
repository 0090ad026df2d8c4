"""What is beside the code: versions that agree, commands that are there, forms that GitHub understands, the rule of commit messages."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tools"))

from commit_message import LONGEST, fault  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def targets():
    text = (ROOT / "Makefile").read_text() + (ROOT / "course.mk").read_text()
    return set(re.findall(r"^([a-z-]+):.*## ", text, re.M))


def test_the_version_is_the_same_everywhere():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest[1].rstrip(",") == PROJECT["version"]
    assert str(yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]) == PROJECT["version"]


def test_the_setup_page_lists_the_commands_as_make_does():
    # Started by another make, as `make test` does, it would say which folder it enters and leaves.
    said = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert said.rstrip("\n") in (ROOT / "docs" / "setup.md").read_text()


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "docs/setup.md", "docs/instructors.md", ".github/PULL_REQUEST_TEMPLATE.md"]
)
def test_every_make_command_that_is_named_exists(name):
    named = set(re.findall(r"(?:`|\$ )make ([a-z-]+)", (ROOT / name).read_text()))
    assert named and named <= targets()


def test_the_workflow_runs_the_commands_of_the_readme_on_every_python_that_is_allowed():
    commands = [step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step]
    named = {word for command in commands if command.startswith("make") for word in re.findall(r"[a-z-]+", command)}
    assert {"lint", "test", "test-all"} <= named & targets()
    matrix = WORKFLOW["jobs"]["test"]["strategy"]["matrix"]
    assert f">={matrix['python'][0]}" == PROJECT["requires-python"]
    assert matrix["python"] == [f"3.{minor}" for minor in range(11, 15)]


def test_the_workflow_keeps_the_kernel_cache_where_it_is():
    (kept,) = [step["with"]["path"] for step in WORKFLOW["jobs"]["test"]["steps"] if "cache" in step.get("uses", "")]
    assert kept == "~/.cache/tinygrad_cl/kernels"
    parts = Path(kept).parts[1:]
    text = (ROOT / "tinygrad_cl" / "opencl" / "cache.py").read_text()
    assert "Path.home() / " + " / ".join(f'"{part}"' for part in parts) in text


def test_hooks_fetch_nothing_and_do_what_lint_does():
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)[1]
    assert {repository["repo"] for repository in HOOKS} == {"local"}
    hooks = {hook["id"]: hook for repository in HOOKS for hook in repository["hooks"]}
    assert {hook["language"] for hook in hooks.values()} == {"system"}
    tools = [" ".join(hook["entry"].split()[1:4]) for hook in hooks.values() if "-m" in hook["entry"]]
    assert all(tool.split()[1] in lint for tool in tools) and len(tools) == lint.count("$(VENV) -m")
    script = hooks["commit-message"]["entry"].split()[-1]
    assert (ROOT / script).is_file()


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_something_under_names_of_its_own(path):
    form = yaml.safe_load(path.read_text())
    if path.stem == "config":
        assert all(set(link) == {"name", "url", "about"} for link in form["contact_links"])
        return
    assert form["name"] and form["description"]
    ids = [part["id"] for part in form["body"]]
    assert len(set(ids)) == len(ids) and any(part.get("validations", {}).get("required") for part in form["body"])
    assert all(part["attributes"]["label"] for part in form["body"])


GOOD = "A subject that says what is gained\n\nBecause it is so.\n"


@pytest.mark.parametrize(
    "message",
    [
        GOOD,
        "x" * LONGEST,
        f"# a comment\n\n{GOOD}# another\n",
        "Merge branch 'with a name that is longer than the rule allows for what people write themselves'",
        "Short\n# ------------------------ >8 ------------------------\ndiff --git a b\n",
        "",
    ],
)
def test_a_message_within_the_rule_passes(message):
    assert fault(message) == ""


def test_a_long_subject_and_a_full_second_line_are_named():
    assert fault("x" * (LONGEST + 1)) == f"The subject has {LONGEST + 1} characters; say it in at most {LONGEST}."
    assert "second line" in fault("Subject\nand more of it\n")


def test_the_script_ends_with_1_and_the_sentence(tmp_path):
    def run(message):
        (tmp_path / "message").write_text(message)
        command = [sys.executable, "tools/commit_message.py", str(tmp_path / "message")]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert run(GOOD).returncode == 0
    refused = run("x" * 100)
    assert refused.returncode == 1 and "100 characters" in refused.stderr
