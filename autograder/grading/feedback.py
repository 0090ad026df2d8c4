"""The page of feedback on one notebook, as it ran: made from the autograded notebook alone, without gradebook or class folder."""

from functools import lru_cache

from markupsafe import Markup
from nbconvert.filters import ansi2html
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution
from pygments.formatters import HtmlFormatter

from autograder.grading.marks import Earlier, Marks, earlier_in, said_earlier
from autograder.grading.sanitize import SHOWN, clean, markdown, python_code
from autograder.judge.notebook_run import course_cell
from autograder.judge.report import HEADLINES, with_hint
from autograder.lesson.text import read_lesson
from autograder.pages import render

COLOURS = (("default", ""), ("github-dark", "@media (prefers-color-scheme: dark)"))


def feedback_page(notebook, module: str, marks: Marks = Marks()) -> str:
    """The whole notebook. What the student wrote and put out is sanitized; nothing is loaded from elsewhere."""
    texts = {cell.id: cell.stub for cell in read_lesson(module).cells if cell.kind == "text"}
    earlier = earlier_in(notebook)
    cells = [
        shown(cell, marks, earlier) | {"ours": texts.get(cell.get("id")) == cell.source} for cell in notebook.cells
    ]
    graded = [cell for cell in cells if cell["points"] is not None]
    score = max(0.0, sum(cell["score"] or 0.0 for cell in graded) - marks.penalty)
    return render(
        "notebook.html",
        title=module,
        cells=cells,
        graded=graded,
        total=f"{score:g} of {sum(cell['points'] for cell in graded):g}",
        late=f"{marks.penalty:g} points are taken off, because it came late." if marks.penalty else "",
        highlighting=Markup(highlighting()),
        invalid=notebook.metadata.get("course", {}).get("invalid", ""),
    )


def plain_page(module: str, verdicts: dict[str, dict], reports: dict[str, str], reason: str) -> str:
    """The page where the notebook itself cannot be shown: what was judged, and that nothing is lost by it."""
    return render(
        "student.html",
        title=module,
        summary=f"Your notebook was judged as always; it cannot be shown here, because {reason}. That costs no point.",
        modules=[
            {
                "name": module,
                "points": f"{sum(verdict['points'] for verdict in verdicts.values()):g}",
                "right": f"{sum(verdict['status'] == 'ok' for verdict in verdicts.values())} of {len(verdicts)}",
                "page": "",
                "note": "",
                "late": "",
                "marked": [],
                "reports": list(reports.values())
                or [Markup("<b>{}</b>: {}").format(name, HEADLINES[each["status"]]) for name, each in verdicts.items()],
            }
        ],
    )


def shown(cell, marks: Marks, earlier: Earlier) -> dict:
    """A cell for the page's template; score and points of one that is graded."""
    kind, exercise = course_cell(cell)
    name = cell.metadata.get("nbgrader", {}).get("grade_id", cell.get("id", ""))
    score, points = determine_grade(cell) if is_grade(cell) else (None, None)
    comment = marks.comments.get(name) or ("No response." if is_solution(cell) and is_untouched(cell) else "")
    html = python_code(cell.source) if cell.cell_type == "code" else markdown(cell.source, cell.get("attachments", {}))
    outputs = cell.get("outputs", [])
    return {
        "kind": kind or "added",
        "id": name,
        "name": exercise or name,
        "is_code": cell.cell_type == "code",
        "html": Markup(html) if cell.source.strip() else "",
        "report": Markup(with_hint(outputs[0]["data"]["text/html"], marks.hints.get(name)))
        if kind == "check" and outputs
        else "",
        "outputs": [Markup(output_html(output)) for output in outputs] if kind != "check" else [],
        "score": marks.scores.get(name, score),
        "points": points,
        "comment": Markup(markdown(comment)),
        "earlier": Markup(markdown(said_earlier(earlier[name], points))) if marks.shows(name, earlier) else "",
    }


def output_html(output) -> str:
    if output.output_type == "stream":
        return f"<pre>{ansi2html(output.text)}</pre>"
    if output.output_type == "error":
        return f"<pre>{ansi2html(chr(10).join(output.traceback) or f'{output.ename}: {output.evalue}')}</pre>"
    data = output.get("data", {})
    kind = next((kind for kind in SHOWN if data.get(kind)), "")
    if kind.startswith("image/"):
        return clean(f'<img alt="a picture" src="data:{kind};base64,{"".join(data[kind].split())}">')
    if kind == "text/html":
        return clean(data[kind])
    if kind == "text/markdown":
        return markdown(data[kind])
    return f"<pre>{ansi2html(data[kind])}</pre>" if kind else ""


def is_untouched(cell) -> bool:
    return cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)


@lru_cache
def highlighting() -> str:
    """The colours of code, for light and dark."""
    styles = [(HtmlFormatter(style=style).get_style_defs(".highlight"), media) for style, media in COLOURS]
    return "\n".join(f"{media} {{\n{rules}\n}}" if media else rules for rules, media in styles)
