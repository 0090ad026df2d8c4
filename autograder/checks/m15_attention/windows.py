"""Check 1 of lesson 15: windows of a text."""

import numpy as np

from autograder.checks.cases import Draft, Source
from autograder.checks.check import exercise

attention_windows = exercise("attention.windows", "Windows of random texts: at both ends, in any order, one twice.")


def text(n, length, count, rng):
    starts = [int(start) for start in rng.integers(0, n - length, count)]
    starts[rng.integers(count)] = n - length - 1
    ids = rng.permutation(200)[:n].astype(("int64", "int32")[rng.integers(2)])
    return Draft({"ids": ids, "length": length, "starts": np.array(starts) if rng.integers(2) else starts})


SMALL = (3, 1, 1), (5, 3, 2), (2, 1, 2), (6, 2, 4), (4, 3, 1), (9, 4, 3), (7, 1, 3), (8, 5, 2)
TEXTS = Source(
    lambda rng: (text(*numbers, rng) for numbers in SMALL),
    lambda rng: text(int(rng.integers(7, 12)), int(rng.integers(1, 6)), int(rng.integers(1, 5)), rng),
)


@attention_windows.aspect("x and y", 1, cases=TEXTS)
def both(student, case):
    x, y = student.windows(case.ids, case.length, case.starts)
    x, y = np.asarray(x), np.asarray(y)
    return {"x": x, "y": y, "are integers": [x.dtype.kind in "iu", y.dtype.kind in "iu"]}


X, Y = "ids[places]", "ids[places + 1]"
attention_windows.mistake(
    "y is the same as x: the model is asked for the character that it sees",
    swap=(Y, X),
    hint=["What comes after the last character of x? Is it in y?", "One place further: `places + 1`."],
)
attention_windows.mistake(
    "y is the character before, not the next one",
    swap=(Y, "ids[places - 1]"),
    hint=["Does y[0, 0] stand behind or in front of x[0, 0]?", "`places + 1`."],
)
attention_windows.mistake(
    "y is two places further",
    swap=(Y, "ids[(places + 2) % len(ids)]"),
    hint=["y[i] is what x[i + 1] is.", "`places + 1`."],
)
attention_windows.mistake(
    "y begins anew at the end of each window: its last answer is the window's first character",
    swap=(f"return {X}, {Y}", f"return {X}, np.roll({X}, -1, axis=1)"),
    hint=[
        "Look at the last column of y. Where does the text go on?",
        "Take y from the text, not from x: `ids[places + 1]`.",
    ],
)
attention_windows.mistake(
    "the windows come one after the other, wherever they should start",
    swap=("np.asarray(starts)[:, None]", "(length * np.arange(len(starts)))[:, None]"),
    hint=["At which place of ids does your second window start? And `starts[1]`?", "`starts[:, None]`"],
)
attention_windows.mistake(
    "windows are columns, not rows",
    swap=("np.asarray(starts)[:, None] + np.arange(length)", "np.asarray(starts) + np.arange(length)[:, None]"),
    hint=["Which shape have x and y?", "starts go down (`[:, None]`), places in a window to the right."],
)
attention_windows.mistake(
    "each window is one place too far right",
    swap=("np.arange(length)", "(np.arange(length) + 1) % (len(ids) - 1)"),
    hint=["A window that starts at 3 begins with `ids[3]`.", "`np.arange(length)` starts at 0."],
)
attention_windows.mistake(
    "x and y have changed places",
    swap=(f"return {X}, {Y}", f"return {Y}, {X}"),
    hint=["First what is seen, then what is asked.", "return x, y"],
)
attention_windows.mistake(
    "only the character after the whole window is asked",
    swap=(f"return {X}, {Y}", f"return {X}, {Y}[:, -1]"),
    hint=["Each place of the window has a next character.", "y has the shape of x."],
)
attention_windows.variant(
    "a loop over the starts",
    source="""
def windows(ids, length, starts):
    x = [ids[start:start + length] for start in starts]
    y = [ids[start + 1:start + length + 1] for start in starts]
    return np.stack(x), np.stack(y)
""",
)
attention_windows.variant(
    "cut from all windows of length + 1",
    source="""
def windows(ids, length, starts):
    both = np.lib.stride_tricks.sliding_window_view(ids, length + 1)[np.array(starts)]
    return [both[:, :-1], both[:, 1:]]
""",
)
attention_windows.variant(
    "lists of ints",
    source="""
def windows(ids, length, starts):
    x = [[int(ids[s + i]) for i in range(length)] for s in starts]
    return x, [row[1:] + [int(ids[s + length])] for row, s in zip(x, starts)]
""",
)
