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
# # 05 · Layers: a network that reads digits
#
# Your engine from lesson 04 adds, multiplies and walks back. A network needs more: a curve between the matrix products,
# a loss at the end, and somebody who turns gradients into better weights.
#
# ```
#  picture ─▶ x @ W + b ─▶ ReLU ─▶ h @ V + c ─▶ cross-entropy ─▶ loss
#   8 × 8                                            ▲            │
#                                            label ──┘            │ backward
#          better W, b, V, c ◀── SGD, Adam ◀── gradients ◀────────┘
# ```
#
# Ten small exercises, each with its check right below. At the end your own functions read handwriting.

# %% given
import math

import numpy as np

from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.tensor.core.function import Function
from tinygrad_cl.tensor.core.reductions import dropped_shape, kept_shape
from tinygrad_cl.tensor.core.tensor import Tensor as Engine
from tinygrad_cl.tensor.core.tensor import raw_key
from tinygrad_cl.tensor.core.variable import Variable
from tinygrad_cl.viz import Plot, plot_lines, plot_losses, seconds_per_call

# %% [markdown]
# ### Go on with your own engine, if you like
#
# The engine is what you built in lessons 03 and 04. The next cell looks for your saved notebooks of lessons 03 and 04
# in `work/`, tries what you wrote with its checks, and lets what is right run here in the place of the finished engine.
# It says whose functions stand where; without such a notebook, that there is none.

# %% demo
from autograder.notebook import mine

mine(before=5)

# %% demo
from tinygrad_cl.datasets import load_digits

images, labels = load_digits()


def show_pictures(pictures, title):
    """Pictures of one size side by side, dark where their numbers are large."""
    plot = Plot(title, "", "", height=1.1)
    plot.axes.imshow(np.concatenate(list(pictures), axis=1), cmap="gray_r")
    plot.axes.set_axis_off()
    return plot


print(f"{len(images):,} pictures of {images[0].shape} pixels,"
      f" from {images.min()} to {images.max()}")
show_pictures(images[10:26], " ".join(map(str, labels[10:26])))

# %% [markdown]
# The engine is given, and it is yours from 04. What is missing, each method asks for by name: as soon as you have written
# `ReLU`, `x.relu()` works.

# %% given
class Tensor(Engine):
    """The tensor of lesson 04. The functions that its methods call are what you write today."""

    def relu(self):
        return ReLU.apply(self)

    def tanh(self):
        return Tanh.apply(self)

    def sigmoid(self):
        return Sigmoid.apply(self)

    def gelu(self):
        return GELU.apply(self)

    def softmax(self, axis=-1):
        return Softmax.apply(self, axis=axis)

    def permute(self, *axes):
        return Permute.apply(self, axes=tuple(np.ravel(axes).tolist()))

    def max(self, axis=None, keepdims=False):
        return Max.apply(self, axis=axis, keepdims=keepdims)

    def __getitem__(self, key):
        return GetItem.apply(self, key=raw_key(key))


def mse_loss(prediction, target):
    return MSELoss.apply(prediction, target)


def binary_cross_entropy_with_logits(logits, target):
    return BCEWithLogitsLoss.apply(logits, target)


def cross_entropy(logits, target):
    return CrossEntropyLoss.apply(logits, target)

# %% [markdown]
# One complete Function, to have the pattern before your eyes. `forward` gets **arrays** and returns an array. `backward`
# gets `grad` = ∂L/∂y, a **Tensor**, and returns ∂L/∂x: one for each input of `apply`. What is saved as an array comes back
# as a Tensor, too; with Tensors use their operators and methods, not `np.…`.

# %% demo
class Cube(Function):
    """y = x³.        ∂L/∂x = grad · 3x²"""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)  # arrays go here
        ctx.factor = 3            # anything else may simply hang on ctx
        return x ** 3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.factor * x ** 2


x = Tensor([1.0, -2.0], requires_grad=True)
Cube.apply(x).backward([1.0, 10.0])
print(x.grad)

# %% [markdown]
# ## 1 · Three curves you know
#
# You wrote them in lesson 01 for one number. Now for arrays, so there is no `if`: `np.where`, `np.maximum`, or a product
# with a mask of True and False. Each docstring gives the derivative. Some need x, some need the result y: save just that
# one.

# %% exercise="layers.activations" source="tinygrad_cl.tensor.core.activations:ReLU tinygrad_cl.tensor.core.activations:Sigmoid tinygrad_cl.tensor.core.activations:Tanh"

# %% check="layers.activations"

# %% [markdown]
# <details><summary>Hint 1</summary><code>x &gt; 0</code> of an array is an array of True and False, and as a factor True is
# 1.</details>
# <details><summary>Hint 2: sigmoid</summary>With <code>small = np.exp(-np.abs(x))</code> nothing can overflow. For x ≥ 0 the
# sigmoid is 1 / (1 + small), else small / (1 + small): <code>np.where</code> chooses.</details>
# <details><summary>Hint 3</summary>Save s itself (or t): <code>ctx.save_for_backward(s)</code>, then
# <code>(s,) = ctx.saved_tensors</code>. Mind the comma.</details>

# %% [markdown]
# ### Predict, then run
#
# Where is the sigmoid steepest, and how steep is it there? Ten of them in a row: at best, what is left of a gradient of 1?

# %% predict
steepness = predict(steepest=..., after_ten=...)

# %% demo
def slope_of(activation, points):
    x = Tensor(points, requires_grad=True)
    activation(x).backward(np.ones_like(points))
    return x.grad.data


points = np.linspace(-6, 6, 241)
slopes = {"relu": slope_of(Tensor.relu, points), "tanh": slope_of(Tensor.tanh, points),
          "sigmoid": slope_of(Tensor.sigmoid, points)}
steepest = slopes["sigmoid"].max()
steepness.compare(steepest=steepest, after_ten=steepest ** 10)
plot_lines(points, slopes, "What a gradient is multiplied by", "x", "slope", markers=False)

# %% [markdown]
# That is why sigmoids left the inside of deep networks. They stayed where a probability is wanted: at the end.

# %% [markdown]
# ## 2 · GELU: a gate that opens slowly
#
# ReLU is x times a gate that is 0 or 1. GELU is x times a gate that opens smoothly, from 0 far left to 1 far right. It is
# the curve in most language models.
#
# ```
#  y = x · gate(x),   gate = (1 + t) / 2,   t = tanh u,   u ≈ 0.8 · (x + a little x³)
# ```
#
# x occurs twice, so the derivative has two parts: the gate itself, and x times the slope of the gate (chain rule: gate ←
# t ← u ← x).

# %% exercise="layers.gelu" source="tinygrad_cl.tensor.core.activations:GELU"

# %% check="layers.gelu"

# %% [markdown]
# <details><summary>Hint 1</summary>Save x alone. In <code>backward</code> compute t again, with
# <code>.tanh()</code>: there u is a Tensor.</details>
# <details><summary>Hint 2</summary>Three names make it readable: t; slope = u′; then grad times the parenthesis of the
# docstring.</details>

# %% [markdown]
# ### Predict, then run
#
# ReLU's slopes are 0 and 1. What are the smallest and the largest slope of GELU?

# %% predict
gelu_guess = predict(smallest=..., largest=...)

# %% demo
gelu_slope = slope_of(Tensor.gelu, points)
gelu_guess.compare(smallest=gelu_slope.min(), largest=gelu_slope.max())
near = np.abs(points) <= 3
curves = {"relu": Tensor(points[near]).relu().data, "gelu": Tensor(points[near]).gelu().data,
          "slope of gelu": gelu_slope[near]}
plot_lines(points[near], curves, "A gate that opens slowly", "x", "value, or slope",
           markers=False)

# %% [markdown]
# The smooth gate has a price: left of 0 the curve dips, and there the slope is negative.

# %% [markdown]
# ## 3 · Softmax: scores become probabilities
#
# A network ends in ten scores, one for each digit, called **logits**. Softmax makes them positive and makes them sum to 1.
#
# ### Predict, then run
#
# Two pictures: scores (1, 2, 3), and (1001, 1002, 1003). How much larger is the last probability of the second picture?
# And what does the plain formula $e^{x} / \sum e^{x}$ give there in float32?

# %% predict
shift_guess = predict(difference=..., plain_formula=...)  # the second: a number, or float("nan")

# %% demo
def plain_softmax(x):
    e = np.exp(x)
    return e / e.sum()


low, high = np.float32([1, 2, 3]), np.float32([1001, 1002, 1003])
with np.errstate(all="ignore"):
    shift_guess.compare(difference=plain_softmax(high - 1000)[2] - plain_softmax(low)[2],
                        plain_formula=plain_softmax(high)[2])

# %% [markdown]
# Only differences of scores count: a common shift cancels. So shift each row such that its largest score is 0: no
# exponential is then larger than 1.
#
# Now backward. A score $x_j$ moves **all** the probabilities of its row: its own up, the others down, since the sum stays 1.
#
# $$\frac{\partial y_i}{\partial x_j} = y_i\,(\delta_{ij} - y_j)$$
#
# As a table for three scores (rows i, columns j):

# %% demo
y = plain_softmax(low)
print(np.round(np.diag(y) - np.outer(y, y), 3))

# %% [markdown]
# $\partial L/\partial x_j$ is the sum over column j, each entry times $\text{grad}_i$. Nobody builds that table: in the sum
# $y_j$ can be pulled out, and what is left is the short rule in the docstring.

# %% exercise="layers.softmax" source="tinygrad_cl.tensor.core.activations:Softmax"

# %% check="layers.softmax"

# %% [markdown]
# <details><summary>Hint 1</summary><code>x.max(axis, keepdims=True)</code> keeps an axis of size 1, so that it can be
# subtracted from x, whichever axis it is.</details>
# <details><summary>Hint 2</summary>The rule has two steps: <code>inner = (grad * y).sum(…)</code> along the same axis, with
# <code>keepdims=True</code>; then y times (grad − inner).</details>

# %% [markdown]
# A law to test it by: a common shift of a row changes nothing, so along each row the gradients add up to 0.

# %% demo
x = Tensor(np.random.default_rng(0).normal(size=(2, 4)), requires_grad=True)
x.softmax(axis=1).backward(np.random.default_rng(1).normal(size=(2, 4)))
print(x.grad.data.round(3), "\nsums of the rows:", x.grad.data.sum(axis=1).round(12))

# %% [markdown]
# ## 4 · How wrong? Two losses
#
# **MSE** measures distances: for predictions that are numbers.
#
# **BCE** measures probabilities: if the model gave probability p to what happened, it pays −ln p. A sure and wrong model
# pays without limit. For yes or no, one logit x is enough, p = sigmoid(x).
#
# In pieces (first sigmoid, then logarithm) it breaks. Logits of 5, 15, 50, each of them wrong (the target is 0):

# %% demo
for logit in (5.0, 15.0, 50.0):
    x = Tensor([logit], requires_grad=True)
    with np.errstate(all="ignore"):
        p = x.sigmoid()
        loss = -(1 - p).log().sum()
        loss.backward()
    print(f"logit {logit:4}: loss {loss.item():.6g}, gradient {x.grad.data[0]:.6g}")

# %% [markdown]
# From 15 on the digits go: 1 − p is a difference of nearly equal numbers. At 50 float32 says p = 1, ln 0 = −∞, and from then
# on every weight is nan. The joint formula of sigmoid and logarithm has no such place, and its derivative is simpler than
# either: p − t.

# %% exercise="layers.losses" source="tinygrad_cl.tensor.core.losses:MSELoss tinygrad_cl.tensor.core.losses:BCEWithLogitsLoss"

# %% check="layers.losses"

# %% [markdown]
# <details><summary>Hint 1</summary><code>forward</code> has arrays: <code>np.mean</code> divides by N for you.
# <code>backward</code> has to do it itself, and <code>x.size</code> is N for every shape.</details>
# <details><summary>Hint 2</summary><code>apply</code> gets two inputs, so two gradients come back. None means: this one gets
# no gradient.</details>
# <details><summary>Hint 3</summary><code>np.log1p(z)</code> is ln(1 + z), exact for tiny z, too.</details>

# %% demo
for logit in (5.0, 15.0, 50.0):
    x = Tensor([logit], requires_grad=True)
    loss = binary_cross_entropy_with_logits(x, Tensor([0.0]))
    loss.backward()
    print(f"logit {logit:4}: loss {loss.item():.6g}, gradient {x.grad.data[0]:.6g}")

# %% [markdown]
# ## 5 · Cross-entropy
#
# Ten classes in place of two: softmax, then −ln of the probability of the right class.
#
# $$L = -\frac1N \sum_{\text{rows}} \ln \text{softmax}(x)_{\text{target}}
# \qquad \ln \text{softmax}(x) = x - \max - \ln \sum e^{x - \max}$$
#
# ### Predict, then run
#
# A network that was never trained, and knows nothing: all ten scores are equal. What is its loss?

# %% predict
untrained = predict(loss=...)  # e = 2.718…

# %% exercise="layers.cross_entropy" source="tinygrad_cl.tensor.core.losses:CrossEntropyLoss"

# %% check="layers.cross_entropy"

# %% [markdown]
# <details><summary>Hint 1</summary><code>target[..., None] == np.arange(classes)</code> is the one-hot table: True in the
# column of the target, False elsewhere. It serves both passes; let it hang on <code>ctx</code>.</details>
# <details><summary>Hint 2</summary>Forward: <code>shifted = x - max</code>, along the last axis;
# <code>np.log(np.exp(shifted).sum(-1))</code> less the shifted score of the target; mean of that.</details>
# <details><summary>Hint 3</summary>N is the number of rows, not of numbers: the size of the target. Two inputs went into
# <code>apply</code>.</details>

# %% demo
know_nothing = Tensor(np.zeros((6, 10)), requires_grad=True)
loss = cross_entropy(know_nothing, np.arange(6))
untrained.compare(loss=loss.item())
loss.backward()
print("\ngradient of one row, times the rows:", (6 * know_nothing.grad.data[2]).round(2))

# %% [markdown]
# Read the gradient as an order: raise the score of the right class, lower each other by what it got too much. It adds up
# to 0, and it is never larger than 1: no sure and wrong answer can blow it up.
#
# And keep the number. A fresh network of ten classes whose first loss is far from it has a bug, or far too large weights.

# %% [markdown]
# ## 6 · Permute: axes in another order
#
# Nine pictures, with a white margin of shape (9, 10, 10), shall become one of 30 × 30. `reshape` alone keeps the numbers in
# their order in memory, so it cuts the pictures into strips. First the axes have to be in the right order:
#
# ```
#  (9, 10, 10) → (3, 3, 10, 10)      a row and a column of pictures, a row and a column of pixels
#              → (3, 10, 3, 10)      permute: all rows first, then all columns
#              → (30, 30)
# ```
#
# Backward has to undo it. Careful: undoing «put axis 1 first, then 2, then 0» is not doing it again.

# %% exercise="layers.permute" source="tinygrad_cl.tensor.core.shapes:Permute"

# %% check="layers.permute"

# %% [markdown]
# <details><summary>Hint 1</summary>Result axis i is x's axis axes[i]. So x's axis a is the result's axis i where
# axes[i] = a. Write that down for (1, 2, 0).</details>
# <details><summary>Hint 2</summary><code>np.argsort(axes)</code> is just that list of places. It takes −1 for the smallest,
# so first make the axes positive: <code>i % x.ndim</code>.</details>
# <details><summary>Hint 3</summary><code>grad</code> is a Tensor and has <code>permute</code>, as soon as your
# <code>forward</code> works.</details>

# %% demo
nine = Tensor(np.pad(images[1:10], [(0, 0), (1, 1), (1, 1)]))
tiles = nine.reshape(3, 3, 10, 10).permute(0, 2, 1, 3).reshape(30, 30)
both = np.concatenate([nine.reshape(30, 30).data, np.zeros((30, 6)), tiles.data], axis=1)
plot = Plot("reshape alone, and with permute", "", "", width=4.6, height=2.4)
plot.axes.imshow(both, cmap="gray_r")
plot.axes.set_axis_off()
plot

# %% [markdown]
# ## 7 · Taking some of the numbers
#
# `x[key]` picks: a slice, a row, a list of rows. Its backward puts each gradient back where its number came from, and
# zeros elsewhere. That opposite is a Function, too: call it **Scatter**. Each is the other's backward.
#
# ```
#   x      10  20  30  40            x.grad    .   .   .   .
#           │       ╎╲                         ▲       ▲
#   key     0       2 2                        │       ├─ twice: added
#           ▼       ▼ ▼                        │       │
#   y      10      30 30             grad      1      100 + 10
# ```
#
# ### Predict, then run
#
# NumPy's own trap. `y` is zeros; what is in `y[2]` after `y[[0, 2, 2]] += [1, 10, 100]`?

# %% predict
plus_guess = predict(y_2=...)

# %% demo
y = np.zeros(4)
y[[0, 2, 2]] += [1, 10, 100]
plus_guess.compare(y_2=y[2])

# %% [markdown]
# It reads all, adds, writes all: of two writes to one place the last one stays. `np.add.at(y, key, values)` adds one after
# the other.
#
# An **embedding** is nothing but picking: rows of a table, by their numbers. Words, notes, grey values: whatever comes as a
# whole number gets a row of weights of its own. It is given, and its backward is your Scatter:

# %% given source="tinygrad_cl.tensor.core.indexing:Embedding"
def embedding(indices, weight):
    return Embedding.apply(weight, indices)

# %% exercise="layers.index" source="tinygrad_cl.tensor.core.indexing:GetItem tinygrad_cl.tensor.core.indexing:Scatter"

# %% check="layers.index"

# %% [markdown]
# <details><summary>Hint 1</summary>Backward needs two things, the key and the shape of x. Neither is an array to save: let
# them hang on <code>ctx</code>.</details>
# <details><summary>Hint 2</summary><code>Scatter.apply(grad, key=…, shape=…)</code> is all of GetItem's
# backward.</details>
# <details><summary>Hint 3</summary>The zeros of Scatter have the shape that was asked for, and x's
# <code>dtype</code>.</details>

# %% demo
table = Tensor(np.zeros((5, 2)), requires_grad=True)
embedding([[3, 1, 3], [0, 3, 1]], table).sum().backward()
print(table.grad)

# %% [markdown]
# With a gradient of ones from above, each row counts how often it was looked up. Rows 2 and 4 never were, so nothing moves them in this step.

# %% [markdown]
# ## 8 · Max, and who gets the gradient in a tie
#
# The largest number alone moves the maximum: it gets all of the gradient. If two are equally large? Like the kink of
# ReLU it is a matter of agreement. As PyTorch does in `amax`, they share: k winners get grad / k each.
#
# `grad` comes in the shape of the result, with or without the axis. `kept_shape(shape, axis)` is the shape with the axis
# left at size 1, `dropped_shape(shape, axis)` the one without it; both are given.

# %% demo
print(kept_shape((2, 3, 4), (0, 2)), dropped_shape((2, 3, 4), (0, 2)), kept_shape((2, 3), None))

# %% exercise="layers.max" source="tinygrad_cl.tensor.core.reductions:Max"

# %% check="layers.max"

# %% [markdown]
# <details><summary>Hint 1</summary>Save the mask: <code>x == x.max(axis, keepdims=True)</code>. That has x's shape, and is
# True for each winner.</details>
# <details><summary>Hint 2</summary>Backward in two steps: bring grad to the kept shape, divide by the number of winners
# <code>hit.sum(axis, keepdims=True)</code>; then multiply with the mask.</details>
# <details><summary>What about nan?</summary>A nan is equal to nothing, not to itself. The reference makes it a winner, so
# that it does not vanish. The check asks nothing about it.</details>

# %% [markdown]
# ## 9 · SGD: the step, with momentum
#
# Gradients are there; now the weights move. `Optimizer` is given: it goes over the parameters, and asks `update` for the
# new numbers of each. `state` is an empty dict at first, one for each parameter, in which `update` may keep what it needs
# until the next step.

# %% given source="tinygrad_cl.tensor.optim:at_least_0 tinygrad_cl.tensor.optim:Optimizer tinygrad_cl.tensor.optim:SGD[__init__]"

# %% [markdown]
# **Momentum**: do not follow the last gradient alone, but a velocity v that remembers. In a narrow valley the steps to and
# fro across it cancel, those along it add up. (Nesterov looks one step ahead; weight decay pulls every weight a little
# towards 0: one line each.)

# %% exercise="layers.sgd" source="tinygrad_cl.tensor.optim:SGD.update"

# %% check="layers.sgd"

# %% [markdown]
# <details><summary>Hint 1</summary>Three lines of rules, each behind its own <code>if</code>: weight decay changes g,
# momentum makes v of g, and then p moves by lr times g, v, or g + μ v.</details>
# <details><summary>Hint 2</summary><code>state["v"]</code> is not there in the first step: ask <code>"v" in state</code>.
# Keep a copy of g, since g is memory of somebody else.</details>
# <details><summary>Hint 3</summary><code>g += …</code> and <code>p -= …</code> change the arrays of others. Write
# <code>g = g + …</code>.</details>

# %% demo
def walk(optimizer_of, steps=40):
    """The way of a point down the valley f(p) = (p₀² + 25 p₁²) / 2, with each position."""
    p = Tensor([4.0, 1.0], requires_grad=True)
    optimizer, way = optimizer_of([p]), [p.data.copy()]
    for _ in range(steps):
        optimizer.zero_grad()
        ((p * p * np.float32([1, 25])).sum() / 2).backward()
        optimizer.step()
        way.append(p.data.copy())
    return np.array(way)


def plot_ways(ways, title):
    plot = Plot(title, "p₀", "p₁")
    a, b = np.meshgrid(np.linspace(-2.2, 4.4, 80), np.linspace(-1.4, 1.4, 80))
    plot.axes.contour(a, b, a ** 2 + 25 * b ** 2, levels=12, colors="#c8d0d8", linewidths=0.8)
    for (name, way), style in zip(ways.items(), ("o-", "s-", "^-")):
        plot.axes.plot(*way.T, style, markersize=3, linewidth=1.1,
                       label=f"{name}: distance {np.hypot(*way[-1]):.2g} at the end")
    plot.axes.plot(0, 0, "k+", markersize=12)
    plot.axes.set(xlim=(-2.2, 4.4), ylim=(-1.4, 1.4))
    plot.legend()
    return plot


plot_ways({"lr 0.07": walk(lambda ps: SGD(ps, lr=0.07)),
           "lr 0.02": walk(lambda ps: SGD(ps, lr=0.02)),
           "lr 0.02, momentum 0.8": walk(lambda ps: SGD(ps, lr=0.02, momentum=0.8))},
          "40 steps down a narrow valley")

# %% [markdown]
# A large step jumps from wall to wall, a small one crawls along the floor. Momentum crawls faster, and overshoots a bit.

# %% [markdown]
# ## 10 · Adam: each weight its own step
#
# Adam keeps two running means for each single weight: m of its gradients, v of their squares. It steps by m / √v: where
# gradients are large it divides by something large. Both means start at 0 and are too small at first; the division by
# 1 − βᵗ makes up for that.

# %% given source="tinygrad_cl.tensor.optim:Adam[__init__]"

# %% [markdown]
# ### Predict, then run
#
# Two weights, with gradients of 1000 and of 0.001, and lr = 0.1. How far does each go in the very first step? The rules
# above and t = 1 are enough.

# %% predict
first_step = predict(at_1000=..., at_a_thousandth=...)

# %% exercise="layers.adam" source="tinygrad_cl.tensor.optim:Adam.update"

# %% check="layers.adam"

# %% [markdown]
# <details><summary>Hint 1</summary><code>state.get("t", 0) + 1</code> is the number of this step. Write it back into
# <code>state</code>, like m and v.</details>
# <details><summary>Hint 2</summary>m and v are kept without their correction; m̂ and v̂ are for this step only.</details>
# <details><summary>Hint 3</summary>ε is added after the root, not below it.</details>

# %% demo
p = Tensor([0.0, 0.0], requires_grad=True)
p.grad = Tensor([1000.0, 0.001])
Adam([p], lr=0.1).step()
first_step.compare(at_1000=-p.data[0], at_a_thousandth=-p.data[1])
plot_ways({"SGD, lr 0.07": walk(lambda ps: SGD(ps, lr=0.07)),
           "momentum 0.8": walk(lambda ps: SGD(ps, lr=0.02, momentum=0.8)),
           "Adam, lr 0.2": walk(lambda ps: Adam(ps, lr=0.2))}, "The same valley with Adam")

# %% [markdown]
# The size of a gradient cancels, its sign stays: at first both weights go by lr, however large the slope. So the valley
# looks nearly round to Adam, and it heads for the middle. It overshoots, too: lr says how far a weight moves in a step, and
# does not shrink where the slope does.

# %% [markdown]
# ## The referee, for everything at once
#
# Central differences know none of your rules. Random inputs, a random gradient from above, float64:

# %% demo
trial = np.random.default_rng(5)
target = trial.normal(size=(3, 4))
subjects = {
    "relu": Tensor.relu, "sigmoid": Tensor.sigmoid, "tanh": Tensor.tanh, "gelu": Tensor.gelu,
    "softmax": lambda x: x.softmax(axis=0), "mse": lambda x: mse_loss(x, Tensor(target)),
    "bce": lambda x: binary_cross_entropy_with_logits(x, Tensor((target > 0) * 1.0)),
    "cross-entropy": lambda x: cross_entropy(x, [3, 0, 2]), "permute": lambda x: x.permute(1, 0),
    "slice": lambda x: x[1:, ::2], "repeated rows": lambda x: x[[2, 0, 2]],
    "max": lambda x: x.max(axis=1),
}
moves = 1e-6 * np.eye(12).reshape(12, 3, 4)  # each of the 12 numbers a little, alone
for name, f in subjects.items():
    x = Tensor(trial.normal(size=(3, 4)), requires_grad=True)
    y = f(x)
    upstream = trial.normal(size=y.shape)
    y.backward(upstream)
    rises = [f(Tensor(x.data + move)).data - f(Tensor(x.data - move)).data for move in moves]
    slopes = [np.sum(upstream * rise) / 2e-6 for rise in rises]
    right = np.allclose(slopes, x.grad.data.ravel(), rtol=1e-5, atol=1e-7)
    print(f"{name:14} {'right' if right else 'WRONG'}")

# %% [markdown]
# ## Reading handwriting
#
# The goal, stated before: **at least 95 of 100** pictures that the network has never seen. A fifth of the pictures is put
# aside for that, by lot.

# %% demo
GOAL = 0.95
lot = np.random.default_rng(0).permutation(len(images))
known, unseen = lot[len(lot) // 5:], lot[:len(lot) // 5]
pixels = images.reshape(-1, 64).astype(np.float32) / 16  # from 0 to 1


def weights(rng, inputs, outputs):
    """W and b of a layer; the √(2 / inputs) keeps the sizes of what flows through alike."""
    w = rng.normal(size=(inputs, outputs)) * math.sqrt(2 / inputs)
    return [Tensor(w.astype(np.float32), requires_grad=True),
            Tensor(np.zeros(outputs, np.float32), requires_grad=True)]


def network(seed=1, hidden=32):
    rng = np.random.default_rng(seed)
    parameters = w1, b1, w2, b2 = weights(rng, 64, hidden) + weights(rng, hidden, 10)
    return parameters, lambda rows: (Tensor(pixels[rows]) @ w1 + b1).relu() @ w2 + b2


def train(parameters, forward, optimizer, epochs, batch=32):
    """(losses, gradient norms of each parameter), an entry for each step."""
    rng, losses, norms = np.random.default_rng(2), [], []
    for _ in range(epochs):
        order = rng.permutation(known)
        for start in range(0, len(order), batch):
            rows = order[start:start + batch]
            loss = cross_entropy(forward(rows), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            norms.append([float(np.linalg.norm(p.grad.data)) for p in parameters])
    return losses, np.array(norms)


def guesses(forward, rows):
    return forward(rows).data.argmax(axis=1)


def accuracy(forward, rows):
    return (guesses(forward, rows) == labels[rows]).mean()

# %% [markdown]
# ### Predict, then run
#
# What share of the unseen pictures does the network get right before training? And after 10 rounds with Adam?

# %% predict
reading = predict(before=..., after=...)

# %% demo
parameters, forward = network()
before = accuracy(forward, unseen)
adam_losses, norms = train(parameters, forward, Adam(parameters, lr=0.005), epochs=10)
after = accuracy(forward, unseen)
reading.compare(before=before, after=after)
size = sum(p.size for p in parameters)
print(f"\n{size:,} weights, {len(adam_losses)} steps;"
      f" seen before: {accuracy(forward, known):.1%}, unseen: {after:.1%}")
print("the goal is reached" if after >= GOAL else "the goal is missed")

# %% [markdown]
# The loss starts near the number from exercise 5. Three optimizers from the same weights, with the same batches:

# %% demo
curves = {}
for name, optimizer_of in {"SGD, lr 0.1": lambda ps: SGD(ps, lr=0.1),
                           "momentum 0.9": lambda ps: SGD(ps, lr=0.1, momentum=0.9)}.items():
    others, other_forward = network()
    curves[name], _ = train(others, other_forward, optimizer_of(others), epochs=10)
    print(f"{name:13} unseen: {accuracy(other_forward, unseen):.1%}")
print(f"first losses: {curves[name][0]:.2f}; to know nothing costs ln 10 = {math.log(10):.2f}")
plot_losses(curves | {"Adam, lr 0.005": adam_losses}, "Loss of the batch", smooth=20)

# %% [markdown]
# **Gradient norms** tell whether learning is healthy: neither 0 nor exploding, of like size in both layers, and falling as there
# is less to learn.

# %% demo
smooth = [np.convolve(norms[:, k], np.ones(15) / 15, "valid") for k in (0, 2)]
plot_lines(range(len(smooth[0])), {"W of layer 1": smooth[0], "W of layer 2": smooth[1]},
           "Length of the gradient, mean of 15 steps", "step", "norm", markers=False)

# %% [markdown]
# **Which digits does it confuse?** A row for each true digit, a column for each answer.

# %% demo
answers = guesses(forward, unseen)
confusion = np.zeros((10, 10), int)
np.add.at(confusion, (labels[unseen], answers), 1)  # Scatter again: += would count each pair once

plot = Plot("Confusion matrix, unseen pictures", "answer", "digit", width=4.4, height=4.2)
plot.axes.imshow(np.log1p(confusion), cmap="Blues")
for (digit, answer), count in np.ndenumerate(confusion):
    if count:
        plot.axes.text(answer, digit, count, ha="center", va="center",
                       color="white" if digit == answer else "black")
plot.axes.set(xticks=range(10), yticks=range(10))
plot.axes.grid(False)
plot

# %% demo
wrong = np.flatnonzero(answers != labels[unseen])[:12]
told = ", ".join(f"{labels[unseen[i]]}→{answers[i]}" for i in wrong)
show_pictures(images[unseen[wrong]], f"Misread: {told}")

# %% [markdown]
# ### All of today's functions in one network
#
# The same goal, with windows of 3 × 3 pixels that slide over the picture, as in a convolutional network. Grey values are
# whole numbers from 0 to 16, so each may have a row in a table: an **embedding**. Windows overlap, so the picking repeats
# each pixel up to nine times: **repeated indices**. Then **GELU**, and of each 2 × 2 neighbours the **max**, for which
# **permute** brings the right axes together.

# %% demo
rows_of, columns_of = (np.arange(6)[:, None] + np.arange(3) for _ in range(2))
ROWS, COLUMNS = rows_of[:, None, :, None], columns_of[None, :, None, :]  # (6, 6, 3, 3): all windows


def window_network(seed=1, grey=3, features=32):
    rng = np.random.default_rng(seed)
    table = Tensor(rng.normal(size=(17, grey)).astype(np.float32) / 2, requires_grad=True)
    parameters = table, w1, b1, w2, b2 = [
        table, *weights(rng, 9 * grey, features), *weights(rng, 9 * features, 10)]

    def forward(rows):
        n = len(rows)
        x = embedding(images[rows], table)                              # (n, 8, 8, grey)
        x = x[:, ROWS, COLUMNS].reshape(n, 6, 6, 9 * grey)              # a window for each place
        x = (x @ w1 + b1).gelu().reshape(n, 3, 2, 3, 2, features)
        x = x.permute(0, 1, 3, 5, 2, 4).max(axis=(4, 5))                # the best of 2 × 2 places
        return x.reshape(n, 9 * features) @ w2 + b2

    return parameters, forward


parameters, forward = window_network()
losses, _ = train(parameters, forward, Adam(parameters, lr=0.005), epochs=12)
size, score = sum(p.size for p in parameters), accuracy(forward, unseen)
print(f"{size:,} weights, unseen: {score:.1%}", "" if score >= GOAL else "(the goal is missed)")
table = parameters[0].data
order = np.argsort(np.linalg.norm(table - table[0], axis=1))
print("grey values by the distance of their rows from that of white:", *order)

# %% [markdown]
# Nobody told it that 7 lies between 6 and 8: to an embedding the grey values are seventeen strangers. See how much of
# their order the gradients have found, and where they have not: nobody needs it there.

# %% [markdown]
# ## When Python complains
#
# <details><summary><code>TypeError: operand 'Tensor' does not support ufuncs</code></summary>
# <code>np.tanh(x)</code> in <code>backward</code>, where x is a Tensor. Use its operators and methods:
# <code>x.tanh()</code>, <code>x.exp()</code>.</details>
#
# <details><summary><code>RuntimeError: NumPy records nothing, and this tensor requires a gradient</code></summary>
# The same: a function of NumPy that is no ufunc, such as <code>np.where</code>, was given a Tensor that needs a
# gradient. Multiply with a mask instead.</details>
#
# <details><summary><code>TypeError: unsupported operand type(s) for **: 'tuple' and 'int'</code></summary>
# <code>ctx.saved_tensors</code> is a tuple, also of one: <code>(x,) = ctx.saved_tensors</code>.</details>
#
# <details><summary><code>RuntimeError: …Loss.backward returned 1 gradients for 2 inputs</code></summary>
# One gradient for each input of <code>apply</code>: <code>return …, None</code> where the target gets none. Options such as
# <code>axis=</code> do not count.</details>
#
# <details><summary><code>ValueError: …backward: a gradient of shape (4, 2, 3) does not fit an input of shape (2, 3, 4)</code></summary>
# The axes were permuted once more in place of back.</details>
#
# <details><summary><code>ValueError: Softmax: the shapes (3, 4) do not broadcast</code> (or of Max, CrossEntropyLoss, Div)</summary>
# A sum or maximum without <code>keepdims=True</code> has lost its axis, and cannot be lined up with x.</details>
#
# <details><summary>The loss of a regression does not fall, and there is no error</summary>
# Look at the shapes: a prediction (n, 1) less a target (n,) is (n, n), every one against every other. PyTorch warns of it;
# ours in <code>tinygrad_cl.tensor.mse_loss</code> refuses.</details>
#
# <details><summary>The loss is nan</summary>
# A logarithm of 0, an overflow, or a step far too large. Look for the first step at which it happens; lesson 06 builds
# tools for that.</details>
#
# <details><summary><code>IndexError: an embedding of 17 rows has rows 0 to 16</code></summary>
# A number outside of the table. From NumPy −1 would quietly give the last row; here it is an error.</details>

# %% [markdown]
# ## What it costs
#
# Cross-entropy in one Function, or composed of five: softmax as exp, sum and a division, a product with the one-hot
# table, a logarithm. Guess: how many nodes do the pieces make, and how many times the time do they take? (32 rows of 1,000
# classes, forward and backward.)

# %% predict
price = predict(nodes=..., times_slower=...)

# %% demo
import tracemalloc

from tinygrad_cl.tensor.core.engine import topological_order

numbers = np.random.default_rng(3).normal(size=(32, 1000)).astype(np.float32)
scores = Tensor(numbers, requires_grad=True)
classes = np.arange(32) * 7
onehot = Tensor((classes[:, None] == np.arange(1000)).astype(np.float32))


def bytes_of_arrays():
    """Of all arrays made since `tracemalloc.start()` that are there: NumPy reports its memory."""
    arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    return sum(each.size for each in tracemalloc.take_snapshot().filter_traces([arrays]).traces)


def in_pieces():
    e = scores.exp()
    return -((e / e.sum(axis=1, keepdims=True) * onehot).sum(axis=1)).log().mean()


def in_one():
    return cross_entropy(scores, classes)


rows = []
for name, f in {"in pieces": in_pieces, "in one": in_one}.items():
    tracemalloc.start()
    loss = f()
    nodes, kept = len(topological_order([loss.grad_fn])) - 1, bytes_of_arrays()
    tracemalloc.stop()
    seconds = seconds_per_call(lambda: f().backward())
    rows.append((nodes, seconds))
    print(f"{name:10} {nodes} nodes, {kept:9,} bytes kept for backward, {1e6 * seconds:6.0f} µs")
price.compare(nodes=rows[0][0], times_slower=rows[0][1] / rows[1][1])

# %% [markdown]
# Fewer nodes, fewer walks over the numbers, no nan, and a quarter of the memory. The pieces keep eˣ, 4 bytes for each score.
# The one Function keeps the scores, which are there anyway, and a one-hot table of its own, a byte for each score. Lesson 07
# is about that.
#
# Where does a training step spend its time? (What one function calls inside, as the softmax in the loss, counts for both.)

# %% demo
import cProfile

parameters, forward = network()
profile = cProfile.Profile()
profile.enable()
for _ in range(200):
    cross_entropy(forward(known[:32]), labels[known[:32]]).backward()
profile.disable()

spent = {}
for entry in profile.getstats():
    function, _, part = getattr(entry.code, "co_qualname", "").rpartition(".")
    if part in ("forward", "backward") and function and function != "Tensor":
        spent.setdefault(function, {"forward": 0.0, "backward": 0.0})[part] += entry.totaltime
total = sum(sum(parts.values()) for parts in spent.values())
for function, parts in sorted(spent.items(), key=lambda item: -sum(item[1].values())):
    print(f"{function:18}",
          *(f"{part} {seconds / total:6.1%}  " for part, seconds in parts.items()))

# %% [markdown] written="layers.explain" points=3
# ## In your own words
#
# A friend writes `cross_entropy(logits.softmax(axis=1), labels)`. It runs without an error and the loss falls, slowly, and
# stays high for ever. What happens here? How low can this loss get with ten classes, and why is it slow? Five sentences
# at most. You may run it.
#
# <!-- BEGIN SOLUTION -->
# `cross_entropy` takes logits and does a softmax itself, so here there are two, one after the other. The inner one gives
# numbers from 0 to 1; taken as logits, they differ by 1 at most. The best that can come is 1 for the right class and 0 for
# the nine others, and then the loss is −ln(e / (e + 9)), about 1.46, not 0. It is slow since the gradient goes through one
# more softmax, which multiplies by y (1 − y) and the like, a quarter at most, and nearly 0 once the inner softmax is sure,
# even where it is sure and wrong: just what cross-entropy of logits avoids. The accuracy may look all right, as the
# order of the scores stays.
#
# **How it is marked**
#
# - 1 point: softmax is applied twice, since cross-entropy contains one.
# - 1 point: the second softmax sees numbers from 0 to 1 only, so the loss cannot reach 0; with the bound, −ln(e / (e + 9)) ≈
#   1.46, or the way to it.
# - 1 point: the gradient is small because it passes through the inner softmax as well, most of all where that is sure (and
#   wrong).
#
# A measured bound counts as well as a derived one. Nothing is lost for not mentioning the accuracy.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# The network above, in PyTorch:
#
# ```python
# import torch
# from torch import nn
#
# model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
# optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
# loss = nn.functional.cross_entropy(model(x), labels)
# optimizer.zero_grad()
# loss.backward()
# optimizer.step()
# ```
#
# | yours | PyTorch | where it differs |
# |---|---|---|
# | `class ReLU(Function)` | `class ReLU(torch.autograd.Function)` | the same pattern, and the same word `ctx` |
# | `x.gelu()` | `F.gelu(x, approximate="tanh")` | its default is the exact one, with erf |
# | `binary_cross_entropy_with_logits` | the same name | `binary_cross_entropy` of probabilities also exists: there ln p counts as −100 at least |
# | `cross_entropy(logits, target)` | the same name | targets may be probabilities, too |
# | `Scatter` | `index_put` with `accumulate=True` | on a GPU its order of adding, so its last digits, may differ from run to run |
# | `x.max(axis)` shares ties | `amax` shares; `max(dim)` gives all to one, and says which | |
# | `embedding(indices, weight)` | `F.embedding(indices, weight)` | `sparse=True`: gradients of the rows alone |
# | `SGD`, `Adam` | `torch.optim.SGD`, `torch.optim.Adam` | the same steps |
#
# JAX has no optimizers of its own (optax has), and no `state` in objects: `update(gradients, state)` returns the new state.
#
# ## What comes next
#
# **06 control**: what if a gradient shall *not* flow? Parts cut off, recording switched off, `if` and `while`, hooks, and how to
# find the first nan.
