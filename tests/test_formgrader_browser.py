"""nbgrader's formgrader on a graded class, used as docs/instructors.md says: a mark and a comment typed there reach everything."""

from urllib.parse import urlsplit

import pytest
from browser import SECONDS, lab_server, open_browser
from playwright.sync_api import expect
from term_class import ALL, MODULE, MUL, WRITTEN
from test_term import term  # noqa: F401  (a fixture)


@pytest.fixture
def opened(term):  # noqa: F811
    """(the term, a page with formgrader in JupyterLab, and its frame)."""
    term.hand_in("anna", answer="The paths add up.", wrong=["value.mul"])
    term.grade()
    with open_browser() as browser, lab_server(term.out, teacher=True) as address:
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.set_default_timeout(SECONDS * 1000)
        host = urlsplit(address).hostname  # nothing is asked of other machines: formgrader would load MathJax
        page.route(lambda url: urlsplit(url).hostname != host, lambda route: route.abort())
        page.goto(f"{address}/lab?reset")
        page.click("#jp-MainMenu >> text=Nbgrader")
        page.click(".lm-Menu-itemLabel >> text=Formgrader")
        yield term, page, page.frame_locator("iframe")


def typed(page, box, text, what):
    """Type into a field of formgrader's, and wait until the gradebook has it."""
    with page.expect_response(lambda reply: f"/api/{what}/" in reply.url and reply.request.method == "PUT") as reply:
        box.fill(text)
        box.press("Tab")
    assert reply.value.ok


def test_a_mark_and_a_comment_typed_in_formgrader_reach_everything(opened):
    term, page, frame = opened  # noqa: F811
    expect(frame.locator("tbody tr", has_text=MODULE)).to_contain_text("1")  # submission
    frame.locator("text=Manual Grading").first.click()
    for link in (MODULE, MODULE, "Submission #1"):
        frame.locator("tbody a", has_text=link).first.click()
    frame.get_by_text("The paths add up.").wait_for()
    cells = frame.locator("body").inner_text()
    places = [cells.index(text) for text in ("The paths add up.", "Model answer", "How it is marked")]
    assert places == sorted(places), "the rubric stands below the answer"

    typed(page, frame.locator(f"input.score[id='{WRITTEN.id}']"), "2", "grade")
    typed(page, frame.locator(f"textarea[id='{WRITTEN.id}-comment']"), "Say *why*: `a<b`.", "comment")
    typed(page, frame.locator("input.score[id='check-value-mul']"), "1.5", "grade")

    total = ALL - MUL.points + 1.5 + 2
    term.grade()
    assert term.agree()["anna"]["points"] == f"{total}", (
        "grades.csv, submissions.csv, report.html and the gradebook agree"
    )
    for name, points in ((WRITTEN.name, "2.0"), ("value.mul", "1.5")):
        assert (term.row("anna", name)["points"], term.row("anna", name)["mark"]) == (points, "by hand")
    for shown in (term.page("anna"), term.index("anna")):
        assert "Say <em>why</em>: <code>a&lt;b</code>." in shown and "How it is marked" not in shown
