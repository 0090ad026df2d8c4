"""HTML pages: one style sheet, one way to make them. Each page is one file that needs nothing else, also when printed."""

from pathlib import Path

import jinja2

FOLDER = Path(__file__).parent
ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(FOLDER),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


def render(template: str, **names: object) -> str:
    """The page of a template in this folder, its style inside. Names are escaped unless they are Markup."""
    return ENVIRONMENT.get_template(template).render(style=(FOLDER / "style.css").read_text(encoding="utf-8"), **names)
