"""A students' copy of the course, unpacked, and Python in it."""

import os
import subprocess
import sys
import sysconfig
import zipfile

from autograder.bundle.archive import FOLDER, zipped


def unpacked(files, folder):
    """The students' copy, as it lies in that folder."""
    (folder / "course.zip").write_bytes(zipped(files))
    zipfile.ZipFile(folder / "course.zip").extractall(folder)
    return folder / FOLDER


def python_in(course, *arguments, **options):
    """Start Python where of ours only that course is found: -S leaves out the finder of an editable install."""
    installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(course), *installed]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-S", *map(str, arguments)],
        cwd=course,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )
