"""What learning platforms read: rosters in, grades and feedback out; who is due when."""

import csv
import io
import json
import zipfile
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import pytest
from test_term import ALL, MODULE, MUL, WRITTEN, Term, term  # noqa: F401  (a fixture)

from autograder.__main__ import main
from autograder.errors import CourseError
from autograder.grading.deadlines import parsed, set_due
from autograder.grading.export import Person, canvas, moodle
from autograder.grading.marks import due_of, submissions_to
from autograder.grading.roster import read_roster

NBGRADER = "id,first_name,last_name,email\nanna,Anna,Müller,anna@x.org\nzora,Zora,=1+1,\n"
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay\n    Points Possible,,,,,10\n"
    '"Müller, Anna",4711,S1,anna,A,3\n"Zed, Zora",4712,S2,zora,A,\n'
)
GROUPS = (  # what else Canvas may write: who posts grades, and its test student
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay\n,,,,,Manual Posting\n    Points Possible,,,,,10\n"
    '"Müller, Anna",4711,S1,anna,A,3\n"Zed, Zora",4712,S2,zora,A,\n"Student, Test",9,,0a1b,A,\n'
)
MOODLE = "First name;Surname;Username;ID number;Email address\nAnna;Müller;anna;4711;anna@x.org\nZora;Zed;zora;;\n"
NO_USERNAME = (
    "First name,Last name,Username,ID number,Email address\nAnna,Müller,,anna,a@x.org\nZora,Zed,,zora,z@x.org\n"
)


def table(path):
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))


@pytest.fixture
def graded(term):  # noqa: F811
    term.hand_in("anna", wrong=["value.mul"])
    term.hand_in("ben")
    term.grade()
    term.give("anna", WRITTEN.id, 2.0, "Good: **both** paths, `a<b`.<script>")
    term.grade()
    return term


def run(graded, *arguments):
    main([arguments[0], "--out", str(graded.out), *map(str, arguments[1:])], standalone_mode=False)


@pytest.mark.parametrize(
    "text",
    [NBGRADER, CANVAS, GROUPS, MOODLE, NO_USERNAME],
    ids=["nbgrader", "Canvas", "Canvas with more lines", "Moodle", "Moodle by ID number"],
)
def test_a_roster_is_read_as_others_write_it(text, tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8-sig")
    people = read_roster(path)
    assert [person["id"] for person in people] == ["anna", "zora"]
    assert (people[0]["first_name"], people[0]["last_name"]) == ("Anna", "Müller")
    assert people[1]["last_name"] in ("Zed", "_=1+1")


def test_a_person_without_an_id_is_named(tmp_path):
    (tmp_path / "roster.csv").write_text("First name,Last name,ID number\nAnna,Noether,007\nBen,Li,\nZora,Zed,\n")
    with pytest.raises(CourseError, match="column ID number is empty for Ben Li, Zora Zed; fill it in"):
        read_roster(tmp_path / "roster.csv")


def test_a_table_without_ids_is_one_sentence(tmp_path):
    (tmp_path / "roster.csv").write_text("colour\nred\n")
    with pytest.raises(CourseError, match="has no column of ids"):
        read_roster(tmp_path / "roster.csv")
    with pytest.raises(CourseError, match="cannot be read"):
        read_roster(tmp_path / "nowhere.csv")


def test_canvas_and_moodle_get_every_student_of_the_roster_with_the_totals(graded, tmp_path, capsys):
    (tmp_path / "roster.csv").write_text(CANVAS)
    run(graded, "roster", tmp_path / "roster.csv")
    assert "2 students are in the gradebook" in capsys.readouterr().out
    graded.grade()
    run(graded, "export", "--canvas", tmp_path / "canvas.csv", "--moodle", tmp_path / "moodle.csv")
    total = f"{ALL - MUL.points + 2.0}"
    head, most, *rows = table(tmp_path / "canvas.csv")
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", MODULE]
    assert most[0].strip() == "Points Possible" and float(most[-1]) == ALL + WRITTEN.points
    assert ["Müller, Anna", "4711", "", "anna", "", total] in rows and ["Zed, Zora", "4712", "", "zora", "", ""] in rows
    assert ["ben", "", "", "ben", "", f"{ALL}"] in rows and len(rows) == 3
    head, *rows = table(tmp_path / "moodle.csv")
    assert head == ["First name", "Last name", "Username", MODULE], "ben has neither ID number nor address"
    assert ["Anna", "Müller", "anna", total] in rows and ["Zora", "Zed", "zora", "-"] in rows


def test_a_platform_gets_ids_as_they_are_and_no_column_that_only_some_have():
    people = [
        Person("007", "Anna", 'Müller; "A"', "a@x.org", "4711"),
        Person("08-15", "Zora", "Zed, von", "z@x.org", "12b"),
    ]
    grades = SimpleNamespace(people=people, modules=["01_value"], most={"01_value": "30.0"}, of=lambda person: ["27.5"])
    assert list(csv.reader(io.StringIO(moodle(grades)))) == [
        ["First name", "Last name", "Username", "ID number", "Email address", "01_value"],
        ["Anna", 'Müller; "A"', "007", "4711", "a@x.org", "27.5"],
        ["Zora", "Zed, von", "08-15", "12b", "z@x.org", "27.5"],
    ]
    assert [row[1:4] for row in csv.reader(io.StringIO(canvas(grades)))][2:] == [["4711", "", "007"], ["", "", "08-15"]]
    people[1] = replace(people[1], lms="")
    assert "ID number" not in moodle(grades) and "Email address" in moodle(grades)


def test_grades_without_names(graded, tmp_path):
    run(graded, "export", "--anonymous", tmp_path / "anonymous.csv")
    text = (tmp_path / "anonymous.csv").read_text()
    assert "anna" not in text and "ben" not in text
    rows = table(tmp_path / "anonymous.csv")
    assert len(rows) == len(graded.rows()) + 1 and len({row[0] for row in rows[1:]}) == 2
    run(graded, "export", "--anonymous", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == text, "ids stay"


def test_gradescope_gets_one_submission(graded, tmp_path):
    run(graded, "export", "--gradescope", "anna", "01", tmp_path / "results.json")
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["score"] == ALL - MUL.points + 2 == pytest.approx(sum(test["score"] for test in found["tests"]))
    mul = next(test for test in found["tests"] if test["name"] == "value.mul")
    assert (mul["score"], mul["max_score"], mul["status"], mul["output_format"]) == (0, MUL.points, "failed", "html")
    assert next(test for test in found["tests"] if test["name"] == WRITTEN.name)["output"].startswith(
        "by hand<p>Good: <strong>both</strong> paths, <code>a&lt;b</code>."
    )
    assert "<script" not in json.dumps(found)
    with pytest.raises(CourseError, match="no result of carl"):
        run(graded, "export", "--gradescope", "carl", "01", tmp_path / "results.json")


def test_the_pages_of_feedback_in_one_file(graded, tmp_path):
    run(graded, "export", "--feedback-zip", tmp_path / "feedback.zip")
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        assert sorted(archive.namelist()) == [
            f"{student}/{name}" for student in ("anna", "ben") for name in (f"{MODULE}/{MODULE}.html", "index.html")
        ]


def test_marks_given_since_the_last_run_are_said_to_be_missing(graded, tmp_path, capsys):
    import os

    os.utime(graded.out / "submissions.csv", (0, 0))
    run(graded, "export", "--moodle", tmp_path / "moodle.csv")
    assert "grade again first" in capsys.readouterr().err


def test_nothing_to_write_or_nothing_graded_is_one_sentence(graded, tmp_path):
    with pytest.raises(CourseError, match="say what to write"):
        run(graded, "export")
    graded.out = tmp_path / "nothing"
    with pytest.raises(CourseError, match="grade first"):
        run(graded, "export", "--canvas", tmp_path / "x.csv")


def test_when_a_module_is_due(graded):
    assert set_due(MODULE, "2026-10-01T18:00+02:00", graded.out).startswith(f"{MODULE} is due 2026-10-01 16:00 UTC")
    assert "for anna" in set_due(MODULE, "2026-10-08T18:00+02:00", graded.out, "anna")
    graded.grade()
    due = {row["student"]: row["due"] for row in graded.rows("submissions.csv")}
    assert due == {"anna": "2026-10-08 16:00:00", "ben": "2026-10-01 16:00:00"}
    for all_of_them, hers in (("2026-10-03 16:00:00", "2026-10-08 16:00:00"), ("2026-10-09 16:00:00",) * 2):
        set_due(MODULE, f"{all_of_them} UTC", graded.out)  # hers stays, or rests while that is later
        graded.grade()
        due = {row["student"]: row["due"] for row in graded.rows("submissions.csv")}
        assert due == {"anna": hers, "ben": all_of_them}
    assert set_due(MODULE, "none", graded.out, "anna").startswith(f"{MODULE} is due as for all for anna")
    set_due(MODULE, "none", graded.out)
    graded.grade()
    assert {row["due"] for row in graded.rows("submissions.csv")} == {""}
    with pytest.raises(CourseError, match="due at no time yet"):
        set_due(MODULE, "2026-10-08", graded.out, "anna")
    with pytest.raises(CourseError, match="there is no student carl"):
        set_due(MODULE, "none", graded.out, "carl")
    with pytest.raises(CourseError, match="is no time"):
        parsed("soon")
    assert parsed("2026-10-01 18:00 UTC") == datetime(2026, 10, 1, 18)
    assert isinstance(graded, Term)


DAYS = [f"2026-10-0{day} 16:00:00" for day in range(10)]


def due_dates(graded):
    """As the gradebook has them, which `grade` goes by."""
    with graded.book() as book:
        return {made.student_id: str(due_of(made) or "") for made in submissions_to(book, MODULE)}


def test_an_extension_stays_what_was_granted(graded):
    set_due(MODULE, f"{DAYS[1]} UTC", graded.out)
    set_due(MODULE, f"{DAYS[8]} UTC", graded.out, "anna")
    for when in ("none", DAYS[3], DAYS[9], DAYS[2], DAYS[8], "none", DAYS[9], "none", DAYS[4]):
        said = set_due(MODULE, when if when == "none" else f"{when} UTC", graded.out)
        rests = when in ("none", DAYS[8], DAYS[9])
        assert ("anna's extension until 2026-10-08 16:00 UTC rests" in said) == rests
        everybodys = when.replace("none", "")
        assert due_dates(graded) == {"anna": everybodys if rests else DAYS[8], "ben": everybodys}


def test_an_extension_that_rests_can_be_taken_back_replaced_or_is_nobodys_any_more(graded):
    set_due(MODULE, f"{DAYS[1]} UTC", graded.out)
    for student in ("anna", "ben"):
        set_due(MODULE, f"{DAYS[5]} UTC", graded.out, student)
    set_due(MODULE, "none", graded.out)
    set_due(MODULE, "none", graded.out, "anna")
    set_due(MODULE, f"{DAYS[2]} UTC", graded.out)
    set_due(MODULE, f"{DAYS[7]} UTC", graded.out, "ben")
    set_due(MODULE, f"{DAYS[3]} UTC", graded.out)
    assert due_dates(graded) == {"anna": DAYS[3], "ben": DAYS[7]}
    assert json.loads((graded.out / "extensions.json").read_text()) == {}
    set_due(MODULE, "none", graded.out)
    with graded.book() as book:
        book.remove_student("ben")  # who has left the class
    set_due(MODULE, f"{DAYS[4]} UTC", graded.out)
    assert due_dates(graded) == {"anna": DAYS[4]}
    with pytest.raises(CourseError, match="is due 2026-10-04 16:00 UTC for all; an extension ends later"):
        set_due(MODULE, f"{DAYS[3]} UTC", graded.out, "anna")
    (graded.out / "extensions.json").write_text("[]")
    with pytest.raises(CourseError, match="extensions.json cannot be read"):
        set_due(MODULE, "none", graded.out)
