"""Check 4 of lesson 14: local steps and an average."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m14_parallel.processes import COUNTS, shares

local = exercise("parallel.local", "Local steps in each process, and one average of the weights.")

CASES = shares(
    [*COUNTS, *COUNTS], 1, lambda rng: {"lr": float(rng.integers(1, 5)) / 10, "steps": (1, 2, 0, 3, 4)[rng.integers(5)]}
)
EXACT = {"rtol": 1e-9, "atol": 1e-11}  # the text says float64


@local.aspect("the weights", 1.5, cases=CASES, few=24, many=80, **EXACT)
def weights(student, case):
    def program(comm):
        x, y, now = case.xs[comm.rank], case.ys[comm.rank], case.w
        first = student.local_round(comm, case.gradient_of, now, x, y, case.lr, case.steps)
        return first, student.local_round(comm, case.gradient_of, first, x, y, case.lr, case.steps)

    results, _ = student.simulate(program, len(case.xs))
    return {
        "the weights": np.array([one for one, _ in results]),
        "after another round": np.array([two for _, two in results]),
    }


@local.aspect(
    "one message; w stays as it is", 0.75, corner=True, cases=CASES, few=16, many=60, at_most=("messages of a process",)
)
def messages(student, case):
    def program(comm):
        return student.local_round(
            comm, case.gradient_of, case.w, case.xs[comm.rank], case.ys[comm.rank], case.lr, case.steps
        )

    _, sent = student.simulate(program, len(case.xs))
    return {"messages of a process": max(map(len, sent)), "w afterwards": case.w}


@local.aspect(
    "a gradient of all rows for each step", 0.75, corner=True, cases=CASES, few=16, many=60, at_most=("gradients",)
)
def steps(student, case):
    seen = []

    def gradient_of(w, x, y):
        seen.append(len(x))
        return case.gradient_of(w, x, y)

    def program(comm):
        return student.local_round(
            comm, gradient_of, case.w, case.xs[comm.rank], case.ys[comm.rank], case.lr, case.steps
        )

    student.simulate(program, len(case.xs))
    return {"gradients": len(seen), "rows": sum(seen)}


local.mistake(
    "every process counts the same, whatever its rows",
    swap=[("len(x) * mine, len(x)", "mine, 1")],
    hint=["9 rows or 2: who should count more?", "Σ nᵢ wᵢ / Σ nᵢ: weight by the rows."],
)
local.mistake(
    "the weights are added, and not divided",
    swap=(" / total[-1]", ""),
    hint=["A sum of weights is no average.", "Divide by the number of all rows."],
)
local.mistake(
    "the sum of the weighted weights is divided by the number of processes",
    swap=("/ total[-1]", "/ comm.size"),
    hint=["The weights were multiplied by rows.", "Divide by the rows of all."],
)
local.mistake(
    "the sum is divided by own rows times processes, as if all had as many",
    swap=("/ total[-1]", "/ (len(x) * comm.size)"),
    hint=["The others have more rows, or fewer.", "Let the number of rows travel along, as in the last exercise."],
)
local.mistake(
    "the gradient is always that at the start",
    swap=("gradient_of(mine, x, y)", "gradient_of(w, x, y)"),
    hint=["Where are you after the first step?", "The gradient at `mine`."],
)
local.mistake(
    "the caller's w is changed",
    swap=[("mine = w.copy()", "mine = w"), ("mine = mine - lr", "mine -= lr")],
    hint=["`mine = w` is another name for the same array.", "w.copy()"],
)
local.mistake(
    "only one step is taken",
    swap=("range(steps)", "range(min(steps, 1))"),
    hint=["How many gradients did you take?", "`steps` of them, each from where the last one led."],
)
local.mistake("one step too many", swap=("range(steps)", "range(steps + 1)"), hint="`for _ in range(steps)`.")
local.mistake("uphill", swap=("mine - lr", "mine + lr"), hint="w − lr · gradient.")
local.mistake(
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
local.mistake(
    "the gradients of the steps are averaged over the steps, so they are too short",
    swap=("mine - lr *", "mine - lr / max(steps, 1) *"),
    hint=["Each step has the full length lr.", "mine − lr · gradient, steps times."],
)
local.mistake(
    "nothing is averaged: each goes home with its own weights",
    swap=("return total[:-1] / total[-1]", "return mine"),
    hint=["Do all processes return the same?", "What arrived, divided by all rows."],
)
local.mistake(
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
local.variant(
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
local.variant(
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
    local.variant(f"x and y have the same number of rows: {new}", swap=(old, new))
