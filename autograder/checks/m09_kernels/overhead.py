"""Check 2 of lesson 09: the line through measured times."""

import numpy as np

from autograder.checks.cases import Draft, Source, fixed
from autograder.checks.check import exercise

overhead = exercise("kernels.overhead", "The best line through two points, through noisy ones, through lists.")


def measured(points, noise, rng):
    cost, each = float(rng.uniform(1e-5, 9e-5)), float(rng.uniform(1e-10, 9e-10))
    sizes = sorted(int(n) for n in rng.choice(np.arange(10, 2_000_000), points, replace=False))
    seconds = [float(f"{(cost + each * n) * rng.uniform(1 - noise, 1 + noise):.3g}") for n in sizes]
    return Draft({"sizes": sizes, "seconds": seconds}, ("the points are noisy",) * (noise > 0))


def arrays(draft):
    return Draft({name: np.array(values) for name, values in draft.inputs.items()}, draft.tags)


SMALL = fixed(
    {"sizes": [0, 1], "seconds": [1.0, 2.0]},
    {"sizes": [0, 1, 2], "seconds": [1.0, 1.0, 4.0]},
    {"sizes": (1, 3), "seconds": (2.0, 8.0)},
    {"sizes": [0, 100, 200], "seconds": [5.0, 6.0, 7.0]},
    {"sizes": [2, 1], "seconds": [5.0, 3.0]},
    {"sizes": [1, 2, 4, 8], "seconds": [1.0, 3.0, 2.0, 9.0]},
)
DRAWN = Source(
    lambda rng: (measured(points, noise, rng) for points in (2, 5, 3) for noise in (0.0, 0.3)),
    lambda rng: measured(int(rng.integers(2, 8)), 0.3, rng),
)
ARRAYS = Source(lambda rng: map(arrays, DRAWN.small(rng)), lambda rng: arrays(measured(5, 0.3, rng)))


@overhead.aspect("overhead, per number, n½", 2, cases=SMALL + DRAWN + ARRAYS, rtol=1e-4, atol=1e-14)
def line(student, case):
    overhead, per_number, n_half = student.fit_overhead(case.sizes, case.seconds)
    return {"overhead": overhead, "per number": per_number, "n½": n_half}


overhead.mistake(
    "overhead and slope are mixed up: polyfit gives the slope first",
    swap=("per_number, overhead = ", "overhead, per_number = "),
    hint="`np.polyfit(x, y, 1)` gives the coefficient of x first, then the constant.",
)
overhead.mistake(
    "n½ is upside down",
    swap=("overhead / per_number", "per_number / overhead"),
    hint="How many numbers take as long as one launch?",
)
overhead.mistake(
    "n½ is the overhead times the slope",
    swap=("overhead / per_number", "overhead * per_number"),
    hint="overhead = per_number · n½. What is n½?",
)
overhead.mistake(
    "n½ has half of the overhead",
    swap=("overhead / per_number", "overhead / per_number / 2"),
    hint="At n½ the work alone takes as long as the overhead.",
)
overhead.mistake(
    "only the first and the last point are used",
    swap=("np.polyfit(sizes, seconds, 1)", "np.polyfit([sizes[0], sizes[-1]], [seconds[0], seconds[-1]], 1)"),
    hint="Least squares uses all the points.",
)
overhead.mistake(
    "sizes and seconds have changed places",
    swap=("np.polyfit(sizes, seconds, 1)", "np.polyfit(seconds, sizes, 1)"),
    hint="The seconds depend on the sizes: sizes are x, seconds are y.",
)
overhead.mistake(
    "the first time is taken for the overhead",
    swap=("return overhead,", "overhead = seconds[0]\n    return overhead,"),
    hint="The first time has a little work in it, too, and noise. The line's constant is the overhead.",
)
overhead.mistake(
    "the line goes through 0: a slope, and no overhead",
    swap=(
        "per_number, overhead = np.polyfit(sizes, seconds, 1)",
        "per_number, overhead = np.dot(sizes, seconds) / np.dot(sizes, sizes), 0.0",
    ),
    hint="A line has two numbers: where it starts, and its slope.",
)
overhead.mistake(
    "the line is fitted to logarithms",
    swap=("np.polyfit(sizes, seconds, 1)", "np.polyfit(np.log(sizes), np.log(seconds), 1)"),
    hint="The model is a line in n, not in log n.",
)
overhead.variant(
    "by the normal equations",
    source="""
def fit_overhead(sizes, seconds):
    x, y = np.asarray(sizes, float), np.asarray(seconds, float)
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    start = y.mean() - slope * x.mean()
    return [start, slope, start / slope]
""",
)
overhead.variant(
    "with lstsq",
    source="""
def fit_overhead(sizes, seconds):
    columns = np.stack([np.ones(len(sizes)), np.asarray(sizes, float)], axis=1)
    solution = np.linalg.lstsq(columns, np.asarray(seconds, float), rcond=None)[0]
    return solution[0], solution[1], solution[0] / solution[1]
""",
)
overhead.variant(
    "with Polynomial.fit",
    source="""
def fit_overhead(sizes, seconds):
    start, slope = np.polynomial.Polynomial.fit(sizes, seconds, 1).convert().coef
    return start, slope, start / slope
""",
)
