"""`highlight_kernels()`: OpenCL C in the texts of a notebook's cells gets a C editor's colours."""

from pathlib import Path

SCRIPT = Path(__file__).with_name("highlight.js")


class KernelHighlight:
    """Shows itself by running the script in the page; elsewhere, as a short text."""

    def _repr_mimebundle_(self, **options):
        return {"application/javascript": SCRIPT.read_text(encoding="utf-8"), "text/plain": repr(self)}

    def __repr__(self):
        return "OpenCL C in this notebook's cells is coloured, in JupyterLab and Notebook."


def highlight_kernels() -> KernelHighlight:
    """Colour OpenCL C wherever a cell of this page has a text with a `__kernel` in it, while it is written, too.

    JupyterLab colours a cell in one language. This adds the second: without an extension, and for as long as the page is
    open.
    """
    return KernelHighlight()
