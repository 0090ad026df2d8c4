"""`highlight_kernels()`: syntax highlighting for the OpenCL C in the strings of a notebook's cells."""

from pathlib import Path

SCRIPT = Path(__file__).with_name("highlight.js")


class KernelHighlight:
    """Runs the script when a notebook displays it; elsewhere it shows a short text."""

    def _repr_mimebundle_(self, **options):
        return {"application/javascript": SCRIPT.read_text(encoding="utf-8"), "text/plain": repr(self)}

    def __repr__(self):
        return "OpenCL C in this notebook's cells is coloured, in JupyterLab and Notebook."


def highlight_kernels() -> KernelHighlight:
    """Colour the OpenCL C in every string of this page's cells that contains `__kernel`, also while you type.

    JupyterLab highlights one language per cell. This adds the second, without an extension, until the page is closed.
    """
    return KernelHighlight()
