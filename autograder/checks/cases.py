"""Cases of a check: inputs from the smallest on, then drawn ones.

A source of cases describes inputs by name. It gives the small ones in order (`small`), and it can draw one more (`draw`);
both take their numbers from a generator, so that another seed gives other numbers. Sources are combined:

    array("a") * array("b")            every a with every b
    broadcast("a", "b") + fixed(…)     the cases of both
    array("x").each(axis=axes).add(grad=lambda x, axis, rng: …)   inputs that depend on earlier ones

An input is a Python expression, as text: a student can paste it, and it is all that travels to a student's process.
"""

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

MOST = 400  # small cases that are looked at
NO_DERIVATIVE = "a rule gives something else than the derivative"  # a tag: such a case cannot be measured


@dataclass(frozen=True)
class Text:
    """An input given by its expression: `Text("a")` is the very object of the input a, `Text("lambda x: x * x")` a function."""

    expression: str


@dataclass(frozen=True)
class Case:
    """The inputs of one case, {name: expression}, and what is special about it, in words: "a node is used twice"."""

    inputs: dict[str, str]
    tags: tuple[str, ...] = ()
    drawn: bool = False

    @cached_property
    def values(self) -> dict:
        """The inputs that need no name of the student's; what cannot be evaluated here is left out."""
        scope, found = {"np": np, "math": math}, {}
        for name, text in self.inputs.items():
            try:
                scope[name] = found[name] = eval(text, scope)
            except NameError:
                continue
        return found


@dataclass(frozen=True)
class Draft:
    """A case that is being put together."""

    inputs: dict = field(default_factory=dict)
    tags: tuple[str, ...] = ()

    def case(self) -> Case:
        return Case({name: literal(value) for name, value in self.inputs.items()}, self.tags)

    def __or__(self, other: "Draft") -> "Draft":
        return Draft(self.inputs | other.inputs, self.tags + other.tags)


@dataclass(frozen=True)
class Source:
    """Where cases come from: the small ones in order, and one more, drawn. `draw` is None where all there is is listed."""

    small: Callable[[np.random.Generator], Iterable[Draft]]
    draw: Callable[[np.random.Generator], Draft] | None = None

    def __add__(self, other: "Source") -> "Source":
        draws = [source.draw for source in (self, other) if source.draw]

        def small(rng):
            return interleaved(self.small(rng), other.small(rng))

        return Source(small, (lambda rng: draws[rng.integers(len(draws))](rng)) if draws else None)

    def __mul__(self, other: "Source") -> "Source":
        def small(rng):
            return (one | two for one, two in diagonal(list(self.small(rng)), list(other.small(rng))))

        def draw(rng):
            return any_of(self, rng) | any_of(other, rng)

        return Source(small, draw if self.draw or other.draw else None)

    def each(self, **options: Callable) -> "Source":
        """With each of the values that `name=function(inputs…)` lists for the inputs so far."""

        def all_of(draft, rng):
            drafts = [draft]
            for name, function in options.items():
                drafts = [
                    Draft(known.inputs | {name: option}, known.tags)
                    for known in drafts
                    for option in called(function, known, rng)
                ]
            return drafts

        def draw(rng):
            drafts = all_of(any_of(self, rng), rng)
            return drafts[rng.integers(len(drafts))]

        return Source(lambda rng: fairly(all_of(draft, rng) for draft in self.small(rng)), draw if self.draw else None)

    def add(self, **inputs: Callable) -> "Source":
        """With one more input each, `name=function(inputs…)`; the function may also take `rng`."""
        return self.each(**{name: single(function) for name, function in inputs.items()})

    def where(self, holds: Callable) -> "Source":
        """Only those cases of whose inputs this holds."""

        def draw(rng):
            for _ in range(1000):
                draft = any_of(self, rng)
                if called(holds, draft, rng):
                    return draft
            raise ValueError("no drawn case has what `where` asks for")

        return Source(
            lambda rng: (draft for draft in self.small(rng) if called(holds, draft, rng)), draw if self.draw else None
        )

    def tagged(self, *tags: str) -> "Source":
        draw = self.draw
        return Source(
            lambda rng: (Draft(draft.inputs, draft.tags + tags) for draft in self.small(rng)),
            draw and (lambda rng: draw(rng) | Draft(tags=tags)),
        )

    def choose(self, rng: np.random.Generator, small: int, drawn: int) -> list[Case]:
        """So many of the small cases, half of them the smallest, the others spread over the rest; and so many drawn ones."""
        listed = list(unique(draft.case() for draft in itertools.islice(self.small(rng), MOST)))
        first, rest = listed[: (small + 1) // 2], listed[(small + 1) // 2 :]
        wanted = min(small - len(first), len(rest))
        spread = [rest[i * len(rest) // wanted] for i in range(wanted)]
        more = (replace(self.draw(rng).case(), drawn=True) for _ in range(drawn)) if self.draw else ()
        return list(unique(itertools.chain(first, spread, more)))


def single(function: Callable) -> Callable:
    def options(**known):
        return [function(**known)]

    options.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return options


def called(function: Callable, draft: Draft, rng):
    """The function, given those inputs that it has parameters for; `rng` is the generator."""
    values = draft.case().values | {"rng": rng}
    return function(**{name: values[name] for name in inspect.signature(function).parameters})


def any_of(source: Source, rng) -> Draft:
    if source.draw:
        return source.draw(rng)
    drafts = list(itertools.islice(source.small(rng), MOST))
    return drafts[rng.integers(len(drafts))]


def interleaved(*parts: Iterable) -> Iterator:
    missing = object()
    for row in itertools.zip_longest(*parts, fillvalue=missing):
        yield from (part for part in row if part is not missing)


def diagonal(first: list, second: list) -> Iterator[tuple]:
    """All pairs, those of small places first."""
    for total in range(len(first) + len(second) - 1):
        for i in range(max(0, total - len(second) + 1), min(total + 1, len(first))):
            yield first[i], second[total - i]


def fairly(groups: Iterable[list]) -> Iterator:
    """The first of each of the first groups, then seconds: a long list of options must not push the next group far away."""
    waiting: list[Iterator] = []
    for group in groups:
        waiting.append(iter(group))
        for options in list(waiting):
            found = next(options, None)
            if found is None:
                waiting.remove(options)
            else:
                yield found
    yield from interleaved(*waiting)


def unique(cases: Iterable[Case]) -> Iterator[Case]:
    seen = set()
    for case in cases:
        key = tuple(case.inputs.items())
        if key not in seen:
            seen.add(key)
            yield case


def literal(value) -> str:
    """A Python expression, with np and math, that makes this value."""
    if isinstance(value, Text):
        return value.expression
    if isinstance(value, np.ndarray):
        return array_literal(value)
    if isinstance(value, np.generic):
        return literal(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return "math.nan" if math.isnan(value) else "math.inf" if value > 0 else "-math.inf"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(part)}" for key, part in value.items()) + "}"
    return repr(value)


def array_literal(array: np.ndarray) -> str:
    usual = array.dtype in (np.float64, np.int64, np.bool_)
    dtype = "" if usual else f", np.{array.dtype.name}"
    if not array.size:
        return f"np.zeros({array.shape}{dtype if array.dtype != np.int64 else ', int'})"
    if array.size > 2 and array.dtype.kind == "f" and (array == array.flat[0]).all():
        return f"np.full({array.shape}, {literal(array.flat[0])}{dtype})"
    if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        return f"{array_literal(array.T)}.T"
    return f"np.array({literal(array.tolist())}{dtype})"


# Sources


def fixed(*cases: dict, **inputs) -> Source:
    """Cases that are written out: `fixed({"a": 1.0}, {"a": 2.0})`, or one of them, `fixed(a=1.0)`."""
    drafts = [Draft(case) for case in cases] or [Draft(inputs)]
    return Source(lambda rng: drafts)


def choice(name: str, *options) -> Source:
    """One of these values, in this order."""
    return Source(lambda rng: [Draft({name: option}) for option in options])


NUMBERS = (2.0, -3.0, 0.5, 0.0, -0.5, 1.0, -1.0, 3.0)


def number(name: str, *small: float, low: float = -3.0, high: float = 3.0) -> Source:
    """A float: the small ones (NUMBERS if none are given), or one between low and high with two decimals."""
    options = [Draft({name: float(value)}) for value in small or NUMBERS]
    return Source(lambda rng: options, lambda rng: Draft({name: round(float(rng.uniform(low, high)), 2)}))


def integer(name: str, *small: int, low: int, high: int) -> Source:
    """A whole number: the small ones, or one of low, …, high."""
    options = [Draft({name: value}) for value in small or range(low, min(high, low + 3) + 1)]
    return Source(lambda rng: options, lambda rng: Draft({name: int(rng.integers(low, high + 1))}))


SHAPES = (
    (),
    (1,),
    (2,),
    (3,),
    (1, 1),
    (1, 2),
    (2, 1),
    (2, 3),
    (3, 2),
    (2, 2),
    (1, 3),
    (4,),
    (2, 1, 3),
    (3, 2, 2),
    (1, 2, 1, 2),
)
KINDS = ("decimals", "whole", "transposed", "integers")


def array(
    name: str, shapes: Iterable[tuple] = SHAPES, kinds: Iterable[str] = KINDS, axes: int = 3, empty: bool = False
) -> Source:
    """An array: each of these shapes in each kind (`filled`), or a drawn shape of at most that many axes of 1 to 4."""
    shapes, kinds = [*shapes, *([(0,), (2, 0)] if empty else [])], tuple(kinds)
    least = min(map(len, shapes))

    def draw(rng):
        shape = tuple(int(n) for n in rng.integers(1, 5, size=rng.integers(least, axes + 1)))
        return Draft({name: filled(shape, kinds[rng.integers(len(kinds))], rng)})

    return Source(lambda rng: (Draft({name: filled(s, kind, rng)}) for kind, s in by_size(kinds, shapes)), draw)


def by_size(kinds: tuple, shapes: list) -> Iterator[tuple]:
    """Each kind of each shape, small shapes first; a transposed view only of what has two axes."""
    for kind, shape in diagonal(list(kinds), shapes):
        if kind != "transposed" or len(shape) > 1:
            yield kind, shape


def filled(shape: tuple, kind: str, rng: np.random.Generator) -> np.ndarray | Text:
    """An array of that shape.

    decimals     no two equal, no 0, both signs, one decimal
    whole        whole numbers as floats, small, so that some are 0 and some are equal
    integers     the same of dtype int64
    float32      decimals as float32
    transposed   decimals, as a view of an array with its axes in the other order
    positive     decimals above 0
    zeros        nothing but 0
    large        decimals times 1000
    small        multiples of 0.05 below 1, both signs
    infinite     decimals, one of them ∞
    """
    size = math.prod(shape)
    if size > 60:
        return Text(f"np.random.default_rng({int(rng.integers(10**6))}).normal(size={shape}).round(1)")
    if kind == "zeros":
        return np.zeros(shape)
    if kind == "small":
        return np.asarray((rng.integers(2, 20, size=shape) * rng.choice([-0.05, 0.05], size=shape)).round(2))
    if kind in ("whole", "integers"):
        small = rng.integers(-2, 4, size=shape)
        return small if kind == "integers" else np.asarray(small, dtype=float)
    span = np.arange(1, 3 * size + 8)
    span = span if kind == "positive" else np.concatenate([span, -span])
    numbers: np.ndarray = rng.permutation(span)[:size] / 10
    if kind == "infinite" and size:
        numbers[rng.integers(size)] = np.inf
    if kind == "transposed":
        return numbers.reshape(shape[::-1]).T
    numbers = np.asarray(numbers.reshape(shape) * (1000 if kind == "large" else 1))
    return numbers.astype(np.float32) if kind == "float32" else numbers


STRETCHES = (
    ((), ()), ((1,), (1,)), ((2,), (2,)), ((), (2,)), ((2,), ()), ((1,), (2,)), ((2,), (1,)), ((2, 3), (3,)), ((3,), (2, 3)),
    ((2, 3), (2, 3)), ((2, 1), (2, 3)), ((2, 3), (1, 3)), ((2, 1), (1, 3)), ((2, 2), (2,)), ((2, 2), (2, 1)), ((3, 1), (2,)),
    ((1, 1), (2, 3)), ((2, 3), ()), ((2, 1, 3), (2, 1)), ((2,), (3, 1, 2)), ((2, 2, 2), (1, 2, 1)), ((1, 2), (1, 2)),
)  # fmt: skip


def broadcast(first: str, second: str, pairs: Iterable = STRETCHES, kinds: Iterable[str] = KINDS) -> Source:
    """Two arrays whose shapes broadcast, and the same array twice."""
    pairs, kinds = list(pairs), tuple(kinds)

    def pair(shapes, kind, rng):
        arrays = [
            filled(shape, kind if len(shape) > 1 or kind != "transposed" else "decimals", rng) for shape in shapes
        ]
        return Draft(dict(zip((first, second), arrays)))

    def small(rng):
        for place, (kind, shapes) in enumerate(diagonal(list(kinds), pairs)):
            yield pair(shapes, kind, rng)
            if shapes[0] == shapes[1] and kind == kinds[0]:
                yield Draft({first: filled(shapes[0], kind, rng), second: Text(first)}, ("the same array twice",))

    def draw(rng):
        return pair(stretched_pair(rng), kinds[rng.integers(len(kinds))], rng)

    return Source(small, draw)


def stretched_pair(rng) -> tuple[tuple, tuple]:
    """Two shapes that broadcast, of at most four axes."""
    whole = rng.integers(1, 5, size=rng.integers(0, 5))
    shapes = []
    for _ in range(2):
        kept = np.where(rng.random(len(whole)) < 0.7, whole, 1)[
            int(rng.integers(0, len(whole) + 1)) * int(rng.integers(2)) :
        ]
        shapes.append(tuple(int(n) for n in kept))
    return shapes[0], shapes[1]


def axes_of(ndim: int, several: bool = True) -> list:
    """What `axis` may be for so many axes: None, each one from the front and from the back, and tuples in odd orders."""
    single = [*range(ndim), *range(-1, -ndim - 1, -1)]
    pairs = list(itertools.permutations(range(ndim), 2)) if several else []
    more = [(-1, 0), tuple(range(ndim))[::-1]] if several and ndim > 1 else []
    return [None, *single, *pairs, *more, *([()] if several else [])]
