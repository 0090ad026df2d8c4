"""Check 1 of lesson 10: tapes that open, nest and close."""

from autograder.checks.check import check


@check("tape.nest", points=2)
def nest(student, rng, tools):
    """Which tape is current on the way in and out, also after an error and in another thread; what lies on a tape stays."""
    import threading

    state, way = student.state, [int(k) for k in 1 + rng.permutation(7)[:3]]

    def clean(program):
        def run():
            before, state.tapes = state.tapes, []
            try:
                return program([student.Tape() for _ in range(8)])
            finally:
                state.tapes = before

        return run

    def current(tapes):
        """The current tape's number, −1 for None, −2 for what is no tape of ours."""
        now = student.current_tape()
        return -1 if now is None else next((k for k, each in enumerate(tapes) if each is now), -2)

    def in_and_out(tapes):
        first, second, third = way
        seen = [current(tapes)]
        with tapes[first]:
            seen.append(current(tapes))
            with tapes[second]:
                seen.append(current(tapes))
                with tapes[third]:
                    seen.append(current(tapes))
                seen.append(current(tapes))
            seen.append(current(tapes))
        return [*seen, current(tapes)]

    def one_after_the_other(tapes):
        seen = []
        with tapes[0]:
            for k in way:
                with tapes[k]:
                    seen.append(current(tapes))
                seen.append(current(tapes))
        return [*seen, current(tapes)]

    def what_as_gives(tapes):
        with tapes[way[0]] as a, tapes[way[1]] as b:
            return [next((k for k, each in enumerate(tapes) if each is x), -2) for x in (a, b)]

    def after_errors(tapes):
        seen, came_out = [], 0
        try:
            with tapes[way[0]]:
                for k in way[1:]:
                    try:
                        with tapes[k]:
                            raise KeyError(k)
                    except KeyError:
                        came_out += 1
                    seen.append(current(tapes))
                raise ValueError("the outer one, too")
        except ValueError:
            came_out += 1
        return [came_out, *seen, current(tapes)]

    def what_lies_on_them(tapes):
        a, b = tapes[:2]
        lengths = [len(a.nodes), len(b.nodes)]
        for k in way:
            with a:
                a.nodes.extend([k] * k)
                lengths.append(len(a.nodes))
            with b, a:
                b.nodes.append(k)
            lengths += [len(a.nodes), len(b.nodes)]
        return lengths

    def retains():
        made = [student.Tape(), student.Tape(True), student.Tape(retain_grads=False), student.Tape(retain_grads=True)]
        return [*way, *[tape.retain_grads for tape in made]]

    def in_a_thread(tapes):
        seen = []

        def work():
            try:
                state.tapes = []
                seen.append(current(tapes))
                with tapes[way[1]]:
                    seen.append(current(tapes))
                    inside.set()
                    go_on.wait(5)
                seen.append(current(tapes))
            except Exception:
                seen.append(-9)
            finally:
                inside.set()

        with tapes[way[0]]:
            inside, go_on = threading.Event(), threading.Event()
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            inside.wait(5)
            here = current(tapes)
            go_on.set()
            thread.join(5)
        return [here, *seen]

    return {
        "input": f"tapes numbered 0 to 7; opened are {way}, in this order; −1 stands for None",
        "the current tape, on the way in and out": clean(in_and_out),
        "the current tape, three one after the other inside tape 0": clean(one_after_the_other),
        "what stands after `as`": clean(what_as_gives),
        "errors that come out; the current tape after each": clean(after_errors),
        "nodes on two tapes, opened again and again": clean(what_lies_on_them),
        "retain_grads as it was given: not at all, True, False, True": retains,
        "a thread opens its own: current here, there before, inside, after": clean(in_a_thread),
    }


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
