import numpy as np

from autograder.checks.check import check


@check("kernels.overhead", points=2, rtol=1e-4, atol=0)
def overhead(student, rng, tools):
    """The line through two exact points, the best line through five noisy ones, and lists as they come from a loop."""
    cost, each = rng.uniform(1e-5, 9e-5), rng.uniform(1e-10, 9e-10)
    two = np.array([1000, 1_000_000])
    five = np.sort(rng.integers(10, 2_000_000, 5))
    exact = cost + each * two
    noisy = (cost + each * five) * rng.uniform(0.7, 1.3, 5)
    noisy[0] *= 0.5
    kept = noisy.copy()
    found = {
        "input": f"sizes {two.tolist()}, seconds {[float(f'{t:.4g}') for t in exact]}; then sizes {five.tolist()}, "
        f"seconds {[float(f'{t:.4g}') for t in noisy]}"
    }
    for name, sizes, seconds in (
        ("two points", two, exact),
        ("five points", five, noisy),
        ("lists", five[1:].tolist(), tuple(noisy[1:].tolist())),
    ):
        line = [float(number) for number in student.fit_overhead(sizes, seconds)]
        found |= {f"overhead ({name})": line[0], f"per number ({name})": line[1], f"n½ ({name})": line[2]}
    return found | {"the seconds that came in": noisy / kept}


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
