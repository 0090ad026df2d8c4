"""Sanitize the pages that a grader opens: feedback and formgrader show a student's HTML without scripts.

Outputs and text cells may hold HTML. In formgrader a script in it would run with the rights of the instructor.
"""

from nbconvert.preprocessors.sanitize import SanitizeHTML
from traitlets.config import Config

# What reports of checks and texts of lessons consist of.
TAGS = [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "hr",
    "i",
    "img",
    "kbd",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
]
ATTRIBUTES = {"*": ["style"], "a": ["href", "title"], "img": ["src", "alt", "width", "height"]}
STYLES = [
    "border",
    "border-left",
    "color",
    "font-size",
    "font-weight",
    "line-height",
    "margin",
    "margin-top",
    "opacity",
    "padding",
    "text-align",
    "vertical-align",
    "white-space",
]
UNCHANGED = {
    "metadata",
    "text/plain",
    "image/png",
    "image/jpeg",
}  # kinds of output; what is neither here nor HTML is left out


def sanitized(config: Config) -> Config:
    """The configuration, changed so that nbconvert sanitizes every HTML page."""
    config.HTMLExporter.preprocessors = [SanitizeHTML]
    config.SanitizeHTML.update(
        enabled=True, tags=TAGS, attributes=ATTRIBUTES, styles=STYLES, safe_output_keys=UNCHANGED
    )
    return config
