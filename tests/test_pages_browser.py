"""The class's page, a student's page and the comparison, as a browser shows them, in both themes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from browser import open_browser

from autograder import paths
from autograder.grading.class_page import class_page
from autograder.grading.records import Graded, Row, Submission
from autograder.grading.student_page import student_page
from autograder.learner.compare import compare
from autograder.lesson.text import read_lesson

STUDENTS = [f"student-{number:02}" for number in range(30)]
EXERCISES = read_lesson("01_value").exercises
MISTAKE = "each factor keeps its own value"


def graded(student, number):
    rows = [
        Row(
            student,
            "01_value",
            name,
            2.0 * (number % 3 != i % 3),
            2.0,
            "ok" if number % 3 != i % 3 else "wrong",
            MISTAKE if number % 3 == i % 3 == 0 else "",
        )
        for i, name in enumerate(EXERCISES)
    ]
    return Graded(Submission(student, "01_value", Path("nowhere")), rows, 1.0 + number)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with report.html, a page for each student, and compare.html."""
    folder = tmp_path_factory.mktemp("pages")
    everyone = [graded(student, number) for number, student in enumerate(STUDENTS)]
    (folder / "report.html").write_text(class_page(everyone), encoding="utf-8")
    for each in everyone:
        page = folder / "feedback" / each.submission.student / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(
            student_page([replace(each, reports={name: f"<b>{name}</b>" for name in EXERCISES})]), encoding="utf-8"
        )
    content = json.loads(paths.student_notebook("01_value").read_text())
    for cell in content["cells"]:
        if cell["metadata"].get("course") == {"kind": "exercise", "exercise": "value.add"}:
            cell["source"] = "@add_to_class(Value)\ndef __add__(self, other):\n    return self"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "WORK", folder)
        paths.work_notebook("01_value").parent.mkdir()
        paths.work_notebook("01_value").write_text(json.dumps(content))
        (folder / "compare.html").write_text(compare("01_value"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module", params=["light", "dark"])
def open_page(request, pages):
    with open_browser() as browser:
        context = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme=request.param)
        page = context.new_page()

        def opened(name):
            page.goto((pages / name).as_uri())
            return page

        yield opened


def contrast(page, selector):
    """The contrast of a text with the page behind it, by the formula of WCAG 2.1."""
    colours = page.evaluate(
        """(selector) => [getComputedStyle(document.querySelector(selector)).color,
        getComputedStyle(document.body).backgroundColor].map((each) => each.match(/\\d+/g).slice(0, 3).map(Number))""",
        selector,
    )

    def luminance(rgb):
        r, g, b = ((c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted(map(luminance, colours), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_matrix_has_a_row_for_each_student_and_leads_to_their_page(open_page):
    page = open_page("report.html")
    assert page.locator(".module tbody tr").count() == len(STUDENTS)
    assert page.locator(".module tbody tr").first.locator("td").count() == len(EXERCISES) + 2
    page.click(".module >> text=student-07")
    assert page.inner_text("h1") == "Feedback for student-07"
    assert page.locator(".exercise").count() == len(EXERCISES)


def test_a_mistake_opens_and_leads_to_who_made_it(open_page):
    page = open_page("report.html")
    assert not page.locator("#mistakes >> text=student-03").first.is_visible()
    page.click(f"#mistakes summary:has-text('{MISTAKE}') >> nth=0")
    assert page.inner_text("#mistakes details[open]").endswith(
        "student-00, student-03, student-06, student-09, "
        "student-12, student-15, student-18, student-21, student-24, student-27"
    )
    page.click("#mistakes details[open] >> text=student-03")
    assert page.inner_text("h1") == "Feedback for student-03"


def test_the_bars_stand_on_one_line_and_the_highest_fits(open_page):
    page = open_page("report.html")
    frame = page.locator("#students .bars").bounding_box()
    boxes = [bar.bounding_box() for bar in page.locator("#students .bars span").all()]
    bottoms = {round(box["y"] + box["height"]) for box in boxes}
    assert len(bottoms) == 1 and min(box["y"] for box in boxes) >= frame["y"]


def test_no_page_is_wider_than_its_window_and_every_text_can_be_read(open_page):
    for name in ("report.html", "feedback/student-00/index.html", "compare.html"):
        page = open_page(name)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        assert contrast(page, "h1") > 7 and contrast(page, ".muted") > 4.5
    assert contrast(open_page("report.html"), ".wrong") > 4.5


def test_the_comparison_puts_the_learners_lines_beside_the_references(open_page):
    page = open_page("compare.html")
    assert page.locator("h2").all_inner_texts()[0] == "value.add"
    mine, theirs = (page.locator(f"td.{side}").all_inner_texts() for side in ("mine", "theirs"))
    assert any("return self" in line for line in mine) and any("(1.0, 1.0)" in line for line in theirs)
    left, right = page.locator("td.mine").first.bounding_box(), page.locator("td.theirs").first.bounding_box()
    assert left["x"] + left["width"] <= right["x"] + 1
    assert "value.pow" in page.inner_text("h2:has-text('Not shown') + p")
