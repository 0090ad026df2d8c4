"""Is a gradient right? Three ways to find out without trusting any derivative rule.

central differences   every entry: ∂L/∂x ≈ (L(x + h) − L(x − h)) / ((x + h) − (x − h)); error ~ h²
Taylor remainder      one random direction v, no step to choose: |L(x + εv) − L(x) − ε⟨g, v⟩| falls like ε² if the
                      gradient g is right, and like ε if not
on the device         a function of numbers, evaluated at all perturbed points by one kernel launch

L = Σ upstream · f(inputs), where `upstream` is random: with ones, a backward that ignores it, or a softmax whose
gradient is zero, would pass. Everything takes callables and NumPy arrays, so it serves every engine. Step and
tolerance follow the precision that f computes in (Dennis and Schnabel 1983, section 5.4).
"""

from dataclasses import dataclass

import numpy as np


def numerical_gradient(f, inputs, upstream=None, step=None):
    """∂L/∂input by central differences: a list of float64 arrays, one for each input, of its shape.

    f          takes the inputs, arrays or numbers, and returns an array or a number
    inputs     a sequence of arrays or numbers; what is no float is taken as float64
    upstream   ∂L/∂f, of the shape of what f returns; may be left out if f returns one number:
               then it is 1
    step       relative: h = step · max(|x|, 0.1); by default 2·∛ε, 1.2e-5 in float64 and 1e-2 in
               float32

    Costs two calls of f for each number in the inputs, and one for the shape of its result.
    ValueError if `upstream` has not the shape of what f returns, or is left out although f returns
    more than one number.

    >>> numerical_gradient(lambda x, k: k * x**2, [np.array([1.0, 3.0]), 5.0], upstream=[1.0, 10.0])
    [array([ 10., 300.]), array(91.)]
    """
    inputs = as_float_arrays(inputs)
    output = evaluate(f, inputs)
    upstream = np.ones(()) if upstream is None else np.asarray(upstream, np.float64)
    if upstream.shape != output.shape:
        shapes = f"{output.shape}, so the upstream gradient needs that shape, not {upstream.shape}"
        raise ValueError(f"f returns shape {shapes}")
    step = step or default_step(inputs, output)
    gradients = [np.zeros(x.shape) for x in inputs]
    for x, gradient in zip(inputs, gradients):
        for index in np.ndindex(x.shape):
            here = x[index]
            h = step * size(here)
            above, below = x.dtype.type(here + h), x.dtype.type(here - h)
            x[index] = above
            high = evaluate(f, inputs)
            x[index] = below
            low = evaluate(f, inputs)
            x[index] = here
            gradient[index] = change(high, low, upstream) / (float(above) - float(below))
    return gradients


def gradcheck(f, gradient, inputs, rng=0, step=None, tolerance=None):
    """Hold `gradient(upstream, *inputs)` against central differences of f, under a random upstream gradient.

    gradient    returns ∂L/∂input for each input: a sequence of arrays, or the array itself where there is one input
    rng         a seed or a NumPy Generator, for the upstream gradient
    tolerance   relative, by default √ε of the precision that f computes in: 1.5e-8 in float64, 3.5e-4 in float32

    Allowed are the relative tolerance, the rounding of f divided by the step, and what doubling the step changes,
    which bounds the error of the differences themselves. Returns a Report, true where all is right. Keep inputs
    away from kinks: at 0, central differences of ReLU give 0.5.
    """
    inputs = as_float_arrays(inputs)
    output = evaluate(f, inputs)
    upstream = random_upstream(output, rng)
    got = call_gradient(gradient, upstream, inputs)
    step = step or default_step(inputs, output)
    expected = numerical_gradient(f, inputs, upstream, step)
    coarse = numerical_gradient(f, inputs, upstream, 2 * step)
    epsilon = precision(inputs, output)
    tolerance = tolerance or epsilon**0.5
    rounding = 4 * epsilon * np.linalg.norm(upstream * output)
    return Report(
        tuple(
            compare(e, g, tolerance * np.abs(e) + rounding / (step * size(x)) + np.abs(c - e), f"input {number}")
            for number, (x, e, c, g) in enumerate(zip(inputs, expected, coarse, got))
        )
    )


@dataclass(frozen=True)
class Worst:
    """The entry of one gradient that is furthest off, measured by what is allowed there."""

    name: str
    index: tuple
    expected: float
    got: float
    error: float
    tolerance: float
    reason: str = ""  # why nothing could be compared: no gradient, or one of another shape

    @property
    def ok(self):
        return not self.reason and self.error <= self.tolerance

    def __str__(self):
        verdict = f"{self.name}: {'right' if self.ok else 'WRONG'}"
        if self.reason:
            return f"{verdict}, {self.reason}"
        where = f" at {list(self.index)}" if self.index else ""
        return (
            f"{verdict}, worst{where}: expected {self.expected:.8g}, got {self.got:.8g},"
            f" error {self.error:.2g}, allowed {self.tolerance:.2g}"
        )


@dataclass(frozen=True)
class Report:
    """The outcome of `gradcheck`, one `Worst` for each input; true if all are right."""

    inputs: tuple

    @property
    def ok(self):
        return all(worst.ok for worst in self.inputs)

    def __bool__(self):
        return self.ok

    def __str__(self):
        return "\n".join(str(worst) for worst in self.inputs)


def compare(expected, got, tolerance, name="gradient"):
    """The worst entry of `got`, as a Worst. tolerance: absolute, a number or one for each entry. nan is never right."""
    nothing = dict(name=name, index=(), expected=np.nan, got=np.nan, error=np.inf, tolerance=0.0)
    if got is None:
        return Worst(**nothing, reason="there is no gradient: None")
    expected, got = np.asarray(expected, np.float64), np.asarray(got, np.float64)
    if got.shape != expected.shape:
        return Worst(**nothing, reason=f"the gradient has shape {got.shape}, but should have {expected.shape}")
    if not expected.size:
        return Worst(**nothing | dict(error=0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(got == expected, 0.0, np.abs(got - expected))
        error[np.isnan(error)] = np.inf
        tolerance = np.broadcast_to(tolerance, error.shape)
        excess = np.where(error > 0, error / tolerance, 0.0)
    index = np.unravel_index(np.argmax(np.nan_to_num(excess, nan=np.inf)), error.shape)
    return Worst(name, tuple(int(i) for i in index), *(float(a[index]) for a in (expected, got, error, tolerance)))


def taylor_remainders(f, gradient, x, v, steps):
    """What the first-order guess leaves: |f(x + ε v) − f(x) − ε Σ gradient · v| for each step ε.

    f          takes an array like x and returns a number
    gradient   ∂f/∂x at x, as a rule computes it, perhaps wrongly: an array like x
    x, v       arrays of one shape; they are not changed
    steps      numbers, in a list or an array; the result is a list of a number for each, in order

    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    >>> taylor_remainders(lambda x: np.sum(x**2), 2 * x, x, v, [0.5, 0.25])
    [0.25, 0.0625]
    """
    start, rise = f(x), np.sum(gradient * v)
    return [float(abs(f(x + step * v) - start - step * rise)) for step in steps]


def remainders_of(f, gradient, inputs, rng=0):
    """(steps ε, remainders |L(x + εv) − L(x) − ⟨g, εv⟩|, rounding), for one random direction v and halving ε.

    g = gradient(upstream, *inputs); |v| = 1, relative to max(|x|, 0.1). Remainders below `rounding` say nothing: it
    is a generous bound, since a function that cancels inside rounds more than its value shows.
    """
    rng = np.random.default_rng(rng)
    inputs = as_float_arrays(inputs)
    output = evaluate(f, inputs)
    upstream = random_upstream(output, rng)
    gradients = [np.asarray(g, np.float64) for g in call_gradient(gradient, upstream, inputs)]
    directions = [rng.standard_normal(x.shape) for x in inputs]
    length = np.sqrt(sum(np.sum(v * v) for v in directions))
    directions = [v / length * size(x) for v, x in zip(directions, inputs)]
    x, g, v = [np.concatenate([np.ravel(a).astype(np.float64) for a in s]) for s in (inputs, gradients, directions)]

    def rise(x):
        """L at x less L at the inputs; the difference is taken first, so that the rounding of a long sum cancels."""
        parts = np.split(x, np.cumsum([a.size for a in inputs])[:-1])
        moved = [part.reshape(a.shape).astype(a.dtype) for part, a in zip(parts, inputs)]
        return change(evaluate(f, moved), output, upstream)

    epsilon = precision(inputs, output)
    steps = 2.0 ** np.arange(-4, 0.45 * np.log2(epsilon), -1)
    known = np.linalg.norm(upstream * output) + np.sum([np.linalg.norm(g * x) for g, x in zip(gradients, inputs)])
    return steps, np.array(taylor_remainders(rise, g, x, v, steps)), float(50 * epsilon * known)


def taylor_check(f, gradient, inputs, rng=0):
    """Measure how the Taylor remainder falls with the step, as a TaylorReport: order 2 if the gradient is right.

    One direction, and where that looks wrong the middle one of three: where the curvature along a direction is next to
    nothing, two terms of the remainder may cancel at some step, and its fall is uneven there.
    """
    rng = np.random.default_rng(rng)
    report = along_one_direction(f, gradient, inputs, rng)
    if report.ok or np.isnan(report.order):
        return report
    reports = [report] + [along_one_direction(f, gradient, inputs, rng) for _ in range(2)]
    return sorted(reports, key=lambda report: np.nan_to_num(report.order, nan=0.0, posinf=np.inf))[1]


def along_one_direction(f, gradient, inputs, rng):
    """A TaylorReport: the order is the median over the three smallest steps whose remainders are no rounding."""
    steps, remainders, rounding = remainders_of(f, gradient, inputs, rng)
    if not np.all(np.isfinite(remainders)):
        return TaylorReport(np.nan, steps, remainders)
    orders = [np.log2(r / s) for r, s in zip(remainders, remainders[1:]) if min(r, s) > rounding]
    return TaylorReport(float(np.median(orders[-3:])) if orders else np.inf, steps, remainders)


@dataclass(frozen=True)
class TaylorReport:
    """The outcome of `taylor_check`: true if the remainder falls with the square of the step.

    order        its measured power of the step; inf where it is all rounding (f is linear), nan where f or g is not finite
    """

    order: float
    steps: np.ndarray
    remainders: np.ndarray

    @property
    def ok(self):
        return self.order > 1.5

    def __bool__(self):
        return self.ok

    def __str__(self):
        if self.order == np.inf:
            return "gradient right: nothing but rounding remains"
        return f"gradient {'right' if self.ok else 'WRONG'}: the remainder falls like h^{self.order:.2f}, expected h^2"


def device_gradient(f, inputs):
    """(f(inputs), ∂f/∂inputs), a float and a float64 array, measured on the OpenCL device by one kernel launch.

    f takes numbers and is written with + − * / **, exp(), log(), tanh(), sigmoid() and relu(); inputs: a sequence of
    numbers. Two points for each input and each operation, in float64 where the device has it, else in float32.
    Raises tinygrad_cl.opencl.NoDeviceError, and tinygrad_cl.traced.TooManyNodes for more than some 2,000 operations.
    """
    from tinygrad_cl import traced  # here, since nothing else in this module needs a device

    leaves = [traced.TracedValue(x) for x in inputs]
    value, gradients = traced.measure(traced.as_traced(f(*leaves)))
    return value, np.array([gradients.get(leaf, 0.0) for leaf in leaves])


def as_float_arrays(inputs):
    """Copies, as arrays of their own float type, or of float64."""
    arrays = [np.array(x) for x in inputs]
    return [x if np.issubdtype(x.dtype, np.floating) else x.astype(np.float64) for x in arrays]


def evaluate(f, inputs):
    """f of copies of the inputs (numbers where an input is one), as an array."""
    return np.array(f(*[x.copy()[()] for x in inputs]))


def call_gradient(gradient, upstream, inputs):
    """What `gradient` returns, one for each input, as a sequence even for one input."""
    got = gradient(upstream[()], *[x.copy()[()] for x in inputs])
    got = got if isinstance(got, (list, tuple)) else [got]
    if len(got) != len(inputs):
        raise ValueError(f"{len(got)} gradients came back for {len(inputs)} inputs")
    return got


def random_upstream(output, rng):
    """Of the output's shape and float type, both signs, away from 0 and not all alike."""
    rng = np.random.default_rng(rng)
    values = rng.choice([-1.0, 1.0], output.shape) * rng.uniform(0.5, 1.5, output.shape)
    return np.asarray(values, output.dtype if np.issubdtype(output.dtype, np.floating) else np.float64)


def precision(inputs, output):
    """The coarsest machine epsilon among the float types that take part."""
    floats = [x.dtype for x in [*inputs, output] if np.issubdtype(x.dtype, np.floating)]
    return max(float(np.finfo(dtype).eps) for dtype in floats)


def default_step(inputs, output):
    return 2 * precision(inputs, output) ** (1 / 3)


def size(x):
    """max(|x|, 0.1), by which a step at x is multiplied."""
    return np.maximum(np.abs(x, dtype=np.float64), 0.1)


def change(high, low, upstream):
    """L(high) − L(low), number by number and then added up: two long sums would lose digits."""
    return float(np.sum((high.astype(np.float64) - low) * upstream))
