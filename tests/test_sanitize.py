"""What a student writes or puts out runs nothing in the browser of whoever opens the pages."""

import re
from functools import lru_cache
from pathlib import Path

import pytest
from browser import open_browser
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config

from autograder.grading.class_page import class_page
from autograder.grading.feedback import Marks, feedback_page
from autograder.grading.formulas import as_mathml
from autograder.grading.records import Graded, Row, Submission
from autograder.grading.sample_class import MODULE, blank
from autograder.grading.sanitize import clean
from autograder.grading.student_page import student_page
from autograder.nbgrader_config import configure
from tinygrad_cl.viz.svg import Picture, rect

HIT = "document.documentElement.dataset.hit = 1"
EVIL = (
    f"<script>{HIT}</script><img src=x onerror='{HIT}'><svg onload='{HIT}'></svg><details open ontoggle='{HIT}'>"
    f"<iframe srcdoc='<script>top.{HIT}</script>'></iframe><style>* {{ animation: a }}</style>"
)
# d1: Markdown makes links of these when HTML was looked for already.
LINKS = (
    f"[link](javascript:{HIT})",
    f"[ref]\n\n[ref]: javascript:{HIT}",
    f"<javascript:{HIT}>",
    f"[entity](javascript&colon;{HIT})",
    f"[case](JaVaScRiPt:{HIT})",
    f"[tab](java\tscript:{HIT})",
    f"[vb](vbscript:{HIT})",
    "[data](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    f'<a href=" javascript:{HIT}">raw</a>',
    f"$\\href{{javascript:{HIT}}}{{x}}$",
    f"$\\text{{<script>{HIT}</script>}}$ $$\\text{{<img src=x onerror='{HIT}'>}}$$",
    f"<b title='$x$<script>{HIT}</script>'>t</b> <div title=\"$$x$$<img src=x onerror='{HIT}'>\">u</div>",
    f"<b title='&#xE000;0&#xE001;<img src=x onerror={HIT}>'>v</b> $y$",
)
# d2: nothing is loaded from elsewhere.
OUTSIDE = (
    "![](https://evil.example/t.png) ![a][b]\n\n[b]: //evil.example/u.png",
    "<img src=https://evil.example/v.png><img srcset='https://evil.example/w.png 2x'><video poster=https://evil.example/p>",
    "<b style='background:url(https://evil.example/x)'>x</b><link rel=stylesheet href=https://evil.example/y.css>",
    "<style>@import 'https://evil.example/z'</style><iframe src=https://evil.example/></iframe><base href=https://evil.example/>",
)
# d3: a student's own report.
REPORT = (
    "<div style='border-left:4px solid #1a85c8;margin-top:-600px;position:fixed' class='report' id='check-value-mul'>"
    "<b style='color:#1a85c8'>✓ value.mul · 2 of 2 points · all right</b></div>"
)
KINDS = ("text/html", "image/svg+xml", "text/markdown", "text/latex", "application/javascript", "image/png")


def hostile_notebook():
    notebook = blank()
    outputs = [new_output("display_data", {kind: EVIL, "text/plain": ""}) for kind in KINDS]
    outputs += [
        new_output("display_data", {"application/javascript": HIT, "text/plain": ""}),
        new_output("stream", name="stdout", text=EVIL),
        new_output("error", ename=EVIL, evalue=EVIL, traceback=[EVIL]),
    ]
    texts = (*LINKS, *OUTSIDE, REPORT)
    notebook.cells += [new_markdown_cell(text, id=f"text-{i}") for i, text in enumerate(texts)]
    shown = [new_output("display_data", {kind: text}) for text in texts for kind in ("text/markdown", "text/html")]
    notebook.cells.append(new_code_cell("1", id="shown", outputs=shown))
    notebook.cells[2:2] = [
        new_markdown_cell(f"{EVIL}\n\n[x](javascript:{HIT})\n\n```\n{EVIL}\n```\n`{EVIL}`", id="text"),
        new_code_cell("'made <b>by me</b>'", id="code", outputs=outputs),
    ]
    return notebook


def in_formgrader(notebook) -> str:
    """The page of nbgrader's formgrader, made as its server makes it in a class folder with our configuration."""
    config = configure(Config(), Path())
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    more = {
        "submission_id": "x",
        "notebook_id": MODULE,
        "assignment_id": MODULE,
        "index": 0,
        "total": 1,
        "base_url": "/x",
    }
    more |= {"student": "anna", "last_name": None, "first_name": None, "notebook_path": "x"}
    return HTMLExporter(config=config).from_notebook_node(notebook, resources=more)[0]


def pages():
    name = EVIL.replace("/", "")  # a folder's name has no slash
    graded = Graded(
        Submission(name, MODULE, Path("nowhere")),
        [Row(name, MODULE, "value.mul", 0.0, 2.0, "wrong", EVIL)],
        1.0,
        failure=EVIL,
        flags=(EVIL,),
    )
    return {
        "feedback": feedback_page(hostile_notebook(), MODULE),
        "formgrader": in_formgrader(hostile_notebook()),
        "class": class_page([graded]),
        "student": student_page([graded]),
    }


FOLLOW = """() => document.querySelectorAll("a").forEach((link) => {
    if (!/^(https?|file):/.test(link.href) || link.protocol === "javascript:") link.click() })"""


@lru_cache
def pages_made() -> dict[str, str]:
    return pages()


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """{page: (did something run?, what is shown, what was asked for)}"""
    folder, found = tmp_path_factory.mktemp("sanitized"), {}
    with open_browser() as browser:
        for name, text in pages_made().items():
            (folder / f"{name}.html").write_text(text, encoding="utf-8")
            page, asked = browser.new_page(), []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto((folder / f"{name}.html").as_uri(), wait_until="domcontentloaded")
            if name in ("feedback", "formgrader"):  # the others have links of their own, and none of a student's
                page.evaluate(FOLLOW)
            page.wait_for_timeout(300)
            hit = page.evaluate("'hit' in document.documentElement.dataset")
            found[name] = hit, page.inner_text("body"), [url for url in asked if not url.startswith("data:")][1:]
    return found


def test_no_script_of_a_students_runs_in_any_page(opened):
    assert {name: hit for name, (hit, *_) in opened.items() if hit} == {}


def test_the_lesson_and_the_students_code_are_shown(opened):
    assert "made <b>by me</b>" in opened["feedback"][1] and "A referee that knows no rule" in opened["feedback"][1]


def test_a_sign_is_shown_to_the_instructor(opened):
    assert "Worth a look" in opened["class"][1]


@pytest.mark.parametrize("page", ["feedback", "formgrader"])
@pytest.mark.parametrize("number", range(len(LINKS)))
def test_d1_a_link_leads_to_the_web_or_nowhere(page, number):
    notebook = blank()
    notebook.cells = [new_markdown_cell(LINKS[number], id="x")]
    notebook.cells.append(
        new_code_cell("1", id="y", outputs=[new_output("display_data", {"text/markdown": LINKS[number]})])
    )
    text = {"feedback": lambda: feedback_page(notebook, MODULE), "formgrader": lambda: in_formgrader(notebook)}[page]()
    for tag in BeautifulSoup(text, "html.parser").find_all(True):
        assert not (tag.name == "script" and HIT in tag.text)
        for name, value in tag.attrs.items():
            assert not (name.startswith("on") and HIT in value)
            assert not (name in ("href", "src", "action") and re.match(r"\s*(java|vb|data:text)", value, re.I))


def test_d2_pages_load_nothing(opened):
    for name in ("feedback", "class", "student"):
        assert opened[name][2] == []
        assert "Content-Security-Policy" in pages_made()[name] and "<link" not in pages_made()[name]
    assert not [url for url in opened["formgrader"][2] if "evil" in url]


def test_d3_what_a_student_puts_out_has_no_style_class_or_name(opened):
    notebook = blank()
    notebook.cells = [
        new_markdown_cell(REPORT, id="x"),
        new_code_cell("1", id="y", outputs=[new_output("display_data", {"text/html": REPORT})]),
    ]
    page = feedback_page(notebook, MODULE).partition("<body")[2]
    assert page.count("✓ value.mul · 2 of 2 points") == 2
    assert "style=" not in page and 'class="report"' not in page and 'id="check-value-mul"' not in page
    assert page.count('class="theirs"') == 2


@pytest.mark.parametrize("size", [10, 100_000])
def test_of_a_drawing_of_the_course_its_description_is_shown_however_large_it_is(size):
    drawn = rect(0, 0, 1, 1) * size
    assert (
        clean(Picture([drawn], 100, 40, "a large graph")._repr_mimebundle_()["text/html"])
        == '<img alt="a large graph">'
    )


def test_formulas_are_shown_without_a_script():
    page = feedback_page(blank(), MODULE)
    assert "<math" in page and "<mfrac>" in page and "<script" not in page


@pytest.mark.parametrize(
    "tex", [r"\frac", "{" * 3000, "x" * 3000, r"\href{javascript:1}{x}", r"\unknown{x}", "a_", "<b>", "&", ""]
)
def test_a_formula_that_cannot_be_read_is_shown_as_it_was_typed(tex):
    assert not re.search("<(?!/?(?:m[a-z]+|code)[ >])", as_mathml(tex, block=False)) and "href" not in re.sub(
        "<code>.*", "", as_mathml(tex, False)
    )


def test_what_a_person_gave_and_wrote_is_on_the_page_without_what_runs():
    marks = Marks(
        {"check-value-mul": 1.25, "written-value-explain": 2.0}, {"written-value-explain": f"Well said. {EVIL}"}
    )
    page = feedback_page(blank(), MODULE, marks)
    assert '<td class="number">1.25</td>' in page and "value.explain: 2 of 3 points" in page
    assert "Well said." in page and "<script" not in page and "javascript:" not in page
    assert "value.explain: not marked yet, of 3 points" in feedback_page(blank(), MODULE)
