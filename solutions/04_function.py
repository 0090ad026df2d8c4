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
# # 04 · Function: an engine for arrays
#
# `Value` knew how to differentiate, but one number at a time. NumPy is fast, but it remembers nothing. Today you build
# an engine that has both: fast arrays and a memory. A `Tensor` holds a whole array, and one call of `backward` gives
# the gradients of all arrays.
#
# ```python
# w = Tensor([[0.5, -1.0], [2.0, 0.3]], requires_grad=True)
# loss = ((x @ w - y) ** 2).sum()
# loss.backward()
# w.grad                      # a Tensor of the shape of w
# ```
#
# The names are PyTorch's, and inside, this engine works as PyTorch does. You need lesson 01 (boxes, order, backward)
# and lesson 03 (gradients by shapes). Ten exercises.

# %% given
import math
import threading
import time
from types import SimpleNamespace

import numpy as np

from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.viz import draw, plot_lines, plot_losses, plot_times, seconds_per_call

# %% [markdown]
# ## A number on each edge?
#
# In lesson 01 each edge held one number: how fast the box moves if only this parent moves. Here is one layer of a
# network for a batch of 64 pictures.
#
# A batch (lesson 02) is here an array with one example in each row. A picture of 28 × 28 pixels is a row of 784
# numbers. So a box now holds an array:

# %% demo
images = SimpleNamespace(data=np.zeros((64, 784)), label="x")
weights = SimpleNamespace(data=np.zeros((784, 128)), label="w")
layer = SimpleNamespace(data=np.zeros((64, 128)), op="@", label="y", parents=[images, weights])
draw(layer)

# %% [markdown]
# ### Predict, then run
#
# What would stand on the edge from w to y? One number for **each pair**: how fast does this number of y move with that
# number of w? How many millions of numbers is that, and how many gigabytes as float32? (Here a calculator is allowed.)

# %% predict
edge_guess = predict(millions=..., gigabytes=...)

# %% demo
pairs = layer.data.size * weights.data.size
edge_guess.compare(millions=pairs / 1e6, gigabytes=4 * pairs / 1e9)
size = weights.data.size
print(f"\nthe gradient of w itself: {size:,} numbers, {4 * size / 1e9:.4f} GB")

# %% [markdown]
# So nobody writes these numbers down. An edge holds a **rule** instead: a function that takes the upstream gradient,
# that is the gradient of the loss with respect to the result, and returns the gradient with respect to the input. The
# rule of w in x @ w is known from lesson 03: xᵀ @ grad. No table of pairs is needed.

# %% [markdown]
# An operation is then a pair of functions, `forward` and `backward`. What `backward` needs from `forward` travels in a
# bag called `ctx`, the context:
#
# ```
#      a, b ───────▶ forward(ctx, a, b) ────────▶ result
#                          │
#                         ctx     shapes, saved arrays, …
#                          ▼
#   ∂L/∂a, ∂L/∂b ◀── backward(ctx, grad) ◀─────── grad = ∂L/∂result
# ```
#
# A <dfn>Function</dfn> is an operation together with its derivative: `forward` computes the result, `backward` computes
# the gradients of the inputs from the upstream gradient. Each *call* of a Function makes one `ctx`. The
# <dfn>context</dfn> (`ctx`) of a call carries shapes and saved arrays from its `forward` to its `backward`.
#
# In lesson 01 a node of the graph, a box, was a number. From now on it is a call. In a graph of tensors, a
# <dfn>node</dfn> is one recorded call of a Function. In the program, the `ctx` of a recorded call is the node: they are
# the same object. A *leaf* is a tensor that no recorded operation computed, such as a weight. There is no call for a
# leaf, so in the graph stands the tensor itself; gradients end there.

# %% [markdown]
# ## What is given: the array with a memory
#
# A `Variable` holds four facts:
#
# - `data` and `grad` are as in a `Value`, but `data` is an array and `grad` a tensor.
# - `requires_grad` is new: must backward compute a gradient for this tensor? It must if you asked for this gradient,
#   or if the tensor was computed from a leaf whose gradient you asked for.
# - `grad_fn` is the node that computed the tensor. The parents are no longer stored here: they stand in that node, as
#   its `next_nodes`.
#
# A `Tensor`, further below, is a `Variable` with operators. `wrap` makes a tensor around an array, and `raw` gives the
# array of a tensor. The rest is there to be used.

# %% given source="tinygrad_cl.tensor.core.variable:Variable tinygrad_cl.tensor.core.variable:as_array tinygrad_cl.tensor.core.variable:raw"

# %% [markdown]
# The operators do nothing themselves: each calls `apply` of its Function. Skim it, there is nothing to learn here.

# %% given source="tinygrad_cl.tensor.core.tensor:Tensor[__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __pow__ __matmul__ __rmatmul__ __neg__ exp log clone sum reshape transpose mT expand squeeze unsqueeze context] tinygrad_cl.tensor.core.tensor:numbers"

# %% [markdown]
# ## 1 · The bag
#
# `forward` works on plain arrays, `backward` on tensors, so the bag takes arrays in and gives tensors out. After
# backward the bag can be emptied. The arrays in it are most of the memory that training takes.
#
# The rest of a node is given:

# %% given source="tinygrad_cl.tensor.core.function:Context[next_nodes input_shapes kept freed __init__ name __repr__ wrap_result kept_arrays]"

# %% exercise="function.context" source="tinygrad_cl.tensor.core.function:Context.save_for_backward tinygrad_cl.tensor.core.function:Context.saved_tensors tinygrad_cl.tensor.core.function:Context.free"

# %% check="function.context"

# %% [markdown]
# <details><summary>Hint 1</summary>With <code>*arrays</code> in the signature, <code>arrays</code> is a tuple
# already.</details>
# <details><summary>Hint 2</summary><code>self.tensor_type</code> is <code>Tensor</code> or a subclass of it:
# <code>self.tensor_type.wrap(x)</code> makes a tensor around an array. What is an array?
# <code>isinstance(x, np.ndarray)</code> says so.</details>

# %% [markdown]
# ## 2 · apply: a call is recorded
#
# `x * y` calls `Mul.apply(x, y)`. It runs `forward`. Then, if an input requires a gradient, it records the call. To
# <dfn>record</dfn> a call means: make it a node of the graph, and link its result to this node.

# %% [markdown]
# Whether anything is recorded at all depends on two switches, which exercise 9 uses: one for the whole *process*, which
# is a program that runs, and one for each *thread*: a process can do several things at once, each in a thread.
# `GradMode` sets one of them for a `with` block, and restores the old value at the end of the block, also after an
# error.

# %% given source="tinygrad_cl.tensor.core.modes:Switch tinygrad_cl.tensor.core.modes:switch tinygrad_cl.tensor.core.modes:process tinygrad_cl.tensor.core.modes:is_grad_enabled tinygrad_cl.tensor.core.modes:GradMode"

# %% [markdown]
# Also given: `new_context`, which makes the node, and `run_forward`, which calls `forward` and raises a clear error if
# shapes or options do not fit.

# %% given source="tinygrad_cl.tensor.core.function:Function[any_dtype forward backward] tinygrad_cl.tensor.core.function:new_context tinygrad_cl.tensor.core.function:run_forward"

# %% [markdown]
# The graph that you are going to link, for `y = (x * w) + x` with two leaves:
#
# ```
#    x ◀──────────────┐                    next_nodes of the Add: (the Mul, x)
#    ▲                │                    next_nodes of the Mul: (x, w)
#    └── Mul ◀────── Add ◀── y.grad_fn
#    ┌── node        node                  arrows point backwards: this is the way
#    ▼                                     that the gradient will take
#    w
# ```
#
# *Below* a node are all nodes and leaves that its arrows lead to, directly or not. The <dfn>root</dfn> is the node at
# which backward starts, here the Add.

# %% exercise="function.apply" source="tinygrad_cl.tensor.core.function:Function.apply"

# %% check="function.apply"

# %% [markdown]
# <details><summary>Hint 1</summary>First <code>needed</code>, by a comprehension over the inputs: three conditions
# with <code>and</code>. A plain number has no <code>requires_grad</code>, so ask <code>isinstance(x, Variable)</code>
# before.</details>
# <details><summary>Hint 2</summary><code>cls</code> is the subclass, Mul for instance. The line in the middle:
# <code>ctx.wrap_result(run_forward(ctx, arrays, options), inputs)</code>.</details>
# <details><summary>Hint 3</summary><code>np.shape(2.5)</code> is <code>()</code>; <code>x.grad_fn or x</code> is the
# node, or the leaf.</details>

# %% [markdown]
# Four Functions as examples. Look at what each of them puts into the bag: `Neg` and `Clone` nothing, `Exp` its result
# (eˣ is its own slope), `Log` its input. `backward` is written with the operators of tensors, and starts from `grad`,
# always.

# %% given source="tinygrad_cl.tensor.core.arithmetic:Neg tinygrad_cl.tensor.core.shapes:Clone tinygrad_cl.tensor.core.elementwise:Exp tinygrad_cl.tensor.core.elementwise:Log"

# %% demo
draw((-Tensor([[1.0, 2.0], [3.0, -4.0]], requires_grad=True)).exp())

# %% [markdown]
# ## 3 · Two rules
#
# The sum hands its upstream gradient on unchanged, to both inputs. The product is lesson 01's rectangle again, for each
# number of the array: the gradient of a needs b, the gradient of b needs a. Shapes that broadcast need no code in these
# rules: the engine sums each gradient to the shape of its input, for all Functions in one place, with the `unbroadcast`
# of lesson 03.
#
# The examples in the docstrings call `y.backward(gradient)`: gradient is the upstream gradient, ∂L/∂y. They run after
# exercise 5. Until then, the checks look at your rules without it.

# %% exercise="function.add_mul" source="tinygrad_cl.tensor.core.arithmetic:Add tinygrad_cl.tensor.core.arithmetic:Mul"

# %% check="function.add_mul"

# %% [markdown]
# <details><summary>Hint 1</summary>Add puts nothing into the bag. Its backward returns a tuple of two.</details>
# <details><summary>Hint 2</summary>Mul.forward: <code>a_needed, b_needed = ctx.needs_input_grad</code>, then
# <code>ctx.save_for_backward(…)</code> with two things, a and b, either of which may be
# <code>None</code>.</details>
# <details><summary>Hint 3</summary>Mul.backward: unpack <code>a, b = ctx.saved_tensors</code>. The gradient of a is
# <code>grad * b</code> if it is needed, else <code>None</code>.</details>

# %% [markdown]
# Now Python builds the graph while it computes the formula. A constant (here 2.0) has no box: no gradient goes there.

# %% demo
x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
w = Tensor([0.5, -1.0, 2.0], requires_grad=True)
x.label, w.label = "x", "w"
draw(x * w + x * 2.0)

# %% [markdown]
# ## 4 · Where backward starts, and where it ends
#
# **Where backward starts.** If the result is one number L, the first gradient is ∂L/∂L = 1. If the result y is an
# array, there is no L yet. So you say how much each number of y counts: `y.backward(gradient)`, with an array of the
# shape of y. This is the same as backward from the one number L = Σ gradient · y.
#
# **Where backward ends.** At a leaf. Gradients add up in `grad`, as in lesson 01, until `zero_grad` is called. Here
# `zero_grad` sets `grad` to None, and only in this one tensor. There is a trap: two leaves may get the very same object
# as their gradient (look at what Add returns).

# %% exercise="function.ends" source="tinygrad_cl.tensor.core.engine:start tinygrad_cl.tensor.core.tensor:Tensor.accumulate_grad tinygrad_cl.tensor.core.tensor:Tensor.zero_grad"

# %% check="function.ends"

# %% [markdown]
# <details><summary>Hint 1</summary>A list or an array becomes a tensor by
# <code>tensor.wrap(np.array(gradient, tensor.dtype))</code>. A tensor is already one:
# <code>isinstance(gradient, Variable)</code>.</details>
# <details><summary>Hint 2</summary><code>tensor.size</code> is the number of its numbers; a tensor of shape (1, 1)
# holds one. <code>np.ones_like(tensor.data)</code> has its shape and type.</details>
# <details><summary>Hint 3</summary><code>grad_fn</code> is None for a leaf: <code>tensor.grad_fn or
# tensor</code>.</details>
# <details><summary>Hint 4</summary><code>grad.clone()</code> is a copy in memory of its own; <code>+</code> makes a new
# tensor anyway.</details>

# %% [markdown]
# ## 5 · The walk
#
# Now the most important part: the walk back through the graph. Three functions are given:
#
# - `topological_order`, as in lesson 01: each node stands after everything that it was computed from.
# - `input_gradients(node, grad)` calls the `backward` of a node; no other function does. It sums each gradient to the
#   shape of its input (`unbroadcast`), and raises an error if the node was freed.
# - `Tensor.backward` calls `start`, then `propagate`, then `accumulate_grad` for each leaf.
#
# You have written `start` and `accumulate_grad`. `propagate` is the exercise. (Its option `retain_graph` says whether
# nodes keep what they saved. You see below what that is for.)

# %% given source="tinygrad_cl.tensor.core.engine:topological_order tinygrad_cl.tensor.core.engine:broadcast_shape tinygrad_cl.tensor.core.engine:unbroadcast tinygrad_cl.tensor.core.engine:input_gradients tinygrad_cl.tensor.core.engine:as_gradient tinygrad_cl.tensor.core.engine:freed_error tinygrad_cl.tensor.core.tensor:Tensor.backward"

# %% [markdown]
# ```
#      x ──┐                    1. the root has the gradient it was given
#          ├─▶ Mul ─┐           2. a node whose gradient is complete asks its rule,
#      w ──┘        ├─▶ Add        and hands the parts on to next_nodes
#      x ───────────┘           3. parts for the same node add up
# ```
#
# When is the gradient of a node complete? When every node that uses its result has handed its part on. So walk the
# order from its end. A node has no attribute `grad`: keep the gradients that are not used yet in a dict, and take each
# one out when you use it.

# %% exercise="function.backward" source="tinygrad_cl.tensor.core.engine:propagate"

# %% check="function.backward"

# %% [markdown]
# <details><summary>Hint 1</summary>A dict <code>arrived = {root: gradient}</code>, and a loop over
# <code>reversed(topological_order([root]))</code>. Whatever is no <code>Context</code> is a leaf.</details>
# <details><summary>Hint 2</summary>At a node: <code>zip(node.next_nodes, ask(node, grad))</code> pairs each part with
# the node or leaf that it goes to. Skip parts that are None.</details>
# <details><summary>Hint 3</summary>First part: <code>arrived[below] = part</code>. Any further one:
# <code>arrived[below] = arrived[below] + part</code>, a new tensor. Free the node after its parts have been handed
# on.</details>

# %% [markdown]
# ### Predict, then run
#
# x is [1, 2], and y = x·x + x. You call `y.backward([1, 10])`, then build y once more and call it again, **without**
# `zero_grad` in between. What are the two numbers in `x.grad`?

# %% predict
grad_guess = predict(first=..., second=...)

# %% demo
x = Tensor([1.0, 2.0], requires_grad=True)
x.label = "x"
for _ in range(2):
    y = x * x + x
    y.backward([1.0, 10.0])
grad_guess.compare(first=x.grad.data[0], second=x.grad.data[1])

# %% [markdown]
# And what is left of the graph? With the option <dfn>retain_graph</dfn>, backward keeps what the nodes saved, so that a
# second backward through the same graph is possible. Count the arrays that the nodes hold, before backward and after
# it, without the option and with it.

# %% demo
def kept(y):
    nodes = [node for node in topological_order([y.grad_fn]) if isinstance(node, Context)]
    return sum(len(node.kept_arrays()) for node in nodes)


for retain_graph in (False, True):
    y = x * x + x
    before = kept(y)
    y.backward([1.0, 10.0], retain_graph=retain_graph)
    print(f"retain_graph={retain_graph}: {before} arrays kept before backward, {kept(y)} after")
    try:
        y.backward([1.0, 10.0])
        print("    a second backward works")
    except RuntimeError as error:
        print(f"    a second backward: {error}")

# %% [markdown]
# That is all of an engine. The rest of the lesson is only rules.

# %% [markdown]
# ## 6 · Three more rules
#
# The rule of the power has a part for the exponent, and in it stands a logarithm. A negative number has no logarithm.
# So look at `ctx.needs_input_grad` first, and compute this part only if it is needed.

# %% exercise="function.sub_div_pow" source="tinygrad_cl.tensor.core.arithmetic:Sub tinygrad_cl.tensor.core.arithmetic:Div tinygrad_cl.tensor.core.arithmetic:Pow"

# %% check="function.sub_div_pow"

# %% [markdown]
# <details><summary>Hint 1</summary>Sub is Add with one sign changed. Div: the quotient a / b = a · b⁻¹, so the rule for
# b is that of the power with n = −1, times a.</details>
# <details><summary>Hint 2</summary>If n is a plain number, it comes out of the bag as a plain number, else as a
# tensor. <code>grad * n</code> works with both.</details>
# <details><summary>Hint 3</summary><code>a.log()</code> is the logarithm of a tensor.</details>

# %% [markdown]
# ## 7 · Shapes
#
# `sum` makes few numbers of many, `reshape` gives them another shape, `transpose` swaps two axes. No array needs to be
# saved for any of them, a shape or an axis is enough: put it on `ctx` as an attribute, `ctx.input_shape = x.shape`.
#
# Two things are given. `kept_shape` helps with the sum: it gives the shape that is left with `keepdims=True`. (A
# *reduction* is an operation that makes one number of many, such as a sum or a mean.) `Expand` is a Function: it
# repeats numbers up to a larger shape, as broadcasting does, without copying them in memory.

# %% given source="tinygrad_cl.tensor.core.reductions:kept_shape tinygrad_cl.tensor.core.reductions:reduced_axes tinygrad_cl.tensor.core.shapes:Expand"

# %% demo
print("x.sum(axis=1) of shape (2, 3, 4): with keepdims", kept_shape((2, 3, 4), 1))
print(Tensor([[10.0], [20.0]]).expand(2, 3))

# %% [markdown]
# The forward of Sum takes `axis` (a number, a tuple, or None for all) and `keepdims`, as NumPy's does.

# %% exercise="function.shapes" source="tinygrad_cl.tensor.core.reductions:Sum tinygrad_cl.tensor.core.shapes:Reshape tinygrad_cl.tensor.core.shapes:Transpose"

# %% check="function.shapes"

# %% [markdown]
# <details><summary>Hint 1</summary>In backward, <code>grad</code> is a tensor: it has <code>reshape</code>,
# <code>transpose</code> and <code>expand</code>.</details>
# <details><summary>Hint 2</summary>Sum: if x is (2, 3, 4) and axis is 1, grad is (2, 4), or (2, 1, 4) with keepdims. Make
# it (2, 1, 4) in both cases, then (2, 3, 4).</details>
# <details><summary>Hint 3</summary>NumPy's name for the swap of two axes is <code>x.swapaxes(axis1, axis2)</code>. How do
# you undo a swap?</details>

# %% [markdown]
# ## 8 · The matrix product
#
# Lesson 03 found the rules by shapes: grad @ bᵀ for a and aᵀ @ grad for b. The first needs b, the second needs a, so
# forward saves both, as in `Mul`. `check_inner`, below, is given. Call it first in `forward`: it raises a clear error
# if the shapes do not fit. Two cases need extra work:
#
# - A **vector** is a matrix with one axis missing: put the axis back (`unsqueeze`), use the rule, take the axis away
#   again (`squeeze`).
# - For a **stack** of matrices, swap only the last two axes: `x.mT`. Nothing else changes.
#
# ```
#     a (k,)  @ b (k, m)  →  grad (m,)     as if   a (1, k) @ b (k, m) → grad (1, m)
#     a (n, k) @ b (k,)   →  grad (n,)     as if   a (n, k) @ b (k, 1) → grad (n, 1)
# ```

# %% given source="tinygrad_cl.tensor.core.matmul:check_inner"

# %% exercise="function.matmul" source="tinygrad_cl.tensor.core.matmul:MatMul"

# %% check="function.matmul"

# %% [markdown]
# <details><summary>Hint 1</summary>First two matrices only; save them as in Mul. Most lines of the check turn green
# with <code>grad @ b.mT</code> and <code>a.mT @ grad</code>.</details>
# <details><summary>Hint 2</summary>Note on ctx which of the two is a vector, <code>a.ndim == 1</code>. In backward, first
# give grad its missing axes: <code>grad.unsqueeze(-1)</code> if b is a vector, then
# <code>grad.unsqueeze(-2)</code> if a is one.</details>
# <details><summary>Hint 3</summary>The gradient of a vector b comes out as (k, 1): <code>squeeze(-1)</code>. The one of a
# vector a is (1, k), and the engine's unbroadcast makes it (k,).</details>

# %% [markdown]
# Every rule is there, so train something: sin, from 40 points, by a small network. There is no tanh yet, so the code
# computes it from exp: $\tanh u = (e^{2u} - 1)/(e^{2u} + 1)$. And since everybody forgets `zero_grad` once, we train
# twice: with `zero_grad` after each step, and without it.
#
# ### Predict, then run
#
# Without `zero_grad` each step follows the sum of **all** gradients so far. Will the loss fall slower, fall faster, or
# grow? Write −1 if it falls slower, 1 if it falls faster, 0 if it grows.

# %% predict
zero_guess = predict(without_zero_grad=...)

# %% demo
points = np.linspace(-3, 3, 40).reshape(40, 1)
targets = np.sin(points)


def network(inputs, w1, b1, w2, b2):
    e = ((inputs @ w1 + b1) * 2).exp()
    return (e - 1) / (e + 1) @ w2 + b2


def train(erase, steps=500, rate=0.1):  # erase: the old gradients, by zero_grad
    rng = np.random.default_rng(0)
    shapes = [(1, 12), (12,), (12, 1), (1,)]
    weights = [Tensor(rng.normal(size=shape), requires_grad=True) for shape in shapes]
    losses = []
    for _ in range(steps):
        loss = ((network(points, *weights) - targets) ** 2).sum() / len(points)
        losses.append(float(loss.data))
        loss.backward()
        for weight in weights:
            weight.data = weight.data - rate * weight.grad.data
            if erase:
                weight.zero_grad()
    return weights, losses


fitted, with_zero = train(erase=True)
with np.errstate(over="ignore", invalid="ignore"):
    _, without_zero = train(erase=False)
ratio = without_zero[-1] / with_zero[-1]
zero_guess.compare(without_zero_grad=0 if not ratio < 2 else -1 if ratio > 1 else 1)
plot_losses({"with zero_grad": with_zero, "without": without_zero}, "Mean squared error")

# %% demo
curve = network(points, *fitted).data
plot_lines(points[:, 0], {"sin x": targets[:, 0], "the network": curve[:, 0]},
           "After training with zero_grad", "x", markers=False)

# %% [markdown]
# If all old gradients are added up, the weights move like a ball without friction: they never come to rest. Where the
# curve without `zero_grad` ends, a weight has grown so large that exp is infinite, and everything after it is nan.
#
# Below is the graph of the first layer; its output is squared and summed. The box of a node shows what the node keeps
# until backward has used it.

# %% demo
w1, b1, *_ = fitted
w1.label, b1.label = "w1", "b1"
draw(((points @ w1 + b1) ** 2).sum())

# %% [markdown]
# ## 9 · On and off
#
# Recording costs memory. If you want only the result of a network, and no gradients, you need no graph. One switch is
# for the **whole process**, for all of its threads. <dfn>Autograd</dfn> is a short name for automatic differentiation,
# used in the names of engines and of their functions. `enable_autograd(False)` makes tensors plain arrays with
# operators, and `enable_autograd()` switches recording on again. If you switch on twice, it is on, and one call
# switches it off.
#
# The other switch is for a **block**, in one thread. In MXNet, an engine of 2015, this switch was off at the start:
# only what stood under `with autograd.record():` was recorded. Inside that block, `with autograd.pause():` switched
# recording off again for a few lines. (The textbook *Dive into Deep Learning* was first written for MXNet.)

# %% exercise="function.record" source="tinygrad_cl.tensor.core.modes:enable_autograd tinygrad_cl.tensor.mxnet.ndarray:record tinygrad_cl.tensor.mxnet.ndarray:pause"

# %% check="function.record"

# %% [markdown]
# <details><summary>Hint 1</summary>Which of the given classes already makes the object that <code>record</code> must
# return?</details>
# <details><summary>Hint 2</summary>Set the switch to the given value; do not reverse its old one.</details>

# %% demo
def is_recorded():
    x = Tensor([1.0, 2.0], requires_grad=True)
    return (x * x).grad_fn is not None


try:
    for turn in (False, True, True):
        enable_autograd(turn)
        with record():
            print(f"enable_autograd({turn!s:5})  recorded under record():", is_recorded())
finally:
    enable_autograd()

# %% [markdown]
# ## 10 · The same program in MXNet's words
#
# PyTorch and MXNet use the same mathematics and different conventions. In MXNet:
#
# - an array gets memory for its gradient by `x.attach_grad()`: zeros, at once;
# - each backward **overwrites** it, unless you ask for `grad_req="add"`;
# - where no head gradient is given, it is **ones**, as if you had summed.
#
# A <dfn>head gradient</dfn> is MXNet's name for the gradient with which backward starts, one number for each number of
# the result. Your engine can follow these conventions, too: with a subclass and three methods.

# %% exercise="function.attach_grad" source="tinygrad_cl.tensor.mxnet.ndarray:NDArray"

# %% check="function.attach_grad"

# %% [markdown]
# <details><summary>Hint 1</summary><code>super().accumulate_grad(grad)</code> calls the method of Tensor, which adds.
# What must <code>self.grad</code> be, so that adding to it gives the new gradient alone?</details>
# <details><summary>Hint 2</summary><code>np.ones_like(self.data)</code>, and then
# <code>super().backward(out_grad, retain_graph, **options)</code>.</details>

# %% [markdown]
# The first program of *Dive into Deep Learning*, nearly word for word: y = 2 xᵀx, whose gradient is 4x.

# %% demo
with pause():  # MXNet's way: nothing is recorded unless it is said
    x = NDArray(np.arange(4.0))
    x.attach_grad()
    print("room for it:     ", x.grad)

    with record():
        y = 2 * (x @ x)
    y.backward()
    print("2 x·x:           ", x.grad)

    with record():
        y = x.sum()
    y.backward()
    print("then the sum:    ", x.grad, " overwritten, not added")

    with record():
        y = x * x
    y.backward()
    print("x*x, no head:    ", x.grad, " ones: as if it were summed")

    with record():
        y = x * x
    y.backward(np.array([1.0, 10.0, 100.0, 1000.0]))
    print("x*x, with a head:", x.grad)

# %% [markdown]
# ## When Python complains
#
# <details><summary><code>NotImplementedError</code></summary>
# The cell still holds <code>raise NotImplementedError</code>, or you changed it and did not run it. The end of the
# traceback names the function: <code>apply</code> is exercise 2, a <code>forward</code> or <code>backward</code>
# belongs to a Function that you have not written yet.</details>
#
# <details><summary><code>NameError: name 'Sum' is not defined</code> (or <code>'MatMul'</code>, <code>'Reshape'</code>,
# …)</summary> An operator asks for a Function of a later exercise, or its cell did not run. <code>unsqueeze</code> and
# <code>squeeze</code> need Reshape, <code>mT</code> needs Transpose.</details>
#
# <details><summary><code>RuntimeError: backward of shape (2, 3) needs a gradient of that shape</code></summary> The
# error of your <code>start</code>; yours may have other words. A loss is one number: <code>.sum()</code> it first, or
# say how much each number counts: <code>backward(gradient)</code>.</details>
#
# <details><summary><code>RuntimeError: backward: this tensor requires no gradient</code></summary>
# No leaf below has <code>requires_grad=True</code>, or recording was off when it was computed: inside
# <code>pause()</code>, or after <code>enable_autograd(False)</code>.</details>
#
# <details><summary><code>RuntimeError: Mul: backward has been here before</code></summary>
# The graph is freed after use. Compute the loss again (nearly always what you want), or make the first call
# <code>backward(retain_graph=True)</code>.</details>
#
# <details><summary><code>RuntimeError: Mul.backward returned 1 gradients for 2 inputs</code></summary> One gradient for
# each input of <code>apply</code>, in their order, <code>None</code> where there is none. Options such as
# <code>axis</code> get none.</details>
#
# <details><summary><code>ValueError: a gradient of shape (3,) does not fit an input of shape (2, 3)</code></summary>
# A rule returned something smaller than its input: in Sum, copy the gradient to all the numbers that were summed
# (<code>expand</code>).</details>
#
# <details><summary><code>ValueError: not enough values to unpack (expected 2, got 0)</code></summary>
# <code>a, b = ctx.saved_tensors</code>, and forward saved nothing. <code>too many values to unpack (expected 1)</code>
# means that forward saved more than backward unpacks. To unpack one: <code>(x,) = ctx.saved_tensors</code>.</details>
#
# <details><summary><code>AttributeError: 'numpy.ndarray' object has no attribute 'requires_grad'</code></summary>
# In apply: an input may be a plain array or a number. Ask <code>isinstance(x, Variable)</code> first.</details>
#
# <details><summary><code>AttributeError: 'Tensor' object has no attribute 'T'</code></summary>
# NumPy's <code>.T</code> reverses the order of all axes, which is wrong for a stack of matrices. A Tensor has
# <code>.mT</code>: it swaps only the last two.</details>
#
# <details><summary><code>TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'</code></summary>
# Something was saved as <code>None</code>, since no gradient needed it, and backward uses it: look at
# <code>ctx.needs_input_grad</code> in backward, too.</details>
#
# <details><summary><code>TypeError: operand 'Tensor' does not support ufuncs</code></summary>
# <code>np.log(tensor)</code> or <code>np.exp(tensor)</code>: in backward you have tensors, so
# <code>tensor.log()</code>.</details>

# %% [markdown]
# ## What it costs
#
# **Nodes.** The dot product of two vectors with 1000 numbers each, with all its gradients. How many boxes did `Value`
# need, leaves included? How many nodes and leaves does your engine need?

# %% predict
node_guess = predict(values=..., tensors=...)

# %% demo
from tinygrad_cl import scalar


def values_dot(n):
    a = [scalar.Value(math.sin(i + 1)) for i in range(n)]
    b = [scalar.Value(math.cos(i + 1)) for i in range(n)]
    total = a[0] * b[0]
    for p, q in zip(a[1:], b[1:]):
        total = total + p * q
    return total


def tensors_dot(n):
    a = Tensor(np.sin(np.arange(n) + 1.0), requires_grad=True)
    b = Tensor(np.cos(np.arange(n) + 1.0), requires_grad=True)
    return (a * b).sum()


def numpy_dot(n):
    a, b = np.sin(np.arange(n) + 1.0), np.cos(np.arange(n) + 1.0)
    return (a * b).sum(), 1.0 * b, 1.0 * a  # the result, and both gradients by hand


node_guess.compare(values=len(scalar.topological_order(values_dot(1000))),
                   tensors=len(topological_order([tensors_dot(1000).grad_fn])))

# %% [markdown]
# **Time.** The same dot product, forward and backward, for vectors of different lengths. From which length on does the
# engine take about the same time as NumPy by hand?

# %% demo
sizes = [4 ** k for k in range(10)]
rows = {"Value": [], "Tensor": [], "NumPy by hand": []}
for n in sizes:
    rows["Value"].append(seconds_per_call(lambda: values_dot(n).backward(), 0.02)
                         if n <= 4096 else math.nan)
    rows["Tensor"].append(seconds_per_call(lambda: tensors_dot(n).backward(), 0.02))
    rows["NumPy by hand"].append(seconds_per_call(lambda: numpy_dot(n), 0.02))
print(f"at 1 number:       Tensor takes {rows['Tensor'][0] / rows['NumPy by hand'][0]:.1f} ×"
      " the time of NumPy by hand")
print(f"at {sizes[-1]:,} numbers: {rows['Tensor'][-1] / rows['NumPy by hand'][-1]:.1f} ×")
plot_times(sizes, rows, "A dot product with all its gradients", "numbers in each vector")

# %% [markdown]
# Making a node takes the same few microseconds whether its array holds one number or a million: the flat part of the
# curve, on the left, is Python's own work. A `Value` pays this time for every number, a `Tensor` once for each
# operation. This is why an engine for arrays is so much faster.
#
# **Recording.** One layer of the network for a batch of 64. How much time does recording cost, and how much does
# backward cost?

# %% demo
rng = np.random.default_rng(0)
batch = rng.normal(size=(64, 256))
w = Tensor(rng.normal(size=(256, 128)) / 16, requires_grad=True)
b = Tensor(np.zeros(128), requires_grad=True)


def layer_loss():
    return ((batch @ w + b) ** 2).sum()


try:
    enable_autograd(False)
    plain = seconds_per_call(layer_loss)
finally:
    enable_autograd()
recorded = seconds_per_call(layer_loss)
both = seconds_per_call(lambda: layer_loss().backward())
print(f"forward, nothing recorded: {1e3 * plain:6.2f} ms")
print(f"forward, recorded:         {1e3 * recorded:6.2f} ms")
print(f"forward and backward:      {1e3 * both:6.2f} ms, {both / recorded:.1f} × the forward")
loss = layer_loss()
nodes = [node for node in topological_order([loss.grad_fn]) if isinstance(node, Context)]
print("kept for backward:", ", ".join(
    f"{node.name} {sum(x.nbytes for x in node.kept_arrays()) / 1024:.0f} KiB" for node in nodes))

# %% [markdown]
# Recording itself is cheap: a few small objects, and references to arrays that exist anyway. (If the first two times
# differ much, your machine was busy, and then the factor in the third line means nothing either: run it again.) What
# costs memory is that those arrays **stay** until backward has used them. Lesson 07 counts them.

# %% [markdown] written="function.explain" points=3
# ## In your own words
#
# A friend has written `Square`, with `return 2 * x` at the end of its `backward` (x was saved). Their test computes
# `Square.apply(x).sum().backward()` and compares `x.grad` with `2 * x.data`. The test passes. Is the Function right? Say why
# the test passes, give a program (one line) for which `x.grad` is wrong, and say what a better test would do. Five
# sentences at most.
#
# <!-- BEGIN SOLUTION -->
# It is not right: backward has to return ∂L/∂x = grad · 2x, and `grad` is missing. The test passes because the sum
# hands a gradient of ones to Square, and a factor of 1 cannot be seen. Wrong is already
# `(Square.apply(x) * 3).sum().backward()`: x.grad is 2x and should be 6x. A better test calls
# `Square.apply(x).backward(g)` with random numbers g and compares with g · 2x (or with finite differences of the sum of
# g · y).
#
# **How it is marked**
#
# - 1 point: the upstream gradient is not used, and with `sum()` at the end it is all ones.
# - 1 point: a program whose x.grad is wrong, one in which something other than a sum follows: a factor, a second Function,
#   a power.
# - 1 point: the better test has an upstream gradient that is not all ones (random, or a weighted sum).
#
# Other words or a worked example count in full.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# In PyTorch, your own Function is written just like this, and it runs as it stands there:
#
# ```python
# import torch
#
# class Mul(torch.autograd.Function):
#     @staticmethod
#     def forward(ctx, a, b):
#         ctx.save_for_backward(a, b)
#         return a * b
#
#     @staticmethod
#     def backward(ctx, grad):
#         a, b = ctx.saved_tensors
#         return grad * b, grad * a
#
# a = torch.tensor([2.0, 3.0], requires_grad=True)
# b = torch.tensor([5.0, 7.0], requires_grad=True)
# Mul.apply(a, b).backward(torch.tensor([1.0, 10.0]))
# print(a.grad, b.grad)
# ```
#
# | yours | PyTorch | MXNet | JAX |
# |---|---|---|---|
# | `Function` with forward, backward | `torch.autograd.Function` | `autograd.Function` | `jax.custom_vjp` |
# | `next_nodes` | `grad_fn.next_functions` | inside, in C++ | a trace, made anew by `grad` |
# | `requires_grad=True` | the same | `x.attach_grad()` | the argument of `jax.grad` |
# | recording is on | on, `torch.no_grad()` for a block | off, `autograd.record()` for a block | only inside `grad` |
# | gradients add up | they add up | they are overwritten (`grad_req`) | returned, nothing is kept |
# | `backward(gradient)` | `backward(gradient)` | `backward(out_grad)` | `jax.vjp(f, x)[1](gradient)` |
# | no gradient for an array: an error | an error | ones | `grad` wants a scalar |
# | freed, unless `retain_graph=True` | the same | the same | the function from `vjp` can be called again |
# | `zero_grad` sets None | the same, in the optimizer | nothing to do | nothing to do |
#
# The package that you import from now on, `tinygrad_cl.tensor`, has two storeys. The ground floor, the folder
# `tinygrad_cl/tensor/core`, is what you built today, line for line: `Context`, `apply`, `propagate`, the rules. The
# upper floor stands on it: hooks, in-place changes with version counters, gradients of gradients. You need not know
# these words yet.
#
# ## What comes next
#
# **05 layers**: ReLU, softmax, losses, Adam. All of them Functions like yours; then the engine reads handwritten digits.
