"""Check 1 of lesson 10: tapes that open, nest and close."""

from autograder.checks.cases import Draft, Source, Text, choice, fixed
from autograder.checks.check import exercise

nest = exercise("tape.nest", "Tapes that open, nest and close.")

BLOCKS = "[]|[(0, [])]|[(0, [(1, [])])]|[(0, [(1, []), (1, [])])]|[(0, [(0, [])])]|[(0, []), (1, [])]|[(0, [(1, [(0, [])])])]|[(0, [(1, [(2, [])])]), (0, [])]"


def drawn(rng, depth=4):
    """Blocks one after the other, (number of the tape, blocks inside)."""
    return [(int(rng.integers(3)), drawn(rng, depth - 1)) for _ in range(rng.integers(1, 3))] if depth else []


WAYS = Source(
    lambda rng: [Draft({"blocks": Text(text)}) for text in BLOCKS.split("|")], lambda rng: Draft({"blocks": drawn(rng)})
) * choice("error", None, Text("KeyError"), Text("GeneratorExit"))


@nest.aspect("the current tape, on the way in and out", 1.25, cases=WAYS)
def current(student, case):
    """Each block may end with an error. Tapes are known by their numbers."""
    student.state.tapes = []  # whatever an earlier attempt has left open
    tapes = [student.Tape() for _ in range(3)]
    starts = [len(tape.nodes) for tape in tapes]
    numbers = {None: None, **{tape: number for number, tape in enumerate(tapes)}}
    seen = [str(numbers[student.current_tape()])]

    def run(blocks):
        for number, inside in blocks:
            try:
                with tapes[number] as given:
                    seen.append(f"{numbers[given]} opened, current: {numbers[student.current_tape()]}")
                    tapes[number].nodes.append(len(seen))
                    run(inside)
                    if case.error:
                        raise case.error
                seen.append(f"closed, current: {numbers[student.current_tape()]}")
            except (KeyError, GeneratorExit) as error:
                seen.append(f"{type(error).__name__}, current: {numbers[student.current_tape()]}")

    run(case.blocks)
    return {"on the way": "; ".join(seen), "nodes": [str(tape.nodes[start:]) for tape, start in zip(tapes, starts)]}


@nest.aspect(
    "a thread has tapes of its own", 0.5, corner=True, few=6, cases=choice("here", 0, 1) * choice("there", 1, 0)
)
def in_a_thread(student, case):
    import threading

    student.state.tapes = []
    tapes, seen, steps = [student.Tape(), student.Tape()], {}, [threading.Event(), threading.Event()]

    def look(when):
        seen[when] = str([number for number, tape in enumerate(tapes) if tape is student.current_tape()])

    def work():
        try:
            look("there, before")
            with tapes[case.there]:
                look("there, inside")
                steps[0].set()
                steps[1].wait(5)
            look("there, after")
        except Exception as error:
            seen["there"] = type(error).__name__
        finally:
            steps[0].set()

    with tapes[case.here]:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        steps[0].wait(5)
        look("here, meanwhile")
        steps[1].set()
        thread.join(5)
    return seen


@nest.aspect(
    "what a new tape holds",
    0.25,
    corner=True,
    few=4,
    cases=fixed({"options": {}}, {"options": {"retain_grads": True}}, {"options": {"retain_grads": False}}),
)
def new(student, case):
    tape = student.Tape(**case.options)
    return {"retain_grads": tape.retain_grads, "nodes": "some" if tape.nodes else "none"}


nest.mistake(
    "when a tape ends, all are closed",
    swap=("state.tapes.pop()", "state.tapes.clear()"),
    hint=["with outer: with inner: … and after the inner one?", "Close this tape only: `state.tapes.pop()`."],
)
nest.mistake(
    "when a tape ends, the outermost is closed in its place",
    swap=("state.tapes.pop()", "state.tapes.pop(0)"),
    hint="The last one in is the first one out: pop() without a number.",
)
nest.mistake(
    "a tape is never closed", swap=("state.tapes.pop()", "pass"), hint="`__exit__` takes off what `__enter__` put on."
)
nest.mistake(
    "an error leaves the tape open",
    swap=("state.tapes.pop()", "if exception[0] is None:\n            state.tapes.pop()"),
    hint="`__exit__` is called in any case. It should close in any case.",
)
nest.mistake(
    "errors are swallowed: __exit__ returns something true",
    swap=("state.tapes.pop()", "return state.tapes.pop()"),
    hint=["What does Python do if `__exit__` returns something true?", "No `return` in front of the pop."],
)
nest.mistake(
    "__enter__ returns nothing, so `as` gives None",
    swap=("        return self\n", ""),
    hint="`with Tape() as tape:` is what `__enter__` returns.",
)
nest.mistake(
    "the outermost tape is taken as the current one",
    swap=("tapes[-1] if", "tapes[0] if"),
    hint="The innermost is the last of the list.",
)
nest.mistake(
    "without an open tape, there is an IndexError",
    swap=("tapes[-1] if tapes else None", "tapes[-1]"),
    hint="An empty list has no last one: None then.",
)
nest.mistake(
    "a tape that is opened again is empty",
    swap=("state.tapes.append(self)", "state.tapes.append(self)\n        self.nodes = []"),
    hint="The list begins once, in `__init__`.",
)
nest.mistake(
    "all tapes have one list of nodes",
    source="""
class Tape:
    nodes = []

    def __init__(self, retain_grads=False):
        self.retain_grads = retain_grads

    def __enter__(self):
        state.tapes.append(self)
        return self

    def __exit__(self, *exception):
        state.tapes.pop()


def current_tape():
    return state.tapes[-1] if state.tapes else None
""",
    hint="A list of its own for each: `self.nodes = []` in `__init__`.",
)
nest.mistake(
    "a new tape takes the place of the open ones",
    swap=("state.tapes.append(self)", "state.tapes = [self]"),
    hint="The tapes outside stay open: append.",
)
nest.mistake(
    "open tapes are in a list of your own, one for all threads",
    source="""
OPEN = []

class Tape:
    def __init__(self, retain_grads=False):
        self.nodes = []
        self.retain_grads = retain_grads

    def __enter__(self):
        OPEN.append(self)
        return self

    def __exit__(self, *exception):
        OPEN.pop()


def current_tape():
    return OPEN[-1] if OPEN else None
""",
    hint="`state` has a list for each thread: `state.tapes`.",
)
nest.mistake(
    "retain_grads is not kept",
    swap=("self.retain_grads = retain_grads", "self.retain_grads = False"),
    hint="The tape keeps what it was given: `self.retain_grads = retain_grads`.",
)
nest.variant(
    "a new list each time",
    source="""
class Tape:
    def __init__(self, retain_grads=False):
        self.nodes, self.retain_grads = list(), retain_grads

    def __enter__(self):
        state.tapes = [*state.tapes, self]
        return self

    def __exit__(self, kind, value, trace):
        state.tapes = state.tapes[:-1]
        return False


def current_tape():
    for tape in reversed(state.tapes):
        return tape
""",
)
nest.variant(
    "each tape is taken out by itself, not by its place",
    source="""
class Tape:
    def __init__(self, retain_grads=False, nodes=None):
        self.retain_grads = retain_grads
        self.nodes = [] if nodes is None else nodes

    def __enter__(self):
        tapes = state.tapes
        tapes.insert(len(tapes), self)
        return tapes[-1]

    def __exit__(self, *_):
        while state.tapes.pop() is not self:
            pass


def current_tape():
    if len(state.tapes) == 0:
        return None
    return state.tapes[len(state.tapes) - 1]
""",
)
