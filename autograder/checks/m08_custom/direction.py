"""Check 5 of lesson 08: the slope along one direction."""

from autograder.checks.cases import choice
from autograder.checks.check import exercise
from autograder.checks.m08_custom.functions import ALONG

custom_direction = exercise("custom.direction", "One direction, two runs: what is measured, and what a rule says.")

CASES = ALONG * choice("h", 1e-5, 0.25, 0.01)


@custom_direction.aspect("measured", 0.5, cases=CASES, at_most=("calls of f",))
def measured(student, case):
    calls = []
    measured, _ = student.slope_along(lambda x: calls.append(x) or case.f(x), case.gradient, case.x, case.v, h=case.h)
    return {"measured": measured, "calls of f": len(calls)}


@custom_direction.aspect("by rule", 0.5, cases=CASES)
def by_rule(student, case):
    measured, by_rule = student.slope_along(case.f, case.gradient, case.x, case.v)
    return by_rule


custom_direction.mistake(
    "only one side is measured: f(x + h v) − f(x)",
    swap=("(f(x + h * v) - f(x - h * v)) / (2 * h)", "(f(x + h * v) - f(x)) / h"),
    hint=["The error is h, not h².", "Both sides: f(x + h v) − f(x − h v), over 2h."],
)
custom_direction.mistake(
    "the rise over two steps is divided by one", swap=("/ (2 * h)", "/ h"), hint=["Twice too large.", "2 h."]
)
custom_direction.mistake(
    "`/ 2 * h` divides by 2 and multiplies by h",
    swap=("/ (2 * h)", "/ 2 * h"),
    hint=["What does Python make of 8 / 2 * 4?", "Parentheses: / (2 * h)."],
)
custom_direction.mistake(
    "v is made a unit vector in one place only",
    swap=("measured = (", "v = v / np.linalg.norm(v)\n    measured = ("),
    hint=["Along 3v f moves three times as fast.", "Take v as it is."],
)
custom_direction.mistake(
    "by_rule is the length of the gradient, not its part along v",
    swap=("np.sum(gradient * v)", "np.linalg.norm(gradient)"),
    hint=["Along another direction, f moves otherwise. Where is v?", "Σ gradient · v."],
)
custom_direction.mistake(
    "the mean is taken, not the sum",
    swap=("np.sum(gradient * v)", "np.mean(gradient * v)"),
    hint=["All numbers move at once, and their effects add up.", "`np.sum`."],
)
custom_direction.mistake(
    "the gradient is taken for the measured one: the rule checks itself",
    swap=("(f(x + h * v) - f(x - h * v)) / (2 * h)", "np.sum(gradient * v)"),
    hint=["A referee who asks the player is none.", "`measured` comes from two calls of f."],
)
custom_direction.mistake(
    "by_rule is multiplied by h",
    swap=("np.sum(gradient * v)", "np.sum(gradient * v) * h"),
    hint=["A slope is a rise over a way. Which of your two is only a rise?", "Σ gradient · v, without h."],
)
custom_direction.mistake(
    "the two answers are in the wrong order",
    swap=("return measured, np.sum(gradient * v)", "return np.sum(gradient * v), measured"),
    hint=["As long as both agree, nobody notices.", "First measured, then by rule."],
)
custom_direction.mistake(
    "a fixed step stands in place of h",
    swap=("measured = (", "h = 1e-5\n    measured = ("),
    hint=["With the usual step all is right. With another one?", "h is an argument."],
)
custom_direction.mistake(
    "x is moved in place",
    source="""
def slope_along(f, gradient, x, v, h=1e-5):
    x += h * v
    high = f(x)
    x -= 2 * h * v
    low = f(x)
    return (high - low) / (2 * h), np.sum(gradient * v)
""",
    hint=["What is in x afterwards?", "`x + h * v` makes a new array."],
)
custom_direction.mistake(
    "x goes along 1, not along v: all numbers by the same step",
    swap=("f(x + h * v) - f(x - h * v)", "f(x + h) - f(x - h)"),
    hint=["Where is v in what you measure?", "x + h · v."],
)
custom_direction.mistake(
    "one number comes back, not two",
    swap=("return measured, np.sum(gradient * v)", "return abs(measured - np.sum(gradient * v))"),
    hint=["Whoever asks wants to compare by himself.", "`return measured, by_rule`."],
)
custom_direction.mistake(
    "`gradient @ v` is a product of matrices, unless both are vectors",
    swap=("np.sum(gradient * v)", "gradient @ v"),
    hint=["x may have any shape.", "Number by number: `np.sum(gradient * v)`."],
)
custom_direction.variant(
    "a function of one number, and vdot",
    source="""
def slope_along(f, gradient, x, v, h=1e-5):
    def line(t):
        return f(x + t * v)
    return [(line(h) - line(-h)) / h / 2, np.vdot(gradient, v)]
""",
)
custom_direction.variant(
    "loops over flat numbers",
    source="""
def slope_along(f, gradient, x, v, h=1e-5):
    high, low = f(np.add(x, h * v)), f(np.subtract(x, h * v))
    by_rule = sum(float(a) * float(b) for a, b in zip(np.ravel(gradient), np.ravel(v)))
    return np.array([0.5 * (high - low) / h, by_rule])
""",
)
