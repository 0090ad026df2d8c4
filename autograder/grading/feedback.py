"""nbgrader's page of feedback, made from an autograded notebook alone: no gradebook, no class folder."""

import copy
from functools import lru_cache

from nbconvert.exporters.html import HTMLExporter
from nbconvert.exporters.templateexporter import TemplateExporter
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution
from traitlets.config import Config

from autograder.grading.sanitize import sanitized


class FeedbackExporter(HTMLExporter):
    """nbconvert's, without its last step: it parses the finished page once more, to say of images that nobody has described them.
    That took half of a worker's own time.
    """

    def from_notebook_node(self, nb, resources=None, **options):
        resources = self._init_resources(resources)
        self.register_filter("highlight_code", Highlight2HTML(pygments_lexer="ipython3", parent=self))
        self.register_filter(
            "filter_data_type", WidgetsDataTypeFilter(notebook_metadata=nb.metadata, parent=self, resources=resources)
        )
        return TemplateExporter.from_notebook_node(self, nb, resources, **options)


@lru_cache
def exporter():
    """With nbgrader's template and preprocessors; all but the scores, which it would ask the gradebook for."""
    converter = GenerateFeedback(coursedir=CourseDirectory(), config=sanitized(Config()))
    made = FeedbackExporter(config=converter.config)
    for preprocessor in converter.preprocessors[1:]:
        made.register_preprocessor(preprocessor, enabled=True)
    return made


def feedback_page(notebook, module: str) -> str:
    """The page with the scores that the notebook itself holds."""
    shown, total, most = copy.deepcopy(notebook), 0.0, 0.0
    for cell in shown.cells:
        if is_grade(cell):
            score, points = determine_grade(cell)
            cell.metadata.nbgrader |= {"score": score or 0.0, "points": points}
            total, most = total + (score or 0.0), most + points
        if is_solution(cell):
            cell.metadata.nbgrader["comment"] = "No response." if is_untouched(cell) else None
    resources = {
        "unique_key": module,
        "output_files_dir": f"{module}_files",
        "nbgrader": {"notebook": module, "assignment": module, "score": total, "max_score": most, "late_penalty": 0},
    }
    return exporter().from_notebook_node(shown, resources=resources)[0]


def is_untouched(cell) -> bool:
    return cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
