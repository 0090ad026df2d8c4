"""Student's texts and outputs as HTML that runs nothing, loads nothing, and cannot look like a report.

Text cells and outputs may hold HTML. In formgrader a script in it would run with the rights of the instructor. So all of it
is sanitized after it was rendered, when nothing makes HTML of it any more. Styles, classes and ids go, too: with them an
output could cover what stands above it, or imitate a check's report.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import nh3
from jinja2 import pass_context
from markupsafe import escape
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from traitlets.config import Config

from autograder.grading.formulas import as_mathml

# A longer text is shown as it was typed: parsers of Markdown and of Python take the square of the length for some texts.
LONGEST_TEXT = 20_000  # characters, without pictures inside
LONGEST_HTML = 100_000  # characters of HTML that an output may have
TAGS = set(
    "a b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li mark ol p pre s small "
    "span strong sub summary sup table tbody td tfoot th thead tr u ul".split()
)
ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
SCHEMES = {"http", "https", "mailto", "data"}
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*")
DRAWING = re.compile(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=\s]*")  # the course's own: its description stays
LINK = re.compile(r"(?:https?://|mailto:)", re.I)
OPEN, CLOSE = "\ue000", "\ue001"  # around the number of a formula, until the text around it is sanitized
FORMULA = re.compile(f"{OPEN}([0-9]{{1,6}}){CLOSE}")
SHOWN = (
    "text/html",
    "image/png",
    "image/jpeg",
    "text/markdown",
    "text/plain",
)  # kinds of output, the first that is there


def clean(html: str) -> str:
    """The HTML without anything that runs, loads, styles or names."""
    html = DRAWING.sub("", html)
    if len(html) > LONGEST_HTML + sum(len(found) for found in PICTURE.findall(html)):
        return as_typed(html)
    return nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES, attribute_filter=kept, url_schemes=SCHEMES)


def kept(tag: str, attribute: str, value: str) -> str | None:
    """The value of an attribute, or None: pictures come along, links lead to the web, formulas stand in the text."""
    if OPEN in value:
        return None
    if attribute == "src":
        return value if PICTURE.fullmatch(value) else None
    if attribute == "href":
        return value if LINK.match(value) else None
    return value


def as_typed(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


class Renderer(IPythonRenderer):
    """Markdown as HTML. A picture that is attached comes along; one that is not there leaves its description."""

    def __init__(self, attachments: Mapping):
        super().__init__(escape=False, exclude_anchor_links=True, attachments=dict(attachments))
        self.formulas: list[str] = []

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("attachment:"):
            kinds = self.attachments.get(url.removeprefix("attachment:"))
            url = next((f"data:{kind};base64,{data}" for kind, data in (kinds or {}).items()), "")
        text = FORMULA.sub("", text)
        if not PICTURE.fullmatch(url):
            return str(escape(f"[picture: {text}]"))
        return f'<img src="{escape(url)}" alt="{escape(text)}">'

    def block_mermaidjs(self, code: str) -> str:
        return as_typed(code)

    def formula(self, tex: str, block: bool) -> str:
        """A place that the formula takes when all around it has been sanitized."""
        self.formulas.append(as_mathml(tex, block))
        return f"{OPEN}{len(self.formulas) - 1}{CLOSE}"

    def block_math(self, body: str) -> str:
        return self.formula(body, block=True)

    def inline_math(self, body: str) -> str:
        return self.formula(body, block=False)

    def latex_environment(self, name: str, body: str) -> str:
        return self.formula(f"\\begin{{{name}}}{body}\\end{{{name}}}", block=True)


def markdown(text: str, attachments: Mapping = MappingProxyType({})) -> str:
    """A text cell as HTML, sanitized, its formulas as MathML."""
    return rendered(text, attachments) if attachments else rendered_alone(text)


@lru_cache(maxsize=512)  # most texts are the lesson's
def rendered_alone(text: str) -> str:
    return rendered(text, {})


def rendered(text: str, attachments: Mapping) -> str:
    pictures = sum(len(found) for found in PICTURE.findall(text))
    if len(text) - pictures > LONGEST_TEXT:
        return as_typed(text)
    renderer = Renderer(attachments)
    html = clean(MarkdownWithMath(renderer=renderer).render(text.replace(OPEN, "\ufffd")))
    return FORMULA.sub(lambda found: "".join(renderer.formulas[int(found[1]) :][:1]), html)


@lru_cache(maxsize=512)  # most cells are the lesson's
def python_code(source: str) -> str:
    """Code in colours."""
    return highlight(source, *python_to_html()) if len(source) <= LONGEST_TEXT else as_typed(source)


@lru_cache
def python_to_html() -> tuple[PythonLexer, HtmlFormatter]:
    return PythonLexer(stripnl=False), HtmlFormatter(cssclass="highlight")


# -- for nbgrader: formgrader's page, and its own page of feedback --------------------------------------------------


class SafeOutputs(Preprocessor):
    """Leaves of each output what may be shown. Reports of checks are the judge's, and stay."""

    def preprocess_cell(self, cell, resources, index):
        if cell.cell_type == "code" and cell.metadata.get("course", {}).get("kind") != "check":
            for output in cell.outputs:
                if "data" in output:
                    output.data = {kind: output.data[kind] for kind in SHOWN if kind in output.data}
                    if "text/html" in output.data:
                        output.data["text/html"] = clean(output.data["text/html"])
        return cell, resources


@pass_context
def markdown_filter(context, source: str) -> str:
    cell = context.get("cell") or {}
    return markdown(source, cell.get("attachments", {}))


def code_filter(source: str, language=None, metadata=None) -> str:
    return python_code(source)


def sanitized(config: Config) -> Config:
    """The configuration, changed so that nbconvert sanitizes every HTML page."""
    config.HTMLExporter.preprocessors = [SafeOutputs]
    config.SafeOutputs.enabled = True
    config.HTMLExporter.filters = {"markdown2html": markdown_filter, "highlight_code": code_filter}
    return config
