"""The site is built without a warning, and has a page for every lesson and guide. Here the lessons are not run."""

import subprocess
import sys

import pytest

from autograder import paths

pytest.importorskip("myst_nb", reason="the site's tools are not installed (extra `site`)")


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
            "-D",
            "nb_execution_mode=off",
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
    for page in [f"solutions/{module}" for module in paths.module_names()] + [
        f"docs/{path.stem}" for path in (paths.ROOT / "docs").glob("*.md")
    ]:
        assert (site / f"{page}.html").exists() and f"{page.removeprefix('docs/')}.html" in home, (
            f"nothing leads to {page}"
        )
    assert "docs/site/index.html" in (site / "index.html").read_text(encoding="utf-8")
