"""Check 3 of lesson 14: several micro-batches, one message."""

import numpy as np

from autograder.checks.check import check


@check("parallel.micro", points=3)
def parallel_micro(student, rng, tools):
    """Processes with different numbers of rows, one of them with none."""
    w = rng.normal(size=4)
    counts = [7, 3, 11]
    data = [(rng.normal(size=(n, 4)), rng.normal(size=n)) for n in counts]
    rows = []

    def gradient_of(w, x, y):
        rows.append(len(x))
        return x.T @ np.tanh(x @ w - y) / len(x)

    def run(data, size):
        given = w.copy()
        return student.simulate(
            lambda comm: student.micro_gradients(comm, gradient_of, given, *data[comm.rank], size), len(data)
        )

    def rows_seen(size):
        rows.clear()
        run(data, size)
        return [sum(rows), max(rows)]

    def moved():
        given, before = w.copy(), [(x.copy(), y.copy()) for x, y in data]
        first = student.simulate(
            lambda comm: student.micro_gradients(comm, gradient_of, given, *data[comm.rank], 2), 3
        )[0]
        again = student.simulate(
            lambda comm: student.micro_gradients(comm, gradient_of, given, *data[comm.rank], 2), 3
        )[0]
        far = sum(abs(a - b).sum() for pair, old in zip(data, before) for a, b in zip(pair, old))
        return [far, *given, *np.ravel(again) - np.ravel(first), *first[0]]

    none = [data[0], (np.empty((0, 4)), np.empty(0)), data[2]]
    return {
        "input": f"w has 4 numbers; the processes have {counts} rows",
        "micro-batches of 3: the gradient": lambda: run(data, 3)[0],
        "rows one by one: the gradient": lambda: run(data, 1)[0],
        "all rows at once: the gradient": lambda: run(data, 11)[0],
        "one process has no rows: the gradient": lambda: run(none, 3)[0],
        "one process alone: the gradient": lambda: run(data[:1], 3)[0],
        "messages of each process": lambda: [len(calls) for calls in run(data, 3)[1]],
        "messages of each process, one of which has no rows": lambda: [len(calls) for calls in run(none, 3)[1]],
        "micro-batches of 3: rows in all, the most at once": lambda: rows_seen(3),
        "micro-batches of 4: rows in all, the most at once": lambda: rows_seen(4),
        "x and y moved by; w; a second time minus the first; the gradient": moved,
    }


parallel_micro.mistake(
    "the mean of the processes' means: each counts the same",
    swap=[
        ("return total[:-1] / total[-1]", "return total[:-1] / comm.size"),
        ("    total = np.empty_like(row)", "    row[:-1] /= max(len(x), 1)\n    total = np.empty_like(row)"),
    ],
    hint=["11 rows or 3: does a process count the same?", "Send sums, and the number of rows; divide at the end."],
)
parallel_micro.mistake(
    "the sum is divided by this process's own rows",
    swap=("/ total[-1]", "/ max(len(x), 1)"),
    hint=["How many rows have the others?", "Let the number of rows travel along: its sum is what to divide by."],
)
parallel_micro.mistake(
    "the sum is divided by own rows times processes, as if all had as many",
    swap=("/ total[-1]", "/ (max(len(x), 1) * comm.size)"),
    hint=["The others have more rows, or fewer.", "Let the number of rows travel along."],
)
parallel_micro.mistake(
    "the gradients of the micro-batches are added without their rows",
    swap=("len(x[part]) * gradient_of", "gradient_of"),
    hint=["gradient_of gives a mean.", "Rows times mean is the sum, which can be added."],
)
parallel_micro.mistake(
    "every micro-batch counts as full",
    swap=("len(x[part]) * gradient_of", "size * gradient_of"),
    hint=["How many rows has the last one?", "len(x[part]), not size."],
)
parallel_micro.mistake(
    "the last micro-batch is left out if it is not full",
    swap=("range(0, len(x), size)", "range(0, len(x) - size + 1, size)"),
    hint=["7 rows in threes: where is the last one?", "A slice may be shorter at the end."],
)
parallel_micro.mistake(
    "the sum is not divided",
    swap=(" / total[-1]", ""),
    hint=["The gradient of the mean loss was asked for.", "Divide by the number of all rows."],
)
parallel_micro.mistake(
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
parallel_micro.mistake(
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
parallel_micro.mistake(
    "a process without rows returns early, and the others wait for it",
    swap=(
        "    row = np.zeros(w.size + 1)",
        "    if not len(x):\n        return np.zeros_like(w)\n    row = np.zeros(w.size + 1)",
    ),
    hint=["All processes make a collective call, or none.", "Zeros, and 0 rows, are a message, too."],
)
parallel_micro.mistake(
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
parallel_micro.variant(
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
parallel_micro.variant(
    "by allgather of pairs, each a sum and its rows",
    swap=[
        ("    total = np.empty_like(row)\n    comm.Allreduce(row, total)\n", "    total = sum(comm.allgather(row))\n")
    ],
)
parallel_micro.variant(
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
    parallel_micro.variant(f"x and y have the same number of rows: {new}", swap=(old, new))
