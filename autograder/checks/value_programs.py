"""Programs of a `Value` engine: functions of a and b, as a student would write them, and the numbers that go in.

`programs("f", "a + b", …)` gives functions as inputs, `lambda a, b: a + b`, and draws random ones, in which boxes are shared
(`(s := a * b) + s`), an input comes twice and plain numbers stand on the right, and on the left where that is wanted.
"""

from functools import partial

from autograder.checks.cases import Draft, Source, Text

NUMBERS = ("2.5", "2", "-1", "0.5", "3", "np.float64(0.5)")  # on one side of an operator, as text
PAIRS = (
    (2.0, -3.0),
    (-0.5, 1.5),
    (2.0, 2.0),
    (0.0, 3.0),
    (-3.0, 0.0),
    (1.0, -1.0),
    (0.0, 0.0),
    (-0.5, -0.5),
    (0.7, 0.4),
)
FUNCTIONS = (
    "{}.tanh()",
    "{}.sigmoid()",
    "{}.relu()",
    "({}.tanh() + 2).log()",
    "{}.tanh().exp()",
)  # none leaves its domain


def programs(
    name: str,
    *small: str,
    operators="+*",
    functions=(),
    names: str = "ab",
    nested: bool = True,
    left: bool = True,
) -> Source:
    """Functions of a and b (or of other one-letter names), given by what they return: the small ones, and random ones.

    operators   which of + - * / ** the random ones use, which are not drawn if there are none; / has a number or exp(…) below it, so that it is never by 0
    functions   which of FUNCTIONS
    nested      whether what is computed may stand on the left
    left        whether a number may stand on the left: without it `__radd__` is never asked
    """

    def function(text: str, *tags: str) -> Draft:
        return Draft({name: Text(f"lambda {', '.join(names)}: {text}")}, tags)

    def draw(rng):
        random = partial(expression, rng, operators=operators, functions=functions, nested=nested, left=left)
        if not nested:
            return function(bare(random(names=names, depth=3)))
        shared, rest = random(names=names, depth=2), random(names="ss" + names, depth=2)
        both = f"(s := {bare(shared)}) {any_of(rng, [sign for sign in operators if sign != '/'])} {rest}"
        return function(both, *["a computed box is used twice"] * ("s" in rest.replace("sigmoid", "")))

    return Source(lambda rng: (function(text) for text in small), draw if operators else None)


def any_of(rng, options):
    return options[rng.integers(len(options))]


def bare(text: str) -> str:
    """Without the parentheses around all of it, which `expression` puts."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") and text.count("(") == 1 else text


def expression(rng, names, operators, functions, depth: int, nested: bool, left: bool) -> str:
    """A random expression: a method of a smaller one, or two with an operator between, in parentheses."""

    def smaller():
        if depth < 2 or rng.random() < 0.4:
            return any_of(rng, names)
        return expression(rng, names, operators, functions, depth - 1, nested, left)

    if functions and rng.random() < 0.3:
        return any_of(rng, functions).format(smaller())
    sign, number, place = any_of(rng, operators), any_of(rng, NUMBERS), rng.random()
    if sign == "/" and place < 0.5:
        return f"({number} / {any_of(rng, names)}.exp())" if left else f"({smaller()} / {number})"
    if place < 0.3 or sign == "/":
        return f"({smaller()} {sign} {number})"
    if place < 0.5 and left:
        return f"({number} {sign} {smaller()})"
    return f"({smaller() if nested else any_of(rng, names)} {sign} {smaller()})"


def two(
    *pairs: tuple[float, float], first: str = "a", second: str = "b", low: float = -3.0, high: float = 3.0
) -> Source:
    """Two floats: these pairs (PAIRS if none are given), with zeros and equal ones among them, or two between low and high."""

    def draw(rng):
        return Draft({name: round(float(rng.uniform(low, high)), 2) for name in (first, second)})

    return Source(lambda rng: (Draft({first: one, second: other}) for one, other in pairs or PAIRS), draw)


def arriving(rng) -> float:
    """The gradient that arrives at a result: neither 1 nor 0, of both signs."""
    return float(rng.choice([-2.0, 3.0, -0.5, 1.5, 0.25]))
