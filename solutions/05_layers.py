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
# Your engine from lesson 04 adds, multiplies and finds gradients. A network needs more: an activation (a curve such as
# tanh) between the matrix products, a loss at the end, and an optimizer. An <dfn>optimizer</dfn> is an object that uses
# the gradients to move the parameters in each step.
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
# It prints which functions are yours. If there is no such notebook, it says so.

# %% demo
from autograder.notebook import mine

mine(before=5)

# %% [markdown]
# The next cell loads the data: pictures of handwritten digits, 8 × 8 pixels each, and a label for each picture. A
# *label* is the target of an example where the target is one of a few possible answers: here the digit in the picture.

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
# The engine is given; it is what you built in lesson 04. The methods below call Functions that do not exist yet: you
# write them today. As soon as you have written `ReLU`, `x.relu()` works.

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
# Here is one complete Function as a pattern. `forward` gets **arrays** and returns an array. `backward` gets `grad` =
# ∂L/∂y, a **Tensor**, and returns ∂L/∂x: one gradient for each input of `apply`. What is saved as an array comes back
# as a Tensor, too; with Tensors use their operators and methods, not `np.…`.

# %% demo
class Cube(Function):
    """y = x³.        ∂L/∂x = grad · 3x²"""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)  # arrays go here
        ctx.factor = 3            # anything else: an attribute of ctx
        return x ** 3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.factor * x ** 2


x = Tensor([1.0, -2.0], requires_grad=True)
Cube.apply(x).backward([1.0, 10.0])
print(x.grad)

# %% [markdown]
# ## 1 · Three activations you know
#
# You wrote them in lesson 01 for one number. Now write them for arrays. An `if` cannot decide for each number of an
# array; use `np.where`, `np.maximum`, or a product with a mask, that is an array of True and False. (That is for
# `forward`. In `backward` there are tensors: there a mask that `forward` made and saved can be a factor.) Each
# docstring gives the derivative. Some derivatives need x, some need the result y: save only one array.

# %% exercise="layers.activations" source="tinygrad_cl.tensor.core.activations:ReLU tinygrad_cl.tensor.core.activations:Sigmoid tinygrad_cl.tensor.core.activations:Tanh"

# %% check="layers.activations"

# %% [markdown]
# <details><summary>Hint 1</summary><code>x &gt; 0</code> of an array is an array of True and False. In a product True
# is 1 and False is 0.</details>
# <details><summary>Hint 2: sigmoid</summary>With <code>small = np.exp(-np.abs(x))</code> nothing can overflow. For x ≥
# 0 the sigmoid is 1 / (1 + small), else small / (1 + small): <code>np.where</code> chooses.</details>
# <details><summary>Hint 3</summary>Save s itself (or t): <code>ctx.save_for_backward(s)</code>, then
# <code>(s,) = ctx.saved_tensors</code>. Do not forget the comma.</details>

# %% [markdown]
# ### Predict, then run
#
# How steep is the sigmoid where it is steepest? If a gradient of 1 goes back through ten sigmoids in a row, how much of
# it is left at best?

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
# That is why the inner layers of deep networks no longer use sigmoids. They are still used at the end, where a
# probability is wanted.

# %% [markdown]
# ## 2 · GELU: a gate that opens slowly
#
# ReLU is x times a gate that is 0 or 1. <dfn>GELU</dfn> is an activation: x times a gate that opens smoothly, from 0 (x
# very negative) to 1 (x very positive). Many language models use it, such as GPT-2 and BERT.
#
# ```
#  y = x · gate(x),   gate = (1 + t) / 2,   t = tanh u,   u ≈ 0.8 · (x + a little x³)
# ```
#
# x occurs twice: as a factor, and inside the gate. So the derivative has two parts: the gate, and x times the slope of
# the gate (chain rule: gate ← t ← u ← x).

# %% exercise="layers.gelu" source="tinygrad_cl.tensor.core.activations:GELU"

# %% check="layers.gelu"

# %% [markdown]
# <details><summary>Hint 1</summary>Save x alone. In <code>backward</code> compute t again, with
# <code>.tanh()</code>: there u is a Tensor.</details>
# <details><summary>Hint 2</summary>Compute three things, each with a name: t, then the slope u′, then grad times the
# parenthesis of the docstring.</details>

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
# The smooth gate has a consequence: left of 0 the curve goes a little below 0, and on a part of it the slope is
# negative.

# %% [markdown]
# ## 3 · Softmax: scores become probabilities
#
# The last layer of our network gives ten scores, one for each digit. The scores at the end of a network, before they
# become probabilities, are called <dfn>logits</dfn>. <dfn>Softmax</dfn>, eˣ / Σ eˣ along each row, turns scores into
# probabilities: positive numbers with the sum 1.
#
# ### Predict, then run
#
# Two pictures: scores (1, 2, 3), and (1001, 1002, 1003). How much larger is the last probability of the second picture?
# And what does the formula above give for the last probability of the second picture, computed in float32 as it stands?

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
# Only differences of scores count: if the same number is added to all scores of a row, it cancels. So subtract from
# each row its largest score. Then no exponential is larger than 1.

# %% [markdown]
# Now backward. A score $x_j$ moves **all** the probabilities of its row: its own up, the others down, since the sum
# stays 1.
#
# $$\frac{\partial y_i}{\partial x_j} = y_i\,(\delta_{ij} - y_j)$$
#
# Here $\delta_{ij}$ is 1 where i = j, and 0 elsewhere. As a table for three scores (rows i, columns j):

# %% demo
y = plain_softmax(low)
print(np.round(np.diag(y) - np.outer(y, y), 3))

# %% [markdown]
# $\partial L/\partial x_j$ is the sum over column j, each entry times $\text{grad}_i$. Nobody builds that table. In the
# sum over i, the part with δ has only one entry that is not 0, the one with i = j:
#
# $$\sum_i \text{grad}_i\, y_i\,(\delta_{ij} - y_j) = \text{grad}_j\, y_j - y_j \sum_i \text{grad}_i\, y_i$$
#
# Take the factor $y_j$ out: this is the short rule in the docstring.

# %% exercise="layers.softmax" source="tinygrad_cl.tensor.core.activations:Softmax"

# %% check="layers.softmax"

# %% [markdown]
# <details><summary>Hint 1</summary><code>x.max(axis, keepdims=True)</code> keeps an axis of size 1, so that it can be
# subtracted from x, whichever axis it is.</details>
# <details><summary>Hint 2</summary>The rule has two steps: <code>inner = (grad * y).sum(…)</code> along the same axis,
# with <code>keepdims=True</code>; then y times (grad − inner).</details>

# %% [markdown]
# A test for your rule: adding one number to a whole row changes nothing, so the gradients of each row add up to 0.

# %% demo
x = Tensor(np.random.default_rng(0).normal(size=(2, 4)), requires_grad=True)
x.softmax(axis=1).backward(np.random.default_rng(1).normal(size=(2, 4)))
print(x.grad.data.round(3), "\nsums of the rows:", x.grad.data.sum(axis=1).round(12))

# %% [markdown]
# ## 4 · How wrong? Two losses
#
# **MSE**, the mean squared error of lesson 02, measures distances. It is for predictions that are numbers.
#
# **BCE**, binary cross-entropy, measures probabilities. It is for questions with the answer yes or no. The target t is
# 1 for yes and 0 for no, and the model gives the probability p to yes. The loss <dfn>binary cross-entropy</dfn> is the
# mean over all examples of −ln of the probability that the model gave to the right answer, yes or no. So an example
# adds −ln p if t = 1, and −ln(1 − p) if t = 0. The loss of a model that is sure and wrong has no upper limit. One logit
# x is enough: p = sigmoid(x).
#
# Computed in two steps (first the sigmoid, then the logarithm), it breaks. Logits of 5, 15, 50, each of them wrong (the
# target is 0):

# %% demo
for logit in (5.0, 15.0, 50.0):
    x = Tensor([logit], requires_grad=True)
    with np.errstate(all="ignore"):
        p = x.sigmoid()
        loss = -(1 - p).log().sum()
        loss.backward()
    print(f"logit {logit:4}: loss {loss.item():.6g}, gradient {x.grad.data[0]:.6g}")

# %% [markdown]
# From 15 on, digits are lost: 1 − p is a difference of nearly equal numbers. At 50, p is exactly 1 in float32, so ln(1
# − p) = ln 0 = −∞. The gradient is nan, and after one step with it the weights are nan. But there is one formula for
# sigmoid and logarithm together: it stands in the docstring below. It never takes the logarithm of 0, so it gives a
# finite loss for every logit. Its derivative with respect to x is also simpler than those of the two parts: p − t.

# %% exercise="layers.losses" source="tinygrad_cl.tensor.core.losses:MSELoss tinygrad_cl.tensor.core.losses:BCEWithLogitsLoss"

# %% check="layers.losses"

# %% [markdown]
# <details><summary>Hint 1</summary><code>forward</code> has arrays: <code>np.mean</code> divides by N for you.
# <code>backward</code> has to do it itself, and <code>x.size</code> is N for every shape. The target may be a list; if
# you make an array of it, keep x's type: <code>np.asarray(t, x.dtype)</code>.</details>
# <details><summary>Hint 2</summary><code>apply</code> gets two inputs, so two gradients come back. None means: this one
# gets no gradient.</details>
# <details><summary>Hint 3</summary><code>np.log1p(z)</code> is ln(1 + z), and loses no digits for tiny z.</details>

# %% demo
for logit in (5.0, 15.0, 50.0):
    x = Tensor([logit], requires_grad=True)
    loss = binary_cross_entropy_with_logits(x, Tensor([0.0]))
    loss.backward()
    print(f"logit {logit:4}: loss {loss.item():.6g}, gradient {x.grad.data[0]:.6g}")

# %% [markdown]
# ## 5 · Cross-entropy
#
# A *class* is one of the possible answers: here a digit from 0 to 9. With ten classes in place of two, take softmax,
# then −ln of the probability of the right class. The loss <dfn>cross-entropy</dfn> is the mean over all examples of −ln
# of the probability that the model gave to the right class. Its derivative uses a one-hot table. A <dfn>one-hot
# table</dfn> has a row for each example, with 1 in the column of its class and 0 elsewhere.
#
# $$L = -\frac1N \sum_{\text{rows}} \ln \text{softmax}(x)_{\text{target}}
# \qquad \ln \text{softmax}(x) = x - \max - \ln \sum e^{x - \max}$$
#
# ### Predict, then run
#
# Take a network that was never trained and gives ten equal scores to each picture. What is its loss?

# %% predict
untrained = predict(loss=...)  # e = 2.718…

# %% exercise="layers.cross_entropy" source="tinygrad_cl.tensor.core.losses:CrossEntropyLoss"

# %% check="layers.cross_entropy"

# %% [markdown]
# <details><summary>Hint 1</summary>target may be a list: first <code>target = np.asarray(target)</code>. Then
# <code>target[..., None] == np.arange(classes)</code> is the one-hot table, with True for 1. forward and backward both
# need it: make it an attribute of <code>ctx</code>.</details>
# <details><summary>Hint 2</summary>Forward: <code>shifted = x - max</code>, along the last axis;
# <code>np.log(np.exp(shifted).sum(-1))</code> minus the shifted score of the target; then the mean over the
# rows.</details>
# <details><summary>Hint 3</summary>N is the number of rows, not of numbers: the size of the target. Two inputs went into
# <code>apply</code>.</details>

# %% demo
know_nothing = Tensor(np.zeros((6, 10)), requires_grad=True)
loss = cross_entropy(know_nothing, np.arange(6))
untrained.compare(loss=loss.item())
loss.backward()
print("\ngradient of one row, times the rows:", (6 * know_nothing.grad.data[2]).round(2))

# %% [markdown]
# Look at one step against the gradient. It raises the score of the right class, and lowers every other score in
# proportion to the probability which that class got. The numbers of a row add up to 0, and none of them is larger than
# 1: an answer that is sure and wrong cannot make the gradient huge.
#
# And remember the loss of a network that knows nothing: ln 10 ≈ 2.30 for ten classes. If the first loss of a new
# network is far from this number, there is a bug, or its weights are far too large.

# %% [markdown]
# ## 6 · Permute: axes in another order
#
# Nine pictures of 8 × 8 pixels, each with a white margin, are an array of shape (9, 10, 10). They shall become one
# picture of 30 × 30. `reshape` alone keeps the numbers in their order in memory, so it cuts the pictures into strips.
# First the axes have to be in the right order:
#
# ```
#  (9, 10, 10) → (3, 3, 10, 10)      the picture's place in the 3 × 3 (row, column), the pixel's place in its picture (row, column)
#              → (3, 10, 3, 10)      permute: both rows, then both columns
#              → (30, 30)
# ```
#
# Backward has to undo it. Careful: to undo `permute(1, 2, 0)` is not to call `permute(1, 2, 0)` again.

# %% exercise="layers.permute" source="tinygrad_cl.tensor.core.shapes:Permute"

# %% check="layers.permute"

# %% [markdown]
# <details><summary>Hint 1</summary>Result axis i is x's axis axes[i]. So x's axis a is the result's axis i where
# axes[i] = a. Write that down for (1, 2, 0).</details>
# <details><summary>Hint 2</summary><code>np.argsort(axes)</code> is just that list of places. For it −1 is the smallest
# number, so first make the axes positive: <code>i % x.ndim</code>.</details>
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
# zeros elsewhere. This opposite of picking is a Function, too. <dfn>Scatter</dfn> is the opposite of indexing: it puts
# numbers at given places of an array of zeros, and adds where a place repeats. Indexing is the backward of Scatter, and
# Scatter the backward of indexing.
#
# ```
#   x      10  20  30  40            x.grad    1   0  110  0
#           │       ╎╲                         ▲       ▲ ▲
#   key     0       2 2                        │       │  ╲    place 2 twice: added
#           ▼       ▼ ▼                        │       │   ╲
#   y      10      30 30             grad      1      10   100
# ```
#
# ### Predict, then run
#
# A trap of NumPy. `y` is an array of zeros. What is `y[2]` after `y[[0, 2, 2]] += [1, 10, 100]`?

# %% predict
plus_guess = predict(y_2=...)

# %% demo
y = np.zeros(4)
y[[0, 2, 2]] += [1, 10, 100]
plus_guess.compare(y_2=y[2])

# %% [markdown]
# `+=` reads all the numbers, then adds, then writes all of them. Where it writes twice to one place, only the last
# write stays. `np.add.at(y, key, values)` adds one number after the other.

# %% [markdown]
# An <dfn>embedding</dfn> is a table of weights with one row for each whole number; to look up a number is to pick its
# row. Words, notes, grey values: anything that can be numbered can get a row of weights of its own. The Function is
# given, and its backward is your Scatter:

# %% given source="tinygrad_cl.tensor.core.indexing:Embedding"
def embedding(indices, weight):
    return Embedding.apply(weight, indices)

# %% exercise="layers.index" source="tinygrad_cl.tensor.core.indexing:GetItem tinygrad_cl.tensor.core.indexing:Scatter"

# %% check="layers.index"

# %% [markdown]
# <details><summary>Hint 1</summary>Backward needs two things, the key and the shape of x. Neither of them gets a
# gradient: make them attributes of <code>ctx</code>.</details>
# <details><summary>Hint 2</summary><code>Scatter.apply(grad, key=…, shape=…)</code> is all of GetItem's
# backward.</details>
# <details><summary>Hint 3</summary>The zeros of Scatter have the shape that was asked for, and x's
# <code>dtype</code>.</details>

# %% demo
table = Tensor(np.zeros((5, 2)), requires_grad=True)
embedding([[3, 1, 3], [0, 3, 1]], table).sum().backward()
print(table.grad)

# %% [markdown]
# The upstream gradient is all ones, so each row of the result says how often that row was looked up. Rows 2 and 4 were
# never looked up, so nothing moves them in this step.

# %% [markdown]
# ## 8 · Max, and who gets the gradient in a tie
#
# The largest number alone moves the maximum: it gets all of the gradient. What if two are equally large? As at the
# corner of ReLU, the derivative does not exist, and one has to be chosen. We do as PyTorch's `amax` does: k winners get
# grad / k each.
#
# `grad` comes in the shape of the result, with or without the axis. `kept_shape(shape, axis)` is the shape with the axis
# left at size 1, `dropped_shape(shape, axis)` the one without it; both are given.

# %% demo
print(kept_shape((2, 3, 4), (0, 2)), dropped_shape((2, 3, 4), (0, 2)), kept_shape((2, 3), None))

# %% exercise="layers.max" source="tinygrad_cl.tensor.core.reductions:Max"

# %% check="layers.max"

# %% [markdown]
# <details><summary>Hint 1</summary>Save the mask: <code>x == x.max(axis, keepdims=True)</code>. That has x's shape, and
# is True for each winner.</details>
# <details><summary>Hint 2</summary>Backward in two steps: bring grad to the kept shape, divide by the number of winners
# <code>mask.sum(axis, keepdims=True)</code>; then multiply by the mask.</details>
# <details><summary>What about nan?</summary>A nan is not equal to anything, not even to itself. The reference makes it
# a winner, so that it does not vanish. The check does not test nan.</details>

# %% [markdown]
# ## 9 · SGD: the step, with momentum
#
# **SGD** is short for stochastic gradient descent. <dfn>Stochastic gradient descent</dfn> (SGD) is gradient descent in
# which each step uses only some of the examples, chosen at random. `lr` is the learning rate of lesson 02.
#
# `Optimizer` is given: it goes over the parameters, and calls `update` for the new numbers of each. `state` is a dict
# for each parameter, empty at first, in which `update` may keep what it needs until the next step.

# %% given source="tinygrad_cl.tensor.optim:at_least_0 tinygrad_cl.tensor.optim:Optimizer tinygrad_cl.tensor.optim:SGD[__init__]"

# %% [markdown]
# **Momentum**: a step does not follow the last gradient alone, but a velocity v, which also contains the earlier
# gradients. In a narrow valley, the steps across it change direction each time, so in v they cancel. The steps along it
# all have the same direction, so in v they add up.
#
# The docstring of `SGD` has two more options, each of them one line. With `nesterov`, p moves by lr (g + μ v) instead
# of lr v. <dfn>Weight decay</dfn> pulls every weight a little towards 0 in each step.

# %% exercise="layers.sgd" source="tinygrad_cl.tensor.optim:SGD.update"

# %% check="layers.sgd"

# %% [markdown]
# <details><summary>Hint 1</summary>Weight decay and momentum each have their own <code>if</code>: weight decay changes
# g, momentum makes v of g. Then p moves by lr times g, v, or g + μ v.</details>
# <details><summary>Hint 2</summary><code>state["v"]</code> is not there in the first step: ask
# <code>"v" in state</code>. Keep a copy of g, since the array g belongs to the gradient.</details>
# <details><summary>Hint 3</summary><code>g += …</code> and <code>p -= …</code> change arrays that belong to the
# parameter or to its gradient. Write <code>g = g + …</code>.</details>

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
# Large steps jump from one side of the valley to the other, small steps move slowly along its floor. With momentum the
# small steps are faster, and go a bit too far.

# %% [markdown]
# ## 10 · Adam: each weight its own step
#
# A <dfn>running mean</dfn> is updated in each step: β times the old mean plus (1 − β) times the new number, with β a
# little below 1. <dfn>Adam</dfn> is an optimizer that keeps two such means for each weight: m is that of its gradients, v
# that of their squares (another v than in exercise 9). β₁ is for m, β₂ for v.
#
# Adam moves each weight by lr · m / √v: where gradients are large, it divides by something large. Both means start at
# 0, so at first they are too small. In step t, m is therefore divided by 1 − β₁ᵗ and v by 1 − β₂ᵗ (β to the power t).
# The corrected means are called m̂ and v̂ (say: m hat and v hat). A tiny number ε is added, so that Adam never divides
# by 0.

# %% given source="tinygrad_cl.tensor.optim:Adam[__init__]"

# %% [markdown]
# ### Predict, then run
#
# Two weights, with gradients of 1000 and of 0.001, and lr = 0.1. How far does each go in the very first step? The rules
# in the docstring above and t = 1 are enough.

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
# The size of a gradient cancels, its sign stays: in the first step both weights move by lr, however large the gradient
# is. So for Adam the narrow valley is nearly like a round one, and it moves towards the middle. It goes too far, too:
# lr says how far a weight moves in a step, and where the gradient gets smaller, a step does so only slowly.

# %% [markdown]
# ## The referee, for everything at once
#
# The referee of lesson 01 moves each input a little up and a little down (a central difference), and knows none of your
# rules. The inputs and the upstream gradient are random, in float64:

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
# The goal, stated before training: the network reads **at least 95 of 100** pictures right that it has never seen. So a
# fifth of the pictures, chosen at random, is not used in training.
#
# In `train`, a step does not use all pictures. They are shuffled and cut into batches of 32, and each batch makes one
# step. In an <dfn>epoch</dfn>, training goes once through all of the training examples.

# %% demo
GOAL = 0.95
lot = np.random.default_rng(0).permutation(len(images))
known, unseen = lot[len(lot) // 5:], lot[:len(lot) // 5]
pixels = images.reshape(-1, 64).astype(np.float32) / 16  # from 0 to 1


def weights(rng, inputs, outputs):
    """W and b of a layer; √(2 / inputs) keeps the numbers of all layers about equally large."""
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
# What share of the unseen pictures (a number from 0 to 1) does the network get right before training? And after 10
# epochs with Adam?

# %% predict
reading = predict(before=..., after=...)

# %% demo
parameters, forward = network()
before = accuracy(forward, unseen)
adam_losses, norms = train(parameters, forward, Adam(parameters, lr=0.005), epochs=10)
after = accuracy(forward, unseen)
reading.compare(before=before, after=after)
size = sum(p.size for p in parameters)
print(f"\n{size:,} parameters, {len(adam_losses)} steps;"
      f" seen before: {accuracy(forward, known):.1%}, unseen: {after:.1%}")
print("the goal is reached" if after >= GOAL else "the goal is missed")

# %% [markdown]
# The loss starts near ln 10, the number from exercise 5. Three optimizers from the same weights, with the same batches:

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
# The <dfn>gradient norm</dfn> of a parameter is the length of its gradient: √Σg² over all numbers g of the gradient.
# The norms tell whether learning is healthy. They should not be 0, and they should not grow without limit. They should
# be about equally large in both layers, and get smaller as there is less to learn.

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
# ### More of today's functions in one network
#
# The same goal, with another network. Its steps:
#
# 1. **Embedding.** A grey value is a whole number from 0 to 16. Each of the 17 has a row in a table.
# 2. **Repeated indices.** A window of 3 × 3 pixels slides over the picture. (Networks that do this are called
#    *convolutional*.) Windows overlap, so a pixel is picked up to nine times.
# 3. The same layer, with **GELU**, for each window.
# 4. **Permute** brings the results of 2 × 2 neighbouring windows together, and **max** keeps the largest of each four
#    numbers.
# 5. A last layer makes the ten logits.

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
print(f"{size:,} parameters, unseen: {score:.1%}", "" if score >= GOAL else "(the goal is missed)")
table = parameters[0].data
order = np.argsort(np.linalg.norm(table - table[0], axis=1))
print("grey values by the distance of their rows from that of white:", *order)

# %% [markdown]
# The network was not told that 7 lies between 6 and 8: an embedding starts with random rows. Look at the printed order.
# How much of the natural order has training found? The network reads the digits even where it has not found the order.

# %% [markdown]
# ## When Python complains
#
# <details><summary><code>TypeError: operand 'Tensor' does not support ufuncs</code></summary>
# <code>np.tanh(x)</code> in <code>backward</code>, where x is a Tensor. Use its operators and methods:
# <code>x.tanh()</code>, <code>x.exp()</code>.</details>
#
# <details><summary><code>RuntimeError: NumPy records nothing, and this tensor requires a gradient</code></summary> The
# same: another function of NumPy (one that does not work number by number), such as <code>np.where</code>, was given a
# Tensor that needs a gradient. Multiply with a mask instead.</details>
#
# <details><summary><code>TypeError: unsupported operand type(s) for **: 'tuple' and 'int'</code></summary>
# <code>ctx.saved_tensors</code> is a tuple, also of one: <code>(x,) = ctx.saved_tensors</code>.</details>
#
# <details><summary><code>RuntimeError: …Loss.backward returned 1 gradients for 2 inputs</code></summary> One gradient
# for each input of <code>apply</code>: <code>return …, None</code> where the target gets none. Options such as
# <code>axis=</code> do not count.</details>
#
# <details><summary><code>ValueError: …backward: a gradient of shape (4, 2, 3) does not fit an input of shape (2, 3,
# 4)</code></summary> backward permuted the axes in the same way once more. It has to undo the permutation.</details>
#
# <details><summary><code>ValueError: Softmax: the shapes (3, 4) do not broadcast</code> (or of Max, CrossEntropyLoss,
# Div)</summary> A sum or maximum without <code>keepdims=True</code> has lost its axis, so it does not broadcast with
# x.</details>
#
# <details><summary>The mean squared error does not fall, and there is no error</summary>
# Look at the shapes: a prediction (n, 1) minus a target (n,) is (n, n), every prediction against every target. PyTorch
# prints a warning; <code>tinygrad_cl.tensor.mse_loss</code> raises an error.</details>
#
# <details><summary>The loss is nan</summary>
# A logarithm of 0, an overflow, or a step far too large. Look for the first step at which it happens; lesson 06 builds
# tools for that.</details>
#
# <details><summary><code>IndexError: an embedding of 17 rows has rows 0 to 16</code></summary>
# A number is outside of the table. In NumPy, −1 would give the last row without an error; an embedding raises an
# error.</details>

# %% [markdown]
# ## What it costs
#
# Cross-entropy in one Function, or in pieces: softmax (exp, a sum, a division), a product with the one-hot table and a
# sum over each row, a logarithm, a mean (one node, too), a minus. Guess: how many nodes do the pieces make, and how
# many times as long do they take as the one Function? (32 rows of 1,000 classes, forward and backward.)

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
# The one Function has fewer nodes, goes over the numbers fewer times, and gives no nan. If yours saves what hint 1
# says, it keeps a quarter of the memory. The pieces keep eˣ, 4 bytes for each score. The one Function keeps the scores,
# which are there anyway, and a one-hot table of its own, a byte for each score. Lesson 07 is about such memory.
#
# Where does a training step spend its time? (If one function calls another, as the loss calls softmax, that time counts
# for both.)

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
# A friend writes `cross_entropy(logits.softmax(axis=1), labels)`. It runs without an error. The loss falls slowly, and
# always stays high. What happens here? How low can this loss get with ten classes, and why is it slow? Five sentences
# at most. You may run it.
#
# <!-- BEGIN SOLUTION -->
# `cross_entropy` takes logits and does a softmax itself, so here there are two, one after the other. The inner one
# gives numbers from 0 to 1; taken as logits, they differ by 1 at most. The best possible result is 1 for the right
# class and 0 for the nine others, and then the loss is −ln(e / (e + 9)), about 1.46, not 0. It is slow since the
# gradient goes through one more softmax, which multiplies by y (1 − y) and the like, a quarter at most, and nearly 0
# once the inner softmax is sure, even where it is sure and wrong: just what cross-entropy of logits avoids. The
# accuracy may look all right, as the order of the scores stays.
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
# JAX has no optimizers of its own (optax has), and no `state` in objects: `update(gradients, state)` returns the new
# state.
#
# ## What comes next
#
# **06 control**: what if a gradient shall *not* flow? Parts cut off, recording switched off, `if` and `while`, hooks,
# and how to find the first nan.
