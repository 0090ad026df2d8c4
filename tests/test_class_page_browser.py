"""The class's page as a tool: sorting, filtering, links, on a phone, on paper, and without its script."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from browser import open_browser
from made_class import made_class
from playwright.sync_api import expect

from autograder.grading.class_page import class_page
from autograder.grading.records import Graded, Row, Submission

EVERYONE, ROSTER = made_class(22, 3)
HOSTILE = '"><img src=x onerror="document.documentElement.dataset.hit=1"><\\/script>\']'
ROWS = [row for each in EVERYONE for row in each.rows]


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    (folder / "report.html").write_text(class_page(EVERYONE, roster=ROSTER, absent=["zoe/01_value"]), encoding="utf-8")
    student = HOSTILE.replace("/", "")
    hostile = Graded(
        Submission(student, "01_value", Path("nowhere")),
        [Row(student, "01_value", "value.mul", 0.0, 2.0, "wrong", HOSTILE)],
        1.0,
        flags=(HOSTILE,),
        failed={"value.mul": [HOSTILE]},
    )
    other = replace(hostile, submission=replace(hostile.submission, student="ada"), rows=[], flags=(), failed={})
    page = class_page(
        [hostile, replace(other, rows=[Row("ada", "01_value", "value.mul", 2.0, 2.0, "ok")])], roster={student: HOSTILE}
    )
    (folder / "hostile.html").write_text(page, encoding="utf-8")
    return folder


@pytest.fixture
def opened(browser, folder):
    """opened(name, **of the browser) → a page; no page may log an error."""
    contexts, errors = [], []

    def opened(name="report.html", **more):
        context = browser.new_context(viewport=more.pop("viewport", {"width": 1280, "height": 900}), **more)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto((folder / name).as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


def shown(page, section):
    """The students whose rows are shown in a section's table, in order."""
    script = "(rows) => rows.filter((row) => row.checkVisibility()).map((row) => row.cells[0].textContent)"
    return page.eval_on_selector_all(f"[id='{section}'] .matrix tbody tr", script)


def column(page, section, place):
    rows = page.locator(f"[id='{section}'] tbody tr").all()
    return [row.locator("td").nth(place).inner_text() for row in rows]


def students_with(check):
    return sorted({row.student for row in ROWS if check(row)})


def test_a_click_on_a_head_sorts_and_another_one_turns_it_round(opened):
    page = opened()
    heads = page.locator("#students thead th")
    heads.nth(1).locator("button").click()
    points = [float(text) for text in column(page, "students", 1)]
    assert (
        points == sorted(points) and points[0] < points[-1] and heads.nth(1).get_attribute("aria-sort") == "ascending"
    )
    heads.nth(1).locator("button").click()
    points = [float(text) for text in column(page, "students", 1)]
    assert points == sorted(points, reverse=True) and heads.nth(1).get_attribute("aria-sort") == "descending"
    heads.nth(0).locator("button").click()
    assert shown(page, "students") == sorted(ROSTER) and heads.nth(1).get_attribute("aria-sort") is None


def test_cells_are_sorted_by_points_and_statistics_as_numbers(opened):
    page = opened()
    page.locator("[id='01_value'] thead th").nth(3).locator("button").click()
    order = shown(page, "01_value")
    points = {row.student: row.points for row in ROWS if row.exercise == "value.mul"}
    assert [points[student] for student in order] == sorted(points.values())
    page.locator("#exercises thead th").nth(2).locator("button").click()
    numbers = [float(text.replace("−", "-")) for text in column(page, "exercises", 2) if text]
    assert numbers == sorted(numbers) and len(numbers) > 10 and column(page, "exercises", 2)[-1] == ""


def test_the_tables_are_filtered_by_student_or_the_name_of_the_person(opened):
    page = opened()
    page.fill("[name=student]", "DENT-01")
    wanted = [student for student in sorted(ROSTER) if "dent-01" in student]
    assert shown(page, "students") == wanted and set(shown(page, "01_value")) <= set(wanted)
    assert page.inner_text("#filter output") == f"{len(wanted)} of 22 students"
    name = ROSTER["student-004"]
    page.fill("[name=student]", name)
    assert shown(page, "students") == [student for student in sorted(ROSTER) if ROSTER[student] == name]
    page.press("[name=student]", "Enter")
    page.click("#filter button")
    expect(page.locator("#filter output")).to_have_text("")
    assert shown(page, "students") == sorted(ROSTER)


def test_the_tables_are_filtered_by_module_and_state_together(opened):
    page = opened()
    page.select_option("[name=state]", "error")
    assert shown(page, "students") == students_with(lambda row: row.status == "error")
    page.select_option("[name=module]", "01_value")
    wanted = students_with(lambda row: row.status == "error" and row.module == "01_value")
    assert shown(page, "students") == shown(page, "01_value") == wanted
    assert page.locator("[id='02_neuron']").is_hidden()
    hits = sum(row.status == "error" and row.module == "01_value" for row in ROWS)
    assert page.locator(".hit").count() == hits > 0
    assert {text.partition(".")[0] for text in column(page, "exercises", 0) if text} >= {"start", "value"}
    visible = page.locator("#exercises tbody tr:visible").count()
    assert visible == len({row.exercise for row in ROWS if row.module == "01_value"}) + 1, "and the written answer"


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        ("none", sorted(name for name in ROSTER if sum(each.submission.student == name for each in EVERYONE) < 3)),
        ("late", sorted({each.submission.student for each in EVERYONE if each.late})),
        ("to-mark", sorted({row.student for each in EVERYONE for row in each.written if row.status == "waiting"})),
    ],
)
def test_the_tables_are_filtered_by_what_is_late_waits_or_is_not_there(opened, state, wanted):
    page = opened()
    page.select_option("[name=state]", state)
    assert shown(page, "students") == wanted != []


def test_a_mistake_leads_to_its_students(opened):
    page = opened()
    row = page.locator("#mistakes tbody tr").first
    number, module = row.get_attribute("id").removeprefix("mistake-"), row.get_attribute("data-module")
    exercise, mistake = next(
        (row.exercise, row.mistake)
        for row in ROWS
        if row.mistake
        and row.exercise == column(page, "mistakes", 2)[0]
        and row.mistake.replace("`", "") == page.locator("#mistakes summary").first.inner_text()
    )
    wanted = students_with(lambda row: (row.exercise, row.mistake) == (exercise, mistake))
    links = row.locator("a")
    assert links.all_text_contents() == wanted and int(row.locator("button").inner_text()) == len(wanted)
    assert links.first.get_attribute("href") == f"feedback/{wanted[0]}/index.html"
    row.locator("button").click()
    assert shown(page, module) == wanted and page.locator(f".hit[data-mistake='{number}']").count() == len(wanted)
    link = page.locator(f"#exercises a[href='#mistake-{number}']")
    link.evaluate("(link) => { link.closest('details').open = true; link.click(); }")
    expect(page.locator(f"#mistake-{number} details")).to_have_attribute("open", "")


def test_a_tap_on_a_cell_says_what_a_mouse_would_be_told(opened):
    page = opened(viewport={"width": 390, "height": 844}, has_touch=True)
    cell = page.locator(".module td.partial[title]").first
    cell.tap()
    assert page.inner_text("#detail").endswith(cell.get_attribute("title"))


def test_without_its_script_the_page_shows_everything(opened):
    page = opened(java_script_enabled=False)
    text = page.inner_text("body")
    assert page.locator("#filter").is_hidden() and page.locator("button:visible").count() == 0
    assert page.locator(".module tbody tr").count() == len(EVERYONE)
    assert page.locator("#students tbody td:first-child").all_inner_texts() == sorted(ROSTER)
    for heading in ("Worth a look", "Handed in nothing", "Most frequent mistakes", "Exercises", "The run", "02_neuron"):
        assert heading in text
    titles = page.locator(".module td[data-mistake]").evaluate_all("(cells) => cells.map((cell) => cell.title)")
    assert len(titles) == sum(bool(row.mistake) for row in ROWS) and all(": " in title for title in titles)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_is_wider_than_its_window_and_names_stay_in_sight(opened, width, theme):
    page = opened(viewport={"width": width, "height": 844}, color_scheme=theme)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    box = page.locator("#students .box")
    box.scroll_into_view_if_needed()
    before = page.locator("#students tbody td").first.bounding_box()["x"]
    box.evaluate("(box) => { box.scrollLeft = 150; box.scrollTop = 40; }")
    assert page.locator("#students tbody td").first.bounding_box()["x"] == before
    head = page.locator("#students thead th").first.bounding_box()
    assert abs(head["y"] - box.bounding_box()["y"]) < 3, "so do the heads of the columns"
    colours = page.evaluate(
        """() => [...document.querySelectorAll(".grid td:first-child, .grid thead th")].map((cell) => getComputedStyle(cell).backgroundColor)"""
    )
    assert not any(re.fullmatch(r"rgba\(.*, 0\)|transparent", colour) for colour in colours), "nothing shines through"


def test_on_paper_all_is_open_and_nothing_is_cut_off(opened):
    page = opened(viewport={"width": 718, "height": 1040})  # A4 with the browser's margins
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#filter").is_hidden() and page.locator("details:not([open])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    cut = "(boxes) => boxes.filter((box) => box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY !== 'visible').length"
    assert page.eval_on_selector_all(".box, .long", cut) == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#mistakes details[open]").count() == 0


def test_what_students_wrote_stays_text_whatever_the_script_does_with_it(opened):
    page = opened("hostile.html")
    student = HOSTILE.replace("/", "")
    assert page.locator("[name=mistake] option").nth(1).inner_text() == f"value.mul: {HOSTILE} (1)"
    page.locator("#mistakes button.show").click()
    assert shown(page, "students") == shown(page, "01_value") == [student]
    page.locator(".module td.wrong").click()
    assert page.inner_text("#detail") == f"{student}: value.mul: 0 of 2, not right yet: {HOSTILE}"
    page.fill("[name=student]", "<\\script>")
    for head in page.locator("thead .sort").all():
        head.evaluate("(button) => button.click()")
    assert page.locator("img").count() == 0 and page.evaluate("document.documentElement.dataset.hit") is None


def test_no_other_script_runs_in_the_page(browser, folder):
    text = (folder / "report.html").read_text(encoding="utf-8")
    added = text.replace(
        "</main>", "<script>document.title = 'hit'</script><p onclick=\"document.title = 'hit'\" id=p>x</p></main>"
    )
    (folder / "added.html").write_text(added, encoding="utf-8")
    page = browser.new_page()
    page.goto((folder / "added.html").as_uri())
    page.evaluate("document.getElementById('p').click()")
    assert page.title() == "The class" and page.locator("#filter").is_visible()
    page.close()
