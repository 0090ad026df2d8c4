"""The command line: python -m autograder build | bundle | release | collect | return | roster | due | grade | explain | name | adopt |
export | lab | copies | progress | compare | checks | mutants | calibrate."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder import paths
from autograder.characters import visible
from autograder.errors import CourseError

if TYPE_CHECKING:
    from autograder.grading.records import Choice

UNSETTLED = 3  # exit code of `grade` where something was left out or could not be judged
FOR_STUDENTS = ("lab", "progress", "copies")  # the commands that need no solution


def say(text: object, err: bool = False) -> None:
    """Print it. A student may have written a part of it, so that it holds no command to the terminal."""
    click.echo(visible(str(text)), err=err)


@click.group()
@click.pass_context
def main(context: click.Context) -> None:
    """Build the course's notebooks, open them, grade a class, and test the checks."""
    if paths.is_students_copy() and context.invoked_subcommand not in FOR_STUDENTS:
        raise CourseError(
            f"this is the students' copy of the course, without the solutions that {context.invoked_subcommand} needs; "
            f"here there are: {', '.join(FOR_STUDENTS)}"
        )


@main.command()
@click.option(
    "--check", is_flag=True, help="Write nothing; list what is out of date, and exit with code 1 if anything is."
)
@click.argument("modules", nargs=-1)
def build(check: bool, modules: tuple[str, ...]) -> None:
    """Make modules/ and solutions/*.ipynb from the lessons (all, or the MODULES named), and what else is generated.

    That is docs/exercises.md and docs/glossary.md, the notebook of the open tasks, and the public names of engine 3's
    operations.
    """
    from autograder import names as public
    from autograder.judge.recorder import stale_recordings, write_recordings
    from autograder.lesson import generated
    from autograder.lesson.build import stale, write

    names = list(modules) or paths.module_names()
    if check:
        found = public.stale() + stale(names) + generated.stale()
        found += [f"{path.relative_to(paths.ROOT)} is not what the checks give" for path in stale_recordings(names)]
        for sentence in found:
            say(sentence)
        if found:
            raise CourseError("run `make notebooks`, look at the difference, and commit it")
        say(f"{len(names)} modules: every generated notebook is what its lesson gives")
    else:
        changed = public.write() + write(names) + generated.write() + write_recordings(names)
        for path in changed:
            say(f"wrote {path.relative_to(paths.ROOT)}")
        say(f"{len(changed)} files changed")


@main.command()
@click.argument("modules", nargs=-1)
@click.option(
    "--out", default="bundles", type=click.Path(path_type=Path), help="The folder to write to (default: bundles)."
)
def bundle(modules: tuple[str, ...], out: Path) -> None:
    """Write the students' copies of the course as zip files: notebooks and checks, without solutions.

    One file for each module, since most modules import solutions of earlier ones; MODULES that are named share one file.
    """
    from autograder.bundle.archive import write, zipped
    from autograder.bundle.contents import contents
    from autograder.course import course_modules

    for group in [sorted(modules)] if modules else [[module] for module in course_modules()]:
        data = zipped(contents(group))
        path = out / f"course-{'-'.join(module[:2] for module in group)}.zip"
        write(path, data)
        say(f"wrote {path}, {len(data) / 1e6:.1f} MB")
    say("Students unpack one over the other and run `make lab` in the folder course.")


@main.command()
@click.argument("modules", nargs=-1, required=True)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The class folder: gradebook, grades.csv, feedback."
)
@click.option("--exchange", default="", help="The folder of nbgrader's exchange (default: nbgrader's own setting).")
def release(modules: tuple[str, ...], out: Path, exchange: str) -> None:
    """Release MODULES through nbgrader's exchange: students get them with `nbgrader fetch_assignment`."""
    from autograder.grading.exchange import hand_out

    hand_out([of_the_course(module) for module in modules], out, exchange)
    same = f" --exchange {exchange}" if exchange else ""
    say(
        f"released {', '.join(modules)}; collect with: python -m autograder collect {' '.join(modules)} --out {out}{same}"
    )


@main.command()
@click.argument("modules", nargs=-1, required=True)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The class folder that they were released from."
)
@click.option("--exchange", default="", help="The folder of nbgrader's exchange (default: nbgrader's own setting).")
def collect(modules: tuple[str, ...], out: Path, exchange: str) -> None:
    """Collect the submissions of MODULES from nbgrader's exchange."""
    from autograder.grading.exchange import collect as collect_all

    students = collect_all([of_the_course(module) for module in modules], out, exchange)
    say(f"{students} students have handed in; grade with: python -m autograder grade {out / 'submitted'} --out {out}")


@main.command("return")
@click.argument("modules", nargs=-1, required=True)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The class folder, graded.")
@click.option("--exchange", default="", help="The folder of nbgrader's exchange (default: nbgrader's own setting).")
def hand_back(modules: tuple[str, ...], out: Path, exchange: str) -> None:
    """Return the feedback on MODULES through nbgrader's exchange: students get it with `nbgrader fetch_feedback`."""
    from autograder.grading.exchange import hand_back as return_all

    count, left = return_all([of_the_course(module) for module in modules], out, exchange)
    say("\n".join([*left, f"{count} pages of feedback are in the exchange; run this again after a new mark"]))


@main.command()
@click.argument("submissions", required=False, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for gradebook, grades.csv, feedback.")
@click.option("--sample", is_flag=True, help="Make a sample class in a temporary folder and grade it.")
@click.option("--sandbox/--no-sandbox", default=True, help="Without a sandbox, submissions run with your rights.")
@click.option(
    "--workers", type=click.IntRange(1), help="Notebooks that run at the same time (default: one for each core)."
)
@click.option("--scheduler", default="", help="The address of a Dask scheduler, whose workers grade instead.")
@click.option("--fresh", is_flag=True, help="Grade unchanged submissions again, too.")
@click.option("--similar/--no-similar", default=True, help="Compare the notebooks of a module with each other, or not.")
@click.option("--student", "students", multiple=True, help="Grade only this student; may be given several times.")
@click.option("--module", "modules", multiple=True, help="Grade only this module (01 will do); also several times.")
@click.option(
    "--exercise", "exercises", multiple=True, help="Renew only the results of this exercise; also several times."
)
def grade(
    submissions: Path | None,
    out: Path | None,
    sample: bool,
    sandbox: bool,
    workers: int | None,
    scheduler: str,
    fresh: bool,
    similar: bool,
    students: tuple[str, ...],
    modules: tuple[str, ...],
    exercises: tuple[str, ...],
) -> None:
    """Grade a class: SUBMISSIONS holds <student>/<module>/<module>.ipynb.

    What --student, --module and --exercise do not choose keeps the results that it has. Exits with 3 where something was left
    out or could not be judged; it is named.
    """
    from autograder.grading.classroom import GradingOptions
    from autograder.grading.console import grade_with_progress

    if sample:
        from autograder.grading.sample_class import make_sample_class

        out = out or Path(tempfile.mkdtemp(prefix="course-grades-"))
        submissions = out / "submissions"
        make_sample_class(submissions)
    if submissions is None or out is None:
        raise CourseError(
            "say what to grade and where to: python -m autograder grade SUBMISSIONS --out OUT "
            "(or --sample for a sample class)"
        )
    choice = choice_of(students, modules, exercises)
    options = GradingOptions(sandbox, workers or 0, scheduler, fresh, choice, similar)
    unsettled = grade_with_progress(submissions, out, options)
    if unsettled and not sample:  # the sample class has broken notebooks on purpose
        raise SystemExit(UNSETTLED)


@main.command()
@click.argument("student")
@click.argument("exercise")
@click.option("--out", default="OUT", type=click.Path(path_type=Path), help="The class folder (default: OUT).")
@click.option("--notebook", type=click.Path(path_type=Path), help="Write the cases that fail to this notebook, too.")
@click.option("--sandbox/--no-sandbox", default=True, help="Without a sandbox, the submission runs with your rights.")
def explain(student: str, exercise: str, out: Path, notebook: Path | None, sandbox: bool) -> None:
    """Explain the mark of STUDENT in EXERCISE: every aspect, case by case, on the inputs that counted and on others."""
    import nbformat

    from autograder.grading.explain import explain as explained
    from autograder.grading.export import write

    explanation = explained(student, exercise, out, sandbox)
    say(str(explanation))
    if notebook:
        say(f"\nwrote {write(notebook, nbformat.writes(explanation.notebook()))}")


@main.command()
@click.argument("exercise")
@click.argument("group")
@click.argument("name")
@click.argument("hint")
@click.option("--out", default="OUT", type=click.Path(path_type=Path), help="The class folder (default: OUT).")
def name(exercise: str, group: str, name: str, hint: str, out: Path) -> None:
    """Give a NAME and a HINT to a GROUP of equal wrong answers to EXERCISE, as report.html shows them under «Unknown mistakes».

    Everybody in it gets both with the next `grade`, and whoever makes the mistake later.
    """
    from autograder.grading.unknown import name_group

    say(name_group(out, exercise, group, name, hint))


@main.command()
@click.argument("exercise")
@click.argument("name")
@click.option("--out", default="OUT", type=click.Path(path_type=Path), help="The class folder (default: OUT).")
def adopt(exercise: str, name: str, out: Path) -> None:
    """Print the mistake that was given this NAME (its beginning will do) as code for the checks of EXERCISE."""
    from autograder.grading.unknown import adopted

    say(adopted(out, exercise, name))


@main.command()
@click.option("--out", default="OUT", type=click.Path(path_type=Path), help="The class folder (default: OUT).")
@click.option("--canvas", type=click.Path(path_type=Path), help="Write grades for Canvas to this CSV file.")
@click.option("--moodle", type=click.Path(path_type=Path), help="Write grades for Moodle to this CSV file.")
@click.option("--anonymous", type=click.Path(path_type=Path), help="Write grades.csv with ids for names to this file.")
@click.option("--feedback-zip", type=click.Path(path_type=Path), help="Write the pages of feedback to this zip file.")
@click.option(
    "--gradescope",
    nargs=3,
    type=(str, str, click.Path(path_type=Path)),
    metavar="STUDENT MODULE FILE",
    help="Write Gradescope's results.json for one submission.",
)
def export(
    out: Path,
    canvas: Path | None,
    moodle: Path | None,
    anonymous: Path | None,
    feedback_zip: Path | None,
    gradescope: tuple[str, str, Path] | None,
) -> None:
    """Write what `grade` found in the formats of learning platforms."""
    from autograder.grading import export as formats

    wanted = ((canvas, formats.canvas), (moodle, formats.moodle), (anonymous, formats.anonymous))
    if not gradescope and not any((canvas, moodle, anonymous, feedback_zip)):
        raise CourseError("say what to write: --canvas FILE, --moodle FILE, --gradescope STUDENT MODULE FILE, …")
    grades = formats.Grades(out)
    if grades.is_behind:
        say("The gradebook was written since: for marks given after the last run, grade again first.", err=True)
    written = [formats.write(path, text(grades)) for path, text in wanted if path]
    if feedback_zip:
        written.append(formats.write(feedback_zip, formats.feedback_zip(grades)))
    if gradescope:
        student, module, path = gradescope
        written.append(formats.write(path, formats.gradescope(grades, student, module_named(module))))
    for path in written:
        say(f"wrote {path}")


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", default="OUT", type=click.Path(path_type=Path), help="The class folder (default: OUT).")
def roster(file: Path, out: Path) -> None:
    """Put the students of a CSV FILE (of ids and names; Canvas's and Moodle's exports will do) into the gradebook."""
    from autograder.grading.roster import import_roster

    say(f"{import_roster(file, out)} students are in the gradebook of {out}")


@main.command()
@click.argument("module")
@click.argument("when")
@click.option("--student", default="", help="Only for this student: an extension.")
@click.option("--out", default="OUT", type=click.Path(path_type=Path), help="The class folder (default: OUT).")
def due(module: str, when: str, student: str, out: Path) -> None:
    """Set WHEN a MODULE is due: 2026-10-01T18:00, or "none"."""
    from autograder.grading.deadlines import set_due

    say(set_due(module_named(module), when, out, student))


def choice_of(students: tuple[str, ...], modules: tuple[str, ...], exercises: tuple[str, ...]) -> "Choice":
    """What is to be graded, of what was named on the command line. An exercise stands for its module, too."""
    from autograder.grading.records import Choice
    from autograder.judge.reference import module_of

    named, needed = {module_named(module) for module in modules}, {module_of(exercise) for exercise in exercises}
    if named and needed - named:
        raise CourseError(
            f"{', '.join(exercises)} is in {', '.join(sorted(needed - named))}, which --module leaves out"
        )
    return Choice(students, tuple(sorted(needed or named)), exercises)


@main.command()
@click.argument("names", nargs=-1)
def checks(names: tuple[str, ...]) -> None:
    """Judge every mistake and variant of the checks NAMES, of exercises or modules (default: all).

    For each: the points that it earns, and whether a mistake is named.
    """
    from autograder.checks import all_checks, find
    from autograder.judge.authoring import print_tried

    count, wrong = print_tried([find(name) for name in exercises_of(names)] or list(all_checks().values()))
    if wrong:
        raise CourseError(
            f"{wrong} of {count} are not as they must be: a mistake loses points and is named, a variant loses none"
        )
    say(f"{count} mistakes and variants: every mistake loses points and is named, every variant earns all")


@main.command()
@click.argument("module", required=False)
@click.option("--browser/--no-browser", default=True, help="Open a browser, or only print the address.")
@click.option("--port", default=8888, show_default=True)
def lab(module: str | None, browser: bool, port: int) -> None:
    """Open JupyterLab on MODULE (01 will do), on your own copies in work/, which no update overwrites.

    Without MODULE, on the first that has something left to do. `projects` are the open tasks after the last one.
    """
    from autograder.learner.lab import open_lab

    open_lab(module_named(module) if module and module != paths.PROJECTS.name else module, browser, port)


@main.command()
def copies() -> None:
    """Put your copies of the notebooks where `lab` would, for VS Code and other editors; what is there stays as it is."""
    from autograder.learner.lab import copy_notebooks

    copy_notebooks()
    say(f"your copies of the notebooks are in {paths.WORK}")


@main.command()
def progress() -> None:
    """Show how far you are: every module, exercises passed, points, and what is next."""
    from rich.console import Console

    from autograder.learner.progress import advice, all_exercises, table_of

    exercises = all_exercises()
    Console().print(table_of(exercises))
    Console().print(f"\n{advice(exercises)}", highlight=False)


@main.command()
@click.argument("module")
@click.option(
    "--all", "everything", is_flag=True, help="Show every solution, also of exercises that you have not begun."
)
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.")
def compare(module: str, everything: bool, browser: bool) -> None:
    """Compare your work on MODULE (01 will do) with the reference, on a page: code, verdicts, time and memory."""
    from autograder.learner.compare import compare

    name = module_named(module)
    page = paths.work_notebook(name).with_name("compare.html")
    text = compare(name, everything)
    page.write_text(text, encoding="utf-8")
    say(f"wrote {page}")
    if browser:
        click.launch(str(page))


@main.command()
@click.argument("attempts", type=click.Path(exists=True, path_type=Path))
@click.option("--only", default="", help="Only attempts whose id contains this.")
@click.option("--workers", default=2, show_default=True)
@click.option("--json", "out", type=click.Path(path_type=Path), help="Write what became of each attempt to this file.")
def calibrate(attempts: Path, only: str, workers: int, out: Path | None) -> None:
    """Measure the judge's error rates on ATTEMPTS, a file NAME.jsonl or a folder of such: right and wrong solutions.

    They run as this user, in no sandbox.
    """
    import json
    from dataclasses import asdict

    from autograder.judge.calibrate import attempts_in, table
    from autograder.judge.calibrate import calibrate as judged

    results = []
    for result in judged([each for each in attempts_in(attempts) if only in each["id"]], workers):
        results.append(result)
        if (result.label, result.full) in (("wrong", True), ("right", False)):
            say(
                f"{'escaped' if result.full else 'LOST   '} {result.id}: {result.idea} ({result.points:g}/{result.most:g})"
            )
    say("\n".join(["", *table(results)]))
    if out:
        out.write_text(
            json.dumps([asdict(result) for result in results], ensure_ascii=False, indent=1), encoding="utf-8"
        )


@main.command()
@click.argument("checks", nargs=-1)
def mutants(checks: tuple[str, ...]) -> None:
    """Mutation testing: list the small changes of a solution that its check does not notice (all, or the CHECKS named)."""
    from autograder.checks import all_checks, find
    from autograder.judge.mutants import mutants_of, survivors

    for check in map(find, checks or all_checks()):
        made = mutants_of(check)
        alive = survivors(check, made)
        say(f"{check.name}: {len(made)} mutants, {len(alive)} not noticed")
        for mutant in alive:
            say(f"  line {mutant.line}: {mutant.before}\n    → {mutant.after}")


def module_named(word: str) -> str:
    """The module of that name, or that number: "01_value" and "01"."""
    names = [name for name in paths.module_names() if word in (name, name.split("_")[0])]
    if not names:
        raise CourseError(f"there is no module {word}; there are: {', '.join(paths.module_names())}")
    return names[0]


def exercises_of(names: tuple[str, ...]) -> list[str]:
    """The exercises that are named, and those of the modules that are."""
    from autograder.lesson.text import read_lesson

    modules = {word: module for module in paths.module_names() for word in (module, module.split("_")[0])}
    return [
        exercise for name in names for exercise in (read_lesson(modules[name]).exercises if name in modules else [name])
    ]


def of_the_course(word: str) -> str:
    """The module of that name, if course.toml does not leave it out."""
    from autograder.course import FILE, course_modules

    module = module_named(word)
    if module not in course_modules():
        raise CourseError(f"{FILE.name} leaves {module} out; it has: {', '.join(course_modules())}")
    return module


def run(commands: click.Group = main) -> None:
    try:
        commands(standalone_mode=False)
    except click.exceptions.Abort:
        raise SystemExit(130) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except CourseError as error:
        say(str(error), err=True)
        raise SystemExit(1) from None


def learn() -> None:
    """`tinygrad-cl`, the command of an installed wheel: for whoever learns alone, and for their devices."""
    from tinygrad_cl.__main__ import doctor, tune

    run(
        click.Group(
            "tinygrad-cl", [lab, copies, progress, compare, doctor, tune], help="Take the course, in this folder."
        )
    )


if __name__ == "__main__":
    run()
