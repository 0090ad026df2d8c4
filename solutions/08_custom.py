# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08 · Custom: rules of your own
#
# So far you used derivatives that somebody else had worked out. Today you write your own: one that is false on purpose,
# one with a mask, one that does the work of three. Then two questions follow:
#
# 1. **Is my rule right?** We measure slopes, and see which mistakes that cannot find.
# 2. **Can my rule be differentiated again?** Then the engine computes gradients of gradients, too: curvature, Newton's
#    method, and a network that learns how to learn.
#
# Nine exercises. The engine is the finished one, `tinygrad_cl.tensor`: what you built in lesson 04, and more on top of
# it. So it can also differentiate a gradient once more.

# %% given
import math

import numpy as np

from autograder.notebook import check, predict
from tinygrad_cl.tensor import Tensor
from tinygrad_cl.tensor.core.function import Function
from tinygrad_cl.tensor.engine import grad, saved_bytes
from tinygrad_cl.tensor.optim import SGD, Adam
from tinygrad_cl.viz import Plot, draw, plot_lines, plot_losses, plot_step_size, plot_times
from tinygrad_cl.viz import seconds_per_call

# %% [markdown]
# A reminder, with a very small rule. `forward` gets arrays and returns an array. `backward` gets `grad`, the upstream
# gradient $\partial L/\partial y$, as a **tensor**. It returns one gradient for each input, computed with operators of
# tensors.

# %% demo
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


x = Tensor([1.0, -3.0], requires_grad=True)
y = Square.apply(x)
y.backward([1.0, 10.0])
print(x.grad)
draw(y)

# %% [markdown]
# ## 1 · A rule that is false on purpose
#
# To make a network small, its weights are rounded, say to multiples of a half. The curve of rounding is a staircase.
# Look at the slope that gradient descent would see:

# %% demo
line = np.linspace(-1.9, 1.9, 400)
plot_lines(line, {"what forward does": 0.5 * np.round(np.clip(line, -1, 1) / 0.5),
                  "what backward pretends": np.clip(line, -1, 1)},
           "Rounding to multiples of 0.5, between −1 and 1", "x", "y", markers=False)

# %% [markdown]
# ### Predict, then run
#
# At x = 0.3 the staircase gives 0.5. What is its true slope there? And what is the slope of the line that
# backward uses instead, "what backward pretends"?

# %% predict
stairs_guess = predict(true_slope=..., pretended_slope=...)

# %% demo
def stairs(x):
    return 0.5 * np.round(np.clip(x, -1, 1) / 0.5)


left, right = 0.3 - 1e-5, 0.3 + 1e-5
width = right - left
stairs_guess.compare(true_slope=(stairs(right) - stairs(left)) / width,
                     pretended_slope=(np.clip(right, -1, 1) - np.clip(left, -1, 1)) / width)

# %% [markdown]
# The true slope is 0, so with it no weight ever changes. So backward uses a false slope on purpose. The
# <dfn>straight-through estimator</dfn> is a backward that treats rounding as if nothing had been rounded, so that
# gradients pass. Before x is rounded, it is cut to the range from −limit to limit; in the picture limit is 1. Outside
# of this range the line of backward is flat, and there the gradient is 0.

# %% exercise="custom.quantize" own="an operation of the student's own, which is the point; the package has none like it"
class Quantize(Function):
    """The multiple of `step` that is nearest to x, after x was cut to −limit … limit.

    y = step · round(clip(x, −limit, limit) / step)
    ∂L/∂x = grad where −limit ≤ x ≤ limit, else 0     (as if nothing had been rounded)

    step, limit   options: positive numbers, for which there is no gradient

    >>> x = Tensor([0.3, -0.6, 5.0], requires_grad=True)
    >>> y = Quantize.apply(x, step=0.5, limit=1.0)
    >>> y.backward([1.0, 10.0, 100.0]); y.data, x.grad
    (array([ 0.5, -0.5,  1. ], dtype=float32), Tensor([ 1., 10.,  0.]))
    """

    @staticmethod
    def forward(ctx, x, step, limit):
        ### BEGIN SOLUTION
        ctx.save_for_backward(np.abs(x) <= limit)
        return step * np.round(np.clip(x, -limit, limit) / step)
        ### END SOLUTION

    @staticmethod
    def backward(ctx, grad):
        ### BEGIN SOLUTION
        (inside,) = ctx.saved_tensors
        return grad * inside
        ### END SOLUTION

# %% check="custom.quantize"

# %% [markdown]
# <details><summary>Hint 1</summary>NumPy has <code>np.clip</code> and <code>np.round</code>. First cut, then
# round.</details>
# <details><summary>Hint 2</summary>What must backward know of forward? Only where x was inside the limits: save
# <code>np.abs(x) &lt;= limit</code>, and multiply.</details>
# <details><summary>Hint 3</summary><code>ctx.saved_tensors</code> is a tuple, even if it holds only one:
# <code>(inside,) = ctx.saved_tensors</code>.</details>

# %% [markdown]
# Does the false slope help? Eight weights that may only be multiples of 0.25 are trained in three ways. The first way
# uses the true slope, the second your `Quantize`. The third is the *detach trick*, one line that needs no Function: it
# adds the rounding error (rounded w minus w) to w, as a constant. (Two of the three curves lie on each other. Which?)

# %% demo
rng = np.random.default_rng(0)
inputs = rng.normal(size=(64, 8))
targets = inputs @ rng.uniform(-1, 1, 8)


def straight_through(w):
    return Quantize.apply(w, step=0.25, limit=1.0)


def true_slope(w):  # .data cuts the graph: w is left with the slope of 0.0 * w, which is 0
    return Tensor(0.25 * np.round(w.data / 0.25)) + 0.0 * w


def detach_trick(w):
    return w + Tensor(0.25 * np.round(w.data / 0.25) - w.data)


def fit(rounded):
    w = Tensor(np.zeros(8), requires_grad=True)
    optimizer, losses = SGD([w], lr=0.02), []
    for _ in range(100):
        optimizer.zero_grad()
        loss = ((Tensor(inputs) @ rounded(w) - Tensor(targets)) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


plot_losses({"true slope": fit(true_slope), "straight-through": fit(straight_through),
             "detach trick": fit(detach_trick)}, "Fitting weights that are rounded")

# %% [markdown]
# ## 2 · Softmax with a mask
#
# A sentence has three words, and each word has a score. Another sentence of the batch has four words, so every row of
# the batch has four places. In the row of our sentence the last place holds a number that means nothing. A number that
# only fills a place is called *padding*.
#
# A <dfn>mask</dfn> is an array of truth values: true where an entry counts, false where it is left out. The entries
# that are left out get probability 0 and gradient 0.
#
# ```
# x       1.0   3.0   2.0   9.0        9.0 is padding
# mask    yes   yes   yes   no
# y       0.09  0.67  0.24  0          sums to 1 over what counts
# ```
#
# There are three traps:
#
# - The largest number must be subtracted before exp, or exp overflows: **which** largest number?
# - A row in which nothing counts must give zeros, not 0/0.
# - `backward` returns one gradient for each input. The mask is an input, too: its gradient is `None`.

# %% exercise="custom.masked_softmax" own="an operation of the student's own; engine 2 has Softmax without a mask, lesson 05"
class MaskedSoftmax(Function):
    """Softmax along the last axis over the entries where the mask is true; 0 elsewhere.

    y = mask · eˣ / Σ mask · eˣ; a row in which the mask is false throughout is all 0
    ∂L/∂x = y · (grad − Σ grad · y), the sum along the last axis; for the mask: None

    x      floats of shape (…, n), however large, masked or not
    mask   truth values, of x's shape or of one that broadcasts to it

    >>> x = Tensor([[0.0, 0.0, 9.0], [1.0, 2.0, 3.0]], requires_grad=True)
    >>> mask = np.array([[True, True, False], [False, False, False]])
    >>> y = MaskedSoftmax.apply(x, mask)
    >>> y.backward([[1.0, 3.0, 5.0], [1.0, 1.0, 1.0]])
    >>> y.detach()
    Tensor([[0.5, 0.5, 0. ],
            [0. , 0. , 0. ]])
    >>> x.grad
    Tensor([[-0.5,  0.5,  0. ],
            [ 0. ,  0. ,  0. ]])
    """

    @staticmethod
    def forward(ctx, x, mask):
        ### BEGIN SOLUTION
        kept = np.where(mask, x, -np.inf)
        largest = kept.max(axis=-1, keepdims=True)
        e = np.exp(kept - np.where(largest > -np.inf, largest, 0))
        total = e.sum(axis=-1, keepdims=True)
        y = e / np.where(total > 0, total, 1)
        ctx.save_for_backward(y)
        return y
        ### END SOLUTION

    @staticmethod
    def backward(ctx, grad):
        ### BEGIN SOLUTION
        (y,) = ctx.saved_tensors
        return y * (grad - (grad * y).sum(axis=-1, keepdims=True)), None
        ### END SOLUTION

# %% check="custom.masked_softmax"

# %% [markdown]
# <details><summary>Hint 1</summary><code>np.where(mask, x, -np.inf)</code>: exp makes 0 of it, and it is never the
# largest.</details>
# <details><summary>Hint 2</summary>In a row with nothing left the largest is −∞, and −∞ − (−∞) is no number. Subtract 0
# there, and divide by 1 in place of 0.</details>
# <details><summary>Hint 3</summary>Where y is 0, the formula gives 0 by itself: backward needs no mask.</details>

# %% [markdown]
# ## 3 · Three operations in one
#
# <dfn>SwiGLU</dfn>, used in many of today's language models, is the operation $y = a \cdot \sigma(a) \cdot b$, where σ
# is the sigmoid. Written with operators, it is three nodes. Each keeps what its own backward needs:

# %% demo
def composed(a, b):
    return a * a.sigmoid() * b


a = Tensor([0.5, -1.0], requires_grad=True)
b = Tensor([2.0, 3.0], requires_grad=True)
draw(composed(a, b))

# %% [markdown]
# ### Predict, then run
#
# With a and b of n numbers each: how many arrays of n numbers does the composed graph keep for backward? Mul keeps both
# factors, Sigmoid its result. An array that two nodes keep counts once. And how many does backward really need?

# %% predict
kept_guess = predict(composed=..., needed=...)

# %% demo
big = [Tensor(np.random.default_rng(i).normal(size=100_000), requires_grad=True) for i in (0, 1)]
kept_guess.compare(composed=saved_bytes(composed(*big)) / big[0].data.nbytes, needed=len(big))

# %% [markdown]
# a and b are enough: σ(a) is quickly computed again. But there is a rule for *how*, and it will matter in section 7:
# **compute it in `backward`, from saved inputs, with operators of tensors.**
#
# Why? When a gradient is to be differentiated again, the engine must know how each number in `backward` was computed. In
# the finished engine a saved input (or the saved result of `forward`) comes back as a tensor that still has its place in
# the graph. (In yours of lesson 04 it was a plain tensor.) An array that `forward` computed on the way and saved has no
# place in the graph. In `backward` it is a plain constant, and the
# engine does not know that it was computed from a.

# %% given
def sigmoid(x):
    """1 / (1 + e⁻ˣ) of an array, for forward; tensors have .sigmoid()."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)

# %% exercise="custom.swiglu" own="an operation of the student's own, which is the point; the package has none like it"
class SwiGLU(Function):
    """y = a · s · b with s = σ(a), as one node that keeps a and b for backward, and nothing else.

    ∂L/∂a = grad · b · s · (1 + a · (1 − s))
    ∂L/∂b = grad · a · s

    a, b   arrays of one shape, or of two that broadcast: the engine sums the gradients down

    >>> a = Tensor([0.0, 2.0], requires_grad=True); b = Tensor([4.0, 4.0], requires_grad=True)
    >>> y = SwiGLU.apply(a, b); y.backward([1.0, 10.0]); y
    Tensor([0.    , 7.0464], grad_fn=<SwiGLUBackward>)
    >>> a.grad, b.grad
    (Tensor([ 2.    , 43.6314]), Tensor([ 0.    , 17.6159]))
    """

    @staticmethod
    def forward(ctx, a, b):
        ### BEGIN SOLUTION
        ctx.save_for_backward(a, b)
        return a * sigmoid(a) * b
        ### END SOLUTION

    @staticmethod
    def backward(ctx, grad):
        ### BEGIN SOLUTION
        a, b = ctx.saved_tensors
        s = a.sigmoid()
        return grad * b * s * (1 + a * (1 - s)), grad * a * s
        ### END SOLUTION

# %% check="custom.swiglu"

# %% [markdown]
# <details><summary>Hint 1</summary>In forward a and b are arrays, so it is <code>sigmoid(a)</code>. In backward they come
# back as tensors, so it is <code>a.sigmoid()</code>.</details>
# <details><summary>Hint 2</summary>No <code>.data</code>, no <code>np.</code> in backward: those leave the graph, and
# then there is no gradient of the gradient.</details>

# %% [markdown]
# To <dfn>fuse</dfn> operations means to make one operation of several. What did it save here, on 100,000 numbers?
# Memory. The time may get longer or shorter: NumPy still runs one operation after the other, and σ is computed twice.
# In lesson 11 one kernel does all of it, and then fusing can save time, too.

# %% demo
def there_and_back(f):
    up = np.ones(big[0].shape)

    def run():
        f(*big).backward(up)
    return seconds_per_call(run, 0.3)


for name, f in {"composed": composed, "fused": SwiGLU.apply}.items():
    nodes, todo = set(), [f(*big).grad_fn]
    while todo:
        node = todo.pop()
        if hasattr(node, "next_nodes") and node not in nodes:
            nodes.add(node)
            todo += [below for below in node.next_nodes if below is not None]
    kept = saved_bytes(f(*big))
    print(f"{name:9} nodes: {len(nodes)}   kept: {kept / 1e6:.1f} MB   "
          f"forward + backward: {1e3 * there_and_back(f):.2f} ms")

# %% [markdown]
# ## Is the rule right?
#
# You derived nothing here, you copied a formula, and it is easy to make a mistake. A <dfn>gradient check</dfn> compares
# what a rule returns with slopes that were measured. Ours measures as in lesson 01, by central differences: move each
# number a little up and a little down, and see how far the result moves. (A *one-sided* difference moves the number only
# up.) Arrays bring three new things:
#
# - The result is an array, so we need **one** number to watch: $L = \sum \text{upstream} \cdot f(x)$.
# - float32 has 7 digits, float64 has 16. So the best step is not the same for both.
# - x + h is rounded, too. In float32 the step that is really taken differs from h.
#
# How large should the step be? There are two errors: with a smaller step one of them gets smaller, and the other gets
# larger.

# %% [markdown]
# ### Predict, then run
#
# Take central differences of sin. The best step is a power of ten: which exponent for float32, which for float64? (In
# lesson 01 you saw float64.)

# %% predict
exponent_guess = predict(float32=..., float64=...)  # whole numbers, such as -3

# %% demo
def sine_error(dtype, h, central):
    """The worst error of the measured slope of sin at forty points."""
    x = (0.1 + np.arange(40) / 50).astype(dtype)
    above, below = x + dtype(h), x - dtype(h) if central else x
    rise = (np.sin(above) - np.sin(below)).astype(np.float64)
    run = above.astype(np.float64) - below
    with np.errstate(all="ignore"):
        return np.max(np.abs(rise / run - np.cos(x.astype(np.float64))))


sizes = 10 ** np.arange(-13, 0.1, 0.25)
errors = {f"{dtype.__name__}, {name}": [sine_error(dtype, h, central) for h in sizes]
          for dtype in (np.float32, np.float64)
          for name, central in (("one-sided", False), ("central", True))}
best = {name: sizes[np.nanargmin(curve)] for name, curve in errors.items()}
exponent_guess.compare(float32=round(np.log10(best["float32, central"])),
                       float64=round(np.log10(best["float64, central"])))
for name, h in best.items():
    print(f"{name:18} best h = {h:.0e}, error {min(e for e in errors[name] if e == e):.0e}")
plot = plot_step_size(sizes, errors, "Error of a measured slope")
plot.axes.set_ylim(1e-12, 10)
plot

# %% [markdown]
# On the right the step is large, and the curve of sin is not a straight line over such a step. This error grows like
# $h^2$. With one-sided differences it grows like $h$, and for a small h that is more. On the left there is only
# rounding, an error of about $\varepsilon / h$. The <dfn>machine epsilon</dfn>, written ε, is the gap between 1 and the
# next number that a float type can hold.
#
# The sum of both errors is smallest near $h = \sqrt[3]{\varepsilon}$ (one-sided: near $\sqrt{\varepsilon}$, and never
# as good). In float32 the curves end early: for a smaller h, x + h **is** x.
#
# The helpers below choose the step by that rule. Read their first lines; you use them in the next exercise.

# %% given source="tinygrad_cl.gradcheck:as_float_arrays tinygrad_cl.gradcheck:evaluate tinygrad_cl.gradcheck:precision tinygrad_cl.gradcheck:default_step tinygrad_cl.gradcheck:size tinygrad_cl.gradcheck:change"

# %% [markdown]
# ## 4 · Every number, a little up, a little down
#
# For one number of one input:
#
# ```
# x[i] = above             high = f(inputs)
# x[i] = below             low  = f(inputs)      slope = (L(high) − L(low)) / (above − below)
# x[i] = what it was
# ```
#
# (An input may also be a single number, an array of shape (). It has one element x[i], and the index i is the empty
# tuple.)
#
# `change(high, low, upstream)` is L(high) − L(low). `size(x)` is not a number of elements here: it is max(|x|, 0.1), and
# the step is h = step · size(x[i]). Large numbers need larger steps, since the next float is further away from them.

# %% exercise="custom.numerical" source="tinygrad_cl.gradcheck:numerical_gradient"

# %% check="custom.numerical"

# %% [markdown]
# <details><summary>Hint 1</summary>Begin with <code>inputs = as_float_arrays(inputs)</code>: copies, which you may
# change. Then <code>output = evaluate(f, inputs)</code>, to know its shape.</details>
# <details><summary>Hint 2</summary><code>for index in np.ndindex(x.shape):</code> walks over all numbers of an array of
# any shape, also of shape ().</details>
# <details><summary>Hint 3</summary>Write <code>above = x.dtype.type(here + h)</code>: the number that is really stored.
# Divide by <code>float(above) - float(below)</code>.</details>

# %% [markdown]
# Are your three rules right? `trial` compares backward with your `numerical_gradient`, for an upstream gradient of your
# choice, and returns the largest difference.

# %% demo
def trial(f, inputs, upstream):
    leaves = [Tensor(x, requires_grad=True) for x in inputs]
    f(*leaves).backward(upstream)
    measured = numerical_gradient(lambda *arrays: f(*map(Tensor, arrays)).data, inputs, upstream)
    return max(np.max(np.abs(leaf.grad.data - m)) for leaf, m in zip(leaves, measured))


rng = np.random.default_rng(1)
x, x2, upstream = rng.normal(size=(3, 3, 5))
mask = np.array([[1, 1, 0, 1, 1], [0, 1, 1, 0, 1], [0, 0, 0, 0, 0]], bool)
softmax_error = trial(lambda x: MaskedSoftmax.apply(x, mask), [x], upstream)
quantize_error = trial(lambda x: Quantize.apply(x, step=0.5, limit=1.0), [x], upstream)
print(f"MaskedSoftmax {softmax_error:.0e}")
print(f"SwiGLU        {trial(SwiGLU.apply, [x, x2], upstream):.0e}")
print(f"Quantize      {quantize_error:.0e}  ← a lie, as intended")

# %% [markdown]
# ## What the gradient check cannot see
#
# Here are four operations whose `backward` is wrong. Soon you check them, first with the upstream gradient that many
# people try first: an array of ones.

# %% demo
class LazyLog(Function):
    """The upstream gradient is forgotten."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.log(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 1 / x


class LazyTranspose(Function):
    """The gradient is not transposed back."""

    @staticmethod
    def forward(ctx, x):
        return x.T

    @staticmethod
    def backward(ctx, grad):
        return grad


class LazyReLU(Function):
    """The upstream gradient is forgotten: only the mask is left."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x > 0)
        return np.maximum(x, 0)

    @staticmethod
    def backward(ctx, grad):
        (mask,) = ctx.saved_tensors
        return mask * 1.0


class LazySoftmax(Function):
    """No gradient at all."""

    @staticmethod
    def forward(ctx, x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    @staticmethod
    def backward(ctx, grad):
        return 0.0 * grad

# %% [markdown]
# ### Predict, then run
#
# How many of the four pass with ones? How many with a random upstream gradient? (x is a square matrix of positive
# numbers.)

# %% predict
pass_guess = predict(with_ones=..., with_random=...)

# %% demo
x = np.random.default_rng(2).uniform(0.5, 2.0, (3, 3))
upstreams = {"ones": np.ones((3, 3)), "random": np.random.default_rng(3).normal(size=(3, 3))}
table = {f.__name__: {name: trial(f.apply, [x], up) for name, up in upstreams.items()}
         for f in (LazyLog, LazyTranspose, LazyReLU, LazySoftmax)}
pass_guess.compare(**{f"with_{name}": sum(row[name] < 1e-6 for row in table.values())
                      for name in upstreams})
print(f"\n{'worst error':14}" + "".join(f"{name:>10}" for name in upstreams))
for name, row in table.items():
    print(f"{name:14}" + "".join(f"{error:10.0e}" for error in row.values()))

# %% [markdown]
# With ones, L is the sum of all results. Each row of a softmax sums to 1, so L is the number of rows, here 3, whatever
# x is: its gradient **is** zero. A forgotten factor of 1 changes nothing. And a square matrix of ones is its own
# transpose, so a forgotten transpose changes nothing either.
#
# So check with a random upstream gradient, with shapes that are not square, and with numbers of both signs (here x was
# positive everywhere, so the flat side of ReLU was never tried).
#
# The gradient check fails in a second place, too. A <dfn>kink</dfn> is a place where a curve has a corner and so no
# slope, such as ReLU at 0. Central differences across a kink mix the slopes of both sides:

# %% demo
for where in (0.0, 5e-7, 1e-4):
    (slope,) = numerical_gradient(lambda x: np.maximum(x, 0), [where])
    rule = Tensor(where, requires_grad=True)
    rule.relu().backward()
    print(f"ReLU at {where:g}: measured {float(slope):.3f}, by rule {rule.grad.item():g}")

# %% [markdown]
# At the kink there is no slope, so neither number is wrong. At 5e-7 the slope is 1, and the measured number is wrong:
# one of its two points lies on the other side of the kink. So check a rule away from kinks. What it gives exactly at a
# kink needs a test of its own.

# %% [markdown]
# ## 5 · One direction in place of all
#
# Central differences take two runs of f for each number: a layer of 100 × 100 weights needs 20,000 runs. One direction
# is cheaper. Walk along **one** random direction v, all numbers at once. Each number $x_i$ moves by $h v_i$, and f
# moves by $g_i$ times that, where g is the gradient of f. So the slope along v must be the sum of all $g_i v_i$, which
# is also written ⟨g, v⟩:
#
# $$\frac{f(x + h v) - f(x - h v)}{2 h} \;\approx\; \sum_i g_i v_i$$
#
# That takes two runs, for any number of inputs.

# %% exercise="custom.direction" own="one direction by hand; gradcheck.gradcheck draws directions, chooses the step and reports"
def slope_along(f, gradient, x, v, h=1e-5):
    """(measured, by_rule): how fast f moves when x walks along v, in two ways.

    measured   (f(x + h v) − f(x − h v)) / (2 h), from two calls of f
    by_rule    Σ gradient · v, one number

    f          takes an array like x and returns a number
    gradient   ∂f/∂x at x, as a rule computes it, perhaps wrongly: an array like x
    x, v       arrays of one shape; they are not changed

    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    >>> [round(float(s), 6) for s in slope_along(lambda x: np.sum(x**3), 3 * x**2, x, v)]
    [-9.0, -9.0]
    """
    ### BEGIN SOLUTION
    measured = (f(x + h * v) - f(x - h * v)) / (2 * h)
    return measured, np.sum(gradient * v)
    ### END SOLUTION

# %% check="custom.direction"

# %% [markdown]
# <details><summary>Hint</summary><code>np.sum(gradient * v)</code> multiplies number by number, whatever the shape.
# <code>gradient @ v</code> does so only for vectors.</details>

# %% [markdown]
# Does one direction find every mistake? Here is a gradient with 10,000 entries. All are right, except **one** that has
# the wrong sign:

# %% demo
rng = np.random.default_rng(4)
layer = rng.normal(size=(100, 100))
right = np.cos(layer)
wrong = right.copy()
wrong[37, 73] *= -1

for attempt in range(4):
    v = rng.normal(size=layer.shape)
    measured, by_right = slope_along(lambda x: np.sum(np.sin(x)), right, layer, v)
    by_wrong = np.sum(wrong * v)
    print(f"direction {attempt + 1}: right gradient is off by {abs(by_right - measured):.0e},"
          f" the wrong one by {abs(by_wrong - measured):.0e}")

# %% [markdown]
# It finds one wrong entry in ten thousand, since all other errors are much smaller here. It cannot say which entry is
# wrong. To find that, move single numbers, as in section 4.

# %% [markdown]
# ## 6 · A check without a step to choose
#
# So far a good step h had to be chosen. This check needs no such choice: it takes many steps ε, smaller and smaller.
# (From here on ε is a step, not the machine epsilon.) From f(x) and the slope one can guess f(x + ε v): the
# *first-order guess* is f(x) + ε ⟨g, v⟩. The <dfn>Taylor remainder</dfn> of a function f is how far f(x + ε v) is from
# f(x) plus ε times the slope along v. As a formula:
#
# $$r(\varepsilon) = \left| f(x + \varepsilon v) - f(x) - \varepsilon \, \langle g, v \rangle \right|$$
#
# The <dfn>curvature</dfn> of a function says how fast its slope changes. If g is right, the first-order guess is wrong
# only because of the curvature: the slope of f changes between x and x + ε v. For small steps this remainder shrinks
# like ε²: half the step leaves a **quarter** of it. If g is a little wrong, the remainder shrinks only like ε: half the
# step leaves a half.

# %% exercise="custom.taylor" source="tinygrad_cl.gradcheck:taylor_remainders"

# %% check="custom.taylor"

# %% [markdown]
# <details><summary>Hint</summary>f(x) and Σ gradient · v are the same for every step: compute them once, before the
# loop.</details>

# %% [markdown]
# Here are two gradients of the same function. One is right, the other is too large by a hundredth. Which is right?

# %% demo
v = np.random.default_rng(5).normal(size=layer.shape) / 100
steps = 2.0 ** np.arange(0, -16, -1)


def bumpy(x):
    return np.sum(np.sin(x) * x)


slope = np.cos(layer) * layer + np.sin(layer)
curves = {name: taylor_remainders(bumpy, g, layer, v, steps)
          for name, g in {"gradient 1": slope, "gradient 2": 1.01 * slope}.items()}
for name, rest in curves.items():
    print(f"{name}: half the step, 1/{rest[8] / rest[9]:.1f} of the rest")
plot_lines(steps, curves, "What the first-order guess leaves", "step ε", "remainder", log="xy")

# %% [markdown]
# If half the step leaves 1/4 of the remainder, the gradient is right: the remainder is of *order* $\varepsilon^2$,
# which means that it shrinks like ε². If half the step leaves 1/2, the gradient is wrong: order ε. You had to choose no
# best step, and no limit below which an error counts as small. At the left end the remainders are as small as the
# rounding errors: there the line bends, and says nothing about the gradient.
#
# This course's `tinygrad_cl.gradcheck` has such checks ready: `gradcheck` with central differences, `taylor_check`, and
# `device_gradient`, which measures on the device, as in lesson 01.

# %% [markdown]
# ## Gradients of gradients
#
# `backward` is made of operators of tensors. So the engine can record it like any other computation. Then the gradient
# is a tensor with a graph of its own, and it can be differentiated again.
#
# The engine's function for this is `grad(y, x)`. Here y holds one number, and x is a tensor or a list of tensors. It
# returns a tuple, with ∂y/∂x for each of them, and leaves `x.grad` as it is. (In a `backward`, the name `grad` still
# means the upstream gradient.) With <dfn>create_graph</dfn>=True, the engine records the backward pass, so that its
# gradients can be differentiated again.

# %% demo
x = Tensor([2.0], requires_grad=True)
y = (x * x * x).sum()
(first,) = grad(y, x, create_graph=True)
(second,) = grad(first.sum(), x, create_graph=True)
(third,) = grad(second.sum(), x)
print("x³ at 2:", y.item(), "  3x²:", first.item(), "  6x:", second.item(), "  6:", third.item())
draw(first)

# %% [markdown]
# That is the graph of 3x². Nobody wrote a rule for it: it is made of the derivatives of `*` and of the sum.

# %% [markdown]
# ## 7 · Curvature along a direction
#
# The second derivatives of a function of n inputs are an n × n matrix H, the <dfn>Hessian</dfn>: $H_{ij}$ says how fast
# the slope $g_i$ changes when $x_j$ moves. For a million weights it fits into no memory.
#
# But H **times a vector** needs no H. When x walks along v, the gradient changes: H v says how fast each of its entries
# changes. How do we compute it? The gradient g is a function of x, and ⟨g, v⟩ = $\sum_i g_i v_i$ is one number. Its
# derivative with respect to $x_j$ is $\sum_i H_{ij} v_i$. That is entry j of H v, since $H_{ij} = H_{ji}$ (the order of
# two derivatives does not matter). With $\nabla_x$ for "the gradient with respect to x":
#
# $$\nabla_x \langle g(x), v \rangle = H v.$$
#
# ```
# x ──f──▶ number ──grad──▶ g ──· v──▶ number ──grad──▶ H v
# ```
#
# A <dfn>Hessian-vector product</dfn>, H times a vector v, takes two backward passes, and the matrix H is never built.

# %% exercise="custom.hvp" own="a user of engine 2: gradients of gradients"
def hvp(f, x, v):
    """The Hessian of f at x, times v: an array of x's shape, by two backward passes.

    f      takes a tensor like x and returns a tensor of one number; its gradient depends on x
    x, v   arrays of one shape; they are not changed

    First g = ∂f/∂x, with create_graph=True; then the gradient of Σ g · v. The matrix is never made.

    >>> hvp(lambda x: (x * x * x).sum(), np.array([1.0, 2.0]), np.array([1.0, 10.0]))
    array([  6., 120.])
    """
    ### BEGIN SOLUTION
    x = Tensor(x, requires_grad=True)
    (gradient,) = grad(f(x), x, create_graph=True)
    (product,) = grad((gradient * v).sum(), x)
    return product.data
    ### END SOLUTION

# %% check="custom.hvp"

# %% [markdown]
# <details><summary>Hint 1</summary><code>grad</code> returns a tuple, one gradient for each input: <code>(gradient,) =
# grad(…)</code>.</details>
# <details><summary>Hint 2</summary>f wants a tensor that requires a gradient:
# <code>Tensor(x, requires_grad=True)</code>. An array of float64 stays float64 in it.</details>
# <details><summary>Hint 3</summary>The second call is <code>grad((gradient * v).sum(), x)</code>, and the array in its
# result is <code>.data</code>.</details>

# %% [markdown]
# Section 3 had a rule: compute s in `backward`, from saved inputs, with operators of tensors. Now you see why. Below is
# a second SwiGLU. It saves s in `forward`, where s is computed anyway. Its gradient is right; every gradient check so
# far says so. Compare H v with a central difference of the *gradient*: the gradient at x + h v minus the gradient at x
# − h v, divided by 2 h.

# %% demo
class HastySwiGLU(Function):
    @staticmethod
    def forward(ctx, a, b):
        s = sigmoid(a)
        ctx.save_for_backward(a, b, s)
        return a * s * b

    @staticmethod
    def backward(ctx, grad):
        a, b, s = ctx.saved_tensors
        return grad * b * s * (1 + a * (1 - s)), grad * a * s


rng = np.random.default_rng(6)
a, b, v, up = rng.normal(size=(4, 5))
for function in (SwiGLU, HastySwiGLU):
    def f(x):
        return (function.apply(x, Tensor(b)) * up).sum()

    def gradient_of_f(x):
        x = Tensor(x, requires_grad=True)
        return grad(f(x), x)[0].data

    measured = (gradient_of_f(a + 1e-5 * v) - gradient_of_f(a - 1e-5 * v)) / 2e-5
    print(f"{function.__name__:12} gradient off by {trial(function.apply, [a, b], up):.0e},"
          f" H·v off by {np.max(np.abs(hvp(f, a, v) - measured)):.0e}")

# %% [markdown]
# ## 8 · Newton's step
#
# Gradient descent knows which way is down, but not how far. <dfn>Newton's method</dfn> steps to the bottom of a parabola
# that stands in for the function f. At the current point x the parabola has the same value, the same gradient g and the
# same Hessian H. So the step uses the curvature, too.
#
# Where is that bottom? H d says how much the gradient changes on a step d, and for a parabola H is the same everywhere.
# So after the step d its gradient is g + H d, and at the bottom that is 0. So d is −H⁻¹ g, where H⁻¹ g is the vector u
# for which H u = g:
#
# $$x_{\text{new}} = x - H^{-1} g$$
#
# Column i of H is H times the unit vector $e_i$, which is 1 at place i and 0 elsewhere. So n products H v give the
# whole matrix. That is fine for ten weights.

# %% exercise="custom.newton" own="a user of engine 2: gradients of gradients"
def newton_step(f, x):
    """Where the parabola through f at x has its bottom: x − H⁻¹ g, a new array.

    f   takes a tensor of shape (n,) and returns a tensor of one number
    x   an array of shape (n,); it is not changed

    Build H from n Hessian-vector products; solve with np.linalg.solve.

    >>> newton_step(lambda x: ((x - 3.0) ** 2 * Tensor([1.0, 50.0])).sum(), np.array([7.0, -2.0]))
    array([3., 3.])
    """
    ### BEGIN SOLUTION
    leaf = Tensor(x, requires_grad=True)
    (gradient,) = grad(f(leaf), leaf)
    hessian = np.stack([hvp(f, x, e) for e in np.eye(len(x))])
    return x - np.linalg.solve(hessian, gradient.data)
    ### END SOLUTION

# %% check="custom.newton"

# %% [markdown]
# <details><summary>Hint 1</summary>The rows of <code>np.eye(n)</code> are the unit vectors.</details>
# <details><summary>Hint 2</summary><code>np.linalg.solve(H, g)</code> is H⁻¹ g.</details>

# %% [markdown]
# ### Predict, then run
#
# The function $\sum c_i (x_i - 3)^2$ is a parabola in ten dimensions, shaped like a bowl. Its last $c_i$ is a thousand
# times as large as its first. How many Newton steps lead to the bottom? The function `valley` below is no parabola. Are
# ten steps enough for it? (1 for yes, 0 for no.)

# %% predict
newton_guess = predict(steps_in_the_bowl=..., ten_are_enough_in_the_valley=...)

# %% demo
def bowl(x):
    return (Tensor(np.geomspace(1, 1000, 10)) * (x - 3.0) ** 2).sum()


def valley(x):  # Rosenbrock's function: the bottom is at (1, 1)
    return 100.0 * (x[1] - x[0] * x[0]) ** 2 + (1.0 - x[0]) ** 2


def newton_path(f, x, most=20):
    path = [x]
    while len(path) <= most and f(Tensor(path[-1])).item() > 1e-12:
        path.append(newton_step(f, path[-1]))
    return np.array(path)


def descent_path(f, x, lr, count):
    path = [x]
    for _ in range(count):
        leaf = Tensor(path[-1], requires_grad=True)
        path.append(path[-1] - lr * grad(f(leaf), leaf)[0].data)
    return np.array(path)


in_bowl = newton_path(bowl, np.zeros(10))
start = np.array([-1.2, 1.0])
newton, descent = newton_path(valley, start), descent_path(valley, start, 1e-3, 3000)
newton_guess.compare(steps_in_the_bowl=len(in_bowl) - 1,
                     ten_are_enough_in_the_valley=float(len(newton) - 1 <= 10))
print(f"valley: Newton {len(newton) - 1} steps, f = {valley(Tensor(newton[-1])).item():.0e};"
      f" gradient descent {len(descent) - 1:,} steps, f = {valley(Tensor(descent[-1])).item():.0e}")

plot = Plot("Two ways down a banana-shaped valley", "x₀", "x₁", height=4.4)
u, w = np.meshgrid(np.linspace(-1.6, 1.5, 200), np.linspace(-3.6, 1.8, 200))
plot.axes.contour(u, w, 100 * (w - u**2) ** 2 + (1 - u) ** 2, levels=np.geomspace(0.1, 800, 9),
                  colors="#c8ced4", linewidths=0.9)
plot.axes.plot(*descent.T, color="#d55e00", label=f"gradient descent, {len(descent) - 1:,} steps")
plot.axes.plot(*newton.T, "s--", color="#0072b2", label=f"Newton, {len(newton) - 1} steps")
plot.axes.plot(1, 1, "*", color="black", markersize=12, label="the bottom")
plot.axes.set(xlim=(-1.6, 1.5), ylim=(-3.6, 1.8))
plot.axes.grid(False)
plot.legend(loc="lower left")
plot

# %% [markdown]
# Newton's step has two dangers. Where f bends downwards, the step leads **up**: to a top, or to a *saddle*, which is a
# bottom in one direction and a top in another. And if there is a direction without any curvature, H is *singular*:
# `solve` raises an error or gives enormous steps. Real optimizers first add a number to the diagonal of H, or make the
# step shorter.

# %% [markdown]
# ## 9 · Learning to learn
#
# A network for one sine wave is easy. Now every task is **another** sine wave. You see ten of its points, the
# *support*, and may make one gradient step with them. Ten other points of the same wave, the *query*, then show how
# good the new weights are. Which weights should you start from?
#
# ```
#                    support: 10 points                query: 10 others
# weights w  ──▶ loss ──grad──▶  w' = w − lr · g  ──▶  loss of w'
#     ▲                                                     │
#     └──────────── gradient, through the step ─────────────┘
# ```
#
# The loss *after* the step is a function of w. The step contains a gradient, so the gradient of that loss contains a
# gradient of a gradient. <dfn>MAML</dfn>, model-agnostic meta-learning, trains start weights from which one gradient
# step on a new task gives good weights (Finn, Abbeel, Levine 2017).

# %% exercise="custom.maml" own="a user of engine 2: gradients of gradients"
def meta_gradient(loss, weights, tasks, lr):
    """∂/∂weights of the mean over tasks of loss(w', query): the gradient through one step.

    w' = weights − lr · ∂loss(weights, support)/∂weights, for each task from the same weights

    loss      loss(weights, batch) returns a tensor of one number
    weights   a list of leaf tensors; neither they nor their `grad` are changed
    tasks     a list of pairs (support, query) of batches
    returns   a list of arrays, one for each weight

    >>> def loss(w, goal): return ((w[0] - goal) ** 2).sum()
    >>> w = Tensor([1.0], requires_grad=True)        # w' = w − 0.25 · 2 (w − 3) = 2
    >>> meta_gradient(loss, [w], [(3.0, 3.0)], 0.25)
    [array([-1.], dtype=float32)]
    """
    ### BEGIN SOLUTION
    total = 0.0
    for support, query in tasks:
        gradients = grad(loss(weights, support), weights, create_graph=True)
        adapted = [w - lr * g for w, g in zip(weights, gradients)]
        total = total + loss(adapted, query)
    return [g.data for g in grad(total / len(tasks), weights)]
    ### END SOLUTION

# %% check="custom.maml"

# %% [markdown]
# <details><summary>Hint 1</summary>Inside, for one task: <code>grad(loss(weights, support), weights,
# create_graph=True)</code> gives a gradient for each weight.</details>
# <details><summary>Hint 2</summary>The weights w' get a new name: the next task starts from <code>weights</code>
# again.</details>
# <details><summary>Hint 3</summary>Add up the query losses as tensors, divide by the number of tasks, and ask
# <code>grad</code> once, for <code>weights</code>.</details>

# %% [markdown]
# Training takes a while: a line is printed every hundred rounds. The step from w to w' is called the *inner step*. For
# comparison, the same network is also trained in the simple way: on all tasks together, without an inner step (with
# `lr` 0, w' is w).

# %% demo
def sine_network(weights, x):
    w1, b1, w2, b2, w3, b3 = weights
    return ((x @ w1 + b1).tanh() @ w2 + b2).tanh() @ w3 + b3


def sine_loss(weights, batch):
    x, y = batch
    return ((sine_network(weights, x) - y) ** 2).mean()


def wave(rng, points=10):
    """A task: (support, query), points of a sine wave, random in height and moved sideways."""
    height, phase = rng.uniform(0.5, 5), rng.uniform(0, np.pi)
    x = rng.uniform(-5, 5, (2 * points, 1))
    y = height * np.sin(x - phase)
    return (x[:points], y[:points]), (x[points:], y[points:])


def train(lr, rounds=400, width=32):
    rng = np.random.default_rng(0)
    scale = 1 / math.sqrt(width)
    shapes = {(1, width): 1, (width,): 1, (width, width): scale, (width, 1): scale}
    w1, b1, w2, w3 = [rng.normal(size=shape) * s for shape, s in shapes.items()]
    weights = [Tensor(w, requires_grad=True) for w in (w1, b1, w2, 0 * b1, w3, np.zeros(1))]
    optimizer = Adam(weights, lr=5e-3)
    for done in range(rounds):
        if done % 100 == 0:
            print(f"inner step {lr}: {done} of {rounds} rounds")
        tasks = [wave(rng) for _ in range(4)]
        for w, g in zip(weights, meta_gradient(sine_loss, weights, tasks, lr)):
            w.grad = Tensor(g)
        optimizer.step()
    return weights


def after_steps(weights, batch, steps, lr=0.05):
    for _ in range(steps):
        gradients = grad(sine_loss(weights, batch), weights)
        weights = [Tensor(w.data - lr * g.data, requires_grad=True)
                   for w, g in zip(weights, gradients)]
    return weights


starts = {"MAML": train(lr=0.05), "all tasks together": train(lr=0.0)}
rng = np.random.default_rng(9)
tests = [wave(rng) for _ in range(100)]
errors = {name: [np.mean([sine_loss(after_steps(start, support, k), query).item()
                          for support, query in tests]) for k in range(4)]
          for name, start in starts.items()}
plot_lines(range(4), errors, "100 new sine waves: the error after k gradient steps",
           "gradient steps on ten points", "error on ten others")

# %% demo
(points, values), _ = support, _ = wave(np.random.default_rng(17))
x = np.linspace(-5, 5, 200)[:, None]
plot = Plot("One new wave, ten points, one gradient step", "x", "y")
for (name, start), colour in zip(starts.items(), ("#0072b2", "#d55e00")):
    for k, line in ((0, ":"), (1, "-")):
        plot.axes.plot(x, sine_network(after_steps(start, support, k), x).data, line,
                       color=colour, label=f"{name}, after step {k}" if k else f"{name}, no step")
plot.axes.plot(points, values, "o", color="black", label="the ten points")
plot.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
plot

# %% [markdown]
# Before the step both are about as bad: no single curve fits all waves. The difference is what **one** step does. MAML
# did not look for good weights. It looked for weights from which one step leads to good ones.

# %% [markdown]
# ## When Python complains
#
# <details><summary><code>RuntimeError: MaskedSoftmax.backward returned 1 gradients for 2 inputs</code></summary>
# <code>backward</code> returns one gradient for each input of <code>apply</code>, in order, and <code>None</code> for
# an input that gets no gradient: <code>return dx, None</code>. Options, given by name, are no inputs.</details>
#
# <details><summary><code>ValueError: too many values to unpack</code>, or an operation with a tuple fails</summary>
# <code>ctx.saved_tensors</code> is a tuple with just what you saved. If you saved one array: <code>(y,) =
# ctx.saved_tensors</code>.</details>
#
# <details><summary><code>TypeError: operand 'Tensor' does not support ufuncs</code></summary> A NumPy function got a
# tensor, such as <code>np.exp(a)</code>, or the given <code>sigmoid(a)</code>, in backward. Use the tensor's own
# operators there: <code>a.exp()</code>, <code>a.sigmoid()</code>.</details>
#
# <details><summary><code>RuntimeError: NumPy records nothing, and this tensor requires a gradient</code></summary>
# <code>np.dot(gradient, v)</code> leaves the graph; <code>(gradient * v).sum()</code> does not. Or
# <code>gradient</code> is still a tuple, and NumPy made an array of it: <code>(gradient,) = grad(…)</code>.</details>
#
# <details><summary><code>AttributeError: 'numpy.ndarray' object has no attribute 'sigmoid'</code></summary>
# The other way round: forward gets arrays. There it is <code>sigmoid(a)</code>, <code>np.exp(a)</code>.</details>
#
# <details><summary><code>RuntimeError: backward: this tensor requires no gradient</code>, at the second grad</summary>
# The first gradient was not recorded: <code>create_graph=True</code> is missing in the first call. Or something in
# between took <code>.data</code>. Or the function is linear: its gradient is a constant, and there is nothing to
# differentiate.</details>
#
# <details><summary><code>RuntimeError: Mul: backward has been here before, and freed what it needs</code></summary>
# You
# asked twice for a gradient of the same graph. <code>create_graph=True</code> keeps the graph; otherwise say
# <code>retain_graph=True</code> the first time.</details>
#
# <details><summary><code>RuntimeWarning: invalid value encountered in subtract</code>, and nan</summary>
# In the masked softmax: −∞ − (−∞), in a row where nothing counts. Subtract 0 there.</details>
#
# <details><summary><code>LinAlgError: Singular matrix</code></summary>
# The Hessian has a direction without curvature.
# If f has curvature in every direction: are the columns really H times <em>different</em> unit vectors?</details>

# %% [markdown]
# ## What it costs
#
# **Checking.** For a network with n weights, central differences of every weight cost 2n runs; one direction costs two
# runs.
#
# **Curvature.** H v is a backward pass through a backward pass. How many times as long as a gradient does it take? And
# how many gradients does the whole H cost, for n = 1,000 weights?

# %% predict
price_guess = predict(hvp_in_gradients=..., hessian_in_gradients=...)

# %% demo
def network_of(n, width=64):
    """A loss with n weights: tanh layers, on data that grows with it."""
    rows = n // width
    rng = np.random.default_rng(0)
    data = Tensor(rng.normal(size=(256, rows)))
    return (lambda w: ((data @ w.reshape(rows, width)).tanh() ** 2).mean()), rng.normal(size=n)


counts, times = [64 * 4**k for k in range(5)], []
for n in counts:
    f, x = network_of(n)
    v = np.random.default_rng(1).normal(size=n)

    def gradient(f=f, x=x):
        leaf = Tensor(x, requires_grad=True)
        return grad(f(leaf), leaf)

    times.append([seconds_per_call(lambda: f(Tensor(x))), seconds_per_call(gradient),
                  seconds_per_call(lambda: hvp(f, x, v))])

values, gradients, products = np.array(times).T
ratio = float(np.median(products / gradients))
price_guess.compare(hvp_in_gradients=ratio, hessian_in_gradients=1000 * ratio)
plot_times(counts, {"H by n products (computed: n · H v)": np.array(counts) * products,
                    "gradient by 2n runs (computed: 2n · f)": 2 * np.array(counts) * values,
                    "H v": products, "gradient": gradients, "f": values},
           "The price of a derivative", "number of weights n")

# %% [markdown]
# H v takes as long as a few gradients, however many weights there are. The whole H takes n times that, and memory for
# n² numbers. So methods for large networks never build H: they use only such products. (Names to look up later:
# conjugate gradients, Gauss–Newton, influence functions.)

# %% [markdown] written="custom.explain" points=3
# ## In your own words
#
# A friend saves `s = sigmoid(a)` in `forward`, as in `HastySwiGLU`, and uses it in `backward`. His gradient check passes. He
# uses it in MAML, and it trains badly. Why does the check pass, what exactly goes wrong in MAML, and what would you add to
# his tests? Six sentences at most.
#
# <!-- BEGIN SOLUTION -->
# The gradient check looks at backward's result, and its numbers are right: s has the right values. In double backward the engine
# differentiates backward itself. There a is in the graph, since it was saved as an input; but s was computed on the way from arrays, so it comes
# back as a constant, and the dependence of s on a is lost: the terms with σ' are missing in the second derivative. MAML's gradient goes through the inner gradient, so it
# contains just that derivative. I would check the second order, too: H v (or the gradient of ⟨g, v⟩) against central
# differences of the gradient. The repair is to save a and compute s from it in backward with operators of tensors.
#
# **How it is marked**
#
# - 1 point: the check compares first derivatives only, and those are right.
# - 1 point: in double backward s counts as a constant; the part of the derivative through s is missing, and MAML differentiates the
#   inner gradient.
# - 1 point: a test of second order (differences of gradients against H v, PyTorch's gradgradcheck, a Taylor test of the gradient).
#
# Right arguments in other words count in full. The repair alone, without a test, is no point; it costs none.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# ```python
# import torch
#
# class SwiGLU(torch.autograd.Function):
#     @staticmethod
#     def forward(ctx, a, b):
#         ctx.save_for_backward(a, b)
#         return a * torch.sigmoid(a) * b
#
#     @staticmethod
#     def backward(ctx, grad):
#         a, b = ctx.saved_tensors
#         s = torch.sigmoid(a)
#         return grad * b * s * (1 + a * (1 - s)), grad * a * s
#
# a = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
# b = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
# torch.autograd.gradcheck(SwiGLU.apply, (a, b))
# torch.autograd.gradgradcheck(SwiGLU.apply, (a, b))
# ```
#
# | yours | PyTorch | JAX |
# |---|---|---|
# | `Function`, `apply` | `torch.autograd.Function`, `apply` | `jax.custom_vjp`, a forward and a backward function |
# | forward gets arrays | forward gets tensors, unrecorded | both get arrays; under `jit` tracers, which stand for arrays while JAX records |
# | options are given by name | they are inputs; each wants its `None` | `nondiff_argnums` |
# | `numerical_gradient` | `gradcheck`: float64, every entry of the Jacobian, the table of all ∂(output i)/∂(input j) | `jax.test_util.check_grads` |
# | `slope_along` | `gradcheck(…, fast_mode=True)` | `check_grads`: random directions |
# | H v against differences of g | `gradgradcheck` | `check_grads(…, order=2)` |
# | `grad(…, create_graph=True)` | the same name | `jax.grad(jax.grad(f))` |
# | `hvp` | `torch.autograd.functional.hvp`, `torch.func` | `jvp` of `grad`: `jvp` gives the derivative along a direction, here that of the gradient |
# | the detach trick | `x + (q(x) - x).detach()` | `x + stop_gradient(q(x) - x)` |
#
# `gradcheck` in PyTorch checks each output on its own, so it never uses an upstream gradient of ones. That costs one
# backward for each output. Its fast mode takes random directions, as you did.

# %% [markdown]
# ## What comes next
#
# **09 kernels**: so far NumPy did the computing. Now you write what runs on the device yourself, and measure how long
# it takes to move a number.
