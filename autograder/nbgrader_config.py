"""nbgrader's configuration for this course. `grade` writes an nbgrader_config.py into a class folder that calls it:

    from autograder.nbgrader_config import configure
    configure(get_config())
"""

from pathlib import Path

from traitlets.config import Config

STUB = "raise NotImplementedError"


def configure(config: Config, root: Path | None = None) -> Config:
    """Set what the course needs on nbgrader's config; `root` is the class folder (default: the current one)."""
    from autograder.grading.preprocessors import JudgeNotebook, SubmissionExporter
    from nbgrader.preprocessors import (AssignLatePenalties, CheckCellMetadata, OverwriteCells, OverwriteKernelspec,
                                        SaveAutoGrades)

    if root is not None:
        config.CourseDirectory.root = str(Path(root).resolve())
    config.CourseDirectory.course_id = "autodiff"
    config.ClearSolutions.code_stub = {"python": STUB}
    config.ClearSolutions.text_stub = "YOUR ANSWER HERE"
    config.Autograde.exporter_class = SubmissionExporter
    config.Autograde.sanitize_preprocessors = [OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
    config.Autograde.autograde_preprocessors = [JudgeNotebook, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
    return config


def course_config(root: Path) -> Config:
    return configure(Config(), root)
