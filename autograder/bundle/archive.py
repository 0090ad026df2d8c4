"""The students' copy as one zip file: the same bytes whenever and wherever it is made from the same sources."""

import io
import zipfile
from pathlib import Path

from autograder.errors import CourseError

FOLDER = "course"  # what unpacking makes
BEGINNING_OF_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can say


def zipped(contents: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(f"{FOLDER}/{path}", BEGINNING_OF_TIME)
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # a file of Unix, also when made on Windows
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return made.getvalue()


def write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise CourseError(f"{path} cannot be written: {error.strerror}") from None
