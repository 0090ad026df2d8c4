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
# # 11 · Custom op: your own, down to the kernel
#
# An <dfn>op</dfn> is short for operation: one entry on the tape, with a result and a rule. Here is one formula, `sin(a)
# * b`, computed in three ways. Each time, a little more of the work is yours. The three ways are called *layers* in
# this lesson; they are no layers of a network:
#
# ```
# layer 1    a ── sin ──┐                  two ops of the library
#            b ──────── × ── out
#
# layer 2    a ──┐                         one op: your derivative, the library's kernels
#            b ── sin_times ── out
#
# layer 3    the same op                   one op: your derivative, your two kernels
# ```
#
# The kernels become yours, and in the end fewer of them are launched. Is it faster each time? Write down your guess:
# you will count and measure. You need lesson 09 (kernels) and lesson 10 (tape). Seven exercises.

# %% given
import time
from functools import lru_cache

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from autograder.notebook import check, predict
from tinygrad_cl.gradcheck import gradcheck
from tinygrad_cl.netcl.autograd.engine import apply_op
from tinygrad_cl.netcl.core.commands import Kernel
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import elementwise_binary
from tinygrad_cl.netcl.ops.elementwise_optimized import elementwise_unary  # netcl's name; as in 10
from tinygrad_cl.netcl.runtime.profile import profile
from tinygrad_cl.opencl.kernels import build_kernel, kernel_seconds
from tinygrad_cl.viz import draw, highlight_kernels, plot_timeline, plot_times

highlight_kernels()  # colours OpenCL C in the cells of this page

device = manager.default("auto")
rng = np.random.default_rng(11)


def tensor(*shape):
    """A Tensor of random numbers. (Lesson 10's `tensor`, for Nodes, is `ag.tensor` here.)"""
    return Tensor.from_host(device.queue, rng.normal(size=shape))


def leaf(x, requires_grad=True):
    """A leaf Node that holds a Tensor, or a copy of an array."""
    x = x if isinstance(x, Tensor) else Tensor.from_host(device.queue, x)
    return ag.tensor(x, requires_grad=requires_grad)

# %% [markdown]
# ### Go on with your own engine, if you like
#
# The tape is what you built in lesson 10. The next cell looks for your saved notebook of lesson 10 in `work/` and runs
# its checks on what you wrote. What is right runs here in place of the finished engine. The cell says which functions
# are yours, or that there is no such notebook.

# %% demo
from autograder.notebook import mine

mine(before=11)

# %% [markdown]
# ## Layer 1: composed
#
# There is nothing to write: the library has `ag.sin` and `*`. *The library* is the finished engine 3,
# `tinygrad_cl.netcl`, and `ag` is its part `autograd`. A function of Nodes is <dfn>composed</dfn> if it is put together
# from ops of the library, each with its own Node and kernels.

# %% demo
def composed(a, b):
    return ag.sin(a) * b


draw(composed(leaf(tensor(2, 3)), leaf(tensor(2, 3))))

# %% [markdown]
# ## 1 · Count
#
# First a way to count. `device.watch()` gives you a list that grows by one entry with every kernel that is started:
#
# ```python
# with device.watch() as seen, ag.Tape() as tape:
#     ...
# seen[0].name                # "sin_kernel"
# ```
#
# You need one list for forward and one for backward. (`ag.Tape` is the tape of lesson 10.)

# %% exercise="customop.launches" own="a measurement of an operation; nothing in the package needs it"
def launches(op, a, b, grad):
    """(forward, backward): the kernels' names that op(a, b) starts, and that its backward starts.

    op     a function of two Nodes that gives a Node
    a, b   Tensors; op gets a leaf for each of them, and both leaves require a gradient
    grad   ∂L/∂op(a, b), a Tensor: backward starts from it

    Two lists of names, in the order in which they were started. Gradients that a and b hold from an
    earlier call make no difference.

    >>> x, y, grad = tensor(2, 3), tensor(2, 3), tensor(2, 3)
    >>> launches(lambda a, b: ag.exp(a) - b, x, y, grad)
    (['exp_kernel', 'sub_kernel'], ['sub_backward_kernel', 'exp_backward_kernel'])
    """
    ### BEGIN SOLUTION
    a.grad = b.grad = None
    a, b = (ag.tensor(x, requires_grad=True) for x in (a, b))
    with device.watch() as forward, ag.Tape() as tape:
        out = op(a, b)
    with device.watch() as backward:
        tape.backward(out, grad)
    return [each.name for each in forward], [each.name for each in backward]
    ### END SOLUTION

# %% check="customop.launches"

# %% [markdown]
# <details><summary>Hint 1</summary><code>ag.tensor(a, requires_grad=True)</code> makes a leaf of a Tensor.
# <code>tape.backward(out, grad)</code> starts from <code>grad</code>.</details>
# <details><summary>Hint 2</summary>Two <code>with device.watch()</code>, one after the other. In the first: the op, on a
# tape. In the second: backward.</details>
# <details><summary>Hint 3</summary>If a leaf has a gradient, the new one is added to it: one kernel more. So begin with
# <code>a.grad = b.grad = None</code>.</details>

# %% [markdown]
# How many kernels does sin(a) · b start forward, and how many backward, for both gradients? (Look at the picture. A
# product has two gradients: does it take one kernel or two?)

# %% predict
layer_1_guess = predict(forward=..., backward=...)

# %% demo
forward, backward = launches(composed, tensor(4, 5), tensor(4, 5), tensor(4, 5))
print("forward: ", forward)
print("backward:", backward)
layer_1_guess.compare(forward=len(forward), backward=len(backward))

# %% [markdown]
# ## Layer 2: an op with a rule of its own
#
# The formula first. If only b moves, by a tiny h, then out moves by sin(a) · h. If only a moves, by a tiny h, then the
# sine moves by nearly cos(a) · h, and out by nearly b · cos(a) · h.
#
# $$\frac{\partial L}{\partial a} = \text{grad} \cdot b \cdot \cos a
# \qquad\qquad
# \frac{\partial L}{\partial b} = \text{grad} \cdot \sin a$$
#
# The sine of the second rule was computed in forward already. Here is how a tutorial on the web writes it, with
# `apply_op` from lesson 10. `elementwise_binary` is like `elementwise_unary`, for two Tensors: `v0` is a number of the
# first, `v1` the number of the second at the same place, and `MUL(v0, v1)` is `v0 * v1`. If the shapes of the two
# Tensors differ, they broadcast, as with `*`.

# %% demo
def my_op(a, b):
    """out = sin(a) * b, both elementwise."""
    def forward(x, y):
        sin_x = elementwise_unary(x, expression="sin(v0)")
        return elementwise_binary(sin_x, y, expression="MUL(v0, v1)")

    def grad_fn(grad_out):
        cos_a = elementwise_unary(a.value, expression="cos(v0)")
        ga = elementwise_binary(grad_out, b.value, expression="MUL(v0, v1)")
        ga = elementwise_binary(ga, cos_a, expression="MUL(v0, v1)")
        gb = elementwise_binary(grad_out, a.sin_x_or_a, expression="MUL(v0, v1)")
        return [ga, gb]

    return apply_op(forward, grad_fn, a, b, op_name="my_op")

# %% [markdown]
# ### Find the bug
#
# There is one bug in it. In which line? And what will you see: does `my_op(a, b)` work (1 or 0)? Does
# `tape.backward(out, grad)` work (1 or 0)?

# %% predict
bug_guess = predict(forward_works=..., backward_works=...)

# %% demo
worked = {"forward_works": 0, "backward_works": 0}
try:
    with ag.Tape() as tape:
        out = my_op(leaf(tensor(2, 3)), leaf(tensor(2, 3)))
    worked["forward_works"] = 1
    tape.backward(out, tensor(2, 3))
    worked["backward_works"] = 1
except AttributeError as error:
    print("AttributeError:", error)
bug_guess.compare(**worked)

# %% [markdown]
# `grad_fn` is only stored when the op runs. Its code runs when backward calls it, perhaps a thousand lines later. That
# is why an op is not finished before its backward has run once.
#
# The bug is `a.sin_x_or_a`: a Node has no such attribute. What is meant is the `sin_x` of forward. But that was a local
# variable of `forward`, and it is gone. There are two repairs:
#
# | | sines | memory |
# |---|---|---|
# | compute sin(a) once more in `grad_fn` | 2 | nothing extra |
# | keep it from forward | 1 | one more array lives until backward |
#
# ## 2 · Keep the sine
#
# Take the second repair. Both `forward` and `grad_fn` are defined inside the function of the op, anew for each call. So
# both can use a variable of that call.

# %% exercise="customop.apply" own="an operation of the student's own, which is the point; the package has none like it"
def sin_times(a, b):
    """sin(a) · b as one op with the name "sin_times": sin(a) is computed once, and kept.

    a, b   Nodes whose shapes broadcast

    forward    elementwise_unary, then elementwise_binary: two launches
    backward   ∂L/∂a = grad · b · cos(a) and ∂L/∂b = grad · sin(a), with the kept sin(a). Both may
               be left in the shape of grad: where a or b was broadcast, the engine sums.

    >>> a, b = leaf([1.0, 2.0]), leaf([10.0, 20.0])
    >>> with ag.Tape() as tape:
    ...     out = sin_times(a, b)
    >>> tape.backward(out, [1.0, 1.0])
    >>> [x.to_host().astype(float).round(2).tolist() for x in (out, a.grad, b.grad)]
    [[8.41, 18.19], [5.4, -8.32], [0.84, 0.91]]
    """
    ### BEGIN SOLUTION
    saved = {}

    def forward(x, y):
        saved["sin"] = elementwise_unary(x, expression="sin(v0)")
        return elementwise_binary(saved["sin"], y, expression="MUL(v0, v1)")

    def grad_fn(grad):
        slope = elementwise_binary(grad, a.value, expression="v0 * cos(v1)")
        grad_a = elementwise_binary(slope, b.value, expression="MUL(v0, v1)")
        grad_b = elementwise_binary(grad, saved["sin"], expression="MUL(v0, v1)")
        return [grad_a, grad_b]

    return apply_op(forward, grad_fn, a, b, op_name="sin_times")
    ### END SOLUTION

# %% check="customop.apply"

# %% [markdown]
# <details><summary>Hint 1</summary>Begin with the tutorial's code. Add <code>saved = {}</code> as the first line of the
# function.</details>
# <details><summary>Hint 2</summary>In forward: <code>saved["sin"] = elementwise_unary(…)</code>. In grad_fn:
# <code>saved["sin"]</code>.</details>
# <details><summary>Hint 3</summary>An expression can do two things at once: <code>"v0 * cos(v1)"</code> is one launch
# where cos and MUL are two.</details>

# %% [markdown]
# Is it right? `compare_gradients` compares backward with central differences, as in lesson 08, computed on the device.

# %% given
def compare_gradients(op, a, b):
    """gradcheck of an op of two Nodes, at two arrays; its report has a line for each gradient."""
    def f(a, b):
        return op(leaf(a), leaf(b)).to_host()

    def gradient(grad, a, b):
        a, b = leaf(a), leaf(b)
        with ag.Tape() as tape:
            out = op(a, b)
        tape.backward(out, grad)
        return a.grad.to_host(), b.grad.to_host()

    return gradcheck(f, gradient, [np.asarray(a, np.float32), np.asarray(b, np.float32)])

# %% demo
print(compare_gradients(sin_times, rng.normal(size=(2, 3)), rng.normal(size=3)))

# %% [markdown]
# Now there is one op on the tape where there were two. How many kernels does yours start, forward and backward?

# %% predict
layer_2_guess = predict(forward=..., backward=...)

# %% demo
forward, backward = launches(sin_times, tensor(4, 5), tensor(4, 5), tensor(4, 5))
print("forward: ", forward)
print("backward:", backward)
layer_2_guess.compare(forward=len(forward), backward=len(backward))

# %% [markdown]
# Your op starts more kernels than layer 1. An op on the tape is not a kernel! The library's
# product computes both of its gradients in one launch; yours needs one for each `elementwise_…`.

# %% [markdown]
# ## 3 · Only what is needed
#
# Often a or b is data and needs no gradient. Then half of the work of backward is done for nothing. Which gradient
# needs what?
#
# ```
#                         ∂L/∂a                  ∂L/∂b
#   backward computes     cos(a), products       one product
#   and reads             a, b                   sin(a)      ◀── so for which gradient is it kept?
# ```
#
# Whether a Node needs a gradient stands in `a.requires_grad`. In place of a gradient that is not needed, `grad_fn`
# returns None.

# %% exercise="customop.needed" own="an operation of the student's own, which is the point; the package has none like it"
def sin_times_frugal(a, b):
    """As sin_times, but nothing is computed or kept that is not needed. op_name="sin_times_frugal"

    ∂L/∂a is computed only if a.requires_grad, ∂L/∂b only if b.requires_grad; None stands in the
    place of the other. sin(a) is kept only if b.requires_grad; else forward is one launch,
    elementwise_binary with the expression "sin(v0) * v1".

    >>> out = sin_times_frugal(leaf([1.0, 2.0]), leaf([10.0, 20.0], requires_grad=False))
    >>> out.grad_fn(Tensor.from_host(device.queue, [1.0, 1.0]))
    [Tensor(shape=(2,), dtype=float32), None]
    """
    ### BEGIN SOLUTION
    saved = {}

    def forward(x, y):
        if not b.requires_grad:
            return elementwise_binary(x, y, expression="sin(v0) * v1")
        saved["sin"] = elementwise_unary(x, expression="sin(v0)")
        return elementwise_binary(saved["sin"], y, expression="MUL(v0, v1)")

    def grad_fn(grad):
        grad_a = grad_b = None
        if a.requires_grad:
            slope = elementwise_binary(grad, a.value, expression="v0 * cos(v1)")
            grad_a = elementwise_binary(slope, b.value, expression="MUL(v0, v1)")
        if b.requires_grad:
            grad_b = elementwise_binary(grad, saved["sin"], expression="MUL(v0, v1)")
        return [grad_a, grad_b]

    return apply_op(forward, grad_fn, a, b, op_name="sin_times_frugal")
    ### END SOLUTION

# %% check="customop.needed"

# %% [markdown]
# <details><summary>Hint 1</summary>In grad_fn: <code>grad_a = grad_b = None</code>, then two <code>if</code>.</details>
# <details><summary>Hint 2</summary>In forward one <code>if</code>: keeping sin(a) is only of use for ∂L/∂b.</details>

# %% demo
def count(op, needs_a, needs_b):
    """Launches forward and backward, and the bytes of tensors that are alive in between."""
    a, b = leaf(tensor(256, 256), needs_a), leaf(tensor(256, 256), needs_b)
    before = device.pool.used_bytes()
    with device.watch() as forward, ag.Tape() as tape:
        out = op(a, b)
    alive = device.pool.used_bytes() - before
    grad = tensor(256, 256)
    with device.watch() as backward:
        tape.backward(out, grad)
    return f"{len(forward)} + {len(backward)} launches, {alive / 1e6:.2f} MB in between"


for name, op in [("sin_times       ", sin_times), ("sin_times_frugal", sin_times_frugal)]:
    print(name, "| both:  ", count(op, True, True))
    print(name, "| only a:", count(op, True, False))
    print(name, "| only b:", count(op, False, True))

# %% [markdown]
# ## Layer 3: one kernel each way
#
# Now the kernels are yours as well. *Your pair* is the two kernels that you are going to write, one for forward and one
# for backward. The <dfn>memory traffic</dfn> of a kernel is how much it reads from memory and writes to memory. Let us
# count it first, for both gradients. Each kernel reads its inputs and writes its results. We count arrays of n numbers.
# In the table, s is the array sin(a), and «gradient of s» is what `mul_backward` computed for it:
#
# ```
# composed       reads              writes                  your pair   reads           writes
# sin            a                  s                       forward     a, b            out, s
# mul            s, b               out                     backward    grad, a, b, s   grad_a, grad_b
# mul_backward   grad, s, b         gradient of s, grad_b
# sin_backward   gradient of s, a   grad_a
# ```
#
# How many arrays are read or written in all, composed and with your pair? How many times as fast will the pair be, if
# only memory traffic takes time?

# %% predict
door_guess = predict(composed=..., pair=..., times_as_fast=...)

# %% demo
x, y, grad = leaf(tensor(1000)), leaf(tensor(1000)), tensor(1000)
with device.watch() as seen, ag.Tape() as tape:
    tape.backward(composed(x, y), grad)
moved = sum(len(launch.buffers()) for launch in seen)  # arrays that it reads or writes
pair = (2 + 2) + (4 + 2)
door_guess.compare(composed=moved, pair=pair, times_as_fast=moved / pair)

# %% [markdown]
# ## 4 · Forward
#
# b may be as large as a, or one row for all rows of a. In memory a row is `columns` numbers, one after the other, and
# then the next row begins. So number i of a is in column `i % columns`:
#
# ```
# i                0  1  2  3 │ 4  5  6  7 │ 8  9 …
# i % columns      0  1  2  3 │ 0  1  2  3 │ 0  1 …         columns = 4
# ```
#
# If b is as large as a, then columns is n, and i % n is i. So one kernel serves both cases.

# %% exercise="customop.forward" own="a kernel by hand, for the student's own operation"
FORWARD = """
// kept[i] = sin(a[i]) and out[i] = sin(a[i]) · b[column of i], for n numbers.
// a, out, kept: n numbers in rows of `columns`; b: `columns` numbers, the same for every row.
// Work-item i has number i; more than n may be started.
__kernel void sin_times(__global const float *a, __global const float *b,
                        __global float *out, __global float *kept,
                        const int n, const int columns)
{
    ### BEGIN SOLUTION
    int i = get_global_id(0);
    if (i < n) {
        kept[i] = sin(a[i]);
        out[i] = kept[i] * b[i % columns];
    }
    ### END SOLUTION
}
"""

# %% check="customop.forward"

# %% [markdown]
# <details><summary>Hint 1</summary><code>int i = get_global_id(0);</code>, a guard, two lines.</details>
# <details><summary>Hint 2</summary>Compute the sine once: <code>kept[i] = sin(a[i]);</code>, and go on with
# <code>kept[i]</code>.</details>

# %% [markdown]
# ## 5 · Backward
#
# ∂L/∂a is as easy as forward. But if b was used in every row, then ∂L/∂b is a **sum** over the rows. Suppose work-item
# i runs `grad_b[i % columns] += grad[i] * kept[i]`. Which other work-items write to the same place? That is the data
# race of lesson 09.
#
# So give a work-item a whole column. It goes down the column, and no other work-item writes its sum:
#
# ```
#                 work-item j
#                      ▼
#   row 0      .   .   i = j   .          grad_a[i] = grad[i] · b[j] · cos(a[i])
#   row 1      .   .   i + columns .      sum += grad[i] · kept[i]
#   row 2      .   .   …       .
#                      ▼
#   grad_b     .   .   sum     .          written once, at the end
# ```

# %% exercise="customop.backward" own="a kernel by hand, for the student's own operation"
BACKWARD = """
// grad_a[i] = grad[i] · b[j] · cos(a[i]) for each number i of column j
// grad_b[j] = the sum of grad[i] · kept[i] over column j
// grad, a, kept, grad_a: n numbers in rows of `columns`; b, grad_b: `columns` numbers.
// Work-item j has column j; more may be started. At first the results hold arbitrary numbers.
__kernel void sin_times_backward(__global const float *grad, __global const float *a,
                                 __global const float *b, __global const float *kept,
                                 __global float *grad_a, __global float *grad_b,
                                 const int n, const int columns)
{
    ### BEGIN SOLUTION
    int j = get_global_id(0);
    if (j < columns) {
        float sum = 0.0f;
        for (int i = j; i < n; i += columns) {
            grad_a[i] = grad[i] * b[j] * cos(a[i]);
            sum += grad[i] * kept[i];
        }
        grad_b[j] = sum;
    }
    ### END SOLUTION
}
"""

# %% check="customop.backward"

# %% [markdown]
# <details><summary>Hint 1</summary>The guard is that of the columns: <code>if (j &lt; columns)</code>.</details>
# <details><summary>Hint 2</summary><code>for (int i = j; i &lt; n; i += columns)</code> walks down column j.</details>
# <details><summary>Hint 3</summary><code>float sum = 0.0f;</code> before the loop, <code>grad_b[j] = sum;</code> after
# it.</details>

# %% [markdown]
# ## 6 · Put it on the tape
#
# A <dfn>fused op</dfn> does several operations with one kernel in each direction. Make one: your two kernels, and one
# `apply_op`. `start` puts a kernel of yours into the queue. For each array of the kernel, such as `__global float *a`,
# you give `start` a Tensor; for each `const int`, you give it a Python int.

# %% given
@lru_cache(maxsize=None)
def kernel_of(source, name, kinds):
    return Kernel(build_kernel(source, name).program, name, (), kinds)


def start(source, name, *arguments, work_items):
    """Put a kernel into the queue, and do not wait for it.

    arguments   Tensors and ints, in the kernel's order
    """
    kinds = tuple(None if isinstance(x, Tensor) else np.int32 for x in arguments)
    given = [x.buffer if isinstance(x, Tensor) else x for x in arguments]
    device.launch(kernel_of(source, name, kinds), (work_items,), None, given)


def empty_like(x):
    """A Tensor as large as x; what it holds is undefined until a kernel has written it."""
    return Tensor.from_shape(x.queue, x.shape, x.dtype)

# %% [markdown]
# Results need memory first: `empty_like(x)` makes a Tensor as large as x. Until a kernel has written it, its numbers
# are undefined.
#
# Your kernels know columns, not shapes. They are right if the shape of b is the *end* of a's shape: (5,) for (7, 5),
# (3, 5) for (2, 3, 5), or the same. NumPy would also take (7, 1) for (7, 5). The kernel would use these 7 numbers as a
# row of 7, and compute wrong numbers without an error. So raise an error for such a shape.

# %% exercise="customop.fused" own="an operation of the student's own, which is the point; the package has none like it"
def sin_times_fused(a, b):
    """sin(a) · b as one op with the name "sin_times_fused": one launch forward, one backward.

    a, b   Nodes; the shape of b is the end of a's shape, or all of it: ValueError for another
    The kernels' columns is the number of numbers in b.

    forward    start FORWARD; the kept sin(a) is for backward
    backward   start BACKWARD; ∂L/∂b has the shape of b: the kernel has summed already

    >>> a, b, grad = tensor(4, 5), tensor(5), tensor(4, 5)
    >>> launches(sin_times_fused, a, b, grad)
    (['sin_times'], ['sin_times_backward'])
    """
    ### BEGIN SOLUTION
    if a.shape[len(a.shape) - len(b.shape):] != b.shape:
        raise ValueError(f"shape {b.shape} is not the end of shape {a.shape}")
    n, columns = a.value.size, b.value.size
    saved = {}

    def forward(x, y):
        out, saved["sin"] = empty_like(x), empty_like(x)
        start(FORWARD, "sin_times", x, y, out, saved["sin"], n, columns, work_items=n)
        return out

    def grad_fn(grad):
        grad_a, grad_b = empty_like(a.value), empty_like(b.value)
        start(BACKWARD, "sin_times_backward", grad, a.value, b.value, saved["sin"], grad_a, grad_b,
              n, columns, work_items=columns)
        return [grad_a, grad_b]

    return apply_op(forward, grad_fn, a, b, op_name="sin_times_fused")
    ### END SOLUTION

# %% check="customop.fused"

# %% [markdown]
# <details><summary>Hint 1</summary>It is built like <code>sin_times</code>: <code>saved</code>, forward, grad_fn,
# <code>apply_op</code>. A Node's Tensor is <code>a.value</code>; n is its <code>.size</code>.</details>
# <details><summary>Hint 2</summary>The end of a's shape, as long as b's: <code>a.shape[len(a.shape) -
# len(b.shape):]</code>. (With <code>[-len(b.shape):]</code> a b of shape () would be compared with all of
# it.)</details>
# <details><summary>Hint 3</summary>Forward: two <code>empty_like</code>, then <code>start(FORWARD, "sin_times", x, y,
# out, saved["sin"], n, columns, work_items=n)</code>. Backward starts a work-item for each column.</details>

# %% demo
print(compare_gradients(sin_times_fused, rng.normal(size=(2, 3)), rng.normal(size=3)))

# %% [markdown]
# ## What it costs
#
# Four launches have become two, and fewer arrays are read and written. How many times as fast as layer 1, the composed
# sin(a) · b, is the pair, forward and backward together, for 16 numbers? For a million? (0.5 means: half as fast.)

# %% predict
speed_guess = predict(sixteen=..., million=...)

# %% demo
def least_seconds(function, budget=0.15):
    """The time of the shortest of several calls: other programs on this computer only add to it."""
    found, end = [], time.perf_counter() + budget
    while len(found) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def seconds(op, n):
    """One forward and one backward, until the device is done."""
    a, b, grad = tensor(n), tensor(n), tensor(n)

    def once():
        a.grad = b.grad = None
        with ag.Tape() as tape:
            out = op(leaf(a), leaf(b))
        tape.backward(out, grad)
        device.queue.finish()

    once()  # compiles
    return least_seconds(once)


top = 2**10 if device.found.is_interpreter else 2**20
sizes = [n for n in (2**4, 2**7, 2**10, 2**13, 2**16, 2**20) if n <= top]


def measured_times(name, op):
    """Seconds for each size, with a line when it is done: the first calls also compile."""
    found = [seconds(op, n) for n in sizes]
    print(f"{name:15} {1e6 * found[0]:7.0f} µs for {sizes[0]} numbers, "
          f"{1e6 * found[-1]:9.0f} µs for {sizes[-1]:,}")
    return found


ways = {"1 composed": composed, "2 apply_op": sin_times, "3 your kernels": sin_times_fused}
times = {name: measured_times(name, op) for name, op in ways.items()}
ratios = [one / three for one, three in zip(times["1 composed"], times["3 your kernels"])]
speed_guess.compare(sixteen=ratios[0], million=ratios[-1])
plot_times(sizes, times, f"sin(a) · b, there and back, on {device.found.name}")

# %% [markdown]
# The picture has two halves. **On the left** a launch takes longer than the work on its numbers: there fewer launches
# are faster. **On the right** the work on the numbers takes longer, and the result depends on your device: on a CPU
# your pair may be much slower! What did the library's four kernels do that your two did not? Look how long each kernel
# ran:

# %% demo
n = top
a, b, grad = tensor(n), tensor(n), tensor(n)
with profile() as seen:
    for op in (composed, sin_times_fused):
        a.grad = b.grad = None
        with ag.Tape() as tape:
            out = op(leaf(a), leaf(b))
        tape.backward(out, grad)
print(seen.table())
plot_timeline(seen.timeline(), f"{n:,} numbers: composed, then your pair")

# %% [markdown]
# On a CPU, most of this time goes neither into the launches nor into the memory. It goes into the **sine** itself. Your
# kernels compute one sine at a time, on a core that can compute up to 16 at once. Lesson 09 has the remedy: lanes. Here
# is your pair with 16 lanes, for b as large as a.

# %% demo
LANES = """
__kernel void sin_times(__global const float *a, __global const float *b,
                        __global float *out, __global float *kept, const int n)
{
    int i = 16 * get_global_id(0);
    if (i + 16 <= n) {
        float16 s = sin(vload16(0, a + i));
        vstore16(s, 0, kept + i);
        vstore16(s * vload16(0, b + i), 0, out + i);
    } else {
        for (; i < n; i++) {
            kept[i] = sin(a[i]);
            out[i] = kept[i] * b[i];
        }
    }
}

__kernel void sin_times_backward(__global const float *grad, __global const float *a,
                                 __global const float *b, __global const float *kept,
                                 __global float *grad_a, __global float *grad_b, const int n)
{
    int i = 16 * get_global_id(0);
    if (i + 16 <= n) {
        float16 g = vload16(0, grad + i);
        vstore16(g * vload16(0, b + i) * cos(vload16(0, a + i)), 0, grad_a + i);
        vstore16(g * vload16(0, kept + i), 0, grad_b + i);
    } else {
        for (; i < n; i++) {
            grad_a[i] = grad[i] * b[i] * cos(a[i]);
            grad_b[i] = grad[i] * kept[i];
        }
    }
}
"""


def sin_times_lanes(a, b):
    x, y, n, saved = a.value, b.value, a.value.size, {}

    def forward(x, y):
        out, saved["sin"] = empty_like(x), empty_like(x)
        start(LANES, "sin_times", x, y, out, saved["sin"], n, work_items=-(-n // 16))
        return out

    def grad_fn(grad):
        grad_a, grad_b = empty_like(x), empty_like(x)
        start(LANES, "sin_times_backward", grad, x, y, saved["sin"], grad_a, grad_b, n,
              work_items=-(-n // 16))
        return [grad_a, grad_b]

    return apply_op(forward, grad_fn, a, b)


print(compare_gradients(sin_times_lanes, rng.normal(size=19), rng.normal(size=19)))

# %% demo
times["3 with lanes"] = measured_times("3 with lanes", sin_times_lanes)
by_lanes = times["1 composed"][-1] / times["3 with lanes"][-1]
print(f"at {sizes[-1]:,} numbers, times as fast as composed:")
for name, measured in times.items():
    print(f"  {name:15} {times['1 composed'][-1] / measured[-1]:5.2f}")
print(f"by arrays moved it would be 1.30; the pair with lanes is {by_lanes:.2f} times as fast")
plot_times(sizes, times, f"sin(a) · b, there and back, on {device.found.name}")

# %% [markdown]
# Before you wrote the kernels, you counted arrays that go through memory: 13 composed, 10 with your pair, so 1.3 times
# as fast. If only memory traffic took time, the last line would say the same. If it says more, your pair may also gain
# from fewer launches, and from making four new arrays, not five. If it says less, your kernels use the device less well
# than the library's. (Two of the ten arrays are there for `kept`. Without `kept`, backward would have to compute the
# sine again. Which takes longer on your device, moving these two arrays or computing the sine? Try it.)

# %% [markdown]
# ## 7 · An op of your choice
#
# Now write an op alone, from the formula to the kernels. Choose one:
#
# | CHOICE | out | what makes it interesting |
# |---|---|---|
# | `"swiglu"` | a · σ(a) · b | a occurs twice; used in today's language models (lesson 08) |
# | `"gauss"` | e^(−a²) · b | the chain rule for e^(−a²), then a product |
# | `"hypot"` | √(a² + b²) | backward computes the root once more |
# | `"lorentz"` | a / (1 + b²) | b in the denominator |
#
# Here σ(a) = 1 / (1 + e⁻ᵃ). a and b have the same shape. Nothing is kept: backward computes again what it needs. First
# derive ∂L/∂a and ∂L/∂b on paper. Both are grad times something.

# %% exercise="customop.second" own="an operation that the student chooses; the package has none like it"
CHOICE = "swiglu"  # or "gauss", "hypot", "lorentz"

SECOND_FORWARD = """
// out[i] = the formula of CHOICE, at a[i] and b[i], for n numbers; more than n work-items may run.
// Also for numbers from -100 to 100, no result may be NaN. (As a float, e^100 is infinite.)
__kernel void forward(__global const float *a, __global const float *b,
                      __global float *out, const int n)
{
    ### BEGIN SOLUTION
    int i = get_global_id(0);
    if (i < n)
        out[i] = a[i] / (1 + exp(-a[i])) * b[i];
    ### END SOLUTION
}
"""

SECOND_BACKWARD = """
// grad_a[i], grad_b[i] = ∂L/∂a[i], ∂L/∂b[i], where grad[i] is ∂L/∂out[i]
// Here, too, no result may be NaN for numbers from -100 to 100. (Only hypot has no slope at
// a = b = 0: there, and where a² + b² is 0 as a float, any result is right.)
__kernel void backward(__global const float *grad, __global const float *a,
                       __global const float *b, __global float *grad_a, __global float *grad_b,
                       const int n)
{
    ### BEGIN SOLUTION
    int i = get_global_id(0);
    if (i < n) {
        float s = 1 / (1 + exp(-a[i]));
        grad_a[i] = grad[i] * b[i] * s * (1 + a[i] * (1 - s));
        grad_b[i] = grad[i] * a[i] * s;
    }
    ### END SOLUTION
}
"""

# %% check="customop.second"

# %% [markdown]
# <details><summary>Hint 1: swiglu</summary>Let s = σ(a), whose slope is s · (1 − s). The product rule on a · s gives
# s + a · s · (1 − s).</details>
# <details><summary>Hint 1: gauss</summary>The slope of e^u is e^u. The slope of u = −a² is −2a.</details>
# <details><summary>Hint 1: hypot</summary>The slope of √u is 1 / (2√u). The slope of u = a² + b² with
# respect to a is 2a.</details>
# <details><summary>Hint 1: lorentz</summary>The slope of 1/u is −1/u². The slope of u = 1 + b² is 2b.</details>
# <details><summary>Hint 2</summary>C has <code>exp</code>, <code>sqrt</code>, but no <code>**</code>: write
# <code>a[i] * a[i]</code>.</details>

# %% demo
library = {"swiglu": lambda a, b: a * ag.sigmoid(a) * b, "gauss": lambda a, b: ag.exp(-(a * a)) * b,
           "hypot": lambda a, b: ag.sqrt(a * a + b * b), "lorentz": lambda a, b: a / (1 + b * b)}
forward, backward = launches(library[CHOICE], tensor(9), tensor(9), tensor(9))
print(f"{CHOICE} by the library: {len(forward)} + {len(backward)} launches; yours: 1 + 1")
for n in (2**6, top):
    x, y, grad = leaf(tensor(n)), leaf(tensor(n)), tensor(n)

    def there_and_back():
        with ag.Tape() as tape:
            result = library[CHOICE](x, y)
        tape.backward(result, grad)

    busy = []
    for _ in range(5):
        x.grad = y.grad = None
        with profile() as seen:
            there_and_back()
        busy.append(seen.busy)
    a, b, up, out, more = (rng.normal(size=n).astype(np.float32) for _ in range(5))
    mine = (kernel_seconds(SECOND_FORWARD, "forward", a, b, out, n, work_items=n)
            + kernel_seconds(SECOND_BACKWARD, "backward", up, a, b, out, more, n, work_items=n))
    print(f"{n:9,} numbers, kernels alone: library {1e6 * min(busy):7.1f} µs,"
          f" yours {1e6 * mine:7.1f} µs")

# %% [markdown]
# ## Who writes the lanes?
#
# You have now seen the same sine in several kernels: with a guard, with broadcasting, with lanes. Only one line in each
# was *the op*. A library that knows just this line can write the rest. So there is a fourth way, *layer 4*: you give
# the library the formula, as text.
#
# A <dfn>primitive</dfn> is an op that the library knows as C expressions, one for its result and one for each gradient.
# `register_primitive(name, forward, backward, arity)` adds one. The <dfn>arity</dfn> of an op is the number of its
# inputs.
#
# `forward` and `backward` are functions that return C as text: `forward` one expression, `backward` a list with one for
# each input. `args` are the names of the inputs in C, such as `"v0"` and `"v1"`. `grad_var` is the name of the upstream
# gradient, `out_var` that of the result. `attrs` holds constants of the op; this op has none. Here is the tutorial's
# first try:

# %% demo
def my_op_fwd(args, attrs):
    return f"({args[0]} * sin({args[0]}))"


def my_op_bwd(args, grad_var, attrs, out_var):
    a, b = args
    g_a = f"({grad_var} * {b} * cos({a}))"
    g_b = f"({grad_var} * sin({a}))"
    return [g_a, g_b]


print(my_op_fwd(["v0", "v1"], {}))
print(my_op_bwd(["v0", "v1"], "g", {}, "out"))

# %% [markdown]
# ### Find the bug
#
# This op registers, compiles and runs. What number is its result for a = 0.5 and b = 100? (sin(a) · b is about 48.) And
# how many of the two gradients does `gradcheck` call wrong?

# %% predict
formula_guess = predict(out=..., wrong_gradients=...)

# %% demo
ag.register_primitive("lesson_11_wrong", my_op_fwd, my_op_bwd, arity=2)
wrong = ag.primitive("lesson_11_wrong")
report = compare_gradients(wrong, rng.normal(size=4), rng.normal(size=4))
print(report)
formula_guess.compare(out=wrong(leaf([0.5]), leaf([100.0])).to_host().item(),
                      wrong_gradients=sum(not each.ok for each in report.inputs))

# %% [markdown]
# Forward computes a · sin(a): b does not occur in it. Backward is right for sin(a) · b, but that is another op. There
# is no error; a network would just learn badly. **Each half can look right on its own. You find such a fault only if
# you compare the two.**
#
# The right forward is one line, too. The library adds everything else: lanes, broadcasting, and gradients only where
# they are needed.

# %% demo
def right_op_fwd(args, attrs):
    a, b = args
    return f"(sin({a}) * {b})"


ag.register_primitive("lesson_11_sin_times", right_op_fwd, my_op_bwd, arity=2)
registered = ag.primitive("lesson_11_sin_times")
print(compare_gradients(registered, rng.normal(size=(2, 3)), rng.normal(size=(2, 1))))
print(launches(registered, tensor(9), tensor(9), tensor(9)))
for name, op in {"1 composed": composed, "4 registered": registered}.items():
    times[name] = measured_times(name, op)  # composed once more: the computer may be busier now
ratio = times["1 composed"][-1] / times["4 registered"][-1]
print(f"registered, at {sizes[-1]:,} numbers: {ratio:.2f} times as fast as composed")
plot_times(sizes, times, f"sin(a) · b, there and back, on {device.found.name}")

# %% [markdown]
# ## Messages you may meet
#
# <details><summary><code>TypeError: the function of op 'sin_times' returns a Tensor, not Node</code></summary>
#
# Inside <code>forward</code>, everything is a Tensor, not a Node. <code>ag.sin</code> and <code>ag.mul</code> give
# Nodes, and would be recorded a second time. Use <code>elementwise_unary</code>, or the operators of Tensors.
#
# </details>
#
# <details><summary><code>AttributeError: 'Tensor' object has no attribute 'value'</code></summary>
#
# forward and grad_fn are called with Tensors. Only a Node has a <code>.value</code>, such as a and b of the function
# around them.
#
# </details>
#
# <details><summary><code>ValueError: grad_fn of op 'sin_times' returns 1 gradients for 2 parents</code></summary>
#
# The list has one entry for each Node among the arguments of <code>apply_op</code>, in their order; None for a gradient
# that is not needed.
#
# </details>
#
# <details><summary><code>KeyError: 'sin'</code> in grad_fn</summary>
#
# In this call forward kept nothing, but grad_fn reads what was kept. The <code>if</code> in both must have the same
# condition.
#
# </details>
#
# <details><summary><code>LogicError: … INVALID_ARG_SIZE</code>, or <code>RuntimeError: … no __index__</code> from
# <code>start</code></summary>
#
# You passed a Tensor where the kernel takes an int, or the other way round. Compare the order with the kernel's first
# lines.
#
# </details>
#
# <details><summary>Numbers that are different in every run, or NaN</summary>
#
# Some numbers of a result of <code>empty_like</code> were never written: too few work-items were started, or a guard
# keeps too many of them out.
#
# </details>

# %% [markdown] written="customop.explain" points=3
# ## In your own words
#
# Your pair of kernels has the fewest launches that are possible. When did that make it faster than the composed formula, when
# not, and why? And name two things that the library did for you in layer 1 and that you had to do yourself in layer 3. Use numbers
# that you measured. Five sentences at most.
#
# <!-- BEGIN SOLUTION -->
# For few numbers a launch costs more than its numbers, so two launches instead of four were faster (my plot, on the left). For
# a million numbers launches no longer count. Fewer arrays go through memory, ten instead of thirteen, which is why the pair
# with lanes was somewhat faster; but my first pair computed one sine at a time, where the library's kernels compute 16 at
# once, and on my CPU that cost far more than everything else (on a GPU it costs nothing). By hand I had to sum the gradient
# of b over the rows without a race, refuse shapes that the kernel cannot do, keep the sine, write guards and lanes, and leave
# out what is not needed.
#
# **How it is marked**
#
# - 1 point: small arrays: launches dominate, so fewer of them win.
# - 1 point: large arrays: what a kernel does with its numbers counts, that is lanes or memory traffic; with measured numbers.
# - 1 point: two things done by hand (sum over the rows, shapes, keeping or not keeping, guards, lanes).
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# | here | PyTorch | JAX |
# |---|---|---|
# | `apply_op(forward, grad_fn, a, b)` | `torch.autograd.Function` | `jax.custom_vjp` |
# | `saved["sin"]` | `ctx.save_for_backward` | what the forward rule returns for backward: its residuals |
# | `a.requires_grad` in grad_fn | `ctx.needs_input_grad[0]` | `symbolic_zeros` |
# | FORWARD, BACKWARD in OpenCL C | a C++/CUDA extension, or Triton | Pallas |
# | `compare_gradients` | `torch.autograd.gradcheck` | `jax.test_util.check_grads` |
# | `register_primitive` with C expressions | `torch.cuda.jiterator` | – |
#
# The names on the left are netcl's, too: `netcl.autograd.engine.apply_op`, `netcl.ops.elementwise.elementwise_binary`,
# `netcl.autograd.compiler.register_primitive`.

# %% [markdown]
# ## What comes next
#
# `register_primitive` needs your formula and your derivative. But for sin and · the library knows both already: they
# are primitives. Lesson 12, *jit*, reads `ag.sin(a) * b` itself, chains the expressions of these primitives, and writes
# the pair of kernels for you, for chains of any length.
