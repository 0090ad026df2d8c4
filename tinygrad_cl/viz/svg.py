"""The drawing kit behind the course's pictures: one palette, a few shapes, and the object that a notebook displays.

A notebook shows an SVG as an <img>, so the page's theme cannot set its colours. Every picture therefore has its own
light background, and looks the same in a dark theme and on paper.
"""

from base64 import b64encode
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

# Okabe & Ito's colours (2008), which people with any common colour-vision deficiency can tell apart.
BLUE, ORANGE, GREEN, VERMILLION, SKY, PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"
INK, MUTED, LINE, PAPER = "#1f2328", "#59636e", "#8b949e", "#ffffff"
PALE = {ORANGE: "#fdf1d8", SKY: "#e9f5fc", GREEN: "#ddf3eb", VERMILLION: "#fbe6da", PURPLE: "#f8eaf2", LINE: "#f2f4f6"}

SANS = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


# A wide picture is scrolled on the screen, and made to fit on paper.
SCROLLED = "<style>@media screen { img.picture.picture { max-width: none } }</style>"


def image(svg: str, title: str) -> str:
    """An SVG as HTML, from which nothing outside is loaded."""
    source = f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
    return f'<img class="picture" src="{source}" alt="{escape(title)}">{SCROLLED}'


class Displayed:
    """What a notebook displays as an SVG and, ahead of it, as HTML: Jupyter cuts a wide SVG off when it prints, and
    shows none in a notebook that is not trusted yet.
    """

    title: str

    def _repr_svg_(self) -> str:
        raise NotImplementedError

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        svg = self._repr_svg_()
        return {"text/html": image(svg, self.title), "image/svg+xml": svg, "text/plain": repr(self)}


class Picture(Displayed):
    """An SVG that a notebook displays. `svg` is its text, `save(path)` writes it to a file.

    >>> Picture([text(10, 20, "hello")], 100, 40, "a greeting")
    Picture(a greeting, 100 × 40)
    """

    def __init__(self, parts: Iterable[str], width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = round(width), round(height), title
        self.svg = "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" role="img" '
                f'viewBox="0 0 {self.width} {self.height}" font-family="{SANS}" font-size="13">',
                f"<title>{escape(title)}</title>",
                rect(0.5, 0.5, self.width - 1, self.height - 1, fill=PAPER, stroke="#d1d9e0", radius=8),
                *parts,
                "</svg>",
            ]
        )

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Picture({self.title}, {self.width} × {self.height})"


def element(name, content="", **attributes):
    """One SVG element; underscores in attribute names become hyphens.

    >>> element("circle", r=3, stroke_width=2)
    '<circle r="3" stroke-width="2"></circle>'
    """
    pairs = "".join(
        f' {key.replace("_", "-")}="{escape(number(value))}"' for key, value in attributes.items() if value is not None
    )
    return f"<{name}{pairs}>{content}</{name}>"


def text(x, y, string, size=13, fill=INK, anchor="start", bold=False, mono=False, halo=False, name=None):
    """A line of text whose baseline begins (or, by anchor, is centred or ends) at (x, y); a halo separates it from lines.

    name   its id in the page
    """
    return element(
        "text",
        escape(str(string)),
        id=name,
        x=x,
        y=y,
        font_size=size,
        fill=fill,
        text_anchor=anchor,
        font_weight="600" if bold else None,
        font_family=MONO if mono else None,
        **(dict(stroke=PAPER, stroke_width=4, paint_order="stroke", stroke_linejoin="round") if halo else {}),
    )


def rect(x, y, width, height, fill=PAPER, stroke=LINE, radius=4, stroke_width=1, dash=None):
    """A rectangle with rounded corners."""
    return element(
        "rect",
        x=x,
        y=y,
        width=width,
        height=height,
        rx=radius,
        fill=fill,
        stroke=stroke,
        stroke_width=stroke_width,
        stroke_dasharray=dash,
    )


def path(d, stroke=LINE, stroke_width=1.5, dash=None):
    """An open line from SVG path data."""
    return element("path", d=d, fill="none", stroke=stroke, stroke_width=stroke_width, stroke_dasharray=dash)


def arrow_head(x, y, fill=LINE, size=7):
    """A small triangle that points right, its tip at (x, y)."""
    return element("path", d=f"M{number(x)} {number(y)}l{-size} {-size / 2}v{size}z", fill=fill)


def number(value):
    """A coordinate without superfluous digits, so that the SVG is the same text on every machine."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
