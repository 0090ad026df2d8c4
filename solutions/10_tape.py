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
# # 10 · Tape: an engine on the device
#
# Engine 3 computes on the device. An operation launches a kernel, and its result is a buffer on the device; Python does
# not read the numbers in it. Where do gradients come from, then?
#
# ```
# forward     x ──▶ sin ──▶ mul ──▶ sum ──▶ loss        each operation launches a kernel …
#                    │       │       │
# tape             [ sin ,  mul ,   sum ]               … and leaves a note
#                    │       │       │
# backward  x.grad ◀─┴───────┴───────┴───── 1           the notes, read backwards, launch more kernels
# ```
#
# A note is a `Node`: it records one operation. A <dfn>tape</dfn> is the list of the nodes of operations, in the order
# in which they were computed. (In this engine a leaf is a `Node`, too, but one without an operation. So it is not on
# the tape.) Today you write the engine that makes the notes and reads them: about fifty lines, in seven exercises. You
# know the mathematics from lesson 01. What is new are the buffers: which objects share one, and which buffer may be
# overwritten.
#
# netcl is a library for neural networks on OpenCL, with such a tape. The finished engine 3 of this course,
# `tinygrad_cl.netcl`, uses the same names, but has not the faults of netcl 0.4.4 that you will meet below. What you
# write today, except the rules in section 3, stands word for word in the three files of `tinygrad_cl/netcl/tape`. The
# rest of the finished engine is built on them.

# %% given
import contextlib
import sys
import threading
import traceback
from numbers import Real

import numpy as np

from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.netcl.core.device import INT32, manager
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import broadcast_to, cast, compute, elementwise_unary
from tinygrad_cl.netcl.ops.matmul import matmul as tensor_matmul
from tinygrad_cl.netcl.ops.primitives import get_primitive
from tinygrad_cl.netcl.ops.reduction import reduce_sum, sum_to
from tinygrad_cl.viz import draw, plot_losses, plot_memory, plot_times, seconds_per_call

device = manager.default("auto")
queue = device.queue

# %% [markdown]
# ## Tensors: arrays on the device
#
# In engine 3, a `Tensor` is an array in the device's memory. It knows its shape, its buffer and its queue, and it
# computes with `+ - * / @`. It computes no gradients. It only has a place for one, `grad`, which is None until a
# backward pass stores something there.
#
# `Tensor.from_host(queue, numbers)` copies numbers to the device, and `to_host()` copies them back into a NumPy array.
# `device.watch()` shows which kernels were launched.

# %% demo
x = Tensor.from_host(queue, [[1.0, 2.0], [-3.0, 4.0]])
with device.watch() as launches:
    y = x * x + x
print(y, "on", y.device)
print([launch.name for launch in launches])
print(y.to_host(), y.grad)

# %% [markdown]
# ## What is given: a Node
#
# A Node says which Tensor was computed, from which nodes (its parents), and how a gradient goes back. For the way back
# it has a function, `grad_fn`: from the gradient of the result, the function computes a gradient for each parent. (In
# lesson 04, `grad_fn` was the node itself. Here it is a function that the node holds.) That is all.
#
# `tensor` makes a leaf: a Node that was not computed, and has no parents.

# %% given source="tinygrad_cl.netcl.tape.node:Node[__array_ufunc__ __init__ grad shape dtype to_host created_at creation_trace __repr__] tinygrad_cl.netcl.tape.node:tensor"

# %% [markdown]
# Three small things stand around it.
#
# `state` says what a thread is doing. Each thread has its own, so that two threads can record on two tapes. You need its
# `tapes` in exercise 1. In exercise 2 one line asks for its `trace`, which is None until lesson 12. You need not read the
# rest. (In comments, a *hook* is a place where other code can step in: None means that nobody does.)

# %% given source="tinygrad_cl.netcl.tape.modes:State tinygrad_cl.netcl.tape.modes:state"

# %% [markdown]
# `as_nodes` makes Nodes of the arguments of an operation.

# %% given source="tinygrad_cl.netcl.tape.node:as_nodes tinygrad_cl.netcl.tape.node:as_node"

# %% [markdown]
# `made_at` says where in your program the operation was called. `place` finds that; section 7 prints it.

# %% given source="tinygrad_cl.netcl.tape.node:lines_of"
# In the package, the engine is known by its files. Here, by the names of its functions.
ENGINE = {"apply_op", "add", "sin", "log", "relu", "total", "matmul", "mul"}


def place():
    """Where an operation was called: (code, position in it) of the innermost frame outside of
    the engine; under detect_anomaly followed by those of all frames around it, up to the cell.
    """
    frame, found = sys._getframe(2), ()
    while frame is not None:
        name = frame.f_code.co_name
        if name not in ENGINE and not name.startswith("__"):
            found += frame.f_code, frame.f_lasti
            if not state.anomaly or name.startswith(("<module", "<cell")):
                break
        frame = frame.f_back
    return found

# %% demo
x = Tensor.from_host(queue, [1.0, 2.0])
leaf = tensor(x, requires_grad=True)
print(leaf, leaf.value is x, leaf.parents, leaf.grad_fn, leaf.grad)

# %% [markdown]
# ## 1 · A tape that is open
#
# `with Tape() as tape:` opens a tape; operations inside are listed on it. Inside there can be a second tape: a helper
# function may differentiate something of its own, while you differentiate the whole. The <dfn>innermost tape</dfn> is
# the tape that was opened last and is still open; operations are listed on that tape alone.
#
# ```
# with Tape() as outer:        state.tapes        current_tape()
#     …                        [outer]            outer
#     with Tape() as inner:    [outer, inner]     inner
#         …
#     …                        [outer]            outer again!
#                              []                 None
# ```
#
# netcl 0.4.4 forgets the outer tape when the inner one ends. What comes after it is on no tape, and there is no error.

# %% exercise="tape.nest" source="tinygrad_cl.netcl.tape.tape:Tape[__init__ __enter__ __exit__] tinygrad_cl.netcl.tape.tape:current_tape"

# %% check="tape.nest"

# %% [markdown]
# <details><summary>Hint 1</summary>What <code>__enter__</code> returns is what stands after <code>as</code>.</details>
# <details><summary>Hint 2</summary>If <code>__exit__</code> returns something true, Python suppresses the exception.
# Return nothing.</details>
# <details><summary>Hint 3</summary><code>state.tapes.append(…)</code> and <code>state.tapes.pop()</code>: the last one
# in is the first one out.</details>

# %% [markdown]
# ## 2 · An operation is recorded
#
# `record` puts a Node on a tape. (It is not the block `record()` of lesson 04.)
#
# You wrote modes in lesson 06. Here are the finished engine's. `set_grad_enabled` can be called as a switch, or used in
# a `with`.

# %% given source="tinygrad_cl.netcl.tape.modes:is_grad_enabled tinygrad_cl.netcl.tape.modes:set_grad_enabled tinygrad_cl.netcl.tape.modes:no_grad"

# %% [markdown]
# <dfn>apply_op</dfn> is the function that runs every operation: it computes the result and, if needed, records a Node.
# It gets two functions. `fn` computes the result from Tensors. `grad_fn` computes the gradients of the parents from the
# gradient of the result.
#
# ```
# apply_op(fn, grad_fn, a, 2.0, b)
#
#   fn(a.value, 2.0, b.value)  ──▶  a Tensor  ──▶  Node( value, requires_grad, parents = (a, b), grad_fn, op_name )
#   computed now                                    grad_fn is kept; backward may call it
# ```
#
# If no gradient is needed, nothing may be kept: a `grad_fn` keeps Tensors alive, and each of them takes memory of the
# device.

# %% exercise="tape.apply_op" source="tinygrad_cl.netcl.tape.tape:record tinygrad_cl.netcl.tape.tape:apply_op"

# %% check="tape.apply_op"

# %% [markdown]
# <details><summary>Hint 1</summary>The hook for lesson 12 is an <code>if</code> and a <code>return</code>, as the
# docstring says. After
# <code>nodes = as_nodes(args)</code> there are Nodes and numbers.
# <code>[x.value if isinstance(x, Node) else x for x in nodes]</code> is what fn gets.</details>
# <details><summary>Hint 2</summary>A Node that requires no gradient is a parent, too: grad_fn's list has an entry for
# each parent.</details>
# <details><summary>Hint 3</summary>Two ways out: <code>return Node(out)</code> early, or <code>return record(Node(out,
# True, parents, grad_fn, op_name, attrs), tape)</code>.</details>

# %% [markdown]
# ## 3 · A rule
#
# With `apply_op`, an operation is a few lines. Here are six. The kernels of sin, log and relu are made from one
# expression in C. `elementwise_unary` is for functions of one Tensor: in `elementwise_unary(x, "sin(v0)")`, `v0` is the
# number of x that a work-item has, and `V` its type (`float`, or a vector of floats). C has `fmax(a, b)` for the larger
# of two. `(V)(0)` is a 0 of the type V, and `c ? p : q` is Python's `p if c else q`.
#
# Look at `add`: its rule returns **the very same Tensor** for both parents. That costs nothing, but it matters in
# section 5.

# %% given
def count_nodes(*args):
    return sum(isinstance(x, Node) for x in args)


def add(a, b, tape=None):
    """a + b, of Nodes and numbers"""
    return apply_op(lambda x, y: x + y, lambda grad: [grad] * count_nodes(a, b), a, b,
                    tape=tape, op_name="add")


def sin(a, tape=None):
    """sin a, by a kernel from one C expression; its slope, cos a, is made in the same way."""
    return apply_op(lambda x: elementwise_unary(x, "sin(v0)"),
                    lambda grad: [grad * elementwise_unary(a.value, "cos(v0)")], a,
                    tape=tape, op_name="sin")


def log(a, tape=None):
    """ln a"""
    return apply_op(lambda x: elementwise_unary(x, "log(v0)"), lambda grad: [grad / a.value], a,
                    tape=tape, op_name="log")


def relu(a, tape=None):
    """max(a, 0)"""
    return apply_op(lambda x: elementwise_unary(x, "fmax(v0, (V)(0))"),
                    lambda grad: [grad * elementwise_unary(a.value, "(v0 > 0 ? (V)(1) : (V)(0))")],
                    a, tape=tape, op_name="relu")


def total(a, tape=None):
    """The sum of all numbers of a. Its gradient is the same everywhere."""
    return apply_op(reduce_sum, lambda grad: [broadcast_to(grad, a.shape)], a,
                    tape=tape, op_name="total")


def matmul(a, b, tape=None):
    """A @ B, two matrices. Each gradient is computed only if its Node requires one."""
    def grad_fn(grad):
        return [tensor_matmul(grad, b.value, transpose_b=True) if a.requires_grad else None,
                tensor_matmul(a.value, grad, transpose_a=True) if b.requires_grad else None]

    return apply_op(tensor_matmul, grad_fn, a, b, tape=tape, op_name="matmul")

# %% [markdown]
# The product is yours. Much of what is multiplied in practice requires no gradient: the input of a network, its
# targets, constants. A rule that computes a gradient for them launches a kernel, and allocates a buffer, for nothing.
#
# You need not care about shapes: where an input was broadcast, its gradient may have the shape of the result. The
# engine sums it later (`unbroadcast` in section 6).

# %% exercise="tape.mul" own="a rule by hand; the package generates the rule of its product from a C expression"
def mul(a, b, tape=None):
    """a · b, elementwise, as a Node.    ∂(a·b)/∂a = b,   ∂(a·b)/∂b = a

    a, b   Nodes or numbers, one Node at least
    tape   is passed on to apply_op; the op_name is "mul"

    Its grad_fn returns a list with an entry for each Node among a, b, in this order: the upstream
    gradient times the other factor, or None if the Node requires no gradient. Forward launches one
    kernel, grad_fn one for each gradient that is required, and none for None.

    >>> x = tensor(Tensor.from_host(queue, [1.0, 2.0]), requires_grad=True)
    >>> y = mul(x, tensor(Tensor.from_host(queue, [5.0, 7.0])))
    >>> of_x, of_y = y.grad_fn(Tensor.from_host(queue, [1.0, 10.0]))
    >>> of_x.to_host().tolist(), of_y
    ([5.0, 70.0], None)
    """
    ### BEGIN SOLUTION
    def grad_fn(grad):
        parts = []
        for mine, other in ((a, b), (b, a)):
            if isinstance(mine, Node):
                factor = other.value if isinstance(other, Node) else other
                parts.append(grad * factor if mine.requires_grad else None)
        return parts

    return apply_op(lambda x, y: x * y, grad_fn, a, b, tape=tape, op_name="mul")
    ### END SOLUTION

# %% check="tape.mul"

# %% [markdown]
# <details><summary>Hint 1</summary>Tensors multiply with <code>*</code>, also with a number:
# <code>grad * b.value</code>, <code>grad * 3.0</code>.</details>
# <details><summary>Hint 2</summary><code>grad * b</code>, with the Node, would be a new operation, and its result a
# Node. Rules return Tensors.</details>
# <details><summary>Hint 3</summary><code>3.0 * x</code>: the list has one entry, for x, and it is
# <code>grad * 3.0</code>.</details>

# %% [markdown]
# Operators are other names for these functions.

# %% given
@add_to_class(Node)
def __add__(self, other):
    return add(self, other)


@add_to_class(Node)
def __radd__(self, other):
    return add(other, self)


@add_to_class(Node)
def __sub__(self, other):
    return add(self, -1.0 * other)


@add_to_class(Node)
def __mul__(self, other):
    return mul(self, other)


@add_to_class(Node)
def __rmul__(self, other):
    return mul(other, self)


@add_to_class(Node)
def __matmul__(self, other):
    return matmul(self, other)

# %% [markdown]
# ### Predict, then run: who is on the tape?
#
# Read the program below, but do not run it yet. Its operations start from `w`, which requires a gradient, and `c`,
# which does not.
#
# - How many nodes do `outer` and `inner` list?
# - `on_no_tape`: `loose` is a result that is on no tape. Does it still have a `grad_fn` (1 or 0)?
# - `after_an_error`: after the block that ends with an exception, count 1 if recording is on, and 1 for every tape that
#   is still open.

# %% predict
listed_guess = predict(outer=..., inner=..., on_no_tape=..., after_an_error=...)

# %% demo
w = tensor(Tensor.from_host(queue, [1.0, 2.0]), requires_grad=True)
c = tensor(Tensor.from_host(queue, [3.0, 4.0]))
with Tape() as outer:
    a = w * c
    b = c * c
    with Tape() as inner:
        sin(a)
        with no_grad():
            sin(w)
    sin(a) + b
loose = w * 2.0  # the tapes are closed
try:
    with Tape() as third, no_grad():
        raise ValueError("on the way")
except ValueError:
    after = int(is_grad_enabled()) + len(state.tapes)
listed_guess.compare(outer=len(outer.nodes), inner=len(inner.nodes),
                     on_no_tape=loose.grad_fn is not None, after_an_error=after)
print("outer:", outer.nodes)

# %% [markdown]
# (`after_an_error` is 1: recording is on again, and no tape was left open.)
#
# Be careful: `set_grad_enabled(False)` without a `with` stays in force until it is changed. After a notebook cell that
# does this, no later cell records anything. If gradients are missing, ask `is_grad_enabled()` first.

# %% [markdown]
# ## 4 · Backwards: in which order?
#
# The tape lists nodes as they were computed, so parents come before their children, the nodes computed from them. Can
# backward go through
# `reversed(tape.nodes)`, without sorting? Here are two programs to think about:
#
# ```
# with Tape() as tape:                        with Tape() as tape:
#     for picture in pictures:                    with Tape() as inner:
#         prediction = model(picture)                 h = sin(x)          on the inner tape
#         loss = error(prediction)                loss = total(h * x)     on the outer one
# tape.backward(loss)     # the last one      tape.backward(loss)
# ```
#
# On the left, most of the tape has nothing to do with this loss. On the right, a part of the way from x to the loss is
# not on the tape. The graph is in the nodes, in their `parents`. The tape is only a list of what was computed. So we
# sort the nodes below the loss, as in lesson 01.
#
# An example: x requires a gradient, y = sin(x), z = y · y. The order of z is [x, y, z]. The root (here z) is always in
# the order, even if it requires no gradient. Of the nodes below it, only those that require a gradient are in the
# order.

# %% exercise="tape.order" source="tinygrad_cl.netcl.tape.tape:topological_order"

# %% check="tape.order"

# %% [markdown]
# <details><summary>Hint 1</summary>Python's recursion ends at about 1,000 nodes. A list of your own,
# <code>stack</code>, has no such limit.</details>
# <details><summary>Hint 2</summary>A node is met twice: on the way down (put its parents on the stack), and on the way
# up (put it into the order). A pair <code>(node, done)</code> on the stack tells which.</details>
# <details><summary>Hint 3</summary><code>if done: order.append(node)</code>, else, if it was not visited:
# <code>stack.append((node, True))</code> and then its parents with False.</details>

# %% demo
x = tensor(Tensor.from_host(queue, np.ones(4)), requires_grad=True)
with Tape() as tape:
    for picture in range(100):
        loss = total(sin(x * float(picture)))
order = topological_order(loss)
print(len(tape.nodes), "nodes on the tape; on the way to this loss:", [n.op_name for n in order])

# %% [markdown]
# ## 5 · Two gradients for one node
#
# If several operations use a node, it gets several gradients, which are added up. On a device, an addition is a launch,
# and its result is a new buffer. To *add in place* is to add into a buffer that exists already, without making a
# new one; that saves memory.
#
# But remember what the rule of `add` returns:
#
# ```
#                        ┌──▶ x      x is used in two other places, too: 10·g and 100·g also arrive at x
#   s = x + y,   g ──────┤
#                        └──▶ y      one gradient, in the buffer of g
# ```
#
# ### Predict, then run
#
# g is 1. What is the right gradient for x, and for y? And what are they if every gradient after the first is added in
# place?

# %% predict
share_guess = predict(x=..., y=..., x_in_place=..., y_in_place=...)

# %% given source="tinygrad_cl.netcl.tape.tape:add_into"

# %% demo
g = Tensor.from_host(queue, 1.0)
gradients = {"y": g, "x": g}  # what the rule of add returns
for part in (10 * g, 100 * g):
    add_into(gradients["x"], part)
share_guess.compare(x=1 + 10 + 100, y=1, x_in_place=gradients["x"].to_host(),
                    y_in_place=gradients["y"].to_host())

# %% [markdown]
# The gradient of y is wrong, although nothing was added at y. This fault is hard to find: it needs a node that is used
# twice, and an operation that hands its gradient on as it is. The residual connection of lesson 06, `h + tanh(h @ W)`,
# has both: h is used twice, and + hands its gradient on.
#
# Copying each gradient when it arrives would be safe, but expensive. There is a better way. A sum that **we** made has
# a new buffer, which nothing else uses:
#
# | arrives | do | costs |
# |---|---|---|
# | first | keep the Tensor as it is | nothing |
# | second | a new Tensor, the sum; note that it is ours | a launch, a buffer |
# | third and later | add into our sum | a launch |

# %% exercise="tape.accumulate" source="tinygrad_cl.netcl.tape.tape:accumulate"

# %% check="tape.accumulate"

# %% [markdown]
# <details><summary>Hint 1</summary>Three cases: if, elif, else. How do you tell the second part from the
# third?</details>
# <details><summary>Hint 2</summary><code>gradients[node] + part</code> is a new Tensor; so is what <code>+=</code>
# gives. Only <code>add_into</code> writes into the old one.</details>

# %% [markdown]
# ## 6 · backward
#
# Four functions are given.
#
# - `seed_gradient` returns the gradient to start with. The <dfn>seed</dfn> is the gradient with which backward starts: 1
#   if the loss is a single number, else what the caller passes. (It has nothing to do with the seed of random numbers.)
# - `unbroadcast` sums over what broadcasting repeated, as in lesson 03.
# - `parts_of` calls the `grad_fn` of a node and returns its list. It can also look for bad numbers in it (section 7).
# - `leave` stores a gradient on a leaf, or adds it to the `grad` that is there. A leaf keeps its `grad`, so nobody else
#   may use that buffer. But the rule of `add` returns one Tensor for two parents, and both may be leaves. And the seed
#   may belong to the caller. So the set `held` has the ids of the buffers that are given away already. Is the
#   gradient's buffer in it? Then the leaf gets a copy. If not, the leaf takes it, and its id goes into `held`.
#
# (Two threads may share a leaf. A lock lets only one of them at a time change its `grad`.)

# %% given source="tinygrad_cl.netcl.tape.tape:seed_gradient tinygrad_cl.netcl.tape.tape:unbroadcast tinygrad_cl.netcl.tape.tape:parts_of tinygrad_cl.netcl.tape.tape:accumulating tinygrad_cl.netcl.tape.tape:leave"

# %% [markdown]
# Put it together:
#
# ```
# start with {loss: seed}; the seed's buffer is held
# for each node, children before parents:
#     take its gradient out of the dict; is there none? go on with the next node
#     a leaf?   leave the gradient there
#     else      hand the parts on: accumulate at each parent that requires a gradient
# ```
#
# Leaves accumulate gradients over several calls, until their `grad` is set to None: that is PyTorch's convention, and
# optimizers rely on it. An *intermediate node* is a node that a recorded operation computed; the loss is one, too. The
# gradients of intermediate nodes belong to one call. In netcl 0.4.4 these nodes keep their gradients, so a second
# `backward` on one tape gives too much. To look at the gradients of intermediate nodes, open a
# `Tape(retain_grads=True)`. <dfn>retain_grads</dfn> is an option of a tape: backward also stores a copy of each
# intermediate node's gradient.

# %% exercise="tape.backward" source="tinygrad_cl.netcl.tape.tape:Tape.backward"

# %% check="tape.backward"

# %% [markdown]
# <details><summary>Hint 1</summary>Start: <code>seed = seed_gradient(loss, grad)</code>, <code>gradients = {loss:
# seed}</code>, <code>ours = set()</code>, <code>held = {id(seed.buffer)}</code>, and <code>for node in
# reversed(topological_order(loss)):</code></details>
# <details><summary>Hint 2</summary><code>gradients.pop(node, None)</code> takes it out, and gives None if there is
# none.</details>
# <details><summary>Hint 3</summary><code>zip(node.parents, parts_of(node, gradient))</code> pairs each parent with its
# part.</details>
# <details><summary>Hint 4</summary>A leaf has no <code>grad_fn</code>: <code>leave(node, gradient, held)</code>, and on
# to the next node.</details>

# %% [markdown]
# ### Predict, then run
#
# ```python
# y = relu(x)                      # x holds 1, 2, −3 and 4
# z = (y * 2.0) + 1.0
# loss = total(z)
# ```
#
# How many nodes are on the tape? How many parents does the product have? What is the gradient of x where x is −3, and
# where x is 4?

# %% predict
first_guess = predict(nodes=..., parents_of_the_product=..., at_minus_3=..., at_4=...)

# %% demo
x = tensor(Tensor.from_host(queue, [[1.0, 2.0], [-3.0, 4.0]]), requires_grad=True)
with Tape() as tape:
    y = relu(x)
    z = (y * 2.0) + 1.0
    loss = total(z)
tape.backward(loss)
gradient = x.grad.to_host()
first_guess.compare(nodes=len(tape.nodes), parents_of_the_product=len(tape.nodes[1].parents),
                    at_minus_3=gradient[1, 0], at_4=gradient[1, 1])
for node in tape.nodes:
    print(node.op_name, [parent.op_name for parent in node.parents], node.requires_grad)
draw(tape)

# %% [markdown]
# Leaves are not on the tape: no operation computed them. Numbers such as 2.0 are no parents.
#
# Now the sum of sin(a) · b + a, on your engine. The picture shows the gradients of the leaves.

# %% demo
a = tensor(Tensor.from_host(queue, [0.5, -1.0, 2.0]), requires_grad=True)
b = tensor(Tensor.from_host(queue, [3.0, 4.0, -5.0]), requires_grad=True)
a.label, b.label = "a", "b"
with Tape() as tape:
    loss = total(sin(a) * b + a)
tape.backward(loss)
draw(loss)

# %% [markdown]
# Is it right? Compare with central differences: move each input a little up and a little down, compute the loss both
# times **on the device**, and divide the difference by the distance. That uses no rule. `gradcheck` does this and
# compares the result with your gradients.

# %% demo
from tinygrad_cl.gradcheck import gradcheck

real = "float64" if device.has(np.dtype(np.float64)) else "float32"


def by_wiggling(program):
    @no_grad()
    def f(*arrays):
        return program(*[tensor(Tensor.from_host(queue, x, real)) for x in arrays]).to_host()

    return f


def by_the_tape(program):
    def gradient(upstream, *arrays):
        leaves = [tensor(Tensor.from_host(queue, x, real), requires_grad=True) for x in arrays]
        with Tape() as tape:
            out = program(*leaves)
        tape.backward(out, upstream)
        return [leaf.grad.to_host() for leaf in leaves]

    return gradient


rng = np.random.default_rng(10)
matrix, twin, row = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(1, 3))
right = rng.normal(size=(3, 4))
programs = {
    "a · b": (lambda a, b: a * b, [matrix, twin]),
    "a · row": (lambda a, b: a * b, [matrix, row]),
    "sin a": (sin, [matrix]),
    "ln a²": (lambda a: log(a * a), [matrix]),
    "relu a": (relu, [matrix]),
    "sum": (total, [matrix]),
    "a @ b": (matmul, [matrix, right]),
    "sin(a) · b + a": (lambda a, b: sin(a) * b + a, [matrix, twin]),
    "(a + row)·a − row": (lambda a, b: (a + b) * a - b, [matrix, row]),
}
for name, (program, inputs) in programs.items():
    report = gradcheck(by_wiggling(program), by_the_tape(program), inputs)
    print(f"{name:20} {'right' if report else 'WRONG'}, "
          f"off by {max(worst.error for worst in report.inputs):.0e}")

# %% [markdown]
# ### Predict, then run: again and again
#
# y = x³ at x = 2, so the gradient is 12. Call `backward` once, twice, three times on the same tape. Then set `x.grad =
# None` and call it once more.

# %% predict
again_guess = predict(once=..., twice=..., three_times=..., after_none=...)

# %% demo
x = tensor(Tensor.from_host(queue, 2.0), requires_grad=True)
with Tape() as tape:
    y = x * x * x
seen = []
for call in range(4):
    if call == 3:
        x.grad = None
    tape.backward(y)
    seen.append(x.grad.to_host())
again_guess.compare(once=seen[0], twice=seen[1], three_times=seen[2], after_none=seen[3])

# %% [markdown]
# ## 7 · Where does the NaN come from?
#
# A NaN in a gradient spreads: everything that is multiplied by it, and everything it is added to, is NaN as well. When
# you look at the leaves, many of them are NaN. The question is which operation returned a NaN **first**.
#
# <dfn>detect_anomaly</dfn> is a mode in which backward stops at the first gradient with NaN or Inf and names the
# operation. It looks at what each rule returns. That is slow, since every gradient is copied from the device. The node
# knows the name of its operation, and the line that called it.

# %% given source="tinygrad_cl.netcl.tape.modes:detect_anomaly tinygrad_cl.netcl.tape.modes:set_detect_anomaly"

# %% exercise="tape.anomaly" source="tinygrad_cl.netcl.tape.tape:look_for_anomaly"

# %% check="tape.anomaly"

# %% [markdown]
# <details><summary>Hint 1</summary><code>part.to_host()</code> is an array; <code>np.isfinite</code> is False for NaN,
# Inf and −Inf.</details>
# <details><summary>Hint 2</summary><code>enumerate(parts)</code> numbers them. Skip None.</details>
# <details><summary>Hint 3</summary><code>f"… of op {node.op_name!r} …"</code>: <code>!r</code> brings the quotes. At
# the end, <code>"".join(node.creation_trace)</code>.</details>

# %% [markdown]
# The next cell has a loss with a trap. The *entropy* of some probabilities p is −Σ p · ln p. One of our probabilities
# is 0, so the loss contains 0 · ln 0. Does the factor 0 make this product 0? The cell runs backward first without
# detect_anomaly, then with it.

# %% demo
def entropy(p):
    return total(p * log(p)) * -1.0


p = tensor(Tensor.from_host(queue, [0.5, 0.0, 0.5]), requires_grad=True)
with Tape() as tape:
    loss = entropy(p)
tape.backward(loss)
print("loss:", loss.to_host(), "  gradient:", p.grad.to_host())
try:
    with detect_anomaly():
        tape.backward(loss)
except RuntimeError as error:
    print(error)

# %% [markdown]
# If the mode is on during `backward`, the message names the line. A node's <dfn>creation trace</dfn> is the list of the
# program's lines that led to it. If the mode is on during the forward pass, too, the node keeps all of these lines, and
# you see which call of `entropy` it was.

# %% demo
def loss_of(p):
    return entropy(p) * 0.1


try:
    with detect_anomaly(), Tape() as tape:
        tape.backward(loss_of(p))
except RuntimeError as error:
    print(error, end="\n\n")
print("the first node's creation trace:\n" + "".join(tape.nodes[0].creation_trace))

# %% [markdown]
# <dfn>debug_tape</dfn> prints a line for each operation in its block, with the range of the result's numbers. So it
# shows where the first NaN was **computed**. In this program that is in the forward pass, before any gradient.

# %% given source="tinygrad_cl.netcl.autograd.debug:debug_tape tinygrad_cl.netcl.autograd.debug:describe tinygrad_cl.netcl.autograd.debug:span"

# %% demo
with Tape() as tape:
    scaled = p * 2.0
    with debug_tape() as t:
        loss = entropy(p)
    scaled + loss
print(f"\n{len(t.nodes)} nodes on the tape in all")

# %% [markdown]
# ### Predict, then run: what does it not find?
#
# Some tutorials say that `detect_anomaly` compares a rule with finite differences. Here is a cosine whose rule has the
# wrong sign. Does detect_anomaly notice it (1 or 0)? Does gradcheck (1 or 0)?

# %% predict
wrong_guess = predict(detect_anomaly=..., gradcheck=...)

# %% demo
def wrong_cos(a):
    return apply_op(lambda x: elementwise_unary(x, "cos(v0)"),
                    lambda grad: [grad * elementwise_unary(a.value, "sin(v0)")], a, op_name="cos")


found = 0
try:
    with detect_anomaly():
        by_the_tape(wrong_cos)(np.ones((2, 3)), matrix)
except RuntimeError:
    found = 1
wrong = gradcheck(by_wiggling(wrong_cos), by_the_tape(wrong_cos), [matrix])
wrong_guess.compare(detect_anomaly=found, gradcheck=not wrong)

# %% [markdown]
# `detect_anomaly` looks only for NaN and Inf. Whether a number is right, it cannot say: for that, the number must be
# computed in a second way, as gradcheck does.

# %% [markdown]
# ## What it costs
#
# **Launches.** Take a network of two layers. How many launches does backward save if the input x requires no gradient?
# And how many does the forward pass save?

# %% predict
launch_guess = predict(saved_backward=..., saved_forward=...)

# %% demo
def launches_of(function):
    """The result, and how many kernels were launched."""
    with device.watch() as launches:
        result = function()
    return result, len(launches)


def leaf(*shape, requires_grad=True, scale=1.0):
    numbers = scale * np.random.default_rng(sum(shape)).normal(size=shape)
    return tensor(Tensor.from_host(queue, numbers), requires_grad=requires_grad)


counted = {}
for requires_grad in (True, False):
    x = leaf(32, 8, requires_grad=requires_grad)
    w1, b1, w2 = leaf(8, 16), leaf(1, 16), leaf(16, 3)
    with Tape() as tape:
        out, forward = launches_of(lambda: relu(x @ w1 + b1) @ w2)
    _, back = launches_of(lambda: tape.backward(out, np.ones(out.shape)))
    counted[requires_grad] = forward, back
    print(f"x requires a gradient: {requires_grad!s:5}   forward {forward}, backward {back}")
launch_guess.compare(saved_backward=counted[True][1] - counted[False][1],
                     saved_forward=counted[True][0] - counted[False][0])

# %% [markdown]
# **Memory.** Take forty sines, one after the other, each of 256 KiB (of 1024 bytes). The tape holds a Node for each
# sine. The Node holds its rule, and the rule holds the Tensor whose cosine it will need. How much memory is in use
# after each operation, recorded and under no_grad? Sketch the two curves before you run the cell.

# %% demo
def bytes_in_use(record, depth=40):
    before, used = device.pool.used_bytes(), []
    x = tensor(Tensor.from_host(queue, np.ones((256, 256))), requires_grad=True)
    with Tape(), set_grad_enabled(record):
        for _ in range(depth):
            x = sin(x)
            used.append(device.pool.used_bytes() - before)
    return used


plot_memory({"recorded": bytes_in_use(True), "no_grad": bytes_in_use(False)},
            "40 sines of 256 KiB each")

# %% [markdown]
# **Time.** We take only 64 numbers, so that the computing itself takes almost no time: what remains is the fixed cost
# of an operation. The cell runs the same chain of sines with Tensors alone, with Nodes under no_grad, recorded, and
# recorded with backward.

# %% demo
small = Tensor.from_host(queue, np.linspace(-1, 1, 64))


def bare(depth):
    x = small
    for _ in range(depth):
        x = elementwise_unary(x, "sin(v0)")
    x.to_host()


def chain(depth, backward=False):
    x = tensor(small, requires_grad=True)
    with Tape() as tape:
        for _ in range(depth):
            x = sin(x)
    if backward:
        tape.backward(x, small)
    x.to_host()


depths = [1, 10, 100, 300]
kinds = {"Tensors": bare, "no_grad": no_grad()(chain), "recorded": chain,
         "recorded, backward": lambda depth: chain(depth, backward=True)}


def least_seconds(function, calls=6):
    """The shortest of several calls: other programs on this computer only add to it."""
    return min(seconds_per_call(function, budget=0) for _ in range(calls))


measured = {name: [least_seconds(lambda: run(depth)) for depth in depths]
            for name, run in kinds.items()}
for name, seconds in measured.items():
    print(f"{name:20} {1e6 * seconds[-1] / depths[-1]:6.1f} µs per sine")
plot = plot_times(depths, measured, "A chain of sines", "operations")
plot.axes.legend(loc="upper left")
plot

# %% [markdown]
# Look for two things. How much does recording add, from no_grad to recorded? And how much does backward add? It
# launches two kernels for each sine, the cosine and the product. Those two could be one kernel. In fact the whole chain
# could be one: that is lesson 12.

# %% [markdown]
# ## All of it at once
#
# A network with one hidden layer learns a curve. Each step is: forward on a new tape, backward, and a change of the
# weights.

# %% demo
points = np.linspace(-2, 2, 64).reshape(-1, 1)
x = tensor(Tensor.from_host(queue, points))
y = tensor(Tensor.from_host(queue, np.abs(points) - np.exp(-points)))
weights = [leaf(1, 24, scale=2.0), leaf(1, 24), leaf(24, 1, scale=0.2), leaf(1, 1, scale=0.0)]


def mean_error(w1, b1, w2, b2):
    error = sin(x @ w1 + b1) @ w2 + b2 - y
    return total(error * error) * (1 / len(points))


losses = []
for step in range(150):
    with Tape() as tape:
        loss = mean_error(*weights)
    tape.backward(loss)
    for weight in weights:
        add_into(weight.value, weight.grad * -0.03)
        weight.grad = None
    losses.append(loss.to_host())
plot_losses({"your engine": losses}, "It learns")

# %% [markdown]
# `add_into(weight.value, …)` changes the buffer that the Node wraps. No Node is made, nothing is recorded, and the next
# forward pass sees the new numbers. An optimizer does the same.

# %% [markdown]
# ## Messages you may meet
#
# <details><summary><code>ValueError: Node(…) requires no gradient: no leaf it was computed from does, or it was computed inside
# no_grad</code></summary>
#
# <code>tensor(x)</code> requires none unless you say <code>requires_grad=True</code>, or x itself does. Or recording is
# off: ask <code>is_grad_enabled()</code>.
#
# </details>
#
# <details><summary><code>ValueError: backward from shape (2, 3) needs the gradient of each number: pass grad, or sum
# first</code></summary>
#
# The loss is not one number. <code>total(loss)</code>, or <code>tape.backward(out, grad)</code> with an array of that
# shape.
#
# </details>
#
# <details><summary><code>AttributeError: 'NoneType' object has no attribute 'nodes'</code> (or <code>append</code>)</summary>
#
# Either <code>tape</code> is None after <code>with Tape() as tape:</code>, because <code>__enter__</code> returns
# nothing. Or no tape is open, and <code>apply_op</code> tries to put the node on it.
#
# </details>
#
# <details><summary><code>AttributeError: 'NoneType' object has no attribute 'to_host'</code> at
# <code>x.grad.to_host()</code></summary>
#
# x got no gradient: it requires none, or the loss was not computed from it. (<code>x.grad</code> is stored on the
# Tensor: it is <code>x.value.grad</code>.)
#
# </details>
#
# <details><summary><code>AttributeError: 'Node' object has no attribute 'spec'</code> in <code>unbroadcast</code></summary>
#
# A rule returned a Node. Inside <code>fn</code> and <code>grad_fn</code>, everything is a Tensor: <code>grad *
# b.value</code>, not <code>grad * b</code>, which is an operation of its own.
#
# </details>
#
# <details><summary><code>NameError</code> or <code>AttributeError</code> in a rule, although forward ran</summary>
#
# A rule is called by backward, long after forward ran. So a misprint in the rule shows only then. What the rule needs
# from the forward pass must be a variable of the function around it. (Python keeps such variables for the inner
# function; that is its <em>closure</em>.)
#
# </details>
#
# <details><summary><code>TypeError: object of type 'NoneType' has no len()</code> in <code>parts_of</code></summary>
#
# A <code>grad_fn</code> returned nothing. It returns a list, with an entry for each parent.
#
# </details>
#
# <details><summary><code>ValueError: grad_fn of op 'mul' returns 2 gradients for 1 parents; …</code></summary>
#
# One entry for each <em>Node</em> among the arguments: a number is no parent.
#
# </details>
#
# <details><summary><code>TypeError: the function of op 'mul' returns a Tensor, not Node</code></summary>
#
# <code>fn</code> computes with the values that it gets: <code>lambda x, y: x * y</code>. With the Nodes, <code>a *
# b</code>, it would be an operation inside an operation.
#
# </details>

# %% [markdown] written="tape.explain" points=3
# ## In your own words
#
# Why may backward not add in place when the *second* gradient arrives at a node, and why is it safe from the third on? Give a
# program of at most three operations for which adding in place at once gives a wrong gradient, and say which number comes
# out, and which is right.
#
# <!-- BEGIN SOLUTION -->
# The first gradient was kept as the rule returned it, and somebody else may hold the same buffer: the rule of `add` hands one
# Tensor to both parents. Adding into it changes the other's gradient as well. The second gradient makes a sum in a new buffer that
# only backward knows, so the third can go into it.
#
# For example `s = x + y; loss = s + x`: loss hands g = 1 to s and to x, in one buffer. Then s hands its gradient on to x and to y, the
# same buffer again. Adding at x in place makes it 2 for everybody who holds it: y gets 2 where 1 is right. (x gets 2, which
# is right.)
#
# **How it is marked**
#
# - 1 point: another node (or the caller) may hold the buffer of the first gradient.
# - 1 point: the sum lies in a new buffer that nobody else has.
# - 1 point: a program in which a buffer is shared, with the wrong and the right number.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# | here | netcl, `tinygrad_cl.netcl` | PyTorch | JAX, TensorFlow |
# |---|---|---|---|
# | `with Tape() as tape:` | the same | none: each tensor refers to its node, and there is no list | TensorFlow: `tf.GradientTape()` |
# | `tape.backward(loss, grad)` | the same | `loss.backward(grad)` | `jax.vjp(f, *x)[1](grad)` |
# | `apply_op(fn, grad_fn, …)` | the same | `torch.autograd.Function` | `jax.custom_vjp` |
# | `tensor(x, requires_grad=True)` | `ag.tensor(…)` | `x.requires_grad_()` | an argument of `jax.grad` |
# | `no_grad`, `set_grad_enabled` | the same | the same | TensorFlow: `tape.stop_recording()` |
# | `detect_anomaly`, `creation_trace` | the same | `torch.autograd.detect_anomaly` | `jax.config.update("jax_debug_nans", True)` |
# | `describe`, `debug_tape` | `debug_tape` (0.4.4 only hands the tape back) | torchviz | `jax.make_jaxpr` |
# | `node.parents`, `node.grad_fn` | the same | `grad_fn.next_functions` | a *jaxpr*, JAX's list of recorded operations |
# | adding into our own sum | in place where the buffer is its own | steals the buffer if nobody else holds it | the compiler decides |
#
# In netcl, a function is imported from the module in which it stands: `from netcl.autograd.engine import apply_op`. You
# know two faults of netcl 0.4.4 now: it forgets the outer tape, and a second backward on one tape gives too much.

# %% [markdown]
# ## What comes next
#
# `sin(a) * b` is two nodes, and backward launches a kernel for every single step of its rules. In lesson 11 you write
# it as one operation of your own: first with the library's kernels and a saved sine, then with one hand-written kernel
# forward and one backward.
#
# You can go on with what you wrote: lessons 11, 12 and 13 have a cell near the top that lets them run on your tape.
