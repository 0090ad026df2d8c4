"""Check 5 of lesson 06: what was saved, and whether it is still that."""

from autograder.checks.check import exercise
from autograder.checks.programs import pick, printed, scripts

control_saved = exercise("control.saved", "What was saved, or an error after a change in place.")

Y = "y = Tensor([1.0, 2.0, -0.5])"
CHANGES = (
    "y += 1",
    "y *= 2",
    "y -= 1",
    "y[0] = 5.0",
    "y.copy_(2 * y)",
    "view = y.reshape(-1, 1)\nview += 10",
    "other = y.detach()\nother *= 3",
)
HARMLESS = (
    "z = y + 1\nz += 1",
    "other = y.clone()\nother += 1",
    "z = Tensor(y)\nz *= 3",
    "print(y.sum().item())",
    "view = y.reshape(1, -1)",
)
UNPACK = "print(kept.unpack())"
TRY = "try:\n    print(kept.unpack())\nexcept RuntimeError:\n    print('RuntimeError')\nexcept Exception:\n    print('another error')"
SAVES = ("kept = Saved(y)", "kept = Saved(y.reshape(1, -1))")


def unchanged(rng):
    before = [pick(rng, CHANGES + HARMLESS) for _ in range(rng.integers(0, 4))]
    after = [pick(rng, (*HARMLESS, UNPACK)) for _ in range(rng.integers(1, 5))]
    return [Y, *before, pick(rng, SAVES), *after, UNPACK]


def changed(rng):
    before = [pick(rng, CHANGES + HARMLESS) for _ in range(rng.integers(0, 3))]
    after = [pick(rng, (*CHANGES, *HARMLESS, TRY, TRY, SAVES[0])) for _ in range(rng.integers(0, 6))]
    return [Y, *before, pick(rng, SAVES), *after, pick(rng, CHANGES), TRY, TRY]


UNCHANGED = [[Y, SAVES[0], UNPACK]] + [[Y, change, SAVES[0], UNPACK, UNPACK] for change in CHANGES]
UNCHANGED += [[Y, SAVES[0], UNPACK, harmless, UNPACK] for harmless in HARMLESS]
CHANGED = [[Y, save, change, TRY] for save in SAVES for change in CHANGES] + [
    [Y, SAVES[0], TRY, "y += 1", "y -= 1", TRY]
]
CHANGED += [[Y, SAVES[0], *["y += 1"] * times, TRY, TRY] for times in (1, 2, 3)] + [
    [Y, "y += 1", SAVES[0], "y += 1", TRY, SAVES[0], TRY]
]
MEMORY = ["print(np.shares_memory(kept.unpack(), y.data))", "print(kept.unpack().shape, type(kept.unpack()).__name__)"]
MEMORY += ["print(np.shares_memory(kept.unpack(), kept.unpack()))", "print(y.version.count)", "print(y)"]
MEMORIES = [[Y, *before, save, *MEMORY] for before in ((), CHANGES[:1], CHANGES[1:3], CHANGES[5:6]) for save in SAVES]

control_saved.aspect("the array, where nothing changed it since", 1, cases=scripts(UNCHANGED, unchanged))(printed)
control_saved.aspect("a RuntimeError where something did", 1.5, corner=True, cases=scripts(CHANGED, changed))(printed)
control_saved.aspect("without a copy, and the tensor as it was", 0.5, corner=True, cases=scripts(MEMORIES))(printed)


control_saved.mistake(
    "the counter is kept twice, and not the count: it always equals itself",
    swap=("self.count = tensor.version.count", "self.count = tensor.version"),
    hint=[
        "tensor.version is one object. Its count moves, and yours moves along.",
        "Keep the number: `tensor.version.count`, and compare with the counter's count of now.",
    ],
)
control_saved.mistake(
    "nothing is compared",
    swap=("if self.version.count != self.count:", "if False:"),
    hint="Compare the count of now with the one that was kept.",
)
control_saved.mistake(
    "any change counts, those before the saving as well",
    swap=("if self.version.count != self.count:", "if self.version.count > 0:"),
    hint=[
        "The docstring's example changes y before it is saved.",
        "Keep the count of that moment, and compare with it.",
    ],
)
control_saved.mistake(
    "a copy is kept: safe, but twice the memory, and no error",
    swap=[
        ("self.array = tensor.data", "self.array = tensor.data.copy()"),
        ("if self.version.count != self.count:", "if False:"),
    ],
    hint=[
        "The right numbers, for the price of a copy of everything that is ever saved.",
        "Keep tensor.data itself, and the count.",
    ],
)
control_saved.mistake(
    "the array is copied, although the counter watches it",
    swap=("self.array = tensor.data", "self.array = tensor.data.copy()"),
    hint="The docstring says: without a copy. `tensor.data` is the array.",
)
control_saved.mistake(
    "a copy of the array is handed out",
    swap=("return self.array", "return self.array.copy()"),
    hint="The array itself: `return self.array`.",
)
control_saved.mistake(
    "the numbers are compared: a change back goes unnoticed",
    swap=[
        ("self.count = tensor.version.count", "self.count = tensor.data.copy()"),
        ("if self.version.count != self.count:", "if not np.array_equal(self.array, self.count):"),
    ],
    hint=["Twice the memory, and ·2 followed by /2 is a change that you do not see.", "Compare counts, not numbers."],
)
control_saved.mistake(
    "None comes back in place of an error",
    swap=('raise RuntimeError(f"saved at version {self.count}, it is at {self.version.count} now")', "return None"),
    hint='`raise RuntimeError("…")`: a None would be computed with, somewhere far away.',
)
control_saved.mistake(
    "another kind of error is raised",
    swap=("raise RuntimeError(", "raise ValueError("),
    hint="The docstring asks for a RuntimeError: `raise RuntimeError(…)`, also in place of `assert`.",
)
control_saved.mistake(
    "the error comes only once",
    swap=("raise RuntimeError(", "count, self.count = self.count, self.version.count\n            raise RuntimeError("),
    hint="Asked again, it is still changed. Leave the kept count as it is.",
)
control_saved.mistake(
    "the first change is let pass",
    swap=("if self.version.count != self.count:", "if self.version.count > self.count + 1:"),
    hint="One change is enough to make a gradient wrong.",
)
control_saved.mistake(
    "the tensor's counter is set back",
    swap=("self.count = tensor.version.count", "tensor.version.count = self.count = 0"),
    hint=["Others have saved the same tensor, and they compare with that counter, too.", "Read it, never write it."],
)
control_saved.variant(
    "the tensor itself is kept",
    source="""
class Saved:
    def __init__(self, tensor):
        self.tensor = tensor
        self.then = int(tensor.version.count)

    def unpack(self):
        assert_same = self.tensor.version.count == self.then
        if assert_same:
            return self.tensor.data
        raise RuntimeError("it was changed in place")
""",
)
control_saved.variant(
    "as a closure",
    source="""
class Saved:
    def __init__(self, tensor):
        array, counter = tensor.data, tensor.version
        then = counter.count

        def unpack():
            if counter.count > then:
                raise RuntimeError(f"changed {counter.count - then} times since then")
            return array
        self.unpack = unpack
""",
)
control_saved.variant(
    "self.version is tensor.version", swap=("self.count = tensor.version.count", "self.count = self.version.count")
)
control_saved.variant(
    "the counter only goes up", swap=("self.version.count != self.count", "self.version.count > self.count")
)
