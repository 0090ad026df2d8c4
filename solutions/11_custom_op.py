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
# One op, sin(a) · b, written three times. Each time a little more of it is yours:
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
# The kernels become yours, and in the end fewer of them are launched. Is it faster each time? Note your bets: you will count
# and measure them. You need lesson 09 (kernels) and lesson 10 (tape). Seven
# exercises.

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
    """A Tensor of random numbers."""
    return Tensor.from_host(device.queue, rng.normal(size=shape))


def leaf(x, requires_grad=True):
    """A leaf Node that holds a Tensor, or a copy of an array."""
    x = x if isinstance(x, Tensor) else Tensor.from_host(device.queue, x)
    return ag.tensor(x, requires_grad=requires_grad)

# %% [markdown]
# ### Go on with your own engine, if you like
#
# The tape is what you built in lesson 10. The next cell looks for your saved notebooks of lesson 10 in `work/`, tries
# what you wrote with its checks, and lets what is right run here in the place of the finished engine. It says whose
# functions stand where; without such a notebook, that there is none.

# %% demo
from autograder.notebook import mine

mine(before=11)

# %% [markdown]
# ## Layer 1: composed
#
# Nothing to do: the library has `ag.sin` and `*`. Each op becomes a Node with a `grad_fn` of its own.

# %% demo
def composed(a, b):
    return ag.sin(a) * b


draw(composed(leaf(tensor(2, 3)), leaf(tensor(2, 3))))

# %% [markdown]
# ## 1 · Count
#
# First an instrument. `device.watch()` hands you a list that grows by an entry with every kernel that is started:
#
# ```python
# with device.watch() as seen:
#     ...
# seen[0].name                # "sin_kernel"
# ```
#
# One list for the way forward, one for the way back.

# %% exercise="customop.launches" own="a measurement of an operation; nothing in the package needs it"
def launches(op, a, b, grad):
    """(forward, backward): the names of the kernels that op(a, b) starts, and those back.

    op     a function of two Nodes that gives a Node
    a, b   Tensors: leaves that both require a gradient
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
# <details><summary>Hint 3</summary>A leaf that has a gradient gets the new one added: one kernel more. So begin with
# <code>a.grad = b.grad = None</code>.</details>

# %% [markdown]
# How many kernels does sin(a) · b start forward, and how many backward, for both gradients? (Look at the picture. A product
# has two gradients: one kernel or two?)

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
# The formula first. b moves alone: out moves by sin(a) for each step of b. a moves alone: the sine moves by cos(a), and b
# makes it larger.
#
# $$\frac{\partial L}{\partial a} = \text{grad} \cdot b \cdot \cos a
# \qquad\qquad
# \frac{\partial L}{\partial b} = \text{grad} \cdot \sin a$$
#
# The sine of the second rule was computed in forward already. Here is how a tutorial on the web writes it, with `apply_op`
# from lesson 10.

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
# There is one bug in it. Which line? And what will you see: does `my_op(a, b)` work (1 or 0)? Does
# `tape.backward(out, grad)`?

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
# `grad_fn` is only stored when the op runs. Nobody has looked into it until backward calls it, perhaps a thousand lines
# later. That is why an op is not done before its backward has run once.
#
# The name means well: it wants the `sin_x` of forward. But that was a local variable, and it is gone. Two repairs:
#
# | | sines | memory |
# |---|---|---|
# | compute sin(a) once more in `grad_fn` | 2 | nothing extra |
# | keep it from forward | 1 | one more array lives until backward |
#
# Take the second. `forward` and `grad_fn` are both made inside of *this one call*, so a variable of the call is seen by
# both.

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
    >>> [x.to_host().round(2).tolist() for x in (out, a.grad, b.grad)]
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
# Right? An instrument for that, too: backward against central differences on the device, as in lesson 08.

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
# One op on the tape where there were two. How many kernels does yours start, forward and backward?

# %% predict
layer_2_guess = predict(forward=..., backward=...)

# %% demo
forward, backward = launches(sin_times, tensor(4, 5), tensor(4, 5), tensor(4, 5))
print("forward: ", forward)
print("backward:", backward)
layer_2_guess.compare(forward=len(forward), backward=len(backward))

# %% [markdown]
# No fewer than in layer 1, perhaps even more. An op on the tape is not a kernel! The library's product computes both of its
# gradients in one launch; yours needs one for each `elementwise_…`.
#
# ## 3 · Only what is needed
#
# Often one of the two is data and needs no gradient. Then half of that is work for nobody. Who needs what?
#
# ```
#                         ∂L/∂a                  ∂L/∂b
#   backward computes     cos(a), products       one product
#   and reads             a, b                   sin(a)      ◀── so who wants it kept?
# ```
#
# Every Node says it: `a.requires_grad`. In place of a gradient that nobody needs, `grad_fn` returns None.

# %% exercise="customop.needed" own="an operation of the student's own, which is the point; the package has none like it"
def sin_times_frugal(a, b):
    """As sin_times, but nothing is computed or kept that nobody needs.

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
# Now the kernels are yours as well. A first question: what comes in through the memory's door, and what goes out? Each
# kernel reads its inputs and writes its results. In units of one array of n numbers, for both gradients:
#
# ```
# composed                    reads    writes        your pair          reads          writes
# sin                         a        s             forward            a, b           out, s
# mul                         s, b     out           backward           grad, a, b, s  grad_a, grad_b
# mul_backward   grad, s, b   2 gradients
# sin_backward   gradient, a  grad_a
# ```
#
# How many arrays go through the door, composed and with your pair? How many times as fast will the pair be, if the memory
# is all that counts?

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
# b may be as large as a, or one row for all rows of a. In memory a row is just a stretch of `columns` numbers, after which
# the next row begins. So number i of a stands in column `i % columns`:
#
# ```
# i                0  1  2  3 │ 4  5  6  7 │ 8  9 …
# i % columns      0  1  2  3 │ 0  1  2  3 │ 0  1 …         columns = 4
# ```
#
# If b is as large as a, then columns is n, and i % n is i. One kernel for both.

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
# ∂L/∂a is as easy as forward. But if b was used in every row, then ∂L/∂b is a **sum** over the rows. Suppose work-item i
# says `grad_b[i % columns] += grad[i] * kept[i]`. Who else writes there at the same time? You know that race from lesson 09.
#
# So give a work-item a whole column. It walks down, and nobody else comes near its sum:
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
// Work-item j has column j; more may be started. The results are not set before.
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
# Two kernels, one `apply_op`. `start` puts a kernel of yours into the queue; it takes Tensors where the kernel has pointers.

# %% given
@lru_cache(maxsize=None)
def kernel_of(source, name, kinds):
    return Kernel(build_kernel(source, name).program, name, (), kinds)


def start(source, name, *arguments, work_items):
    """Put a kernel into the queue; nobody waits for it.

    arguments   Tensors and ints, in the kernel's order
    """
    kinds = tuple(None if isinstance(x, Tensor) else np.int32 for x in arguments)
    given = [x.buffer if isinstance(x, Tensor) else x for x in arguments]
    device.launch(kernel_of(source, name, kinds), (work_items,), None, given)


def empty_like(x):
    """A Tensor as large as x; what it holds is undefined until a kernel has written it."""
    return Tensor.from_shape(x.queue, x.shape, x.dtype)

# %% [markdown]
# Results need memory first: `empty_like(x)` makes a Tensor as large as x, with whatever the memory held.
#
# Your kernels know columns, not shapes. They are right if the shape of b is the *end* of a's shape: (5,) for (7, 5), (3, 5)
# for (2, 3, 5), or the same. NumPy would also take (7, 1) for (7, 5). The kernel would take its 7 numbers for a row of 7, and
# give rubbish without a word. So refuse it.

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
# <details><summary>Hint 1</summary>It has the form of <code>sin_times</code>: <code>saved</code>, forward, grad_fn,
# <code>apply_op</code>. A Node's Tensor is <code>a.value</code>; n is its <code>.size</code>.</details>
# <details><summary>Hint 2</summary>The end of a's shape, as long as b's: <code>a.shape[len(a.shape) - len(b.shape):]</code>.
# (With <code>[-len(b.shape):]</code> a b of shape () would be compared with all of it.)</details>
# <details><summary>Hint 3</summary>Forward: two <code>empty_like</code>, then <code>start(FORWARD, "sin_times", x, y, out,
# saved["sin"], n, columns, work_items=n)</code>. Backward starts a work-item for each column.</details>

# %% demo
print(compare_gradients(sin_times_fused, rng.normal(size=(2, 3)), rng.normal(size=3)))

# %% [markdown]
# ## What it costs
#
# Four launches have become two, and fewer arrays go through the door. So: how many times as fast is the pair as the composed
# op, forward and backward together, for 16 numbers? For a million? (0.5 means: half as fast.)

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
# Two halves. **On the left** a launch costs more than its numbers: there fewer launches win. **On the right** the numbers
# cost, and there it depends on your device: on a CPU your pair may lose, and badly! What did the library's four kernels do
# that your two did not? Look at who ran how long:

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
# Not launches, not the memory: it is the **sine** itself. One at a time, on a core that can compute 16 at once. You know the
# cure from lesson 09: lanes. Here is your pair with 16 lanes, for b as large as a.

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
# Before you wrote the kernels, you counted arrays that go through memory: 13 composed, 10 with your pair, so 1.3 times as
# fast. If memory were all, the last line would agree. Where it says more, your pair also computes less, and needs fewer
# launches; where it says less, your kernels use the device less well than the library's. (Two of the ten arrays are there
# for `kept`. Without it, backward would have to compute a sine. Try it: on your device, which is dearer?)

# %% [markdown]
# ## 7 · An op of your choice
#
# Now alone, from the formula to the kernels. Choose one:
#
# | CHOICE | out | what makes it interesting |
# |---|---|---|
# | `"swiglu"` | a · σ(a) · b | a stands there twice; the gate of today's language models (lesson 08) |
# | `"gauss"` | e^(−a²) · b | a chain inside, a product outside |
# | `"hypot"` | √(a² + b²) | backward needs the result |
# | `"lorentz"` | a / (1 + b²) | b in the denominator |
#
# With σ(a) = 1 / (1 + e⁻ᵃ). a and b are equally large; nothing is kept: backward computes again what it needs. Paper first:
# ∂L/∂a, ∂L/∂b, both beginning with grad.

# %% exercise="customop.second" own="an operation that the student chooses; the package has none like it"
CHOICE = "swiglu"  # or "gauss", "hypot", "lorentz"

SECOND_FORWARD = """
// out[i] = the formula of CHOICE, at a[i] and b[i], for n numbers; more than n work-items may run.
// The numbers may be as large as 100: what is too large for a float must not become a NaN.
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
# <details><summary>Hint 1: gauss</summary>The slope of e^u is e^u, that of u = −a² is −2a.</details>
# <details><summary>Hint 1: hypot</summary>The slope of √u is 1 / (2√u), that of u = a² + b² by a is 2a.</details>
# <details><summary>Hint 1: lorentz</summary>The slope of 1/u is −1/u², that of u = 1 + b² is 2b.</details>
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
# You have written the same sine three times: with guard, with broadcasting, with lanes. Only one line in it was *the op*. A
# library that knows just this line can write the rest. So layer 4 is: hand over the formula, as text.
#
# `register_primitive(name, forward, backward, arity)` takes two functions that write C. Here is the tutorial's first try:

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
# It registers, it compiles, it runs. What does it give for a = 0.5 and b = 100: about 48, as it should? And how many of the
# two gradients does `gradcheck` call wrong?

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
# Forward computes a · sin(a): b does not occur. Backward is the right one, of another op. Nothing fails; a network would
# just learn badly. **Each half can look right on its own. Only holding one against the other finds it.**
#
# Mended, it is one line each, and everything else comes along: lanes, broadcasting, only what is needed.

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
# Inside <code>forward</code> there are Tensors, no Nodes. <code>ag.sin</code> and <code>ag.mul</code> give Nodes, and would
# be recorded a second time. Use <code>elementwise_unary</code>, or the operators of Tensors.
#
# </details>
#
# <details><summary><code>AttributeError: 'Tensor' object has no attribute 'value'</code></summary>
#
# What forward and grad_fn are called with are Tensors; <code>.value</code> is for Nodes, as a and b are outside.
#
# </details>
#
# <details><summary><code>ValueError: grad_fn of op 'sin_times' returns 1 gradients for 2 parents</code></summary>
#
# An entry for each argument of <code>apply_op</code>, in that order; None for one that is not needed.
#
# </details>
#
# <details><summary><code>KeyError: 'sin'</code> in grad_fn</summary>
#
# forward took the way on which nothing is kept, and grad_fn reads it all the same. Both have to ask the same question.
#
# </details>
#
# <details><summary><code>LogicError: … INVALID_ARG_SIZE</code>, or <code>RuntimeError: … no __index__</code> from
# <code>start</code></summary>
#
# A Tensor stands where the kernel takes an int, or the other way round. Compare the order with the kernel's first lines.
#
# </details>
#
# <details><summary>Numbers that are different in every run, or NaN</summary>
#
# A result of <code>empty_like</code> that not every work-item has written: too few work-items, or a guard that keeps
# too many out.
#
# </details>

# %% [markdown] written="customop.explain" points=3
# ## In your own words
#
# Your pair of kernels has the fewest launches that are possible. When did that make it faster than the composed op, when not,
# and why? And name two things that the library did for you in layer 1 and that you had to do yourself in layer 3. Use numbers
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
# | `saved["sin"]` | `ctx.save_for_backward` | what the forward rule returns as residuals |
# | `a.requires_grad` in grad_fn | `ctx.needs_input_grad[0]` | `symbolic_zeros` |
# | FORWARD, BACKWARD in OpenCL C | a C++/CUDA extension, or Triton | Pallas |
# | `compare_gradients` | `torch.autograd.gradcheck` | `jax.test_util.check_grads` |
# | `register_primitive` with C expressions | `torch.cuda.jiterator` | – |
#
# The names on the left are netcl's, too: `netcl.autograd.engine.apply_op`, `netcl.ops.elementwise.elementwise_binary`,
# `netcl.autograd.compiler.register_primitive`.
#
# ## What comes next
#
# `register_primitive` needs your formula, and your derivative. But sin and · have theirs in the table already! Module 12,
# *jit*, reads `ag.sin(a) * b` itself, chains the expressions of the table, and writes the pair of kernels for you, for chains
# of any length.
