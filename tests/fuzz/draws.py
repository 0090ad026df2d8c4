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


def one(d):
    name = d.name()
    return name and ([name], {})


def number(d):
    name = d.name()
    return name and ([name], {"k": d.rng.choice(NUMBERS)})


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


def product(d):
    a = d.name(lambda shape: len(shape) > 0)
    inner = a and d.shape(a)[-1]
    b = a and d.name(lambda shape: d.missed() or (len(shape) > 0 and shape[-2:][0] == inner))
    return b and ([a, b], {})


def reduced(d):
    name = d.name()
    return name and ([name], {"axis": d.axes(len(d.shape(name))), "keepdims": d.rng.random() < 0.4})


def along(d):
    name = d.name()
    return name and ([name], {"axis": d.axis(len(d.shape(name)))})


def rows(d):
    name = d.name(lambda shape: len(shape) > 0)
    return name and ([name], {"axis": d.axis(len(d.shape(name)))})


def reshaped(d):
    name = d.name()
    if not name:
        return None
    shape = d.shape(name)
    size = int(np.prod(shape))
    choices = [(-1,), (1, *shape), (*shape, 1), shape[::-1], (size, 1)] + [(4, 2)] * d.missed()
    return [name], {"shape": d.rng.choice(choices)}


def permuted(d):
    name = d.name()
    if not name:
        return None
    axes = list(range(len(d.shape(name))))
    d.rng.shuffle(axes)
    axes = axes[:-1] if axes and d.missed() else axes
    return [name], {"axes": tuple(axes)}


def swapped(d):
    name = d.name(lambda shape: len(shape) > 0)
    return name and ([name], {"i": d.axis(len(d.shape(name))), "j": d.axis(len(d.shape(name)))})


def squeezed(d):
    name = d.name(lambda shape: d.missed() or 1 in shape)
    if not name:
        return None
    ones = [i for i, n in enumerate(d.shape(name)) if n == 1]
    return [name], {"axis": d.rng.choice(ones) if ones and not d.missed() else d.axis(len(d.shape(name)))}


def unsqueezed(d):
    name = d.name(lambda shape: len(shape) < 4)
    return name and ([name], {"axis": d.axis(len(d.shape(name)) + 1)})


def expanded(d):
    name = d.name(lambda shape: len(shape) < 4)
    if not name:
        return None
    shape = tuple(d.rng.choice([2, 0]) if n == 1 and d.rng.random() < 0.5 else n for n in d.shape(name))
    shape = (2, *shape) if d.rng.random() < 0.5 else shape
    return [name], {"shape": (*shape, 7) if d.missed() else shape}


def indexed(d):
    name = d.name()
    return name and ([name], {"key": d.key(d.shape(name))})


def chosen(d):
    drawn = two(d)
    return drawn and ([*drawn[0], d.name(lambda shape: broadcasts(shape, d.shape(drawn[0][0])))], {"k": "0.1"})


def table(d):
    name = d.name(lambda shape: len(shape) == 2)
    return name and ([name], {"rows": d.indices(d.rng.choice([(2,), (3,), (2, 2)]), d.shape(name)[0])})


def labelled(d):
    name = d.name(lambda shape: len(shape) == 2 and shape[0] > 0)
    return name and ([name], {"labels": d.indices(d.shape(name)[:1], d.shape(name)[1])})


def targets(d):
    name = d.name()
    if not name:
        return None
    shape = (*d.shape(name), 2) if d.missed() else d.shape(name)
    numbers = [d.rng.choice(["0.0", "1.0", "0.25"]) for _ in range(int(np.prod(shape)))]
    return [name], {"t": f"np.array({nested(numbers, shape)}, 'f4').reshape({shape})"}


def clamped(d):
    name = d.name()
    return name and ([name], {"low": d.rng.choice(["-1.0", "0.0"]), "high": d.rng.choice(["0.5", "2.0"])})


def cast(d):
    name = d.name()
    return name and ([name], {"dtype": d.rng.choice(["'f4'", "'f8'"])})


def parted(d):
    name = d.name(lambda shape: len(shape) > 0)
    return name and ([name], {"n": d.rng.choice([1, 2, 3]), "axis": d.axis(len(d.shape(name)))})


def narrowed(d):
    name = d.name(lambda shape: len(shape) > 0)
    if not name:
        return None
    axis = d.axis(len(d.shape(name)))
    start = d.rng.randrange(-1, 2)
    return [name], {"axis": axis, "start": start, "length": d.rng.choice([0, 1, 1, 2])}


def layer(d):
    x = d.name(lambda shape: len(shape) > 0)
    w = x and d.name(lambda shape: len(shape) == 2 and (d.missed() or shape[0] == d.shape(x)[-1]))
    return w and ([x, w], {"activation": d.rng.choice(["None", "'relu'", "'tanh'"])})


def filled(d):
    name = d.name()
    if not name:
        return None
    shape = (*d.shape(name), 2) if d.missed() else d.shape(name)
    mask = nested([d.rng.choice(["True", "False"]) for _ in range(int(np.prod(shape)))], shape)
    return [name], {"mask": f"np.array({mask}, bool).reshape({shape})"}


def attended(d):
    q = d.name(lambda shape: len(shape) >= 2)
    return q and ([q], {})


# -- what is not an operation: leaves, gradients, changes ------------------------------------------


def leaf(d):
    data = d.array(d.rng.choice(d.sizes), d.rng.choice(d.dtypes), order=True)
    return [], {"data": data, "grad": str(d.rng.random() < 0.8)}


def upstream(d, name):
    """∂L/∂(this): left out for one number, as a rule."""
    shape = d.shape(name)
    if np.prod(shape) == 1 and d.rng.random() < 0.6 or d.missed():
        return "None"
    return d.array((*shape, 2) if d.missed() else shape) if not d.odd else f"np.ones({shape})"


def root(d):
    name = d.such(lambda x: x.requires_grad or d.missed())
    return name and ([name], {"up": upstream(d, name), "retain": str(d.keep or d.rng.random() < 0.4)})


def gradient(d):
    """Of a tensor with respect to one or two that it may depend on."""
    drawn = root(d)
    below = drawn and d.such(lambda x: x.requires_grad or d.missed())
    if not below:
        return None
    (name,), settings = drawn
    create = d.rng.random() < 0.5
    unused = str(d.rng.random() < 0.6)
    return [name, below], settings | {
        "create": str(create),
        "unused": unused,
        "retain": str(create or d.rng.random() < 0.4),
    }


def hooked(d):
    name = d.such(lambda x: x.requires_grad or d.missed())
    return name and ([name], {"answer": d.rng.choice(["g * -2.0", "g * 0.5", "None"])})


def wanting(d):
    name = d.such(lambda x: x.requires_grad or d.missed())
    return name and ([name], {})


def flagged(d):
    name = d.name()
    return name and ([name], {"flag": str(d.rng.random() < 0.7)})


def graded(d):
    name = d.such(lambda x: x.grad is not None)
    return name and ([name], {})


def assigned(d):
    x = d.name(lambda shape: len(shape) > 0)
    v = x and d.name()
    return v and ([x, v], {"key": d.key(d.shape(x))})


def assigned_number(d):
    x = d.name(lambda shape: len(shape) > 0)
    return x and ([x], {"key": d.key(d.shape(x)), "k": d.rng.choice(NUMBERS)})


def written(d):
    name = d.name()
    return name and ([name], {"data": d.array(d.shape(name), "f4")})


CHAINS = [  # of jit_compile: a few, since each is a kernel
    ("tanh({0} * {1}) + {0}", "np.tanh({0} * {1}) + {0}"),
    ("exp(-{0} * {0}) * {1}", "np.exp(-{0} * {0}) * {1}"),
    ("relu({0} - {1}) / (1 + {1} * {1})", "relu({0} - {1}) / (1 + {1} * {1})"),
    ("sum(sigmoid({0}) * {1})", "(sigmoid({0}) * {1}).sum()"),
    ("where(gt({0}, {1}), {0} * {1}, inf)", "where(re({0}) > re({1}), {0} * {1}, inf)"),
    ("maximum({0}, nan * {1}) + {0}", "maximum({0}, nan * {1}) + {0}"),
]
FUNCTIONS = (
    "abs add clamp cos div eq exp ge gt log maximum minimum mul neg relu sigmoid sin sqrt sum tanh where".split()
)


def compiled(d):
    drawn = two(d)
    if not drawn:
        return None
    ours, numpy = d.rng.choice(CHAINS)
    for name in FUNCTIONS:
        ours = ours.replace(f" {name}(", f" ag.{name}(").replace(f"({name}(", f"(ag.{name}(")
        ours = "ag." + ours if ours.startswith(name + "(") else ours
    return drawn[0], {"chain": ours.format("u", "v"), "numpy": numpy.format(*drawn[0])}
