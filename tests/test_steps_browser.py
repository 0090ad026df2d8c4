"""The step-through in JupyterLab: driven by mouse and keyboard, its numbers read off the page."""

import pytest
from browser import lab_server, open_browser, open_notebook, write_notebook

SET_UP = """
from tinygrad_cl.scalar import Value
from tinygrad_cl.viz import steps
a, b = Value(2.0, label="a"), Value(-3.0, label="b")
s = a + b; s.label = "s"
c = s * b; c.label = "c"
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    write_notebook(folder / "steps.ipynb", SET_UP, "steps(c)")
    with open_browser() as browser, lab_server(folder) as address:
        page = open_notebook(browser, address, "steps.ipynb")
        page.wait_for_selector(".steps-say:not(:empty)")
        yield page


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


def test_a_new_input_runs_the_engine_again(page):
    field = page.locator(".steps-inputs input").first
    field.fill("5")
    field.press("Tab")
    page.wait_for_function("document.querySelector('.steps-say').textContent.startsWith('The inputs: a = 5')")
    page.click("button[title^='last step']")
    assert [shown(page, f"data{i}") for i in range(4)] == ["5", "−3", "2", "−6"]
    assert [shown(page, f"grad{i}") for i in range(2)] == ["−3", "−1"]


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
