"""The site is built without a warning, and has a page for every lesson, unsolved and solved, and for every guide.

Here no lesson is run: solved ones are shown as they last ran, or without outputs.
"""

import json
import re
import subprocess
import sys

import pytest
from browser import write_notebook

from autograder import paths

pytest.importorskip("myst_nb", reason="the site's tools are not installed (extra `site`)")
sys.path.append(str(paths.ROOT / "tools"))

import site_lessons


def test_every_lesson_and_guide_has_its_page(tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "--quiet",
            "--fail-on-warning",
            "--conf-dir",
            "docs/site",
            "-d",
            tmp_path / "doctrees",
            ".",
            tmp_path / "site",
        ],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    home = (site / "docs" / "site" / "index.html").read_text(encoding="utf-8")
    lessons = [
        page for module in paths.module_names() for page in (f"modules/{module}/{module}", f"solutions/{module}")
    ]
    for page in [*lessons, "projects/projects"] + [f"docs/{path.stem}" for path in (paths.ROOT / "docs").glob("*.md")]:
        assert (site / f"{page}.html").exists() and f"{page.removeprefix('docs/')}.html" in home, (
            f"nothing leads to {page}"
        )
    assert "docs/site/index.html" in (site / "index.html").read_text(encoding="utf-8")
    for module in paths.module_names():
        unsolved, solved = (site / "modules" / module / f"{module}.html"), site / "solutions" / f"{module}.html"
        assert f'href="../../solutions/{module}.html"' in unsolved.read_text(encoding="utf-8"), "the answers: one click"
        assert f'href="../modules/{module}/{module}.html"' in solved.read_text(encoding="utf-8")
    index = json.loads((site / "searchindex.js").read_text(encoding="utf-8").partition("(")[2].rpartition(")")[0])
    found = index["terms"]["unbroadcast"]
    places = {index["docnames"][each] for each in (found if isinstance(found, list) else [found])}
    assert "modules/03_broadcast/03_broadcast" in places and "solutions/03_broadcast" not in places, "each text once"
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img)[^>]* src="([^"]+)"', page.read_text(encoding="utf-8"))
        assert not [address for address in loaded if "//" in address], f"{page} loads something from elsewhere"
    for picture in re.findall(r'(?:src|srcset)="(docs/pictures/[^"]+)"', home):
        assert (site / "docs" / "site" / picture).is_file()


def test_a_lesson_runs_once_and_again_when_its_text_or_the_course_has_changed(tmp_path, monkeypatch, capsys):
    notebook = tmp_path / "lesson.ipynb"
    version = ["one"]
    monkeypatch.setattr(site_lessons, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(site_lessons, "course_digest", lambda module: version[0])
    monkeypatch.setattr(paths, "solution_notebook", lambda module: notebook)

    def runs():
        site_lessons.main(["lesson"])
        return "1 of 1  lesson" in capsys.readouterr().out

    write_notebook(notebook, "6 * 7")
    assert [runs(), runs()] == [True, False]
    assert "42" in site_lessons.kept("lesson").read_text(encoding="utf-8")
    version[0] = "two"
    assert [runs(), runs()] == [True, False]
    write_notebook(notebook, "6 * 8")
    assert [runs(), runs()] == [True, False]
    assert len(list((tmp_path / "cache").iterdir())) == 1, "earlier runs are thrown away"
