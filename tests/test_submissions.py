"""Submissions as people, browsers and learning platforms leave them: recognised, or named; never passed over in silence."""

import os
import sys

import pytest

from autograder.errors import CourseError
from autograder.grading.sample_class import MODULE, write_submission
from autograder.grading.submissions import find_submissions, module_called, student_name

OTHER = "03_broadcast"


@pytest.fixture
def put(tmp_path):
    """Put files into the folder of submissions: put("anna/01_value/01_value.ipynb", b"…")."""

    def write(*names, content=b"x"):
        for name in names:
            path = os.path.join(os.fsencode(tmp_path / "in"), name if isinstance(name, bytes) else os.fsencode(name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        return tmp_path / "in"

    return write


def found_in(folder):
    """({student/module: the file that counts, below its student's folder}, sentences)"""
    found, left = find_submissions(folder)
    places = {}
    for each in found:
        below = each.notebook.relative_to(folder)
        places[f"{each.student}/{each.module}"] = "/".join(below.parts[1:]) if each.notebook.exists() else ""
    return places, left


def test_the_layout_of_the_docs_is_found_without_a_word(put):
    folder = put(
        f"anna/{MODULE}/{MODULE}.ipynb",
        f"anna/{OTHER}/{OTHER}.ipynb",
        f"anna/{MODULE}/data.csv",
        f"ben/{MODULE}/{MODULE}.ipynb",
    )
    put(
        f"anna/{MODULE}/timestamp.txt",
        "anna/.DS_Store",
        "__MACOSX/x",
        f"anna/{MODULE}/.ipynb_checkpoints/{MODULE}-checkpoint.ipynb",
    )
    places, left = found_in(folder)
    assert set(places) == {f"anna/{MODULE}", f"anna/{OTHER}", f"ben/{MODULE}"} and not left


@pytest.mark.parametrize(
    "place",
    [
        f"{OTHER}/{OTHER} (1).ipynb",
        f"{OTHER}/{OTHER}(12).ipynb",
        f"{OTHER}/{OTHER} - Copy.ipynb",
        f"{OTHER}/{OTHER}-Copy1.ipynb",
        f"{OTHER}/03-Broadcast.IPYNB",
        f"{OTHER}/homework.ipynb",
        "03-broadcast/03_broadcast.ipynb",
        "03 Broadcast/x.ipynb",
        "03/03.ipynb",
        "broadcast/broadcast.ipynb",
        "3/solution.ipynb",
        f"{OTHER} (2)/{OTHER}.ipynb",
        f"{OTHER}.ipynb",
        f"mustermann_4711_{OTHER}-1.ipynb",
        f"my homework/{OTHER}.ipynb",
    ],
)
def test_h2_other_names_are_recognised(put, place):
    places, left = found_in(put(f"anna/{place}"))
    assert places == {f"anna/{OTHER}": place} and not left


def test_h2_of_several_notebooks_the_right_name_counts_or_the_last_download_and_the_others_are_named(put):
    folder = put(*[f"anna/{OTHER}/{OTHER}{more}.ipynb" for more in (" (1)", " (2)", " (10)")])
    put(f"ben/{OTHER}/{OTHER}.ipynb", content=b"y")
    put(f"ben/{OTHER}/{OTHER} (1).ipynb")
    put(f"carl/{OTHER}/{OTHER}.ipynb", f"carl/{OTHER}/the same.ipynb")
    put(f"dora/{OTHER}/{OTHER}.ipynb")
    put(f"dora/{OTHER}.ipynb", content=b"z")
    for i, name in enumerate((" (1)", " (2)", " (10)")):
        put(f"anna/{OTHER}/{OTHER}{name}.ipynb", content=b"%d" % i)
    places, left = found_in(folder)
    assert places[f"anna/{OTHER}"].endswith("(10).ipynb")
    assert {places[f"{name}/{OTHER}"] for name in ("ben", "carl", "dora")} == {f"{OTHER}/{OTHER}.ipynb"}
    assert sorted(left) == [
        f"anna/{OTHER}/{OTHER} (1).ipynb was not looked at; {OTHER}/{OTHER} (10).ipynb counts",
        f"anna/{OTHER}/{OTHER} (2).ipynb was not looked at; {OTHER}/{OTHER} (10).ipynb counts",
        f"ben/{OTHER}/{OTHER} (1).ipynb was not looked at; {OTHER}/{OTHER}.ipynb counts",
        f"dora/{OTHER}.ipynb was not looked at; {OTHER}/{OTHER}.ipynb counts",
    ]


def test_what_is_no_submission_is_named(put):
    folder = put(
        f"anna/{MODULE}/{MODULE}.ipynb",
        "grades.xlsx",
        f"{MODULE}.ipynb",
        "ben/essay/x.txt",
        "ben/other.ipynb",
        "ben/notes.txt",
        "carl/a/b/c.ipynb",
    )
    put(f"dora/{MODULE}/{MODULE}.py")
    (folder / "emil").mkdir()
    places, left = found_in(folder)
    assert places == {f"anna/{MODULE}": f"{MODULE}/{MODULE}.ipynb", f"dora/{MODULE}": ""}
    named = "\n".join(left)
    for part in (
        "grades.xlsx",
        f"{MODULE}.ipynb is no folder",
        "ben/essay",
        "ben/other.ipynb",
        "ben/notes.txt",
        "carl/a",
        "emil handed in nothing",
    ):
        assert part in named
    assert f"dora/{MODULE} holds no notebook of that module" in left


def test_a_folder_of_nothing_says_what_was_there(put):
    with pytest.raises(CourseError, match="(?s)grades.xlsx is no folder.*holds no submission"):
        find_submissions(put("grades.xlsx"))


@pytest.mark.parametrize("name", ["10", "1x", "values", "00_value", "", "(1)", "copy", "01_valu", "02_valuex"])
def test_a_name_that_only_resembles_one_is_none(name):
    assert module_called(name) in (None, "10_tape", "00_start") and (name in ("10",) or module_called(name) is None)


# -- names of students ------------------------------------------------------------------------------------------------

NAMES = {
    b"M\xfcller": "Müller",  # c2: from a zip file of Windows
    b"M\x81ller": "Müller",  # in the code page before
    b"[": "[",  # c3
    b"[red]x": "[red]x",
    b"a\nb\tc": "a b c",
    b"\x1b[31mred": "[31mred",
    "\u202eanna".encode(): "anna",
    b"=1+1": "_=1+1",  # d4
    b"@SUM(1+1)": "_@SUM(1+1)",
    b"+1-1": "_+1-1",
    b"-1": "_-1",
    "＝1".encode(): "_＝1",
    b" ..": "_..",
    b" ": "_",
    b"\n=1": "_=1",
    b"a=b": "a=b",
    "Zoë 李".encode(): "Zoë 李",
    b"x" * 200: "x" * 200,
}


@pytest.mark.parametrize("folder", NAMES, ids=ascii)
def test_c2_c3_d4_a_student_has_a_name_that_every_file_and_page_can_hold(folder):
    assert student_name(os.fsdecode(folder)) == NAMES[folder]


def test_c2_a_long_name_that_is_no_utf8_still_names_a_file(tmp_path):
    name = student_name(os.fsdecode(b"\xfc" * 250))
    (tmp_path / name).mkdir()
    assert name != student_name(os.fsdecode(b"\xfc" * 249 + b"\xe4"))


def test_two_folders_of_one_name_are_named_and_the_one_with_that_very_name_counts(put):
    folder = put(f"Müller/{MODULE}/{MODULE}.ipynb", content=b"right")
    put(os.fsencode(f"M\udcfcller/{MODULE}/{MODULE}.ipynb"))
    found, left = find_submissions(folder)
    assert [each.read() for each in found] == [b"right"]
    assert left == ["Müller would be another student called Müller; left out"]


def test_a_folder_that_cannot_be_read_is_named(put, monkeypatch):
    from autograder.grading import submissions

    folder, real = put(f"anna/{MODULE}/{MODULE}.ipynb", f"ben/{MODULE}/{MODULE}.ipynb"), submissions.entries

    def entries(path):
        if path.name == "ben":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(submissions, "entries", entries)
    assert find_submissions(folder)[1] == ["ben cannot be read (Permission denied); left out"]


def test_1500_nested_folders_are_named(put, tmp_path):
    folder = put(f"anna/{MODULE}/{MODULE}.ipynb")
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        here, above = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(here)
    assert find_submissions(folder)[1] == ["d/d is no module of the course; left out"]
    os.system(f"rm -rf {folder}")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a7_a_students_folder_that_is_a_link_is_left_out_and_named(tmp_path):
    write_submission(tmp_path, "anna", MODULE, "hers")
    (tmp_path / "ben").symlink_to(tmp_path / "anna", target_is_directory=True)
    (tmp_path / "carl").mkdir()
    (tmp_path / "carl" / MODULE).symlink_to(tmp_path / "anna" / MODULE, target_is_directory=True)
    found, left = find_submissions(tmp_path)
    assert {each.student: each.read() for each in found} == {"anna": b"hers", "carl": b""}
    assert left[0] == "ben is a link, perhaps to another student's folder; left out" and len(left) == 2
