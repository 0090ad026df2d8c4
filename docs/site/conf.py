"""Sphinx settings of the site: docs/, and each lesson twice, unsolved and solved. `make site` builds it."""

import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

from docutils.nodes import SkipNode  # noqa: E402
from latex2mathml.converter import convert  # noqa: E402
from site_lessons import kept  # noqa: E402

from autograder.lesson.glossary import with_anchors  # noqa: E402

project = "Automatic differentiation, built three times"
author = "the makers of the course"
extensions = ["myst_nb"]
root_doc = "docs/site/index"
include_patterns = ["docs/**.md", "modules/*/*.ipynb", "solutions/*.ipynb", "projects/*.ipynb", "CHANGELOG.md"]
myst_enable_extensions = ["dollarmath"]
highlight_language = "none"  # of a block that names no language: a drawing, a table, a message
suppress_warnings = [
    "myst.xref_missing",  # docs link to files of the repository that are not pages
    "myst.header",  # a lesson's heading levels may skip one
    "mystnb.unknown_mime_type",  # the result that a check stores for `make progress`
]

nb_execution_mode = "off"  # tools/site_lessons.py has run the lessons
# Widgets do not run in a static page; it shows the picture of the steps instead.
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
nb_ipywidgets_js = {}  # their scripts would come from elsewhere

html_math_renderer = "mathml"  # below: without a script from elsewhere
html_theme = "sphinx_book_theme"
html_title = project
html_favicon = "static/favicon.svg"
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system says
html_copy_source = False
html_extra_path = ["extra"]  # index.html redirects to the root document
html_static_path = ["static"]
html_css_files = ["narrow.css"]
html_theme_options = {"navbar_persistent": []}  # the bar at the side has the search


def lesson_as_it_ran(app, name, source):
    """A solved lesson with the outputs of its last run, if there is one; and a link between the unsolved one and the solved."""
    folder, _, module = name.rpartition("/")
    if folder == "solutions":
        run = kept(module)
        app.env.note_dependency(run)  # when the lesson has run again, this file is gone
        text = run.read_text(encoding="utf-8") if run.exists() else source[0]
        link = (
            f"This page contains the answers. The lesson without them: [unsolved](../modules/{module}/{module}.ipynb)."
        )
    elif folder.startswith("modules/"):
        text = source[0]
        link = (
            "To work on it, open the course on your computer: [how to begin](../../docs/setup.md). "
            f"The answers are one click away: [solved, with all outputs](../../solutions/{module}.ipynb)."
        )
    elif folder == "projects":
        text = source[0]
        link = "To work on it, open the course on your computer: [how to begin](../docs/setup.md). The course has no answers to these."
    else:
        return
    notebook = json.loads(text)
    if folder == "solutions":
        notebook["metadata"]["nosearch"] = "true"  # each text is found once, and without its answers
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = with_anchors("".join(cell["source"]))
    notebook["cells"].insert(1, {"cell_type": "markdown", "id": "other", "metadata": {}, "source": f"*{link}*"})
    source[0] = json.dumps(notebook)


def formula(block):
    """How Sphinx writes a formula, in a line or as a block."""

    def visit(translator, node):
        text = convert(node.astext(), display="block" if block else "inline")
        translator.body.append(f'<div class="math">{text}</div>' if block else text)
        raise SkipNode

    return visit, None


def copy_pictures(app, error):
    """The front page is README.md, which shows them by <picture>: Sphinx does not look into that."""
    if not error:
        shutil.copytree(
            ROOT / "docs" / "pictures", Path(app.outdir, "docs", "site", "docs", "pictures"), dirs_exist_ok=True
        )


def setup(app):
    app.add_html_math_renderer("mathml", formula(block=False), formula(block=True))
    app.connect("source-read", lesson_as_it_ran)
    app.connect("build-finished", copy_pictures)
