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
# # 06 · Control: what flows, what stops, what breaks
#
# Your engine works. Now three real programs use it, and each of them has trouble. The first program does a validation,
# and no operation of it should be recorded. <dfn>Validation</dfn> means: to test a network on data that it was not
# trained on. The second program writes into an array that backward still needs. The third program finds NaN after an
# hour. None of this needs new mathematics. It needs **control**, at four places of an engine:
#
# ```
#              1 recorded at all?          2 who keeps old numbers?
#                     │                            │
#   forward    x ───▶ op ──────────▶ y ──────────▶ op ─────▶ loss
#                                                              │
#   backward   x.grad ◀──────────── gradient ◀─────────────────┘
#                            │                  │
#                     4 who looks at it?   3 cut here?
# ```
#
# Ten exercises, most of them under ten lines. They use the engine of lessons 04 and 05, given here as `Tensor`.

# %% given
import inspect
import math
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from functools import wraps

import numpy as np

import tinygrad_cl.tensor as engine
from autograder.notebook import check, predict
from tinygrad_cl.tensor import Tensor
from tinygrad_cl.tensor.core.modes import GradMode, is_grad_enabled
from tinygrad_cl.tensor.core.variable import Variable  # what every Tensor is
from tinygrad_cl.viz import draw, plot_lines, plot_losses, seconds_per_call

# %% [markdown]
# ## 1 · Cut here: detach
#
# To <dfn>detach</dfn> a tensor means to make another tensor with the same numbers, in the same memory, through which no
# gradient flows. `u.detach()` has the numbers of `u`, but no `grad_fn`. Nothing is copied.
#
# ```python
# u = x * x
# z = u * x              # one way from x to z through u, one directly
# z = u.detach() * x     # and now?
# ```
#
# ### Predict, then run
#
# At x = 3: what is `x.grad` for each of the two?

# %% predict
cut_guess = predict(whole=..., cut=...)

# %% demo
def gradient_of(f, at):
    x = Tensor(at, requires_grad=True)
    f(x).backward()
    return x.grad.item()


cut_guess.compare(whole=gradient_of(lambda x: (x * x) * x, 3.0),
                  cut=gradient_of(lambda x: (x * x).detach() * x, 3.0))
x = Tensor(3.0, requires_grad=True)
x.label = "x"
draw((x * x).detach() * x)

# %% [markdown]
# Without the cut the gradient is 3x². With the cut it is the number u alone: no gradient flows through a detached
# tensor. The picture shows why: the left operand is a constant now, and no box leads to it.

# %% [markdown]
# Why would one want that? Because some numbers are **targets**: the prediction should move towards them, and they
# should stay where they are.
#
# An example is *reinforcement learning*, where a program learns by trying. The program is in some situation, the
# *state*. It does something, gets a number as its *reward*, and is in the next state. The *value* of a state is all the
# reward that the program expects from there on. So the value should come near this target: reward + discount · value of
# the next state. (A target that is made of one's own predictions is called *bootstrapped*.) (The discount is a number a
# little below 1, since later rewards count less.) Here the value of the state is the prediction. It is computed from
# the same weights as the value of the next state. If gradients flow into the target as well, training also moves the
# target towards the prediction, and what is learned is wrong.

# %% exercise="control.detach" own="a user of engine 2: one loss with a constant target"
def bootstrap_loss(value, next_value, reward, discount):
    """The mean of (value − target)², where target = reward + discount · next_value is a constant.

    value, next_value   tensors of shape (n,), often computed from the same weights
    reward              array of shape (n,)
    discount            a number
    returns a tensor of shape (): gradients reach what `value` was computed from, through `value`
    alone. The two tensors stay as they are.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> loss = bootstrap_loss(w, 3 * w, np.array([0.0, 1.0]), 0.5)
    >>> loss.backward()
    >>> loss.item(), w.grad.data.tolist()
    (2.125, [-0.5, -2.0])
    """
    ### BEGIN SOLUTION
    target = reward + discount * next_value.detach()
    return ((value - target) ** 2).mean()
    ### END SOLUTION

# %% check="control.detach"

# %% [markdown]
# <details><summary>Hint 1</summary>First compute the target. One of the two tensors must be detached for it: value or
# next_value?</details>
# <details><summary>Hint 2</summary><code>next_value.detach()</code> is a new tensor; next_value itself does not
# change.</details>

# %% [markdown]
# ## 2 · Gradients through `if` and `while`
#
# The engine never sees your `if`. It sees the operations that ran. So a function in which the operations depend on the
# input needs nothing special. Here is a well-known example: double a until it is long enough, then maybe multiply by a
# hundred.

# %% exercise="control.doubling" own="a user of engine 2: a program whose way depends on numbers"
def doubling(a):
    """Double a until it is long enough; the way there depends on the numbers.

    a    a tensor of any shape, not all 0

    Start with b = 2a. While the length of b, √Σb² over all its numbers, is below 1000: double b. If
    the sum of b is above 0, the result is b, else 100·b. Gradients flow from the result to a.

    >>> doubling(Tensor(0.75)).item(), doubling(Tensor(-0.75)).item()
    (1536.0, -153600.0)
    """
    ### BEGIN SOLUTION
    b = a * 2
    while b.norm() < 1000:
        b = b * 2
    if b.sum() > 0:
        return b
    return 100 * b
    ### END SOLUTION

# %% check="control.doubling"

# %% [markdown]
# <details><summary>Hint 1</summary><code>b.norm()</code> is a tensor with one number. It can be compared with 1000, and
# the answer can stand after <code>while</code>.</details>
# <details><summary>Hint 2</summary>Every step makes a new b from the old one: <code>b = b * 2</code>. Each of these
# products is recorded, so the graph leads from the result back to a.</details>

# %% [markdown]
# ### Predict, then run
#
# Call the result d. Whatever operations ran, d is a times some number. So what must `a.grad` be, in terms of d and a?
# And how many nodes does the graph get for a = 300, and for a = 0.3?

# %% predict
# a.grad at a = 0.3, where d = 1228.8; and the nodes in the graphs
way_guess = predict(a_grad=..., nodes_for_300=..., nodes_for_0_3=...)

# %% demo
def doubled(number):
    a = Tensor(np.array(number), requires_grad=True)
    a.label = "a"
    return a, doubling(a)


def nodes(tensor):
    """How many operations lie on the ways from this tensor back to the leaves."""
    found, todo = set(), [tensor.grad_fn]
    while todo:
        node = todo.pop()
        if node in found or not hasattr(node, "next_nodes"):
            continue
        found.add(node)
        todo += node.next_nodes
    return len(found)


a, d = doubled(0.3)
count = nodes(d)
d.backward()
way_guess.compare(a_grad=a.grad.item(), nodes_for_300=nodes(doubled(300.0)[1]), nodes_for_0_3=count)
print(f"\nd / a = {d.item() / a.item():g}")
for number in (0.3, -7.0, 150.0, -900.0):
    a, d = doubled(number)
    d.backward()
    print(f"a = {number:6}   d = {d.item():10.1f}   a.grad = {a.grad.item():8g}   "
          f"d / a = {d.item() / a.item():8g}")
draw(doubled(-150.0)[1])

# %% [markdown]
# The comparison `b.norm() < 1000` decides which operations run, and no gradient flows through a comparison. The norm
# itself was recorded, but d was not computed from it, so it is not in the picture.
#
# That has a consequence. The next cell draws d against a. You see pieces of straight lines. Each of them lies on a line
# through the point (0, 0). The gradient is right on each piece. Of the **jumps** between the pieces it says nothing.

# %% demo
points = np.linspace(50.0, 2000.0, 1951)
values = np.array([doubling(Tensor(a)).item() for a in points])
values[1:][values[1:] < values[:-1]] = np.nan  # a gap at each jump
plot_lines(points, {"d": values}, "The doubling function", "a", "d", markers=False)

# %% [markdown]
# ## 3 · Record or not: above a function
#
# A validation needs no graph: it would only fill the memory. So the engine looks at a switch before it records. Setting
# this switch by hand goes wrong in three ways:
#
# ```python
# switch.on = False; evaluate(); switch.on = True       # 1: the caller had it off already
# switch.on = False; 1 / 0;      switch.on = True       # 2: an error on the way
# switch.on = False; train(); evaluate(); switch.on = True  # 3: train() leaves it on: evaluate() is recorded
# ```
#
# The <dfn>mode</dfn> of a thread says whether its operations are recorded now: on or off. `is_grad_enabled()` returns
# it. You know the remedy from lesson 04, where `pause` and `record` are such blocks: `with GradMode(False):` notes the
# mode at its start, sets the switch, and restores the old mode at the end of the block, also after an error.

# %% [markdown]
# A function that is never to be recorded needs such a block around **each call**. If you forget one, nothing looks
# wrong: the numbers are the same, only the memory fills. So say it once, above the function, with a *decorator*:
#
# ```text
# @no_grad()                      #  what Python does:
# def accuracy(x, y):             #      def accuracy(x, y): …
#     …                           #      accuracy = no_grad()(accuracy)
# ```
#
# Python does three things. It calls `no_grad()`, which returns an object. It calls this object with the function
# `accuracy`. What comes back gets the name `accuracy`. From then on recording is off inside each call, and outside it
# is on or off as before. In this picture the caller itself switches recording off between the two calls:
#
# ```
#                       accuracy(…)          accuracy(…)
#                            │                    │
#   the caller   ────on──────┐      ┌──on───off───┐      ┌──off────▶ time
#   accuracy                 └─off──┘             └─off──┘
# ```

# %% [markdown]
# <dfn>no_grad</dfn> is used as a block or as a decorator: no operation inside the block, or inside a call of the
# decorated function, is recorded. The object that `no_grad()` returns is given: it is a `Block`. In a `with` statement
# it works like `GradMode`. As a decorator it calls a function `in_mode`, which does the work. You write `in_mode`
# below. (`pause` and `record` were MXNet's names for two such blocks; `no_grad` and `enable_grad` are PyTorch's. You may
# skip this: `Block` refuses functions that are defined by `async def`, since while one of them waits, other functions
# would run in its mode.)

# %% given source="tinygrad_cl.tensor.modes:Block tinygrad_cl.tensor.modes:no_grad tinygrad_cl.tensor.modes:enable_grad"

# %% [markdown]
# ### Predict, then run
#
# One kind of function is special: generator functions. The one below yields the mode in which it runs, twice. The block
# ends after its first value and before its second. Write 1 for on, 0 for off.

# %% predict
step_guess = predict(first=..., second=...)

# %% demo
def modes():
    yield is_grad_enabled()
    yield is_grad_enabled()


with GradMode(False):
    values = modes()
    first = next(values)
second = next(values)
step_guess.compare(first=int(first), second=int(second))

# %% [markdown]
# The call `modes()` itself runs none of the generator's lines. They run when `next` asks for a value, in the mode of
# the code that calls `next`. So a block around the call `modes()` ends too early. A block around all the values would
# last too long: the caller's own lines, between two values, would be in it. Each step needs a block of its own:
#
# ```
#                   next                next
#                    │                   │
#   the caller  ──on─┐       ┌──on───────┐       ┌──on────▶ time
#   the generator    └──off──┘           └──off──┘
#                          yield               yield
# ```
#
# The class `Steps` does that, and is given. It defines `send` and `throw`; Python's `Generator` makes the other methods
# from these two: `next` sends None, `close` throws a GeneratorExit.

# %% given source="tinygrad_cl.tensor.modes:Steps"

# %% exercise="control.mode" source="tinygrad_cl.tensor.modes:in_mode"

# %% check="control.mode"

# %% [markdown]
# <details><summary>Hint 1</summary>Two moments: <code>in_mode</code> is called once, where the function is defined.
# What it returns is called later, many times. In which of them does the block belong?</details>
# <details><summary>Hint 2</summary>Define a function inside, <code>def call(*args, **kwargs):</code>, and return it. In
# it, one block around <code>return function(*args, **kwargs)</code>: a new <code>GradMode</code> for each
# call.</details>
# <details><summary>Hint 3</summary><code>@wraps(function)</code> above the inner function copies name and
# docstring.</details>
# <details><summary>Hint 4</summary><code>inspect.isgeneratorfunction(function)</code> says whether there is a
# <code>yield</code> in it. Then the inner function only hands its generator to <code>Steps</code>.</details>

# %% demo
w = Tensor([1.0, 2.0], requires_grad=True)


@no_grad()
def validation(batches):
    """A score for each batch."""
    for batch in batches:
        yield (w * batch).mean()


for score in validation([1.0, 2.0, 3.0]):
    loss = (w * score).sum()  # the caller trains between two scores
    print(f"recorded: the score {score.item():g}? {score.requires_grad}   "
          f"the caller's loss? {loss.requires_grad}")
print(f"{validation.__name__}: {validation.__doc__}")

# %% [markdown]
# That is all of `no_grad`. The engine's own `no_grad` is the same code. The switch can be set in several ways:
#
# | | |
# |---|---|
# | `with engine.no_grad():` | off for the block |
# | `@engine.no_grad()` above a function | off for each call of it |
# | `with engine.enable_grad():` | on again for the block, also inside a `no_grad` block |
# | `with engine.set_grad_enabled(training):` | on or off, as a variable says |
# | `engine.set_grad_enabled(False)` | off from here on, until the next change |
# | `engine.is_grad_enabled()` | what is it now? |
#
# ### Predict, then run
#
# Which of these tensors require a gradient, 1 or 0? `made_before_seen_inside` is a tensor that was made before the
# block, and is asked inside. In the last one, the new thread starts in the middle of a `no_grad` block.

# %% predict
off_guess = predict(inside_the_block=..., made_before_seen_inside=..., on_again_inside=...,
                    after_the_inner_block=..., after_an_error=..., in_a_new_thread=...)

# %% demo
def in_thread(function):
    """Run function() in a thread of its own; its result."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


w = Tensor([1.0, 2.0], requires_grad=True)
before = w * 3
with engine.no_grad():
    inside = w * 3
    seen = before.requires_grad  # it was recorded when it was made
    with engine.set_grad_enabled(True):
        again = w * 3
    inner_done = w * 3
    threaded = in_thread(lambda: w * 3)
try:
    with engine.no_grad():
        raise ValueError("in the block")
except ValueError:
    after = w * 3
off_guess.compare(inside_the_block=int(inside.requires_grad), made_before_seen_inside=int(seen),
                  on_again_inside=int(again.requires_grad),
                  after_the_inner_block=int(inner_done.requires_grad),
                  after_an_error=int(after.requires_grad),
                  in_a_new_thread=int(threaded.requires_grad))

# %% [markdown]
# The last one is a surprise in real programs: each thread has its own switch, and a new thread starts with "on". If a
# program hands a validation to a pool of threads under `no_grad`, everything is recorded all the same. There is no
# error; only the memory fills.
#
# (`enable_autograd` of lesson 04 is a switch for all threads. Here that would be worse: a validation thread would stop
# the training thread's recording.)

# %% [markdown]
# ## 4 · Take the mode along
#
# So wrap the function that is handed to the thread. `in_mode` gets the mode as an argument. The new function,
# `in_my_mode`, is given no mode: it asks for the mode itself, at the moment when `in_my_mode` is **called**. The
# function that it returns runs later, and uses that mode in every call.

# %% exercise="control.threads" own="a user of engine 2: carries the mode of one thread to another; the package has no threads of its own here"
def in_my_mode(function):
    """A function that does what `function` does, recorded or not as it is here and now.

    The mode is that of the moment at which in_my_mode is called (`engine.is_grad_enabled()`), also
    when the result is called later, elsewhere, in another thread, several times. Arguments, keyword
    arguments, result and errors are those of `function`. After each call, the mode is again what it
    was before that call.

    >>> def recorded():
    ...     return engine.is_grad_enabled()
    >>> with engine.no_grad():
    ...     same_here = in_my_mode(recorded)
    >>> recorded(), same_here(), recorded()
    (True, False, True)
    """
    ### BEGIN SOLUTION
    mode = engine.is_grad_enabled()

    def in_that_mode(*args, **kwargs):
        with engine.set_grad_enabled(mode):
            return function(*args, **kwargs)

    return in_that_mode
    ### END SOLUTION

# %% check="control.threads"

# %% [markdown]
# <details><summary>Hint 1</summary>Two moments: now, and when the inner function is called. In which of them must
# <code>is_grad_enabled()</code> be asked?</details>
# <details><summary>Hint 2</summary><code>def inner(*args, **kwargs):</code>, and in it one <code>with</code> block around
# <code>return function(*args, **kwargs)</code>.</details>

# %% demo
with engine.no_grad():
    print("as it is:      ", in_thread(lambda: w * 3))
    print("in_my_mode:    ", in_thread(in_my_mode(lambda: w * 3)))
print("afterwards here:", w * 3)

# %% [markdown]
# ## 5 · Changed in place: who still needs the old numbers?
#
# A change <dfn>in place</dfn> writes into the memory of an array instead of making a new array. `y += 1` is such a
# change. Many texts say that it breaks backward. Does it? The backward of `y * 2` needs only the 2; the backward of
# `y * y` needs y.
#
# ### Predict, then run
#
# There are five cases. Each starts with a new `y = 2·x` and computes a result from it: `y + 5`, `y * y`, `y.exp()`,
# `y.exp()` again, `y.reshape(2, 1)`. Then y is changed in place; in the fourth case the result of exp is changed
# instead. Then follows a backward from the result. Write 1 where you expect an error, 0 where you expect none.

# %% predict
place_guess = predict(y_plus_5=..., y_squared=..., exp_of_y=..., change_the_result_of_exp=...,
                      y_reshaped=...)

# %% demo
def use_then_change(use, change_result=False):
    """1 if backward raises after y, or the result, was changed in place; else 0."""
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    result = use(y)
    with engine.no_grad():
        if change_result:
            result += 1
        else:
            y += 1
    try:
        result.sum().backward()
        return 0
    except RuntimeError as error:
        print(error, end="\n\n")
        return 1


place_guess.compare(y_plus_5=use_then_change(lambda y: y + 5),
                    y_squared=use_then_change(lambda y: y * y),
                    exp_of_y=use_then_change(lambda y: y.exp()),
                    change_the_result_of_exp=use_then_change(lambda y: y.exp(), True),
                    y_reshaped=use_then_change(lambda y: y.reshape(2, 1)))

# %% [markdown]
# An error **only where the changed value was saved**. `exp` is its own derivative, so it saves its result and does not
# need its input any more. How does the engine know? A <dfn>version counter</dfn> is an object that belongs to the
# memory of a tensor and counts the changes in place. The counter of a tensor is `tensor.version`. Its number,
# `tensor.version.count`, goes up by one with every change in place. When an array is saved for backward, this number is
# noted. When backward takes the array out, the noted number is compared with the number now.
#
# ```
#   y = 2·x          version 0
#   z = y * y        Saved: the array of y, version 0
#   y += 1           version 1
#   z.backward()     0 ≠ 1: stop, before a wrong gradient comes out
# ```
#
# A view of y is another tensor that lies in the same memory, such as `y.reshape(2, 1)`, a slice, or `y.detach()`. Views
# share the memory, so they share the counter: `y.reshape(2, 1).version is y.version`.

# %% exercise="control.saved" own="the version counter alone; the package's Saved also makes a tensor of the array again, with its place in the graph"
class Saved:
    """The numbers of a tensor, kept for backward: as an array, without a copy.

    tensor.version   a counter that the tensor shares with its views: it stays the same object, and
                     its `count` goes up by one with each change in place

    >>> y = Tensor([1.0, 2.0])
    >>> y += 1
    >>> kept = Saved(y)
    >>> kept.unpack()
    array([2., 3.], dtype=float32)
    """

    def __init__(self, tensor):
        ### BEGIN SOLUTION
        self.array = tensor.data
        self.version = tensor.version
        self.count = tensor.version.count
        ### END SOLUTION

    def unpack(self):
        """The array; RuntimeError if it was changed in place since it was saved.

        A change back counts as a change, too. Changes before the saving do not matter.
        """
        ### BEGIN SOLUTION
        if self.version.count != self.count:
            raise RuntimeError(f"saved at version {self.count}, it is at {self.version.count} now")
        return self.array
        ### END SOLUTION

# %% check="control.saved"

# %% [markdown]
# <details><summary>Hint 1</summary>Three things are kept: the array, the counter, and the count <em>as a number, at that
# moment</em>.</details>
# <details><summary>Hint 2</summary><code>tensor.version</code> stays the same object, so to compare it with itself
# finds no change. <code>tensor.version.count</code> is a number: a noted number stays what it was.</details>

# %% demo
y = Tensor([1.0, 2.0])
kept = Saved(y)
print("saved:", kept.unpack())
view = y.reshape(2, 1)
view += 10
try:
    kept.unpack()
except RuntimeError as error:
    print("after a change through a view:", error)

# %% [markdown]
# ## 6 · Changed in place: and the graph?
#
# An operation that saved the *old* y is protected by the counter. An operation that uses the *new* y needs the way back
# through the change. So the change becomes a node of the graph, and y becomes its result: the same tensor, the same
# memory, a new `grad_fn`.
#
# ```
#   before     x ──▶ ·2 ──▶ y
#   after      x ──▶ ·2 ──▶ exp ──▶ y        same tensor, same memory
# ```
#
# One case is refused: a **leaf** that requires a gradient. (The engine's own operators refuse a second one, which yours
# need not: a recorded change of a tensor that has a view.) After a recorded change it would be the result of an
# operation, so no longer a leaf, and backward would no longer fill its `grad`. Under `no_grad` the change is allowed:
# it is not recorded, and the leaf stays a leaf. Weights are updated in this way.

# %% exercise="control.in_place" own="one function for any operation; the package has an operator for each, which also look after views"
def apply_(x, function):
    """x becomes function(x), in its own memory and in the graph; returns x, the same tensor.

    x          a tensor
    function   takes a tensor, gives one of the same shape, such as Tensor.exp

    - If recording is on (`engine.is_grad_enabled()`) and x is a leaf (`x.is_leaf`) that requires a
      gradient (`x.requires_grad`): a RuntimeError, and x is as before.
    - The new numbers are written into the array x.data, which stays the same array.
    - If recording is on, x takes the result's place in the graph: x gets the `grad_fn` and the
      `requires_grad` of the result. If recording is off, x keeps the two that it has.
    - x.version.count goes up by one. Add it yourself: NumPy writes into x.data and counts nothing.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> y = w * 3
    >>> apply_(y, lambda t: t + w) is y
    True
    >>> y.sum().backward()
    >>> y.data.tolist(), w.grad.data.tolist(), y.version.count
    ([4.0, 8.0], [4.0, 4.0], 1)
    """
    ### BEGIN SOLUTION
    recording = engine.is_grad_enabled()
    if recording and x.is_leaf and x.requires_grad:
        raise RuntimeError("a leaf that requires a gradient cannot be changed while it is recorded")
    result = function(x)
    x.data[...] = result.data
    if recording:
        x.grad_fn, x.requires_grad = result.grad_fn, result.requires_grad
    x.version.count += 1
    return x
    ### END SOLUTION

# %% check="control.in_place"

# %% [markdown]
# <details><summary>Hint 1</summary>Call <code>function(x)</code> once: the result has the numbers and, in
# <code>grad_fn</code>, the place in the graph. Then move both to x.</details>
# <details><summary>Hint 2</summary><code>x.data = result.data</code> gives x another array; views of the old array do
# not change with it. <code>x.data[...] = result.data</code> writes into the old array.</details>

# %% demo
x = Tensor([0.5, 1.0], requires_grad=True)
x.label = "x"
y = x * 2
apply_(y, Tensor.exp)
picture = draw(y)
y.sum().backward()
print("x.grad:", x.grad.data, "  2·exp(2x):", 2 * np.exp(2 * x.data))
picture

# %% [markdown]
# ## 7 · Hooks: look at a gradient as it passes
#
# After backward, only leaves have a `grad`. A <dfn>hook</dfn> is a function that backward calls with the complete
# gradient of a tensor; it may look at the gradient or replace it. Any tensor that requires a gradient can have hooks:
#
# ```python
# handle = y.register_hook(lambda gradient: print(gradient))        # looks
# handle = y.register_hook(lambda gradient: gradient * 0.1)         # replaces: backward goes on with this one
# handle.remove()                                                   # this hook is no longer called
# ```
#
# A hook that returns None only looks. The handle that `register_hook` returns stands for this one hook.
#
# ### Predict, then run
#
# z = y · y with y = 2x, at x = 3. A hook on y halves the gradient. What is `x.grad` without it, and with it? And how
# often is the hook called? (There are two paths from y to z.)

# %% predict
hook_guess = predict(without=..., with_it=..., calls=...)

# %% demo
def through_y(hook=None):
    x = Tensor(3.0, requires_grad=True)
    y = x * 2
    if hook:
        y.register_hook(hook)
    (y * y).backward()
    return x.grad.item()


passed = []


def halve(gradient):
    passed.append(gradient.item())
    return gradient * 0.5


hook_guess.compare(without=through_y(), with_it=through_y(halve), calls=len(passed))
print("\nthe hook saw:", passed)

# %% [markdown]
# The hook is called once: the gradients from several paths are added up first. Now build a measuring instrument for the
# rest of the lesson: how long are the gradients, at every point of a network?

# %% exercise="control.watch" own="a user of engine 2: hooks that measure"
def watch(tensors):
    """Measure gradients as they pass: returns an empty dict, which fills while backward runs.

    tensors    {name: tensor}; those that require no gradient are left out (they take no hooks)

    After a backward, the dict holds for each name the length √Σg² of the whole gradient g that came
    through that tensor, as a float (not a tensor); after a second backward, that of the second.
    Gradients pass unchanged.

    >>> x = Tensor([3.0, 4.0], requires_grad=True)
    >>> y = x * 2
    >>> norms = watch({"x": x, "y": y})
    >>> norms
    {}
    >>> (y * Tensor([3.0, 4.0])).sum().backward()
    >>> norms["x"], norms["y"]
    (10.0, 5.0)
    """
    ### BEGIN SOLUTION
    norms = {}

    def hook_for(name):
        def hook(gradient):
            norms[name] = math.sqrt((gradient.data ** 2).sum())
        return hook

    for name, tensor in tensors.items():
        if tensor.requires_grad:
            tensor.register_hook(hook_for(name))
    return norms
    ### END SOLUTION

# %% check="control.watch"

# %% [markdown]
# <details><summary>Hint 1</summary>The hook gets a tensor, the gradient. It computes the length, puts it into the dict,
# and returns nothing.</details>
# <details><summary>Hint 2</summary>All lengths under the last name? A function made in a loop looks up the loop's
# variable when it is <em>called</em>: after the loop. Make the hook in a function of its own, <code>def
# hook_for(name):</code>, which returns it, or bind the name at once: <code>def hook(gradient,
# name=name):</code>.</details>

# %% [markdown]
# ### Predict, then run
#
# A network of 30 layers, `h = tanh(h @ W)`, 64 numbers wide, with random weights. Their mean is 0, and the mean of
# their squares (the *variance*) is 1/64. Each number of `h @ W` is a sum of 64 products, so with this variance `h @ W`
# is about as long as h.
#
# Now take these weights (right), the same weights times ½ (half), and the same weights times 2 (twice). In each case,
# divide the length of the gradient at the first layer by its length at the last layer. About which power of ten is it?

# %% predict
depth_guess = predict(half=..., right=..., twice=...)  # 0 for "about the same", −6 for a millionth

# %% demo
def layer_norms(layer, scale, depth=30, width=64):
    """The lengths of the gradients at h₀, h₁, … h_depth, for random weights of that scale."""
    rng = np.random.default_rng(6)
    h = Tensor(rng.normal(size=(16, width)), requires_grad=True)
    weights = Tensor(rng.normal(size=(depth, width, width)) * scale / math.sqrt(width))
    tensors = {0: h}
    for k in range(depth):
        tensors[k + 1] = h = layer(h, weights[k])
    norms = watch(tensors)
    h.backward(rng.normal(size=h.shape))
    return [norms[k] for k in tensors]


def tanh_layer(h, w):
    return (h @ w).tanh()


curves = {f"weights × {scale:g}": layer_norms(tanh_layer, scale) for scale in (0.5, 1.0, 2.0)}
powers = [math.log10(norms[0] / norms[-1]) for norms in curves.values()]
depth_guess.compare(half=powers[0], right=powers[1], twice=powers[2])
plot_lines(range(31), curves, "tanh: length of the gradient at each layer",
           "layer (backward runs to the left)", "length", log="y")

# %% [markdown]
# Backward multiplies the gradient by a matrix in each layer. This changes the length of the gradient by some factor.
# Thirty factors that are all a little smaller than 1, or all a little larger than 1, together make a factor very far
# from 1. A <dfn>vanishing gradient</dfn> gets smaller from layer to layer on the way back, until almost nothing of it
# is left. That happens where the weights are too small. An <dfn>exploding gradient</dfn> gets larger from layer to
# layer on the way back, without limit. That happens where the weights are too large. The weights alone would give a
# factor of 2³⁰ here. But large numbers saturate tanh, and there its slope is near 0, so the factor is far smaller.
#
# The next plot shows four networks: one without tanh, one with relu, one with tanh and weights that are too small, and
# the same one with a residual connection, `h + tanh(h @ W)`. A <dfn>residual connection</dfn> adds the input of a layer
# to its output, so that the gradient has a second path, around the layer, with factor 1.

# %% demo
layers = {
    "h @ W, weights × 2": (lambda h, w: h @ w, 2.0),
    "relu(h @ W), × √2": (lambda h, w: (h @ w).relu(), math.sqrt(2)),
    "tanh(h @ W), × 0.5": (tanh_layer, 0.5),
    "h + tanh(h @ W), × 0.5": (lambda h, w: h + tanh_layer(h, w), 0.5),
}
curves = {name: layer_norms(*layer) for name, layer in layers.items()}
for name, norms in curves.items():
    print(f"{name:25} first over last: {norms[0] / norms[-1]:.1e}")
plot_lines(range(31), curves, "What helps", "layer (backward runs to the left)", "length", log="y")

# %% [markdown]
# ## 8 · Clipping: no step longer than this
#
# One strange batch gives one enormous gradient, and one step with it ruins the weights. So: if the gradient is too
# long, make it shorter, **in the same direction**. The gradients of all parameters together are one long vector, so
# there is one length and one factor for all. <dfn>Gradient clipping</dfn> multiplies all gradients by one factor where
# their common norm is larger than a limit, so that the norm becomes the limit.
#
# ```
#            ╱ gradient, length 5
#          ╱
#        ●  max_norm = 2: the same arrow, shorter
#      ╱
#    ╱
# ```

# %% exercise="control.clip" source="tinygrad_cl.tensor.optim:clip_grad_norm_"

# %% check="control.clip"

# %% [markdown]
# <details><summary>Hint 1</summary><code>parameters</code> may be one tensor, a list, or a generator, which can be
# walked once only; and a parameter may have no gradient yet. Start with a list of the gradients that are
# there.</details>
# <details><summary>Hint 2</summary>Each <code>p.grad</code> is a tensor. Overwrite its numbers with
# <code>p.grad.copy_(array)</code>, or give <code>p.grad.data</code> another array.</details>

# %% [markdown]
# Does it matter? Ten rows with two numbers each, and two weights: `x @ w` should be y. In step 30, and only in this
# step, one number of y is mistyped.

# %% demo
def losses_with(max_norm):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10, 2))
    y = x @ np.array([2.0, -1.0])
    w = Tensor(np.zeros(2), requires_grad=True)
    losses = []
    for step in range(80):
        typed = y + (step == 30) * np.array([0, 0, 0, 5000.0, 0, 0, 0, 0, 0, 0])
        w.zero_grad()
        ((x @ w - typed) ** 2).mean().backward()
        clip_grad_norm_([w], max_norm)
        with engine.no_grad():
            w -= 0.1 * w.grad
        losses.append(float(((x @ w.data - y) ** 2).mean()))
    return losses


plot_losses({"not clipped": losses_with(math.inf), "clipped at 1": losses_with(1.0)},
            "One mistyped number at step 30")

# %% [markdown]
# What clipping costs is seen on the left of the picture: while all gradients are longer than 1, the loss falls more
# slowly. So choose `max_norm` a little above the usual length; `watch` measures that length.

# %% [markdown]
# ## 9 · Where does the NaN come from?
#
# <dfn>NaN</dfn> ("not a number") is the result of an operation such as 0 · ∞, and nearly everything that is computed
# with NaN is NaN, too. An hour later every number is NaN, and you cannot see where the first one was. It can begin in
# two ways. Either forward computes a bad number. Or, and this is harder to find, **all numbers are fine, and a gradient
# is not**.
#
# ### Predict, then run
#
# At x = 0, what are the value and `x.grad`? (`math.inf` and `math.nan` are possible answers.) The cases are √x; (√x)²;
# and `where(x > 0, √x, 0·x)`. The last one takes √x where x > 0 and 0·x elsewhere, so at x = 0 it takes 0·x.

# %% predict
nan_guess = predict(sqrt_value=..., sqrt_grad=..., sqrt_squared_grad=..., where_grad=...)

# %% demo
def at_zero(f):
    x = Tensor(0.0, requires_grad=True)
    result = f(x)
    with np.errstate(all="ignore"):
        result.backward()
    return result.item(), x.grad.item()


nan_guess.compare(sqrt_value=at_zero(Tensor.sqrt)[0], sqrt_grad=at_zero(Tensor.sqrt)[1],
                  sqrt_squared_grad=at_zero(lambda x: x.sqrt() ** 2)[1],
                  where_grad=at_zero(lambda x: engine.where(x > 0, x.sqrt(), 0.0 * x))[1])


def harmless_first(x):
    positive = engine.where(x > 0, x, 1.0)
    return engine.where(x > 0, positive.sqrt(), 0.0 * x)


print("\nthe way out, value and gradient:", *at_zero(harmless_first))

# %% [markdown]
# At 0 the slope of the square root is ∞. Backward multiplies this slope by the upstream gradient. If that is 0, the
# product 0 · ∞ is NaN, and `where` hands exactly such a 0 to the branch that was not taken. The remedy: choose a
# harmless **input** first, then compute.
#
# Now find the place where it begins. In forward, a NaN spreads to the right; in backward, to the left. So where is the
# beginning of each?
#
# ```
#   forward    a ──▶ b ──▶ c ──▶ d ──▶ loss        first bad value: the leftmost
#   backward   a ◀── b ◀── c ◀── d ◀── loss        first bad gradient: the rightmost
# ```

# %% exercise="control.nan" own="a user of engine 2: hooks that look for NaN; engine 3 has detect_anomaly, lesson 10"
def first_bad(tensors, loss):
    """Where the first NaN or ±Inf appears: ("forward", name), ("backward", name), or None.

    tensors   {name: tensor}, a chain: each is computed from the one before it. Some of them may
              require no gradient
    loss      a tensor of one number, computed from the last; backward was not called yet

    "forward" if some of the tensors have bad numbers: the first of them. Then backward is not run.
    "backward" if not, and backward is run: the first that it reaches whose gradient has bad
    numbers. None if there is no bad number. `loss` itself is not looked at.
    No hook is left behind.

    >>> x = Tensor([4.0, 0.0], requires_grad=True)
    >>> y = x.sqrt()
    >>> first_bad({"x": x, "y": y}, y.sum())
    ('backward', 'x')
    """
    ### BEGIN SOLUTION
    for name, tensor in tensors.items():
        if not np.isfinite(tensor.data).all():
            return "forward", name
    bad = []

    def hook_for(name):
        def hook(gradient):
            if not np.isfinite(gradient.data).all():
                bad.append(name)
        return hook

    handles = [tensor.register_hook(hook_for(name))
               for name, tensor in tensors.items() if tensor.requires_grad]
    loss.backward()
    for handle in handles:
        handle.remove()
    return ("backward", bad[0]) if bad else None
    ### END SOLUTION

# %% check="control.nan"

# %% [markdown]
# <details><summary>Hint 1</summary><code>np.isfinite(array).all()</code> is False for a NaN, for +∞ and for −∞.</details>
# <details><summary>Hint 2</summary>Forward: one loop over the tensors, return at the first bad one. Backward: a hook on
# each tensor that requires a gradient, which appends its name to a list if the gradient is bad. Hooks are called in the
# order of backward, so the first name in the list is the one you look for.</details>
# <details><summary>Hint 3</summary>Keep the handles that <code>register_hook</code> returns, and call
# <code>remove()</code> on each after backward.</details>

# %% demo
def chain(start):
    a = Tensor(start, requires_grad=True)
    b = a - 1
    c = b * b
    d = c.sqrt()
    return {"a": a, "b": b, "c": c, "d": d}, (d * d).sum()


with np.errstate(all="ignore"):
    for start in ([2.0, 3.0], [2.0, 1.0], [2.0, 1e30]):
        print(start, "→", first_bad(*chain(start)))

# %% [markdown]
# ## 10 · Common mistakes
#
# Most trouble with autograd comes from about a dozen small mistakes. Make each of them on purpose, and see what
# happens.
#
# ### Predict, then run: wrong numbers without an error
#
# w = 3 each time. The comments say what to predict.

# %% predict
quiet_guess = predict(
    backward_on_two_losses_without_zero_grad=...,  # w.grad after (w·w).backward(), twice
    copied=...,         # w.grad for Tensor(2·w.data)·w
    rebuilt=...,        # is w still a leaf after w = w − 0.1·w.grad? 1 or 0
    pairs=...,          # how many numbers are in prediction − target, shapes (5,) and (5, 1)?
)

# %% demo
w = Tensor(3.0, requires_grad=True)
for _ in range(2):
    (w * w).backward()
twice = w.grad.item()

rebuilt = w - 0.1 * w.grad
copied = gradient_of(lambda w: Tensor(2 * w.data) * w, 3.0)
pairs = Tensor(np.ones(5)) - Tensor(np.ones((5, 1)))
quiet_guess.compare(backward_on_two_losses_without_zero_grad=twice, copied=copied,
                    rebuilt=int(rebuilt.is_leaf), pairs=pairs.size)

# %% [markdown]
# - **Twice**: gradients add up over calls, 6 + 6. Sometimes that is what you want (lesson 07), otherwise it is a bug.
#   Call `zero_grad()` first.
# - **Copied**: `.data`, `.item()`, `float()` and `Tensor(…)` of them give plain numbers. No gradient flows through
#   them, and there is no error, because another path to w is left.
# - **Rebuilt**: `w = w - …` makes a new tensor. It is no leaf, so it gets no `grad`, and the optimizer still holds the
#   old one. Write `w -= …`, in place and under `no_grad`.
# - **Pairs**: (5,) and (5, 1) broadcast to (5, 5). The loss is a number, and it even goes down, but it compares every
#   prediction with every target.
#
# ### Predict, then run: errors
#
# Which of these raise an error, 1 or 0? x is a leaf of two numbers that requires a gradient.
#
# | name | what is done |
# |---|---|
# | `two_backwards` | `loss.backward()` twice, for one loss |
# | `vector_backward` | `(x * x).backward()` |
# | `leaf_in_place` | `x += 1` |
# | `numpy_of_it` | `np.asarray(x)` |
# | `whole_numbers` | `Tensor([1, 2], requires_grad=True)` |
# | `hook_without_gradient` | `register_hook` on a tensor that requires no gradient |
# | `detached_loss` | `(x * x).sum().detach().backward()` |
# | `unused_weight` | backward from a loss that was not computed from x |

# %% predict
loud_guess = predict(two_backwards=..., vector_backward=..., leaf_in_place=..., numpy_of_it=...,
                     whole_numbers=..., hook_without_gradient=..., detached_loss=...,
                     unused_weight=...)

# %% demo
def raises(name, program):
    try:
        program(Tensor([1.0, 2.0], requires_grad=True))
        return 0
    except (RuntimeError, TypeError) as error:
        print(f"{name}: {error}\n")
        return 1


def two_backwards(x):
    loss = (x * x).sum()
    loss.backward()
    loss.backward()


def leaf_in_place(x):
    x += 1


suspects = {
    "two_backwards": two_backwards,
    "vector_backward": lambda x: (x * x).backward(),
    "leaf_in_place": leaf_in_place,
    "numpy_of_it": lambda x: np.asarray(x),
    "whole_numbers": lambda x: Tensor([1, 2], requires_grad=True),
    "hook_without_gradient": lambda x: Tensor([1.0]).register_hook(print),
    "detached_loss": lambda x: (x * x).sum().detach().backward(),
    "unused_weight": lambda x: (Tensor([1.0], requires_grad=True) * 2).sum().backward(),
}
loud_guess.compare(**{name: raises(name, program) for name, program in suspects.items()})

# %% [markdown]
# The last one gives no error: a weight from which the loss was not computed has `grad` None, and an optimizer skips it.
# This None is the only sign that a layer of a network is not used.
#
# ### Predict, then run: memory
#
# 100 steps; in each, tanh saves its result, 8 × 4000 numbers of 8 bytes. We sum the losses up for a report. How many MB
# (millions of bytes) are kept at the end: with `total = total + loss`, and with `total = total + loss.item()`?

# %% predict
leak_guess = predict(tensors_summed=..., floats_summed=...)  # in MB, about

# %% demo
import tracemalloc


def bytes_of_arrays():
    """Of all arrays made since `tracemalloc.start()` that are there: NumPy reports its memory."""
    arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    return sum(each.size for each in tracemalloc.take_snapshot().filter_traces([arrays]).traces)


def kept_after(take, steps=100):
    """Bytes that are kept for a backward which never comes, after each step."""
    w = Tensor(np.ones(4000), requires_grad=True)
    x = Tensor(np.ones((8, 4000)))
    total, kept = 0.0, []
    tracemalloc.start()
    for _ in range(steps):
        total = total + take(((x * w).tanh()).sum())
        kept.append(bytes_of_arrays() / 1e6)
    tracemalloc.stop()
    return kept


leak = {"total + loss": kept_after(lambda loss: loss),
        "total + loss.item()": kept_after(Tensor.item)}
leak_guess.compare(tensors_summed=leak["total + loss"][-1],
                   floats_summed=leak["total + loss.item()"][-1])
plot_lines(range(1, 101), leak, "Kept for a backward that never comes", "step", "MB", markers=False)

# %% [markdown]
# A sum of tensors holds all of their graphs. The same happens with `losses.append(loss)`.
#
# Now repair a program. It runs without an error, and it does not learn. It has **four** mistakes that you see in
# its results, and a fifth that has no effect yet. (`+ 0 * w.sum()` is no mistake: without it, backward would raise an
# error.)

# %% demo
def broken_fit(w, x, y, lr, steps):
    losses = []
    for _ in range(steps):
        prediction = Tensor((x @ w).data)
        loss = ((prediction - y.reshape(-1, 1)) ** 2).mean() + 0 * w.sum()
        loss.backward()
        w = w - lr * w.grad
        w = Tensor(w.data, requires_grad=True)
        losses.append(loss)
    return losses


rng = np.random.default_rng(1)
x_line = rng.normal(size=(20, 3))
y_line = x_line @ np.array([1.0, -2.0, 0.5])
w = Tensor(np.zeros(3), requires_grad=True)
print("losses:", [round(loss.item(), 3) for loss in broken_fit(w, x_line, y_line, 0.1, 5)])
print("w:", w.data)

# %% exercise="control.fit" own="a training loop; the package leaves loops to its users"
def fit(w, x, y, lr, steps):
    """Gradient descent on mean((x @ w − y)²): the losses, each from before its step, as floats.

    w       tensor of shape (k,), a leaf that requires a gradient. It is changed in place: the
            caller's own tensor is trained, and is a leaf that requires a gradient afterwards
    x, y    arrays of shapes (n, k) and (n,)
    lr      step size: w ← w − lr · gradient, for `steps` steps

    A gradient that w has already when fit is called does not count.

    >>> w = Tensor(np.zeros(1), requires_grad=True)
    >>> fit(w, np.array([[1.0], [2.0]]), np.array([2.0, 4.0]), 0.1, 2), w.data.tolist()
    ([10.0, 2.5], [1.5])
    """
    ### BEGIN SOLUTION
    losses = []
    for _ in range(steps):
        loss = ((x @ w - y) ** 2).mean()
        w.zero_grad()
        loss.backward()
        with engine.no_grad():
            w -= lr * w.grad
        losses.append(loss.item())
    return losses
    ### END SOLUTION

# %% check="control.fit"

# %% [markdown]
# <details><summary>Hint 1</summary>Look at four things: the path from w to the prediction, the shape of y, the tensor
# that is trained, the losses that are kept. And the fifth mistake: where is zero_grad?</details>
# <details><summary>Hint 2</summary>Before the first backward, <code>w.grad</code> is None; <code>w.zero_grad()</code>
# works all the same.</details>
# <details><summary>Hint 3</summary><code>w -= …</code> on a leaf is refused while it is recorded:
# <code>with engine.no_grad():</code>. Inside it, the tensor stays the same one, and stays a leaf.</details>

# %% demo
w = Tensor(np.zeros(3), requires_grad=True)
losses = fit(w, x_line, y_line, 0.1, 40)
print("w:", w.data.round(3), "  is a leaf:", w.is_leaf)
plot_losses({"repaired": losses}, "It learns")

# %% [markdown]
# ## When Python complains
#
# <details><summary><code>RuntimeError: Mul saved an input, of shape …, for backward, and it was changed in
# place</code></summary> The named operation needs the old numbers. Write <code>y = y + 1</code> in place of <code>y +=
# 1</code>, or give the operation a <code>clone()</code>. If it happens in a training loop: the weights were updated
# between forward and backward.</details>
#
# <details><summary><code>RuntimeError: += on a leaf that requires a gradient would lose its old value</code></summary>
# An update of weights belongs into <code>with engine.no_grad():</code>.</details>
#
# <details><summary><code>RuntimeError: += would change another tensor that shares this memory</code></summary>
# There is a view (reshape, indexing, detach) of the tensor that you change, and the view's gradient would be wrong.
# <code>clone()</code> first, or do not change in place.</details>
#
# <details><summary><code>RuntimeError: backward: this tensor requires no gradient</code></summary>
# No path leads to a leaf that requires a gradient: there is a <code>detach()</code>, a <code>.data</code>, an
# <code>.item()</code>, a <code>no_grad</code> around the forward pass, or a leaf that was made without
# <code>requires_grad=True</code>. Print <code>requires_grad</code> of each tensor in between: the cut is where it turns
# False.</details>
#
# <details><summary><code>RuntimeError: backward has been here before, and freed what it needs</code></summary>
# This is the second backward through one graph. Either the forward pass has to be in the loop as well, or the first
# backward needs <code>retain_graph=True</code>.</details>
#
# <details><summary><code>TypeError: 'function' object does not support the context manager protocol</code></summary>
# <code>with no_grad:</code> is the function; <code>with no_grad():</code> is a block.</details>
#
# <details><summary><code>TypeError: 'NoneType' object is not callable</code>, where a decorated function is
# called</summary> The function's name now stands for what the decorator returned. Does <code>in_mode</code> return the
# inner function?</details>
#
# <details><summary><code>ValueError: a hook returned shape () for (2, 3)</code></summary>
# The hook returned something, such as the length. What a hook returns replaces the gradient. A hook that only looks
# returns None; write it with <code>def</code>, since a <code>lambda</code> always returns the value of its expression.
# The same cause: <code>TypeError: a hook returns a tensor or an array, or None, not 2.0</code>.</details>
#
# <details><summary>All lengths stand under the last name</summary>
# The hook looks up <code>name</code> when it is called, and then the loop is over. See hint 2 of exercise 7.</details>

# %% [markdown]
# ## What it costs
#
# **Recording.** One network, forward only, of growing depth: with the graph, and under `no_grad`. Time per call and bytes
# kept.

# %% demo
rng = np.random.default_rng(2)
depths = [1, 2, 4, 8, 16, 32, 64]
matrices = [Tensor(rng.normal(size=(64, 64)) / 8, requires_grad=True) for _ in range(64)]
batch = Tensor(rng.normal(size=(32, 64)))


def forward(depth):
    h = batch
    for matrix in matrices[:depth]:
        h = (h @ matrix).tanh()
    return h


rows = []
for depth in depths:
    tracemalloc.start()
    h = forward(depth)
    kept = bytes_of_arrays()
    tracemalloc.stop()
    del h
    recorded = seconds_per_call(lambda: forward(depth), budget=0.05)
    with engine.no_grad():
        plain = seconds_per_call(lambda: forward(depth), budget=0.05)
    rows.append((kept / 1e6, recorded, plain))
    print(f"{depth:3} layers: {kept / 1e6:6.3f} MB kept, {1e6 * recorded:7.0f} µs recorded, "
          f"{1e6 * plain:7.0f} µs under no_grad")
nothing = "under no_grad nothing is kept"
plot_lines(depths, {"recorded": [row[0] for row in rows], nothing: [0] * len(rows)},
           "Kept for backward, in MB", "layers", "MB")

# %% [markdown]
# `no_grad` saves a little time: the arrays are computed either way. It is used to save memory: each layer's result can
# be freed as soon as the next one is there.
#
# **Counters and hooks.** The version counter costs one comparison for each saved array that backward takes out. The
# next cell counts these arrays. A hook costs the time of what it computes:

# %% demo
result = forward(64).sum()
order = engine.core.engine.topological_order([result.grad_fn])
taken_out = sum(len(node.kept_arrays()) for node in order if hasattr(node, "kept_arrays"))
print(f"64 layers: {nodes(result)} operations, {taken_out} saved arrays, as many comparisons")
whole = seconds_per_call(lambda: forward(64).sum().backward()) / 64
hook = seconds_per_call(lambda: math.sqrt((batch.data ** 2).sum()))
print(f"a layer, forward and backward: {1e6 * whole:.0f} µs; a hook's work: {1e6 * hook:.0f} µs")

# %% [markdown] written="control.explain" points=3
# ## In your own words
#
# Three programs, with `x = Tensor([1.0, 2.0], requires_grad=True)` and `y = x * 2`:
#
# ```python
# z = (y + 1).sum();  y += 1;  z.backward()        # A
# z = (y * y).sum();  y += 1;  z.backward()        # B
# z = y.exp();        z += 1;  z.sum().backward()  # C
# ```
#
# Which raise an error, and why these? And why is an error better here than to go on without one? Five sentences at
# most.
#
# <!-- BEGIN SOLUTION -->
# A is fine: the backward of a sum passes the gradient on and needs no numbers of the forward pass. B raises: the derivative of
# y · y is 2y, so y was saved, and its memory holds other numbers now. C raises: exp saves its result, which is its derivative,
# and just this result was changed. The engine sees that by the version counter, which is higher than when the array was saved.
# Without the error, backward would compute with the new numbers: a gradient that looks like one and is wrong.
#
# **How it is marked**
#
# - 1 point: A fine, B and C errors, with the reason that an error comes only where the changed array was saved for backward.
# - 1 point: what each saves: the sum nothing, the product its inputs, exp its result (not its input).
# - 1 point: the alternative is a silently wrong gradient; the counter, or the comparison of versions, is what notices.
#
# Right arguments in other words count in full.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# | here | PyTorch | JAX |
# |---|---|---|
# | `u.detach()` | `u.detach()` | `jax.lax.stop_gradient(u)` |
# | `engine.no_grad()` | `torch.no_grad()`; `torch.inference_mode()` is stricter | not needed: without `jax.grad`, nothing is recorded |
# | `engine.set_grad_enabled(training)` | the same | – |
# | one switch for each thread | the same | – |
# | `if` and `while` on numbers | the same | the same; under `jax.jit`: `lax.cond`, `lax.while_loop` |
# | `tensor.version.count` | `tensor._version` | arrays do not change: `x.at[0].set(1)` is a new one |
# | `register_hook(hook)` | the same | `jax.custom_vjp` around a function that returns its input |
# | `clip_grad_norm_` | `torch.nn.utils.clip_grad_norm_` | `optax.clip_by_global_norm` |
# | `first_bad` | `torch.autograd.detect_anomaly()` | `jax.config.update("jax_debug_nans", True)` |
#
# One difference: where a tensor has a view, PyTorch records `y += 1` for the view as well; here it is refused.
#
# ## What comes next
#
# **07 memory**: you saw that a graph keeps arrays. How many bytes exactly? Can you predict the number on paper? And
# what can you do if it is too large?
