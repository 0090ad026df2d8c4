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
# Engine 3 computes on the device. An operation is a kernel that is launched, and its result is a buffer that Python never
# looks into. Where do gradients come from, then?
#
# ```
# forward     x ──▶ sin ──▶ mul ──▶ sum ──▶ loss        each operation launches a kernel …
#                    │       │       │
# tape             [ sin ,  mul ,   sum ]               … and leaves a note
#                    │       │       │
# backward  x.grad ◀─┴───────┴───────┴───── 1           the notes, read backwards, launch more kernels
# ```
#
# A note is a `Node`, the list is a `Tape`. Today you write the engine that makes the notes and reads them: about fifty
# lines, in seven exercises. You know the mathematics from lesson 01. New are the buffers: who owns which, and what may be
# overwritten.
#
# All of it but the rules in section 3 is the ground floor of `tinygrad_cl.netcl`, word for word: the three files of
# `tinygrad_cl/netcl/tape`. What the finished engine has besides, stands on them.

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
# ## Tensors: numbers without a memory
#
# A `Tensor` lies on the device. It knows its shape, its buffer and its queue, and it computes with `+ - * / @`. Of
# gradients it knows nothing. `device.watch()` shows which kernels were launched.

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
# A note says which Tensor was computed, from which nodes, and how a gradient goes back. The last one is a function,
# `grad_fn`. That is all.
#
# (Skim the rest. A thread has a `state`, so that two threads can record on two tapes; `trace` and `leaves` are hooks, which
# nobody uses before lesson 12. A Node also notes where it was asked for, `made_at`: a code object and a position in it cost
# next to nothing, and become a line of text only when somebody wants to read it.)

# %% given source="tinygrad_cl.netcl.tape.modes:State tinygrad_cl.netcl.tape.modes:state tinygrad_cl.netcl.tape.node:Node[__array_ufunc__ __init__ grad shape dtype to_host created_at creation_trace __repr__] tinygrad_cl.netcl.tape.node:lines_of tinygrad_cl.netcl.tape.node:tensor tinygrad_cl.netcl.tape.node:as_nodes tinygrad_cl.netcl.tape.node:as_node"
# In the package, the engine is known by its files. Here, by the names of its functions.
ENGINE = {"apply_op", "add", "sin", "log", "relu", "total", "matmul", "mul"}


def place():
    """Where an operation was asked for: (code, position in it) of the innermost frame outside of
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
# `with Tape() as tape:` opens a tape; operations inside are listed on it. There can be a second one inside: a helper
# function that differentiates something of its own, while you differentiate the whole. Then the **innermost** tape lists.
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
# netcl 0.4.4 forgets the outer tape when the inner one ends. What comes after it is on no tape, and nobody complains.

# %% exercise="tape.nest" source="tinygrad_cl.netcl.tape.tape:Tape[__init__ __enter__ __exit__] tinygrad_cl.netcl.tape.tape:current_tape"

# %% check="tape.nest"

# %% [markdown]
# <details><summary>Hint 1</summary>What <code>__enter__</code> returns is what stands after <code>as</code>.</details>
# <details><summary>Hint 2</summary>If <code>__exit__</code> returns something true, errors are swallowed. Return
# nothing.</details>
# <details><summary>Hint 3</summary><code>state.tapes.append(…)</code> and <code>state.tapes.pop()</code>: the last one in is
# the first one out.</details>

# %% [markdown]
# ## 2 · The moment that is noted
#
# You wrote modes in lesson 06. Here are the finished engine's: `set_grad_enabled` is a switch, and a block in a `with`.

# %% given source="tinygrad_cl.netcl.tape.modes:is_grad_enabled tinygrad_cl.netcl.tape.modes:set_grad_enabled tinygrad_cl.netcl.tape.modes:no_grad"

# %% [markdown]
# Every operation goes through one door, `apply_op`. It gets two functions: `fn` computes the result from Tensors,
# `grad_fn` turns the gradient of the result into those of the parents.
#
# ```
# apply_op(fn, grad_fn, a, 2.0, b)
#
#   fn(a.value, 2.0, b.value)  ──▶  a Tensor  ──▶  Node( value, requires_grad, parents = (a, b), grad_fn, op_name )
#   computed now                                    kept, called perhaps, by backward
# ```
#
# Where nobody wants a gradient, nothing may be kept: `grad_fn` holds on to Tensors, and each of them is device memory.

# %% exercise="tape.apply_op" source="tinygrad_cl.netcl.tape.tape:record tinygrad_cl.netcl.tape.tape:apply_op"

# %% check="tape.apply_op"

# %% [markdown]
# <details><summary>Hint 1</summary>The hook is an <code>if</code> and a <code>return</code>, as the text says it. After
# <code>nodes = as_nodes(args)</code> there are Nodes and numbers.
# <code>[x.value if isinstance(x, Node) else x for x in nodes]</code> is what fn gets.</details>
# <details><summary>Hint 2</summary>A parent that requires no gradient is a parent all the same: grad_fn's list has an entry
# for each.</details>
# <details><summary>Hint 3</summary>Two ways out: <code>return Node(out)</code> early, or <code>return record(Node(out, True,
# parents, grad_fn, op_name, attrs), tape)</code>.</details>

# %% [markdown]
# ## 3 · A rule
#
# With `apply_op`, an operation is a few lines. Here are six. Their kernels are made from one expression in C: in
# `elementwise_unary(x, "sin(v0)")`, `v0` is the number of x that a work-item has, and `V` its type (`float`, or a vector of
# floats). C has `fmax(a, b)` for the larger of two, and `(V)(0)` is a 0 of that type.
#
# Look at `add`: its rule hands **the very same Tensor** to both
# parents. Costs nothing. Remember it.

# %% given
def count_nodes(*args):
    return sum(isinstance(x, Node) for x in args)


def add(a, b, tape=None):
    """a + b"""
    return apply_op(lambda x, y: x + y, lambda grad: [grad] * count_nodes(a, b), a, b,
                    tape=tape, op_name="add")


def sin(a, tape=None):
    """sin a, by a kernel from one C expression; so is its slope, cos a."""
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
    """A @ B, two matrices. Each half of the rule is computed only for whom it is needed."""
    def grad_fn(grad):
        return [tensor_matmul(grad, b.value, transpose_b=True) if a.requires_grad else None,
                tensor_matmul(a.value, grad, transpose_a=True) if b.requires_grad else None]

    return apply_op(tensor_matmul, grad_fn, a, b, tape=tape, op_name="matmul")

# %% [markdown]
# The product is yours. The input of a network, its targets, constants: most of what is multiplied in practice requires no
# gradient. A rule that computes one all the same launches a kernel, and allocates a buffer, that nobody asked for.
#
# Shapes need no care here: a gradient may have the shape of the result where an input was broadcast. The engine sums it up
# later, once for all rules.

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
# <details><summary>Hint 2</summary><code>grad * b</code>, with the Node, would be a new operation, and its result a Node. Rules return
# Tensors.</details>
# <details><summary>Hint 3</summary><code>3.0 * x</code>: the list has one entry, for x, and it is
# <code>grad * 3.0</code>.</details>

# %% [markdown]
# Operators are other names for these functions. (In the package they go through a hook, `define_operators`: its operations
# stand a floor above.)

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
# Six operations on `w`, which requires a gradient, and `c`, which does not. How many nodes does each tape list, and does a
# result that is on no tape at all still know its way back (1 or 0)?

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
# (`after_an_error` adds up: 1 for recording that is on again, and one for every tape that was left open.)
#
# `set_grad_enabled(False)` without a `with` holds until somebody changes it. A notebook cell that does this and ends makes
# all later cells record nothing. If gradients are missing, ask `is_grad_enabled()` first.
#
# ## 4 · Backwards: in which order?
#
# The tape lists nodes as they were computed, so parents come before children. Then backward is `reversed(tape.nodes)`, and no
# sorting is needed? Two programs to think about:
#
# ```
# with Tape() as tape:                        with Tape() as tape:
#     for picture in pictures:                    with Tape() as inner:
#         prediction = model(picture)                 h = sin(x)          on the inner tape
#         loss = error(prediction)                loss = total(h * x)     on the outer one
# tape.backward(loss)     # the last one      tape.backward(loss)
# ```
#
# On the left, most of the tape has nothing to do with this loss. On the right, a part of the way is not on the tape. The
# graph is in the nodes, in their `parents`. The tape is only a list of what happened. So we sort, from the loss on.
#
# An example: x requires a gradient, y = sin(x), z = y · y. The order of z is [x, y, z]. The root itself is always in it, also
# if it requires no gradient; of the nodes below it, those that require one.

# %% exercise="tape.order" source="tinygrad_cl.netcl.tape.tape:topological_order"

# %% check="tape.order"

# %% [markdown]
# <details><summary>Hint 1</summary>Recursion ends at about 1,000 nodes. A list of your own, <code>stack</code>, has no such
# end.</details>
# <details><summary>Hint 2</summary>A node is met twice: on the way down (put its parents on the stack), and on the way up (put it
# into the order). A pair <code>(node, done)</code> on the stack tells which.</details>
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
# Where several operations use a node, several gradients arrive. They add up. On a device, an addition is a launch, and its
# result a new buffer. Adding into a buffer that is there saves the memory.
#
# But remember what `add` does:
#
# ```
#                        ┌──▶ x ◀── 10·g ◀── 100·g      x is used elsewhere, too: three gradients
#   s = x + y,   g ──────┤
#                        └──▶ y                         one gradient, in the buffer of g
# ```
#
# ### Predict, then run
#
# g is 1. What must arrive at x, and at y? And what if everything after the first is added in place?

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
# The gradient of y is wrong, and y has nothing to do with it. This fault hides well: it needs a node that is used twice,
# and an operation that hands its gradient on as it is. Every residual connection, x + f(x), is one.
#
# Copying each gradient when it arrives would be safe, and expensive. There is a better way. A sum that **we** made has a
# new buffer, which nobody else knows:
#
# | arrives | do | costs |
# |---|---|---|
# | first | keep the Tensor as it is | nothing |
# | second | a new Tensor, the sum; note that it is ours | a launch, a buffer |
# | third and later | add into our sum | a launch |

# %% exercise="tape.accumulate" source="tinygrad_cl.netcl.tape.tape:accumulate"

# %% check="tape.accumulate"

# %% [markdown]
# <details><summary>Hint 1</summary>Three cases: if, elif, else. Which question separates the second part from the
# third?</details>
# <details><summary>Hint 2</summary><code>gradients[node] + part</code> is a new Tensor; so is what <code>+=</code> gives. Only
# <code>add_into</code> writes into the old one.</details>

# %% [markdown]
# ## 6 · backward
#
# Four small things are given. `seed_gradient` finds where to start: 1 for a single number, else what the caller passes.
# `unbroadcast` sums up what broadcasting repeated: you know it from lesson 03. `parts_of` asks a node's rule, and, if
# somebody wants that, looks at what it says (exercise 7). `leave` is for a leaf: what has arrived becomes its `grad`, a
# Tensor that nobody else holds. It copies only where it has to, so it keeps a set `held`: the buffers that somebody else can
# see. Two threads may share a leaf: the lock lets one at a time read its `grad` and write the sum.

# %% given source="tinygrad_cl.netcl.tape.tape:seed_gradient tinygrad_cl.netcl.tape.tape:unbroadcast tinygrad_cl.netcl.tape.tape:parts_of tinygrad_cl.netcl.tape.tape:accumulating tinygrad_cl.netcl.tape.tape:leave"

# %% [markdown]
# Put it together:
#
# ```
# start with {loss: seed}; the seed's buffer is held
# for each node, children before parents:
#     take its gradient; none has arrived? then nothing goes on from here
#     a leaf?   leave it there
#     else      hand the parts on: accumulate at each parent that requires a gradient
# ```
#
# Leaves accumulate over calls, until somebody sets `grad` to None: that is PyTorch's convention, and that of all optimizers.
# Nodes between belong to one call. In netcl 0.4.4 they keep their gradients, so a second `backward` on one tape gives too
# much. Whoever wants to look at them opens a `Tape(retain_grads=True)`: then each gets a copy of its own.

# %% exercise="tape.backward" source="tinygrad_cl.netcl.tape.tape:Tape.backward"

# %% check="tape.backward"

# %% [markdown]
# <details><summary>Hint 1</summary>Start: <code>seed = seed_gradient(loss, grad)</code>, <code>gradients = {loss: seed}</code>,
# <code>ours = set()</code>, <code>held = {id(seed.buffer)}</code>, and <code>for node in
# reversed(topological_order(loss)):</code></details>
# <details><summary>Hint 2</summary><code>gradients.pop(node, None)</code> takes it out, and gives None if nothing has
# arrived.</details>
# <details><summary>Hint 3</summary><code>zip(node.parents, parts_of(node, gradient))</code> pairs each parent with its
# part.</details>
# <details><summary>Hint 4</summary>A leaf has no <code>grad_fn</code>: <code>leave(node, gradient, held)</code>, and on to the next
# node.</details>

# %% [markdown]
# ### Predict, then run
#
# ```python
# y = relu(x)                      # x holds 1, 2, −3 and 4
# z = (y * 2.0) + 1.0
# loss = total(z)
# ```
#
# How many nodes lie on the tape? How many parents has the product? What is the gradient at the −3, and at the 4?

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
# Leaves are not on the tape: nobody computed them, so there is nothing to note. Numbers such as 2.0 are no parents.
#
# The tutorial's program, on your engine. The picture has the gradients of the leaves.

# %% demo
a = tensor(Tensor.from_host(queue, [0.5, -1.0, 2.0]), requires_grad=True)
b = tensor(Tensor.from_host(queue, [3.0, 4.0, -5.0]), requires_grad=True)
a.label, b.label = "a", "b"
with Tape() as tape:
    loss = total(sin(a) * b + a)
tape.backward(loss)
draw(loss)

# %% [markdown]
# Is it right? Wiggle each input, compute the loss twice **on the device**, and divide: a central difference. No rule takes
# part in that.

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
# y = x³ at x = 2, so the gradient is 12. Call `backward` once, twice, three times on the same tape. Then set `x.grad = None`
# and call it once more.

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
# A NaN in a gradient spreads: everything that is multiplied by it, and everything it is added to, is NaN as well. When you
# look at the leaves, all of them are NaN. The question is which operation said it **first**.
#
# `detect_anomaly` is a mode. While it is on, backward looks at what each rule returns, and stops at the first bad number.
# Slow: every gradient is fetched from the device. The node knows its name, and the line that made it.

# %% given source="tinygrad_cl.netcl.tape.modes:detect_anomaly tinygrad_cl.netcl.tape.modes:set_detect_anomaly"

# %% exercise="tape.anomaly" source="tinygrad_cl.netcl.tape.tape:look_for_anomaly"

# %% check="tape.anomaly"

# %% [markdown]
# <details><summary>Hint 1</summary><code>part.to_host()</code> is an array; <code>np.isfinite</code> is False for NaN, Inf and
# −Inf.</details>
# <details><summary>Hint 2</summary><code>enumerate(parts)</code> numbers them. Skip None.</details>
# <details><summary>Hint 3</summary><code>f"… of op {node.op_name!r} …"</code>: <code>!r</code> brings the quotes. At the end,
# <code>"".join(node.creation_trace)</code>.</details>

# %% [markdown]
# A loss with a trap: 0 · ln 0. Forward, all is well, since a zero stands in front of it … is it? First without the mode,
# then with it.

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
# The mode around `backward` names the line. Around the forward as well, a node keeps all lines that led to it, its
# **creation trace**: which call of `entropy` was it?

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
# `debug_tape` shows a stretch of the tape: a line for each operation, with the range of its numbers. It says where the first
# NaN was **computed**, which is forward here, a step before any gradient.

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
# Some tutorials say that `detect_anomaly` compares a rule with finite differences. Here is a cosine whose rule has the wrong
# sign. Who notices: detect_anomaly (1 or 0), gradcheck (1 or 0)?

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
# `detect_anomaly` looks for numbers that are none. Whether a number is right, only a second opinion tells.
#
# ## What it costs
#
# **Launches.** A network of two layers. How many kernels does backward launch less if the input x requires no gradient?
# And how many does the forward pass launch less?

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
# **Memory.** Forty sines in a row, each of 256 KiB. The tape holds a Node for each, the Node its rule, the rule the Tensor
# whose cosine it will need. How much is in use, after each operation? Sketch the two curves before you run it.

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
# **Time.** Sixty-four numbers, so that the work itself is nothing: what remains is the price of an operation. The same chain
# of sines with bare Tensors, with Nodes under no_grad, recorded, and recorded with backward.

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
# Look for two things. How much does the note add, from no_grad to recorded? And how much does backward add, which launches two
# kernels for each sine, the cosine and the product? Those two could be one. In fact the whole chain could: that is
# lesson 12.
#
# ## All of it at once
#
# A network with one hidden layer learns a curve. Forward, tape, backward, a step; then forget.

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
# forward pass sees the new numbers. That is what an optimizer does.

# %% [markdown]
# ## Messages you may meet
#
# <details><summary><code>ValueError: Node(…) requires no gradient: no leaf it was computed from does, or it was computed inside
# no_grad</code></summary>
#
# <code>tensor(x)</code> requires none unless you say <code>requires_grad=True</code>. Or recording is off: ask
# <code>is_grad_enabled()</code>.
#
# </details>
#
# <details><summary><code>ValueError: backward from shape (2, 3) needs the gradient of each number: pass grad, or sum
# first</code></summary>
#
# The loss is not one number. <code>total(loss)</code>, or <code>tape.backward(out, grad)</code> with an array of that shape.
#
# </details>
#
# <details><summary><code>AttributeError: 'NoneType' object has no attribute 'nodes'</code> (or <code>append</code>)</summary>
#
# <code>with Tape() as tape:</code> gave None, so <code>__enter__</code> returns nothing; or there is no open tape, and
# <code>apply_op</code> puts the node on it all the same.
#
# </details>
#
# <details><summary><code>AttributeError: 'NoneType' object has no attribute 'to_host'</code> at
# <code>x.grad.to_host()</code></summary>
#
# No gradient arrived: x requires none, or the loss was not computed from it. A Tensor has a grad, too, and it is the same one:
# <code>x.value.grad</code>.
#
# </details>
#
# <details><summary><code>AttributeError: 'Node' object has no attribute 'spec'</code> in <code>unbroadcast</code></summary>
#
# A rule returned a Node. Inside <code>fn</code> and <code>grad_fn</code>, everything is a Tensor: <code>grad * b.value</code>,
# not <code>grad * b</code>, which is an operation of its own.
#
# </details>
#
# <details><summary><code>NameError</code> or <code>AttributeError</code> in a rule, although forward ran</summary>
#
# A rule is called by backward, long after it was written. A misprint in it shows only then. What it needs of the forward pass, it has to
# find in its closure: a name of the function around it.
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
# <code>fn</code> computes with the values that it is given, <code>lambda x, y: x * y</code>. With the Nodes <code>a * b</code> it
# would be an operation inside an operation.
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
# | `with Tape() as tape:` | the same | none: the graph hangs on tensors alone | TensorFlow: `tf.GradientTape()` |
# | `tape.backward(loss, grad)` | the same | `loss.backward(grad)` | `jax.vjp(f, *x)[1](grad)` |
# | `apply_op(fn, grad_fn, …)` | the same | `torch.autograd.Function` | `jax.custom_vjp` |
# | `tensor(x, requires_grad=True)` | `ag.tensor(…)` | `x.requires_grad_()` | an argument of `jax.grad` |
# | `no_grad`, `set_grad_enabled` | the same | the same | TensorFlow: `tape.stop_recording()` |
# | `detect_anomaly`, `creation_trace` | the same | `torch.autograd.detect_anomaly` | `jax.config.update("jax_debug_nans", True)` |
# | `describe`, `debug_tape` | `debug_tape` (0.4.4 only hands the tape back) | torchviz | `jax.make_jaxpr` |
# | `node.parents`, `node.grad_fn` | the same | `grad_fn.next_functions` | a jaxpr |
# | adding into our own sum | in place where the buffer is its own | steals the buffer if nobody else holds it | the compiler decides |
#
# netcl needs names of modules: `from netcl.autograd.engine import apply_op`. Two of its faults you know now: the forgotten
# outer tape, and the second backward.
#
# ## What comes next
#
# `sin(a) * b` is two nodes, and backward launches a kernel for every single step of its rules. In lesson 11 it becomes one
# operation of yours: composed, with a saved sine, and as one hand-written kernel each way.
#
# What you wrote here can carry you: lessons 11, 12 and 13 have a cell near the top that lets them run on your tape.
