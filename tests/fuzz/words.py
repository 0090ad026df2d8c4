"""The phrasebook of the fuzzer: each operation in the words of each engine, and how its operands and settings are drawn.

A word is a row of WORDS. {0} and {1} are variables of the program, {axis} and its like settings, all of them Python source. A text
that is None says that the engine lacks it. The text for "numpy" is read by the reference, also with complex numbers (see there).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

SPECIAL = ["inf", "-inf", "nan", "0.0", "-0.0", "88.0", "-104.0", "700.0", "1e18", "-1e-18"]
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


@dataclass(frozen=True)
class Word:
    """A row.

    draw      (operands, settings) from a Draw; None where nothing fits
    kind      "op", a new tensor; "cut", one without gradient; "change", in place; and what the reference knows by itself
    weight    how often
    flat      how many of the first operands get no gradient: a condition
    """

    name: str
    draw: Callable
    numpy: str
    tensor: str | None = None
    netcl: str | None = None
    torch: str | None = None
    kind: str = "op"
    weight: float = 1.0
    flat: int = 0


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


def method(name, numpy=None, torch=None, netcl=None, **more):
    """A function of each number that engine 2 has as a method, PyTorch too, and engine 3 as a function."""
    numpy = numpy or f"np.{name}({{0}})"
    return Word(name, one, numpy, f"{{0}}.{name}()", netcl or f"ag.{name}({{0}})", torch or f"{{0}}.{name}()", **more)


def only3(name, numpy, torch, draw=one, call=None, **more):
    """A word of engine 3 that engine 2 lacks."""
    return Word(name, draw, numpy, None, call or f"ag.{name}({{0}})", torch, **more)


def operator(sign, name, ours3=True):
    text = f"{{0}} {sign} {{1}}"
    return Word(name, two, text, text, text, text, weight=2)


def with_number(name, text, netcl=True):
    return Word(f"{name} number", number, text, text, text if netcl else None, text)


def change(name, draw, text, numpy, kind="change", torch=None):
    return Word(name, draw, numpy, text, None, torch or text, kind=kind)


def over(name, numpy, tensor, netcl, torch, **more):
    return Word(
        name,
        reduced,
        f"{numpy}({{0}}, axis={{axis}}, keepdims={{keepdims}})",
        f"{{0}}.{tensor}({{axis}}, keepdims={{keepdims}})",
        netcl and f"ag.{netcl}({{0}}, {{axis}}, {{keepdims}})",
        f"{torch}({{0}}, axes({{0}}, {{axis}}), keepdim={{keepdims}})",
        **more,
    )


def checkpointed(body, torch=None):
    """A checkpoint around a function of one tensor."""
    at = lambda body: body.format("u")
    return Word(
        f"checkpoint {body}",
        one,
        body.replace("{0}.tanh()", "np.tanh({0})").replace("{0}.exp()", "np.exp({0})"),
        f"checkpoint(lambda u: {at(body)}, {{0}})",
        None,
        f"checkpoint(lambda u: {at(body)}, {{0}}, use_reentrant=False)",
        weight=0.6,
    )


WORDS = [
    operator("+", "add"),
    operator("-", "sub"),
    operator("*", "mul"),
    operator("/", "div"),
    Word("pow", two, "power({0}, {1})", "{0} ** {1}", "{0} ** {1}", "{0} ** {1}", weight=0.7),
    Word("matmul", product, "matmul({0}, {1})", "{0} @ {1}", "{0} @ {1}", "{0} @ {1}", weight=2),
    with_number("add", "{0} + {k}"),
    with_number("sub from", "{k} - {0}"),
    with_number("mul", "{0} * {k}"),
    with_number("div", "{0} / {k}"),
    with_number("div from", "{k} / {0}"),
    Word("pow number", number, "power({0}, {k})", "{0} ** {k}", "{0} ** {k}", "{0} ** {k}", weight=1.5),
    Word("number pow", number, "power({k}, {0})", "({k}) ** {0}", "({k}) ** {0}", "({k}) ** {0}"),
    method("exp"),
    method("log"),
    method("log1p"),
    method("sqrt"),
    method("sin"),
    method("cos"),
    method("tanh"),
    method("relu", "relu({0})"),
    method("sigmoid", "sigmoid({0})"),
    method("abs", "absolute({0})"),
    Word("neg", one, "-{0}", "-{0}", "-{0}", "-{0}"),
    Word("gelu tanh", one, "gelu_tanh({0})", "{0}.gelu()", None, "F.gelu({0}, approximate='tanh')"),
    only3("gelu", "gelu({0})", "F.gelu({0})"),
    only3("rsqrt", "1 / np.sqrt({0})", "{0}.rsqrt()"),
    only3("reciprocal", "1 / {0}", "{0}.reciprocal()"),
    only3("square", "{0} * {0}", "{0}.square()"),
    only3("softplus", "softplus({0})", "F.softplus({0}, threshold=1e9)"),
    only3("swish", "{0} * sigmoid({0})", "F.silu({0})"),
    only3("elu", "elu({0})", "F.elu({0})"),
    only3("leaky_relu", "leaky_relu({0})", "F.leaky_relu({0})"),
    only3("clamp", "clamp({0}, {low}, {high})", "{0}.clamp({low}, {high})", clamped, "ag.clamp({0}, {low}, {high})"),
    Word("maximum", two, "maximum({0}, {1})", "{0}.maximum({1})", "ag.maximum({0}, {1})", "torch.maximum({0}, {1})"),
    Word("minimum", two, "minimum({0}, {1})", "{0}.minimum({1})", "ag.minimum({0}, {1})", "torch.minimum({0}, {1})"),
    Word(
        "where",
        chosen,
        "where(re({0}) > {k}, {1}, {2})",
        "where({0} > {k}, {1}, {2})",
        "ag.where(ag.gt({0}, {k}), {1}, {2})",
        "torch.where({0} > {k}, {1}, {2})",
        flat=1,
    ),
    over("sum", "np.sum", "sum", "sum", "torch.sum", weight=3),
    over("mean", "np.mean", "mean", "mean", "torch.mean", weight=1.5),
    over("max", "amax", "max", "max", "torch.amax", weight=1.5),
    over("min", "amin", "min", "min", "torch.amin"),
    over("var", "var", "var", None, "var"),
    Word("norm", one, "norm({0})", "{0}.norm()", None, "{0}.norm()"),
    Word(
        "softmax", rows, "softmax({0}, {axis})", "{0}.softmax({axis})", "ag.softmax({0}, {axis})", "{0}.softmax({axis})"
    ),
    Word(
        "log_softmax",
        rows,
        "log_softmax({0}, {axis})",
        "{0}.log_softmax({axis})",
        "ag.log_softmax({0}, {axis})",
        "{0}.log_softmax({axis})",
    ),
    only3("logsumexp", "logsumexp({0}, {axis})", "{0}.logsumexp({axis})", rows, "ag.logsumexp({0}, {axis})"),
    only3("layer_norm", "layer_norm({0})", "F.layer_norm({0}, {0}.shape[-1:])", rows),
    Word("cumsum", along, "cumsum({0}, {axis})", "{0}.cumsum({axis})", "ag.cumsum({0}, {axis})", "{0}.cumsum({axis})"),
    Word("flip", along, "np.flip({0}, {axis})", "{0}.flip({axis})", None, "{0}.flip({axis})"),
    Word(
        "reshape",
        reshaped,
        "{0}.reshape({shape})",
        "{0}.reshape({shape})",
        "ag.reshape({0}, {shape})",
        "{0}.reshape({shape})",
    ),
    Word("flatten", one, "{0}.reshape(-1)", "{0}.flatten()", None, "{0}.flatten()[...]"),
    Word(
        "permute",
        permuted,
        "np.transpose({0}, {axes})",
        "{0}.permute({axes})",
        "ag.transpose({0}, {axes})",
        "{0}.permute({axes})",
    ),
    Word(
        "transpose", swapped, "np.swapaxes({0}, {i}, {j})", "{0}.transpose({i}, {j})", None, "{0}.transpose({i}, {j})"
    ),
    Word("T", one, "np.transpose({0})", "{0}.T", "ag.transpose({0})", "{0}.permute(tuple(range({0}.ndim))[::-1])"),
    Word("mT", one, "np.swapaxes({0}, -1, -2)", "{0}.mT", None, "{0}.mT", weight=0.5),
    Word(
        "squeeze",
        squeezed,
        "np.squeeze({0}, {axis})",
        "{0}.squeeze({axis})",
        "ag.squeeze({0}, {axis})",
        "squeeze({0}, {axis})",
    ),
    Word(
        "unsqueeze",
        unsqueezed,
        "np.expand_dims({0}, {axis})",
        "{0}.unsqueeze({axis})",
        "ag.unsqueeze({0}, {axis})",
        "{0}.unsqueeze({axis})",
    ),
    Word(
        "expand",
        expanded,
        "np.broadcast_to({0}, {shape})",
        "{0}.expand({shape})",
        "ag.broadcast_to({0}, {shape})",
        "{0}.expand({shape})",
    ),
    Word(
        "cat",
        equal,
        "cat({0}, {1}, {axis})",
        "cat([{0}, {1}], {axis})",
        "ag.cat([{0}, {1}], {axis})",
        "torch.cat([{0}, {1}], {axis})",
    ),
    Word(
        "stack",
        equal,
        "np.stack([{0}, {1}], {axis})",
        "stack([{0}, {1}], {axis})",
        "ag.stack([{0}, {1}], {axis})",
        "torch.stack([{0}, {1}], {axis})",
    ),
    Word(
        "embedding",
        table,
        "embedding({rows}, {0})",
        "embedding({rows}, {0})",
        "ag.embedding({0}, {rows})",
        "F.embedding(torch.tensor({rows}), {0})",
    ),
    Word(
        "cross_entropy",
        labelled,
        "cross_entropy({0}, {labels})",
        "cross_entropy({0}, {labels})",
        "ag.cross_entropy({0}, {labels})",
        "F.cross_entropy({0}, torch.tensor({labels}))",
    ),
    Word("mse_loss", equal, "mse_loss({0}, {1})", "mse_loss({0}, {1})", "ag.mse_loss({0}, {1})", "mse_loss({0}, {1})"),
    only3("l1_loss", "l1_loss({0}, {1})", "F.l1_loss({0}, {1})", equal, "ag.l1_loss({0}, {1})"),
    Word(
        "bce_with_logits",
        targets,
        "bce_with_logits({0}, {t})",
        "binary_cross_entropy_with_logits({0}, {t})",
        "ag.bce_with_logits({0}, {t})",
        "F.binary_cross_entropy_with_logits({0}, torch.tensor({t}, dtype={0}.dtype))",
    ),
    Word("index", indexed, "{0}[{key}]", "{0}[{key}]", "{0}[{key}]", "{0}[known(np.s_[{key}])]", weight=3),
    only3(
        "narrow",
        "narrow({0}, {axis}, {start}, {length})",
        "{0}.narrow({axis}, {start}, {length})",
        narrowed,
        "ag.narrow({0}, {axis}, {start}, {length})",
    ),
    only3(
        "chunk", "chunk({0}, {n}, {axis})", "{0}.chunk({n}, {axis})[0].clone()", parted, "ag.chunk({0}, {n}, {axis})[0]"
    ),
    only3(
        "split", "split({0}, {n}, {axis})", "{0}.split({n}, {axis})[0].clone()", parted, "ag.split({0}, {n}, {axis})[0]"
    ),
    only3(
        "masked_fill",
        "masked_fill({0}, {mask}, 0.5)",
        "{0}.masked_fill(torch.tensor({mask}), 0.5)",
        filled,
        "ag.masked_fill({0}, {mask}, 0.5)",
    ),
    only3("attention", "attention({0})", "attention({0})", attended, "attention({0}, {0}, {0})"),
    only3(
        "linear",
        "linear({0}, {1}, {activation})",
        "linear({0}, {1}, {activation})",
        layer,
        "ag.linear({0}, {1}, activation={activation})",
    ),
    only3("jit_compile", "{numpy}", None, compiled, "ag.jit_compile(lambda u, v: {chain})({0}, {1})", weight=2),
    Word("clone", one, "{0}.copy()", "{0}.clone()", None, "{0}.clone()"),
    Word("detach", one, "{0}", "{0}.detach()", None, "{0}.detach()", kind="cut"),
    Word("cast", cast, "cast({0}, {dtype})", "{0}.astype({dtype})", None, "{0}.to(dtypes[{dtype}], copy=True)"),
    checkpointed("({0} * {0}).tanh()".replace("({0} * {0}).tanh()", "{0}.tanh() * {0}")),
    checkpointed("({0} * {0}).sum() + {0}.exp()"),
    change("iadd", two, "{0} += {1}", "{0} + {1}"),
    change("isub", two, "{0} -= {1}", "{0} - {1}"),
    change("imul", two, "{0} *= {1}", "{0} * {1}"),
    change("idiv", number, "{0} /= {k}", "{0} / {k}"),
    change("imul number", number, "{0} *= {k}", "{0} * {k}"),
    change("ipow", number, "{0} **= {k}", "power({0}, {k})"),
    change("zero_", one, "{0}.zero_()", "np.zeros_like({0})"),
    change("put", assigned, "{0}[{key}] = {1}", "put({0}, np.s_[{key}], {1})", torch="{0}[known(np.s_[{key}])] = {1}"),
    change(
        "put number",
        assigned_number,
        "{0}[{key}] = {k}",
        "put({0}, np.s_[{key}], {k})",
        torch="{0}[known(np.s_[{key}])] = {k}",
    ),
    Word("write", written, "{data}", None, "{0}.value.write({data})", None, kind="write"),
    Word(
        "leaf",
        leaf,
        "{data}",
        "Tensor({data}, requires_grad={grad})",
        "ag.tensor(Tensor.from_host(q, {data}), {grad})",
        "leaf({data}, {grad})",
        kind="leaf",
    ),
    Word(
        "backward",
        root,
        "",
        "{0}.backward({up}, retain_graph={retain})",
        "ag.Tape().backward({0}, {up})",
        "backward({0}, {up}, {retain})",
        kind="backward",
        weight=6,
    ),
    Word(
        "threads",
        root,
        "",
        "in_threads(lambda: {0}.backward({up}, retain_graph=True))",
        "in_threads(lambda: ag.Tape().backward({0}, {up}))",
        "in_threads(lambda: backward({0}, {up}, True))",
        kind="threads",
        weight=0.3,
    ),
    Word(
        "grad",
        gradient,
        "",
        "grad({0}, {1}, {up}, retain_graph={retain}, create_graph={create}, allow_unused={unused})[0]",
        None,
        "grad({0}, {1}, {up}, {retain}, {create}, {unused})",
        kind="grad",
        weight=3,
    ),
    Word("grad of", graded, "", "{0}.grad", None, "{0}.grad", kind="take"),
    Word("clear", graded, "", "{0}.grad = None", "{0}.grad = None", "{0}.grad = None", kind="clear"),
    Word(
        "hook",
        hooked,
        "",
        "{0}.register_hook(lambda g: {answer})",
        None,
        "{0}.register_hook(lambda g: {answer})",
        kind="hook",
        weight=1.5,
    ),
    Word("retain_grad", wanting, "", "{0}.retain_grad()", None, "{0}.retain_grad()", kind="retain", weight=1.5),
    Word("requires_grad_", flagged, "", "{0}.requires_grad_({flag})", None, "{0}.requires_grad_({flag})", kind="ask"),
    Word("requires_grad =", flagged, "", "{0}.requires_grad = {flag}", None, "{0}.requires_grad = {flag}", kind="ask"),
]
BY_NAME = {word.name: word for word in WORDS}

HEADERS = {
    "tensor": """
import numpy as np
from numpy import inf, nan

from fuzz.numbers import in_threads
from tinygrad_cl.tensor import *
""",
    "netcl": """
import numpy as np
from numpy import inf, nan

import tinygrad_cl.netcl.autograd as ag
from fuzz.numbers import in_threads
from tinygrad_cl.netcl.autograd import enable_grad, no_grad
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.nn.attention import scaled_dot_product_attention as attention

q = manager.default("auto").queue
""",
    "torch": """
import numpy as np
import torch
import torch.nn.functional as F
from numpy import inf, nan
from torch import enable_grad, no_grad, where
from torch.utils.checkpoint import checkpoint

from fuzz.numbers import in_threads

dtypes = {"f4": torch.float32, "f8": torch.float64}


def leaf(data, grad):
    return torch.tensor(data.copy(), requires_grad=grad)


def up(gradient, x):
    return None if gradient is None else torch.tensor(gradient, dtype=x.dtype)


def backward(x, gradient, retain):
    x.backward(up(gradient, x), retain_graph=retain)


def grad(y, x, gradient, retain, create, unused):
    return torch.autograd.grad(y, x, up(gradient, y), retain_graph=retain, create_graph=create, allow_unused=unused)[0]


def axes(x, axis):
    return tuple(range(x.ndim)) if axis is None else axis


def var(x, axes, keepdim):
    return torch.var(x, axes, correction=0, keepdim=keepdim)


def squeeze(x, axis):
    if x.ndim and x.shape[axis] != 1:
        raise ValueError("no axis of length 1")
    return x.squeeze(axis)


def mse_loss(a, b):
    if a.shape != b.shape:
        raise ValueError("shapes differ")
    return F.mse_loss(a, b)


def known(key):
    if any(isinstance(each, slice) and each.step == -1 for each in (key if isinstance(key, tuple) else (key,))):
        raise NotImplementedError("PyTorch has no negative steps")
    return key


def attention(x):
    return F.scaled_dot_product_attention(x, x, x)


def linear(x, w, activation):
    y = x @ w
    return getattr(torch, activation)(y) if activation else y
""",
}
