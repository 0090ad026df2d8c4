"""JupyterLab as learners get it, looked at in a browser: nothing in it is for teachers."""

import pytest
from browser import lab_server, open_browser, open_notebook, write_notebook


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    write_notebook(folder / "lesson.ipynb", "6 * 7")
    with open_browser() as browser, lab_server(folder) as address:
        page = open_notebook(browser, address, "lesson.ipynb")
        page.wait_for_selector(".jp-OutputArea-output")
        yield page


def test_the_menus_are_jupyterlabs_own(page):
    menus = page.locator("#jp-MainMenu .lm-MenuBar-itemLabel").all_inner_texts()
    assert "Kernel" in menus and "Nbgrader" not in menus


@pytest.mark.parametrize("words", ["Create Assignment", "Formgrader", "Validate", "Jupytext"])
def test_nothing_on_the_page_is_for_teachers_or_authors(page, words):
    page.click("#jp-MainMenu >> text=File")
    page.wait_for_selector(".lm-Menu-itemLabel >> text=Save Notebook")
    assert page.get_by_text(words, exact=False).count() == 0
    page.keyboard.press("Escape")


def test_no_message_is_in_the_way(page):
    assert page.locator(".jp-Dialog, .Toastify__toast").count() == 0
