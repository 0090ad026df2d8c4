"""Two places where nbgrader's autograde calls the course: reading a submission, and running it.

`SubmissionExporter` normalises the submitted file, `JudgeNotebook` stands where nbgrader has Execute. All else is nbgrader's.
"""

from functools import lru_cache
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float, Integer, Unicode

from autograder.errors import CourseError
from autograder.grading.normalise import normalised_submission
from autograder.grading.seed import Seeds
from autograder.judge.kernel import Sandbox
from autograder.judge.notebook import judge_notebook
from autograder.judge.notebook_run import Limits
from autograder.sandbox.bubblewrap import why_not


@lru_cache
def seeds_of(folder: Path) -> Seeds:
    """The seeds of a class; one object, since what one process judges is one run."""
    return Seeds(folder)


class SubmissionExporter(NotebookExporter):
    """Reads a submission through `normalise`, so that every file, however broken, becomes a notebook."""

    def from_filename(self, filename, resources=None, **options):
        if not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources=resources, **options)
        notebook = normalised_submission(Path(filename).read_bytes(), resources["nbgrader"]["assignment"])
        return self.from_notebook_node(notebook, resources=resources, **options)


class JudgeNotebook(NbGraderPreprocessor):
    """Runs the student's cells in their kernel and writes the judge's verdicts into the check cells."""

    cell_seconds = Float(Limits.cell_seconds, help="Seconds that one cell of a student may take.").tag(config=True)
    seconds = Float(Limits.seconds, help="Seconds that a notebook may take in all.").tag(config=True)
    deaths = Integer(Limits.deaths, help="How often a notebook's kernel may die before the rest is given up.").tag(
        config=True
    )
    sandbox = Bool(True, help="Run notebooks in a sandbox. Without one they are programs with your rights.").tag(
        config=True
    )
    cache = Unicode(
        help="A folder of kernels compiled before, which everybody may read; each notebook gets a copy."
    ).tag(config=True)

    def preprocess(self, notebook, resources):
        if self.sandbox and why_not():
            raise CourseError(why_not())
        sandbox = Sandbox(self.cache) if self.sandbox else None
        seed = self.seed(**{name: resources["nbgrader"][name] for name in ("student", "assignment", "notebook")})
        judgement = judge_notebook(notebook, resources["nbgrader"]["assignment"], seed, self.limits, sandbox)
        if judgement.flags:
            self.log.warning("Worth a look: %s", "; ".join(judgement.flags))
        return notebook, resources

    def seed(self, student: str, assignment: str, notebook: str) -> str:
        """The seed for a submission in the class folder that nbgrader works in."""
        folder = CourseDirectory(config=self.config)
        data = Path(
            folder.format_path(folder.submitted_directory, student, assignment), f"{notebook}.ipynb"
        ).read_bytes()
        seeds = seeds_of(Path(folder.root))
        seed = seeds.of(student, assignment, data)
        seeds.save()
        return seed

    @property
    def limits(self) -> Limits:
        return Limits(self.cell_seconds, self.seconds, self.deaths)
