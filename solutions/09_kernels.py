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
# # 09 · Kernels: first right, then fast
#
# This course builds three engines: one for single numbers (lesson 01), one for arrays (lesson 04), and one that runs on
# your OpenCL device. The third, *engine 3*, comes in the next lessons. Today you write kernels as it needs them: an
# elementwise one, a sum, a matrix product. Each one first right, then fast.
#
# An <dfn>elementwise</dfn> kernel computes each number of its result from the numbers at the same place in its inputs.
#
# At the end there is one picture. It compares the speed of your matrix product with the highest speed that we measure
# on the device, and with NumPy.

# %% given
import time

import numpy as np
import pyopencl as cl

from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.opencl import default_device, report
from tinygrad_cl.opencl.kernels import KernelError, build_kernel, kernel_seconds, launch
from tinygrad_cl.opencl.oclgrind import inspect_kernel
from tinygrad_cl.viz import (draw_devices, highlight_kernels, plot_lines, plot_roofline,
                             plot_timeline, plot_times)

highlight_kernels()  # colours OpenCL C in the cells of this page

# %% given
device = default_device()
rng = np.random.default_rng(9)


def size_for(n, slow):
    """n, or `slow` where the device is an interpreter: slow software, like one of section 2."""
    return slow if device.is_interpreter else n


def least_seconds(function, calls=50):
    """The time of the shortest of several calls: other programs on this computer only add to it."""
    def once():
        start = time.perf_counter()
        function()
        return time.perf_counter() - start
    return min(once() for _ in range(calls))


def normal(*shape):
    """Random float32 numbers."""
    return rng.normal(size=shape).astype(np.float32)

# %% [markdown]
# ## The words of OpenCL
#
# Here are seven words, and how they belong together:
#
# ```
# platform                 OpenCL software for some devices: PoCL, NVIDIA, Intel, …
# └─ device                a processor that the platform can use
#    └─ context            what one program has there: memory, kernels (not the `ctx` of lesson 04)
#       ├─ buffer          a piece of the device's memory
#       ├─ kernel          a compiled function
#       └─ queue           a list of commands: copy this, start that
#          └─ event        tells of one command whether it is done, and when it ran
# ```
#
# A <dfn>platform</dfn> is the OpenCL software of one maker; it knows one or more devices. PoCL is a free one, mostly
# for CPUs; the CPU is the processor that runs Python. A <dfn>buffer</dfn> is a piece of the device's memory, which
# kernels read and write.

# %% demo
draw_devices(report())

# %% [markdown]
# Python never runs a kernel itself. A <dfn>queue</dfn> is a list of commands for a device, such as: copy an array,
# start a kernel. Python puts a command into the queue and goes on at once, unless the call is one that waits. An
# <dfn>event</dfn> belongs to one command in a queue: it says whether and when the command ran. A program that needs a
# result waits for the event.

# %% demo
TWICE = """
__kernel void twice(__global const float *a, __global float *out, const int n)
{
    int i = get_global_id(0);
    if (i < n) out[i] = 2 * a[i];
}
"""

twice = build_kernel(TWICE, "twice")
a = normal(size_for(2**22, 2**10))
result = np.empty_like(a)
there, back = (cl.Buffer(device.context, cl.mem_flags.READ_WRITE, a.nbytes) for _ in range(2))
queue = device.queue
events = [("copy there", cl.enqueue_copy(queue, there, a, is_blocking=False)),
          ("kernel", twice(queue, a.shape, (64,), there, back, np.int32(a.size))),
          ("copy back", cl.enqueue_copy(queue, result, back, is_blocking=False))]
queue.finish()
zero = events[0][1].profile.queued
times = [(name, *(1e-9 * (t - zero) for t in (event.profile.queued, event.profile.start,
                                              event.profile.end))) for name, event in events]
plot_timeline(times, "Three commands: queued (line), running (bar)")

# %% [markdown]
# The lines begin together: Python queued all three commands at once. The bars come one after the other: this queue runs
# its commands *in order*. Which of the three takes longest, for such a small kernel?

# %% [markdown]
# ## 1 · The host side
#
# The *host* is the side of the computer on which Python runs, as opposed to the device. Write its part yourself, once:
# make the buffers, start the kernel (*launch* it), wait, copy back. The cells below use
# a ready function, `launch`; you need not call it.
#
# Work-items run in *groups*. `local_size` is the number of work-items in a group, and the number of work-items must be
# a multiple of it.
#
# | you need | it is called |
# |---|---|
# | a buffer filled from an array | `cl.Buffer(context, flags, hostbuf=array)` |
# | its flags | <code>cl.mem_flags.READ_WRITE &#124; cl.mem_flags.COPY_HOST_PTR</code> |
# | start | `event = kernel(queue, (work_items,), (local_size,), *buffers, np.int32(n))` |
# | wait | `event.wait()` |
# | copy back, and wait for it | `cl.enqueue_copy(queue, array, buffer)` |
# | when it ran, in nanoseconds | `event.profile.start`, `event.profile.end` |

# %% exercise="kernels.host" own="the calls of OpenCL, one by one; engine 3 keeps buffers and does not wait for a launch"
def run_on_device(device, kernel, arrays, n, local_size):
    """Run a kernel on copies of NumPy arrays, and return the pair (new arrays, seconds).

    device      has a .context and a .queue
    kernel      takes a buffer for each array, then the number n as an np.int32
    arrays      float32; they stay as they are
    n           work-items that are needed; started are n, rounded up to a multiple of local_size
    new arrays  what the buffers hold after the run: one for each array, of its shape
    seconds     how long the kernel itself ran, from start to end, by its event

    >>> (_, doubled), seconds = run_on_device(device, twice, [a, np.empty_like(a)], a.size, 64)
    """
    ### BEGIN SOLUTION
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(device.context, flags, hostbuf=array) for array in arrays]
    groups = (n + local_size - 1) // local_size
    event = kernel(device.queue, (groups * local_size,), (local_size,), *buffers, np.int32(n))
    event.wait()
    results = [np.empty_like(array) for array in arrays]
    for result, buffer in zip(results, buffers):
        cl.enqueue_copy(device.queue, result, buffer)
    return results, 1e-9 * (event.profile.end - event.profile.start)
    ### END SOLUTION

# %% check="kernels.host"

# %% [markdown]
# <details><summary>Hint 1</summary>10 numbers in groups of 4 are 3 groups, so 12 work-items. How do you round up
# without a float? <code>(n + local_size - 1) // local_size</code>, or <code>-(-n // local_size)</code>.</details>
# <details><summary>Hint 2</summary>Copy back into <code>np.empty_like(array)</code>, not into the caller's
# array.</details>
# <details><summary>Hint 3</summary>1 second is 10⁹ nanoseconds.</details>

# %% [markdown]
# ## What a launch costs
#
# We run the same kernel, `twice`, for 1 number and for 10,000. The time is taken in Python, from the call until the
# event says that the kernel is done. How many times as long do the 10,000 take?

# %% predict
guess = predict(times_longer=...)

# %% demo
def call_and_wait(n):
    twice(queue, (n,), None, there, back, np.int32(n)).wait()


sizes = [1, 10_000, *([] if device.is_interpreter else [100_000, 200_000, 400_000, 800_000])]
measured = [least_seconds(lambda: call_and_wait(n)) for n in sizes]
guess.compare(times_longer=measured[1] / measured[0])
plot = plot_times(sizes, {"call and wait": measured}, f"One launch of twice on {device.name}")
plot.axes.set_ylim(min(measured) / 8, max(measured) * 8)
plot

# %% [markdown]
# The curve is flat on the left and rises on the right. The simplest model of that is a straight line:
#
# $$\text{seconds}(n) = \text{overhead} + n \cdot \text{per number}$$
#
# Every launch costs the overhead. For some n both parts are equal, and half of the time is overhead. Call that size n½.
#
# Find the line that fits best. To fit a line by *least squares* is to choose the line for which the sum of the squared
# distances to the measured values is smallest.

# %% exercise="kernels.overhead" own="a line through measurements; the package measures and fits nothing at run time"
def fit_overhead(sizes, seconds):
    """(overhead, per_number, n_half) of the best line seconds = overhead + per_number · n.

    sizes, seconds   as many numbers each, two at least; lists, tuples or arrays
    the best         by least squares
    n_half           the size at which overhead and work take the same time; per_number is not 0

    >>> overhead, per_number, n_half = fit_overhead([0, 100, 200], [5.0, 6.0, 7.0])
    >>> [round(float(x), 6) for x in (overhead, per_number, n_half)]
    [5.0, 0.01, 500.0]
    """
    ### BEGIN SOLUTION
    per_number, overhead = np.polyfit(sizes, seconds, 1)
    return overhead, per_number, overhead / per_number
    ### END SOLUTION

# %% check="kernels.overhead"

# %% [markdown]
# <details><summary>Hint 1</summary><code>np.polyfit(x, y, 1)</code> gives two numbers. The one for the highest power
# comes first.</details>
# <details><summary>Hint 2</summary>At n½: overhead = per_number · n½.</details>

# %% demo
overhead, per_number, n_half = fit_overhead(sizes, measured)
if min(overhead, per_number) < 0:
    print("this computer is too busy to measure that: run the cell before the exercise once more")
print(f"a launch costs about {1e6 * overhead:.0f} µs, a number {1e9 * per_number:.2f} ns")
print(f"below {n_half:,.0f} numbers, most of the time is overhead")

# %% [markdown]
# Training a small network means thousands of launches below that size. In lesson 12 many operations become one kernel,
# and so one launch.

# %% [markdown]
# ## 2 · Two dimensions, two guards
#
# Memory has one dimension, a matrix has two. A matrix is stored row after row. So element (row, column) lies at place
# `row * columns + column`:
#
# ```
#            column 0   1   2   3
#   row 0         [ 0   1   2   3 ]        memory: 0 1 2 3 │ 4 5 6 7 │ 8 9 …
#   row 1         [ 4   5   6   7 ]
# ```
#
# Work-items can be numbered in two dimensions, too: `get_global_id(0)` is the column, `get_global_id(1)` the row.
# Work-items that are neighbours in dimension 0 should use numbers that are neighbours in memory.
#
# Take a matrix of 30 rows and 50 columns, and groups of 16 × 16 work-items. How many work-items start, and how many of
# them have nothing to do?

# %% predict
guess = predict(work_items=..., nothing_to_do=...)

# %% demo
work_items = (4 * 16) * (2 * 16)
guess.compare(work_items=work_items, nothing_to_do=work_items - 30 * 50)

# %% [markdown]
# Some of them are too far right, some too far down, some both. A work-item that is too far right computes, in
# every row but the last, a *valid* place in memory: which one?
#
# <details><summary>Which one?</summary>The next row's beginning. So it would write over another work-item's
# number.</details>
#
# A layer of a network computes `relu(x @ W + b)`. Write the kernel for what comes after the product: add a bias to each
# column, then ReLU.

# %% exercise="kernels.bias_relu" own="a kernel by hand; engine 3 generates its elementwise kernels"
BIAS_RELU = """
// out[row, column] = max(x[row, column] + bias[column], 0)
// x and out: rows × columns numbers, row after row; bias: columns numbers.
// Dimension 0 counts columns, dimension 1 rows; of both there may be more than needed.
__kernel void bias_relu(__global const float *x, __global const float *bias,
                        __global float *out, const int rows, const int columns)
{
    ### BEGIN SOLUTION
    int column = get_global_id(0), row = get_global_id(1);
    if (row < rows && column < columns) {
        int i = row * columns + column;
        out[i] = fmax(x[i] + bias[column], 0.0f);
    }
    ### END SOLUTION
}
"""

# %% check="kernels.bias_relu"

# %% [markdown]
# <details><summary>Hint 1</summary>A guard for each dimension, joined by <code>&amp;&amp;</code>.</details>
# <details><summary>Hint 2</summary><code>fmax(value, 0.0f)</code> is C's maximum of two floats.</details>

# %% [markdown]
# ### When it does not build
#
# The message of a compiler names a line. Here line 1 is the one with the opening quotes.

# %% demo
BROKEN = """
__kernel void broken(__global const float *a, __global float *out)
{
    int i = get_global_id(0)
    out[i] = a[i];
}
"""
try:
    launch(BROKEN, "broken", normal(4), normal(4), work_items=4)
except KernelError as error:
    print(error)

# %% [markdown]
# ### When it builds, and is right only by luck
#
# The next kernel adds up 64 numbers: every work-item adds its own number to `total[0]`. All 64 numbers are 1. What
# comes out, on your device? Run the cell more than once.

# %% demo
RACE = """
__kernel void race(__global const float *x, __global float *total)
{
    int i = get_global_id(0);
    total[0] += x[i];
}
"""
ones, nothing = np.ones(64, np.float32), np.zeros(1, np.float32)
print([float(launch(RACE, "race", ones, nothing, work_items=64, local_size=1)[1][0])
       for _ in range(10)])

# %% [markdown]
# `+=` is three steps: read, add, write. If two work-items both read before one of them writes, one of the numbers is
# lost. In a <dfn>data race</dfn>, several work-items use the same number without waiting for each other, and one of
# them writes: the result depends on chance. Did you see 64.0 ten times? Then your device probably ran the work-items
# one after the other. Nothing promises that: on another device, or with the next version of its software, some numbers
# are lost.
#
# <dfn>Oclgrind</dfn> is an OpenCL device in software: it runs kernels slowly and reports data races and accesses
# outside of arrays. `inspect_kernel` runs a kernel there and shows the report. If Oclgrind is not installed on your
# computer, the cell shows a report that was saved on another one. The report uses two new words. *Global memory* is the
# memory of the buffers, marked `__global` in a kernel. A *barrier* is a place in a kernel where work-items wait for
# each other; section 4 has one.

# %% demo
inspect_kernel(RACE, "race", ones, nothing, work_items=64, local_size=1,
               elsewhere="line 5, `total[0] += x[i];`: a data race in global memory: two "
                         "work-items use the same number, one of them writes, and no barrier "
                         "is between (first work-items 1 and 0)")

# %% [markdown]
# Every check of a kernel ends with such a run, if Oclgrind is installed. What does Oclgrind say of your own kernel?

# %% demo
x, bias, out = normal(15), normal(5), np.zeros(15, np.float32)  # 3 rows of 5 columns
inspect_kernel(BIAS_RELU, "bias_relu", x, bias, out, 3, 5, work_items=(8, 4), local_size=(4, 4))

# %% [markdown]
# ## 3 · Lanes
#
# A <dfn>core</dfn> is a part of a processor that runs a program by itself; most CPUs have several. A <dfn>vector</dfn>,
# for a processor, is several numbers that a core computes in one step, such as 4, 8 or 16 floats. A <dfn>lane</dfn> is
# one place in a vector. If two vectors are added, each lane is added to the lane with the same number.
#
# OpenCL C has types for vectors. `float16` is a vector of 16 floats of 4 bytes each. (In NumPy and in lesson 07,
# float16 is one number of 2 bytes.) And `x + start` is the part of array x that begins at `x[start]`:
#
# | | |
# |---|---|
# | `float16 v = vload16(0, x + start);` | loads 16 numbers, from `x[start]` on |
# | `v * v`, `exp(v)`, `v + 1.0f` | computes each lane by itself |
# | `vstore16(v, 0, out + start);` | stores 16 numbers, from `out[start]` on |
#
# The 0 counts whole vectors: `vload16(k, x)` begins at `x[16 * k]`.
#
# A GPU is the processor of a graphics card. It runs neighbouring work-items together, as the lanes of a vector. So
# vector types matter less there.

# %% demo
print(f"{device.name} likes {device.vector_width} floats at once")

# %% [markdown]
# Write $e^{-x^2}$ with 16 numbers for each work-item. If n is no multiple of 16, the last work-items find fewer than 16
# numbers, or none. They compute these numbers one by one, in a loop.
#
# In C, `for i in range(10):` is `for (int i = 0; i < 10; i++) { … }`. After `if (…) { … }` there may be an `else { …
# }`.

# %% exercise="kernels.lanes" own="a kernel by hand; engine 3 generates its elementwise kernels, with as many lanes as suit the device"
BELL = """
// out[i] = exp(-x[i]²) for n numbers. Work-item w computes numbers 16 * w … 16 * w + 15, as a
// float16; where fewer than 16 are left, those that are there, one by one (perhaps none).
__kernel void bell(__global const float *x, __global float *out, const int n)
{
    ### BEGIN SOLUTION
    int start = 16 * get_global_id(0);
    if (start + 16 <= n) {
        float16 v = vload16(0, x + start);
        vstore16(exp(-v * v), 0, out + start);
    } else {
        for (int i = start; i < n; i++)
            out[i] = exp(-x[i] * x[i]);
    }
    ### END SOLUTION
}
"""

# %% check="kernels.lanes"

# %% [markdown]
# <details><summary>Hint 1</summary>Two cases: <code>if (start + 16 &lt;= n) { … } else { … }</code>.</details>
# <details><summary>Hint 2</summary>The second is a loop, <code>for (int i = start; i &lt; n; i++)</code>. If
# <code>start</code> is beyond n already, it does nothing, so no other guard is needed.</details>

# %% [markdown]
# Compare your kernel with one that has the same formula, but one number for each work-item. How many times as fast is
# yours?

# %% predict
guess = predict(times_as_fast=...)

# %% demo
BELL_ONE = """
__kernel void bell(__global const float *x, __global float *out, const int n)
{
    int i = get_global_id(0);
    if (i < n) out[i] = exp(-x[i] * x[i]);
}
"""
n = size_for(2**20, 2**10)
x, out = normal(n), np.empty(n, np.float32)
one = kernel_seconds(BELL_ONE, "bell", x, out, n, work_items=n, local_size=64)
lanes = kernel_seconds(BELL, "bell", x, out, n, work_items=n // 16)
guess.compare(times_as_fast=one / lanes)
numpys = least_seconds(lambda: np.exp(-x * x))
print(f"one by one {1e6 * one:.0f} µs, 16 lanes {1e6 * lanes:.0f} µs, "
      f"NumPy {1e6 * numpys:.0f} µs")

# %% [markdown]
# ## 4 · A sum, as in the textbook
#
# In an elementwise kernel no work-item needs a number of another one. In a sum it does. Work-items of one *group* can
# exchange numbers. The work-items of one group share <dfn>local memory</dfn>, which is marked `__local` in a kernel. A
# <dfn>barrier</dfn> is a place in a kernel where each work-item waits until all work-items of its group are there. In
# OpenCL C it is the line `barrier(CLK_LOCAL_MEM_FENCE);`.
#
# ```
# part     a        b      c    d    e  f  g  h    each work-item brings a number
# step 4   a+e      b+f    c+g  d+h  .  .  .  .    barrier, then four work-items add
# step 2   a+e+c+g  b+f+d+h  .  .    .  .  .  .    barrier, then two
# step 1   the sum  .        .  .    .  .  .  .    barrier, then one
# ```
#
# In the first step, the first half of the work-items add. In each later step, the first half of those that added before
# add again. Each of them adds to its own number, `part[me]`, the number that lies `step` places further,
# `part[me + step]`. Here `me`, which is `get_local_id(0)`, is the number of a work-item inside its group.
# (`get_group_id(0)` is the number of the group.) A group of 64 needs six steps: `step` is 32, 16, 8, 4, 2, 1.
#
# Why a barrier before each step? What `part[me + step]` holds was written by another work-item.
#
# Every work-item of the group has to come to the barrier, also one without a number. So there is no `return` at the
# top.
#
# The kernel computes one sum for each group. To add these up takes another launch, which we leave out here.

# %% exercise="kernels.tree" own="a kernel by hand; engine 3 generates its reductions, for any axes"
TREE = """
// sums[g] = the sum of the numbers of group g: x[64 g] … x[64 g + 63], fewer in the last group.
// Groups have 64 work-items; x has n numbers; at first sums holds arbitrary numbers.
__kernel void tree(__global const float *x, __global float *sums, const int n)
{
    __local float part[64];
    int i = get_global_id(0), me = get_local_id(0);
    ### BEGIN SOLUTION
    part[me] = i < n ? x[i] : 0.0f;
    for (int step = 32; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < step)
            part[me] += part[me + step];
    }
    ### END SOLUTION
    if (me == 0)
        sums[get_group_id(0)] = part[0];
}
"""

# %% check="kernels.tree"

# %% [markdown]
# <details><summary>Hint 1</summary>A work-item without a number brings 0. In C, <code>c ? p : q</code> is Python's
# <code>p if c else q</code>: <code>part[me] = i &lt; n ? x[i] : 0.0f;</code></details>
# <details><summary>Hint 2</summary><code>for (int step = 32; step &gt; 0; step /= 2)</code>, and in it
# the barrier, outside of any <code>if</code>.</details>
# <details><summary>Hint 3</summary>Only work-items with <code>me &lt; step</code> add. The last two lines, which write
# <code>sums[get_group_id(0)]</code>, are given.</details>

# %% [markdown]
# Is every barrier there? A kernel without one may give the right sum by luck, but Oclgrind reports it.

# %% demo
inspect_kernel(TREE, "tree", normal(100), np.zeros(2, np.float32), 100,
               work_items=128, local_size=64)

# %% [markdown]
# ## 5 · A sum that suits a CPU
#
# Now no work-item needs a number of another one: there are few work-items, and each adds up a long chunk of numbers of
# its own. Each keeps 16 running sums, one in each lane of a `float16`. (`float16 v = 0.0f;` sets all 16 lanes of v to
# 0.) At the end it adds the two halves of the vector, `.lo` and `.hi`, and so on, until one number is left:
#
# ```
# float8 eight = lanes.lo + lanes.hi;      16 → 8, then 8 → 4, 4 → 2; a float2 has .x and .y
# ```
#
# A loop may go on with a variable that is there: `for (; i + 16 <= end; i += 16) { … }` begins where `i` is. (With
# `int i = …` it would have a new `i` of its own.)

# %% exercise="kernels.chunks" own="a kernel by hand; engine 3 generates its reductions, for any axes"
CHUNKS = """
// sums[w] = x[w * chunk] + … + x[(w + 1) * chunk - 1], without what is beyond x[n - 1].
// Just as many work-items run as there are sums. An empty chunk has the sum 0.
__kernel void chunks(__global const float *x, __global float *sums, const int n, const int chunk)
{
    int i = get_global_id(0) * chunk, end = min(i + chunk, n);
    ### BEGIN SOLUTION
    float16 lanes = 0.0f;
    for (; i + 16 <= end; i += 16)
        lanes += vload16(0, x + i);
    float8 eight = lanes.lo + lanes.hi;
    float4 four = eight.lo + eight.hi;
    float2 two = four.lo + four.hi;
    float sum = two.x + two.y;
    for (; i < end; i++)
        sum += x[i];
    sums[get_global_id(0)] = sum;
    ### END SOLUTION
}
"""

# %% check="kernels.chunks"

# %% [markdown]
# <details><summary>Hint 1</summary>A loop in steps of 16 for as long as 16 are left, then a loop in steps of 1 for the
# rest. Both go on with the same <code>i</code>.</details>
# <details><summary>Hint 2</summary>One <code>=</code> at the very end, into
# <code>sums[get_global_id(0)]</code>.</details>

# %% [markdown]
# Take a million numbers. NumPy's `sum` takes 1 unit of time. How many units do the tree and the chunks take, on your
# device? (Both leave several sums. The time to add these up is not counted.)

# %% predict
guess = predict(tree=..., chunks=...)

# %% demo
n = size_for(2**20, 2**10)
x, workers = normal(n), 4 * device.compute_units
tree = kernel_seconds(TREE, "tree", x, np.empty(n // 64, np.float32), n,
                      work_items=n, local_size=64)
chunks = kernel_seconds(CHUNKS, "chunks", x, np.empty(workers, np.float32), n, -(-n // workers),
                        work_items=workers, local_size=1)
numpys = least_seconds(lambda: x.sum())
guess.compare(tree=tree / numpys, chunks=chunks / numpys)
print(f"tree {1e6 * tree:.0f} µs, chunks {1e6 * chunks:.0f} µs, NumPy {1e6 * numpys:.0f} µs")

# %% [markdown]
# On a GPU the tree is good: the work-items of a group run at the same time, and a barrier costs very little. On a CPU,
# one core runs all the work-items of a group, one after the other, up to the barrier. Then it starts again with the
# first. So it goes through 64 work-items seven times, to do 63 additions.
#
# | | tree | chunks |
# |---|---|---|
# | work-items per core | thousands, short | few, long |
# | additions of 16 lanes at once | no | yes |
# | barriers for 64 numbers | 6 | none |
# | good on a | GPU | CPU |
#
# That is why engine 3 has both, and chooses by the device.

# %% [markdown]
# ## 6 · The matrix product, first right
#
# c = a · b: element (row, column) of c is row `row` of a times column `column` of b, summed. One work-item computes one
# element.
#
# ```
#                     b  k × n
#                      column
#                        │
#      a  m × k          ▼            c[row * n + column] = Σ  a[row * k + p] · b[p * n + column]
#   row ──────▶        c  m × n                             p
# ```

# %% exercise="kernels.matmul" own="a kernel by hand; engine 3 generates its matrix products for any layout"
MATMUL = """
// c = a · b, with a of m × k numbers, b of k × n, c of m × n, all row after row.
// Dimension 0 counts columns of c, dimension 1 rows; of both there may be more than needed.
__kernel void matmul(__global const float *a, __global const float *b, __global float *c,
                     const int m, const int n, const int k)
{
    ### BEGIN SOLUTION
    int column = get_global_id(0), row = get_global_id(1);
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++)
            sum += a[row * k + p] * b[p * n + column];
        c[row * n + column] = sum;
    }
    ### END SOLUTION
}
"""

# %% check="kernels.matmul"

# %% [markdown]
# <details><summary>Hint 1</summary>A row of a is k long, a row of b is n long. So is a row of c.</details>
# <details><summary>Hint 2</summary>Keep the sum in a variable, <code>float sum = 0.0f;</code>, and write c
# once.</details>

# %% demo
SIDE = size_for(512, 32)
LEFT, RIGHT = normal(SIDE, SIDE), normal(SIDE, SIDE)
OPERATIONS = 2 * SIDE ** 3  # SIDE multiplications and additions for each of SIDE² numbers


def speed(source, name, columns=1, rows=1, local_size=(1, 1)):
    """Operations per second of a product whose work-items compute rows × columns numbers."""
    arrays = LEFT.ravel(), RIGHT.ravel(), np.empty(SIDE * SIDE, np.float32)
    work_items = SIDE // columns, SIDE // rows
    return OPERATIONS / kernel_seconds(source, name, *arrays, SIDE, SIDE, SIDE, times=4,
                                       work_items=work_items, local_size=local_size)


naive = speed(MATMUL, "matmul", local_size=(16, 16))
numpys = OPERATIONS / least_seconds(lambda: LEFT @ RIGHT)
print(f"{SIDE} × {SIDE}, in billions of operations per second: yours {naive / 1e9:.1f}, "
      f"NumPy {numpys / 1e9:.0f}")

# %% [markdown]
# ## 7 · What makes it slow
#
# It is not the arithmetic. Look at what the innermost loop *loads*: two floats, for one multiplication and one addition.
#
# Now let a work-item compute a block of `rows` × `lanes` numbers of c. For each p it loads `lanes` numbers of b and
# `rows` numbers of a, and **uses each of them several times**:
#
# ```
#  row p of b      b0    b1    b2    b3        loads: 4 of b, 2 of a
#     a[row, p]       a0   a0b0  a0b1  a0b2  a0b3      multiplications: 8, additions: 8
#     a[row + 1, p]   a1   a1b0  a1b1  a1b2  a1b3
# ```
#
# The <dfn>intensity</dfn> of a kernel is the number of operations per byte that it loads. That is the number that
# matters.

# %% exercise="kernels.intensity" own="a count on paper; nothing in the package needs it"
def intensity(rows, lanes):
    """Operations per byte that the innermost loop loads, for a block of rows × lanes numbers of c.

    For each p: rows floats of a and lanes floats of b are loaded, once each, 4 bytes a float. Each
    number of the block gets one multiplication and one addition.

    >>> intensity(1, 1)
    0.25
    """
    ### BEGIN SOLUTION
    operations = 2 * rows * lanes
    loaded = 4 * (rows + lanes)
    return operations / loaded
    ### END SOLUTION

# %% check="kernels.intensity"

# %% demo
rows = [1, 2, 4, 8, 16, 32]
blocks = {f"lanes: {lanes}": [intensity(r, lanes) for r in rows] for lanes in (1, 4, 16)}
plot_lines(rows, blocks, "Operations per byte loaded", "rows of the block",
           "operations per byte")

# %% [markdown]
# With one lane the intensity stays below ½, for any number of rows. A block that is long in one direction only is of
# little use.

# %% [markdown]
# ## 8 · The matrix product, in registers
#
# A <dfn>register</dfn> is one of the few places for numbers inside a core; what is in a register need not be loaded
# from memory. Now a work-item computes a block of ROWS × 16 numbers. Its running sums are ROWS vectors, `float16
# sum[ROWS]`. For each p it loads one vector of b, and ROWS single numbers of a.
#
# The array `sum` can stay in registers only if the compiler knows every index. A loop is <dfn>unrolled</dfn> if it is
# written out as one line for each pass, with a fixed index in each line. So a loop over r becomes ROWS lines, with r =
# 0, r = 1, …
#
# `#define` gives a name to a piece of text. In the exercise `ROWS` stands for 8, and `EACH_ROW` for the first line of a
# loop over r that the compiler unrolls. After `EACH_ROW` you write what is to be done for row `r`.

# %% exercise="kernels.blocked" own="a kernel by hand; engine 3 generates its matrix products, with blocks that suit the device and guarded ends"
BLOCKED = """
#define ROWS 8
#define EACH_ROW _Pragma("unroll") for (int r = 0; r < ROWS; r++)
// c = a · b, with a of m × k numbers, b of k × n, c of m × n. Work-item (i, j) computes the
// block that begins at row ROWS * j, column 16 * i: ROWS rows, 16 columns. m is a multiple of ROWS,
// n of 16, and just as many work-items run as there are blocks.
__kernel void blocked(__global const float *a, __global const float *b, __global float *c,
                      const int m, const int n, const int k)
{
    int column = 16 * get_global_id(0), row = ROWS * get_global_id(1);
    float16 sum[ROWS];
    ### BEGIN SOLUTION
    EACH_ROW
        sum[r] = 0.0f;
    for (int p = 0; p < k; p++) {
        float16 line = vload16(0, b + p * n + column);
        EACH_ROW
            sum[r] += a[(row + r) * k + p] * line;
    }
    EACH_ROW
        vstore16(sum[r], 0, c + (row + r) * n + column);
    ### END SOLUTION
}
"""

# %% check="kernels.blocked"

# %% [markdown]
# <details><summary>Hint 1</summary>Three parts: <code>EACH_ROW</code> set the sum to 0; the loop over p, and in it
# <code>EACH_ROW</code> add; <code>EACH_ROW</code> store.</details>
# <details><summary>Hint 2</summary>In the loop over p: <code>float16 line = vload16(0, b + p * n +
# column);</code></details>
# <details><summary>Hint 3</summary>A float times a float16 is a float16: <code>sum[r] += a[(row + r) * k + p] *
# line;</code></details>

# %% [markdown]
# Because ROWS is a name, the same text gives four kernels: with 1, 2, 4 and 8 rows. Call your kernel from section 6 the
# *naive* one. How many times as fast as the naive one is the kernel with one row? With eight rows? And how many times
# as fast as NumPy is the one with eight rows?

# %% predict
guess = predict(one_row=..., eight_rows=..., eight_rows_to_numpy=...)

# %% demo
def with_rows(rows):
    return BLOCKED.replace("#define ROWS 8", f"#define ROWS {rows}")


speeds = {rows: speed(with_rows(rows), "blocked", columns=16, rows=rows) for rows in (1, 2, 4, 8)}
guess.compare(one_row=speeds[1] / naive, eight_rows=speeds[8] / naive,
              eight_rows_to_numpy=speeds[8] / numpys)

# %% [markdown]
# ## The roofline
#
# Two things limit any kernel: how fast the device computes, and how fast numbers come in. We measure each with a kernel
# that does nothing else. One multiplies and adds in registers. The other reads an array that fits into the cache. A
# <dfn>cache</dfn> is a small, fast memory inside the processor.

# %% demo
PEAK = """
__kernel void peak(__global float *out, const int times)
{
    float16 s[16];
    #pragma unroll
    for (int r = 0; r < 16; r++) s[r] = r + get_global_id(0);
    for (int t = 0; t < times; t++) {
        #pragma unroll
        for (int r = 0; r < 16; r++) s[r] = s[r] * 0.5f + 1.0f;
    }
    float16 sum = 0.0f;
    #pragma unroll
    for (int r = 0; r < 16; r++) sum += s[r];
    vstore16(sum, get_global_id(0), out);
}
"""
READ = """
__kernel void read(__global const float *x, __global float *out, const int vectors, const int times)
{
    float16 a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    for (int t = 0; t < times; t++)
        for (int i = 0; i < vectors; i += 4) {
            a += vload16(i, x);     b += vload16(i + 1, x);
            c += vload16(i + 2, x); d += vload16(i + 3, x);
        }
    vstore16(a + b + c + d, get_global_id(0), out);
}
"""
workers, times, vectors = 4 * device.compute_units, size_for(20_000, 4), 4096
out = np.empty(16 * workers, np.float32)
peak = workers * times * 16 * 32 / kernel_seconds(PEAK, "peak", out, times,
                                                  work_items=workers, local_size=1)
again = size_for(64, 1)
bandwidth = workers * again * vectors * 64 / kernel_seconds(
    READ, "read", np.zeros(16 * vectors, np.float32), out, vectors, again,
    work_items=workers, local_size=1)
print(f"{device.name}: {peak / 1e9:.0f} billion operations, "
      f"{bandwidth / 1e9:.0f} GB from the cache, per second")

# %% demo
kernels = {"naive": (intensity(1, 1), naive)}
kernels |= {f"{rows} × 16": (intensity(rows, 16), found) for rows, found in speeds.items()}
plot = plot_roofline(kernels, peak, bandwidth, f"Matrix products of {SIDE} × {SIDE}")
plot.axes.axhline(numpys, color="black", linewidth=1, linestyle=":")
plot.axes.text(plot.axes.get_xlim()[0], numpys, " NumPy", va="bottom")
best = max(speeds.values())
if best > peak:
    print(f"A product was {best / peak:.1f} times as fast as the kernel that measured the peak:")
    print("that was too low (a busy machine?), and the picture raises the roof to the product.")
if numpys > max(peak, best):
    print(f"NumPy computes {numpys / max(peak, best):.1f} times as fast as any kernel here.")
plot

# %% [markdown]
# A <dfn>roofline</dfn> shows the highest speed of a kernel for each intensity: limited by incoming numbers on the left,
# by computing on the right. To the right the intensity grows, in operations per byte; upwards the speed grows, in
# operations per second.
#
# A kernel cannot compute faster than its numbers come in: its speed is at most intensity · bytes per second. That is
# the slanted part of the roof, with the bytes per second from the cache that we measured. The flat part is the *peak*:
# here the highest number of operations per second. (In lesson 07 a peak was one of bytes.)
#
# Both parts are what a kernel reached here, built by this device's compiler; they are no limits of the chip. NumPy's
# product is machine code, written by hand for this processor. (If the device is a graphics card, NumPy runs on another
# chip.) So its line may lie above the roof.
#
# - **naive** loads one float at a time. The roof was measured with loads of sixteen floats at once. So the point lies
#   below the roof.
# - **1 × 16** loads about half as many bytes per operation, and each load of b brings a whole vector.
# - **more rows** mean a higher intensity: the point moves to the right, where the roof is higher.
#
# All of these kernels do the same multiplications and additions.
#
# <details><summary>Why not 64 rows?</summary>
#
# A CPU with AVX-512 (instructions for 16 floats at once) has 32 vector registers. When the sums need more, some of them
# are kept in memory, and each addition loads and stores them again. Try <code>speed(with_rows(32), "blocked",
# columns=16, rows=32)</code>.
#
# </details>
#
# <details><summary>And on a GPU?</summary>
#
# There the block of a work-item is smaller: sixteen lanes for each work-item are too many. The work-items of a group
# copy small blocks of a and b, called *tiles*, into local memory, and all of them read the tiles there. Engine 3 has a
# kernel of that kind, too, in <code>tinygrad_cl/netcl/ops/matmul_source.py</code>.
#
# </details>

# %% [markdown]
# ## Messages you may meet
#
# <details><summary><code>KernelError: line 4, `int i = get_global_id(0)`: expected ';' at end of declaration</code></summary>
#
# The lines of your text are counted from the one with the opening quotes. Often the cause is at the end of the line
# before.
#
# </details>
#
# <details><summary><code>KernelError: the kernel … overwrote 6 numbers outside its arrays</code></summary>
#
# A guard is missing or lets too many pass, or a vector is stored where fewer than 16 numbers are left.
#
# </details>
#
# <details><summary>The notebook's process dies: «double free or corruption», or «The kernel appears to have died»</summary>
#
# The notebook's process (Jupyter calls it a kernel; it is no OpenCL kernel) ended. An OpenCL kernel, or a copy, wrote
# outside of its arrays and destroyed memory of that process. In <code>run_on_device</code>: the buffers are as large as
# the arrays, and only the number of work-items is rounded up; n stays as it is. All variables are lost: Run → Run All
# Above Selected Cell, once you have mended the cell.
#
# </details>
#
# <details><summary><code>KernelError: the kernel … did not end in 10 s</code>, and after that
# <code>the device still works on a kernel that did not end</code></summary>
#
# A loop has no end: <code>step /= 2</code> without <code>step &gt; 0</code>, or an <code>i</code> that never grows.
# Nothing can stop an OpenCL kernel that runs. Mend the loop, then restart the notebook's process (the menu says
# «Restart Kernel»). A barrier to which some work-items never come can look the same.
#
# </details>
#
# <details><summary><code>KernelError: line 5, …: call to 'exp' is ambiguous</code></summary>
#
# An int was passed to a function of floats, as in <code>exp(2)</code>, and some compilers cannot choose the type. Write
# <code>2.0f</code>.
#
# </details>
#
# <details><summary><code>LogicError: clEnqueueNDRangeKernel failed: INVALID_WORK_GROUP_SIZE</code></summary>
#
# The number of work-items is no multiple of the group's size. Round it up to whole groups.
#
# </details>
#
# <details><summary><code>LogicError: Kernel.set_arg failed: INVALID_VALUE</code>, or <code>INVALID_ARG_SIZE</code></summary>
#
# You passed a Python int or float where the kernel takes an int or a float of 4 bytes: <code>np.int32(n)</code>.
#
# </details>

# %% [markdown] written="kernels.explain" points=3
# ## In your own words
#
# The naive matrix product and the blocked one do exactly the same multiplications and additions. Why is one so much faster on
# your device? And why did the tree, which is the standard way to add up numbers on a GPU, do so badly or so well on yours?
# Use numbers that you measured. Five sentences at most.
#
# <!-- BEGIN SOLUTION -->
# The naive kernel loads two floats for two operations, a quarter of an operation per byte, and one float at a time; the block
# of 8 × 16 loads 24 floats for 256 operations, more than ten times the intensity, and a whole vector with each load. So it
# spends its time computing and comes near the peak, while the naive one waits for loads. (My two
# measured speeds stand in the last plot.) The tree needs a barrier for each of its six steps. On a CPU one core plays all 64 work-items in
# turn and begins anew after each barrier, so it does far more bookkeeping than additions; chunks need no barrier and add 16
# lanes at once. On a GPU the 64 really run side by side, and there the tree is good.
#
# **How it is marked**
#
# - 1 point: loaded numbers are used several times (more operations per byte), or the same said with registers.
# - 1 point: barriers on a CPU: one core runs the work-items of a group in turn (or on a GPU: they run at once, so it does
#   well there).
# - 1 point: measured numbers stand behind both.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# CUDA is NVIDIA's system for programs on its own graphics cards.
#
# | here (OpenCL) | CUDA | PyTorch / netcl |
# |---|---|---|
# | work-item, `get_global_id(0)` | thread, `blockIdx.x * blockDim.x + threadIdx.x` | hidden |
# | group, `get_local_id(0)` | block, `threadIdx.x` | hidden |
# | `__local`, `barrier(CLK_LOCAL_MEM_FENCE)` | `__shared__`, `__syncthreads()` | hidden |
# | queue, event | stream, event | `torch.cuda.Stream`; netcl's `Tensor.queue` |
# | buffer | `cudaMalloc` | `tensor.data_ptr()`; netcl's `Tensor.buffer` |
# | Oclgrind | `compute-sanitizer --tool racecheck` | hidden |
# | `kernel_seconds` | `cudaEventElapsedTime` | `torch.utils.benchmark` |

# %% [markdown]
# ## What comes next
#
# Today's kernels compute forward. In lesson 10, *tape*, each operation is recorded in a list, and the engine reads this
# list backwards to compute the gradients.
