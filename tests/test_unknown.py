"""A class teaches the grader: groups of equal wrong answers, their names, and what becomes of them in another year."""

import csv
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from small_class import options
from term_class import NoJudge

from autograder.checks import find
from autograder.checks.check import Check
from autograder.errors import CourseError
from autograder.grading.class_files import stamp_of
from autograder.grading.class_page import class_page
from autograder.grading.classroom import GradingOptions, grade
from autograder.grading.marks import Marks, marked
from autograder.grading.records import Graded, Row, Submission
from autograder.grading.sample_class import solved, write_submission
from autograder.grading.student_page import student_page
from autograder.grading.submissions import find_submissions
from autograder.grading.unknown import FILE, Names, adopted, answers_in, groups_of, id_of, name_group, without_words
from autograder.grading.worker import Task, finished, merged, submission_in_template
from autograder.judge.expected import forget
from autograder.judge.notebook import Judgement, write_verdicts
from autograder.judge.plan import run
from autograder.judge.reference import reference_namespace
from autograder.judge.report import Report
from autograder.judge.unknown import SEED as SEED_OF_RECORDS
from autograder.judge.unknown import alike, is_unknown, record_of
from autograder.judge.verdict import Verdict, judge
from autograder.lesson.text import read_lesson

MODULE, EXERCISE = "00_start", "start.sin_times"
HALF = "def sin_times(a, b):\n    return np.sin(a) * b / 2"
SPELLINGS = {
    "anna": HALF,
    "ben": "def sin_times(x, y):\n    # Ben's own way\n    s = np.sin(x)\n    return 0.5 * (y * s)",
    "cleo": "def sin_times(a, b):\n    half = np.true_divide(b, 2.0)\n    return np.multiply(half, np.sin(a))",
}
OTHERS = {
    "dora": "def sin_times(a, b):\n    return np.sin(a) * b / 3",
    "emil": "def sin_times(a, b):\n    return np.sin(a) * b / 2 + 1e-3",
    "fred": "def sin_times(a, b):\n    return np.sin(a) * b if isinstance(a, np.ndarray) else np.sin(a) * b / 2",
}
COURSE = {"kind": "exercise", "exercise": EXERCISE}
HOSTILE = "<script>alert(1)</script>"


def trials_of(source, seed, exercise=EXERCISE):
    return run(find(exercise), reference_namespace(MODULE, {exercise: source}), seed)


def record(source, seed="a seed", exercise=EXERCISE):
    """What is recorded of an answer that is judged with this seed."""
    verdict = judge(find(exercise), trials_of(source, seed, exercise), seed)
    assert is_unknown(verdict), verdict
    found = record_of(verdict, trials_of(source, SEED_OF_RECORDS, exercise))
    return found and found | {"answer": source}


@pytest.fixture(scope="module")
def records():
    return {student: record(source) for student, source in (SPELLINGS | OTHERS).items()}


def answers(records):
    return [(student, EXERCISE, its) for student, its in records.items()]


def test_spellings_of_one_wrong_answer_are_one_group_and_other_answers_are_not(records):
    groups = groups_of(answers(records))
    assert [group.students for group in groups] == [list(SPELLINGS), *([name] for name in OTHERS)]


def test_another_seed_gives_the_same_record(records):
    other = record(HALF, "another year's seed")
    assert alike(EXERCISE, records["anna"], other) and id_of(other) == id_of(records["anna"])
    assert not alike(EXERCISE, records["dora"], other)


def test_records_of_other_cases_are_not_compared(records):
    earlier = records["anna"] | {"check": "an earlier version"}
    assert not alike(EXERCISE, earlier, records["anna"]) and not alike(EXERCISE, earlier, earlier)


@pytest.mark.parametrize(
    "source",
    [
        "def sin_times(a, b):\n    return None",
        "def sin_times(a, b):\n    return np.sin(c) * b",
        "def sin_times(a, b):\n    raise ValueError('too hard')",
        "def sin_times(a, b):\n    return np.sin(a) * b * np.random.default_rng().normal(size=np.shape(a))",
    ],
)
def test_what_has_many_causes_or_is_never_the_same_is_no_group(source):
    verdict = judge(find(EXERCISE), trials_of(source, "a seed"), "a seed")
    found = [record_of(verdict, trials_of(source, SEED_OF_RECORDS)) for _ in range(2)]
    assert found == [None, None] or not all(found) or not alike(EXERCISE, *found)


def test_errors_in_some_cases_are_a_group_if_they_say_the_same():
    one, same, other = (
        record(
            f"def sin_times(a, b):\n    if np.ndim(a) == 2:\n        {raised}\n    return np.sin(a) * b",
        )
        for raised in ("raise ValueError('two axes')", "x = 1; raise ValueError('two axes')", "raise ValueError('no')")
    )
    assert alike(EXERCISE, one, same) and not alike(EXERCISE, one, other)


def test_what_is_too_long_to_keep_is_not_kept():
    source = "def sin_times(a, b):\n    return np.array('x' * 5000 + str(np.sum(a)))"
    verdict = judge(find(EXERCISE), trials_of(source, "a seed"), "a seed")
    assert record_of(verdict, trials_of(source, SEED_OF_RECORDS)) is None


def test_an_answer_that_fails_elsewhere_when_it_counts_has_no_record():
    verdict = judge(find(EXERCISE), trials_of(OTHERS["fred"], "a seed"), "a seed")
    assert record_of(verdict, trials_of(OTHERS["fred"], SEED_OF_RECORDS))
    assert record_of(verdict, trials_of(HALF, SEED_OF_RECORDS)) is None


# -- names --------------------------------------------------------------------------------------------


def graded(student, unknown):
    row = Row(student, MODULE, EXERCISE, 0.0, 2.0, "wrong")
    report = f"<div><b>✗ {EXERCISE}</b><p>expected</p></div>"
    submission = Submission(student, MODULE, Path("nowhere"))
    return Graded(submission, [row], 1.0, reports={EXERCISE: report}, unknown={EXERCISE: unknown})


def with_names(each, names):
    return marked(each, Marks(hints=names.hints(MODULE, each.unknown)), {})


def test_a_name_reaches_the_group_and_nobody_else_also_under_another_seed(records, tmp_path):
    Names(tmp_path).give(EXERCISE, records["anna"], "the product is halved", "Where does the `2` come from?")
    names = Names(tmp_path)  # read again
    later = {f"{student}, a year later": record(source, "next year") for student, source in SPELLINGS.items()}
    everybody = [with_names(graded(student, its), names) for student, its in (records | later).items()]
    named = [each.submission.student for each in everybody if each.rows[0].mistake]
    assert named == [*SPELLINGS, *later]
    for each in everybody:
        page = student_page([each])
        assert ("<b>the product is halved</b>" in page) == (each.submission.student in named)
        assert ("<code>2</code>" in page) == (each.submission.student in named)
    page = class_page(everybody)
    assert "one unknown mistake" not in page and "the product is halved" in page


def test_a_name_is_replaced_by_the_next(records, tmp_path):
    Names(tmp_path).give(EXERCISE, records["anna"], "one", "hint")
    Names(tmp_path).give(EXERCISE, records["ben"], "two", "hint")
    assert [each.name for each in Names(tmp_path).known] == ["two"]


def test_the_class_page_shows_groups_and_escapes_what_students_wrote(records):
    nasty = records["anna"] | {"answer": f"{HOSTILE}\n{{{{ 7 * 7 }}}}", "shown": HOSTILE}
    everybody = [graded(HOSTILE, nasty), graded("ben", records["ben"]), graded("dora", records["dora"])]
    page = class_page(everybody)
    assert "2 students, one unknown mistake" in page and id_of(nasty) in page and "start.sin_times" in page
    assert page.count("<script") == 1  # the page's own
    assert "{{ 7 * 7 }}" in page and f"group <code>{id_of(records['dora'])}</code>: dora" in page


def test_the_smallest_counterexample_is_recorded(records):
    shown = records["anna"]["shown"]
    assert "expected" in shown and "got" in shown and "sin_times(" in shown and "of 120 cases" in shown


@pytest.mark.parametrize("content", ["[", '["x"]', '[{"exercise": "x"}]', '{"a": 1}', "[1]"])
def test_a_file_of_names_that_is_none_is_one_sentence(content, tmp_path):
    (tmp_path / FILE).write_text(content)
    with pytest.raises(CourseError, match="mend or restore it"):
        Names(tmp_path)


def test_names_of_other_cases_or_of_an_exercise_that_is_gone_are_said(records, tmp_path):
    names = Names(tmp_path)
    current = names.give(EXERCISE, records["anna"], "halved", "hint")
    names.known += [replace(current, check="old"), replace(current, exercise="start.gone")]
    assert names.outdated() == names.known[1:] and names.of(EXERCISE, records["ben"]) is current
    assert "start.gone: halved" in class_page([graded("anna", records["anna"])], outdated=names.outdated())


@pytest.mark.parametrize("name", ["", " \n", "x" * 400, find(EXERCISE).mistakes[0].name])
def test_a_name_that_cannot_be_one_is_refused(name, records, tmp_path):
    with pytest.raises(CourseError):
        Names(tmp_path).give(EXERCISE, records["anna"], name, "a hint")
    assert not (tmp_path / FILE).exists()


def test_a_run_over_one_exercise_keeps_what_is_known_of_the_others(records):
    def result(unknown):
        notebook = submission_in_template(task)
        verdicts = {name: Verdict(find(name), "ok", points=1.0) for name in read_lesson(MODULE).exercises}
        write_verdicts(notebook, verdicts)
        return finished(notebook, Judgement(verdicts, unknown=unknown), task, 0.1)

    task = Task(MODULE, json.dumps(solved(MODULE)).encode(), "a seed")
    before = result({EXERCISE: records["anna"], "start.double": records["ben"]})
    after = result({EXERCISE: records["dora"], "start.gradient": records["emil"]})
    renewed = merged(after, json.loads(before.notebook), MODULE, [EXERCISE])
    assert renewed.unknown == {EXERCISE: records["dora"], "start.double": records["ben"]}
    assert stamp_of(json.loads(renewed.notebook))["unknown"] == renewed.unknown


# -- the commands -------------------------------------------------------------------------------------


@pytest.fixture
def out(records, tmp_path):
    """A class folder with autograded notebooks that hold the records."""
    for student, its in records.items():
        path = tmp_path / "autograded" / student / MODULE / f"{MODULE}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"metadata": {"course": {"graded": {"unknown": {EXERCISE: its}}}}}))
    return tmp_path


def test_a_group_is_named_by_the_id_that_the_page_shows(out, records):
    said = name_group(out, EXERCISE, id_of(records["anna"]), "it is halved", "a hint")
    assert "«it is halved» of 3 students" in said
    with pytest.raises(CourseError, match=rf"no group 123456 .*{id_of(records['dora'])} \(1\)"):
        name_group(out, EXERCISE, "123456", "a", "b")


def test_what_is_adopted_is_named_and_loses_points_when_it_is_put_into_the_check(out, records):
    name_group(out, EXERCISE, id_of(records["anna"]), "it is halved", "Where does the 2 come from?")
    text = adopted(out, EXERCISE, "it is")
    assert "autograder/checks/m00_start/sin_times.py" in text.splitlines()[0]
    check = find(EXERCISE)
    before = list(check.mistakes)
    try:
        exec(compile(text, "stub", "exec"), {"sin_times": check})
        forget()
        for source in SPELLINGS.values():
            verdict = judge(check, trials_of(source, "a seed"), "a seed")
            assert [found.name for found in verdict.mistakes] == ["it is halved"] and verdict.points < check.points
            assert "Where does the 2 come from?" in str(Report(verdict))
        assert not judge(check, trials_of(OTHERS["dora"], "a seed"), "a seed").mistakes
    finally:
        check.mistakes[:] = before
        forget()


def test_nothing_that_was_typed_becomes_code_of_the_stub(out, records):
    evil = "'''\"\"\"\n)\nimport os; os.system('x') #\\"
    line = "def sin_times(a, b):\n    return np.sin(a) * b / 2 if 'x' else '\"\"\" + exit() #'"
    names = Names(out)
    names.give(EXERCISE, records["anna"] | {"answer": line}, "halved ''') + exit() #", "hint\\' + exit() #")
    (out / FILE).write_text(json.dumps([asdict(replace(names.known[0], name=evil, answer=line + evil))]))
    made = Check(EXERCISE, "m00_start", "", (), 1.0)
    exec(compile(adopted(out, EXERCISE, evil), "stub", "exec"), {"sin_times": made, "exit": pytest.fail})
    assert made.mistakes[0].name == evil and made.mistakes[0].edit.sources[EXERCISE] == line + evil.replace("\\", "\\")


def test_an_answer_is_kept_without_what_people_write_their_names_in():
    source = '"""By Anna"""\ndef f(x):\n    """Anna"""\n    return x  # Anna\n\n\ndef g():\n    "Anna"'
    assert without_words(source) == "def f(x):\n    return x\n\ndef g():\n    pass"
    assert without_words("%timeit f(") == ""


def test_a_long_counterexample_is_the_program_itself():
    source = '@add_to_class(Value)\ndef __mul__(a, b):\n    b = as_value(b)\n    return Value(a.data * b.data, (a, b), (b.data / 2, a.data), "*")'
    name, module = "value.mul", "01_value"
    runs = [run(find(name), reference_namespace(module, {name: source}), seed) for seed in ("a seed", SEED_OF_RECORDS)]
    shown = record_of(judge(find(name), runs[0], "a seed"), runs[1])["shown"]
    assert "a.grad: expected" in shown and "import case" not in shown and "backpropagate" in shown


# -- a whole run --------------------------------------------------------------------------------------


def test_a_run_records_what_it_finds_and_the_next_shows_the_name_without_judging_again(tmp_path, monkeypatch):
    folder, out, seen = tmp_path / "in", tmp_path / "out", []
    for student in ("anna", "cleo", "dora"):
        notebook = solved(MODULE)
        cell = next(each for each in notebook.cells if each.metadata.get("course") == COURSE)
        cell.source = (SPELLINGS | OTHERS)[student]
        write_submission(folder, student, MODULE, notebook)
    found, _ = find_submissions(folder)
    grade(found, out, [MODULE], seen.append, options())
    assert all(set(each.unknown) == {EXERCISE} and not each.failure for each in seen)
    assert "2 students, one unknown mistake" in (out / "report.html").read_text(encoding="utf-8")
    (first,) = {each.unknown[EXERCISE]["cases"] for each in seen if each.submission.student == "anna"}
    assert json.loads(first).keys() == json.loads(record(HALF)["cases"]).keys()
    group = groups_of(answers_in(out, EXERCISE))[0]
    assert group.students == ["anna", "cleo"]
    name_group(out, EXERCISE, group.id, "the product is halved", "Look for a 2.")

    monkeypatch.setattr(GradingOptions, "start_workers", lambda self: pytest.fail("nothing is left to grade"))
    linked = f'href="similar/{MODULE}.html"'
    assert (out / "similar" / f"{MODULE}.html").exists() and linked in (out / "report.html").read_text("utf-8")
    rows = grade(found, out, [MODULE], seen.append, options(similar=False))
    assert linked not in (out / "report.html").read_text("utf-8")
    assert {row.student for row in rows if row.mistake == "the product is halved"} == {"anna", "cleo"}
    for student in ("anna", "cleo", "dora"):
        pages = [out / "feedback" / student / name for name in ("index.html", f"{MODULE}/{MODULE}.html")]
        said = ["Look for a 2." in page.read_text(encoding="utf-8") for page in pages]
        assert said == [student != "dora"] * 2


# -- two years ----------------------------------------------------------------------------------------

IN_A_YEAR = {
    **{f"half-{i}": source for i, source in enumerate([*SPELLINGS.values()] * 2 + [HALF])},
    "third": OTHERS["dora"],
    "right": "def sin_times(a, b):\n    return np.multiply(b, np.sin(a))",
    "known": "def sin_times(a, b):\n    return np.cos(a) * b",
}


class OneExercise(NoJudge):
    """Workers that judge EXERCISE in this process, with the seed that they are given; all else is right."""

    def judgement(self, notebook, task):
        judgement = super().judgement(notebook, task)
        source = next(cell.source for cell in notebook.cells if cell.metadata.get("course") == COURSE)
        if "def sin_times" in source and "raise NotImplementedError" not in source:
            verdict = judge(find(EXERCISE), trials_of(source, task.seed), task.seed)
            judgement.verdicts[EXERCISE] = verdict
            if is_unknown(verdict):
                judgement.unknown[EXERCISE] = record_of(verdict, trials_of(source, SEED_OF_RECORDS))
        return judgement


def graded_year(folder, out, sources, monkeypatch, seed):
    """{student: the mistake in EXERCISE that grades.csv says}."""
    monkeypatch.setenv("COURSE_SEED", seed)
    monkeypatch.setattr(GradingOptions, "start_workers", lambda self: OneExercise())
    for student, source in sources.items():
        notebook = solved(MODULE)
        next(each for each in notebook.cells if each.metadata.get("course") == COURSE).source = source
        write_submission(folder, student, MODULE, notebook)
    grade(find_submissions(folder)[0], out, [MODULE], lambda each: None, options())
    with open(out / "grades.csv", encoding="utf-8") as file:
        return {row["student"]: row["mistake"] for row in csv.DictReader(file) if row["exercise"] == EXERCISE}


def test_seven_students_teach_the_grader_and_the_next_year_knows_it(tmp_path, monkeypatch):
    first, second = tmp_path / "this year", tmp_path / "next year"
    expected = dict.fromkeys(IN_A_YEAR, "") | {"known": "cos stands in place of sin"}
    assert graded_year(tmp_path / "a", first, IN_A_YEAR, monkeypatch, "one") == expected
    report = (first / "report.html").read_text(encoding="utf-8")
    assert "<b>7 students, one unknown mistake</b>" in report and report.count("one unknown mistake") == 1
    group = groups_of(answers_in(first, EXERCISE))[0]
    name_group(first, EXERCISE, group.id, "the product is halved", "Look for a 2.")
    expected |= {student: "the product is halved" for student in IN_A_YEAR if student.startswith("half")}
    assert graded_year(tmp_path / "a", first, IN_A_YEAR, monkeypatch, "one") == expected

    second.mkdir()
    shutil.copy(first / FILE, second / FILE)
    others = {f"{student}-2": source for student, source in IN_A_YEAR.items()}
    found = graded_year(tmp_path / "b", second, others, monkeypatch, "two")
    assert found == {f"{student}-2": mistake for student, mistake in expected.items()}
    assert "one unknown mistake" not in (second / "report.html").read_text(encoding="utf-8")
    assert "Look for a 2." in (second / "feedback" / "half-3-2" / "index.html").read_text(encoding="utf-8")

    entries = json.loads((first / FILE).read_text(encoding="utf-8"))
    (first / FILE).write_text(
        json.dumps([{**entry, "name": "it is half of it"} for entry in entries]), encoding="utf-8"
    )
    renamed = graded_year(tmp_path / "a", first, IN_A_YEAR, monkeypatch, "one")
    assert renamed["half-0"] == "it is half of it", "a name may be edited in the file"
    (first / FILE).unlink()
    assert graded_year(tmp_path / "a", first, IN_A_YEAR, monkeypatch, "one")["half-0"] == ""
    assert "Look for a 2." not in (first / "feedback" / "half-3" / "index.html").read_text(encoding="utf-8")
    assert "Look for a 2." not in (first / "feedback" / "half-3" / MODULE / f"{MODULE}.html").read_text(
        encoding="utf-8"
    )


def test_a_name_outlives_a_change_of_the_checks_cases(tmp_path, monkeypatch, records):
    earlier = Names(tmp_path / "out").give(EXERCISE, records["anna"], "the product is halved", "Look for a 2.")
    entries = [replace(earlier, check="old cases", cases="{}"), replace(earlier, exercise="start.gone", name="gone")]
    right = replace(entries[0], name="what is right now", answer=IN_A_YEAR["right"])
    (tmp_path / "out" / FILE).write_text(json.dumps([asdict(each) for each in (*entries, right)]))
    students = {"ben": SPELLINGS["ben"], "dora": OTHERS["dora"], "rita": IN_A_YEAR["right"]}
    found = graded_year(tmp_path / "in", tmp_path / "out", students, monkeypatch, "three")
    assert found == {"ben": "the product is halved", "dora": "", "rita": ""}
    now = Names(tmp_path / "out")
    assert now.known[0] == earlier and [each.name for each in now.outdated()] == ["gone", "what is right now"]
    assert "start.gone: gone" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
