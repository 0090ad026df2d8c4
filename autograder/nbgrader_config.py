"""nbgrader's configuration for this course. `grade` writes an nbgrader_config.py into a class folder that says:

from autograder.nbgrader_config import configure
configure(get_config())
"""

import warnings
from pathlib import Path

from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from autograder.grading.preprocessors import JudgeNotebook, SubmissionExporter
from autograder.grading.rubric import ShowRubric
from autograder.grading.sanitize import sanitized
from autograder.lesson.build import course_folder


def configure(config: Config, root: Path | None = None) -> Config:
    """Let nbgrader's autograde, in the class folder `root` (default: the current one), work with the course's judge."""
    warnings.simplefilter("ignore", SAWarning)  # of nbgrader's gradebook, about its own sessions
    course_folder(config, root or Path.cwd())
    config.Autograde.exporter_class = SubmissionExporter
    config.Autograde.sanitize_preprocessors = [OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
    config.Autograde.autograde_preprocessors = [JudgeNotebook, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
    sanitized(config)
    config.HTMLExporter.preprocessors = [ShowRubric, *config.HTMLExporter.preprocessors]
    config.ShowRubric.enabled = True
    return config
