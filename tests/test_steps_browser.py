"""The step-through in JupyterLab and Notebook 7: driven by mouse and keyboard, its numbers read off the page, reopened and printed."""

import nbformat
import pytest
from browser import lab_server, open_browser, open_notebook, write_notebook
from nbconvert import HTMLExporter

SET_UP = """
from tinygrad_cl.scalar import Value
from tinygrad_cl.viz import draw, steps
a, b = Value(2.0, label="a"), Value(-3.0, label="b")
s = a + b; s.label = "s"
c = s * b; c.label = "c"
wide = c
for _ in range(9):
    wide = wide.tanh()
"""
PICTURES = "img.picture"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """(a browser, the address of a Jupyter server, its folder)"""
    folder = tmp_path_factory.mktemp("lab")
    write_notebook(folder / "steps.ipynb", SET_UP, "steps(c)", "draw(wide)")
    with open_browser() as browser, lab_server(folder) as address:
        yield browser, address, folder


@pytest.fixture(scope="module")
def page(lab):
    browser, address, _ = lab
    page = open_notebook(browser, address, "steps.ipynb")
    page.wait_for_selector(".steps-say:not(:empty)")
    return page


@pytest.fixture(scope="module")
def saved(lab, page):
    """The notebook, saved; it runs no more."""
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    notebook = nbformat.read(lab[2] / "steps.ipynb", 4)
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.close()
    return notebook


def look_at(lab, where, width=1000):
    browser, address, _ = lab
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(where if "://" in where else f"{address}/{where}")
    page.wait_for_selector(PICTURES, state="attached")
    return page


def said(page):
    return page.inner_text(".steps-say")


def shown(page, name):
    return page.text_content(f".steps-stage #{name}")


def test_it_begins_with_the_inputs_and_nothing_else(page):
    assert said(page) == "The inputs: a = 2, b = −3."
    assert (shown(page, "data0"), shown(page, "data1"), shown(page, "data2"), shown(page, "grad0")) == (
        "2",
        "−3",
        "",
        "",
    )


def test_the_mouse_walks_forward_and_back(page):
    page.click("button[title^='step on']")
    assert said(page) == "s = a + b = 2 + (−3) = −1." and shown(page, "data2") == "−1"
    page.click("button[title^='step back']")
    assert shown(page, "data2") == ""


def test_the_keys_walk_to_the_end_where_the_gradients_are_the_engines(page):
    page.focus(".steps")
    page.keyboard.press("End")
    assert "Another path arrived here before: −1 + (−3) = −4" in said(page)
    assert [shown(page, f"grad{i}") for i in range(4)] == ["−3", "−4", "−3", "1"]
    page.keyboard.press("ArrowLeft")
    assert shown(page, "grad1") == "−1"
    page.keyboard.press("Home")
    assert said(page).startswith("The inputs")


@pytest.mark.parametrize("number, key", [(4, "Tab"), (5, "Enter")])
def test_a_new_input_runs_the_engine_again(page, number, key):
    field = page.locator(".steps-inputs input").first
    field.fill(str(number))
    field.press(key)
    page.wait_for_function(f"document.querySelector('.steps-stage #data0').textContent == '{number}'")
    focused = page.evaluate("document.activeElement.ariaLabel")
    assert focused == {"Enter": "a", "Tab": "b"}[key]
    page.click("button[title^='last step']")
    assert [shown(page, f"data{i}") for i in range(4)] == [
        str(number),
        "−3",
        str(number - 3),
        str(9 - 3 * number).replace("-", "−"),
    ]
    assert [shown(page, f"grad{i}") for i in range(2)] == ["−3", str(number - 6).replace("-", "−")]


@pytest.mark.parametrize("typed", ["", "1e400"])
def test_what_is_no_number_is_said_and_taken_back(page, typed):
    field = page.locator(".steps-inputs input").first
    field.fill(typed)
    field.press("Enter")
    assert page.inner_text(".steps-problem") == "a has to be a number." and field.input_value() == "5"


def test_it_plays_by_itself_and_stops_at_the_end(page):
    page.click("button[title^='first step']")
    page.focus(".steps")
    page.keyboard.press(" ")
    page.wait_for_function("document.querySelector('.steps-say').dataset.phase == 'backward'")
    page.keyboard.press("End")
    assert page.inner_text("button[title^='play']") == "▶"


def test_nothing_comes_from_another_host(page):
    hosts = page.evaluate(
        "[...new Set(performance.getEntriesByType('resource').map((entry) => new URL(entry.name).host))]"
    )
    assert {host.split(":")[0] for host in hosts} <= {"127.0.0.1", ""}


def test_nothing_asked_for_attention_meanwhile(page):
    assert page.locator(".Toastify__toast").count() == 0  # JupyterLab's notifications, such as whether one wants news


def test_paper_shows_the_last_step_and_all_words_in_black_and_no_controls(page):
    page.emulate_media(media="print")
    assert not page.locator(".steps :is(button, input, .steps-stage)").and_(page.locator(":visible")).count()
    assert page.locator(".steps-printed img").is_visible()
    words = page.locator(".steps-printed li")
    assert words.first.inner_text() == "The inputs: a = 5, b = −3." and words.count() == 8
    assert words.first.evaluate("(each) => getComputedStyle(each).color") == "rgb(0, 0, 0)"
    page.emulate_media(media="screen")


def test_in_notebook_7_and_after_a_reload_the_running_kernel_gives_the_steps_again(lab, page):
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    other = look_at(lab, "notebooks/steps.ipynb", width=390)
    other.wait_for_selector(".steps-say:not(:empty)")
    other.fill(".steps-inputs input >> nth=0", "7")
    other.keyboard.press("Enter")
    other.wait_for_function("document.querySelector('.steps-stage #data0').textContent == '7'")
    frame, *parts = [each.bounding_box() for each in other.locator(".steps, .steps-bar > *, .steps-inputs input").all()]
    assert all(part["x"] + part["width"] <= frame["x"] + frame["width"] for part in parts), (
        "on a phone, a part is cut off"
    )
    assert not other.locator(PICTURES).first.is_visible()
    other.close()


@pytest.mark.parametrize("where", ["lab/tree", "notebooks"])
@pytest.mark.parametrize("trusted", [True, False])
def test_reopened_without_its_kernel_a_notebook_shows_the_static_picture(lab, saved, where, trusted):
    if not trusted:  # another's file, which names a kernel that is not here
        other = nbformat.from_dict({**saved, "metadata": {"kernelspec": {"name": "gone", "display_name": "Gone"}}})
        other.cells[0].source += "# another's"
        nbformat.write(other, lab[2] / "other.ipynb")
    page = look_at(lab, f"{where}/{'steps' if trusted else 'other'}.ipynb")
    pictures = page.locator(PICTURES)
    pictures.nth(1).wait_for()
    assert [each.evaluate("(each) => each.naturalWidth > 0") for each in pictures.all()] == [True, True]
    assert page.locator("ol[start] li").all_inner_texts()[0] == "The inputs: a = 2, b = −3."
    assert page.locator(".steps").count() == 0 and "Error displaying widget" not in page.inner_text("body")
    page.close()


def test_an_exported_notebook_is_scrolled_on_the_screen_and_whole_on_paper(lab, saved, tmp_path):
    exported = tmp_path / "steps.html"
    exported.write_text(HTMLExporter().from_notebook_node(saved)[0], encoding="utf-8")
    page = look_at(lab, exported.as_uri(), width=600)
    widths = "[...document.querySelectorAll('img.picture')].map((each) => each.getBoundingClientRect().right)"
    assert max(page.evaluate(widths)) > 600
    page.emulate_media(media="print")
    assert max(page.evaluate(widths)) <= 600
    page.close()
