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
# # After the last lesson: four open tasks
#
# Nobody grades this. There are no points, and no lesson or notebook holds a solution.
#
# | | task | |
# |---|---|---|
# | 1 | convolution | forward and both gradients, on the device |
# | 2 | product | a matrix product, against the kernel that the package uses |
# | 3 | memory | where each value of a training step lies, before it runs |
# | 4 | language | a small model that predicts the next character, and writes |
#
# They do not build on each other. Each takes an evening, or several weeks.
#
# How can a check work without a solution? It knows *properties*: what is true of every right answer, whatever it looks like.
# Whether you use one kernel or five makes no difference. A check names the first property that does not hold, on the smallest
# input that shows it.
#
# Below each check stands a cell that *measures*. What you reach goes to your board, a small file beside this notebook,
# `board.json`, with the day, the processor and the driver. It is for you alone. What is not right is never entered, however
# fast it is.

# %% given
import math
from functools import lru_cache

import numpy as np
import pyopencl as cl

from autograder.projects import convolution, language, memory, product as products
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.opencl.kernels import KernelError, first_error
from tinygrad_cl.viz import Plot, highlight_kernels

device = manager.default("auto")
queue = device.queue
highlight_kernels()

# %% [markdown]
# ## A kernel of your own, on Tensors
#
# In lesson 09 you launched kernels on NumPy arrays. Here they run on Tensors, which stay on the device. `start` is all that
# you need for that.

# %% given
KINDS = [(Tensor, None), ((int, np.integer), np.int32), ((float, np.floating), np.float32)]


@lru_cache(maxsize=None)
def kernel_of(device, source, name, kinds):
    """The kernel of this name, compiled once."""
    try:
        return device.kernel(source, name, (), kinds)
    except cl.RuntimeError as error:
        raise KernelError(first_error(source, str(error))) from None


def kind_of(argument):
    """The kind of an argument, for `device.kernel`."""
    for types, kind in KINDS:
        if isinstance(argument, types):
            return kind
    raise TypeError(f"start takes Tensors, ints and floats, not {type(argument).__name__}: {argument!r}")


def start(source, name, work_items, *arguments, group=None):
    """Launch a kernel, and do not wait for it.

    work_items   a number, or a tuple of up to three
    arguments    a Tensor for each buffer, an int for an int, a float for a float
    group        work-items of a group, like work_items; None: the driver decides
    """
    on = next(each for each in arguments if isinstance(each, Tensor)).device
    kernel = kernel_of(on, source, name, tuple(map(kind_of, arguments)))
    operands = [each.buffer if isinstance(each, Tensor) else each for each in arguments]
    size, group = ((each,) if isinstance(each, (int, np.integer)) else each for each in (work_items, group))
    on.launch(kernel, size, group, operands)

# %% demo
TWICE = """
__kernel void twice(__global float *out, __global const float *x, const int n)
{
    int i = get_global_id(0);
    if (i < n) out[i] = 2 * x[i];
}
"""
x = Tensor.from_host(queue, [1.0, 2.0, 3.0])
out = Tensor.from_shape(queue, x.shape)  # holds nothing yet
start(TWICE, "twice", 3, out, x, x.size)
print(out.to_host())

# %% [markdown]
# ## Task 1 · Convolution, with its gradients
#
# A small window of weights moves over a picture. At each place it is multiplied with what lies under it, and added up:
#
# ```
#   x, padded by 1         w           out
#
#  ┌─────┐
#  │ 0  0│ 0  0  0                      1  2  3  0        1 = 0·1 + 0·0
#  │ 0  1│ 2  3  0        1  0          4  6  8  3          + 0·0 + 1·1
#  └─────┘                0  1          7 12 14  6
#    0  4  5  6  0                      0  7  8  9        then the window moves on by `stride`
#    0  7  8  9  0
#    0  0  0  0  0
# ```
#
# There are N pictures of C channels, and F filters, each of which sees all channels:
#
# $$\text{out}[n, f, p, q] = \sum_{c,i,j} x[n,\ c,\ p\,s + i - P,\ q\,s + j - P]\cdot w[f, c, i, j]$$
#
# with the stride $s$ and the padding $P$; outside of the picture, x is 0. The window is not turned round, as in PyTorch and
# everywhere in learning.
#
# A convolution is linear in x, and linear in w. So each gradient is a sum of products, too. Which ones? Ask for a single
# number of x: which numbers of out does it go into, and with which weight?

# %% demo
def conv(x, w, stride=1, padding=0):
    """The convolution of the formula above, a new Tensor of shape (N, F, P, Q).

    x         a Tensor of shape (N, C, H, W)
    w         a Tensor of shape (F, C, I, J)
    stride    1 or more; padding: 0 or more, on all four sides
    P, Q      (H + 2 · padding − I) // stride + 1, and the same of W and J

    >>> x = Tensor.from_host(queue, np.arange(1.0, 10).reshape(1, 1, 3, 3))
    >>> w = Tensor.from_host(queue, np.eye(2).reshape(1, 1, 2, 2))
    >>> conv(x, w).to_host()[0, 0].tolist(), conv(x, w, padding=1).to_host()[0, 0, 0].tolist()
    ([[6.0, 8.0], [12.0, 14.0]], [1.0, 2.0, 3.0, 0.0])
    """
    raise NotImplementedError


def conv_dx(g, w, shape, stride=1, padding=0):
    """The gradient of x, a new Tensor of this shape, if g is the gradient of conv(x, w, …).

    Numbers of x that no window reaches get 0.
    """
    raise NotImplementedError


def conv_dw(g, x, shape, stride=1, padding=0):
    """The gradient of w, a new Tensor of this shape, if g is the gradient of conv(x, w, …)."""
    raise NotImplementedError

# %% demo
convolution.check(conv, conv_dx, conv_dw)

# %% [markdown]
# <details><summary>Hint 1: forward</summary>One work-item for each number of out. From its number, <code>%</code> and
# <code>/</code> give q, p, f and n. Then three loops, and an <code>if</code> for what lies outside of the picture.</details>
# <details><summary>Hint 2: the gradient of w</summary>One work-item for each weight. It goes over all pictures and all places
# of the window: where did this weight meet which number of x? The index is that of the formula.</details>
# <details><summary>Hint 3: the gradient of x</summary>One work-item for each number of x, since two work-items must not add to
# the same number. It asks each weight (i, j): was there a window that put it onto me? Then <code>row + padding − i</code> is
# p · stride, so it must be divisible by the stride, and p from 0 to P − 1.</details>
# <details><summary>Hint 4: C's division</summary><code>-1 / 2</code> is 0 in C, not −1. Look whether a number is negative
# before you divide it.</details>
# <details><summary>Hint 5: faster</summary>Three ways, from easy to hard: several numbers of out for each work-item, which share
# what they load; the windows copied into the rows of a matrix, and then a matrix product; blocks in local memory, on a
# GPU.</details>
#
# The check holds gradients against two things. Finite differences of *your* conv: since it is linear, they have no error. And
# the three inner products, which are the same number: ⟨conv(x, w), g⟩ = ⟨x, conv_dx(g, w)⟩ = ⟨w, conv_dw(g, x)⟩.
#
# Numbers are whole there, so sums are exact. With fractions float32 rounds: all three must be within the error bound that task
# 2 shows, taken of the largest sum. Half precision is outside of it.
#
# It also wants to know whether the device does the work. So it notes the launches of a call, puts other numbers into x and w,
# and lets the same launches run again. What comes out must be right for the new numbers. Operations of the package are
# allowed, if you can make one out of them. What the host writes during a call is not written again: memory that must begin with
# 0 comes from `Tensor.full`.

# %% demo
convolution.measure(conv, conv_dx, conv_dw)

# %% [markdown]
# ## Task 2 · A faster matrix product
#
# In lesson 09 you wrote a product in registers, for sides that were multiples of 8 and 16. Now for any sides, and against
# the kernel that the package itself uses.
#
# ```
#               n                 a whole block:  fast code, no guards
#         ┌──────────┬──┐
#         │ whole    │  │         the right and the lower edge: what is left,
#       m │  blocks  │  │         which must be right, and should not slow
#         ├──────────┼──┤         down the rest
#         └──────────┴──┘
# ```
#
# `python -m tinygrad_cl tune` (`tinygrad-cl tune`, if you installed the course by pip) measures for about 20 seconds which
# settings suit your device; restart this notebook's kernel afterwards. Then your opponent is at its best. The board says
# whether it was.
#
# Float32 rounds, and nobody says in which order you add. So the check allows what rounding may cost in any order:
#
# $$|c - ab| \le \gamma_{k+2}\ |a|\,|b| \qquad \gamma_k = \frac{k\,u}{1 - k\,u} \qquad u = 2^{-24}$$
#
# number by number. That leaves no room for half precision. Nor for Strassen's method, which needs fewer multiplications: it
# mixes rows, and where one row is large and another small, the small one drowns. Rows differ so where it is measured, too.

# %% demo
def product(a, b):
    """a · b, a new Tensor of shape (m, n).

    a, b    Tensors of shape (m, k) and (k, n), float32. Any length may be 1, or 0: a sum of nothing is 0, and a result
            of no numbers needs no launch

    Only by kernels of your own text: no operation of the package. What makes memory (`Tensor.from_shape`, `Tensor.full`,
    `copy`) is no operation.

    >>> a = Tensor.from_host(queue, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> product(a, Tensor.from_host(queue, [[1.0], [10.0]])).to_host().tolist()
    [[21.0], [43.0], [65.0]]
    """
    raise NotImplementedError

# %% demo
products.check(product)

# %% [markdown]
# <details><summary>Hint 1: right first</summary>One work-item for each number of c, with a loop over k: ten lines, and on the
# board. Everything after that is speed.</details>
# <details><summary>Hint 2: blocks</summary>Your <code>BLOCKED</code> of lesson 09, with whole blocks only; a second kernel, the
# naive one, for the edges. Launch both into the same c.</details>
# <details><summary>Hint 3: caches</summary>At 1024 two numbers of a column of b lie 4 kB apart, and a panel of b may not fit
# into the cache nearest to the core. Copy the panel that a work-item needs into rows that follow each other, and use it for many rows
# of a. Goto and van de Geijn (13 in the list below) say which panel.</details>
# <details><summary>Hint 4: what to try</summary>Rows and vectors of a block decide how many registers you use: try all pairs.
# <code>device.launch_config</code> shows what the package chose for your device, and what it knows about the
# caches.</details>

# %% demo
products.measure(product)

# %% [markdown]
# The figure is the geometric mean over three sizes; 1.000 means as fast as the package. Both take turns, each turn has new
# numbers, and every result is looked at. That takes 20 seconds with a fast kernel, and about a minute with a naive one.
#
# ## Task 3 · A tape that plans its memory
#
# While a step runs, a pool hands out memory and takes it back when Python lets go of a tensor. The tape lets go late: all that
# forward computed stays until the end of backward.
#
# But a training step does the same every time. Whoever has its tape knows everything before it runs: which launch uses which
# value. So each value can get its place in one piece of memory, once and for all. Two values may have the same place if they
# never live at the same time:
#
# ```
#   note        0      1      2      3      4
#   uses        0      0 1    1 2    2 3    3
#
#   page 1             ├ 1 ────┤     ├ 3 ────┤
#   page 0      ├ 0 ────┤     ├ 2 ────┤               4 values, 2 pages
# ```
#
# A value *lives* from the first note that uses it to the last one, both included. What a launch reads and what it writes
# must be apart, so all values of one note live at the same time. What `stays` (the loss, the gradients) lives until after
# the last note.
#
# Here is a real step: a small network and its backward pass, launch by launch. Values that were there before, such as
# parameters, have their own memory and are not in the list.

# %% demo
step = memory.step_named(device, "digits")
for number, (name, note) in enumerate(zip(step.names, step.notes)):
    print(f"note {number:2}  {name:30} uses {note}")
print("sizes in pages:", step.sizes)
print("stays:", step.stays)
print(f"the plain tape has up to {step.plain} pages in use; at least "
      f"{memory.program_of(step, 'digits').least()} live at once")

# %% demo
def show_plan(name, plan):
    """A picture of a plan for a step: when each value lives, and in which pages."""
    step = memory.step_named(device, name)
    program = memory.program_of(step, name)
    plot = Plot(f"{name}: {program.pages(plan)} pages", "note", "page", width=7, height=3.6)
    for value, life in program.lives().items():
        colour = "#d55e00" if value in step.stays else "#0072b2"
        plot.axes.broken_barh([(life.start, len(life))], (plan[value], step.sizes[value]),
                              facecolor=colour, edgecolor="white", alpha=0.8)
    plot.axes.set_xlim(0, len(step.notes) + 1)
    plot.axes.set_ylim(0, program.pages(plan))
    return plot


ends = np.cumsum(list(step.sizes.values()))
all_apart = dict(zip(step.sizes, (ends - list(step.sizes.values())).tolist()))
show_plan("digits", all_apart)

# %% [markdown]
# Every value has pages of its own: a staircase, and most of the picture is empty. (Orange stays.) Pack it. `show_plan("digits",
# plan(step.notes, step.sizes, step.stays))` shows yours.

# %% demo
def plan(notes, sizes, stays):
    """Where each value lies: {value: its first page}. Values that live at the same time share no page.

    notes   a list: for each launch a tuple of the values that it uses, in the order of the launches
    sizes   {value: how many pages it needs, one after the other}; each value is in some note
    stays   a set: values that are needed after the last note

    All three stay as they are.

    >>> found = plan([(0,), (0, 1), (1, 2), (2, 3), (3,)], {0: 1, 1: 1, 2: 1, 3: 1}, {3})
    >>> max(found.values()) < 3, found[0] != found[1], found[1] != found[2], found[2] != found[3]
    (True, True, True, True)
    """
    raise NotImplementedError

# %% demo
memory.check(plan)

# %% [markdown]
# <details><summary>Hint 1: when a value lives</summary>One loop over the notes:
# <code>first.setdefault(value, number)</code> and <code>last[value] = number</code>. What stays ends after the last
# note.</details>
# <details><summary>Hint 2: the first place that is free</summary>Value by value: look at those that were placed before and live
# at the same time, ordered by their pages. The first gap that is wide enough is yours; else the place behind the
# last.</details>
# <details><summary>Hint 3: the order</summary>Which value is placed first? By the time of birth is natural. By size, the largest
# first, is often better: small ones fit into gaps later.</details>
# <details><summary>Hint 4: beyond</summary>To find the smallest plan is NP-hard, so nobody knows a fast way for all cases. Try
# several orders and keep the best plan; move values at random, and keep what helps.</details>
#
# The check runs real steps by your plan: the same launches, all values in one piece of memory, where your plan puts them. The
# gradients must be those of the plain tape, and the memory less than it uses.

# %% demo
memory.measure(plan)

# %% [markdown]
# The figure: the pages of your plans, divided by the most that live at once. No plan gets below 1.000.
#
# ## Task 4 · A small language model
#
# In lesson 15 you built a model out of given parts, and trained it with given code. Now all of it is yours: what the model
# is, how it learns, how it draws.
#
# ```
#   ids             3   0   2   …
#                   │   │   │
#   model           ▼   ▼   ▼        each row sees its own character and earlier ones
#                   │   │   │
#   probabilities  [·] [·] [·]       a row for each: what comes next?
#                           └──▶  draw one, append it, ask again
# ```
#
# Any model will do, if it keeps the promises below: a table of counts, a network, a transformer. A table is a fair opponent:
# how much better is a network, on text that neither has seen?
#
# Drawing with a *temperature* T: the probabilities are softmax(logits / T), which is the same as $p^{1/T}$, made to sum to 1.
# Near 0 only the most probable one is left.

# %% demo
def train(ids, characters, steps, seed):
    """A model after so many steps of training; what it is, is your choice.

    ids          the text, an int32 array of numbers from 0 to characters − 1; it stays as it is
    characters   how many different ones there are
    steps        of training; the check asks for few of them on a small text
    seed         for all that is drawn at random
    """
    raise NotImplementedError


def probabilities(model, ids):
    """A NumPy array of shape (len(ids), characters): row i says how probable each character is after ids[0], …, ids[i].

    ids   an int32 array of 1 to 48 numbers; it stays as it is. Row i does not change if later ones do
    """
    raise NotImplementedError


def sample(model, ids, count, temperature, seed):
    """`count` further characters after ids, a list or an array of ints: each drawn from softmax(logits / temperature), where the
    logits are those of the text so far (of its last 48 characters, if it is longer). The same seed gives the same
    characters, whenever it is called; what one seed gives tells nothing of another one.

    temperature   above 0; 1e-6 takes the most probable one
    """
    raise NotImplementedError

# %% demo
language.check(train, probabilities, sample)

# %% [markdown]
# <details><summary>Hint 1: the smallest model</summary>Count how often each character follows each other one, add a little to
# every count, and divide each row by its sum. That is a model, and it passes.</details>
# <details><summary>Hint 2: a network</summary>Module 15 has all parts: <code>ag.embedding</code>, <code>nn.TransformerBlock(width,
# heads, causal=True, queue=queue, seed=seed)</code>, <code>nn.Linear</code>, <code>ag.cross_entropy</code>, <code>AdamW</code>.
# The check trains on text of 4 characters: take the sizes of your layers from <code>characters</code>.</details>
# <details><summary>Hint 3: drawing</summary>Divide logits, not probabilities, and subtract the largest before you take exp: with
# T = 1e-6 they are huge. <code>np.random.default_rng(seed)</code> makes a generator; make it in each call.</details>
# <details><summary>Hint 4: 48 at most</summary>If your model sees fewer characters than it is given, rows must look the same
# number of places back, wherever the text begins.</details>
#
# The check's language is a 0 and then a 1, 2 or 3, again and again. What you draw is held against *your* probabilities, also
# after texts that end alike and go on differently, with a chance below one in 100,000 that a right sampler fails. Up to 6,000
# seeds are tried after each of some texts, as many as time allows: what is slow is judged less sharply.
# The first check of a network compiles its kernels, for texts of several lengths, and may take half a minute; later ones take
# some seconds.

# %% demo
language.measure(train, probabilities, sample, steps=600)

# %% [markdown]
# The figure: nats per character, on new sentences of lesson 15's language. Nobody who really predicts gets below the floor
# that stands beside it: what the program draws cannot be known. Change `steps` as you like; the board notes it.
