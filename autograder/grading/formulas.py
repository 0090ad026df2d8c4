"""Formulas as MathML, which a browser shows by itself: a page needs no script for them, and none from elsewhere."""

from xml.etree import ElementTree

from latex2mathml.converter import convert
from markupsafe import escape

LONGEST = 2_000  # characters of TeX; a longer formula is shown as it was typed
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
ELEMENTS = set(
    "math mrow mi mn mo mtext mspace ms mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd mstyle "
    "mpadded mphantom menclose".split()
)
# Nothing here runs, leads elsewhere, or takes more room than the formula.
ATTRIBUTES = set(
    "display mathvariant stretchy fence separator form accent accentunder movablelimits symmetric largeop displaystyle "
    "scriptlevel linethickness columnalign rowspacing columnspacing".split()
)


def as_mathml(tex: str, block: bool) -> str:
    """A formula for a page; as it was typed where it cannot be read."""
    if len(tex) <= LONGEST:
        try:
            return checked(convert(tex, display="block" if block else "inline"))
        except Exception:  # it raises whatever its parser stumbles over
            pass
    mark = "$$" if block else "$"
    return f"<code>{escape(f'{mark}{tex}{mark}')}</code>"


def checked(mathml: str) -> str:
    """What the converter gave, read once more: it copies texts and links of the formula as they are."""
    root = ElementTree.fromstring(mathml)
    for element in root.iter():
        element.tag = element.tag.removeprefix(NAMESPACE)
        if element.tag not in ELEMENTS:
            raise ValueError(f"<{element.tag}> is no MathML for a page")
        element.attrib = {name: value for name, value in element.attrib.items() if name in ATTRIBUTES}
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
