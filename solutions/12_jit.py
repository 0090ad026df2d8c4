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
# In lesson 11 you wrote one kernel pair for one formula, by hand. Today you write the program that writes such pairs.
#
# ```
#  Python function ──▶ trace ──▶ lines of C ──▶ kernel          forward
#                        │
#                        └─────▶ lines of C, walked backwards ──▶ kernel      backward
# ```
#
# That is what `jit_compile` does in netcl, `torch.compile` in PyTorch and `jax.jit` in JAX. Yours has about 60 lines.

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
SETTINGS = settings("float32", 1) + "#define V T\n"  # C macros: ADD, MUL, TANH, …; T, V are float


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
# The tape is what you built in lesson 10. The next cell looks for your saved notebooks of lesson 10 in `work/`, tries
# what you wrote with its checks, and lets what is right run here in the place of the finished engine. It says whose
# functions stand where; without such a notebook, that there is none.

# %% demo
from autograder.notebook import mine

mine(before=12)

# %% [markdown]
# ## 1 · Five operations
#
# $\tanh(xy + x) \cdot \sigma(y)$: five operations, x and y used twice each. How many kernels does engine 3 launch, forward
# and backward? A backward rule is one launch, but for the rule of +: it hands on the gradient that it
# gets, and launches nothing. Adding up two gradients is one launch more.

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
# Each bar reads its inputs from memory and writes its result to memory, where the next one reads it again. `x * y` is in
# memory for no other reason than to be read once.
#
# A kernel that did all of it could keep `x * y` in a register. To write that kernel, somebody has to know the formula. Python
# has it, but as a function, and a function can only be called.
#
# ## 2 · Call it with nothing
#
# So call it, with arguments that hold **no numbers**. Whatever is done to them, they write down.
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
# Every operator ends in `operation`. What an operation *is*, engine 3 keeps in a table, one record for each. The record
# speaks C:

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
    """An operation on things that are not computed yet: written down, as a Traced.

    name    of a record in the table: get_primitive(name), which raises KeyError for unknown ones
    args    Traced, and numbers (numbers.Real), which become C text: c_number(0.5)
    attrs   constants; primitive.constants(attrs) gives all of them, with their defaults

    An input's gradient is needed if it is a Traced that wants one; none is where the record's
    backward is None, or for a number. TypeError for any other argument, such as an array.

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
# <details><summary>Hint 2</summary>For a Traced: itself, and <code>x.wants</code>. For a number: <code>c_number(x)</code>, and
# <code>False</code>.</details>
# <details><summary>Hint 3</summary>In the end <code>Traced(name, tuple(inputs), tuple(needs), primitive.constants(attrs),
# primitive)</code>.</details>

# %% [markdown]
# Now functions like `tanh`, that work on Nodes, and on what holds no numbers. And our formula, with them:

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
# Boxes without numbers: a formula as data. We need it as a list, each operation after its inputs. That is the walk of
# lesson 10 once more, so here it is. And names: `v0`, `v1`, … for what comes in, `mul_2`, `add_3`, … for what is computed.

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
# One line for each. The record of the table knows the expression; you bring the names.

# %% exercise="jit.forward" source="tinygrad_cl.netcl.autograd.jit_source:forward_lines"

# %% check="jit.forward"

# %% [markdown]
# <details><summary>Hint 1</summary>For one node: <code>node.primitive.forward(texts(node, names), node.attrs)</code> is the
# right side.</details>
# <details><summary>Hint 2</summary>A list comprehension with one f-string: <code>f"const V {names[node]} = {…};"</code></details>

# %% [markdown]
# ## 4 · A kernel around them
#
# You know this frame from lesson 09. Only that now Python writes it:
#
# ```
#   __kernel void NAME(a pointer for each input, a pointer for each output, const int n)
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

    name      the kernel's
    inputs    names that the lines use for what is loaded: ["v0", "v1"]
    lines     of C, each of them complete
    outputs   names of values that are stored: ["mul_6"]

    Arguments of the kernel: a `__global const float *` for each input, a `__global float *` for
    each output, in their orders, then `const int n`. Work-item i has number i of all of them. More
    than n of them may start. Values are of type V. A name that is both an input and an output
    stands twice among the arguments, as in_v0 and as out_v0.

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
# <details><summary>Hint 1</summary>Two lists of texts: the parameters, joined by <code>", "</code>, and the lines of the body,
# joined by line breaks.</details>
# <details><summary>Hint 2</summary>In an f-string, a brace of C is written twice: <code>{{</code> and <code>}}</code>.</details>
# <details><summary>Hint 3</summary>Do not change the list that you were given: <code>body += lines</code> changes body,
# <code>lines += …</code> would change theirs.</details>

# %% [markdown]
# A few macros go in front (`SETTINGS`: what ADD, TANH and V are), and it can be launched:

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
# No new idea is needed: reverse mode, with text in place of numbers. Where the tape launched a kernel, you write a line.
#
# ```
#    forward                          backward
#
#    mul_2 = v0 * v1                  g_mul_2 = g             mul_6 = end: its gradient is there
#    add_3 = mul_2 + v0       ▲       …
#    …                        │
#    mul_6 = …                │  start here
# ```
#
# `v0` is used twice, so its gradient has two contributions: a line `V g_v0 = …;` and a line `g_v0 += …;`.
#
# What would go wrong if the gradients of both inputs of `add` were one and the same variable? Think of lesson 10.

# %% exercise="jit.backward" source="tinygrad_cl.netcl.autograd.jit_source:backward_lines"

# %% check="jit.backward"

# %% [markdown]
# <details><summary>Hint 1</summary>Begin with <code>gradients = {end: upstream}</code>, and walk
# <code>reversed(body)</code>.</details>
# <details><summary>Hint 2</summary>For each node, the expressions are <code>node.primitive.backward(texts(node, names),
# gradients[node], node.attrs, names[node])</code>. Go through <code>zip(node.inputs, node.needs, expressions)</code>.</details>
# <details><summary>Hint 3</summary>Is the input in <code>gradients</code> already? Then <code>+=</code>. Else give it the name
# <code>g_…</code>, and declare it. Some nodes never got a gradient: they are skipped.</details>

# %% demo
lines, gradients = backward_lines(end, body, names, "g")
print("\n".join(lines))

# %% [markdown]
# ## 6 · What backward needs
#
# Those lines mention `tanh_4` and `sigmoid_5`. They were in registers of another kernel, long gone. Two ways:
#
# | | forward | backward |
# |---|---|---|
# | save | writes them to memory | reads them |
# | compute again | – | a few operations, in registers |
#
# Lesson 07 called the second one a checkpoint. Here it is nearly always the faster one. How many of the five forward lines
# does the backward kernel of our formula need?

# %% predict
guess = predict(lines_again=...)

# %% [markdown]
# Which ones: those that are mentioned, and those that *they* mention, and so on.

# %% exercise="jit.needed" source="tinygrad_cl.netcl.autograd.jit_source:needed"

# %% check="jit.needed"

# %% [markdown]
# <details><summary>Hint 1</summary>From the last line to the first, with a set of all names that are used so far.</details>
# <details><summary>Hint 2</summary>The name that a line computes: <code>re.match(r"const V (\w+) =", line)[1]</code>, or
# <code>line.split()[2]</code>.</details>
# <details><summary>Hint 3</summary>A line that is needed uses names, too: <code>used |= words([line])</code>. At the end turn the
# list round.</details>

# %% demo
again = needed(forward_lines(body, names), lines)
guess.compare(lines_again=len(again))
print(kernel_text("fused_backward", [*[names[leaf] for leaf in leaves], "g"], again + lines,
                  [gradients[leaf] for leaf in leaves]))

# %% [markdown]
# ## 7 · On the tape
#
# Put together, it is one operation on the tape: `apply_op` with one kernel forward and one backward, as in lesson 11. Read it
# once; there is nothing new in it.

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
# Tracing and compiling take milliseconds, so `fuse` keeps each Program for the next call. When will an old one do? When its
# **text** would come out the same. `key_of` says so, and two mistakes are possible:
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

    Two keys are equal if the Program of one call will do for the other, and only then. Numbers are
    constants in the text: -0.0 is not 0.0 there, and nan is the same text as nan. (2 and 2.0 may
    have different keys: that costs one compilation.)
    """
    ### BEGIN SOLUTION
    return tuple([("node", x.requires_grad) if isinstance(x, ag.Node) else ("number", c_number(x))
                  for x in args])
    ### END SOLUTION

# %% check="jit.key"

# %% [markdown]
# <details><summary>Hint 1</summary>The text works for any n: the shape is no part of it. Which attribute of a Node decides which
# gradients are computed?</details>
# <details><summary>Hint 2</summary>A number as it stands in the text: <code>c_number(x)</code>. Texts have no trouble with nan and
# −0.0.</details>
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
# Two launches. The timeline of before, once more:

# %% demo
x.grad = y.grad = None
with profile() as seen:
    with ag.Tape() as tape:
        out = fused(x, y)
    tape.backward(out, upstream)
print(seen.table())
plot_timeline(seen.timeline(), "The same in two kernels")

# %% [markdown]
# And is the backward kernel right, or as wrong as engine 3's? Central differences know nothing of either. Every number is
# moved a little, and the *forward* kernel runs again:

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
# The function below prints a word and uses a name from outside. It is called three times; before the third, `RATE` becomes
# 10. How often does it print? What comes out at the third call, for x = 1?

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
# The key knows the arguments, and `RATE` is none. The 2 stands in the text, and nobody looks again. JAX does the same,
# and says so in its manual. Engine 3 looks into the function for names like `RATE` and puts their values into the key, too:

# %% demo
RATE = 2.0
fast = ag.jit_compile(scaled)
before = float(fast(one).to_host()[0])
RATE = 10.0
print("before", before, "after", float(fast(one).to_host()[0]))

# %% [markdown]
# ## 8 · An operation of your own
#
# The table is open. A *damped oscillation*, with time t and damping k:
#
# $$\text{out} = e^{-kt} \cos t$$
#
# As composed operations it would be a chain again. As a record it is one expression forward and two backward. The names come
# as arguments, so never write `v0` yourself. Derive the two slopes on paper first. One of them is short if you use `out`.

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
# <details><summary>Hint 3</summary>An f-string of C: <code>f"exp(-{k} * {t}) * cos({t})"</code>. Both slopes are multiplied by
# <code>{grad_var}</code>.</details>

# %% [markdown]
# `register_primitive` puts it into the table. From then on everybody can use it: Nodes one by one, your compiler, and engine
# 3's.

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
# It is yours, plus vectors, broadcasting, reductions and a finer key. Decorate a function and call it:

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
# Compare the last one with yours of section 6. Line by line the same; only the way in and out is by vectors.
#
# ### What cannot be fused
#
# Four functions. In how many steps is each computed forward, in your opinion? A step is a kernel for a chain, or an operation
# that stays alone. 0 stands for «not compiled: operation by operation».

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
# - A **sum** may stand at the end of a chain. What comes after it begins another one, because nobody knows the sum before all
#   work-items are done.
# - A **matrix product** is no elementwise operation, and has a kernel of its own. It is a step between two chains, as a
#   softmax is: their records say which shape comes out, and that is all that a trace needs to know.
# - An **`if`** looks at a number, and there is none. `ag.where(x > 0, a, b)` computes both sides and can be traced.
#
# The result is right in all cases: where engine 3 cannot trace, it runs the function as it is, and `why` says so.

# %% demo
for each in ag.jit_compile(product).steps(square):
    print(each)

# %% demo
draw(*ag.jit_compile(normalised).graphs(square))

# %% [markdown]
# Look at `exp`. The second kernel computes it again, from x, instead of reading what the first one had: the bargain of
# section 6 once more. (A box has room for one number; `exp` is in kernel 1, too.)
#
# And its key? A Python number is an *input* of the kernel there, so a learning rate that changes costs a new trace, and no
# new kernel. A shape is in the key, because work is divided by it:

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
# Arithmetic is cheap and memory is not. So count bytes: every kernel reads its tensors and writes its result.

# %% exercise="jit.bytes" own="a count on paper; nothing in the package needs it"
def bytes_moved(end, n):
    """(one by one, fused): bytes that are read and written to compute a traced result, forward.

    end   the Traced of the result; each tensor holds n numbers of 4 bytes

    One by one: a kernel for each operation. Fused: one kernel. A kernel reads each of its tensors
    once, also one that it uses twice, and writes its result. Constants are not read. If the
    result is an input itself, there is no operation, and the one kernel is a copy.

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
# <details><summary>Hint 1</summary><code>chain_of(end)</code> gives what comes in, and the operations.</details>
# <details><summary>Hint 2</summary>A <code>set</code> holds a tensor that is used twice once. Constants are texts, so
# <code>isinstance(x, Traced)</code> leaves them out.</details>
# <details><summary>Hint 3</summary>Fused: each leaf once, and one result.</details>

# %% [markdown]
# Two formulas: one of cheap arithmetic, and ours, with tanh and σ in it. First the prediction by bytes, then you: how many
# times as fast is the fused kernel really, for a million numbers?

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
# Compare your device's numbers with the prediction. Two things spoil it, in opposite directions:
#
# - What is **not** memory: tanh and σ take time for themselves, and fusing does not make them cheaper. Then the gain is
#   smaller.
# - Fresh memory: each of the results between has to be allocated, and may not fit into the cache. Then the gain is larger.
#
# And small tensors? There no memory is moved to speak of. There are launches, and what Python does for each.

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
# On the left both lines are flat: the price of launches, eight against one. On the right both rise: the price of bytes.
# The third line is the first, divided by what was predicted. At which end does it meet the fused one? At which end does it
# have no reason to?
#
# ## Messages you may meet
#
# <details><summary><code>RuntimeError: clBuildProgram failed … use of undeclared identifier 'v0'</code></summary>
#
# A line mentions a name that no line before it declares: <code>texts(node, names)</code> was left out, an expression has a name
# written by hand, or a forward line that backward needs is missing. Print the source.
#
# </details>
#
# <details><summary><code>… redefinition of 'g_v0'</code></summary>
#
# Two lines declare the same gradient: the second contribution is <code>+=</code>.
#
# </details>
#
# <details><summary><code>… cannot assign to variable 'g_…' with const-qualified type</code></summary>
#
# A gradient that grows is <code>V g_…</code>, without <code>const</code>.
#
# </details>
#
# <details><summary><code>KeyError: Traced(mul(input, input))</code></summary>
#
# A node has no name, or no gradient yet. Is it skipped in the walk back, if nothing wants its gradient?
#
# </details>
#
# <details><summary><code>JitFallback: … is not fused, its operations run one by one: __bool__ …</code></summary>
#
# Engine 3 says why it could not compile a function. The result is right all the same.
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
# All parts are there: kernels, a tape, operations of your own, and a compiler. In module 13 they train a network on
# handwritten digits.
