"""Check 4 of lesson 14: local steps and an average."""

import numpy as np

from autograder.checks.check import check


@check("parallel.local", points=3)
def parallel_local(student, rng, tools):
    """Several local steps, one, and none; one message."""
    w = rng.normal(size=4)
    counts = [5, 9, 2]
    data = [(rng.normal(size=(n, 4)), rng.normal(size=n)) for n in counts]
    lr = rng.uniform(0.2, 0.4)
    calls = []

    def gradient_of(w, x, y):
        calls.append(len(x))
        return x.T @ np.tanh(x @ w - y) / len(x)

    def run(steps, data=data):
        given = w.copy()
        return student.simulate(
            lambda comm: student.local_round(comm, gradient_of, given, *data[comm.rank], lr, steps), len(data)
        )

    def rounds():
        def program(comm):
            now = w.copy()
            for _ in range(3):
                now = student.local_round(comm, gradient_of, now, *data[comm.rank], lr, 2)
            return now

        return student.simulate(program, 3)[0]

    def gradients_taken():
        calls.clear()
        run(3)
        return sorted(calls)

    def moved():
        given, before = w.copy(), [(x.copy(), y.copy()) for x, y in data]
        results = student.simulate(
            lambda comm: student.local_round(comm, gradient_of, given, *data[comm.rank], lr, 2), 3
        )[0]
        far = sum(abs(a - b).sum() for pair, old in zip(data, before) for a, b in zip(pair, old))
        return [far, *given, *results[0]]

    return {
        "input": f"w has 4 numbers; the processes have {counts} rows; lr = {lr:.3g}",
        "3 steps: the weights": lambda: run(3)[0],
        "1 step: the weights": lambda: run(1)[0],
        "no step: the weights": lambda: run(0)[0],
        "2 processes, 2 steps: the weights": lambda: run(2, data[:2])[0],
        "one process alone, 4 steps: the weights": lambda: run(4, data[:1])[0],
        "3 rounds of 2 steps: the weights": rounds,
        "messages of each process": lambda: [len(sent) for sent in run(3)[1]],
        "3 steps: rows given to gradient_of, sorted": gradients_taken,
        "x and y moved by; w of the caller; the weights": moved,
    }


parallel_local.mistake(
    "every process counts the same, whatever its rows",
    swap=[("len(x) * mine, len(x)", "mine, 1")],
    hint=["9 rows or 2: who should count more?", "Σ nᵢ wᵢ / Σ nᵢ: weight by the rows."],
)
parallel_local.mistake(
    "the weights are added, and not divided",
    swap=(" / total[-1]", ""),
    hint=["A sum of weights is no average.", "Divide by the number of all rows."],
)
parallel_local.mistake(
    "the sum of the weighted weights is divided by the number of processes",
    swap=("/ total[-1]", "/ comm.size"),
    hint=["The weights were multiplied by rows.", "Divide by the rows of all."],
)
parallel_local.mistake(
    "the sum is divided by own rows times processes, as if all had as many",
    swap=("/ total[-1]", "/ (len(x) * comm.size)"),
    hint=["The others have more rows, or fewer.", "Let the number of rows travel along, as in the last exercise."],
)
parallel_local.mistake(
    "the gradient is always that at the start",
    swap=("gradient_of(mine, x, y)", "gradient_of(w, x, y)"),
    hint=["Where are you after the first step?", "The gradient at `mine`."],
)
parallel_local.mistake(
    "the caller's w is changed",
    swap=[("mine = w.copy()", "mine = w"), ("mine = mine - lr", "mine -= lr")],
    hint=["`mine = w` is another name for the same array.", "w.copy()"],
)
parallel_local.mistake(
    "only one step is taken",
    swap=("range(steps)", "range(min(steps, 1))"),
    hint=["How many gradients did you take?", "`steps` of them, each from where the last one led."],
)
parallel_local.mistake("one step too many", swap=("range(steps)", "range(steps + 1)"), hint="`for _ in range(steps)`.")
parallel_local.mistake("uphill", swap=("mine - lr", "mine + lr"), hint="w − lr · gradient.")
parallel_local.mistake(
    "after each step there is a message: these are not local steps",
    source="""
def local_round(comm, gradient_of, w, x, y, lr, steps):
    total = np.append(w, 1.0)
    for _ in range(steps):
        mine = total[:-1] / total[-1]
        mine = mine - lr * gradient_of(mine, x, y)
        row = np.append(len(x) * mine, len(x))
        total = np.empty_like(row)
        comm.Allreduce(row, total)
    return total[:-1] / total[-1]
""",
    hint=["Count the messages.", "The Allreduce comes after the loop."],
)
parallel_local.mistake(
    "the gradients of the steps are averaged over the steps, so they are too short",
    swap=("mine - lr *", "mine - lr / max(steps, 1) *"),
    hint=["Each step has the full length lr.", "mine − lr · gradient, steps times."],
)
parallel_local.mistake(
    "nothing is averaged: each goes home with its own weights",
    swap=("return total[:-1] / total[-1]", "return mine"),
    hint=["Do all processes return the same?", "What arrived, divided by all rows."],
)
parallel_local.mistake(
    "the number of rows is a second message",
    swap=[
        (
            "row = np.append(len(x) * mine, len(x))",
            "row = len(x) * mine\n    rows = np.empty(1)\n    comm.Allreduce(np.array([float(len(x))]), rows)",
        ),
        ("total[:-1] / total[-1]", "total / rows"),
    ],
    hint=["The weights are right. Count the messages.", "np.append(array, number)"],
)
parallel_local.variant(
    "the movement is averaged, not the weights",
    source="""
def local_round(comm, gradient_of, w, x, y, lr, steps):
    moved = np.zeros_like(w)
    while steps:
        moved -= lr * gradient_of(w + moved, x, y)
        steps -= 1
    message, room = np.zeros((2, w.size + 1))
    message[0], message[1:] = y.size, y.size * moved
    comm.Allreduce(message, room)
    return w + room[1:] / room[0]
""",
)
parallel_local.variant(
    "by allgather, and np.average",
    source="""
def local_round(comm, gradient_of, w, x, y, lr, steps):
    mine = np.array(w)
    for _ in range(steps):
        mine -= lr * gradient_of(mine, x, y)
    everybody = comm.allgather((mine, len(x)))
    return np.average([each for each, _ in everybody], axis=0, weights=[n for _, n in everybody])
""",
)
for old, new in (("len(x) * mine", "len(y) * mine"), ("mine, len(x))", "mine, len(y))")):
    parallel_local.variant(f"x and y have the same number of rows: {new}", swap=(old, new))
