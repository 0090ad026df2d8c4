"""Check 3 of lesson 06: a switch that is put back."""

from autograder.checks.check import exercise
from autograder.checks.programs import pick, printed, scripts

control_mode = exercise("control.mode", "A switch that is put back.")


def blocks(rng, errors=False, again=False, depth=0, known=()):
    """Lines with blocks in blocks: with errors that end them, with objects that are used again."""
    lines, known = [], list(known)
    for _ in range(rng.integers(1, 4 - depth)):
        if rng.random() < 0.15:
            lines += [f"switch.on = {pick(rng, (True, False))}"]
        if again and (not known or rng.random() < 0.3):
            known.append(f"block{depth}{len(known)}")
            lines += [f"{known[-1]} = GradMode({pick(rng, (True, False))})", "print(switch.on)"]
        block = pick(rng, known) if again else f"GradMode({pick(rng, (True, False))})"
        inner = ["print(switch.on)", f"square({depth})"]
        if depth < 2 and rng.random() < 0.8:
            inner += blocks(rng, errors, again, depth + 1, known)
        lines += guarded(block, inner) if errors and rng.random() < 0.6 else [f"with {block}:", *indented(inner)]
        lines += ["print(switch.on)"]
    return lines


def indented(lines):
    return [f"    {line}" for line in lines]


def guarded(block, inner):
    """A block that an error ends."""
    tried = indented([f"with {block}:", *indented([*inner, "raise KeyError"])])
    return ["try:", *tried, "except KeyError:", "    print('KeyError', switch.on)"]


def programs(*small, **options):
    """Each begins with a position of the switch; at the end it shows what was noted."""

    def whole(lines, start):
        return [
            f"switch.on = {start}",
            "tape.clear()",
            *lines,
            "print(switch.on)",
            "print(' '.join(tape))",
            "switch.on = True",
        ]

    def draw(rng):
        return whole(blocks(rng, **options), pick(rng, (True, False)))

    return scripts([whole(lines, start) for lines in small for start in (True, False)], draw)


THREAD = """def there():
    print(switch.on)
    with block:
        print(switch.on)
    print(switch.on)
block = GradMode(False)
with GradMode(False):
    thread = threading.Thread(target=there)
    thread.start()
    thread.join()""".splitlines()
SHOW = "    print(switch.on)"
FIRST = (
    ["with GradMode(False):", SHOW, "    square(2)"],
    ["with GradMode(True):", SHOW, "    square(2)"],
    ["block = GradMode(False)", "print(switch.on)", "square(2)"],
    ["with GradMode(True):", "    with GradMode(False):", f"    {SHOW}", SHOW],
    ["block = GradMode(True)", "switch.on = not switch.on", "with block:", SHOW],
    ["with GradMode(True):", "    switch.on = False", SHOW],
    THREAD,
)
ERRORS = [guarded(f"GradMode({mode})", ["square(2)"]) for mode in (False, True)]
AGAIN = (
    ["block = GradMode(False)", "with block:", SHOW, "with block:", SHOW],
    ["block = GradMode(False)", "with block:", "    with block:", f"    {SHOW}", SHOW],
    ["block = GradMode(True)", "with block:", "    switch.on = False", "    with block:", f"    {SHOW}", SHOW],
)

control_mode.aspect("blocks, also in blocks", 1.5, cases=programs(*FIRST))(printed)
control_mode.aspect("errors that end a block", 0.75, corner=True, cases=programs(*ERRORS, errors=True))(printed)
control_mode.aspect("one object for several blocks", 0.75, corner=True, cases=programs(*AGAIN, again=True))(printed)


control_mode.mistake(
    "the end of a block always switches on",
    swap=("switch.on = self.before.pop()", "switch.on = True"),
    hint=["A no_grad block inside a no_grad block ends. Is recording on?", "Put back what was found at the start."],
)
control_mode.mistake(
    "the end of a block sets the opposite",
    swap=("switch.on = self.before.pop()", "switch.on = not self.enabled"),
    hint=["Off inside off: what should it be after the inner one?", "Put back what was found at the start."],
)
control_mode.mistake(
    "the end of a block puts nothing back",
    swap=("switch.on = self.before.pop()", "self.before.pop()"),
    hint="`__exit__` has to set switch.on, to what `__enter__` found.",
)
control_mode.mistake(
    "one object remembers one block only, so it loses the outer one when it is entered twice",
    swap=[
        ("self.before = []", "self.before = None"),
        ("self.before.append(switch.on)", "self.before = switch.on"),
        ("self.before.pop()", "self.before"),
    ],
    hint=["`with block: with block:` What does the second `__enter__` write over?", "A list: append, then pop."],
)
control_mode.mistake(
    "the position is noted when the object is made, not when the block begins",
    swap=[
        ("self.before = []", "self.before = switch.on"),
        ("self.before.append(switch.on)\n", "pass\n"),
        ("self.before.pop()", "self.before"),
    ],
    hint=["Between making and entering, the switch may have changed.", "Note it in `__enter__`."],
)
control_mode.mistake(
    "making the object switches already",
    swap=("self.before = []", "self.before = []\n        switch.on = enabled"),
    hint=["`GradMode(False)` without `with`: is recording off now?", "Only `__enter__` sets the switch."],
)
control_mode.mistake(
    "errors in the block are swallowed",
    swap=("switch.on = self.before.pop()", "switch.on = self.before.pop()\n        return True"),
    hint=[
        "The KeyError never comes out.",
        "What `__exit__` returns, if true, means: the error is dealt with. Return nothing.",
    ],
)
control_mode.mistake(
    "after an error nothing is put back",
    swap=(
        "switch.on = self.before.pop()",
        "before = self.before.pop()\n        if exception[0] is None:\n            switch.on = before",
    ),
    hint=["The switch has to go back just then.", "No `if` in `__exit__`: Python calls it with an error and without."],
)
control_mode.mistake(
    "the block begins without setting the switch",
    swap=("switch.on = self.enabled", "pass"),
    hint="`__enter__` notes what is, and then sets switch.on to self.enabled.",
)
control_mode.mistake(
    "a block switches off, whatever was asked for",
    swap=("switch.on = self.enabled", "switch.on = False"),
    hint="GradMode(True) inside of GradMode(False) switches on again: `self.enabled`.",
)
control_mode.mistake(
    "the position is kept in the class, so that all objects share one list's last entry",
    swap=[
        ("self.before = []", "GradMode.before = None"),
        ("self.before.append(switch.on)", "GradMode.before = switch.on"),
        ("self.before.pop()", "GradMode.before"),
    ],
    hint=["Two blocks, one in the other, write to the same place.", "`self.before`, and a list."],
)
control_mode.mistake(
    "the list of what was before gives back the oldest first",
    swap=("self.before.pop()", "self.before.pop(0)"),
    hint=["The block that was entered last ends first.", "`pop()` takes the last."],
)
control_mode.variant(
    "a stack of pairs",
    source="""
class GradMode:
    def __init__(self, enabled):
        self.stack, self.position = None, enabled

    def __enter__(self):
        self.stack = (switch.on, self.stack)
        switch.on = self.position
        return self

    def __exit__(self, kind, error, trace):
        switch.on, self.stack = self.stack
        return False
""",
)
control_mode.variant(
    "a generator for each block",
    source="""
class GradMode:
    def __init__(self, enabled):
        self.enabled = enabled
        self.blocks = []

    def block(self):
        before, switch.on = switch.on, self.enabled
        yield
        switch.on = before

    def __enter__(self):
        self.blocks.append(self.block())
        next(self.blocks[-1])

    def __exit__(self, *exception):
        next(self.blocks.pop(), None)
""",
)
