"""Puts the lessons into the wheel. Everything else is in pyproject.toml, which has no word for files beside the packages."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

TEXTS = "autograder/texts"  # autograder.paths finds them there
LESSONS = ("solutions/*.py", "modules/*/*.ipynb", "projects/*.ipynb")


class BuildWithLessons(build_py):
    """build_py, and a copy of each lesson, solved and unsolved. An editable install reads them where they are."""

    def lessons(self):
        return [path for pattern in LESSONS for path in sorted(Path().glob(pattern))]

    def run(self):
        super().run()
        for path in [] if self.editable_mode else self.lessons():
            copy = Path(self.build_lib, TEXTS, path)
            self.mkpath(str(copy.parent))
            self.copy_file(str(path), str(copy))

    def get_source_files(self):
        return super().get_source_files() + list(map(str, self.lessons()))


setup(cmdclass={"build_py": BuildWithLessons})
