"""How the operands and settings of a statement are drawn: a Draw knows what the program has so far, and each function asks it.

A function gives (names of variables, {setting: source}), or None where nothing fits.
"""

import random
from dataclasses import dataclass, field

import numpy as np

SPECIAL = ["inf", "-inf", "nan", "0.0", "-0.0", "88.0", "-104.0", "700.0", "1e18", "-1e-6"]
EVERY_SPECIAL = ["inf", "-inf", "nan", "0.0", "-0.0"]
NUMBERS = ["2", "0.5", "-1.0", "3.0", "1", "1.5", "-0.3", "0.0"]


@dataclass
class Draw:
    """Chance, and what the program has so far.

    variables    {name: what the reference knows of it}
    sizes        the shapes of new leaves
    dtypes       their types
    layouts      are some transposed or reversed?
    odd          special numbers among those of a leaf
    keep         is each graph kept by backward?
    wrong        how often an axis or a shape is one that does not fit
    """

    rng: random.Random
    sizes: list
    dtypes: list
    layouts: bool = True
    odd: tuple = ()
    keep: bool = False
    wrong: float = 0.04
    variables: dict = field(default_factory=dict)

    def name(self, fits=lambda shape: True) -> str | None:
        """A variable whose shape fits, the newer ones more often."""
        return self.newer([name for name, x in self.variables.items() if x is not None and fits(x.data.shape)])

    def such(self, fits) -> str | None:
        """A variable of which the reference knows that it fits."""
        return self.newer([name for name, x in self.variables.items() if x is not None and fits(x)])

    def newer(self, names):
        return names[-1 - int(len(names) * self.rng.random() ** 1.6)] if names else None

    def shape(self, name):
        return self.variables[name].data.shape

    def missed(self) -> bool:
        return self.rng.random() < self.wrong

    def axis(self, ndim) -> int:
        if self.missed() or not ndim:
            return self.rng.choice([ndim, -ndim - 1, 5])
        return self.rng.randrange(-ndim, ndim)

    def axes(self, ndim):
        """None, an axis, or several."""
        kind = self.rng.random()
        if kind < 0.35 or not ndim:
            return None if ndim or not self.missed() else 0
        if kind < 0.8 or ndim < 2:
            return self.axis(ndim)
        return tuple(self.rng.sample(range(ndim), 2))

    def array(self, shape, dtype="f8", order=False) -> str:
        """The source of an array."""
        rng, kind = self.rng, self.rng.random()
        size = int(np.prod(shape))
        if kind < 0.6:
            numbers = [f"{rng.gauss(0, 1):.3g}" for _ in range(size)]
        elif kind < 0.8:
            numbers = [str(float(rng.randint(-2, 2))) for _ in range(size)]
        elif kind < 0.9:
            numbers = [f"{rng.uniform(0.1, 3):.3g}" for _ in range(size)]
        else:
            numbers = ["0.0"] * size
        if self.odd:
            numbers = [rng.choice(self.odd) if rng.random() < 0.3 else each for each in numbers]
        layout = rng.choice(["C", "C", "C", "T", "-"]) if order and self.layouts and len(shape) > 1 and size else "C"
        shape = shape[::-1] if layout == "T" else shape
        text = nested(numbers, shape)
        if not size:
            return f"np.zeros({shape}, {dtype!r})"
        return f"np.array({text}, {dtype!r})" + {"C": "", "T": ".T", "-": "[::-1]"}[layout]

    def indices(self, shape, below) -> str:
        if not below and not self.missed():
            shape = (0,)
        top = below + 1 if self.missed() else below
        numbers = [str(self.rng.randrange(max(top, 1))) for _ in range(int(np.prod(shape)))]
        return f"np.array({nested(numbers, shape)}, int)"

    def key(self, shape) -> str:
        """What may stand between brackets: whole numbers, slices, lists, None, an ellipsis."""
        parts = []
        for length in shape[: self.rng.randint(0, len(shape))]:
            kind = self.rng.random()
            if kind < 0.3:
                out = self.missed()
                parts.append(str(length if out or not length else self.rng.randrange(-length, length)))
            elif kind < 0.8:
                parts.append(self.rng.choice([":", "1:", ":1", "::2", "::-1", ":-1", "0:0", "-2:"]))
            elif kind < 0.9 and not any("np" in part for part in parts):
                parts.append(self.indices((2,), length))
            else:
                parts.append("None")
        if self.rng.random() < 0.1:
            parts.insert(self.rng.randint(0, len(parts)), "...")
        return ", ".join(parts) or "..."


def nested(numbers, shape) -> str:
    """The source of nested lists of this shape."""
    if not shape:
        return numbers[0]
    step = len(numbers) // shape[0] if shape[0] else 0
    return "[" + ", ".join(nested(numbers[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


# -- of one operand: its settings ------------------------------------------------------------------


def of(fits=lambda d, x: True):
    """Makes a draw of a function of d and of the shape of one operand, which gives the settings.

    fits   fits(d, x): may x be that operand, a variable as the reference knows it?
    """

    def draw_of(settings):
        def draw(d):
            name = d.such(lambda x: fits(d, x))
            return name and ([name], settings(d, d.shape(name)))

        return draw

    return draw_of


def has_axes(d, x):
    return x.data.ndim > 0


def may_grow(d, x):
    return x.data.ndim < 4


def is_table(d, x):
    return x.data.ndim == 2


def needs_grad(d, x):
    return x.requires_grad or d.missed()


one = of()(lambda d, shape: {})
attended = of(lambda d, x: x.data.ndim >= 2)(lambda d, shape: {})
number = of()(lambda d, shape: {"k": d.rng.choice(NUMBERS)})
reduced = of()(lambda d, shape: {"axis": d.axes(len(shape)), "keepdims": d.rng.random() < 0.4})
along = of()(lambda d, shape: {"axis": d.axis(len(shape))})
rows = of(has_axes)(lambda d, shape: {"axis": d.axis(len(shape))})
swapped = of(has_axes)(lambda d, shape: {"i": d.axis(len(shape)), "j": d.axis(len(shape))})
unsqueezed = of(may_grow)(lambda d, shape: {"axis": d.axis(len(shape) + 1)})
indexed = of()(lambda d, shape: {"key": d.key(shape)})
assigned_number = of(has_axes)(lambda d, shape: {"key": d.key(shape), "k": d.rng.choice(NUMBERS)})
clamped = of()(lambda d, shape: {"low": d.rng.choice(["-1.0", "0.0"]), "high": d.rng.choice(["0.5", "2.0"])})
cast = of()(lambda d, shape: {"dtype": d.rng.choice(["'f4'", "'f8'"])})
parted = of(has_axes)(lambda d, shape: {"n": d.rng.choice([1, 2, 3]), "axis": d.axis(len(shape))})
written = of()(lambda d, shape: {"data": d.array(shape, "f4")})
hooked = of(needs_grad)(lambda d, shape: {"answer": d.rng.choice(["g * -2.0", "g * 0.5", "None"])})
wanting = of(needs_grad)(lambda d, shape: {})
flagged = of()(lambda d, shape: {"flag": d.rng.random() < 0.7})
graded = of(lambda d, x: x.grad is not None)(lambda d, shape: {})


@of()
def reshaped(d, shape):
    size = int(np.prod(shape))
    choices = [(-1,), (1, *shape), (*shape, 1), shape[::-1], (size, 1)] + [(4, 2)] * d.missed()
    return {"shape": d.rng.choice(choices)}


@of()
def permuted(d, shape):
    axes = d.rng.sample(range(len(shape)), len(shape))
    return {"axes": tuple(axes[:-1] if axes and d.missed() else axes)}


@of(lambda d, x: d.missed() or 1 in x.data.shape)
def squeezed(d, shape):
    ones = [i for i, n in enumerate(shape) if n == 1]
    return {"axis": d.rng.choice(ones) if ones and not d.missed() else d.axis(len(shape))}


@of(may_grow)
def expanded(d, shape):
    shape = tuple(d.rng.choice([2, 0]) if n == 1 and d.rng.random() < 0.5 else n for n in shape)
    shape = (2, *shape) if d.rng.random() < 0.5 else shape
    return {"shape": (*shape, 7) if d.missed() else shape}


@of(is_table)
def table(d, shape):
    return {"rows": d.indices(d.rng.choice([(2,), (3,), (2, 2)]), shape[0])}


@of(lambda d, x: is_table(d, x) and len(x.data) > 0)
def labelled(d, shape):
    return {"labels": d.indices(shape[:1], shape[1])}


def chosen_for_each(d, shape, choices):
    """The shape, seldom a wrong one, and numbers for it, as the source of nested lists."""
    shape = (*shape, 2) if d.missed() else shape
    return shape, nested([d.rng.choice(choices) for _ in range(int(np.prod(shape)))], shape)


@of()
def targets(d, shape):
    shape, numbers = chosen_for_each(d, shape, ["0.0", "1.0", "0.25"])
    return {"t": f"np.array({numbers}, 'f4').reshape({shape})"}


@of()
def filled(d, shape):
    shape, mask = chosen_for_each(d, shape, ["True", "False"])
    return {"mask": f"np.array({mask}, bool).reshape({shape})"}


@of(has_axes)
def narrowed(d, shape):
    return {"axis": d.axis(len(shape)), "start": d.rng.randrange(-1, 2), "length": d.rng.choice([0, 1, 1, 2])}


@of(needs_grad)
def root(d, shape):
    """∂L/∂(this) is left out for one number, as a rule."""
    missed, kept = d.missed(), d.keep or d.rng.random() < 0.4
    if np.prod(shape) == 1 and d.rng.random() < 0.6 or missed and d.rng.random() < 0.5:
        return {"up": "None", "retain": kept}
    up = f"np.ones({shape})" if d.odd else d.array((*shape, 2) if missed else shape)
    return {"up": up, "retain": kept}


# -- of several operands, or of none ----------------------------------------------------------------


def leaf(d):
    data = d.array(d.rng.choice(d.sizes), d.rng.choice(d.dtypes), order=True)
    return [], {"data": data, "grad": d.rng.random() < 0.8}


def broadcasts(a, b) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1]))


def two(d):
    """Two that broadcast; seldom two that do not."""
    a = d.name()
    b = a and d.name(lambda shape: d.missed() or broadcasts(shape, d.shape(a)))
    return b and ([a, b], {})


def equal(d):
    a = d.name()
    b = a and d.name(lambda shape: d.missed() or shape == d.shape(a))
    return b and ([a, b], {"axis": d.axis(len(d.shape(a)))})


def chosen(d):
    drawn = two(d)
    return drawn and ([*drawn[0], d.name(lambda shape: broadcasts(shape, d.shape(drawn[0][0])))], {"k": "0.1"})


def product(d):
    a = d.name(lambda shape: len(shape) > 0)
    inner = a and d.shape(a)[-1]
    b = a and d.name(lambda shape: d.missed() or (len(shape) > 0 and shape[-2:][0] == inner))
    return b and ([a, b], {})


def layer(d):
    x = d.name(lambda shape: len(shape) > 0)
    w = x and d.name(lambda shape: len(shape) == 2 and (d.missed() or shape[0] == d.shape(x)[-1]))
    return w and ([x, w], {"activation": d.rng.choice(["None", "'relu'", "'tanh'"])})


def assigned(d):
    x = d.name(lambda shape: len(shape) > 0)
    v = x and d.name()
    return v and ([x, v], {"key": d.key(d.shape(x))})


def gradient(d):
    """Of a tensor with respect to one that it may depend on."""
    drawn = root(d)
    below = drawn and d.such(lambda x: needs_grad(d, x))
    if not below:
        return None
    create = d.rng.random() < 0.5
    more = {"create": create, "unused": d.rng.random() < 0.6, "retain": create or d.rng.random() < 0.4}
    return [*drawn[0], below], drawn[1] | more


CHAINS = [  # of jit_compile: a few, since each is a kernel
    ("tanh({0} * {1}) + {0}", "np.tanh({0} * {1}) + {0}"),
    ("exp(-{0} * {0}) * {1}", "np.exp(-{0} * {0}) * {1}"),
    ("relu({0} - {1}) / (1 + {1} * {1})", "relu({0} - {1}) / (1 + {1} * {1})"),
    ("sum(sigmoid({0}) * {1})", "(sigmoid({0}) * {1}).sum()"),
    ("max({0} * 0.5 + {1} * 0.0)", "amax({0} * 0.5 + {1} * 0.0)"),  # what was broadcast ties
    ("min({0} * 0.5 + {1} * 0.0)", "amin({0} * 0.5 + {1} * 0.0)"),
    ("where(gt({0}, {1}), {0} * {1}, inf)", "where(re({0}) > re({1}), {0} * {1}, inf)"),
    ("maximum({0}, nan * {1}) + {0}", "maximum({0}, nan * {1}) + {0}"),
]
FUNCTIONS = "abs add clamp cos div eq exp ge gt log max maximum min minimum mul neg relu sigmoid sin sqrt sum tanh where".split()


def compiled(d):
    drawn = two(d)
    if not drawn:
        return None
    ours, numpy = d.rng.choice(CHAINS)
    for name in FUNCTIONS:
        ours = ours.replace(f" {name}(", f" ag.{name}(").replace(f"({name}(", f"(ag.{name}(")
        ours = "ag." + ours if ours.startswith(name + "(") else ours
    return drawn[0], {"chain": ours.format("u", "v"), "numpy": numpy.format(*drawn[0])}
