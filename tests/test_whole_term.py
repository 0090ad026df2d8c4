"""A term of 40 students, as docs/instructors.md has it: every file and page after each run is what the list of events says.

The events are in `term_events`, what is done with them in `whole_term`.
"""

import csv
import io
import json
import statistics
import zipfile
from collections import Counter

import nbformat
import pytest
from bs4 import BeautifulSoup
from term_events import (
    EVENTS,
    HINT,
    MODULES,
    MUL,
    NAME,
    NEURON,
    SIN_TIMES,
    START,
    STUDENTS,
    VALUE,
    WRITTEN,
    Expected,
    Grade,
    Model,
)
from whole_term import SANDBOXED, AsTheEventsSay, WholeTerm

from autograder.grading.classroom import GradingOptions
from autograder.grading.records import SYMBOLS
from autograder.lesson.text import read_lesson

UNWRITTEN = ("missing", "waiting")


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    """The term, with what was seen after each run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_SEED", "a term")
        patch.setattr(GradingOptions, "start_workers", lambda self: AsTheEventsSay())
        made = WholeTerm(tmp_path_factory.mktemp("term"))
        made.begin()
        for event in EVENTS:
            made.happen(event)
        yield made


RUNS = [event.run for event in EVENTS if isinstance(event, Grade)]
LAST = RUNS[-1]


@pytest.fixture(params=RUNS, ids=lambda run: f"run {run}")
def both(request, year):
    """(what must be, what is) after a run."""
    return Model(request.param), year.seen[request.param]


# -- every file and page ------------------------------------------------------------------------------


def test_the_list_of_events_is_the_class_that_was_asked_for():
    """By hand: the sums on which all else rests."""
    model = Model(LAST)
    assert len(set(STUDENTS)) == 40 and Counter(module for _, module in model.handed) == {
        START: 39,
        VALUE: 39,
        NEURON: 38,
    }
    assert {who: model.penalty(who, START) for who in ("ben", "gil", "noah", "june")} == {
        "ben": 2,
        "gil": 3,
        "noah": 8,
        "june": 0,
    }
    late = {"cleo": 4, "emil": 2, "dora": 0, "xena": 6, "lina": 4, "ugo": 0, "flora": 0}
    assert {who: model.penalty(who, VALUE) for who in late} == late
    assert {who: model.penalty(who, NEURON) for who in ("tara", "abel", "hugo")} == {"tara": 4, "abel": 2, "hugo": 0}
    assert model.total("ada") == 14 + 33 + 24 and model.most(START) + model.most(VALUE) + model.most(NEURON) == 71
    assert model.total("flora") == 14 + (33 - 0.5 - 0.5) + 24 and model.total("tara") == 14 + 30 + (21 + 2 - 4)
    assert model.total("noah") == 14 - 2 - 8 + 33 + 24 and model.total("gil") == 0 + 33 + 24
    assert [Model(run).to_mark() for run in RUNS] == [38 - 1 + 36, 37 - 1 + 1 + 3 + 2, 2 + 1, 0]


def test_grades_csv_has_every_mark(both):
    model, seen = both
    found = {
        (row["student"], row["module"], row["exercise"]): Expected(
            float(row["points"]), float(row["max_points"]), row["status"], row["mistake"], row["mark"]
        )
        for row in seen.rows
    }
    assert len(found) == len(seen.rows) and found == model.rows


def test_submissions_csv_has_every_total_and_when_it_came(both):
    model, seen = both
    found = {(row.pop("student"), row.pop("module")): row for row in map(dict, seen.submissions)}
    assert found.keys() == model.handed.keys()
    for place, row in found.items():
        each = model.handed[place]
        numbers = [float(row.pop(name)) for name in ("points", "max_points", "penalty")]
        assert numbers == pytest.approx([model.points(*place), model.most(place[1]), model.penalty(*place)]), place
        assert row == {
            "handed_in": str(each.time),
            "time_from": each.by,
            "due": str(model.due(*place)),
            "seconds_late": str(model.late(*place)),
            "to_mark": str(model.to_mark(*place)),
        }, place


def test_the_gradebook_has_the_same(both):
    model, seen = both
    for place, (score, penalty, time) in seen.book.items():
        if place in model.handed:
            assert (score, penalty) == pytest.approx((model.raw(*place), model.penalty(*place))), place
            assert time == model.handed[place].time
        else:  # an extension was granted
            assert place in model.until and (score, penalty) == (0, 0)
    assert model.handed.keys() <= seen.book.keys()


def test_the_last_line_of_a_run_says_that_all_is_settled(both):
    _, seen = both
    last = seen.said.strip().splitlines()[-1]
    assert last == "All is settled. Recognised under another name: max/01_value/01_value (1).ipynb."


def table_of(section):
    """The cells of a table's body: rows of text, without a cell's title."""
    return [
        [cell.get_text(" ", strip=True) for cell in row.find_all("td")] for row in section.find("tbody").find_all("tr")
    ]


def test_the_class_page_has_every_student(both):
    model, seen = both
    of = {}
    for who in STUDENTS:
        cells = []
        for module in model.modules:
            share = model.points(who, module) / model.most(module) if (who, module) in model.handed else None
            star = "*" if share is not None and model.late(who, module) else ""
            cells.append("–" if share is None else f"{100 * share:.0f}{star}")
        most = sum(map(model.most, model.modules))
        name = f"Of {who[::-1].title()}, {who.title()}"
        of[who] = [who, f"{model.total(who):g}", f"{100 * model.total(who) / most:.0f}", *cells, "", name]
    found = table_of(seen.report.find(id="students"))
    assert {row[0]: row for row in found} == of and len(found) == 40
    late, waiting = sum(bool(model.late(*place)) for place in model.handed), model.to_mark()
    said = f"{waiting} cell{'s' * (waiting != 1)} to be marked in formgrader." if waiting else "Everything is marked."
    summary = seen.report.find("h1").find_next("p").get_text()
    assert summary.startswith(f"39 students, {len(model.handed)} notebooks, {late} of them late. {said}")


def test_the_class_page_has_every_exercise_of_every_module(both):
    model, seen = both
    for module in model.modules:
        section, exercises = seen.report.find(id=module), [*read_lesson(module).exercises, WRITTEN[module][0]]
        assert [head["title"] for head in section.find("thead").find_all("th")[1:-1]] == exercises
        found = {row[0]: row[1:] for row in table_of(section)}
        assert found.keys() == {who for who, its in model.handed if its == module}
        for who, cells in found.items():
            rows = [model.rows[who, module, exercise] for exercise in exercises]
            late = ["late"] * bool(model.late(who, module))
            assert cells == [
                *(SYMBOLS[row.status] for row in rows),
                " ".join([*late, f"{model.points(who, module):g}"]),
            ], who
        marked = {row.find("td")["title"]: len(row.select(".by-hand")) for row in section.find("tbody").find_all("tr")}
        assert marked == {
            who: sum(model.rows[who, module, each].mark == "by hand" for each in exercises) for who in found
        }


def test_the_class_page_says_how_hard_each_exercise_was(both):
    model, seen = both
    found = {row[0]: (row[1], row[3], row[4]) for row in table_of(seen.report.find(id="exercises"))}
    rows = {}
    for (_, _, exercise), row in model.rows.items():
        rows.setdefault(exercise, []).append(row)
    for exercise, its in rows.items():
        tried = [row for row in its if row.status not in UNWRITTEN]
        share = f"{100 * statistics.fmean(row.points / row.most for row in tried):.0f}" if tried else ""
        assert found.pop(exercise) == (share, str(len(tried)), str(len(its)))
    assert not found


def test_the_class_page_names_mistakes_and_who_handed_in_nothing(both):
    model, seen = both
    made = {}
    for (who, _, exercise), row in model.rows.items():
        if row.mistake:
            made.setdefault((exercise, row.mistake.replace("`", "")), []).append(who)
    section = seen.report.find(id="mistakes")
    found = {
        (row.find_all("td")[2].get_text(), row.find("summary").get_text()): [
            link.get_text() for link in row.find_all("a")
        ]
        for row in section.find("tbody").find_all("tr")
    }
    assert {place: sorted(its) for place, its in found.items()} == {place: sorted(its) for place, its in made.items()}
    unknown, look = seen.report.find(id="unknown").get_text(), seen.report.find(id="look").get_text()
    assert ("7 students, one unknown mistake: start.sin_times" in " ".join(unknown.split())) == (not model.named)
    assert ("dina" in unknown) and ("one unknown mistake" in unknown) == (not model.named)
    assert "Handed in nothing (1)" in " ".join(look.split()) and "zoe (Of Eoz, Zoe)" in look
    assert "Not settled" not in look and "Integrity flags" not in look and "Without a submission" not in look
    waiting = Counter(exercise for (_, _, exercise), row in model.rows.items() if "to be marked" in row.mark)
    assert all(f"{exercise} ({number})" in look for exercise, number in waiting.items())
    assert ("To be marked" in look) == bool(waiting)


def test_everybodys_page_of_feedback_has_the_totals(both):
    model, seen = both
    assert seen.pages.keys() == {who for who, _ in model.handed}
    for who, text in seen.pages.items():
        page = BeautifulSoup(text, "html.parser")
        modules = [module for module in model.modules if (who, module) in model.handed]
        most = sum(map(model.most, modules))
        assert page.find("h1").find_next("p").get_text().startswith(f"{model.total(who):g} of {most:g} points."), who
        assert [row[:2] for row in rows_below_head(page.find("table"))] == [
            [module, f"{model.points(who, module):g} of {model.most(module):g}"] for module in modules
        ]


def rows_below_head(table):
    return [[cell.get_text(" ", strip=True) for cell in row.find_all("td")] for row in table.find_all("tr")[1:]]


def test_the_pages_of_five_kinds_of_students(year):
    pages = {who: BeautifulSoup(text, "html.parser").get_text() for who, text in year.seen[LAST].pages.items()}
    notebook = {
        place: BeautifulSoup(year.page(*place), "html.parser").get_text()
        for place in (
            ("cleo", VALUE),
            ("flora", VALUE),
            ("noah", START),
            ("will", VALUE),
            ("ada", VALUE),
            ("gil", START),
        )
    }
    assert "late by 1 d 6 h (by timestamp.txt), 4 points off" in pages["cleo"]  # late
    assert "29 of 33 points. 4 points are taken off" in notebook["cleo", VALUE]
    assert "0 of 14 points. 3 points are taken off" in notebook["gil", START]
    # handed in again, and marked again
    assert "value.pow: marked by a person: 2.5 of 3 points" in pages["flora"] and "Nearly all." in pages["flora"]
    assert "Much better." in notebook["flora", VALUE] and "Ask <me>." not in notebook["flora", VALUE] + pages["flora"]
    assert (
        "An earlier version was given 1.5 of 3 points"
        in BeautifulSoup(year.seen[2].pages["flora"], "html.parser").get_text()
    )
    assert "The idea is right." in BeautifulSoup(year.seen[2].pages["flora"], "html.parser").get_text()
    for text in (pages["noah"], notebook["noah", START]):  # made the mistake that was named before
        assert NAME in text and "Where does the 2 come from?" in text
    assert "value.mul: marked by a person: 2 of 2 points" in pages["will"]  # complained
    assert "You are right: the text was not clear." in pages["will"] and "You are right" in notebook["will", VALUE]
    assert "33 of 33 points" in notebook["ada", VALUE] and "taken off" not in notebook["ada", VALUE]  # nothing to say
    assert "late" not in pages["ada"] and "earlier version" not in pages["ada"]


def test_the_hint_reaches_who_made_the_mistake_and_nobody_else(both):
    model, seen = both
    named = {who for (who, _, _), row in model.rows.items() if row.mistake == NAME}
    assert {who for who, text in seen.pages.items() if "Where does the" in text} == named
    assert len(named) == (8 if model.named else 0)


def test_the_name_is_in_its_file_without_who_made_it(year):
    (entry,) = json.loads((year.out / "mistakes.json").read_text("utf-8"))
    assert (entry["exercise"], entry["name"], entry["hint"]) == (SIN_TIMES, NAME, HINT)
    assert entry["answer"].startswith("def sin_times(") and not any(
        who in json.dumps(entry).split() for who in STUDENTS
    )


def test_the_two_copies_are_shown_and_nobody_else(year):
    pairs = {
        module: [
            head.get_text()
            for head in BeautifulSoup(
                (year.out / "similar" / f"{module}.html").read_text("utf-8"), "html.parser"
            ).find_all("h2")
        ]
        for module in MODULES
    }
    assert pairs == {START: [], VALUE: ["paul and quin"], NEURON: []}
    links = {link["href"] for link in year.seen[LAST].report.find(id="unknown").find_all("a")}
    assert links == {f"similar/{module}.html" for module in MODULES}
    assert not any("alike" in text.casefold() for text in year.seen[LAST].pages.values())


# -- export -------------------------------------------------------------------------------------------


def table(path):
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))


def in_modules(model, who):
    """What a platform gets of a student: nothing for what was not handed in."""
    return [pytest.approx(model.points(who, module)) if (who, module) in model.handed else "" for module in MODULES]


def numbers(cells):
    return [float(cell) if cell else "" for cell in cells]


def test_canvas_and_moodle_get_every_total(year, tmp_path):
    model = Model(LAST)
    year.command("export", "--canvas", tmp_path / "canvas.csv", "--moodle", tmp_path / "moodle.csv")
    head, most, *rows = table(tmp_path / "canvas.csv")
    assert head[5:] == [*MODULES] and numbers(most[5:]) == [model.most(module) for module in MODULES]
    names = {who: (who.title(), f"Of {who[::-1].title()}", str(1000 + i)) for i, who in enumerate(STUDENTS)}
    assert {row[3]: (row[0], row[1]) for row in rows} == {
        who: (f"{last}, {first}", lms) for who, (first, last, lms) in names.items()
    }
    assert len(rows) == 40 and all(numbers(row[5:]) == in_modules(model, row[3]) for row in rows)
    head, *rows = table(tmp_path / "moodle.csv")
    assert {row[2]: row[:5] for row in rows} == {
        who: [first, last, who, lms, f"{who}@x.org"] for who, (first, last, lms) in names.items()
    }
    assert len(rows) == 40 and not any("" in row for row in rows)
    given = {row[2]: ["" if cell == "-" else cell for cell in row[5:]] for row in rows}
    assert all(numbers(cells) == in_modules(model, who) for who, cells in given.items())


def test_gradescope_and_anonymous_grades_add_up(year, tmp_path):
    model = Model(LAST)
    year.command("export", "--gradescope", "cleo", "01", tmp_path / "results.json", "--anonymous", tmp_path / "a.csv")
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["score"] == model.points("cleo", VALUE) == 29 and "4 points are taken off" in results["output"]
    assert sum(test["score"] for test in results["tests"]) == model.raw("cleo", VALUE)
    head, *rows = table(tmp_path / "a.csv")
    assert Counter((row[1], row[2], float(row[3])) for row in rows) == Counter(
        (module, exercise, row.points) for (_, module, exercise), row in model.rows.items()
    )
    assert len({row[0] for row in rows}) == 39 and not {row[0] for row in rows} & set(STUDENTS)


def test_the_zip_has_a_folder_for_each_student(year, tmp_path):
    year.command("export", "--feedback-zip", tmp_path / "feedback.zip")
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        expected = {f"{who}/{module}/{module}.html" for who, module in Model(LAST).handed}
        assert set(archive.namelist()) == expected | {f"{who}/index.html" for who in STUDENTS if who != "zoe"}
        assert archive.read("cleo/index.html").decode() == year.seen[LAST].pages["cleo"]


def test_nbgraders_own_table_agrees(year):
    model = Model(LAST)
    theirs = {(row["student_id"], row["assignment"]): row for row in year.all_exported()}
    assert theirs.keys() == {(who, module) for who in STUDENTS for module in MODULES}
    for place, row in theirs.items():
        found = [float(row[name] or 0) for name in ("score", "raw_score", "late_submission_penalty")]
        handed = place in model.handed
        wanted = [model.points(*place), model.raw(*place), model.penalty(*place)] if handed else [0, 0, 0]
        assert found == pytest.approx(wanted), place


# -- a complaint --------------------------------------------------------------------------------------


def test_a_complaint_is_answered_with_what_the_judge_saw(year, tmp_path):
    """The one place where a judge is asked: what the events say of this mistake is what it finds."""
    said = year.command("explain", "will", "value.mul", "--notebook", tmp_path / "mul.ipynb", SANDBOXED)
    assert said.startswith("will · value.mul · 0.5 of 2 points") and "on other inputs" in said
    assert "More was given than this" not in said and "have changed since" not in said
    explained = nbformat.read(tmp_path / "mul.ipynb", as_version=4)
    assert explained.cells[0].source.startswith("# value.mul of will") and MUL in {
        cell.source.split("\n# judged")[0] for cell in explained.cells
    }
