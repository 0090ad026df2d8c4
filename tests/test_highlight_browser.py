"""OpenCL C coloured in a notebook's cells, in JupyterLab, while it is written, too."""

import pytest
from browser import lab_server, open_browser, open_notebook, write_notebook

KERNEL = '''TWICE = """
// twice
__kernel void twice(__global float *a)
{
    a[get_global_id(0)] *= 2.0f;
}
"""
def f():
    """if this were coloured, it would be wrong"""
'''


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    write_notebook(
        folder / "kernel.ipynb", "from tinygrad_cl.viz import highlight_kernels\nhighlight_kernels()", KERNEL
    )
    with open_browser() as browser, lab_server(folder) as address:
        page = open_notebook(browser, address, "kernel.ipynb")
        page.wait_for_function("CSS.highlights.size > 0")
        yield page


def coloured(page, kind):
    return page.evaluate("(kind) => [...CSS.highlights.get(`kernel-${kind}`)].map(String)", kind)


def test_the_words_of_a_kernel_are_found_and_those_of_other_texts_are_not(page):
    assert coloured(page, "comment") == ["// twice"]
    assert coloured(page, "keyword") == ["__kernel", "__global"]
    assert coloured(page, "type") == ["void", "float"]
    assert coloured(page, "number") == ["0", "2.0f"]
    assert coloured(page, "function") == ["twice", "get_global_id"]
    assert len(coloured(page, "text")) == 1


def test_what_is_typed_is_coloured(page):
    page.locator(".cm-line", has_text="2.0f").click()
    page.keyboard.press("End")
    page.keyboard.type(" return; // done")
    page.wait_for_function("[...CSS.highlights.get('kernel-comment')].length == 2")
    assert coloured(page, "keyword") == ["__kernel", "__global", "return"]
