"""Check 3 of lesson 14: several micro-batches, one message."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m14_parallel.processes import COUNTS, shares

micro = exercise("parallel.micro", "The gradient over the rows of all processes: several micro-batches, one message.")

EMPTY = [0, 2], [2, 0, 3], [1, 0, 0], [0, 1]
CASES = shares([*COUNTS, *EMPTY], 0, lambda rng: {"size": int(rng.integers(1, 5))})
EXACT = {"rtol": 1e-9, "atol": 1e-11}  # the text says float64


@micro.aspect("the gradient", 1.5, cases=CASES, few=20, many=80, **EXACT)
def gradient(student, case):
    def program(comm):
        return student.micro_gradients(
            comm, case.gradient_of, case.w, case.xs[comm.rank], case.ys[comm.rank], case.size
        )

    return np.array(student.simulate(program, len(case.xs))[0])


@micro.aspect("one message", 0.75, corner=True, cases=CASES, few=16, many=60, at_most=("messages of a process",))
def messages(student, case):
    def program(comm):
        return student.micro_gradients(
            comm, case.gradient_of, case.w, case.xs[comm.rank], case.ys[comm.rank], case.size
        )

    _, sent = student.simulate(program, len(case.xs))
    return {"messages of a process": max(map(len, sent))}


@micro.aspect(
    "each row once, at most `size` at a time",
    0.75,
    corner=True,
    cases=CASES,
    few=16,
    many=60,
    at_most=("rows at a time",),
)
def seen(student, case):
    seen = [[] for _ in case.xs]

    def program(comm):
        def gradient_of(w, x, y):
            seen[comm.rank].append((len(x), len(y), *x.ravel().tolist(), *y.tolist()))
            return case.gradient_of(w, x, y)

        return student.micro_gradients(comm, gradient_of, case.w, case.xs[comm.rank], case.ys[comm.rank], case.size)

    student.simulate(program, len(case.xs))
    parts = [part for of_one in seen for part in of_one]
    return {
        "rows in all": [sum(part[0] for part in of_one) for of_one in seen],
        "rows at a time": max([case.size, *[part[0] for part in parts]]),
        "numbers in all": sorted(number for part in parts for number in part[2:]),
    }


micro.mistake(
    "the mean of the processes' means: each counts the same",
    swap=[
        ("return total[:-1] / total[-1]", "return total[:-1] / comm.size"),
        ("    total = np.empty_like(row)", "    row[:-1] /= max(len(x), 1)\n    total = np.empty_like(row)"),
    ],
    hint=["11 rows or 3: does a process count the same?", "Send sums, and the number of rows; divide at the end."],
)
micro.mistake(
    "the sum is divided by this process's own rows",
    swap=("/ total[-1]", "/ max(len(x), 1)"),
    hint=["How many rows have the others?", "Let the number of rows travel along: its sum is what to divide by."],
)
micro.mistake(
    "the sum is divided by own rows times processes, as if all had as many",
    swap=("/ total[-1]", "/ (max(len(x), 1) * comm.size)"),
    hint=["The others have more rows, or fewer.", "Let the number of rows travel along."],
)
micro.mistake(
    "the gradients of the micro-batches are added without their rows",
    swap=("len(x[part]) * gradient_of", "gradient_of"),
    hint=["gradient_of gives a mean.", "Rows times mean is the sum, which can be added."],
)
micro.mistake(
    "every micro-batch counts as full",
    swap=("len(x[part]) * gradient_of", "size * gradient_of"),
    hint=["How many rows has the last one?", "len(x[part]), not size."],
)
micro.mistake(
    "the last micro-batch is left out if it is not full",
    swap=("range(0, len(x), size)", "range(0, len(x) - size + 1, size)"),
    hint=["7 rows in threes: where is the last one?", "A slice may be shorter at the end."],
)
micro.mistake(
    "the sum is not divided",
    swap=(" / total[-1]", ""),
    hint=["The gradient of the mean loss was asked for.", "Divide by the number of all rows."],
)
micro.mistake(
    "a message for each micro-batch, and they do not all have as many",
    source="""
def micro_gradients(comm, gradient_of, w, x, y, size):
    result, rows = np.zeros_like(w), np.zeros(1)
    for begin in range(0, len(x), size):
        part = slice(begin, begin + size)
        total = np.empty_like(w)
        comm.Allreduce(len(x[part]) * gradient_of(w, x[part], y[part]), total)
        result += total
    comm.Allreduce(np.array([float(len(x))]), rows)
    return result / rows
""",
    hint=[
        "A process with fewer micro-batches is done earlier, and the others wait.",
        "Add up all of yours first; then one Allreduce.",
    ],
)
micro.mistake(
    "the number of rows is a second message",
    source="""
def micro_gradients(comm, gradient_of, w, x, y, size):
    mine, rows = np.zeros_like(w), np.zeros(1)
    for begin in range(0, len(x), size):
        part = slice(begin, begin + size)
        mine += len(x[part]) * gradient_of(w, x[part], y[part])
    total = np.empty_like(w)
    comm.Allreduce(mine, total)
    comm.Allreduce(np.array([float(len(x))]), rows)
    return total / rows
""",
    hint=["The gradient is right. Count the messages.", "One more number at the end of the same message."],
)
micro.mistake(
    "a process without rows returns early, and the others wait for it",
    swap=(
        "    row = np.zeros(w.size + 1)",
        "    if not len(x):\n        return np.zeros_like(w)\n    row = np.zeros(w.size + 1)",
    ),
    hint=["All processes make a collective call, or none.", "Zeros, and 0 rows, are a message, too."],
)
micro.mistake(
    "all rows go through at once",
    source="""
def micro_gradients(comm, gradient_of, w, x, y, size):
    row = np.zeros(w.size + 1)
    if len(x):
        row[:] = [*(len(x) * gradient_of(w, x, y)), len(x)]
    total = np.empty_like(row)
    comm.Allreduce(row, total)
    return total[:-1] / total[-1]
""",
    hint=["How many rows did gradient_of get at once?", "Slices of `size` rows."],
)
micro.variant(
    "rows in front, a while loop, a matrix of two rows",
    source="""
def micro_gradients(comm, gradient_of, w, x, y, size):
    mine, total = np.zeros((2, 1 + len(w)))
    mine[0] = y.shape[0]
    while len(x):
        now, x = x[:size], x[size:]
        mine[1:] = mine[1:] + now.shape[0] * np.asarray(gradient_of(w, now, y[:size]))
        y = y[size:]
    comm.Allreduce(mine, total)
    rows, *gradient = total
    return np.array(gradient) / rows
""",
)
micro.variant(
    "by allgather of pairs, each a sum and its rows",
    swap=[
        ("    total = np.empty_like(row)\n    comm.Allreduce(row, total)\n", "    total = sum(comm.allgather(row))\n")
    ],
)
micro.variant(
    "pieces as equal as can be",
    source="""
def micro_gradients(comm, gradient_of, w, x, y, size):
    pieces = max(1, -(-len(x) // size))
    mine = sum((len(part) * gradient_of(w, part, other) for part, other in
                zip(np.array_split(x, pieces), np.array_split(y, pieces)) if len(part)), np.zeros(w.shape))
    row = np.concatenate([mine, [len(x)]])
    room = row * 0
    comm.Allreduce(row, room)
    return room[:w.size] / room[w.size]
""",
)
for old, new in (
    ("row[-1] = len(x)", "row[-1] = len(y)"),
    ("range(0, len(x), size)", "range(0, len(y), size)"),
    ("len(x[part]) *", "len(y[part]) *"),
):
    micro.variant(f"x and y have the same number of rows: {new}", swap=(old, new))
