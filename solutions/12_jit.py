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
# # 12 · JIT: one kernel for a whole formula
#
# In lesson 11 you wrote one pair of kernels for one formula, by hand: one forward, one backward. Today you write the
# program that writes such pairs. A <dfn>JIT compiler</dfn> (JIT: *just in time*) writes and compiles the kernels for a
# function when the function is first called, not before.
#
# ```
#  Python function ──▶ trace ──▶ lines of C ──▶ kernel          forward
#                        │
#                        └─────▶ lines of C, walked backwards ──▶ kernel      backward
# ```
#
# In netcl it is called `jit_compile`, in PyTorch `torch.compile` and in JAX `jax.jit`. Yours has about 60 lines.

# %% given
import re
from numbers import Real

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.gradcheck import gradcheck
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.c_source import settings
from tinygrad_cl.netcl.ops.primitives import c_number, get_primitive, register_primitive
from tinygrad_cl.netcl.runtime import profile
from tinygrad_cl.viz import draw, highlight_kernels, plot_timeline, plot_times, seconds_per_call

highlight_kernels()

# %% given
device = manager.default("auto")
queue = device.queue
rng = np.random.default_rng(12)
SETTINGS = settings("float32", 1) + "#define V T\n"  # short names for C: ADD, MUL, … (section 4)


def size_for(n, slow):
    """n, or `slow` where the device is an interpreter."""
    return slow if device.found.is_interpreter else n


def normal(*shape, requires_grad=True):
    """A Node of random numbers."""
    return ag.tensor(Tensor.from_host(queue, rng.normal(size=shape)), requires_grad)


def forward_and_backward(function, *nodes):
    """Value and gradients of a function, under the upstream gradient 1, 2, 3, …: arrays."""
    for node in nodes:
        node.grad = None
    with ag.Tape() as tape:
        out = function(*nodes)
    upstream = np.arange(1.0, out.value.size + 1).reshape(out.shape)
    tape.backward(out, Tensor.from_host(queue, upstream))
    return [out.to_host(), *[node.grad and node.grad.to_host() for node in nodes]]

# %% [markdown]
# ### Go on with your own engine, if you like
#
# The tape is what you built in lesson 10. The next cell looks in `work/` for your saved notebook of lesson 10 and runs
# the checks on what you wrote. Each function of yours that is right replaces the one of the finished engine in this
# notebook. Then the cell prints which functions are yours. If there is no such notebook, it says so.

# %% demo
from autograder.notebook import mine

mine(before=12)

# %% [markdown]
# ## 1 · Five operations
#
# Take $\tanh(xy + x) \cdot \sigma(y)$: five operations; x and y are used twice each. How many kernels does engine 3
# launch, forward and backward?
#
# Count backward like this. Each rule is one launch. Only the rule of + launches nothing: it hands on the gradient that
# it gets. To add up two gradients is one launch more.

# %% predict
guess = predict(forward=..., backward=...)

# %% demo
def five(x, y):
    return ag.tanh(x * y + x) * ag.sigmoid(y)


x, y = normal(size_for(2**20, 2**8)), normal(size_for(2**20, 2**8))
upstream = normal(*x.shape).value
five(x, y)  # once, so that the kernels are built
with device.watch() as forward, ag.Tape() as tape:
    out = five(x, y)
with device.watch() as backward:
    tape.backward(out, upstream)
guess.compare(forward=len(forward), backward=len(backward))

# %% demo
x.grad = y.grad = None
with profile() as seen:
    with ag.Tape() as tape:
        out = five(x, y)
    tape.backward(out, upstream)
print(seen.table())
plot_timeline(seen.timeline(), "Five operations, forward and backward")

# %% [markdown]
# Each bar is a kernel. It reads its inputs from memory and writes its result to memory, and another kernel reads that
# result again. `x * y` is written to memory only to be read again.
#
# One kernel for all five operations could keep `x * y` in a register (lesson 09). A <dfn>fused kernel</dfn> computes
# several operations, and the results in between never go through memory.
#
# To write a fused kernel, somebody has to know the formula. Python has it, but as a function, and a function can only
# be called.

# %% [markdown]
# ## 2 · Call it with nothing
#
# So call the function, with arguments that hold **no numbers**. They compute nothing; they write down which operations
# are done to them. To <dfn>trace</dfn> a function is to call it with arguments that hold no numbers and only write down
# what is done to them. The operations that were written down are the *trace* of the function.
#
# ```
#   five(x, y)      x, y: Traced("input")
#
#   x * y       →   Traced("mul", (x, y))                 nothing computed
#   … + x       →   Traced("add", (Traced("mul", …), x))
# ```

# %% given
class Traced:
    """A result that is not computed yet.

    op_name     "input", or the operation
    inputs      what it is computed from, a tuple: Traced, and constants as C text
    needs       for each of the inputs whether its gradient is wanted, a tuple
    attrs       the constants of the operation by name, a dict
    primitive   the record of the operation in engine 3's table
    wants       whether its own gradient is wanted
    """

    __array_ufunc__ = None  # so that np.float64(2) * x is left to __rmul__

    def __init__(self, op_name="input", inputs=(), needs=(), attrs=None, primitive=None,
                 wants=True):
        self.op_name, self.inputs, self.needs = op_name, inputs, needs
        self.attrs, self.primitive = attrs or {}, primitive
        self.wants = any(needs) if inputs else wants

    def __repr__(self):
        inputs = ", ".join(x if isinstance(x, str) else x.op_name for x in self.inputs)
        return f"Traced({self.op_name}({inputs}))" if inputs else f"Traced({self.op_name})"

    def __bool__(self):
        raise TypeError("an `if` looks at a number, and there is none while the function is traced")

    def __add__(self, other):
        return operation("add", self, other)

    def __radd__(self, other):
        return operation("add", other, self)

    def __sub__(self, other):
        return operation("sub", self, other)

    def __rsub__(self, other):
        return operation("sub", other, self)

    def __mul__(self, other):
        return operation("mul", self, other)

    def __rmul__(self, other):
        return operation("mul", other, self)

    def __truediv__(self, other):
        return operation("div", self, other)

    def __rtruediv__(self, other):
        return operation("div", other, self)

    def __neg__(self):
        return operation("neg", self)

    def __gt__(self, other):
        return operation("gt", self, other)

# %% [markdown]
# Every operator calls `operation`, which you write next. Engine 3 has a table with one *entry* for each operation, its
# *record*. (This noun has nothing to do with recording on a tape.) The record is the operation's primitive (lesson 11).
# It has two functions: one gives the result as an expression in C, the other gives an expression for each gradient. An
# operation without gradients, such as the comparison `gt`, has no second function: its `backward` is None.
# `get_primitive(name)` finds the record:

# %% demo
record = get_primitive("mul")
print(record.forward(["a", "b"], {}), "   backward:", record.backward(["a", "b"], "g", {}, "out"))
record = get_primitive("tanh")
print(record.forward(["a"], {}), "     backward:", record.backward(["a"], "g", {}, "out"))
record = get_primitive("leaky_relu")
print(record.attrs, record.forward(["a"], record.attrs))
print("a number in C:", c_number(0.5), c_number(float("inf")))

# %% [markdown]
# `T` is the number type, `V` that type or a vector of it. In this lesson both are `float`.

# %% exercise="jit.operation" own="a Traced without a shape; the package's trace also works out shapes, dtypes and reductions"
def operation(name, *args, **attrs):
    """Write down an operation on results that are not computed yet: a Traced.

    name    of a record in the table: get_primitive(name), which raises KeyError for unknown ones
    args    Traced, and numbers (numbers.Real), which become C text: c_number(0.5)
    attrs   constants; primitive.constants(attrs) gives all of them, with their defaults

    An input's entry in needs is True if the input is a Traced that wants its gradient, and the
    record's backward is not None. In all other cases it is False, so also for a number. TypeError
    for any other argument, such as an array.

    >>> x = Traced()
    >>> half = operation("mul", x, 0.5)
    >>> half, half.inputs[1], half.needs
    (Traced(mul(input, ((V)(0.5)))), '((V)(0.5))', (True, False))
    """
    ### BEGIN SOLUTION
    primitive = get_primitive(name)
    inputs, needs = [], []
    for x in args:
        if not isinstance(x, (Traced, Real)):
            raise TypeError(f"{name} of a {type(x).__name__} cannot be traced")
        traced = isinstance(x, Traced)
        inputs.append(x if traced else c_number(x))
        needs.append(traced and x.wants and primitive.backward is not None)
    return Traced(name, tuple(inputs), tuple(needs), primitive.constants(attrs), primitive)
    ### END SOLUTION

# %% check="jit.operation"

# %% [markdown]
# <details><summary>Hint 1</summary>Two lists, filled in one loop over <code>args</code>: inputs and needs.</details>
# <details><summary>Hint 2</summary>For a Traced: itself, and <code>x.wants</code>, or <code>False</code> if the
# record's <code>backward</code> is None. For a number: <code>c_number(x)</code>, and <code>False</code>.</details>
# <details><summary>Hint 3</summary>In the end <code>Traced(name, tuple(inputs), tuple(needs), primitive.constants(attrs),
# primitive)</code>.</details>

# %% [markdown]
# Next come functions such as `tanh` that take Nodes, and Traced as well. And our formula, written with them:

# %% given
def either(name):
    """An operation of the table as a function of Nodes, or of Traced."""
    def call(*args, **attrs):
        if any(isinstance(x, Traced) for x in args):
            return operation(name, *args, **attrs)
        return ag.primitive(name)(*args, **attrs)
    return call


tanh, sigmoid, exp, sin, leaky_relu = map(either, ["tanh", "sigmoid", "exp", "sin", "leaky_relu"])


def formula(x, y):
    return tanh(x * y + x) * sigmoid(y)

# %% demo
draw(formula(Traced(), Traced()))

# %% [markdown]
# This graph has no numbers: it is the formula as data. We need it as a list in which each operation stands after its
# inputs. You wrote such a walk in lesson 10, so it is given: `chain_of`, with recursion, since formulas are short. (A
# *chain* is a group of operations that one kernel can compute.) We also need names in C: `v0`, `v1`, … for the inputs,
# `mul_2`, `add_3`, … for the results.

# %% given
def chain_of(end):
    """(leaves, operations) that a result is computed from; each once, after its inputs."""
    leaves, body, seen = [], [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for x in node.inputs:
                if isinstance(x, Traced):
                    visit(x)
            (leaves if node.op_name == "input" else body).append(node)

    visit(end)
    return leaves, body

# %% given source="tinygrad_cl.netcl.autograd.jit_source:name_nodes tinygrad_cl.netcl.autograd.jit_source:texts tinygrad_cl.netcl.autograd.jit_source:words"

# %% demo
leaves, body = chain_of(formula(Traced(), Traced()))
names = name_nodes(leaves, body)
for node in body:
    print(f"{names[node]:10} = {node.op_name} of", texts(node, names))

# %% [markdown]
# ## 3 · Lines of C
#
# You need one line of C for each operation of the list. The operation's record gives the expression; you put in the
# names.

# %% exercise="jit.forward" source="tinygrad_cl.netcl.autograd.jit_source:forward_lines"

# %% check="jit.forward"

# %% [markdown]
# <details><summary>Hint 1</summary>For one node: <code>node.primitive.forward(texts(node, names), node.attrs)</code> is
# the right side.</details>
# <details><summary>Hint 2</summary>A list comprehension with one f-string: <code>f"const V {names[node]} =
# {…};"</code></details>

# %% [markdown]
# ## 4 · A kernel around the lines
#
# You know this frame from lesson 09. Now Python writes it:
#
# ```
#   __kernel void NAME(an array for each input, an array for each output, const int n)
#   {
#       which number am I? is there one?
#       const V v0 = …;             load each input, once
#       …                           the lines
#       … = mul_6;                  store each output
#   }
# ```

# %% exercise="jit.kernel" own="one number for each work-item; engine 3's generator also broadcasts, takes vectors and sums at the end"
def kernel_text(name, inputs, lines, outputs):
    """The text of a kernel that loads inputs, computes lines, and stores outputs, number by number.

    name      the kernel's name
    inputs    names that the lines use for what is loaded: ["v0", "v1"]
    lines     of C, each of them complete
    outputs   names of values that are stored: ["mul_6"]

    Arguments of the kernel: a `__global const float *` for each input, a `__global float *` for
    each output, in their orders, then `const int n`. Work-item i loads number i of each input and
    stores number i of each output. More than n work-items may start. Values are of type V. A name
    that is both an input and an output stands twice among the arguments, as in_v0 and as out_v0.
    The example's text ends with a line break: <BLANKLINE> is how an example shows an empty line.

    >>> print(kernel_text("twice", ["v0"], ["const V add_1 = ADD(v0, v0);"], ["add_1"]))
    __kernel void twice(__global const float *in_v0, __global float *out_add_1, const int n)
    {
        const int i = get_global_id(0);
        if (i >= n) return;
        const V v0 = in_v0[i];
        const V add_1 = ADD(v0, v0);
        out_add_1[i] = add_1;
    }
    <BLANKLINE>
    """
    ### BEGIN SOLUTION
    parameters = [f"__global const float *in_{each}" for each in inputs]
    parameters += [f"__global float *out_{each}" for each in outputs]
    body = ["const int i = get_global_id(0);", "if (i >= n) return;"]
    body += [f"const V {each} = in_{each}[i];" for each in inputs]
    body += lines
    body += [f"out_{each}[i] = {each};" for each in outputs]
    indented = "".join(f"    {line}\n" for line in body)
    return f"__kernel void {name}({', '.join([*parameters, 'const int n'])})\n{{\n{indented}}}\n"
    ### END SOLUTION

# %% check="jit.kernel"

# %% [markdown]
# <details><summary>Hint 1</summary>Two lists of texts: the parameters, joined by <code>", "</code>, and the lines of
# the body, joined by line breaks.</details>
# <details><summary>Hint 2</summary>In an f-string, a brace of C is written twice: <code>{{</code> and
# <code>}}</code>.</details>
# <details><summary>Hint 3</summary>Do not change the list that you were given: <code>body += lines</code> changes your
# list, <code>lines += …</code> would change the caller's.</details>

# %% [markdown]
# A <dfn>macro</dfn> is a name that the C compiler replaces by other text before it compiles. Some macros go in front of
# your kernel: `SETTINGS` says what ADD, TANH and V stand for. Then the kernel can be launched:

# %% given
def launch(source, name, tensors, count):
    """Launch a kernel of `kernel_text` on Tensors of one shape: a list of `count` new Tensors."""
    shape, n = tensors[0].shape, tensors[0].size
    if any(tensor.shape != shape for tensor in tensors):
        raise ValueError(f"this compiler broadcasts nothing: {[t.shape for t in tensors]}")
    results = [Tensor.from_shape(queue, shape) for _ in range(count)]
    kernel = device.kernel(SETTINGS + source, name, (),
                           [None] * (len(tensors) + count) + [np.int32])
    work_items = -(-n // 64) * 64
    device.launch(kernel, (work_items,), (64,), [t.buffer for t in (*tensors, *results)] + [n])
    return results

# %% demo
end = formula(Traced(), Traced())
leaves, body = chain_of(end)
names = name_nodes(leaves, body)
source = kernel_text("fused", [names[leaf] for leaf in leaves], forward_lines(body, names),
                     [names[end]])
print(source)
out, = launch(source, "fused", [x.value, y.value], 1)
print("the largest difference from five kernels:",
      np.abs(out.to_host() - five(x, y).to_host()).max())

# %% [markdown]
# ## 5 · The same backwards
#
# No new idea is needed. In <dfn>reverse mode</dfn>, gradients are computed by one walk back from a result to its
# inputs. You know that walk; now it makes text in place of numbers. Where the tape launched a kernel, you write a line.
#
# ```
#    forward                  backward
#
#    mul_2 = v0 * v1          g_v0 += …       g_v1 += …       ▲
#    add_3 = mul_2 + v0       g_mul_2 = …     g_v0 = …        │
#    …                        …                               │
#    mul_6 = …                …                               │  start here: the gradient of mul_6 is g
# ```
#
# `v0` is used twice, so its gradient has two contributions: a line `V g_v0 = …;` and a line `g_v0 += …;`.
#
# What would go wrong if both inputs of `add` had one and the same variable for their gradients? Think of lesson 10.

# %% exercise="jit.backward" source="tinygrad_cl.netcl.autograd.jit_source:backward_lines"

# %% check="jit.backward"

# %% [markdown]
# <details><summary>Hint 1</summary>Begin with <code>gradients = {end: upstream}</code>, and walk
# <code>reversed(body)</code>.</details>
# <details><summary>Hint 2</summary>For each node, the expressions are <code>node.primitive.backward(texts(node, names),
# gradients[node], node.attrs, names[node])</code>. Go through <code>zip(node.inputs, node.needs,
# expressions)</code>.</details>
# <details><summary>Hint 3</summary>Is the input in <code>gradients</code> already? Then <code>+=</code>. Else give it
# the name <code>g_…</code>, and declare it. Skip a node that never got a gradient.</details>

# %% demo
lines, gradients = backward_lines(end, body, names, "g")
print("\n".join(lines))

# %% [markdown]
# ## 6 · What backward needs
#
# The lines of backward mention `tanh_4` and `sigmoid_5`. These were in registers of the forward kernel, and are lost.
# There are two ways to get them:
#
# | | forward | backward |
# |---|---|---|
# | save | writes them to memory | reads them |
# | compute again | – | a few operations, in registers |
#
# Lesson 07 did the second with its checkpoints. For cheap operations it is the faster way; for tanh it depends on
# the device. Our compiler always computes again. How many
# of the five forward lines does the backward kernel of our formula need?

# %% predict
guess = predict(lines_again=...)

# %% [markdown]
# It needs the lines whose names backward mentions, the lines whose names *those* lines mention, and so on.

# %% exercise="jit.needed" source="tinygrad_cl.netcl.autograd.jit_source:needed"

# %% check="jit.needed"

# %% [markdown]
# <details><summary>Hint 1</summary>From the last line to the first, with a set of all names that are used so
# far.</details>
# <details><summary>Hint 2</summary>The name that a line computes: <code>re.match(r"const V (\w+) =", line)[1]</code>, or
# <code>line.split()[2]</code>.</details>
# <details><summary>Hint 3</summary>A line that is needed uses names, too: <code>used |= words([line])</code>. At the
# end reverse the list.</details>

# %% demo
again = needed(forward_lines(body, names), lines)
guess.compare(lines_again=len(again))
print(kernel_text("fused_backward", [*[names[leaf] for leaf in leaves], "g"], again + lines,
                  [gradients[leaf] for leaf in leaves]))

# %% [markdown]
# ## 7 · On the tape
#
# Put together, your function is one operation on the tape: `apply_op` with one kernel forward and one backward, as in
# lesson 11. Read the cell once; it contains nothing new.

# %% given
class Program:
    """One forward and one backward kernel for a function of Nodes and numbers."""

    def __init__(self, function, args):
        inputs = [Traced(wants=x.requires_grad) if isinstance(x, ag.Node) else x for x in args]
        end = function(*inputs)
        leaves, body = chain_of(end)
        names = name_nodes(leaves, body)
        lines = forward_lines(body, names)
        back, gradients = backward_lines(end, body, names, "g")
        again = needed(lines, back)
        used = [leaf for leaf in leaves if names[leaf] in words(again + back)]
        wanted = [leaf for leaf in leaves if leaf in gradients]
        self.forward = kernel_text("fused_forward", [names[leaf] for leaf in leaves], lines,
                                   [names[end]])
        self.backward = kernel_text("fused_backward", [*[names[leaf] for leaf in used], "g"],
                                    again + back, [gradients[leaf] for leaf in wanted])
        self.places = [inputs.index(leaf) for leaf in leaves]
        self.used = [inputs.index(leaf) for leaf in used]
        self.wanted = [inputs.index(leaf) for leaf in wanted]

    def __call__(self, args):
        def forward(*tensors):
            return launch(self.forward, "fused_forward", tensors, 1)[0]

        def backward(grad):
            saved = [args[place].value for place in self.used]
            found = launch(self.backward, "fused_backward", [*saved, grad], len(self.wanted))
            found = dict(zip(self.wanted, found))
            return [found.get(place) for place in self.places]

        return ag.apply_op(forward, backward, *[args[place] for place in self.places],
                           op_name="fused")


def fuse(function):
    """The function with all of its operations in one kernel, and its backward in another."""
    programs = {}

    def fused(*args):
        key = key_of(args)
        if key not in programs:
            programs[key] = Program(function, args)
        return programs[key](args)

    fused.programs = programs
    return fused

# %% [markdown]
# Tracing and compiling take milliseconds, so `fuse` keeps each Program for the next calls. When can a call use an old
# Program? When a new one would have the same **text**. `key_of` makes a key from the arguments, and calls with equal
# keys use one Program. Two mistakes are possible:
#
# | the key leaves out | the key holds too much |
# |---|---|
# | something that is in the text | something that is not in the text |
# | **wrong numbers** | compiled again and again |
#
# Look at `Program.__init__`: what of its `args` gets into the text? The shape? The numbers in a tensor?

# %% exercise="jit.key" own="a key of Nodes and numbers; the package's signature also looks into what the function uses from outside"
def key_of(args):
    """What a Program depends on, besides the function: a key for a dict.

    args   Nodes (ag.Node) and numbers

    The keys of two calls are equal if both calls can use one Program, and only then. Numbers are
    constants in the text: -0.0 is not 0.0 there, and nan is the same text as nan. (2 and 2.0 may
    have different keys: that costs one compilation.)
    """
    ### BEGIN SOLUTION
    return tuple([("node", x.requires_grad) if isinstance(x, ag.Node) else ("number", c_number(x))
                  for x in args])
    ### END SOLUTION

# %% check="jit.key"

# %% [markdown]
# <details><summary>Hint 1</summary>The text works for any n: the shape is no part of it. Which attribute of a Node
# decides which gradients are computed?</details>
# <details><summary>Hint 2</summary>A number as it stands in the text: <code>c_number(x)</code>. Texts have no trouble
# with nan and −0.0.</details>
# <details><summary>Hint 3</summary>A dict takes tuples as keys, no lists.</details>

# %% demo
fused = fuse(formula)
with device.watch() as launches:
    ours = forward_and_backward(fused, x, y)
print("launches:", [each.name for each in launches])
theirs = forward_and_backward(five, x, y)
for name, mine, right in zip(("value", "x.grad", "y.grad"), ours, theirs):
    off = np.abs(mine - right).max() / np.abs(right).max()
    print(f"{name}: off by {off:.0e} of the largest number")

# %% [markdown]
# Two launches. The timeline of section 1 once more, now for the fused function:

# %% demo
x.grad = y.grad = None
with profile() as seen:
    with ag.Tape() as tape:
        out = fused(x, y)
    tape.backward(out, upstream)
print(seen.table())
plot_timeline(seen.timeline(), "The same in two kernels")

# %% [markdown]
# Your kernels and engine 3 agree. But both take their rules from the same table, so a wrong rule there would make both
# wrong. Central differences use no rule: every number is moved a little, and the *forward* kernel runs again:

# %% demo
def numbers(function):
    """A function of Nodes as one of arrays."""
    return lambda *arrays: function(*[ag.tensor(Tensor.from_host(queue, a))
                                      for a in arrays]).to_host()


def slopes(upstream, *arrays):
    nodes = [ag.tensor(Tensor.from_host(queue, a), True) for a in arrays]
    with ag.Tape() as tape:
        out = fused(*nodes)
    tape.backward(out, Tensor.from_host(queue, upstream))
    return [node.grad.to_host() for node in nodes]


few = [rng.normal(size=5).astype(np.float32) for _ in range(2)]
gradcheck(numbers(fused), slopes, few)

# %% [markdown]
# ### What a trace sees
#
# The function `scaled` below appends a word to the list `printed`, and uses a name from outside, `RATE`, which is 2 at
# first. The fused function, `fuse(scaled)`, is called three times; before the third call, `RATE` becomes 10. How many
# words are in the list at the end (`prints`)? What comes out of the third call, for x = 1?

# %% predict
guess = predict(prints=..., third=...)

# %% demo
RATE, printed = 2.0, []


def scaled(x):
    printed.append("called")
    return x * RATE


one, fast = ag.tensor(Tensor.from_host(queue, [1.0])), fuse(scaled)
fast(one), fast(one)
RATE = 10.0
guess.compare(prints=len(printed), third=float(fast(one).to_host()[0]))

# %% [markdown]
# The key is made of the arguments, and `RATE` is not an argument. So the third call uses the old Program, and in its
# text stands the 2. JAX does the same, and says so in its manual. Engine 3 looks into the function for names like
# `RATE` and puts their values into the key, too:

# %% demo
RATE = 2.0
fast = ag.jit_compile(scaled)
before = float(fast(one).to_host()[0])
RATE = 10.0
print("before", before, "after", float(fast(one).to_host()[0]))

# %% [markdown]
# ## 8 · An operation of your own
#
# You can add records to the table. Take a *damped oscillation*, with time t and damping k:
#
# $$\text{out} = e^{-kt} \cos t$$
#
# It could be composed of operations that are in the table already. As a record of its own, it is one expression forward
# and two backward. The names of t and k in C come as arguments, so never write `v0` yourself. Derive the two slopes on
# paper first. One of them is short if you use `out`.

# %% exercise="jit.primitive" own="a record of the student's own for the table; the package has none like it"
def damped_forward(args, attrs):
    """exp(-k t) cos(t) as a C expression; args are the names of t and of k in C.

    >>> damped_forward(["v0", "v1"], {}).count("v0")
    2
    """
    ### BEGIN SOLUTION
    t, k = args
    return f"exp(-{k} * {t}) * cos({t})"
    ### END SOLUTION


def damped_backward(args, grad_var, attrs, out_var):
    """[∂L/∂t, ∂L/∂k] as C expressions.

    args       the names of t and k
    grad_var   the name of ∂L/∂out
    out_var    the name of the result, exp(-k t) cos(t)
    """
    ### BEGIN SOLUTION
    t, k = args
    return [f"-{grad_var} * ({k} * {out_var} + exp(-{k} * {t}) * sin({t}))",
            f"-{grad_var} * {t} * {out_var}"]
    ### END SOLUTION

# %% check="jit.primitive"

# %% [markdown]
# <details><summary>Hint 1</summary>∂out/∂k = −t · out. And ∂out/∂t has two parts, by the product rule.</details>
# <details><summary>Hint 2</summary>∂out/∂t = −k e⁻ᵏᵗ cos t − e⁻ᵏᵗ sin t = −(k · out + e⁻ᵏᵗ sin t).</details>
# <details><summary>Hint 3</summary>An f-string of C: <code>f"exp(-{k} * {t}) * cos({t})"</code>. Both slopes are
# multiplied by <code>{grad_var}</code>.</details>

# %% [markdown]
# `register_primitive` puts your record into the table. From then on it can be used everywhere: as a single operation on
# Nodes, in your compiler, and in engine 3's.

# %% demo
register_primitive("damped", damped_forward, damped_backward, arity=2)
damped = either("damped")


def swing(t, k):
    return damped(t, k) * t + k


t, k = normal(7), normal(7)
engines = ag.jit_compile(lambda t, k: ag.primitive("damped")(t, k) * t + k)
for function in (swing, fuse(swing), engines):
    with device.watch() as launches:
        found = forward_and_backward(function, t, k)
    print(len(launches), "launches; the gradient of t begins with", found[1][:3])

# %% [markdown]
# ## 9 · Engine 3's compiler
#
# A <dfn>reduction</dfn> is an operation that makes few numbers of many, such as a sum or a maximum. Engine 3's compiler
# is yours, plus vectors, broadcasting, reductions and a key that holds more (see below). Decorate a function and call it.
# `graphs(x, y)` is a list of graphs, one for each chain. `forward_source` is the C of its kernel:

# %% demo
@ag.jit_compile
def compiled(x, y):
    return ag.tanh(x * y + x) * ag.sigmoid(y)


graph, = compiled.graphs(x, y)
print(graph)
draw(graph)

# %% demo
print(graph.forward_source)

# %% demo
print(graph.backward_source[graph.backward_source.index("__kernel"):])

# %% [markdown]
# Compare the last kernel with yours of section 6. The lines that compute are the same. Only loading and storing is done
# by vectors.

# %% [markdown]
# ### What cannot be fused
#
# Read the four functions in the cell after the next. Here, a *step* is the kernel of a chain, or one operation that
# belongs to no chain. (It is no training step.) In how many steps is each function computed forward? 0 stands for «not
# compiled: operation by operation».

# %% predict
guess = predict(summed=..., normalised=..., product=..., choice=...)

# %% demo
def summed(x):
    return ag.sum(ag.exp(x) * x)


def normalised(x):
    return ag.exp(x) / ag.sum(ag.exp(x))


def product(x):
    return ag.tanh(x @ x)


def choice(x):
    return x * 2 if ag.sum(x) > 0 else x


square, found = normal(4, 4), {}
for function in (summed, normalised, product, choice):
    function(square)  # once as it is: kernels are built now, not while it is traced
    fast = ag.jit_compile(function, quiet=True)  # else it warns when it falls back
    found[function.__name__] = len(fast.steps(square))
    print(f"{function.__name__}: {found[function.__name__]}; {fast.why or 'compiled'}")
guess.compare(**found)

# %% [markdown]
# - A **sum** may stand at the end of a chain. What comes after it begins another chain, because the sum is not known
#   before all work-items are done.
# - A **matrix product** is no elementwise operation, and has a kernel of its own. It is a step of its own, and so is a
#   softmax. A trace has no numbers, but it must know the shape of each result: the records of these two say it.
# - An **`if`** looks at a number, and a trace has none. `ag.where(x > 0, a, b)` computes both sides and can be traced.
#
# The result is right in all cases. Where engine 3 cannot trace a function, its <dfn>fallback</dfn> is to run the
# operations one by one. `why` then gives the reason.

# %% demo
for each in ag.jit_compile(product).steps(square):
    print(each)

# %% demo
draw(*ag.jit_compile(normalised).graphs(square))

# %% [markdown]
# Look at `exp`. The second kernel computes it again, from x, as backward did in section 6. That takes a few operations.
# Otherwise the first kernel would have to write it to memory, and the second one would have to read it. (`exp` is in both
# kernels; the picture writes only one number at each operation.)
#
# And the key of engine 3's compiler? A Python number is in the key, so a learning rate that changes is traced again.
# But in the text of a kernel it is an *input* and no constant: the same text comes out, so there is no new kernel. The
# shape is in the key, because it decides how the numbers are divided among the work-items:

# %% demo
@ag.jit_compile
def step(x, rate):
    return x - rate * x


graph = step.graphs(square, 0.1)[0]
print("another number: the same kernels?", step.graphs(square, 0.2)[0] is graph)
print("another shape:  the same kernels?", step.graphs(normal(5, 4), 0.1)[0] is graph)
print(graph)

# %% [markdown]
# ## 10 · What it gains
#
# Arithmetic such as + and · takes little time, and memory takes much. Suppose for now that this is so for every
# operation, and count bytes: every kernel reads its tensors and writes its result.

# %% exercise="jit.bytes" own="a count on paper; nothing in the package needs it"
def bytes_moved(end, n):
    """(one by one, fused): bytes that are read and written to compute a traced result, forward.

    end   the Traced of the result; each tensor holds n numbers of 4 bytes

    One by one: a kernel for each operation. Fused: one kernel. A kernel reads each of its tensors
    once, also one that it uses twice, and writes its result. Constants are not read. If the
    result is an input itself, there is no operation, so 0 bytes, and the one kernel is a copy.

    >>> x, y = Traced(), Traced()
    >>> bytes_moved(x * y * y, 10)
    (240, 120)
    """
    ### BEGIN SOLUTION
    leaves, body = chain_of(end)
    one_by_one = sum(len({x for x in node.inputs if isinstance(x, Traced)}) + 1 for node in body)
    return 4 * n * one_by_one, 4 * n * (len(leaves) + 1)
    ### END SOLUTION

# %% check="jit.bytes"

# %% [markdown]
# <details><summary>Hint 1</summary><code>chain_of(end)</code> gives the inputs, and the operations.</details>
# <details><summary>Hint 2</summary>In a <code>set</code>, a tensor that is used twice stands only once. Constants are
# texts, so <code>isinstance(x, Traced)</code> leaves them out.</details>
# <details><summary>Hint 3</summary>Fused: each leaf once, and one result.</details>

# %% [markdown]
# Take two formulas: one of cheap arithmetic, and ours, with tanh and σ in it. The next cell predicts the gain from the
# bytes. Then it is your turn: how many times as fast is the fused kernel really, for a million numbers?

# %% demo
def cheap(x, y):
    for _ in range(4):
        x = x * y + 0.5
    return x


predicted = {}
for name, function in (("cheap", cheap), ("formula", formula)):
    plain, one_kernel = bytes_moved(function(Traced(), Traced()), x.value.size)
    predicted[name] = plain / one_kernel
    print(f"{name}: {plain / 1e6:.0f} MB one by one, {one_kernel / 1e6:.0f} MB fused: "
          f"{predicted[name]:.1f} times fewer")

# %% predict
guess = predict(cheap=..., formula=...)

# %% demo
def device_seconds(function):
    """How long the device works on one call: the least of several."""
    times = []
    with ag.no_grad():
        for _ in range(8):
            with profile() as seen:
                function(x, y)
            times.append(seen.busy)
    return min(times)


gain = {name: device_seconds(function) / device_seconds(ag.jit_compile(function))
        for name, function in (("cheap", cheap), ("formula", five))}
guess.compare(**gain)

# %% [markdown]
# Compare your device's numbers with the prediction. Two things make it wrong, in opposite directions:
#
# - Time that is **not** spent on memory: to compute tanh and σ takes time, too, and fusing does not make them cheaper.
#   Then the gain is smaller.
# - New memory: each result in between is written to memory that is not in the cache yet. Then the gain is larger.
#
# And small tensors? For them hardly any memory is moved. What takes time is the launches, and what Python does for each
# of them.

# %% demo
slow = device.found.is_interpreter
sizes = [2**e for e in ((2, 5) if slow else (4, 7, 10, 12, 14, 16, 18, 20))]
curves = {"one by one": [], "fused": [], "one by one / bytes": []}
fast = ag.jit_compile(cheap)
with ag.no_grad():
    for n in sizes:
        x_n, y_n = normal(n), normal(n)

        def least_seconds(function):
            """Of several calls the shortest: other programs on this computer only add to it."""
            def call():
                function(x_n, y_n)
                queue.finish()
            return min(seconds_per_call(call, budget=0) for _ in range(15))

        curves["one by one"].append(least_seconds(cheap))
        curves["fused"].append(least_seconds(fast))
        curves["one by one / bytes"].append(curves["one by one"][-1] / predicted["cheap"])
plot_times(sizes, curves, f"8 cheap operations on {device.found.name}")

# %% [markdown]
# On the left, «one by one» and «fused» are flat: there you pay for launches, eight against one. On the right both rise:
# there you pay for bytes. The third curve is «one by one», divided by the predicted gain. At which end does it meet
# «fused»? And at which end is there no reason why it should?
#
# ## Messages you may meet
#
# <details><summary><code>RuntimeError: clBuildProgram failed … use of undeclared identifier 'v0'</code></summary>
#
# A line mentions a name that no line before it declares: <code>texts(node, names)</code> was left out, an expression
# has a name written by hand, or a forward line that backward needs is missing. Print the source.
#
# </details>
#
# <details><summary><code>… redefinition of 'g_v0'</code></summary>
#
# Two lines declare the same gradient. The second contribution must be <code>+=</code>.
#
# </details>
#
# <details><summary><code>… cannot assign to variable 'g_…' with const-qualified type</code></summary>
#
# A gradient to which something is added is declared <code>V g_…</code>, without <code>const</code>.
#
# </details>
#
# <details><summary><code>KeyError: Traced(mul(input, input))</code></summary>
#
# A node has no name, or no gradient yet. Does your walk back skip a node to which no gradient has come?
#
# </details>
#
# <details><summary><code>JitFallback: … is not fused, its operations run one by one: __bool__ …</code></summary>
#
# Engine 3 says why it could not compile a function. The result is still right.
#
# </details>

# %% [markdown] written="jit.explain" points=3
# ## In your own words
#
# Somebody decorates the loss of a training loop with `jit_compile` and finds it no faster. Name two reasons why that can be,
# and how to find out which it is. And why may `fuse` give *wrong numbers*, where engine 3 is right? Five sentences at most.
#
# <!-- BEGIN SOLUTION -->
# The function may not be compiled at all, because it has an `if` on a number in it, or an operation without a record, such
# as a reshape: `loss.why` says so. Or the time is not spent on memory or launches: one matrix product, or a slow function
# like tanh, may take nearly all of it, and fusing makes no arithmetic cheaper; a profile shows it, and so does counting
# bytes before and after. It may also be compiled again in every call, because something in the key changes (a shape, for
# instance). `fuse` has only the arguments in its key: if the function uses a name from outside, its old value stays in the
# text of the kernel. Engine 3 puts the values of such names into the key.
#
# **How it is marked**
#
# - 1 point: two reasons (not traceable; not limited by memory or launches; traced or compiled in each call).
# - 1 point: how to see which: `why`, a profile or count of launches, bytes counted.
# - 1 point: what is in the text and not in the key (a global, a closure) stays as it was when the function was traced.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# | here | netcl | PyTorch | JAX |
# |---|---|---|---|
# | `Traced` | `TraceNode` | `torch.fx.Proxy` | `Tracer` |
# | trace → list of operations | trace | `torch.fx.Graph` | `jaxpr` |
# | `fuse` | `ag.jit_compile` | `torch.compile` | `jax.jit` |
# | `key_of` | its cache | guards | abstract values, static arguments |
# | a name from outside | – | a guard is checked in every call | stays as it was |
# | falls back: `why` | falls back | graph break: two graphs, Python between | error: `TracerBoolConversionError` |
# | `register_primitive` | `register_primitive` | `torch.library.custom_op` | `jax.custom_vjp` |
# | lines of C | lines of C | Triton or C++, by Inductor | XLA |
#
# ## What comes next
#
# You now have all parts: kernels, a tape, operations of your own, and a compiler. In lesson 13 they train a network on
# handwritten digits.
