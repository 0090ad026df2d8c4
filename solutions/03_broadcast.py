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
# # 03 · Broadcast: gradients have shapes
#
# A box for every single number is clear, but slow. NumPy does one operation for a whole array of numbers. So from now
# on a box holds an **array**, and its gradient is an array, too:
#
# ```
# forward      x  ───▶  y  ───▶  …  ───▶  L         L is one number
# backward   ∂L/∂x ◀─ ∂L/∂y ◀──  …  ◀───  1
#
#              each gradient has the shape of its array
# ```
#
# The rules of lesson 01 stay. One thing is new: NumPy lets you add arrays of **different** shapes. What becomes of the
# gradients then?
#
# L is the loss. In this lesson you write no class, only functions. Most of them are backward functions, which we call
# rules: the *rule* of an operation that computes y takes `grad`, which is ∂L/∂y. (That is the upstream gradient:
# `upstream` in lesson 00, `arrived` in 02.) It returns ∂L/∂x for each input x of the operation. From now on a box is
# called a *node*. At the end your functions train a network on XOR.

# %% given
import time

import numpy as np

from autograder.notebook import check, predict
from tinygrad_cl.viz import draw, plot_boundary, plot_losses, plot_times, seconds_per_call
from tinygrad_cl.viz.svg import LINE, MUTED, PALE, PAPER, SKY, Picture, rect, text

# %% [markdown]
# The next cell only draws arrays. You need not read it.

# %% given
def draw_arrays(title, *parts):
    """Arrays side by side; (x, shape) is x broadcast to that shape, its copies dashed; a text."""
    drawn, left, lowest = [], 20, 0
    for part in parts:
        if isinstance(part, str):
            drawn.append(text(left, 58, part))
            left += 7.5 * len(part) + 20
            continue
        x, shape = part if isinstance(part, tuple) else (part, part.shape)
        own = np.atleast_2d(x).shape
        stretched = np.atleast_2d(np.broadcast_to(x, shape))
        for (i, j), number in np.ndenumerate(stretched):
            is_copy = i >= own[0] or j >= own[1]
            drawn.append(rect(left + 40 * j, 40 + 28 * i, 38, 26, PAPER if is_copy else PALE[SKY],
                              LINE if is_copy else SKY, dash="3 3" if is_copy else None))
            drawn.append(text(left + 40 * j + 19, 58 + 28 * i, f"{number:g}", anchor="middle",
                              fill=MUTED if is_copy else "#1f2328", mono=True))
        drawn.append(text(left, 30, str(np.shape(x)), size=12, fill=MUTED, mono=True))
        left += max(40 * stretched.shape[1], 8 * len(str(np.shape(x)))) + 16
        lowest = max(lowest, 40 + 28 * stretched.shape[0])
    return Picture(drawn, left + 4, lowest + 16, title)

# %% [markdown]
# ## 1 · Two shapes become one
#
# Below is a column plus a row. The column has shape (3, 1): one number for each line of the result. (A *line* of a
# table goes from left to right.) The row has shape (4,): one number for each column of the result. NumPy repeats both
# until they have the same shape, (3, 4). The numbers in dashed boxes are copies.
#
# With <dfn>broadcasting</dfn>, NumPy repeats the numbers of arrays of different shapes until the arrays have the same
# shape.

# %% demo
column, row = np.array([[10.0], [20.0], [30.0]]), np.array([1.0, 2.0, 3.0, 4.0])
both = (column + row).shape
draw_arrays("a column plus a row", (column, both), "+", (row, both), "=", column + row)

# %% [markdown]
# NumPy looks at the shapes only. Write them one above the other, so that **both end at the right edge**, and go column
# by column:
#
# ```
#     column    3  1              8  1  6            4  3
#     row          4                 7  1            2
#              ───────           ─────────         ────────
#     result    3  4              8  7  6           error
# ```
#
# A missing size counts as 1. If both sizes are equal, that size is taken. If one of the two is 1, the other one is
# taken. Any other pair is an error.
#
# ### Predict, then run
#
# An <dfn>axis</dfn> is one direction of an array: an array of shape (5, 1, 3) has three axes, with the sizes 5, 1
# and 3. Add an array of shape (4, 1) to it. How many axes has the sum? How many numbers?

# %% predict
shape_guess = predict(axes=..., numbers=...)

# %% demo
total = np.zeros((5, 1, 3)) + np.zeros((4, 1))
shape_guess.compare(axes=total.ndim, numbers=total.size)
print("shape:", total.shape)

# %% exercise="broadcast.shape" source="tinygrad_cl.tensor.core.engine:broadcast_shape"

# %% check="broadcast.shape"

# %% [markdown]
# <details><summary>Hint 1</summary>Make both tuples equally long first: <code>(1,) * missing + a</code>.</details>
# <details><summary>Hint 2</summary>Then <code>zip</code> them. Two sizes m and n fit if they are equal, or if one of them
# is 1.</details>
# <details><summary>Hint 3</summary>Not <code>max(m, n)</code>: 0 is a size, too (an empty batch), and 1 against 0 is
# 0.</details>

# %% [markdown]
# ## 2 · What was copied is summed
#
# Now we go backward. Take y = x + b, with x of shape (3, 2) and b of shape (2,): three examples, and one bias for each
# column.

# %% demo
x = np.array([[0.5, 1.0], [1.5, 2.0], [2.5, 3.0]])
b = np.array([10.0, 20.0])
draw_arrays("y = x + b", x, "+", (b, x.shape), "=", x + b)

# %% [markdown]
# Here is the referee of lesson 01 for arrays. We give it a function f and, for y = f(x), any array `grad` of the
# shape of y. It then needs a number L with ∂L/∂y = grad. L = Σ grad · y is such a number: if a number of y goes up by
# h, L goes up by h times the number of grad in the same place. The referee moves each number of x a little, and
# measures by how much L moves.

# %% given
def measured(f, x, grad, h=1e-5):
    """∂L/∂x by moving each number of x a little, alone. L = Σ grad · f(x), so ∂L/∂f is grad."""
    moves = h * np.eye(x.size).reshape(-1, *x.shape)
    slopes = [np.sum(grad * (f(x + move) - f(x - move))) / (2 * h) for move in moves]
    return np.reshape(slopes, x.shape)

# %% [markdown]
# ### Predict, then run
#
# Let this be the gradient of y:
#
# ```
#            1   2
# ∂L/∂y =    3  −4
#            5   6
# ```
#
# So if y₀₀ goes up by a tiny h, L goes up by 1 · h; for y₀₁ it is 2 · h, and so on. Now b₀ goes up by h. Which numbers
# of y move? By how many h does L move? And for b₁?

# %% predict
bias_guess = predict(b_0=..., b_1=...)

# %% demo
grad = np.array([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]])
measured_b = measured(lambda b: x + b, b, grad)
bias_guess.compare(b_0=measured_b[0], b_1=measured_b[1])
draw_arrays("back", grad, "each column summed →", measured_b.round(6))

# %% [markdown]
# This is the rule of lesson 01. b₀ has three copies, so three paths lead from it to L, and **over all paths, add**:
#
# > Forward copies. Backward sums over the copies.
#
# In which axes were there copies? Write the two shapes one above the other once more. For a `grad` of shape (8, 7, 6):
#
# ```
# grad              8  7  6          8  7  6          8  7  6          8  7  6
# the input's          7  6          8  1  6             1  6                ()
#                   ▲                   ▲             ▲  ▲             ▲  ▲  ▲
# sum over         axis 0             axis 1         0 and 1             all
# ```
#
# To <dfn>unbroadcast</dfn> a gradient is to sum it over the axes in which broadcasting made copies, so that it has the
# shape of the input again. What is new in this lesson is in this one function.

# %% exercise="broadcast.unbroadcast" source="tinygrad_cl.tensor.core.engine:unbroadcast"

# %% check="broadcast.unbroadcast"

# %% [markdown]
# <details><summary>Hint 1</summary>There are two kinds of axes: those that the input does not have (there are
# <code>grad.ndim - len(shape)</code> of them, on the left), and those in which its size is 1.</details>
# <details><summary>Hint 2</summary>In the second kind, the axis must stay, with size 1:
# <code>grad.sum(axis=…, keepdims=True)</code>.</details>
# <details><summary>Hint 3</summary>You can write a loop: while <code>grad</code> has too many axes, sum over axis 0;
# then for each axis i with <code>shape[i] == 1</code>, sum over i with keepdims.</details>
# <details><summary>Hint 4: the ValueError</summary><code>reshape</code> makes an array of shape (3, 2) from one of
# shape (2, 3), without an error. So test before: if <code>shape</code> broadcasts to grad's, what must
# <code>broadcast_shape(grad.shape, shape)</code> be?</details>

# %% [markdown]
# ### For the curious: broadcasting as a matrix
#
# You may skip this part. Broadcast an array of shape (2, 1) to shape (2, 3). Write its 2 numbers
# as a vector x, and the 6 results as a vector, too. Each of the 6 is a copy of one of the 2. So the results are a
# product B x, where B is a matrix of zeros and ones. Below, B has six lines for the six results, and two columns for
# the two inputs. A 1 says: this result is a copy of this input. The <dfn>transpose</dfn> Bᵀ of a matrix B has the
# columns of B as its lines.

# %% demo
small, large = (2, 1), (2, 3)
B = np.stack([np.broadcast_to(unit.reshape(small), large).ravel() for unit in np.eye(2)], axis=1)
draw_arrays("broadcasting as a matrix, and its transpose", "B =", B, "Bᵀ =", B.T)

# %% [markdown]
# Read B by lines: each result copies **one** input. Read Bᵀ by lines: each input gets the **sum** over its copies. So
# `unbroadcast` multiplies by Bᵀ. The <dfn>adjoint</dfn> of an operation that multiplies by a matrix is the operation
# that multiplies by the transpose of the matrix. So `unbroadcast` is the adjoint of broadcasting.
#
# Write ⟨u, v⟩ for the dot product: multiply u and v number by number, and add. This gives a test without any step size.
# For all x and all g:
#
# $$\langle g,\; B x \rangle \;=\; \langle B^T g,\; x \rangle$$

# %% demo
rng = np.random.default_rng(3)
g, x = rng.normal(size=large), rng.normal(size=small)
print("Bᵀ g by matrix:   ", B.T @ g.ravel())
print("unbroadcast:      ", unbroadcast(g, small).ravel())
print("⟨g, Bx⟩ = ⟨Bᵀg, x⟩:", np.vdot(g, np.broadcast_to(x, large)),
      np.vdot(unbroadcast(g, small), x))

# %% [markdown]
# Summing is a product with a matrix, too. Section 4 shows the operation that multiplies by the transpose of this
# matrix. Guess before you read it: **which operation is it?**

# %% [markdown]
# ## 3 · The product, number by number
#
# Take y = a · b with broadcasting. The rule has two steps, and you know both: first the rule of lesson 01 for every
# single product, then `unbroadcast`. Keep this order. Think of a column b that is used in every column of a. The copies
# of b₀ were multiplied by **different** numbers of a. So their gradients differ, and you can sum them only after each
# one is computed.

# %% demo
a, b = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([[10.0], [-1.0]])
draw_arrays("y = a · b", a, "·", (b, a.shape), "=", a * b)

# %% exercise="broadcast.mul" own="a rule as a function of arrays, before there is a Function; engine 2 has it as Mul, lesson 04"
def mul_backward(grad, a, b):
    """∂L/∂a and ∂L/∂b for y = a * b, number by number: a tuple.

    a, b      arrays whose shapes broadcast
    grad      ∂L/∂y, of the shape of y

    >>> mul_backward(np.array([[1.0, 10.0]]), np.array([[2.0, 3.0]]), np.array([[5.0]]))
    (array([[ 5., 50.]]), array([[32.]]))
    """
    ### BEGIN SOLUTION
    return unbroadcast(grad * b, a.shape), unbroadcast(grad * a, b.shape)
    ### END SOLUTION

# %% check="broadcast.mul"

# %% [markdown]
# <details><summary>Hint 1</summary>∂y/∂a is b, for each product. Multiply it by the upstream gradient,
# <code>grad</code>.</details>
# <details><summary>Hint 2</summary>Multiply while every copy is still there. Then sum.</details>

# %% [markdown]
# ## 4 · The sum: the mirror image
#
# ### Predict, then run
#
# x has the shape (2, 4), and y = x.sum(axis=1) has the shape (2,). The gradient of y is (8, −4). What is the gradient
# of x₀₀? Of x₁₃? And with `mean` in place of `sum`?

# %% predict
sum_guess = predict(sum_00=..., sum_13=..., mean_00=..., mean_13=...)

# %% demo
x, grad = rng.normal(size=(2, 4)), np.array([8.0, -4.0])
of_sum = measured(lambda x: x.sum(axis=1), x, grad)
of_mean = measured(lambda x: x.mean(axis=1), x, grad)
sum_guess.compare(sum_00=of_sum[0, 0], sum_13=of_sum[1, 3],
                  mean_00=of_mean[0, 0], mean_13=of_mean[1, 3])
draw_arrays("sum over axis 1: back", (grad[:, None], x.shape), "is", of_sum.round(6))

# %% [markdown]
# If a number of a line goes up by h, the sum of the line goes up by h. So each number gets the gradient of its sum: a
# **copy**.
#
# > Forward sums. Backward copies.
#
# So summing and broadcasting belong together: the backward of each is the forward of the other. (In the words of the
# part for the curious: each is the adjoint of the other.) Only the shape needs care: NumPy aligns shapes at the right,
# and the axis that was summed is missing. Put it back with size 1. Then NumPy broadcasts it:
#
# ```
# x     (2, 4, 3)  ── sum over axis 1 ──▶   (2, 3)      with keepdims: (2, 1, 3)
# ∂L/∂x (2, 4, 3)  ◀── copy ── (2, 1, 3) ◀── (2, 3)
# ```

# %% exercise="broadcast.sum" own="a rule as a function of arrays, before there is a Function; engine 2 has it as Sum, lesson 04"
def sum_backward(grad, x, axis=None, keepdims=False):
    """∂L/∂x for y = x.sum(axis, keepdims=keepdims), an array of the shape of x.

    grad      ∂L/∂y, an array of the shape of y
    axis      None for all axes, a number (−1 is the last axis) or a tuple of such numbers

    >>> sum_backward(np.array([8.0, -4.0]), np.zeros((2, 3)), axis=1)
    array([[ 8.,  8.,  8.],
           [-4., -4., -4.]])
    """
    ### BEGIN SOLUTION
    if axis is not None and not keepdims:
        grad = np.expand_dims(grad, axis)
    return np.broadcast_to(grad, x.shape)
    ### END SOLUTION

# %% check="broadcast.sum"

# %% [markdown]
# <details><summary>Hint 1</summary>With keepdims the axis is there already, with size 1. With axis=None there is one
# number, which broadcasts to any shape.</details>
# <details><summary>Hint 2</summary><code>np.expand_dims(grad, axis)</code> puts an axis of size 1 back; it takes
# negative numbers and tuples. <code>np.broadcast_to(grad, x.shape)</code> repeats it.</details>
# <details><summary>Hint 3</summary>Another way: which shape has <code>x.sum(axis, keepdims=True)</code>? Reshape grad to
# it.</details>

# %% [markdown]
# ## 5 · The mean
#
# A mean is a sum, divided by how many numbers were added. With the function above, the rule is one line. How many
# numbers were added? It depends on the axis, but you can find it from x and grad.

# %% exercise="broadcast.mean" own="a rule as a function of arrays, before there is a Function; engine 2 has it as Mean, which computes the count from the axes"
def mean_backward(grad, x, axis=None, keepdims=False):
    """∂L/∂x for y = x.mean(axis, keepdims=keepdims), an array of the shape of x.

    grad, axis, keepdims   as for sum_backward; no size is 0

    >>> mean_backward(np.array([8.0, -4.0]), np.zeros((2, 4)), axis=1)
    array([[ 2.,  2.,  2.,  2.],
           [-1., -1., -1., -1.]])
    """
    ### BEGIN SOLUTION
    count = x.size / grad.size
    return sum_backward(grad, x, axis, keepdims) / count
    ### END SOLUTION

# %% check="broadcast.mean"

# %% [markdown]
# <details><summary>Hint</summary>If x has 24 numbers and grad has 6, how many numbers of x belong to each number of
# grad?</details>

# %% [markdown]
# ## 6 · The matrix product, by its shapes
#
# A *matrix* is an array with two axes. A product (n, k) @ (k, m) exists only if the inner sizes, here k, are equal. Its
# shape is (n, m): line i of the first times column j of the second, as a dot product, is number (i, j) of the result. The
# transpose Bᵀ (`B.T`) has the columns of B as its lines.
#
# Take Y = A @ B. Before we derive anything: what **could** the gradient of A be? It is computed from grad and B, and it
# must have the shape of A. Write the three shapes down:
#
# ```
# A (2, 3)      B (3, 4)      Y and grad (2, 4)
# ```
#
# ### Predict, then run
#
# Take grad and B, each as it is or transposed, in either order: eight products. How many of them exist and have A's
# shape? And if all three were square?

# %% predict
fit_guess = predict(these=..., square=...)

# %% demo
def products(g, b):
    """{text: product} for the eight products of g and b that have a shape at all."""
    named = {"g": g, "gᵀ": g.T}, {"b": b, "bᵀ": b.T}
    pairs = [(p, q) for left, right in (named, named[::-1]) for p in left.items()
             for q in right.items()]
    return {f"{p} @ {q}": m @ n for (p, m), (q, n) in pairs if m.shape[1] == n.shape[0]}


def how_many(n, k, m):
    found = products(np.ones((n, m)), np.ones((k, m)))
    return sum(product.shape == (n, k) for product in found.values())


fit_guess.compare(these=how_many(2, 3, 4), square=how_many(3, 3, 3))

# %% [markdown]
# The shapes alone leave no choice, as long as no two sizes are equal. (So never test on square matrices.)
#
# Why it is right: $y_{ij} = \sum_k a_{ik}\, b_{kj}$. The number $a_{ik}$ is used for **every number in line i** of Y.
# For $y_{ij}$ it is multiplied by $b_{kj}$, so each time by a different number of line k of B. Write $g_{ij}$ for the
# numbers of grad. Over all paths, add: $\partial L/\partial a_{ik} = \sum_j g_{ij}\, b_{kj}$, and that is a matrix
# product again.

# %% exercise="broadcast.matmul" own="the case of two matrices alone, a step towards the next exercise but one"
def matmul_2d_backward(grad, a, b):
    """∂L/∂a and ∂L/∂b for y = a @ b, two matrices: a tuple.

    a, b      of shapes (n, k) and (k, m)
    grad      ∂L/∂y, of shape (n, m)

    >>> grad_a, grad_b = matmul_2d_backward(np.ones((2, 4)), np.ones((2, 3)), np.ones((3, 4)))
    >>> grad_a.shape, grad_b.shape
    ((2, 3), (3, 4))
    """
    ### BEGIN SOLUTION
    return grad @ b.T, a.T @ grad
    ### END SOLUTION

# %% check="broadcast.matmul"

# %% [markdown]
# <details><summary>Hint 1</summary>For ∂L/∂a: (2, 4) times what gives (2, 3)? You have B, of shape (3, 4).</details>
# <details><summary>Hint 2</summary>For ∂L/∂b: what, of shape (3, 2), times (2, 4) gives (3, 4)?</details>

# %% [markdown]
# With square matrices all eight products have the right shape, but only one is right. A test that looks at shapes would
# let all eight pass:

# %% demo
a, b, g = rng.normal(size=(3, 3, 3))
of_a = measured(lambda a: a @ b, a, g)
for name, product in products(g, b).items():
    difference = np.abs(product - of_a).max()
    print(f"{name:8} shape {product.shape}   worst difference {difference:.1e}",
          "  ← right" if difference < 1e-6 else "")

# %% [markdown]
# ## 7 · Vectors and stacks
#
# `@` takes more than matrices:
#
# - a vector on the **left** is a matrix of one line; that line's axis is missing from the result;
# - a vector on the **right** is a matrix of one column; that column's axis is missing from the result;
# - an array with more than two axes is a stack of matrices.
#
# A <dfn>stack</dfn> of matrices is an array with more than two axes: the last two axes are those of the matrices, and
# the axes before them number the matrices. The axes before the last two broadcast.

# %% demo
for a_shape, b_shape in [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)),
                         ((7, 2, 3), (7, 3, 4)), ((7, 2, 3), (3, 4)), ((3,), (7, 3, 4)),
                         ((6, 1, 2, 3), (7, 3, 4))]:
    y = np.ones(a_shape) @ np.ones(b_shape)
    print(f"{str(a_shape):14} @ {str(b_shape):11} → {y.shape}")

# %% [markdown]
# No new rule is needed, only four steps:
#
# 1. If a or b is a vector, add the axis that it lacks, with size 1. Add the missing axis to grad, too.
# 2. Use the rule for matrices.
# 3. Let `unbroadcast` sum over the stack.
# 4. Give a vector its shape back.
#
# `np.swapaxes(x, -1, -2)` transposes every matrix of a stack. `.T` would reverse the order of all axes.

# %% exercise="broadcast.matmul_any" own="a rule as a function of arrays, before there is a Function; engine 2 has it as MatMul, lesson 04"
def matmul_backward(grad, a, b):
    """∂L/∂a and ∂L/∂b for y = a @ b, whatever shapes `@` takes: a tuple.

    a, b      vectors, matrices or stacks of matrices (the stacks broadcast)
    grad      ∂L/∂y, an array of the shape of y; for two vectors that is ()

    >>> grad_a, grad_b = matmul_backward(np.ones((7, 2)), np.ones((7, 2, 3)), np.ones(3))
    >>> grad_a.shape, grad_b
    ((7, 2, 3), array([14., 14., 14.]))
    """
    ### BEGIN SOLUTION
    left, right = a, b
    if b.ndim == 1:
        right, grad = b[:, np.newaxis], grad[..., np.newaxis]
    if a.ndim == 1:
        left, grad = a[np.newaxis, :], grad[..., np.newaxis, :]
    grad_a = unbroadcast(grad @ np.swapaxes(right, -1, -2), left.shape)
    grad_b = unbroadcast(np.swapaxes(left, -1, -2) @ grad, right.shape)
    return grad_a.reshape(a.shape), grad_b.reshape(b.shape)
    ### END SOLUTION

# %% check="broadcast.matmul_any"

# %% [markdown]
# <details><summary>Hint 1</summary>Begin with two matrices, then take stacks: what must you change in the rule, so that
# it works on the last two axes only? Then take one weight of shape (3, 4) and a stack: the weight was copied, so its
# gradient is summed.</details>
# <details><summary>Hint 2: a vector on the right</summary><code>b[:, np.newaxis]</code> is a column (k, 1). Y would
# then have shape (…, n, 1), so grad gets that last axis, too: <code>grad[..., np.newaxis]</code>.</details>
# <details><summary>Hint 3: a vector on the left</summary><code>a[np.newaxis, :]</code> is a line (1, k), and grad gets
# the last axis but one: <code>grad[..., np.newaxis, :]</code>. With two vectors, the right one goes first.</details>

# %% [markdown]
# ### Call the referee
#
# Your general rules are tested on shapes of many kinds, with a random upstream gradient:

# %% demo
def worst(f, rule, *shapes):
    """How far the rule is from what is measured, at its worst."""
    inputs = [rng.normal(size=shape) for shape in shapes]
    grad = rng.normal(size=np.shape(f(*inputs)))
    ours = rule(np.asarray(grad), *inputs)
    ours = ours if isinstance(ours, tuple) else (ours,)
    theirs = [measured(lambda x: f(*inputs[:i], x, *inputs[i + 1:]), inputs[i], grad)
              for i in range(len(inputs))]
    return max(np.abs(mine - their).max() for mine, their in zip(ours, theirs))


for shapes in [((3, 1), (4,)), ((2, 1, 3), (4, 1)), ((), (2, 3))]:
    print(f"a · b    {str(shapes):25} {worst(lambda a, b: a * b, mul_backward, *shapes):.0e}")
for shapes in [((3,), (3,)), ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((6, 1, 2, 3), (5, 3, 4))]:
    print(f"a @ b    {str(shapes):25} {worst(lambda a, b: a @ b, matmul_backward, *shapes):.0e}")
for options in [{}, {"axis": 1}, {"axis": (0, -1)}, {"axis": -1, "keepdims": True}]:
    of_sum = worst(lambda x: x.sum(**options),
                   lambda g, x: sum_backward(g, x, **options), (2, 3, 4))
    of_mean = worst(lambda x: x.mean(**options),
                    lambda g, x: mean_backward(g, x, **options), (2, 3, 4))
    print(f"sum, mean {str(options):32} {of_sum:.0e}  {of_mean:.0e}")

# %% [markdown]
# ## 8 · A network out of these
#
# XOR again: the target is 1 if exactly one of the two inputs is 1, here else 0. No straight line separates the four
# points, so the network needs a layer in between, with an activation. In place of tanh we take z · z. So you need only
# the functions that you wrote, and the rule of lesson 01 for + (a − b is a + (−b)):
#
# $$Z = XW_1 + b_1 \qquad H = Z \cdot Z \qquad \text{out} = HW_2 + b_2 \qquad E = \text{out} - \text{target} \qquad
# L = \text{mean}(E \cdot E)$$

# %% demo
from types import SimpleNamespace as Node


def box(label, op="", *parents):
    return Node(label=label, op=op, parents=list(parents))


z = box("z 4×3", "+", box("x@w1 4×3", "@", box("x 4×2"), box("w1 2×3")), box("b1 3"))
draw(box("h 4×3", "·", z, z))

# %% demo
out = box("out 4×1", "+", box("h@w2 4×1", "@", box("h 4×3"), box("w2 3×1")), box("b2 1"))
e = box("e 4×1", "−", out, box("target 4×1"))
draw(box("loss", "mean ·", e, e))

# %% [markdown]
# Go back from the right: first through the second picture, then through the first one. Ask at each node: which of your
# functions do I call, and which arrays of the **forward** pass does it need? In two places both edges come from the
# same parent: at h = z · z, and at e · e inside the loss. There, add the two parts.

# %% exercise="broadcast.network" own="backward of one network by hand, the last time before an engine does it"
def loss_and_gradients(x, target, w1, b1, w2, b2):
    """The loss of the network and its gradients: (loss, [∂L/∂w1, ∂L/∂b1, ∂L/∂w2, ∂L/∂b2]).

    z = x @ w1 + b1,  h = z * z,  out = h @ w2 + b2,  e = out - target,  loss = mean of e * e

    x         (n, inputs)          target   (n, outputs)
    w1        (inputs, hidden)     b1       (hidden,)
    w2        (hidden, outputs)    b2       (outputs,)

    >>> one = np.ones((1, 1))
    >>> loss, gradients = loss_and_gradients(one, one, 2 * one, one[0], one, one[0])
    >>> float(loss), [g.tolist() for g in gradients]
    (81.0, [[[108.0]], [108.0], [[162.0]], [18.0]])
    """
    ### BEGIN SOLUTION
    z = x @ w1 + b1
    h = z * z
    out = h @ w2 + b2
    e = out - target
    square = e * e
    loss = square.mean()

    grad_square = mean_backward(np.ones(()), square)
    grad_e = sum(mul_backward(grad_square, e, e))
    grad_b2 = unbroadcast(grad_e, b2.shape)
    grad_h, grad_w2 = matmul_backward(grad_e, h, w2)
    grad_z = sum(mul_backward(grad_h, z, z))
    grad_b1 = unbroadcast(grad_z, b1.shape)
    _, grad_w1 = matmul_backward(grad_z, x, w1)
    return loss, [grad_w1, grad_b1, grad_w2, grad_b2]
    ### END SOLUTION

# %% check="broadcast.network"

# %% [markdown]
# <details><summary>Hint 1: the forward pass</summary>Five lines, as they stand in the docstring; keep z, h and
# e.</details>
# <details><summary>Hint 2: the start</summary>∂L/∂L is one number, 1: <code>np.ones(())</code>. Then
# <code>mean_backward(np.ones(()), e * e)</code> is the gradient of e · e.</details>
# <details><summary>Hint 3: the squares</summary><code>mul_backward(grad, e, e)</code> returns two parts, for the left
# and the right e. It is the same e: add them.</details>
# <details><summary>Hint 4: the sums</summary>A + hands its gradient on as it is: h @ w2 gets all of it, b2 gets what
# <code>unbroadcast</code> makes of it. A − hands it on unchanged to its left side.</details>

# %% [markdown]
# You have the gradients. A step against them is one line. Now write the whole training:

# %% exercise="broadcast.train" own="a training loop; the package leaves loops to its users"
def train(x, target, parameters, steps, rate):
    """Gradient descent: (losses, parameters after the last step).

    parameters    the list [w1, b1, w2, b2]; neither the list nor its arrays are changed
    losses        a list, one loss for each step, as it was before that step
    each step     every parameter minus rate · its gradient

    >>> x, target = np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]])
    >>> start = [np.ones((1, 1)), np.zeros(1), np.ones((1, 1)), np.zeros(1)]
    >>> losses, after = train(x, target, start, steps=2, rate=0.01)
    >>> [round(float(loss), 6) for loss in losses], [p.shape for p in after]
    ([0.5, 0.040571], [(1, 1), (1,), (1, 1), (1,)])
    """
    ### BEGIN SOLUTION
    losses = []
    for _ in range(steps):
        loss, gradients = loss_and_gradients(x, target, *parameters)
        losses.append(loss)
        parameters = [p - rate * gradient for p, gradient in zip(parameters, gradients)]
    return losses, parameters
    ### END SOLUTION

# %% check="broadcast.train"

# %% [markdown]
# <details><summary>Hint 1</summary><code>loss_and_gradients(x, target, *parameters)</code> takes the list
# apart.</details>
# <details><summary>Hint 2</summary><code>p -= rate * gradient</code> writes into the array that the caller holds.
# <code>p - rate * gradient</code> makes a new one.</details>

# %% [markdown]
# Now your functions train a network on XOR:

# %% demo
def start(hidden=3, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(2, hidden)), np.zeros(hidden),
            rng.normal(size=(hidden, 1)), np.zeros(1)]


points = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
xor = np.array([[0.0], [1.0], [1.0], [0.0]])
before = time.perf_counter()
losses, trained = train(points, xor, start(), steps=600, rate=0.05)
print(f"{len(losses)} steps in {time.perf_counter() - before:.2f} s")
print(f"loss {losses[0]:.3f} → {losses[-1]:.1e}")


def score(points):
    w1, b1, w2, b2 = trained
    z = points @ w1 + b1
    return (z * z @ w2 + b2)[:, 0] - 0.5


for point, number in zip(points, score(points) + 0.5):
    print(point, f"→ {number:.3f}")
plot_losses({"XOR": losses})

# %% demo
plot_boundary(score, points, xor[:, 0].astype(int), "XOR: where the network changes its mind")

# %% [markdown]
# With z · z the score is a polynomial of degree 2 in x₁ and x₂. The border, where the score is 0, can be an ellipse, a
# hyperbola, a parabola or a pair of lines. A hyperbola, two parallel lines or a long ellipse can be right for XOR. Try
# another seed in `start(seed=…)`.

# %% [markdown]
# ## The bug that raises nothing
#
# Somebody stores the four targets in an array of shape (4,), not (4, 1). `out` has the shape (4, 1). What is
# `out - target` then?
#
# ### Predict, then run
#
# How many numbers are in `out - target`? What is the loss of a **perfect** network, whose out has the right four
# numbers? And of a network that answers 0.5 to everything?

# %% predict
silent_guess = predict(numbers=..., loss_of_perfect=..., loss_of_half=...)

# %% demo
perfect, half, flat = xor, np.full((4, 1), 0.5), xor[:, 0]
silent_guess.compare(numbers=(perfect - flat).size, loss_of_perfect=((perfect - flat) ** 2).mean(),
                     loss_of_half=((half - flat) ** 2).mean())
draw_arrays("out − target", (perfect, (4, 4)), "−", (flat, (4, 4)), "=", perfect - flat)

# %% [markdown]
# Every output is compared with every target. The perfect network has a larger loss than the one that knows nothing, so
# training leads away from the solution, and no error is raised. If a loss does not get smaller, **print the shapes**
# first.
#
# A similar bug: somebody forgets `unbroadcast`, and the gradient keeps the large shape. See what a bias of shape (3,)
# becomes.

# %% demo
bias, gradient = np.zeros(3), np.ones((4, 3))  # one line for each example: somebody forgot the sum
bias = bias - 0.1 * gradient
print("bias = bias - 0.1 * gradient: the bias now has shape", bias.shape)
bias = np.zeros(3)
try:
    bias -= 0.1 * gradient
except ValueError as error:
    print("bias -= 0.1 * gradient:", error)

# %% [markdown]
# ## When Python complains
#
# <details><summary><code>ValueError: operands could not be broadcast together with shapes (3,4) (3,)</code></summary>
# Write the shapes one above the other, aligned on the right: 4 stands above 3, and neither is 1. If the vector should
# have one number for each line, it is a column: <code>v[:, np.newaxis]</code>. In a rule: the axis that was summed is
# missing; put it back with size 1.</details>
#
# <details><summary><code>ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0</code></summary>
# The inner sizes differ: (n, k) @ (k, m) needs the same k. Print both shapes; one side must be transposed, or the order
# is the other way round.</details>
#
# <details><summary><code>ValueError: cannot reshape array of size 12 into shape (3,)</code></summary>
# In <code>unbroadcast</code>: an axis was not summed, so there are too many numbers left.</details>
#
# <details><summary><code>ValueError: non-broadcastable output operand with shape (3,) doesn't match the broadcast shape
# (4,3)</code></summary> <code>b -= …</code> with a gradient that is larger than b: <code>unbroadcast</code> was not
# called. <code>b = b - …</code> would have raised no error.</details>
#
# <details><summary><code>ValueError: input operand has more dimensions than allowed by the axis
# remapping</code></summary> <code>np.broadcast_to(grad, x.shape)</code> with a grad of more axes than x: keepdims was
# set, and you added an axis of size 1 once more.</details>
#
# <details><summary><code>AxisError: axis 1 is out of bounds for array of dimension 1</code></summary>
# An axis of <code>grad</code> that it does not have (any more). After a sum without keepdims, all axes to its right have
# moved.</details>
#
# <details><summary><code>ValueError: assignment destination is read-only</code></summary> <code>np.broadcast_to</code>
# copies no numbers: one place in memory stands for all copies of a number. So its result may not be written to. Compute
# a new array, or take <code>.copy()</code>.</details>
#
# <details><summary><code>TypeError: 'int' object is not iterable</code>, or <code>tuple indices must be
# integers</code></summary> axis may be a number or a tuple. <code>np.expand_dims</code> and <code>sum</code> take
# both.</details>
#
# <details><summary><code>AttributeError: 'float' object has no attribute 'shape'</code></summary> There is a plain
# number where an array is needed: <code>np.ones(())</code> is the number 1 as an array.</details>

# %% [markdown]
# ## What it costs
#
# **Copies.** The numbers in dashed boxes are never stored. NumPy reads the same place in memory again. A
# <dfn>view</dfn> is an array that uses the memory of another array, so no numbers are copied. `np.broadcast_to` returns
# a view.
#
# The <dfn>stride</dfn> of an axis is the distance in memory, in bytes, from one number to the next one along the axis.
# NumPy lists them in `strides`. In the view below the stride from one line to the next is 0, so every line is in the
# same place.

# %% demo
bias, lines = np.ones(500), 2_000
view, copies = np.broadcast_to(bias, (lines, 500)), np.tile(bias, (lines, 1))
print(f"strides of the view: {view.strides}, of real copies: {copies.strides}")
print(f"bytes: {bias.nbytes:,} against {copies.nbytes:,}")
x = np.ones((lines, 500))
print(f"x + bias: {1e3 * seconds_per_call(lambda: x + bias):.2f} ms, "
      f"x + copies made first: "
      f"{1e3 * seconds_per_call(lambda: x + np.tile(bias, (lines, 1))):.2f} ms")

# %% [markdown]
# **Work.** (n, k) @ (k, m) takes n·k·m multiplications. Its backward takes more. How many times as many? Write down the
# sizes of your two products.

# %% predict
work_guess = predict(backward_in_forwards=...)

# %% demo
def multiplications(left, right):
    return left.shape[0] * left.shape[1] * right.shape[1]


def shortest(function, budget=0.05):
    """The shortest of many runs: whatever else the machine does only adds to the others."""
    times = []
    while len(times) < 5 or sum(times) < budget:
        before = time.perf_counter()
        function()
        times.append(time.perf_counter() - before)
    return min(times)


a, b, g = np.ones((2, 3)), np.ones((3, 4)), np.ones((2, 4))
forward, backward = multiplications(a, b), multiplications(g, b.T) + multiplications(a.T, g)
work_guess.compare(backward_in_forwards=backward / forward)

stacks, forwards, backwards = [2 ** k for k in range(9)], [], []
for stack in stacks:  # of small matrices: large ones are spread over threads
    a, b = rng.normal(size=(stack, 32, 48)), rng.normal(size=(stack, 48, 40))
    g = rng.normal(size=(stack, 32, 40))
    forwards.append(shortest(lambda: a @ b))
    backwards.append(shortest(lambda: matmul_backward(g, a, b)))
ratios = [two / one for one, two in zip(forwards, backwards)]
print("measured, backward in forwards:", *(f"{ratio:.1f}" for ratio in ratios))
print(f"so a forward and a backward took {1 + ratios[-1]:.1f} forwards in the largest stack")
plot_times(stacks, {"backward": backwards, "forward": forwards}, "Stacks of matrix products",
           "products in the stack")

# %% [markdown]
# Forward and backward together take three times the multiplications of the forward alone. So people say that a training
# step costs three forwards. The measured time contains more: the Python around a product, the transposes, the memory
# for the results. In a small stack that may be the larger part. How near the last printed line comes to three depends
# on your NumPy and your machine.

# %% [markdown]
# **A stack and one weight.** Take x of shape (N, n, k), a stack of N matrices, and x @ w with w of shape (k, m). Your
# rule makes N matrices of w's shape and sums them. But each number of ∂L/∂w is a sum over the n lines of a matrix, and
# then over the N matrices. Together that is one sum over N·n lines. So reshape x to (N·n, k) and grad to (N·n, m): then
# a single matrix product does it.

# %% demo
def stacked(grad, x, w):
    return unbroadcast(np.swapaxes(x, -1, -2) @ grad, w.shape)


def flat_product(grad, x, w):
    return x.reshape(-1, x.shape[-1]).T @ grad.reshape(-1, grad.shape[-1])


batches = [2 ** k for k in range(9)]
times = {"stack of products, then sum": [], "one flat product": []}
w = rng.normal(size=(96, 64))
for batch in batches:
    x, g = rng.normal(size=(batch, 8, 96)), rng.normal(size=(batch, 8, 64))
    assert np.allclose(stacked(g, x, w), flat_product(g, x, w))
    for method, seconds in zip((stacked, flat_product), times.values()):
        seconds.append(shortest(lambda: method(g, x, w), budget=0.04))
print(f"bytes in between, at a batch of {batch}: {batch * w.nbytes:,} against {w.nbytes:,}")
by_stack, flat = times.values()
print(f"at a batch of {batch}, the flat product takes {flat[-1] / by_stack[-1]:.2f} × the time "
      "of the stack")
plot_times(batches, times, "∂L/∂w under a stack", "batch")

# %% [markdown]
# Both ways give the same numbers; they sum in different orders. The flat product never stores the N matrices, so it
# needs less memory, and usually less time. It may take longer where NumPy spreads a large product over several threads,
# and they wait for one another. The printed line says which it was on your machine. Engines use the flat product;
# `unbroadcast` stays for the general case.

# %% [markdown] written="broadcast.explain" points=3
# ## In your own words
#
# A friend trains with y = x @ w + b on batches of 32. The gradient of y has the shape (32, 10), and b has the shape
# (10,). «The shape must fit, so I take `grad.mean(axis=0)`», says the friend. «An average is fairer than a sum, and the
# loss still goes down.» Is the friend right? Why does the loss go down? Where would an average be right? Five sentences
# at most. You may run it.
#
# <!-- BEGIN SOLUTION -->
# It is wrong: b is copied into 32 lines, so there are 32 paths from each of its numbers to L, and over all paths we add. The
# mean is 1/32 of the gradient: the same direction for b, so the loss still goes down, only b learns 32 times too slowly,
# beside weights with the right gradient. If the average over the batch is wanted, it belongs into the loss, L = mean(…): then
# every line of `grad` already carries its 1/32, and with it all parameters alike. A referee (finite differences) sees the
# difference at once; the shape alone does not.
#
# **How it is marked**
#
# - 1 point: the sum is right, since each number of b has one copy (one path) per line of the batch, and paths are added.
# - 1 point: the mean is the gradient divided by 32, the same direction for b: smaller steps for b, so training still works.
# - 1 point: the average belongs into the loss (where 1/32 comes down with grad, for all parameters); taken there and here
#   once more, it would be there twice.
#
# Right arguments in other words, with a drawing or with a run count in full.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# In PyTorch the loss and its gradients are:
#
# ```python
# import torch
#
# w1, b1, w2, b2 = [torch.tensor(p, requires_grad=True) for p in start()]
# z = torch.tensor(points) @ w1 + b1
# loss = ((z * z @ w2 + b2 - torch.tensor(xor)) ** 2).mean()
# loss.backward()
# print(w1.grad, b1.grad, w2.grad, b2.grad)
# ```
#
# You build engine 3 of this course from lesson 10 on. It has the same rules, under the names of the last column.
#
# | yours | PyTorch | JAX | engine 3 of this course |
# |---|---|---|---|
# | `broadcast_shape` | `torch.broadcast_shapes` | `jnp.broadcast_shapes` | the same rule |
# | `unbroadcast(grad, shape)` | `grad.sum_to_size(shape)` | the transpose of `broadcast_in_dim` is a sum | `sum_to(grad, shape)` |
# | `sum_backward` | `grad.unsqueeze(axis).expand(x.shape)` | the transpose of a sum is `broadcast_in_dim` | broadcasting |
# | `grad` | the argument of `y.backward(grad)` | the argument of the function from `jax.vjp` | `grad` |
# | `np.swapaxes(x, -1, -2)` | `x.mT` | `x.mT` | a flag of the matmul kernel |
# | `(4, 1) - (4,)` | `mse_loss` warns where the sizes differ | broadcasts silently | broadcasts silently |
#
# JAX uses the word *transpose* literally. For each operation it has a rule that goes from left to right: it says how
# fast the result moves if the inputs move in a given direction. For each linear operation (one that can be written as a
# product with a matrix) it has a second rule: its transpose. Its backward pass uses only transposes.
#
# ## What comes next
#
# You called your functions by hand, in the right order, with the right arrays of the forward pass. A program can do
# that for you. **04 function**: an engine that keeps those arrays, remembers the order, and calls `unbroadcast` in one
# place, for every operation.
