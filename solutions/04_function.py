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
# `Value` knew how to differentiate, but one number at a time. NumPy is fast, but it remembers nothing. Today you build what
# has both: a `Tensor` holds a whole array, and one `backward` gives the gradients of all arrays.
#
# ```python
# w = Tensor([[0.5, -1.0], [2.0, 0.3]], requires_grad=True)
# loss = ((x @ w - y) ** 2).sum()
# loss.backward()
# w.grad                      # an array of the shape of w
# ```
#
# These are PyTorch's words, and it works as PyTorch does inside. You need lesson 01 (boxes, order, backward) and
# lesson 03 (gradients by shapes). Ten exercises.

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
# network for a batch of 64 pictures: a box now holds an array.

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
# So nobody writes these numbers down. An edge holds a **rule** instead: tell me the gradient at the result, and I tell you
# the gradient at the input. Of x @ w you know it from lesson 03: xᵀ @ grad, no table of pairs anywhere.
#
# An operation is then a pair of functions. What the second needs from the first travels in a bag called `ctx`, the
# context:
#
# ```
#      a, b ───────▶ forward(ctx, a, b) ────────▶ result
#                          │
#                         ctx     shapes, saved arrays, …
#                          ▼
#   ∂L/∂a, ∂L/∂b ◀── backward(ctx, grad) ◀─────── grad = ∂L/∂result
# ```
#
# One such pair is a `Function`. One *call* of it makes one `ctx`, and this is a node of the graph.

# %% [markdown]
# ## What is given: the array with a memory
#
# Four facts, as in a `Value`; but the parents have moved: `grad_fn` points to the node that computed the array. `wrap` and
# `raw` go from an array to a tensor and back; the rest is there to be used.

# %% given source="tinygrad_cl.tensor.core.variable:Variable tinygrad_cl.tensor.core.variable:as_array tinygrad_cl.tensor.core.variable:raw"

# %% [markdown]
# The operators do nothing themselves: each calls `apply` of its Function. Skim it, there is nothing to learn here.

# %% given source="tinygrad_cl.tensor.core.tensor:Tensor[__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __pow__ __matmul__ __rmatmul__ __neg__ exp log clone sum reshape transpose mT expand squeeze unsqueeze context] tinygrad_cl.tensor.core.tensor:numbers"

# %% [markdown]
# ## 1 · The bag
#
# `forward` works on plain arrays, `backward` on tensors, so the bag takes arrays in and gives tensors out. When the way
# back is done, what it holds can go: these arrays are most of the memory that training takes.
#
# What a call has to know besides is given:

# %% given source="tinygrad_cl.tensor.core.function:Context[next_nodes input_shapes kept freed __init__ name __repr__ wrap_result kept_arrays]"

# %% exercise="function.context" source="tinygrad_cl.tensor.core.function:Context.save_for_backward tinygrad_cl.tensor.core.function:Context.saved_tensors tinygrad_cl.tensor.core.function:Context.free"

# %% check="function.context"

# %% [markdown]
# <details><summary>Hint 1</summary>With <code>*arrays</code> in the signature, <code>arrays</code> is a tuple
# already.</details>
# <details><summary>Hint 2</summary><code>self.tensor_type</code> is <code>Tensor</code>, or a class that was made of it:
# <code>self.tensor_type.wrap(x)</code> makes a tensor around an array. What is an array?
# <code>isinstance(x, np.ndarray)</code> says so.</details>

# %% [markdown]
# ## 2 · apply: the moment that is remembered
#
# `x * y` calls `Mul.apply(x, y)`. It runs `forward`, and then, if somebody wants gradients, makes the call a node.
#
# Whether anything is recorded at all depends on two switches. Why there are two, you will see in exercise 9. `GradMode` sets
# one of them for the length of a `with` block, and puts it back however the block ends.

# %% given source="tinygrad_cl.tensor.core.modes:Switch tinygrad_cl.tensor.core.modes:switch tinygrad_cl.tensor.core.modes:process tinygrad_cl.tensor.core.modes:is_grad_enabled tinygrad_cl.tensor.core.modes:GradMode"

# %% [markdown]
# Also given: `new_context`, which makes the node, and `run_forward`, which calls `forward` and says clearly what does not fit.

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
# Four Functions as examples. Look at what each of them puts into the bag: `Neg` and `Clone` nothing, `Exp` its result (it is
# its own slope), `Log` its input. `backward` is written with the operators of tensors, and starts from `grad`, always.

# %% given source="tinygrad_cl.tensor.core.arithmetic:Neg tinygrad_cl.tensor.core.shapes:Clone tinygrad_cl.tensor.core.elementwise:Exp tinygrad_cl.tensor.core.elementwise:Log"

# %% demo
draw((-Tensor([[1.0, 2.0], [3.0, -4.0]], requires_grad=True)).exp())

# %% [markdown]
# ## 3 · Two rules
#
# The sum hands its gradient on unchanged, to both. The product is lesson 01's rectangle again, for each number of the
# array: for a it needs b, for b it needs a. Shapes that broadcast are not your business here: the engine will sum up
# later, once for all Functions, with the `unbroadcast` of lesson 03.

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
# Now the graph makes itself, from the formula alone. A constant (here 2.0) has no box: no gradient goes there.

# %% demo
x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
w = Tensor([0.5, -1.0, 2.0], requires_grad=True)
x.label, w.label = "x", "w"
draw(x * w + x * 2.0)

# %% [markdown]
# ## 4 · Both ends of the way
#
# **Where it starts.** For one number L it is clear: ∂L/∂L = 1. For an array it is not: whose gradient? So there you have to
# say how much each number of it counts: `y.backward(gradient)`, an array of the shape of y.
#
# **Where it ends.** At a leaf. Gradients add up in `grad` until somebody says `zero_grad`, as in lesson 01. But now there is
# a trap: the gradient that arrives may be the very same object that arrives elsewhere, too (look at what Add returns).

# %% exercise="function.ends" source="tinygrad_cl.tensor.core.engine:start tinygrad_cl.tensor.core.tensor:Tensor.accumulate_grad tinygrad_cl.tensor.core.tensor:Tensor.zero_grad"

# %% check="function.ends"

# %% [markdown]
# <details><summary>Hint 1</summary>A list or an array becomes a tensor by
# <code>tensor.wrap(np.array(gradient, tensor.dtype))</code>. A tensor is already one:
# <code>isinstance(gradient, Variable)</code>.</details>
# <details><summary>Hint 2</summary><code>tensor.size</code> is the number of its numbers; a tensor of shape (1, 1) holds one.
# <code>np.ones_like(tensor.data)</code> has its shape and type.</details>
# <details><summary>Hint 3</summary><code>grad_fn</code> is None for a leaf: <code>tensor.grad_fn or tensor</code>.</details>
# <details><summary>Hint 4</summary><code>grad.clone()</code> is a copy in memory of its own; <code>+</code> makes a new tensor
# anyway.</details>

# %% [markdown]
# ## 5 · The walk
#
# Now the heart. What is given: the order that you wrote in lesson 01 (what a node is computed from comes before it), the one
# place where a rule is asked (it un-broadcasts what the rule says, and refuses a node that was freed), and `backward`, which
# calls your three functions: from `start` through `propagate` to `accumulate_grad`.

# %% given source="tinygrad_cl.tensor.core.engine:topological_order tinygrad_cl.tensor.core.engine:broadcast_shape tinygrad_cl.tensor.core.engine:unbroadcast tinygrad_cl.tensor.core.engine:input_gradients tinygrad_cl.tensor.core.engine:as_gradient tinygrad_cl.tensor.core.engine:freed_error tinygrad_cl.tensor.core.tensor:Tensor.backward"

# %% [markdown]
# ```
#      x ──┐                    1. the root has the gradient it was given
#          ├─▶ Mul ─┐           2. a node whose gradient is complete asks its rule,
#      w ──┘        ├─▶ Add        and hands the parts on to next_nodes
#      x ───────────┘           3. parts for the same node add up
# ```
#
# When is a gradient complete? When everybody who uses the node has been there: walk the order from its end. Gradients
# on the way are nobody's attribute: keep them in a dict, and drop them when they are used.

# %% exercise="function.backward" source="tinygrad_cl.tensor.core.engine:propagate"

# %% check="function.backward"

# %% [markdown]
# <details><summary>Hint 1</summary>A dict <code>arrived = {root: gradient}</code>, and a loop over
# <code>reversed(topological_order([root]))</code>. A leaf is what is no <code>Context</code>.</details>
# <details><summary>Hint 2</summary>At a node: <code>zip(node.next_nodes, ask(node, grad))</code> pairs each
# part with the place where it goes. Skip parts that are None.</details>
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
# And what is left of the graph? Before backward, after it, and the same with `retain_graph=True`: count the arrays.

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
# The rule of the power has a part for the exponent, with a logarithm in it. Of a negative number there is none. That hurts
# nobody as long as nobody asks, so look at `needs_input_grad` before you compute it.

# %% exercise="function.sub_div_pow" source="tinygrad_cl.tensor.core.arithmetic:Sub tinygrad_cl.tensor.core.arithmetic:Div tinygrad_cl.tensor.core.arithmetic:Pow"

# %% check="function.sub_div_pow"

# %% [markdown]
# <details><summary>Hint 1</summary>Sub is Add with one sign changed. Div: the quotient a / b = a · b⁻¹, so for b the rule
# of the power with n = −1, times a.</details>
# <details><summary>Hint 2</summary>A plain number n comes out of the bag as a plain number, and
# <code>grad * n</code> works with both.</details>
# <details><summary>Hint 3</summary><code>a.log()</code> is the logarithm of a tensor.</details>

# %% [markdown]
# ## 7 · Shapes
#
# `sum` makes few numbers of many, `reshape` and `transpose` move them. No array needs to be saved for any of them, a shape or
# an axis is enough: put it on `ctx` as an attribute, `ctx.input_shape = x.shape`.
#
# One function to help with the sum: the shape that is left behind with `keepdims=True`. And one Function: `expand` copies
# numbers to a larger shape, as broadcasting does.

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
# Lesson 03 told you the rule by shapes: grad @ bᵀ and aᵀ @ grad. Two cases make work. A **vector** is a matrix with one axis
# missing: put it back (`unsqueeze`), use the rule, take it away again (`squeeze`). A **stack** of matrices needs nothing but
# care that only the last two axes are swapped: `x.mT`. Both rules need the numbers of a and b, so forward saves the two, as in
# `Mul`.
#
# ```
#     a (k,)  @ b (k, m)  →  grad (m,)     as if   a (1, k) @ b (k, m) → grad (1, m)
#     a (n, k) @ b (k,)   →  grad (n,)     as if   a (n, k) @ b (k, 1) → grad (n, 1)
# ```

# %% given source="tinygrad_cl.tensor.core.matmul:check_inner"

# %% exercise="function.matmul" source="tinygrad_cl.tensor.core.matmul:MatMul"

# %% check="function.matmul"

# %% [markdown]
# <details><summary>Hint 1</summary>First two matrices only; save them as in Mul. Most quantities get green with
# <code>grad @ b.mT</code> and <code>a.mT @ grad</code>.</details>
# <details><summary>Hint 2</summary>Note on ctx which of the two is a vector, <code>a.ndim == 1</code>. In backward, first
# give grad its missing axes: <code>grad.unsqueeze(-1)</code> if b is a vector, then
# <code>grad.unsqueeze(-2)</code> if a is one.</details>
# <details><summary>Hint 3</summary>The gradient of a vector b comes out as (k, 1): <code>squeeze(-1)</code>. The one of a
# vector a is (1, k), and the engine's unbroadcast makes it (k,).</details>

# %% [markdown]
# Every rule is there, so train something: sin, from 40 points, by a small network. There is no tanh, so put it together:
# $\tanh u = (e^{2u} - 1)/(e^{2u} + 1)$. And since everybody forgets `zero_grad` once: both runs, side by side.
#
# ### Predict, then run
#
# Without `zero_grad` each step follows the sum of **all** gradients so far. Will the loss fall slower, fall faster, or grow?
# Write −1 for slower, 1 for faster, 0 for a mess.

# %% predict
zero_guess = predict(without_zero_grad=...)

# %% demo
points = np.linspace(-3, 3, 40).reshape(40, 1)
targets = np.sin(points)


def network(inputs, w1, b1, w2, b2):
    e = ((inputs @ w1 + b1) * 2).exp()
    return (e - 1) / (e + 1) @ w2 + b2


def train(forget, steps=500, rate=0.1):
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
            if forget:
                weight.zero_grad()
    return weights, losses


fitted, with_zero = train(forget=True)
with np.errstate(over="ignore", invalid="ignore"):
    _, without_zero = train(forget=False)
ratio = without_zero[-1] / with_zero[-1]
zero_guess.compare(without_zero_grad=0 if not ratio < 2 else -1 if ratio > 1 else 1)
plot_losses({"with zero_grad": with_zero, "without": without_zero}, "Mean squared error")

# %% demo
curve = network(points, *fitted).data
plot_lines(points[:, 0], {"sin x": targets[:, 0], "the network": curve[:, 0]},
           "After training with zero_grad", "x", markers=False)

# %% [markdown]
# Gradients that pile up are like a ball without friction: it never comes to rest. Where the dashed line ends, a weight has grown
# so large that exp is infinite, and everything after it is nan.
#
# The graph of the first layer, squared and summed. In each box: what is kept for backward, until backward has been there.

# %% demo
w1, b1, *_ = fitted
w1.label, b1.label = "w1", "b1"
draw(((points @ w1 + b1) ** 2).sum())

# %% [markdown]
# ## 9 · On and off
#
# Recording costs memory, and who only wants the result of a network wants no graph. One switch is for the **whole
# process**: `enable_autograd(False)` makes tensors plain arrays with operators, `enable_autograd()` brings the memory
# back. It may be called twice; twice on is on.
#
# The other switch is for a **block**. MXNet (2015), the engine behind the first *Dive into Deep Learning*, had it off from
# the start: only what stood under `with autograd.record():` was recorded. Inside
# it, `with autograd.pause():` switched recording off again for a few lines.

# %% exercise="function.record" source="tinygrad_cl.tensor.core.modes:enable_autograd tinygrad_cl.tensor.mxnet.ndarray:record tinygrad_cl.tensor.mxnet.ndarray:pause"

# %% check="function.record"

# %% [markdown]
# <details><summary>Hint 1</summary>Which of the given classes makes already what <code>record</code> is to return?</details>
# <details><summary>Hint 2</summary>Set the switch; do not turn it over.</details>

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
# Two engines, the same mathematics, other manners. In MXNet's words:
#
# - an array gets its room for a gradient by `x.attach_grad()`: zeros, at once;
# - each backward **overwrites** it, unless you ask for `grad_req="add"`;
# - the gradient at the start is called *head gradient*, and where it is missing it is **ones**: as if you had summed.
#
# Your engine can speak them: a subclass, three methods.

# %% exercise="function.attach_grad" source="tinygrad_cl.tensor.mxnet.ndarray:NDArray"

# %% check="function.attach_grad"

# %% [markdown]
# <details><summary>Hint 1</summary><code>super().accumulate_grad(grad)</code> calls the method of Tensor, which adds. What must
# <code>self.grad</code> be, so that adding is overwriting?</details>
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
# The cell still holds <code>raise NotImplementedError</code>, or you changed it and did not run it. In the last line of the
# traceback stands which one: <code>apply</code> is exercise 2, a <code>forward</code> or <code>backward</code> belongs to a
# Function that you have not written yet.</details>
#
# <details><summary><code>NameError: name 'Sum' is not defined</code> (or <code>'MatMul'</code>, <code>'Reshape'</code>, …)</summary>
# An operator asks for a Function of a later exercise, or its cell did not run. <code>unsqueeze</code> and
# <code>squeeze</code> need Reshape, <code>mT</code> needs Transpose.</details>
#
# <details><summary><code>RuntimeError: backward of shape (2, 3) needs a gradient of that shape</code></summary>
# Your own error. A loss is one number: <code>.sum()</code> it first, or say what counts how much:
# <code>backward(gradient)</code>.</details>
#
# <details><summary><code>RuntimeError: backward: this tensor requires no gradient</code></summary>
# No leaf below has <code>requires_grad=True</code>, or recording was off when it was computed: inside
# <code>pause()</code>, or after <code>enable_autograd(False)</code>.</details>
#
# <details><summary><code>RuntimeError: Mul: backward has been here before</code></summary>
# The graph is freed after use. Compute the loss again (nearly always what you want), or, the first time,
# <code>backward(retain_graph=True)</code>.</details>
#
# <details><summary><code>RuntimeError: Mul.backward returned 1 gradients for 2 inputs</code></summary>
# One gradient for each input of <code>apply</code>, in their order, <code>None</code> where there is none. Options such as
# <code>axis</code> get none.</details>
#
# <details><summary><code>ValueError: a gradient of shape (3,) does not fit an input of shape (2, 3)</code></summary>
# A rule returned something smaller than its input: in Sum, copy the gradient to all the numbers that were summed
# (<code>expand</code>).</details>
#
# <details><summary><code>ValueError: not enough values to unpack (expected 2, got 0)</code></summary>
# <code>a, b = ctx.saved_tensors</code>, and forward saved nothing. <code>too many values to unpack (expected 1)</code> is the
# other way round. For one: <code>(x,) = ctx.saved_tensors</code>.</details>
#
# <details><summary><code>AttributeError: 'numpy.ndarray' object has no attribute 'requires_grad'</code></summary>
# In apply: an input may be a plain array or a number. Ask <code>isinstance(x, Variable)</code> first.</details>
#
# <details><summary><code>AttributeError: 'Tensor' object has no attribute 'T'</code></summary>
# NumPy's <code>.T</code> turns all axes round, which is wrong for a stack of matrices. Here it is <code>.mT</code>: only the
# last two.</details>
#
# <details><summary><code>TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'</code></summary>
# Something was saved as <code>None</code>, since nobody needed it, and backward uses it: ask
# <code>ctx.needs_input_grad</code> there, too.</details>
#
# <details><summary><code>TypeError: operand 'Tensor' does not support ufuncs</code></summary>
# <code>np.log(tensor)</code> or <code>np.exp(tensor)</code>: in backward you have tensors, so
# <code>tensor.log()</code>.</details>

# %% [markdown]
# ## What it costs
#
# **Nodes.** The dot product of two vectors with 1000 numbers each, with all its gradients. How many boxes did `Value` need
# (leaves included), and how many nodes and leaves does your engine?

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
# **Time.** The same, forward and backward, for vectors of any length. From where on does the engine cost next to nothing,
# compared with NumPy by hand?

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
# A node costs the same few microseconds whether it stands for one number or for a million: that flat part on the left is
# Python. A `Value` pays it for every number, a `Tensor` once for each operation. That is the whole trick.
#
# **Recording.** One layer of the network for a batch of 64. What does the memory cost, and what the way back?

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
# Recording itself is cheap: a few small objects, and references to arrays that exist anyway. (If the first two times differ much,
# your machine was busy, and then the factor in the third line means nothing either: run it again.)
# What it costs is that those arrays **stay**. Lesson 07 counts them.

# %% [markdown] written="function.explain" points=3
# ## In your own words
#
# A friend has written `Square`, with `return 2 * x` at the end of its `backward` (x was saved). Their test computes
# `Square.apply(x).sum().backward()` and compares `x.grad` with `2 * x.data`. The test passes. Is the Function right? Say why
# the test passes, give a program (one line) for which `x.grad` is wrong, and say what a better test would do. Five
# sentences at most.
#
# <!-- BEGIN SOLUTION -->
# It is not right: backward has to answer with ∂L/∂x = grad · 2x, and `grad` is missing. The test passes because the sum hands
# a gradient of ones to Square, and a factor of 1 cannot be seen. Wrong is already `(Square.apply(x) * 3).sum().backward()`:
# x.grad is 2x and should be 6x. A better test calls `Square.apply(x).backward(g)` with random numbers g and compares
# with g · 2x (or with finite differences of the sum of g · y).
#
# **How it is marked**
#
# - 1 point: the gradient that arrives is not used, and with `sum()` at the end it is all ones.
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
# `tinygrad_cl/tensor/core`, is what you built today, line for line: `Context`, `apply`, `propagate`, the rules. The upper floor
# stands on it: hooks, in-place changes with version counters, gradients of gradients.
#
# ## What comes next
#
# **05 layers**: ReLU, softmax, losses, Adam. All of them Functions like yours; then the engine reads handwritten digits.
