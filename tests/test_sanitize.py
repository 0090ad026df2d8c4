"""What a student writes or puts out runs nothing in the browser of whoever opens the pages."""

from pathlib import Path

import pytest
from browser import open_browser
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from autograder.grading.class_page import class_page
from autograder.grading.feedback import feedback_page
from autograder.grading.records import Graded, Row, Submission
from autograder.grading.sample_class import MODULE, blank
from autograder.grading.student_page import student_page

HIT = "document.documentElement.dataset.hit = 1"
EVIL = (
    f"<script>{HIT}</script><img src=x onerror='{HIT}'><svg onload='{HIT}'></svg><details open ontoggle='{HIT}'>"
    f"<iframe srcdoc='<script>top.{HIT}</script>'></iframe><style>* {{ animation: a }}</style>"
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
    notebook.cells[2:2] = [
        new_markdown_cell(f"{EVIL}\n\n[x](javascript:{HIT})\n\n```\n{EVIL}\n```\n`{EVIL}`", id="text"),
        new_code_cell("'made <b>by me</b>'", id="code", outputs=outputs),
    ]
    return notebook


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
        "class": class_page([graded]),
        "student": student_page([graded]),
    }


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """{page: (did something run?, what is shown)}"""
    folder, found = tmp_path_factory.mktemp("sanitized"), {}
    with open_browser() as browser:
        for name, text in pages().items():
            (folder / f"{name}.html").write_text(text, encoding="utf-8")
            page = browser.new_page()
            page.goto((folder / f"{name}.html").as_uri())
            page.wait_for_timeout(300)
            found[name] = page.evaluate("'hit' in document.documentElement.dataset"), page.inner_text("body")
    return found


def test_no_script_of_a_students_runs_in_any_page(opened):
    assert {name: hit for name, (hit, _) in opened.items()} == {"feedback": False, "class": False, "student": False}


def test_the_lesson_and_the_students_code_are_shown(opened):
    assert "made <b>by me</b>" in opened["feedback"][1] and "A referee that knows no rule" in opened["feedback"][1]


def test_a_sign_is_shown_to_the_instructor(opened):
    assert "Worth a look" in opened["class"][1]
