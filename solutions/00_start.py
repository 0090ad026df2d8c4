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
# # 00 · Start: your device, and a first kernel
#
# In this notebook you write two small programs that run on your own device: a graphics card, or the processor of your
# computer. The first one computes a formula; that is called *forward*. The second one computes how much the result
# moves with each input; that is called *backward*. Before that, you see how the checks work, and which devices you
# have.

# %% given
import numpy as np
import pyopencl as cl

from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.opencl import default_device, report
from tinygrad_cl.opencl.kernels import build_kernel, run_kernel
from tinygrad_cl.viz import draw, draw_course, draw_devices, draw_launch
from tinygrad_cl.viz import plot_times, seconds_per_call

# %% [markdown]
# ## What you build
#
# A program computes one number from many others. If one of those moved a little, how much would the result move? A
# computer can answer this for all inputs at once. In <dfn>automatic differentiation</dfn>, a program finds how fast a
# computed number moves with each number that went into it.
#
# A <dfn>neural network</dfn> is a formula with very many numbers in it, and training changes these numbers. It changes
# each of them a little, again and again, so that the results of the formula get better. To know how to change a number,
# training needs the answer to the question above.
#
# An <dfn>engine</dfn> is a program that records computations and finds gradients: how fast a result moves with each
# number that went into it. In this course you build three engines. Each one is checked against something simpler that
# you already trust.

# %% demo
draw_course("00")

# %% [markdown]
# ## How a notebook works
#
# - **Shift + Enter** runs a cell and goes to the next. Go from top to bottom.
# - In an **exercise**, put your code where `raise NotImplementedError` stands. Run the cell.
# - Right below it is its **check**. Run it as often as you like; it costs nothing.
# - Hints are folded. Open them when you want them.
#
# Try it now. Run the check below *before* you write anything, and see what it says. Then solve the exercise.

# %% exercise="start.double" own="a first cell to try the notebook with; no engine is used yet"
def double(x):
    """Twice the number x.

    >>> double(21)
    42
    """
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% check="start.double"

# %% [markdown]
# A check calls your function with its own inputs. If something is wrong, it shows the input, the result that was
# expected, and the result that came out. That is all you need to know about checks.

# %% [markdown]
# ## Your device
#
# OpenCL is a standard for programs that compute many numbers at the same time, on processors of many makers. A
# <dfn>device</dfn> is a processor together with a compiler for it (a program that translates the text of a kernel), on
# which OpenCL programs run. It may be a graphics card. It may also be the same processor that runs Python.
#
# The next cell looks for devices, and runs a small program on each one that it finds.

# %% demo
draw_devices(report())

# %% [markdown]
# The device with the thick frame is the one on which you compute. Each square stands for one number that a device can
# take in one step. If there are very many, only some are drawn.
#
# <details><summary>There is no thick frame</summary>
#
# Then no device works here yet. The text at the bottom of the picture says what to do on your system. The exercises
# before «The same on your device» work without a device.
#
# </details>

# %% [markdown]
# ## One function, all through this notebook
#
# $$\text{out} = \sin(a) \cdot b$$
#
# This formula is small enough to do by hand, and it has all that we need: a function, a product, two inputs. Below it
# is drawn for one pair of numbers. A <dfn>graph</dfn> shows a computation: a box for each number, and an edge, which is
# a line, from each box to every box that is computed directly from it. The numbers go from left to right.

# %% demo
from types import SimpleNamespace as Node

a = Node(data=0.5, label="a")
b = Node(data=-2.0, label="b")
s = Node(data=np.sin(a.data), op="sin", parents=[a])
out = Node(data=s.data * b.data, op="*", label="out", parents=[s, b])
draw(out)

# %% [markdown]
# Write it with NumPy. One line does it, for single numbers and for arrays of any shape.

# %% exercise="start.sin_times" own="the one formula of this lesson, in NumPy; the package has no such function"
def sin_times(a, b):
    """sin(a) · b, number by number.

    a, b and the result have the same shape. a and b may hold whole numbers. Do not change them.

    >>> sin_times(np.array([0.0, np.pi / 2]), np.array([5.0, 7.0]))
    array([0., 7.])
    """
    ### BEGIN SOLUTION
    return np.sin(a) * b
    ### END SOLUTION

# %% check="start.sin_times"

# %% [markdown]
# ## How much does it move?
#
# Take a = 0 and b = 3. Now out = 0. Move a by a tiny h: by how many h does out move? And if you move b instead?
#
# Guess before you compute. Put a number in place of each `...`, or leave it and go on. A guess is never graded.

# %% predict
guess = predict(move_a=..., move_b=...)

# %% demo
h = 1e-5
move_a = (sin_times(0 + h, 3) - sin_times(0 - h, 3)) / (2 * h)
move_b = (sin_times(0, 3 + h) - sin_times(0, 3 - h)) / (2 * h)
guess.compare(move_a=move_a, move_b=move_b)

# %% [markdown]
# Those two numbers are written ∂out/∂a and ∂out/∂b. A <dfn>partial derivative</dfn> says how fast a result moves with
# one input, while all other inputs stay as they are. If ∂out/∂a is 3, then out moves three times as far as a, for a
# tiny move.
#
# Usually `out` is not the end: more is computed from it, and the last result is one number. The <dfn>loss</dfn> is the
# one number at the end of a computation, and training makes it smaller. So we want to know how fast the loss moves with
# a and with b. The <dfn>gradient</dfn> of an input is the partial derivative of the loss with respect to this input:
# how fast the loss moves with it. So ∂loss/∂a is the gradient of a, and ∂loss/∂b is the gradient of b.

# %% [markdown]
# Next you write a function that computes these two gradients. It need not know how the loss is computed. It is given
# ∂loss/∂out: one number, or, if out is an array, one such number for each number of out. The
# <dfn>upstream gradient</dfn> of a function is the gradient of the loss with respect to the function's output.
#
# The <dfn>chain rule</dfn> says: where the result of one step goes into the next step, the derivatives of the two steps
# are multiplied. Here:
#
# $$\frac{\partial\,\text{loss}}{\partial a} = \text{upstream} \cdot \frac{\partial\,\text{out}}{\partial a}
# \qquad\qquad
# \frac{\partial\,\text{loss}}{\partial b} = \text{upstream} \cdot \frac{\partial\,\text{out}}{\partial b}$$
#
# A function that computes these is called a *backward function*. It takes the upstream gradient and what it needs of
# the inputs, and returns one gradient for each input. Only the partial derivatives
# differ. Find the two partial derivatives of sin(a) · b.
#
# <details><summary>Hint: ∂out/∂a</summary>
#
# While a moves, b does not: it is a constant factor. What is the derivative of sin?
#
# </details>
#
# <details><summary>Hint: ∂out/∂b</summary>
#
# While b moves, sin(a) does not. What is the derivative of 5 · b with respect to b?
#
# </details>

# %% exercise="start.gradient" own="the derivative of that formula by hand, before there is an engine"
def sin_times_gradient(a, b, upstream):
    """(∂loss/∂a, ∂loss/∂b) for out = sin(a) · b, where upstream = ∂loss/∂out.

    The two results have the shape that a, b and upstream have. These three may hold whole numbers.
    Do not change them.

    >>> grad_a, grad_b = sin_times_gradient(0.0, 3.0, upstream=1.0)
    >>> float(grad_a), float(grad_b)
    (3.0, 0.0)
    >>> grad_a, grad_b = sin_times_gradient(0.0, 3.0, upstream=10.0)
    >>> float(grad_a), float(grad_b)
    (30.0, 0.0)
    """
    ### BEGIN SOLUTION
    return upstream * np.cos(a) * b, upstream * np.sin(a)
    ### END SOLUTION

# %% check="start.gradient"

# %% [markdown]
# Here is the graph again, for upstream = 10, now with your gradients in the boxes a and b. The number on each edge is a
# partial derivative: how fast the box on the right moves with the box on the left.
#
# Start with the gradient of out. Follow the edges back to a, and multiply by the number on each edge. What do you get?

# %% demo
out.grad = 10.0
out.local_derivatives = [b.data, s.data]
s.grad = out.grad * b.data
s.local_derivatives = [np.cos(a.data)]
a.grad, b.grad = sin_times_gradient(a.data, b.data, out.grad)
along_the_path = out.grad * b.data * np.cos(a.data)
print(f"along the path to a: {along_the_path:.4g}; your gradient: {a.grad:.4g}")
draw(out)

# %% [markdown]
# ## The same on your device
#
# A <dfn>kernel</dfn> is a small function that a device runs many times at once. Ours are written in OpenCL C. We let a
# kernel run at least once for each number of an array. A <dfn>work-item</dfn> is one of the many runs of a kernel. Each
# work-item asks for its index: `get_global_id(0)` gives 0 to the first, 1 to the second, and so on. (The 0 in it
# means: along the first axis. We have only one.)
#
# Work-items start in groups of equal size. So there may be more work-items than numbers:

# %% demo
draw_launch(n=10, local_size=4)

# %% [markdown]
# Now you: 1000 numbers, groups of 64. How many work-items start, and how many of them have no number to compute?

# %% predict
guess = predict(work_items=..., without_a_number=...)

# %% demo
work_items = int(np.ceil(1000 / 64)) * 64
guess.compare(work_items=work_items, without_a_number=work_items - 1000)

# %% [markdown]
# Some work-items have no number to compute. If such a work-item writes anyway, it writes behind the end of the array,
# into memory that is used for something else. OpenCL does not warn you. Reading there is just as wrong: behind the last
# number of an array there may be no memory at all.
#
# Let n be how many numbers each array has. Our kernels begin with a guard. A <dfn>guard</dfn> is a test in a kernel
# that lets a work-item do nothing if there is no number for it. If its index is not below n, it does not even read
# `a[i]`.
#
# The C that you need:
#
# | Python | OpenCL C |
# |---|---|
# | `i = 7` | `int i = 7;` |
# | `x = 0.5` | `float x = 0.5f;` |
# | `out[i] = 2 * a[i]` | `out[i] = 2 * a[i];` |
# | `if i < n:` and an indented block | `if (i < n) { … }` |
# | `np.sin(x)`, `np.cos(x)` | `sin(x)`, `cos(x)` |
#
# The first lines of the kernel are given. `__kernel` marks a function that can be started from outside the device, for
# us from Python. `void` says that it returns nothing. `__global float *out` is an array of float32 numbers (4 bytes and
# about 7 digits each; Python's float is a float64, with about 16) in the memory of the device; you write `out[i]`. An
# array with `const` may only be read. `const int n` is one whole number.
#
# Write the body of the kernel: find the index of the work-item, write the guard, and one line of mathematics.
#
# <details><summary>Hint: the first line</summary>
#
# `int i = get_global_id(0);`
#
# </details>
#
# <details><summary>Hint: the guard</summary>
#
# With n = 10, work-item 9 has a number to compute and work-item 10 has none. Is that `i < n` or `i <= n`?
#
# </details>

# %% exercise="start.kernel" own="a kernel by hand; the package generates its kernels"
SIN_TIMES = """
// out[i] = sin(a[i]) * b[i], one number for each work-item.
// a, b and out hold n numbers each; n or more work-items run, in groups.
__kernel void sin_times(__global const float *a, __global const float *b, __global float *out,
                        const int n)
{
    ### BEGIN SOLUTION
    int i = get_global_id(0);
    if (i < n) {
        out[i] = sin(a[i]) * b[i];
    }
    ### END SOLUTION
}
"""

# %% check="start.kernel"

# %% [markdown]
# The check ran your kernel on arrays of several lengths. Before and after each array there were some extra numbers, a
# margin. The check counted how many numbers in the margins were overwritten.
#
# Now compare your kernel with NumPy yourself. `run_kernel` copies arrays to the device, starts the work-items, and
# copies the arrays back.

# %% demo
rng = np.random.default_rng(0)
x, y = rng.normal(size=(2, 1000)).astype(np.float32)
*_, result = run_kernel(SIN_TIMES, "sin_times", x, y, np.empty_like(x), n=x.size)
print(f"largest difference from NumPy: {np.abs(result - sin_times(x, y)).max():.1e}")
print(f"the step between neighbouring float32 numbers near 1: {np.spacing(np.float32(1)):.1e}")

# %% [markdown]
# The device and NumPy each round in their own way, so the last digit may differ. The checks allow for that.
#
# ## Backward on the device
#
# One more kernel: the gradients. You have the formula, in `sin_times_gradient`, and the frame, in `SIN_TIMES`. Each
# work-item writes two numbers.

# %% exercise="start.backward_kernel" own="a kernel by hand; the package generates its kernels"
SIN_TIMES_BACKWARD = """
// For out[i] = sin(a[i]) * b[i] and upstream[i] = ∂loss/∂out[i]:
// grad_a[i] = ∂loss/∂a[i], grad_b[i] = ∂loss/∂b[i].
// All arrays hold n numbers; n or more work-items run. At first grad_a and grad_b hold arbitrary
// numbers.
__kernel void sin_times_backward(__global const float *a, __global const float *b,
                                 __global const float *upstream,
                                 __global float *grad_a, __global float *grad_b, const int n)
{
    ### BEGIN SOLUTION
    int i = get_global_id(0);
    if (i < n) {
        grad_a[i] = upstream[i] * cos(a[i]) * b[i];
        grad_b[i] = upstream[i] * sin(a[i]);
    }
    ### END SOLUTION
}
"""

# %% check="start.backward_kernel"

# %% [markdown]
# Now a test of your kernel that needs no formula for a derivative. Move every a up by h and down by h, and see how far
# out moves. A <dfn>central difference</dfn> is a measured derivative: (f(x + h) − f(x − h)) / (2h), with a small h. The
# cell below your first guess computed it for one number. Here it is done for a thousand:

# %% demo
upstream = rng.normal(size=x.size).astype(np.float32)
empty = np.empty_like(x)
*_, grad_x, grad_y = run_kernel(SIN_TIMES_BACKWARD, "sin_times_backward",
                                x, y, upstream, empty, empty, n=x.size)
wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
measured = upstream * (sin_times(wide_x + h, wide_y) - sin_times(wide_x - h, wide_y)) / (2 * h)
worst = np.abs(grad_x - measured).max()
print(f"your kernel and central differences differ by {worst:.1e} at most,")
print(f"where the gradients reach {np.abs(measured).max():.1f}")

# %% [markdown]
# ## Messages you may meet
#
# <details><summary><code>NotImplementedError</code></summary>
#
# An exercise above is not written yet, or its cell was changed and not run.
#
# </details>
#
# <details><summary><code>NameError: name 'np' is not defined</code></summary>
#
# The cells at the top did not run, perhaps because the notebook's process (Jupyter calls it a kernel) was restarted.
# Menu: Run → Run All Above Selected Cell.
#
# </details>
#
# <details><summary><code>TypeError: only 0-dimensional arrays can be converted to Python scalars</code></summary>
#
# `math.sin` takes one number. `np.sin` takes arrays, too.
#
# </details>
#
# <details><summary><code>KernelError: line 6, `int i = get_global_id(0)`: expected ';' at end of declaration</code></summary>
#
# The kernel does not compile. The message has the line of *your* text and what the compiler says about it. Often the
# cause is at the end of the line before: a missing semicolon, a missing brace.
#
# </details>
#
# <details><summary><code>KernelError: … read-only variable is not assignable</code></summary>
#
# An array declared `const` is an input. Write into `out`, not into `a`.
#
# </details>
#
# <details><summary>The check shows <code>-1000</code> where a number should be, or a little off it</summary>
#
# The check fills the results with −1000 before it runs your kernel. Where −1000 is still there, no work-item wrote.
# Where a number is a little off −1000, your kernel added to what was there.
#
# </details>
#
# <details><summary>The numbers are right, but «writes outside the arrays» is not 0</summary>
#
# The guard is missing, or it lets one work-item too many pass. `run_kernel` says the same as a `KernelError`.
#
# </details>
#
# <details><summary><code>NoDeviceError</code></summary>
#
# No OpenCL device works here. `python -m tinygrad_cl doctor` in a terminal shows why, and what to do.
#
# </details>

# %% [markdown]
# ## What it costs
#
# Three ways to compute sin(a) · b:
#
# - with NumPy;
# - with your kernel, the arrays being on the device already;
# - with your kernel, copying the arrays there and the result back each time.
#
# Before you run it: which one is fastest for 64 numbers? For half a million?

# %% demo
def to_device(*arrays):
    """A buffer, that is memory of the device, for each array, filled with its numbers."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return [cl.Buffer(device.context, flags, hostbuf=array) for array in arrays]


def launch(buffers, n):
    """Start n work-items in groups of 64, and wait until they are done."""
    kernel(device.queue, (n,), (64,), *buffers, np.int32(n))
    device.queue.finish()


def launch_with_copies(a, b, out):
    buffers = to_device(a, b, out)
    launch(buffers, a.size)
    cl.enqueue_copy(device.queue, out, buffers[-1])

# %% demo
device, kernel = default_device(), build_kernel(SIN_TIMES, "sin_times")
sizes = [64, 512, 4096, 32_768, 262_144, 524_288]
times = {"NumPy": [], "your kernel": [], "your kernel, with copies": []}
for n in sizes:
    p, q = rng.normal(size=(2, n)).astype(np.float32)
    buffers, result = to_device(p, q, p), np.empty_like(p)
    times["NumPy"].append(seconds_per_call(lambda: sin_times(p, q)))
    times["your kernel"].append(seconds_per_call(lambda: launch(buffers, n)))
    with_copies = seconds_per_call(lambda: launch_with_copies(p, q, result))
    times["your kernel, with copies"].append(with_copies)
plot_times(sizes, times, f"sin(a)·b on {device.name}")

# %% [markdown]
# On the left the curves of the kernel are flat. To start a kernel once is a *launch*. Python has to prepare the call,
# the driver (the maker's program for the device) has to start the work-items, and then Python waits until they are
# done. The <dfn>launch overhead</dfn> is the time that starting a kernel takes, nearly the same for few numbers and for
# many.

# %% demo
overhead, per_number = times["your kernel"][0], times["NumPy"][-1] / sizes[-1]
print(f"One launch, for {sizes[0]} numbers: {overhead * 1e6:.0f} µs.")
print(f"In that time NumPy computes {overhead / per_number:,.0f} numbers of a long array.")
wins = [n for n, ours, numpys in zip(sizes, times["your kernel"], times["NumPy"]) if ours < numpys]
print(f"Your kernel beats NumPy at {', '.join(f'{n:,}' for n in wins) or 'none of these'} numbers.")

# %% [markdown]
# So one launch should do a lot. That is why lesson 12 turns a whole chain of operations into a single kernel.
#
# On the right, with many numbers, the work itself takes most of the time. If your kernel is slower there, too, this
# may be why: your device computes several numbers at once (the squares in its picture), but on some devices only if one
# work-item computes several. Each work-item of your kernel computes one, so most squares have nothing to do. In lesson
# 09 a work-item computes several.

# %% [markdown] written="start.explain" points=2
# ## In your own words
#
# A friend wants to move a program to the device. It computes sin(a) · b for 100 numbers, then another small step, and
# so on, ten thousand steps in all. Use the numbers that you measured above: will the program get faster? What would you
# advise? Three or four sentences.
#
# <!-- BEGIN SOLUTION -->
# No. Each step starts a kernel, and that costs the same for 100 numbers as for one: the flat part of my plot. NumPy is done
# with 100 numbers long before that. Better: put many arrays together into one launch, or several steps into one kernel, and
# leave the arrays on the device in between, because each copy costs time again.
#
# **How it is marked**
#
# - 1 point: every step pays the launch overhead, and that is more than the work for 100 numbers; a measured number is named.
# - 1 point: sensible advice: more numbers in each launch, or several steps in one kernel; arrays stay on the device.
#
# Whoever measured a device that wins at 100 numbers, and argues from that, gets both.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# PyTorch is a Python library with which many people train neural networks. netcl is a small Python library that does
# this with OpenCL. Both have the parts that you wrote, under other names:
#
# | here | PyTorch | netcl |
# |---|---|---|
# | `sin_times` | `torch.autograd.Function.forward` | `fn` in `apply_op(fn, grad_fn, …)` |
# | `sin_times_gradient` | `Function.backward(ctx, grad_output)` | `grad_fn(grad_out)` |
# | upstream | `grad_output` | `grad_out` |
# | copy to the device | `tensor.to("cuda")` | `Tensor.from_host(queue, array)` |
#
# ## What comes next
#
# In this lesson you found the derivatives of one formula by hand. In lesson 01, *Value*, you build an engine that finds
# them for every formula, from a few rules like this one. In lesson 11 this function comes back as an operation of your
# own engine. There it is *fused*: one kernel computes the whole formula.
