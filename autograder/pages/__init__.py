"""HTML pages: one style sheet, one way to make them. Each page is one file that needs nothing else, also when printed."""

import base64
import hashlib
from pathlib import Path

import jinja2
from markupsafe import Markup

FOLDER = Path(__file__).parent


def script(name: str) -> Markup:
    """The text of a script in this folder, for a script element that holds nothing else."""
    return Markup((FOLDER / name).read_text(encoding="utf-8"))


def source_of(name: str) -> Markup:
    """What a content security policy calls that script: the digest of its text, so that it allows this one and no other."""
    return Markup(f"'sha256-{base64.b64encode(hashlib.sha256(script(name).encode()).digest()).decode()}'")


ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(FOLDER),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)
ENVIRONMENT.globals.update(script=script, source_of=source_of)


def render(template: str, **names: object) -> str:
    """The page of a template in this folder, its style inside. Names are escaped unless they are Markup."""
    return ENVIRONMENT.get_template(template).render(style=(FOLDER / "style.css").read_text(encoding="utf-8"), **names)
