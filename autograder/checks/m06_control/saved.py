"""Check 5 of lesson 06: what was saved, and whether it is still that."""

import numpy as np

from autograder.checks.check import check


@check("control.saved", points=3)
def control_saved(student, rng, tools):
    """The array, or an error after a change in place."""
    n, before = int(rng.integers(3, 7)), int(rng.integers(1, 5))
    numbers, step = rng.normal(size=n), rng.uniform(0.5, 2.0)

    def tensor(changes=0):
        y = student.Tensor(numbers)
        for _ in range(changes):
            y += step
        return y

    def answer(saved):
        """The sum of what was saved, or the kind of the error."""
        try:
            array = saved.unpack()
        except RuntimeError:
            return "RuntimeError"
        except Exception:
            return "another error"
        return f"{np.sum(array):.6f}"

    def unchanged(changes):
        y = tensor(changes)
        saved = student.Saved(y)
        return [saved.unpack(), saved.unpack()]

    def after(change, changes=0):
        def run():
            y = tensor(changes)
            early = student.Saved(y)
            first = answer(early)
            change(y)
            return [first, answer(early), answer(early), answer(student.Saved(y))]

        return run

    def add(y):
        y += step

    def there_and_back(y):
        y *= 2.0
        y /= 2.0

    def by_a_view(y):
        view = y.reshape(n, 1)
        view[n - 1] = step

    def by_a_detached(y):
        other = y.detach()
        other *= step

    def overwritten(y):
        y.copy_(np.arange(n))

    def of_a_new_tensor(y):
        z = y + 1
        z += 1
        y = z

    def of_a_clone(y):
        other = y.clone()
        other += 1

    def a_view_is_saved():
        y = tensor()
        saved = student.Saved(y.reshape(1, n))
        first = answer(saved)
        y += step
        return [first, answer(saved)]

    def same_memory():
        y = tensor(before)
        saved = student.Saved(y)
        first, second = saved.unpack(), saved.unpack()
        return [int(np.shares_memory(first, y.data)), int(np.shares_memory(first, second)), float(y.data.sum())]

    def tensor_stays():
        y = tensor(before)
        student.Saved(y).unpack()
        return [y.version.count, *y.data]

    return {
        "input": f"numbers = {np.round(numbers, 3)}; {before} changes in place before the saving, where it says so",
        "never changed: unpacked twice": lambda: unchanged(0),
        "changed before the saving: unpacked twice": lambda: unchanged(before),
        "changed after: before, after, after, saved anew": after(add),
        "changed before and after: before, after, after, saved anew": after(add, before),
        "changed and changed back: before, after, after, saved anew": after(there_and_back),
        "changed through a view: before, after, after, saved anew": after(by_a_view),
        "changed through a detached tensor: before, after, after, saved anew": after(by_a_detached),
        "overwritten by copy_: before, after, after, saved anew": after(overwritten, before),
        "another tensor changed: before, after, after, saved anew": after(of_a_new_tensor),
        "a clone changed: before, after, after, saved anew": after(of_a_clone, before),
        "a view saved, the tensor changed: before, after": a_view_is_saved,
        "the same memory as the tensor (1), for both of two unpacks (1), the sum": same_memory,
        "the tensor afterwards: count and numbers": tensor_stays,
    }


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
    "None in place of an error",
    swap=('raise RuntimeError(f"saved at version {self.count}, it is at {self.version.count} now")', "return None"),
    hint='`raise RuntimeError("…")`: a None would be computed with, somewhere far away.',
)
control_saved.mistake(
    "another kind of error",
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
