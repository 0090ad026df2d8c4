"""Check 3 of lesson 06: a switch that is put back."""

from autograder.checks.check import check


@check("control.mode", points=3)
def control_mode(student, rng, tools):
    """Nested blocks, errors, one object used twice, threads."""
    from concurrent.futures import ThreadPoolExecutor

    modes = [bool(m) for m in rng.permutation([True, False, False, True, bool(rng.integers(2)), bool(rng.integers(2))])]
    start, other = bool(rng.integers(2)), bool(rng.integers(2))
    switch = student.switch

    def guarded(program):
        """The positions of the switch that the program notes; whatever it does, the switch is on afterwards."""

        def run():
            seen = []
            switch.on = start
            try:
                program(seen)
                seen.append(switch.on)
            finally:
                switch.on = True
            return [int(position) for position in seen]

        return run

    def nested(seen, left=tuple(modes)):
        if left:
            with student.GradMode(left[0]):
                seen.append(switch.on)
                nested(seen, left[1:])
                seen.append(switch.on)

    def one_block(seen):
        for mode in modes:
            block = student.GradMode(mode)
            seen.append(switch.on)
            with block:
                seen.append(switch.on)
            seen.append(switch.on)

    def error(seen):
        caught = 0
        for mode in modes:
            try:
                with student.GradMode(not start), student.GradMode(mode):
                    raise KeyError("in the block")
            except KeyError:
                caught += 1
            seen.append(switch.on)
        seen.append(caught)

    def one_object(seen):
        block = student.GradMode(not start)
        with block:
            seen.append(switch.on)
        seen.append(switch.on)
        with block:
            with block:
                seen.append(switch.on)
            seen.append(switch.on)
        seen.append(switch.on)

    def made_elsewhere(seen):
        block = student.GradMode(start)
        switch.on = not start
        with block:
            seen.append(switch.on)
            switch.on = not start
        seen.append(switch.on)

    def two_threads(seen):
        def other_thread():
            seen.append(switch.on)
            with student.GradMode(other):
                seen.append(switch.on)
            seen.append(switch.on)

        with student.GradMode(False):
            with ThreadPoolExecutor(1) as pool:
                pool.submit(other_thread).result()
            seen.append(switch.on)

    return {
        "input": f"switch.on = {start} at first; the blocks: {modes}",
        "blocks one after the other: the switch before, in, after": guarded(one_block),
        "blocks in blocks: the switch on the way in and out": guarded(nested),
        "errors in blocks: the switch after each, how many came out": guarded(error),
        "one object for several blocks, also nested": guarded(one_object),
        "made in one position, entered in the other": guarded(made_elsewhere),
        "a second thread: the switch there, then here": guarded(two_threads),
    }


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
