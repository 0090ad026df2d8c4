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
# # 13 · MNIST: training on the device
#
# The tape works, and it runs on your device. To train a network, you need some more parts around it. You write them
# today, as small as they can be:
#
# ```
#  Batches ──x──▶ Linear ─▶ ReLU ─▶ Linear ──▶ cross_entropy ──▶ loss ──▶ a line that shows it
#     └──────y─────────────────────────────────────▲               │
#                  ▲                                               │ tape.backward
#                  └──── Adam, on the device ◀──── gradients ◀─────┘
# ```
#
# Then the whole step is **captured**: after that, no Python of yours runs inside a step any more. At the end you look
# at what the device really does all the time.

# %% given
import importlib.util
import math
import time

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.primitives import c_number
from tinygrad_cl.netcl.optim.optimizer import Optimizer, at_least_0
from tinygrad_cl.netcl.runtime import capture, profile
from tinygrad_cl.viz import Plot, plot_lines, plot_losses, plot_timeline, plot_times

device = manager.default("auto")
queue = device.queue


def on_device(array):
    """A copy of an array as a float32 Tensor on the device."""
    return Tensor.from_host(queue, array)


def as_rows(images):
    """(n, 28, 28) bytes as (n, 784) float32 numbers from 0 to 1: an array."""
    return images.reshape(len(images), -1).astype(np.float32) / 255


def gradients(f, upstream, *leaves):
    """The gradients of the leaves, arrays: f() on a tape, and back from `upstream`."""
    for leaf in leaves:
        leaf.grad = None
    with ag.Tape() as tape:
        out = f()
    tape.backward(out, upstream)
    return [None if leaf.grad is None else leaf.grad.to_host() for leaf in leaves]

# %% [markdown]
# ### Go on with your own engine, if you like
#
# The tape is what you built in lesson 10, the compiler what you built in lesson 12. The next cell looks in `work/` for
# your saved notebooks of these lessons and runs the checks on what you wrote. Each function of yours that is right
# replaces the one of the finished engine in this notebook. Then the cell prints which functions are yours. If a
# notebook is missing, it says so.

# %% demo
from autograder.notebook import mine

mine(before=13)

# %% [markdown]
# ## The pictures
#
# MNIST is a collection of 70,000 pictures of handwritten digits. You get 5,000 of them. A thousand, chosen at random,
# are put aside: the unseen ones. A <dfn>test set</dfn> is a set of examples that a network never sees while it learns;
# it shows how well the network does on new ones.
#
# The goal, stated before the training: **at least 92 of 100** unseen pictures are read right.

# %% demo
from tinygrad_cl.datasets import load_mnist

GOAL = 0.92
images, labels = load_mnist()
if device.found.is_interpreter:  # a device that interprets kernels needs hours for all of them
    images, labels = images[::100], labels[::100]
lot = np.random.default_rng(0).permutation(len(images))
unseen, known = lot[:len(lot) // 5], lot[len(lot) // 5:]


def show_pictures(pictures, title, cmap="gray_r", **options):
    """Pictures of one size side by side, dark where their numbers are large."""
    plot = Plot(title, "", "", height=1.1)
    plot.axes.imshow(np.concatenate(list(pictures), axis=1), cmap=cmap, **options)
    plot.axes.set_axis_off()
    return plot


print(f"{device.found.name}: {len(known):,} pictures to learn from,"
      f" {len(unseen):,} to be tested with")
show_pictures(images[known[:14]], " ".join(map(str, labels[known[:14]])))

# %% [markdown]
# ## 1 · A layer
#
# A `Parameter` is a Tensor for numbers that are trained: it stays on the device, requires a gradient wherever it is
# used by an operation of `ag`, and an optimizer changes it in place. A layer is some Parameters and a formula that uses
# them.
#
# Beware: between two Tensors, `@`, `*` and `+` compute at once and **record nothing**, and a Parameter is a Tensor, too.
# `ag.matmul` makes Nodes. Where one of the two is a Node, the result is a Node, on whichever side it stands.

# %% demo
x = on_device(np.ones((2, 3)))
w = Parameter.from_host(queue, np.ones((3, 4)))
print("x @ w           ", x @ w)
print("ag.matmul(x, w) ", ag.matmul(x, w))

# %% exercise="mnist.linear" own="a layer of operations that are known; the package's nn.Linear is one launch, with its activation, and a Module"
class Linear:
    """x · W + b, for each row of x.

    queue            of the device
    inputs, outputs  how many numbers a row has before and after
    rng              a random generator of NumPy, from which the weights are drawn

    weight           Parameter (inputs, outputs), at first uniform between −r and r, where
                     r = √(6 / inputs)
    bias             Parameter (outputs,), at first 0

    A call with a Tensor or a Node (rows, inputs) gives a Node (rows, outputs).

    >>> layer = Linear(queue, 3, 2, np.random.default_rng(0))
    >>> layer(on_device(np.ones((5, 3)))), len(layer.parameters())
    (Node(shape=(5, 2), dtype=float32, op_name='add', requires_grad=True), 2)
    """

    def __init__(self, queue, inputs, outputs, rng):
        ### BEGIN SOLUTION
        bound = math.sqrt(6 / inputs)
        weight = rng.uniform(-bound, bound, (inputs, outputs))
        self.weight = Parameter.from_host(queue, weight)
        self.bias = Parameter.from_host(queue, np.zeros(outputs))
        ### END SOLUTION

    def __call__(self, x):
        ### BEGIN SOLUTION
        return ag.matmul(x, self.weight) + self.bias
        ### END SOLUTION

    def parameters(self):
        """[weight, bias]"""
        ### BEGIN SOLUTION
        return [self.weight, self.bias]
        ### END SOLUTION

# %% check="mnist.linear"

# %% [markdown]
# <details><summary>Hint 1</summary><code>Parameter.from_host(queue, array)</code>, and
# <code>rng.uniform(low, high, shape)</code>.</details>
# <details><summary>Hint 2</summary>A Node plus a Parameter is a Node: after <code>ag.matmul(…)</code> you may write
# <code>+</code>.</details>
#
# <details><summary>Why √(6 / inputs)?</summary>The reason is the variance of what flows through the network. The
# <dfn>variance</dfn> of numbers is the mean of their squared distances from their mean. Uniform numbers between −r and
# r have the variance r² / 3, here 2 / inputs. Each output adds up <code>inputs</code> products, and ReLU sets about
# half of the numbers to 0. With these weights, the numbers neither grow nor shrink from layer to layer (He et al.
# 2015).</details>

# %% [markdown]
# ## 2 · Layers in a row
#
# Anything that takes a Node and returns a Node may stand in the row: a `Linear`, a function such as `ag.relu`, or
# another row of layers.

# %% exercise="mnist.sequential" own="layers in a row; the package's nn.Sequential is a Module, and joins a layer with the activation behind it"
class Sequential:
    """Layers one after the other; the output of each is the input of the next.

    layers   functions of a Node. Those that have a method `parameters()` have parameters, also
             when they are a Sequential themselves

    >>> rng = np.random.default_rng(0)
    >>> model = Sequential(Linear(queue, 3, 4, rng), ag.relu, Linear(queue, 4, 2, rng))
    >>> model(on_device(np.ones((5, 3)))).shape, len(model.parameters())
    ((5, 2), 4)
    """

    def __init__(self, *layers):
        ### BEGIN SOLUTION
        self.layers = layers
        ### END SOLUTION

    def __call__(self, x):
        ### BEGIN SOLUTION
        for layer in self.layers:
            x = layer(x)
        return x
        ### END SOLUTION

    def parameters(self):
        """The Parameters of all layers, a list, in the order of the layers. One that is used in
        several places is in it once."""
        ### BEGIN SOLUTION
        found = []
        for layer in self.layers:
            if hasattr(layer, "parameters"):
                found += [p for p in layer.parameters() if all(p is not q for q in found)]
        return found
        ### END SOLUTION

# %% check="mnist.sequential"

# %% [markdown]
# <details><summary>Hint 1</summary><code>hasattr(layer, "parameters")</code> tells a layer from a plain
# function.</details>
# <details><summary>Hint 2</summary>A layer that stands in two places gives its two Parameters twice. Append a Parameter
# only if it is not in the list yet.</details>
#
# The network for today:

# %% demo
HIDDEN, CLASSES = 128, 10
PIXELS = images[0].size


def network(seed=1):
    rng = np.random.default_rng(seed)
    return Sequential(Linear(queue, PIXELS, HIDDEN, rng), ag.relu,
                      Linear(queue, HIDDEN, CLASSES, rng))


network().parameters()

# %% [markdown]
# ### Predict, then run
#
# How many numbers will Adam have to change? And how large would the loss be before any training, if the network gave
# ten equal logits to every picture?

# %% predict
start_guess = predict(numbers=..., loss_of_equal_logits=...)

# %% demo
numbers = sum(p.size for p in network().parameters())
start_guess.compare(numbers=numbers, loss_of_equal_logits=math.log(CLASSES))

# %% [markdown]
# ## 3 · Cross-entropy on the device
#
# You know cross-entropy from lesson 05. Here it is composed of operations that the tape has, and the targets are
# **one-hot** rows: 1 at the right class, 0 elsewhere. So no number has to be picked by its index: multiply, and add up.
#
# $$L = \frac1N \sum_{\text{rows}} \sum_{\text{classes}} \text{target} \cdot (\ln \textstyle\sum e^{z} - z)
# \qquad z = x - \max x \text{ of the row}$$

# %% exercise="mnist.cross_entropy" own="of operations that are known; the package's cross_entropy is one operation on rows"
def cross_entropy(logits, targets):
    """−ln softmax(logits) at the right class, the mean over the rows: a Node of shape ().

    logits    Node (rows, classes); numbers of ±1000 are no trouble
    targets   Tensor (rows, classes), 1 at the right class of each row, 0 elsewhere

    From ag.max, ag.exp, ag.sum, ag.log and operators. (ag.cross_entropy does the same as one
    operation; it comes later.)

    >>> loss = cross_entropy(ag.tensor(on_device([[0, 0], [3, 3]])), on_device([[1, 0], [0, 1]]))
    >>> loss.shape, round(float(loss.to_host()), 4)
    ((), 0.6931)
    """
    ### BEGIN SOLUTION
    z = logits - ag.max(logits, axis=1, keepdims=True)
    log_sum = ag.log(ag.sum(ag.exp(z), axis=1, keepdims=True))
    return ag.sum(targets * (log_sum - z)) * (1 / logits.shape[0])
    ### END SOLUTION

# %% check="mnist.cross_entropy"

# %% [markdown]
# <details><summary>Hint 1</summary><code>ag.max(x, axis=1, keepdims=True)</code> has shape (rows, 1), and broadcasts
# when it is subtracted.</details>
# <details><summary>Hint 2</summary>The logarithm of the sum is one number per row, with <code>keepdims=True</code>;
# minus z, it has a number for each class. The targets pick one of them.</details>
# <details><summary>Hint 3</summary><code>ag.mean</code> of all numbers would divide by rows · classes.</details>

# %% [markdown]
# ### Predict, then run
#
# Engine 3 has a cross-entropy that is one operation. How many kernels does yours launch for the loss and its gradient
# together, and how many does the finished one?

# %% predict
launch_guess = predict(yours=..., finished=...)

# %% demo
def launches_of(loss_function):
    logits = ag.tensor(on_device(np.ones((50, 10))), requires_grad=True)
    targets = on_device(np.eye(10)[np.arange(50) % 10])
    with device.watch() as launches:
        with ag.Tape() as tape:
            loss = loss_function(logits, targets)
        tape.backward(loss)
    return [launch.name for launch in launches]


yours, finished = launches_of(cross_entropy), launches_of(ag.cross_entropy)
launch_guess.compare(yours=len(yours), finished=len(finished))
print("\nyours:   ", *yours)
print("finished:", *finished)

# %% [markdown]
# Each kernel reads its numbers from memory and writes its result to memory. For 50 rows of 10 numbers, the launch
# itself costs more than the work on the numbers. You will see these launches again, in the timeline.

# %% [markdown]
# ## 4 · Batches
#
# A batch is the group of examples that one training step uses. Here a batch has 50 of the 4,000 pictures. An epoch is
# one pass through all training examples, batch by batch. Each epoch has another order, so other pictures come together
# in a batch. Two rules will help later:
#
# - the order is a function of seed and epoch, so a run can be repeated, or continued from the middle;
# - all batches have the same shape: pictures that do not fill a batch are left out. (In the next epoch, others are left
#   out.)

# %% exercise="mnist.batches" own="batches one by one; the package's DataLoader prepares the next ones in a thread, and takes any data set"
class Batches:
    """Batches of pictures and labels, as Tensors: `for x, y in batches:` is one epoch.

    images   array (n, height, width) of bytes
    labels   array (n,) of whole numbers from 0 to 9
    size     pictures in a batch
    seed     it decides the orders: the order of epoch e is
             np.random.default_rng([seed, e]).permutation(n)
    epoch    how many epochs have begun, at first 0. The first epoch is e = 0, the second e = 1. An
             epoch begins when its first batch is asked for. One that is left early counts, too

    x        Tensor (size, height · width): as_rows of the batch's images
    y        Tensor (size, 10): one-hot rows
    len()    how many batches an epoch has; pictures that do not fill one are left out
    """

    def __init__(self, images, labels, size, seed=0):
        self.images, self.labels, self.size, self.seed = images, labels, size, seed
        self.epoch = 0

    def __len__(self):
        ### BEGIN SOLUTION
        return len(self.images) // self.size
        ### END SOLUTION

    def __iter__(self):
        ### BEGIN SOLUTION
        order = np.random.default_rng([self.seed, self.epoch]).permutation(len(self.images))
        self.epoch += 1
        for number in range(len(self)):
            rows = order[number * self.size:(number + 1) * self.size]
            yield on_device(as_rows(self.images[rows])), on_device(np.eye(10)[self.labels[rows]])
        ### END SOLUTION

# %% check="mnist.batches"

# %% [markdown]
# <details><summary>Hint 1</summary><code>order[a:b]</code> are the numbers of the pictures in a batch, and
# <code>images[numbers]</code> are these pictures.</details>
# <details><summary>Hint 2</summary><code>np.eye(10)</code> has the one-hot row of class k in row k. So
# <code>np.eye(10)[labels]</code> …</details>
# <details><summary>Hint 3</summary>With <code>yield x, y</code> in it, <code>__iter__</code> is a generator: it goes on
# where it stopped when the loop wants the next batch. Lines after the last <code>yield</code> never run if the loop is
# left early.</details>

# %% demo
batches = Batches(images[known], labels[known], 50 if len(known) > 50 else 10)
x, y = next(iter(batches))
print(len(batches), "batches of", x, "and", y)

# %% [markdown]
# ## 5 · Adam, where the parameters are
#
# You wrote Adam in lesson 05, for arrays. There, t, the number of the step, was a Python number. Here, an optimizer's
# formula is C text, and becomes **one kernel for all parameters**. The simplest optimizer shows how. Its `update` gets
# the *names* of the old numbers in C, and returns expressions for the new ones.

# %% given
class SGD(Optimizer):
    """p ← p − lr · g"""

    def __init__(self, params, lr):
        super().__init__(params, lr)

    def update(self, p, g, lr):
        return [f"{p} - {lr} * {g}"]

# %% demo
p = Parameter.from_host(queue, [1.0, 2.0])
p.grad = on_device([10.0, -10.0])
optimizer = SGD([p], lr=0.01)
print("C expression of the new p:", *optimizer.update("p", "g", "lr"))
optimizer.step()
print("after a step:", p.to_host())

# %% [markdown]
# Adam has more to remember, so it has more names. For each number of a parameter there are m and v. For all parameters
# together there are two single numbers, c1 and c2, called **counts**: after step t they hold 1 − β₁ᵗ and 1 − β₂ᵗ. They
# can be computed without t, since a count is the running mean of ones, begun at 0. (A running mean is updated in each
# step: β times the old mean, plus (1 − β) times the new number. The running mean of g is m.)
#
# ```
#  c ← β c + (1 − β)
#
#  before step 1    c = 0
#  after step 1     c = 1 − β
#  after step 2     c = β (1 − β) + (1 − β) = 1 − β²
#  …
# ```
#
# Why avoid a t in Python? Because soon no Python will run inside a step, and so nothing could count t.

# %% given source="tinygrad_cl.netcl.optim.adam:Adam[counts __init__]"

# %% [markdown]
# `c_number(0.9)` writes a number as C text, and `V` is the type that the kernel computes in: `(V)(1)` is a one.
# `self.settings["betas"]` and `self.settings["eps"]` are what `__init__` got. `self.decayed(p, g)` is given: the C text
# of g with the weight decay, g + λ p, in parentheses where it is a sum.

# %% exercise="mnist.adam" source="tinygrad_cl.netcl.optim.adam:running_mean tinygrad_cl.netcl.optim.adam:Adam.count tinygrad_cl.netcl.optim.adam:Adam.update"

# %% check="mnist.adam"

# %% [markdown]
# <details><summary>Hint 1</summary>Everything is text: <code>f"{p} - {lr} * {g}"</code>. <code>running_mean</code>
# gives text, so it can be put into larger text. Too many parentheses do no harm.</details>
# <details><summary>Hint 2</summary><code>count</code> returns a list of two running means, of c1 with β₁ and of c2 with
# β₂, each of <code>"(V)(1)"</code>.</details>
# <details><summary>Hint 3</summary>In <code>update</code> overwrite the names: <code>m = running_mean(beta1, m,
# g)</code> is the text of the new m. Then m̂ is <code>({m} / {c1})</code>, and C's root is
# <code>sqrt(…)</code>.</details>
#
# The check looks only at the numbers that the kernel computes. You may write your C text in any way.

# %% demo
p = Parameter.from_host(queue, np.zeros(3))
p.grad = on_device([100.0, 1.0, -0.01])
adam = Adam([p], lr=0.01)
with device.watch() as launches:
    adam.step()
print("gradients 100, 1 and −0.01 become the steps", p.to_host())
print("launches:", *[launch.name for launch in launches])

# %% [markdown]
# ## 6 · One step, ready to be captured
#
# You have all parts, and a step is five lines. To <dfn>capture</dfn> a step is to write down the commands that it puts
# into the queue, so that they can be sent again without Python. (Do not confuse it with the tape's recording, which is
# for backward.) A step that is to be captured keeps two rules:
#
# - **It reads nothing.** `to_host` waits for the device. The loss stays on the device, as a Tensor, and can be read
#   after the step.
# - **It forgets old gradients first.** Gradients add up on leaves, so set them to None *inside* the step.

# %% exercise="mnist.step" own="a training step; the package leaves loops to its users"
def make_step(model, optimizer):
    """A function step(x, y) that trains the model by one batch, with cross_entropy as the loss.

    model       model(x) gives the logits, a Node
    optimizer   has zero_grad() and step(), and the model's parameters

    step(x, y) takes Tensors, of a batch of pictures and of one-hot rows, and returns the loss
    before the step, `.value` of the Node: a Tensor of shape (). Gradients from before the call do
    not count. Nothing is read on the host, so that `capture(step)` can replay it.
    """
    ### BEGIN SOLUTION
    def step(x, y):
        optimizer.zero_grad()
        with ag.Tape() as tape:
            loss = cross_entropy(model(x), y)
        tape.backward(loss)
        optimizer.step()
        return loss.value

    return step
    ### END SOLUTION

# %% check="mnist.step"

# %% [markdown]
# <details><summary>Hint 1</summary>A function inside a function: <code>def step(x, y):</code>, and at the end
# <code>return step</code>, without parentheses.</details>
# <details><summary>Hint 2</summary>In this order: forget gradients; a tape around model and loss; backward; step;
# return the loss.</details>

# %% [markdown]
# ### Capture
#
# `capture(step)` returns a function that you call like `step`. Its first calls (three at most) run your Python and write
# down every command that goes into the queue: kernel, buffers, sizes. From then on each call is a replay. A
# <dfn>replay</dfn> sends a captured list of commands to the device again, and no Python of the step runs. You may call
# it with other tensors of the same shapes, such as the next batch: the replay computes with their numbers.

# %% demo
model = network()
plain = make_step(model, Adam(model.parameters(), lr=0.002))
captured = capture(plain)
for number in range(4):
    loss = captured(x, y)
    print(f"call {number}: loss {loss.to_host():.4f}   {captured}")
print("\nthe list:", *captured.commands)

# %% [markdown]
# ### Predict, then run
#
# How many times as fast is the replay of a step as the step in Python, with batches of 50?

# %% predict
replay_guess = predict(times_as_fast=...)

# %% demo
def seconds_per_step(step, *batch, rounds=7, steps=20):
    """The time of one of several steps in a row, the best of some rounds: others only add to it."""
    for _ in range(4):  # kernels are compiled, and the step is captured
        step(*batch)
    queue.finish()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(steps):
            step(*batch)
        queue.finish()
        times.append((time.perf_counter() - start) / steps)
    return min(times)


in_python, replayed = seconds_per_step(plain, x, y), seconds_per_step(captured, x, y)
replay_guess.compare(times_as_fast=in_python / replayed)
print(f"\nin Python {1e6 * in_python:.0f} µs, replayed {1e6 * replayed:.0f} µs for a step")
if replayed > 0.9 * in_python:
    print("hardly any gain here: a step waits for the device, or the computer is busy")

# %% [markdown]
# A replay runs the same kernels as the step in Python, and computes the same results. It saves the work of Python:
# nodes, shapes, rules, the walk back. Is that a gain? Where the kernels take longer than Python, the step waits for the
# device, and a replay is hardly faster, or not at all.
#
# The list holds commands only. `self.t += 1` is no command, so a replay does not do it. A number from Python that went
# into a command keeps its value in every replay; if it changes between the first calls, `capture` raises an error. That
# is why Adam's counts lie on the device.

# %% [markdown]
# ## 7 · How many are right?
#
# Training makes the loss smaller, but you want to know something else. The <dfn>accuracy</dfn> of a model is the share
# of examples for which the largest logit belongs to the right class. No graph is needed for it.

# %% exercise="mnist.accuracy" own="a measurement of a model; the package leaves it to its users"
def accuracy(model, images, labels, size=500):
    """The share of pictures whose label has the largest logit: a float from 0 to 1.

    model    model(x) gives logits, a Node (rows, 10), for a Tensor x of as_rows
    images   array (n, height, width) of bytes, n at least 1
    labels   array (n,) of whole numbers from 0 to 9
    size     at most so many pictures go through the model at once; all pictures count, also those
             that do not fill a batch

    Nothing is recorded meanwhile: the model runs inside ag.no_grad().
    """
    ### BEGIN SOLUTION
    right = 0
    with ag.no_grad():
        for start in range(0, len(images), size):
            logits = model(on_device(as_rows(images[start:start + size]))).to_host()
            right += np.sum(logits.argmax(axis=1) == labels[start:start + size])
    return float(right / len(images))
    ### END SOLUTION

# %% check="mnist.accuracy"

# %% [markdown]
# <details><summary>Hint 1</summary>The last <code>images[start:start + size]</code> may be shorter, and that is what
# you need.</details>
# <details><summary>Hint 2</summary>Count the right answers over all batches, and divide once. In a mean of the batches'
# shares, a picture of the short batch would count more.</details>

# %% [markdown]
# ## Training
#
# One line shows the progress: a bar and the loss. To show the loss, the program has to read it, and to read it is to
# wait for the device. So the line is written anew only every 20 steps.

# %% demo
from IPython.display import Pretty, display


class Progress:
    """One line that is written anew: a bar, and a text behind it."""

    def __init__(self, total):
        self.total, self.begin = total, time.perf_counter()
        self.line = display(Pretty(""), display_id=True)

    def show(self, done, text):
        bar = ("█" * (30 * done // self.total)).ljust(30, "░")
        seconds = time.perf_counter() - self.begin
        self.line.update(Pretty(f"{bar} {done}/{self.total} steps   {text}   {seconds:.1f} s"))


def train(model, step, batches, epochs, every=20):
    """(losses, shares of known and of unseen pictures that are right, one for each epoch)."""
    progress, losses, shares = Progress(epochs * len(batches)), [], []
    for epoch in range(epochs):
        for x, y in batches:
            losses.append(step(x, y))  # a Tensor: nothing waits
            if len(losses) % every == 0:
                progress.show(len(losses), f"epoch {epoch + 1}, loss {losses[-1].to_host():.3f}")
        shares.append([accuracy(model, images[part], labels[part]) for part in (known, unseen)])
    progress.show(len(losses), f"unseen {shares[-1][1]:.1%}")
    return [float(loss.to_host()) for loss in losses], np.array(shares)

# %% [markdown]
# ### Predict, then run
#
# The network trains for twelve epochs. Of 100 unseen pictures, how many does it get right before training, and how many
# after? And of 100 known ones, after training?

# %% predict
reading = predict(unseen_before=..., unseen_after=..., known_after=...)

# %% demo
EPOCHS = 12
model = network()
before = accuracy(model, images[unseen], labels[unseen])
step = capture(make_step(model, Adam(model.parameters(), lr=0.002)))
batches = Batches(images[known], labels[known], 50 if len(known) > 50 else 10)
losses, shares = train(model, step, batches, EPOCHS)
reading.compare(unseen_before=100 * before, unseen_after=100 * shares[-1, 1],
                known_after=100 * shares[-1, 0])
print("\nthe goal is reached" if shares[-1, 1] >= GOAL else "\nthe goal is missed")

# %% demo
print(f"first loss {losses[0]:.2f}; to know nothing costs ln 10 = {math.log(10):.2f}")
plot_losses({"loss of the batch": losses}, "Loss over the steps", smooth=20)

# %% demo
plot_lines(range(1, EPOCHS + 1), {"known": 100 * shares[:, 0], "unseen": 100 * shares[:, 1]},
           "Right answers after each epoch", "epoch", "of 100")

# %% [markdown]
# The two curves move away from each other. In <dfn>overfitting</dfn>, a network still gets better on the examples that
# it is trained with, but no longer on new ones. More pictures would help, not more epochs.
#
# Which of the unseen pictures does the network misread?

# %% demo
with ag.no_grad():
    answers = model(on_device(as_rows(images[unseen]))).to_host().argmax(axis=1)
wrong = unseen[answers != labels[unseen]][:10]
told = [f"{labels[k]}→{answer}" for k, answer in zip(wrong, answers[answers != labels[unseen]])]
show_pictures(images[wrong] if len(wrong) else images[:1], "Misread: " + " ".join(told))

# %% [markdown]
# And what has a neuron of the first layer learned? (A neuron in a layer is also called a *unit*.) A picture shows how
# its 784 weights have changed since the start. Blue: the weight of this place has become larger. Red: smaller.

# %% demo
change = model.parameters()[0].to_host() - network().parameters()[0].to_host()
change = change.T.reshape(HIDDEN, *images[0].shape)
most = change[np.argsort(-np.linalg.norm(change, axis=(1, 2)))[:10]]
reach = np.abs(most).max()
show_pictures(most, "The ten units that have learned most", "RdBu", vmin=-reach, vmax=reach)

# %% [markdown]
# ## What the device does
#
# A <dfn>profile</dfn> notes for every command when it was put into the queue, when it began to run, and when it ended.
# `profile` is run on thirty steps in Python, and on thirty replays. What share of the time is the device busy, in %?

# %% predict
busy_guess = predict(in_python=..., replayed=...)

# %% demo
def watch(step, steps):
    with profile() as seen:
        for _ in range(steps):
            step(x, y)
    return seen


for warm_up in (plain, captured):
    watch(warm_up, 5)
seen_python, seen_replayed = watch(plain, 30), watch(captured, 30)
busy_guess.compare(in_python=100 * seen_python.busy / seen_python.wall,
                   replayed=100 * seen_replayed.busy / seen_replayed.wall)
print("\n" + seen_replayed.table())

# %% [markdown]
# Here are two steps as a picture. A bar is a command that runs; the line before the bar is the command's wait in the
# queue.

# %% demo
def quickest(step):
    """Two steps, watched; the quickest of twenty tries, since other programs take time, too."""
    return min((watch(step, 2) for _ in range(20)), key=lambda seen: seen.wall)


plot_timeline(quickest(plain).timeline(), "Two steps in Python")

# %% demo
plot_timeline(quickest(captured).timeline(), "Two steps replayed")

# %% [markdown]
# A line begins where its command was put into the queue, a bar where the command began to run. So the part to the left
# of the first bars is the time of the host: your Python, or the replay of the list. Compare this time in the two
# pictures.
#
# Then look at the bars. Some platforms, such as PoCL, begin to run commands only when the host waits for a result.
# Others begin at once; with them, a gap between two bars is the device waiting for the host. (A profile takes time
# itself: both steps are quicker without it.)

# %% [markdown]
# ### Predict, then run
#
# Most launches are tiny, and many of them belong to your cross-entropy. Now take the finished cross-entropy, and
# finished layers in which product, bias and ReLU are one launch (`tinygrad_cl.netcl.nn`). Such a step has fewer
# commands, and it is captured, too. How many commands does it have? And how many times as fast is it as your captured
# step?

# %% predict
fused_guess = predict(commands=..., times_as_fast=...)

# %% demo
from tinygrad_cl.netcl import nn


def package_step(model, optimizer):
    def step(x, y):
        optimizer.zero_grad()
        with ag.Tape() as tape:
            loss = ag.cross_entropy(model(x), y)
        tape.backward(loss)
        optimizer.step()
        return loss.value
    return step


def like(parameters):
    """The package's network, with the same numbers as ours."""
    twin = nn.Sequential(nn.Linear(queue, PIXELS, HIDDEN), nn.ReLU(),
                         nn.Linear(queue, HIDDEN, CLASSES))
    for theirs, ours in zip(twin.parameters(), parameters):
        theirs.write(ours.to_host())
    return twin


twin = like(network().parameters())
fused = capture(package_step(twin, Adam(twin.parameters(), lr=0.002)))
fused_time = seconds_per_step(fused, x, y)
fused_guess.compare(commands=len(fused.commands), times_as_fast=replayed / fused_time)
print(f"\n{len(captured.commands)} commands and {1e6 * replayed:.0f} µs before, "
      f"{len(fused.commands)} commands and {1e6 * fused_time:.0f} µs now")

# %% [markdown]
# ## Side by side
#
# Compare the same network with the same first weights, the same batches and the same Adam: in NumPy by hand, in your
# engine, and in PyTorch and netcl where they are installed. First, do all compute the same? Each makes ten steps, and
# you see the loss of the last.

# %% demo
def numpy_step(start, lr=0.002):
    """Forward, backward and Adam for our network, with every gradient written by hand."""
    w1, b1, w2, b2 = parameters = [p.to_host() for p in start]
    means = [(np.zeros_like(p), np.zeros_like(p)) for p in parameters]
    count = 0

    def step(x, y):
        nonlocal count
        h = np.maximum(x @ w1 + b1, 0)
        z = h @ w2 + b2
        z -= z.max(axis=1, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=1, keepdims=True)
        loss = (y * (np.log(total) - z)).sum() / len(x)
        dz = (e / total - y) / len(x)
        dh = dz @ w2.T * (h > 0)
        count += 1
        gradients = x.T @ dh, dh.sum(axis=0), h.T @ dz, dz.sum(axis=0)
        for p, g, (m, v) in zip(parameters, gradients, means):
            m += np.float32(0.1) * (g - m)
            v += np.float32(0.001) * (g * g - v)
            root = np.sqrt(v / np.float32(1 - 0.999 ** count)) + np.float32(1e-8)
            p -= np.float32(lr / (1 - 0.9 ** count)) * m / root
        return loss

    return step

# %% demo
def torch_step(start, lr=0.002):
    import torch
    w1, b1, w2, b2 = parameters = [torch.tensor(p.to_host(), requires_grad=True) for p in start]
    adam = torch.optim.Adam(parameters, lr=lr)

    def step(x, y):
        adam.zero_grad()
        logits = torch.relu(x @ w1 + b1) @ w2 + b2
        loss = torch.nn.functional.cross_entropy(logits, y)
        loss.backward()
        adam.step()
        return loss.detach()

    return step


def netcl_step(start, lr=0.002):
    import netcl.autograd as their
    from netcl.nn.layers import Linear, ReLU, Sequential
    from netcl.optim import Adam
    model = Sequential(Linear(queue, PIXELS, HIDDEN), ReLU(), Linear(queue, HIDDEN, CLASSES))
    for theirs, ours in zip(model.parameters(), start):
        theirs.write(ours.to_host())
    adam = Adam(model.parameters(), lr=lr)

    def step(x, y):
        adam.zero_grad()
        with their.Tape() as tape:
            loss = their.cross_entropy(model(their.tensor(x)), their.tensor(y))
        tape.backward(loss)
        adam.step()
        return loss.value

    return step

# %% demo
def installed(name):
    return importlib.util.find_spec(name) is not None


def contenders():
    """{name: (step, array → what it takes, loss → number)}, each with weights of its own."""
    start = network().parameters()
    found = {"NumPy, by hand": (numpy_step(start), np.asarray, float)}
    for name, wrap in (("yours, in Python", lambda step: step), ("yours, captured", capture)):
        model = network()
        step = wrap(make_step(model, Adam(model.parameters(), lr=0.002)))
        found[name] = step, on_device, lambda loss: float(loss.to_host())
    twin = like(start)
    found["engine 3's layers, captured"] = (
        capture(package_step(twin, Adam(twin.parameters(), lr=0.002))), on_device,
        lambda loss: float(loss.to_host()))
    if installed("torch"):
        import torch
        found["PyTorch"] = torch_step(start), torch.tensor, float
    if installed("netcl"):
        from netcl.core.tensor import Tensor as Theirs
        found["netcl"] = (netcl_step(start), lambda array: Theirs.from_host(queue, array),
                          lambda loss: loss.to_host().item())
    return found


def some_batch(size, seed=0):
    rows = np.random.default_rng(seed).choice(known, size)
    return as_rows(images[rows]), np.eye(CLASSES, dtype=np.float32)[labels[rows]]


for name, (step, convert, number) in contenders().items():
    for seed in range(10):
        loss = step(*map(convert, some_batch(50, seed)))
    print(f"{name:28} loss after ten steps {number(loss):.5f}")

# %% [markdown]
# Now measure the time of a step, for small and for large batches. How many times as fast as NumPy is your captured
# step, with batches of 10, and with batches of 1,000?

# %% predict
race_guess = predict(with_10=..., with_1000=...)

# %% demo
sizes = [10, 50, 250, 1000] if not device.found.is_interpreter else [5, 10]
seconds = {name: [] for name in contenders()}
for size in sizes:
    for name, (step, convert, _) in contenders().items():
        batch = [convert(array) for array in some_batch(size)]
        slow = seconds[name] and not seconds[name][-1] < 0.05  # what takes long is not waited for
        seconds[name].append(np.nan if slow else seconds_per_step(step, *batch, rounds=4, steps=5))
    faster = np.divide(seconds["NumPy, by hand"], seconds["yours, captured"])
    if np.isfinite(faster[-1]):
        print(f"batches of {size:5,}: your captured step is {faster[-1]:.2f} × as fast as NumPy")
race_guess.compare(with_10=faster[0], with_1000=faster[-1])
plot_times(sizes, seconds, f"One training step on {device.found.name}", "pictures in a batch")

# %% [markdown]
# Look at the two ends of the plot. **On the left** nearly all of a step is launches and Python: here a replay and fewer
# launches save time. NumPy has no launches, and on most devices a call of NumPy costs less than a launch, so NumPy may
# still be faster. **On the right** nearly all of a step is matrix products: the curves of your own steps come together,
# and the engine with the fastest matrix product is the fastest.
#
# So do you need capture? Look at how busy your device is.

# %% [markdown]
# ## Whose engine was it?
#
# Here the step is not captured, since in a replay no function runs. One step is watched: which functions does it call
# that you were asked to write, in this lesson or in lessons 10 and 12? How often does it call each, and is it yours or
# the reference's (the finished engine's)? Then the network is trained from the start for two epochs, with steps that
# are not captured.

# %% demo
model = network()
step = make_step(model, Adam(model.parameters(), lr=0.002))
batch = [on_device(array) for array in some_batch(50)]
step(*batch)  # kernels are compiled
with mine.watch() as ran:
    step(*batch)
print(ran)

for _ in range(2):
    for x, y in batches:
        step(x, y)
share = accuracy(model, images[unseen], labels[unseen])
print(f"\nafter two epochs, {share:.1%} of the unseen ones are right")

# %% [markdown]
# And how fast is it? The step runs with your functions of lessons 10 and 12 and with those of the reference, one after
# the other, several times. Inside `mine.reference()` the package uses none of your functions from earlier lessons. Your
# `Linear`, `cross_entropy` and `Adam` of this notebook run in both.

# %% demo
def seconds_of(step, *batch, steps=10):
    start = time.perf_counter()
    for _ in range(steps):
        step(*batch)
    queue.finish()
    return (time.perf_counter() - start) / steps


own_seconds, reference_seconds = [], []
for _ in range(9):
    own_seconds.append(seconds_of(step, *batch))
    with mine.reference():
        reference_seconds.append(seconds_of(step, *batch))
ratios = np.divide(own_seconds, reference_seconds)
ratio, (low, high) = np.median(ratios), np.quantile(ratios, [0.1, 0.9])
print(f"a step on your engine {1e6 * np.median(own_seconds):.0f} µs, "
      f"on the reference's {1e6 * np.median(reference_seconds):.0f} µs")
print(f"ratio {ratio:.2f} (most turns between {low:.2f} and {high:.2f})")
if not any(whose.startswith("yours") for whose in ran.whose.values()):
    print("Nothing of earlier lessons is yours here, so both are the reference's:",
          "that is how far times scatter.")
elif low <= 1 <= high:
    print("Faster in some turns, slower in others: this machine sees no difference.")
else:
    print(f"Yours is {'slower' if ratio > 1 else 'faster'}.")

# %% [markdown]
# This is the step in PyTorch's words. The lines are nearly the same, and so is what runs behind them:
#
# | yours | PyTorch | what runs behind it |
# |---|---|---|
# | `optimizer.zero_grad()` | the same | |
# | `with ag.Tape() as tape:` | none: operations record unless `torch.no_grad()` says otherwise | `Tape.__enter__` |
# | `loss = cross_entropy(model(x), y)` | `loss = F.cross_entropy(model(x), y)` | `apply_op`, `record` |
# | `tape.backward(loss)` | `loss.backward()` | `topological_order`, `accumulate`; in PyTorch, C++ |
# | `optimizer.step()` | the same | your `Adam.update`, as a kernel |

# %% [markdown]
# ## Messages you may meet
#
# <details><summary><code>ValueError: … requires no gradient: no leaf it was computed from does</code></summary>
# Somewhere between the weights and the loss an operation on two Tensors was done without <code>ag</code>, such as
# <code>x @ self.weight</code>. Or a weight is a Tensor and no Parameter.</details>
#
# <details><summary><code>AttributeError: 'Tensor' object has no attribute 'parents'</code> (or
# <code>'value'</code>)</summary> A Tensor stands where a Node is meant: <code>ag.tensor(x)</code> wraps it, and
# operations of <code>ag</code> do so themselves.</details>
#
# <details><summary><code>RuntimeError: … cannot be replayed, since its calls differ</code></summary>
# The step does something else each time: it takes a number from Python that changes, or makes a new tensor that the next
# call needs. What differs stands behind the colon.</details>
#
# <details><summary><code>RuntimeError: a captured step cannot look at numbers</code></summary> A <code>to_host</code>,
# <code>float(loss)</code> or <code>print(loss)</code> of numbers inside the step. Return the Tensor, and read it
# outside.</details>
#
# <details><summary><code>ValueError: captured for …, got …: capture again for other shapes</code></summary> The batch
# has another size. Are the pictures left out that do not fill a batch?</details>
#
# <details><summary><code>RuntimeError: clBuildProgram failed</code>, or <code>this is no C, says the compiler</code>,
# in Adam</summary> The C text has an error. An undeclared identifier is often a name without its braces:
# <code>{m}</code>. Print <code>adam.update("p", "g", "lr", "m", "v", "c1", "c2")</code>, and count parentheses.
# Python's <code>**</code> and <code>math.sqrt</code> are no C.</details>
#
# <details><summary><code>TypeError: operand 'Node' does not support ufuncs</code></summary> A function of NumPy was
# given a Node: <code>np.exp</code>. Use <code>ag.exp</code>.</details>
#
# <details><summary>The loss stays at ln 10</summary> Pictures and labels do not belong together: were both taken in the
# same order? Or the gradients are set to None between backward and the optimizer's step.</details>

# %% [markdown] written="mnist.explain" points=3
# ## In your own words
#
# A friend writes an Adam that counts `self.t += 1` in Python, and a step that ends with `print(float(loss.to_host()))`.
# Both work. Then comes `capture(step)`. What happens to the `print`, what happens to the `t`, and why must it be so?
# And when is a step not worth capturing at all? Use a number that you measured. Five sentences at most.
#
# <!-- BEGIN SOLUTION -->
# A captured step is a list of commands for the device; in a replay no line of Python runs. So a
# print could never show anything new: reading is refused (RuntimeError) from the second call on. t is a Python number
# that was written into a command: either the calls differ, and capture refuses it (RuntimeError: got the number 1 and
# then 2), or t would stay what it was during the capture, and the correction of the means would be wrong. What changes
# from step to step has to lie on the device and to be changed by a command, as the counts are. With batches of 1,000
# the device is busy nearly all the time (my plot: the lines meet), so there is next to no Python to save, and shapes
# that change from batch to batch cannot be captured.
#
# **How it is marked**
#
# - 1 point: a replay runs commands and no Python; so reading or printing inside cannot work.
# - 1 point: t would be frozen (or is refused because the calls differ); what changes has to be state on the device.
# - 1 point: no gain where the device is busy anyway, as with large batches, with a measured number; or where shapes change.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# | yours | netcl and `tinygrad_cl.netcl` | PyTorch |
# |---|---|---|
# | `Linear(queue, 784, 128, rng)` | `nn.Linear(queue, 784, 128)` | `nn.Linear(784, 128)`; its weight is (outputs, inputs) |
# | `Sequential(…, ag.relu, …)` | `nn.Sequential(…, nn.ReLU(), …)` | the same |
# | `cross_entropy`, one-hot | `ag.cross_entropy`; in `tinygrad_cl` class numbers, too | `F.cross_entropy`, class numbers or probabilities |
# | `Batches` | `DataLoader(…, device_queue=queue)`: prepares the next batches in a thread | `DataLoader(…, drop_last=True)` |
# | `Adam` | `optim.Adam` | `torch.optim.Adam(…, capturable=True)` has its counts on the device, for the same reason |
# | `capture(step)` | `runtime.capture` | `torch.cuda.CUDAGraph`, `torch.compile(mode="reduce-overhead")` |
# | `profile()`, `plot_timeline` | `runtime.profile` | `torch.profiler` |
#
# JAX: `jax.jit(step)` of a function that takes parameters and state and returns new ones; it traces once, and compiles
# the whole step.
#
# ## What comes next
#
# One device is busy. **14 parallel**: several processes, each with its tape and its part of the batch, and one sum of
# gradients between them.
