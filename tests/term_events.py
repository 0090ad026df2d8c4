"""A term of 40 students as data, and what follows from it: the events, in the order of time, and the `Model` that adds up what
everybody must have after each run. Nothing here is taken from an output.
"""

import math
from dataclasses import dataclass, field, replace
from datetime import datetime

from test_similar import BACKWARD, HONEST, OWN, TANH, renamed
from test_unknown import HALF, OTHERS, SPELLINGS

from autograder.checks import find
from autograder.grading.sample_class import exercise_cell, with_mistake
from autograder.lesson.text import read_lesson

# -- what happens in the term -------------------------------------------------------------------------

STUDENTS = """ada ben cleo dora emil fay gil hana ivo june karl lea mia noah olga paul quin rosa sven tara
ugo vera will xena yann zoe abel bea carl dina egon flora gus hugo ines jana kemal lina max nora""".split()
START, VALUE, NEURON = MODULES = ("00_start", "01_value", "02_neuron")
DUE = {START: "2026-10-01T16:00", VALUE: "2026-10-01T16:00", NEURON: "2026-10-15T16:00"}  # UTC, as all times here
WRITTEN = {START: ("start.explain", 2.0), VALUE: ("value.explain", 3.0), NEURON: ("neuron.explain", 3.0)}
SIN_TIMES, NAME, HINT = "start.sin_times", "the product is halved", "Where does the `2` come from?"
HALVED = ("fay", "hana", "ivo", "karl", "lea", "mia", "gus")  # seven, in the first run


@dataclass(frozen=True)
class HandIn:
    """A student hands in a module.

    judged  {exercise: (status, points)} as the judge finds it; what is not named is all right
    answer  to the module's question; None: the student's own, "": none
    own     {exercise: its text}, where it is not the solution's
    by      "timestamp.txt", or "file": when it came is known by the file's own time
    """

    who: str
    module: str
    when: str
    judged: dict = field(default_factory=dict)
    answer: str | None = None
    own: dict = field(default_factory=dict)
    by: str = "timestamp.txt"
    file: str = ""

    @property
    def written(self):
        return f"It is the chain rule, says {self.who}." if self.answer is None else self.answer

    @property
    def time(self):
        return datetime.fromisoformat(self.when)


@dataclass(frozen=True)
class Extension:
    who: str
    module: str
    until: str


@dataclass(frozen=True)
class Mark:
    """What somebody types in formgrader; `exercise` may be the written answer."""

    who: str
    exercise: str
    points: float
    comment: str = ""

    @property
    def module(self):
        return next(module for module in MODULES if module[3:] == self.exercise.split(".")[0])


@dataclass(frozen=True)
class Name:
    """The group of SIN_TIMES gets its name."""


@dataclass(frozen=True)
class Grade:
    """The instructor grades; the number is the run's."""

    run: int


def special(module):
    """The hand-ins that are not everybody's, in time for the first run over a module."""
    return {each.who: each for each in FIRST if each.module == module}


MUL = exercise_cell(with_mistake(0)).source  # each factor keeps its own value as local derivative
SOME = {"start.gradient": ("missing", 0.0), "start.kernel": ("missing", 0.0), "start.backward_kernel": ("missing", 0.0)}
FIRST = [
    *(
        HandIn(who, START, "2026-10-01T10:00", {SIN_TIMES: ("wrong", 0.0)}, own={SIN_TIMES: source})
        for who, source in zip(HALVED, [*SPELLINGS.values()] * 2 + [HALF])
    ),
    HandIn("dina", START, "2026-10-01T10:00", {SIN_TIMES: ("wrong", 0.0)}, own={SIN_TIMES: OTHERS["dora"]}),
    HandIn("ben", START, "2026-10-01T17:00"),  # an hour late
    HandIn("gil", START, "2026-10-02T18:00", SOME | {SIN_TIMES: ("error", 0.0)}),  # worth less than lateness costs
    HandIn("sven", START, "2026-10-01T10:00", answer=""),
    HandIn("june", START, "2026-10-01T09:00", by="file"),
    HandIn("cleo", VALUE, "2026-10-02T22:00"),  # 30 hours late
    *(
        HandIn(who, VALUE, "2026-10-01T10:00", {"value.mul": ("partial", 0.5)}, own={"value.mul": MUL})
        for who in ("ugo", "vera", "will")
    ),
    HandIn(
        "flora",
        VALUE,
        "2026-10-01T10:00",
        {"value.pow": ("wrong", 0.0), "value.order": ("crashed", 0.0)},
        "I do not know.",
    ),
    HandIn("paul", VALUE, "2026-10-01T10:00", own={"value.pow": OWN, "value.backward": BACKWARD}),
    HandIn("quin", VALUE, "2026-10-01T15:59", own={"value.pow": renamed(OWN), "value.backward": renamed(BACKWARD)}),
    HandIn("max", VALUE, "2026-10-01T10:00", file="01_value (1).ipynb"),
    HandIn("abel", NEURON, "2026-10-15T10:00", {"neuron.train": ("error", 0.0)}),
    HandIn("bea", NEURON, "2026-10-15T10:00", {"neuron.train": ("error", 0.0), "neuron.mlp": ("partial", 1.5)}),
    HandIn("carl", NEURON, "2026-10-15T10:00", {"neuron.mlp": ("timeout", 0.0)}),
    HandIn("egon", NEURON, "2026-10-15T10:00", {"neuron.train": ("missing", 0.0), "neuron.dead": ("missing", 0.0)}, ""),
]
NOT_YET = {START: ("zoe", "noah"), VALUE: ("zoe", "xena", "dora", "emil"), NEURON: ("zoe", "yann", "hugo")}


def everybody(module, when):
    """What is handed in when a module is due: by most, all of it, right and in time."""
    own = special(module)
    for place, who in enumerate(STUDENTS):
        if who not in NOT_YET[module]:
            tanh = {"value.tanh_sigmoid": TANH.format(*HONEST[place % 5])} if module == VALUE else {}
            yield own.get(who, HandIn(who, module, when, own=tanh))


def all_marked(module, handed_in, less):
    """Every answer that was given gets its points, `less` says where fewer: {student: (points, comment)}."""
    exercise, most = WRITTEN[module]
    for each in handed_in:
        if each.written:
            yield Mark(each.who, exercise, *less.get(each.who, (most,)))


AT_ONE = {module: list(everybody(module, "2026-10-01T10:00")) for module in (START, VALUE)}
AT_TWO = list(everybody(NEURON, "2026-10-15T10:00"))
EVENTS = [
    Extension("dora", VALUE, "2026-10-08T16:00"),
    *AT_ONE[START],
    *AT_ONE[VALUE],
    Grade(1),
    *all_marked(START, AT_ONE[START], {"rosa": (1.0, "Say why, not only what.")}),
    *all_marked(VALUE, AT_ONE[VALUE], {"flora": (0.5, "Ask <me>."), "tara": (0.0, "That is of another lesson.")}),
    Mark("flora", "value.pow", 1.5, "The idea is right."),
    Name(),
    Extension("emil", VALUE, "2026-10-03T16:00"),
    HandIn("emil", VALUE, "2026-10-04T10:00"),  # 18 hours after the extension
    HandIn("dora", VALUE, "2026-10-05T10:00"),  # within hers
    HandIn("xena", VALUE, "2026-10-04T12:00"),  # two days and 20 hours
    # noah is the eighth with that mistake; lina hands in the same file again
    HandIn("noah", START, "2026-10-05T10:00", {SIN_TIMES: ("wrong", 0.0)}, own={SIN_TIMES: SPELLINGS["ben"]}),
    replace(next(each for each in AT_ONE[VALUE] if each.who == "lina"), when="2026-10-03T10:00"),
    Extension("ugo", VALUE, "2026-10-08T16:00"),
    HandIn("ugo", VALUE, "2026-10-07T10:00"),  # mul is right now, the answer is as it was
    Extension("flora", VALUE, "2026-10-08T16:00"),
    HandIn("flora", VALUE, "2026-10-08T15:00", {"value.pow": ("partial", 2.0)}, "The slopes are multiplied."),
    *AT_TWO,
    Grade(2),
    *all_marked(NEURON, AT_TWO, {"kemal": (2.5, "Nearly.")}),
    *(Mark(who, "value.explain", 3.0) for who in ("emil", "dora", "xena")),
    Mark("noah", "start.explain", 2.0),
    Mark("flora", "value.explain", 2.5, "Much better."),
    Mark("will", "value.mul", 2.0, "You are right: the text was not clear."),  # a complaint
    HandIn("tara", NEURON, "2026-10-17T10:00", answer="The second version."),  # a day and 18 hours
    Extension("hugo", NEURON, "2026-10-20T16:00"),
    HandIn("hugo", NEURON, "2026-10-19T10:00", {"neuron.dead": ("partial", 1.0)}),
    HandIn("abel", NEURON, "2026-10-16T10:00"),  # right now, 18 hours late
    Grade(3),
    Mark("tara", "neuron.explain", 2.0, "Good."),
    Mark("hugo", "neuron.explain", 3.0),
    Mark("flora", "value.pow", 2.5, "Nearly all."),
    Grade(4),
]

# -- what follows from it -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Expected:
    """What a row of grades.csv must say."""

    points: float
    most: float
    status: str
    mistake: str = ""
    mark: str = ""


class Model:
    """What everybody must have after a run."""

    def __init__(self, run):
        self.handed, self.marks, self.earlier = {}, {}, set()  # by (student, module); by (student, exercise)
        self.until, self.named = {}, False
        for event in EVENTS[: EVENTS.index(Grade(run)) + 1]:
            match event:
                case HandIn():
                    self.hand_in(event)
                case Extension():
                    self.until[event.who, event.module] = event.until
                case Mark():
                    self.marks[event.who, event.exercise] = event
                    self.earlier.discard((event.who, event.exercise))
                case Name():
                    self.named = True
        self.modules = sorted({module for _, module in self.handed})
        self.rows = {
            (who, module, exercise): self.expected(each, exercise)
            for (who, module), each in self.handed.items()
            for exercise in (*read_lesson(module).exercises, WRITTEN[module][0])
        }

    def hand_in(self, now):
        """A mark stays if the cell is as it was, and what the judge gives for it."""
        before = self.handed.get((now.who, now.module))
        self.handed[now.who, now.module] = now
        for exercise in (*read_lesson(now.module).exercises, WRITTEN[now.module][0]) if before else ():
            if cell_of(before, exercise) != cell_of(now, exercise) and self.marks.pop((now.who, exercise), None):
                self.earlier.add((now.who, exercise))

    def expected(self, each, exercise):
        place, mark = (each.who, exercise), self.marks.get((each.who, exercise))
        if exercise == WRITTEN[each.module][0]:
            most, (status, points) = WRITTEN[each.module][1], ("waiting" if each.written else "missing", 0.0)
            if mark:
                status = "ok" if mark.points == most else "partial" if mark.points else "wrong"
        else:
            most = find(exercise).points
            status, points = each.judged.get(exercise, ("ok", most))
        said = "to be marked again" if place in self.earlier else "to be marked" if status == "waiting" else ""
        halved = exercise == SIN_TIMES and each.own.get(SIN_TIMES) in SPELLINGS.values()
        mistake = (
            NAME
            if halved and self.named
            else find("value.mul").mistakes[0].name
            if exercise == "value.mul" and status == "partial"
            else ""
        )
        return Expected(mark.points if mark else points, most, status, mistake, "by hand" if mark else said)

    def due(self, who, module):
        return datetime.fromisoformat(self.until.get((who, module), DUE[module]))

    def late(self, who, module):
        """Seconds."""
        return max(0, round((self.handed[who, module].time - self.due(who, module)).total_seconds()))

    def raw(self, who, module):
        return sum(row.points for (*place, _), row in self.rows.items() if place == [who, module])

    def penalty(self, who, module):
        """Two points for each day that has begun, and never more than there are."""
        return min(2.0 * math.ceil(self.late(who, module) / 86400), self.raw(who, module))

    def points(self, who, module):
        return self.raw(who, module) - self.penalty(who, module)

    def most(self, module):
        return sum(find(exercise).points for exercise in read_lesson(module).exercises) + WRITTEN[module][1]

    def to_mark(self, who="", module=""):
        return sum(
            "to be marked" in row.mark
            for place, row in self.rows.items()
            if who in ("", place[0]) and module in ("", place[1])
        )

    def total(self, who):
        return sum(self.points(*place) for place in self.handed if place[0] == who)


def cell_of(handed_in, exercise):
    """What a mark of an exercise is about."""
    if exercise == WRITTEN[handed_in.module][0]:
        return handed_in.written
    return handed_in.own.get(exercise), handed_in.judged.get(exercise)
