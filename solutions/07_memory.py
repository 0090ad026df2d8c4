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
# # 07 · Memory: what forward keeps, and how to keep less
#
# `backward` needs numbers that `forward` used or computed: the inputs of a product, the result of a tanh. So forward
# keeps them. The weights of a network may take only a small part of the memory, and still its training may need more
# memory than there is.
#
# Today you count those bytes, predict them by hand, and then free most of them: with smaller batches that add up to a
# large one, and by freeing arrays early and computing them again.

# %% given
import gc
import os
import time
import tracemalloc

os.environ["OMP_NUM_THREADS"] = "1"  # times are easier to compare if one core does all the work

import numpy as np

from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.tensor import (SGD, Adam, Function, Tensor, cross_entropy, dropout, enable_grad,
                                is_grad_enabled, manual_seed, mse_loss, no_grad)
from tinygrad_cl.tensor.core.engine import topological_order
from tinygrad_cl.tensor.core.function import Context
from tinygrad_cl.tensor.memory import owner
from tinygrad_cl.tensor.random import default_generator
from tinygrad_cl.viz import plot_lines, plot_memory


def weights_of(sizes, seed=0, dtype=np.float32):
    """A weight matrix for each two neighbours in `sizes`, all with requires_grad=True."""
    rng = np.random.default_rng(seed)
    shapes = zip(sizes[:-1], sizes[1:])
    return [Tensor((rng.normal(size=s) / np.sqrt(s[0])).astype(dtype), requires_grad=True)
            for s in shapes]


def tanh_layer(h, w):
    """A layer in its shortest form."""
    return (h @ w).tanh()


def all_layers(layer, h, weights):
    for w in weights:
        h = layer(h, w)
    return h


def measure(run):
    """(peak bytes, seconds) of run(): memory above what was there before, and time to compute."""
    run()
    seconds = []
    for _ in range(4):
        start = time.thread_time()  # our own time only, so that a busy machine does less harm
        run()
        seconds.append(time.thread_time() - start)
    gc.collect()
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, min(seconds)

# %% [markdown]
# ### Go on with your own engine, if you like
#
# The engine is what you built in lessons 03 to 06, and an upper floor on it. The next cell looks for your saved
# notebooks of lessons 03 to 06 in `work/`, tries what you wrote with its checks, and lets what is right run here in the
# place of the finished engine. It prints which functions are yours. If there is no such notebook, it says so.

# %% demo
from autograder.notebook import mine

mine(before=7)

# %% [markdown]
# ## A mountain
#
# A network of 24 layers. After each layer, forward and backward, we ask Python how many bytes it holds. The first curve
# shows one step of the engine as you know it. The second curve shows a step that needs much less memory and has the
# same gradients, to the last digit. In this lesson you write what makes the second curve so low.

# %% demo
from tinygrad_cl.tensor import checkpoint as finished_checkpoint

rng = np.random.default_rng(0)
rows = Tensor(rng.normal(size=(1024, 64)).astype(np.float32))
stack = weights_of([64] * 25)


def watched(run_layers, batch=rows, weights=stack):
    """Bytes held after each layer of a forward and a backward."""
    held = []

    def note(_=None):
        held.append(tracemalloc.get_traced_memory()[0])

    def layer(h, w):
        h = tanh_layer(h, w)
        note()
        if h.requires_grad:
            h.register_hook(note)  # called when backward arrives here
        return h

    gc.collect()
    tracemalloc.start()
    run_layers(layer, batch, weights).sum().backward()
    tracemalloc.stop()
    for w in weights:
        w.zero_grad()
    return held


def by_sixes(layer, h, weights):
    def run(h, *part):
        return all_layers(layer, h, part)

    for i in range(0, len(weights), 6):
        h = finished_checkpoint(run, h, *weights[i:i + 6])
    return h


plain = watched(all_layers)
plot_memory({"forward up, backward down": plain, "at the end of the lesson": watched(by_sixes)},
            "24 layers: bytes held", "layers computed or walked back")

# %% [markdown]
# On the way up, each layer keeps arrays. On the way down, backward uses these arrays and frees them. How much memory
# you need is decided by the top. The <dfn>peak</dfn> of a step is the largest number of bytes that are held at any
# moment of the step.
#
# The second curve has teeth: there, layers are computed a second time. This curve is longer and much lower: the step
# takes more time and needs less memory.

# %% [markdown]
# ## 1 · Count what is kept
#
# First, which node keeps what? Every node of the graph has `kept_arrays()`, the list of the arrays that were saved for
# its backward. One operation below is new: <dfn>dropout</dfn>, `dropout(x)`, sets numbers of x, chosen at random in
# each call, to 0 during training. (With it, a network cannot rely on single numbers.) Its *mask*, an array of True and
# False, says which numbers stay.

# %% demo
x = Tensor(rng.normal(size=(3, 4)), requires_grad=True)
y = Tensor(rng.normal(size=(3, 4)), requires_grad=True)
w = Tensor(rng.normal(size=(4, 2)), requires_grad=True)
for text, result in {"x + y": x + y, "x * y": x * y, "x @ w": x @ w, "x.exp()": x.exp(),
                     "x.relu()": x.relu(), "x.gelu()": x.gelu(), "x.sum()": x.sum(),
                     "dropout(x)": dropout(x)}.items():
    names = {id(x.data): "x", id(y.data): "y", id(w.data): "w", id(result.data): "the result"}
    kept = [names.get(id(a), f"a mask of {a.dtype}") for a in result.grad_fn.kept_arrays()]
    print(f"{text:12} keeps {' and '.join(kept) or 'nothing'}")

# %% [markdown]
# A rule keeps what it needs to compute its derivative, and no more. The derivatives of a sum are 1, so a sum keeps
# nothing. relu could keep x, but its result is enough: it is above 0 exactly where x is above 0. relu keeps its result,
# because **the next layer keeps that anyway**, and an array that two nodes hold is in memory only once. (This is the
# engine's own relu. If your `ReLU` of lesson 05 runs here and saves x or a mask, the table above shows that, and the
# counts below are larger than those of the formula that you write in section 2.)
#
# So a function that counts bytes has to count each memory once, however many nodes hold it. A view (`x.reshape(…)`,
# `x.mT`, a slice) has no memory of its own: it lies in the memory of another array, and `owner(array)` is that array.

# %% exercise="memory.saved_bytes" source="tinygrad_cl.tensor.engine:saved_bytes"

# %% check="memory.saved_bytes"

# %% [markdown]
# <details><summary>Hint 1</summary><code>topological_order([…])</code> takes a list of roots: here the node
# <code>tensor.grad_fn</code>, or, for a leaf, the tensor itself. In what it returns there are leaves, too, and a leaf
# has no <code>kept_arrays</code>: ask <code>isinstance(node, Context)</code>.</details>
# <details><summary>Hint 2</summary>A dict <code>{id(array): array}</code> holds each array once. Take the
# <code>owner</code> first, on both sides: of what is kept, and of <code>without</code>.</details>
# <details><summary>Hint 3</summary>An array knows its size in bytes: <code>array.nbytes</code>.</details>

# %% [markdown]
# ## 2 · Predict it by hand
#
# You can predict it on paper, with the rules above and one more: cross_entropy saves the logits that it is given. (Its
# one-hot table, one byte for each logit, is not saved with `save_for_backward`, so `kept_arrays()` does not list it,
# and we do not count it.) A network of the sizes 784, 512, 256, 128, 10, for 64 pictures at once:
#
# ```
# x (64, 784) ─ @W+b ─ relu ─ (64, 512) ─ @W+b ─ relu ─ (64, 256) ─ … ─ @W+b ─ (64, 10) ─ cross_entropy
# ```
#
# **How many bytes does forward keep, the weights not counted?** float32, 4 bytes a number. Ask for each array on the
# way: does a node keep it? Did I count it already?

# %% predict
mlp_guess = predict(kilobytes=...)  # 1 kilobyte = 1000 bytes

# %% [markdown]
# Now as a function, for any sizes, and for gelu, too: look up above what gelu keeps, and ask whether another node keeps
# the same array.

# %% exercise="memory.mlp" own="a count on paper, held against what saved_bytes counts; nothing in the package needs it"
def mlp_bytes(batch, sizes, activation="relu", itemsize=4):
    """The bytes that forward keeps in an MLP with cross-entropy at its end, parameters not counted.

    batch        how many rows
    sizes        [inputs, hidden, …, outputs], two numbers at least
    activation   "relu" or "gelu", after each layer h @ W + b but the last
    itemsize     bytes of one number

    h @ W keeps h, + b keeps nothing, cross_entropy keeps what it is given, the last layer's output.

    >>> mlp_bytes(2, [3, 5, 4])
    96
    >>> mlp_bytes(2, [3, 5, 4], "gelu")
    136
    """
    ### BEGIN SOLUTION
    numbers = sum(sizes)
    if activation == "gelu":
        numbers += sum(sizes[1:-1])
    return batch * numbers * itemsize
    ### END SOLUTION

# %% check="memory.mlp"

# %% [markdown]
# <details><summary>Hint 1</summary>With relu: the input of each layer, and the logits. The result of relu <em>is</em> the
# input of the next layer.</details>
# <details><summary>Hint 2</summary>gelu keeps its input, and the layer after it keeps its result: two arrays of the same
# shape for each hidden size. <code>sizes[1:-1]</code> are the hidden ones.</details>

# %% [markdown]
# Compare your formula with your `saved_bytes`:

# %% demo
def mlp_loss(sizes, activation, batch=64):
    rng = np.random.default_rng(1)
    weights = weights_of(sizes)
    biases = [Tensor(np.zeros(n, np.float32), requires_grad=True) for n in sizes[1:]]
    h = Tensor(rng.normal(size=(batch, sizes[0])).astype(np.float32))
    for w, b in zip(weights[:-1], biases[:-1]):
        h = getattr(h @ w + b, activation)()
    logits = h @ weights[-1] + biases[-1]
    return cross_entropy(logits, rng.integers(sizes[-1], size=batch)), [*weights, *biases]


sizes = [784, 512, 256, 128, 10]
for activation in ("relu", "gelu"):
    loss, parameters = mlp_loss(sizes, activation)
    counted = saved_bytes(loss, without=parameters)
    print(f"{activation}: by hand {mlp_bytes(64, sizes, activation):,} bytes, counted {counted:,}")
mlp_guess.compare(kilobytes=mlp_bytes(64, sizes) / 1000)
number = sum(p.data.nbytes for p in parameters) / mlp_bytes(1, sizes)
print(f"\nfrom a batch of {np.ceil(number):.0f} on, what relu keeps is more than the parameters")

# %% [markdown]
# ### One layer in detail
#
# 32 rows go through one layer from 512 to 768 numbers; x is the result of a layer before it. Predict in kilobytes (of
# 1000 bytes): what is kept apart from the parameters, and how large are the three gradients that backward makes?

# %% predict
layer_guess = predict(kept=..., grad_x=..., grad_W=..., grad_b=...)

# %% demo
x = Tensor(rng.normal(size=(32, 512)).astype(np.float32), requires_grad=True)
(W,) = weights_of([512, 768])
b = Tensor(np.zeros(768, np.float32), requires_grad=True)
y = x @ W + b
kept = saved_bytes(y, without=[W, b])
y.sum().backward()
layer_guess.compare(kept=kept / 1000, grad_x=x.grad.data.nbytes / 1000,
                    grad_W=W.grad.data.nbytes / 1000, grad_b=b.grad.data.nbytes / 1000)
everything = {"x": x, "W": W, "b": b}
numbers = {name: t.data.nbytes for name, t in everything.items()}
numbers |= {f"∂L/∂{name}": t.grad.data.nbytes for name, t in everything.items()}
for name, size in numbers.items():
    print(f"{name:6} {size / 1000:8,.1f} kB  {'█' * round(size / 30_000)}")
print(f"sum    {sum(numbers.values()) / 1000:8,.1f} kB")

# %% [markdown]
# A gradient always has the shape of the array that it belongs to. With few rows the weights and their gradients are
# most of the memory. In the list above, only x and ∂L/∂x grow with the batch. The next section counts the part that
# does not depend on the batch at all.

# %% [markdown]
# ## 3 · What stays from step to step
#
# Some arrays stay from one step to the next: the parameters, the gradients, and the optimizer state. The <dfn>optimizer
# state</dfn> consists of the arrays that an optimizer keeps from step to step, such as Adam's m and v. Plain SGD keeps
# none.

# %% exercise="memory.state" own="a measurement of an optimizer; nothing in the package needs it"
def training_bytes(optimizer):
    """Bytes in memory between two steps: (parameters, gradients, the optimizer's arrays).

    optimizer.parameters   a list of tensors; their `grad` is None or a tensor
    optimizer.state        a list with one dict for each parameter; in it, NumPy arrays count,
                           plain numbers do not

    >>> w = Tensor(np.ones((3, 5), np.float32), requires_grad=True)
    >>> sgd = SGD([w], lr=0.1, momentum=0.9)
    >>> training_bytes(sgd)
    (60, 0, 0)
    >>> w.sum().backward(); sgd.step()
    >>> training_bytes(sgd)
    (60, 60, 60)
    """
    ### BEGIN SOLUTION
    parameters = sum(p.data.nbytes for p in optimizer.parameters)
    gradients = sum(p.grad.data.nbytes for p in optimizer.parameters if p.grad is not None)
    arrays = [value for state in optimizer.state for value in state.values()
              if isinstance(value, np.ndarray)]
    return parameters, gradients, sum(array.nbytes for array in arrays)
    ### END SOLUTION

# %% check="memory.state"

# %% [markdown]
# <details><summary>Hint 1</summary>The array of a tensor is <code>p.data</code>, that of its gradient
# <code>p.grad.data</code>; each has <code>nbytes</code>.</details>
# <details><summary>Hint 2</summary>Two loops for the third number: over <code>optimizer.state</code>, and in each dict
# over its <code>values()</code>; <code>isinstance(value, np.ndarray)</code> picks the arrays.</details>

# %% [markdown]
# ### Predict, then run
#
# A model with a billion parameters in float32, trained with Adam. How many gigabytes (of 10⁹ bytes) do the parameters
# take? And how many all together, with gradients and Adam's state, before the first row of data is there?

# %% predict
billion_guess = predict(parameters=..., all_together=...)

# %% demo
def bytes_per_parameter(make):
    w = weights_of([30, 40])
    optimizer = make(w)
    (w[0] * w[0]).sum().backward()
    optimizer.step()
    return [size / w[0].size for size in training_bytes(optimizer)]


for name, make in {"SGD": lambda w: SGD(w, lr=0.1),
                   "SGD, momentum": lambda w: SGD(w, lr=0.1, momentum=0.9), "Adam": Adam}.items():
    each = bytes_per_parameter(make)
    print(f"{name:14} bytes per parameter: {each[0]:g} + {each[1]:g} + {each[2]:g} = {sum(each):g}")
billion_guess.compare(parameters=each[0], all_together=sum(each))  # 10⁹ times, over 10⁹

# %% [markdown]
# A graphics card of 16 GB is full then, and nothing is computed yet. The methods of this lesson do not make this part
# smaller. What helps is smaller numbers (float16), a share of the state on each of several machines, or another
# optimizer. The rest of the lesson is about the other part, what forward keeps.

# %% [markdown]
# ## 4 · Many small batches are one large batch
#
# What is kept grows with the number of rows. But gradients add up in `grad` until `zero_grad` is called. To
# <dfn>accumulate</dfn> gradients means to add the gradients of several backward calls in `grad` before one step. A
# <dfn>micro-batch</dfn> is a part of a batch that goes through forward and backward alone, to save memory. So cut the
# batch into micro-batches and call `backward` for each: this frees the graph of the micro-batch. Below, l₁ is the loss
# of row 1, and so on:
#
# ```
# loss of 6 rows   =  (l₁ + l₂ + l₃ + l₄ + l₅ + l₆) / 6
# 4 rows, 2 rows   =  (l₁ + l₂ + l₃ + l₄) / 4  · ?   +   (l₅ + l₆) / 2  · ?
# ```
#
# Which numbers stand in place of the question marks?

# %% exercise="memory.accumulate" own="a training loop; the package leaves loops to its users"
def accumulate(loss_of, x, y, size):
    """The gradient of a whole batch, one micro-batch after the other; returns the batch's loss.

    loss_of   loss_of(some rows of x, the same rows of y) is the mean loss over these rows, a tensor
    x, y      arrays with the same number of rows
    size      rows in a micro-batch at most; the number of rows need not be a multiple of it

    Adds to the `grad` of the leaves what loss_of(x, y).backward() would add. Before the next
    micro-batch starts, the graph of the last one is freed. The loss is that of loss_of(x, y), as a
    plain number.
    """
    ### BEGIN SOLUTION
    total = 0.0
    for start in range(0, len(x), size):
        part = slice(start, start + size)
        loss = loss_of(x[part], y[part]) * (len(x[part]) / len(x))
        loss.backward()
        total += loss.item()
    return total
    ### END SOLUTION

# %% check="memory.accumulate"

# %% [markdown]
# <details><summary>Hint 1</summary>(l₁ + … + l₄) / 4 · <strong>4/6</strong> is (l₁ + … + l₄) / 6: each mean counts by its
# share of the rows.</details>
# <details><summary>Hint 2</summary><code>range(0, len(x), size)</code> gives the starts; the last slice may be shorter,
# so ask it for its own <code>len</code>. The loss as a number is <code>loss.item()</code>.</details>

# %% [markdown]
# Is the gradient the same, and what does it cost? The next cell runs a step of 12 layers and 4,096 rows, in smaller and
# smaller pieces.

# %% demo
deep = weights_of([64] * 13)
inputs = rng.normal(size=(4096, 64)).astype(np.float32)
targets = rng.normal(size=(4096, 64)).astype(np.float32)


def deep_loss(x, y):
    return mse_loss(all_layers(tanh_layer, Tensor(x), deep), Tensor(y))


def gradients(run):
    for w in deep:
        w.zero_grad()
    run()
    return np.concatenate([w.grad.data.ravel() for w in deep])


whole = gradients(lambda: deep_loss(inputs, targets).backward())
pieces, peaks, seconds = [1, 2, 4, 8, 16, 32], [], []
for n in pieces:
    def in_pieces():
        return accumulate(deep_loss, inputs, targets, 4096 // n)

    difference = np.abs(gradients(in_pieces) - whole).max() / np.abs(whole).max()
    peak, took = measure(in_pieces)
    peaks.append(peak)
    seconds.append(took)
    print(f"micro-batches: {n:2}, peak {peak / 1e6:5.1f} MB, {1000 * took:4.0f} ms, "
          f"gradient differs by {difference:.0e}")
plot = plot_lines(pieces, {"peak memory": np.array(peaks) / peaks[0],
                           "time": np.array(seconds) / seconds[0]},
                  "A batch of 4,096 in micro-batches", "micro-batches", "times the whole batch",
                  log="x")
plot.axes.set_xticks(pieces, pieces)
plot

# %% [markdown]
# With twice as many pieces the peak is nearly halved, until the gradients of the weights are most of what is left. The
# time hardly changes as long as the pieces are large. But each piece costs the same extra work: Python goes through all
# the layers once more, and something is added to each weight's gradient once more. With many small pieces this extra
# work is a large part of the time. The last digits of the gradient differ, since the same sums are computed in another
# order.
#
# <details><summary>When is it <em>not</em> the same?</summary>When the result for one row depends on the other rows of
# the batch. An example is <em>batch normalization</em>, an operation that, among other things, subtracts from each
# number the mean of its column. With micro-batches this is the mean of the micro-batch, so the gradient is another one.
# And dropout draws other masks.</details>

# %% [markdown]
# ## 5 · Free it, and compute it again
#
# What if one row alone, through a hundred layers, is too much? Then keep the results of a few layers only. A
# <dfn>checkpoint</dfn> is an array that forward keeps so that backward can compute the arrays after it again, instead
# of keeping those, too. A <dfn>segment</dfn> consists of the layers from one checkpoint to the next. When backward
# comes to a segment, it computes the results inside it again, from the checkpoint at its start:
#
# ```
# plain          x  h₁ h₂ h₃ h₄ h₅ h₆ h₇ h₈ h₉   all of them kept
# checkpointed   x  ·  ·  h₃ ·  ·  h₆ ·  ·  ·    each dot is computed again, when backward comes there
# ```
#
# (h₉ is the result. No segment begins there, so it is not kept for backward.)
#
# To *checkpoint* a function means to call it such that it does this. The engine of lesson 04 can do it, with a
# `Function` that gets a second function as an option and runs it in its forward. It saves its inputs and nothing else:
# inside, forward records no graph. Its backward runs the function once more, this time recorded, and so builds the
# small graph of this segment. Then it walks this graph.

# %% exercise="memory.checkpoint" own="one node that runs its function again; the package's checkpoint keeps the nodes inside and fills them again, so that hooks and gradients of gradients work"
class Checkpoint(Function):
    """A function as one node: it keeps the inputs, and computes the rest again in backward."""

    @staticmethod
    def forward(ctx, *arrays, function):
        """The result of function(*tensors), a tensor for each array; no recording (no_grad).

        arrays     kept with ctx.save_for_backward: as inputs, they are there anyway
        function   takes tensors, returns one. Keep it for backward, as ctx.rerun, say; the names
                   ctx.function and ctx.segment are taken

        Returns an array, the `data` of the result.
        """
        ### BEGIN SOLUTION
        ctx.save_for_backward(*arrays)
        ctx.rerun = function
        with no_grad():
            return function(*[Tensor(array) for array in arrays]).data
        ### END SOLUTION

    @staticmethod
    def backward(ctx, grad):
        """∂L/∂(each input), in a tuple, from grad = ∂L/∂(the result).

        1. Of each tensor in ctx.saved_tensors make a leaf: detach() it, so that the small graph
           ends here; its requires_grad is what ctx.needs_input_grad says.
        2. Run the function on the leaves. In a backward nothing is recorded, so do it in
           enable_grad().
        3. Call backward of that result, with grad, and return what the leaves have as `grad` then.
        """
        ### BEGIN SOLUTION
        leaves = [x.detach().requires_grad_(needed)
                  for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad)]
        with enable_grad():
            result = ctx.rerun(*leaves)
        result.backward(grad)
        return tuple(leaf.grad for leaf in leaves)
        ### END SOLUTION

# %% given
def checkpoint(function, *inputs):
    """function(*inputs) for tensors, of which at least one has requires_grad=True."""
    return Checkpoint.apply(*inputs, function=function)

# %% check="memory.checkpoint"

# %% [markdown]
# <details><summary>Hint 1</summary>forward has three lines: save, note the function, and run it in
# <code>with no_grad():</code>. Arrays have no <code>tanh()</code>: wrap each in <code>Tensor(array)</code>.</details>
# <details><summary>Hint 2</summary><code>x.detach().requires_grad_(needed)</code>, with
# <code>zip(ctx.saved_tensors, ctx.needs_input_grad)</code>, makes the leaves.</details>
# <details><summary>Hint 3</summary><code>result.backward(grad)</code>, not <code>result.backward()</code>: the upstream
# gradient has the result's shape.</details>

# %% [markdown]
# The network from the start, in four segments of six layers each; each segment is one call of `checkpoint`. How many
# nodes does the graph have now, and what do they keep?

# %% demo
def by_sixes(layer, h, weights):
    def run(h, *part):
        return all_layers(layer, h, part)

    for i in range(0, len(weights), 6):
        h = checkpoint(run, h, *weights[i:i + 6])
    return h


found = []
for name, run_layers in {"plain": all_layers, "yours": by_sixes}.items():
    out = run_layers(tanh_layer, rows, stack)
    nodes = [node for node in topological_order([out.grad_fn]) if isinstance(node, Context)]
    kept = saved_bytes(out, without=[rows, *stack])
    print(f"{name:6} {len(nodes):3} nodes, {kept / rows.data.nbytes:g} arrays kept")
    out.sum().backward()
    found.append([w.grad.data for w in stack])
    for w in stack:
        w.zero_grad()
print("the same gradients, to the last digit:",
      all(np.array_equal(a, b) for a, b in zip(*found)))

plot_memory({"plain": plain, "yours": watched(by_sixes)}, "24 layers: bytes held",
            "layers computed or walked back")

# %% [markdown]
# **Weights are inputs, too.** `checkpoint(run, h, *part)` hands them in.
#
# Could `run` use a weight w that is not among its inputs, such as a global name? Mostly it works: the backward of the
# small graph adds to `w.grad` directly.
#
# But it fails in the first segment. There h is the data, which requires no gradient. If no input of a `Function`
# requires a gradient, its call is not recorded, and its `backward` is never called. The weights of this segment would
# get no gradient, and no error would say so.

# %% [markdown]
# ## 6 · The same random numbers again
#
# Computing again must give the same numbers. Dropout sets other numbers to 0 in each call, so a second run drops
# others. In the next cell each number is dropped, that is set to 0, with probability 1/2, inside a checkpointed
# function.
#
# **Predict:** at how many places, in percent, does the gradient fit the result? (It fits where both are 0, or both are
# not 0.)

# %% predict
dice_guess = predict(percent=...)

# %% demo
def agreement(function):
    manual_seed(3)
    x = Tensor(np.ones((100, 100), np.float32), requires_grad=True)
    out = checkpoint(function, x)
    out.sum().backward()
    return 100 * np.mean((out.data == 0) == (x.grad.data == 0))


dice_guess.compare(percent=agreement(lambda x: dropout(x, 0.5)))

# %% [markdown]
# There is no error and no NaN, but this is the gradient of another network than the one that computed the loss. The
# second run has to draw the same random numbers as the first.
#
# `default_generator()` is where dropout gets its numbers. Its `bit_generator.state` is a dict that can be read, kept,
# and assigned again. But after the second run the generator must go on as if there had been no second run.
# (`manual_seed(3)` makes a new generator, which begins with the number 3. So ask for `default_generator()` in each
# call.)

# %% exercise="memory.replay" own="a function that repeats its random numbers; the package's checkpoint does that for several generators, as a part of its segments"
def replayable(function):
    """A function that does what `function` does, with the same random numbers in every call.

    The first call draws from default_generator() as ever. Each later call starts from the state
    that the generator had right before the first call; after it, the generator is again in the
    state that it had before that later call.

    >>> manual_seed(0)
    >>> noise = replayable(lambda: dropout(Tensor(np.ones(5))).data)
    >>> np.array_equal(noise(), noise())
    True
    """
    ### BEGIN SOLUTION
    first = None

    def run(*inputs, **options):
        nonlocal first
        generator = default_generator()
        now = generator.bit_generator.state
        if first is None:
            first = now
            return function(*inputs, **options)
        generator.bit_generator.state = first
        result = function(*inputs, **options)
        generator.bit_generator.state = now
        return result

    return run
    ### END SOLUTION

# %% check="memory.replay"

# %% [markdown]
# <details><summary>Hint 1</summary>An inner function that assigns to a name of the outer function needs
# <code>nonlocal</code>. Start with <code>first = None</code>: so the inner function knows which call is the
# first.</details>
# <details><summary>Hint 2</summary>A later call has four lines: note the state, go back to <code>first</code>, call the
# function, put back what you noted.</details>
# <details><summary>Hint 3</summary>Call <code>default_generator()</code> in the inner function, each time:
# <code>manual_seed</code> makes a new one.</details>

# %% demo
print(f"replayed: {agreement(replayable(lambda x: dropout(x, 0.5))):g} percent fit")

# %% [markdown]
# ## 7 · How long should a segment be?
#
# Two extremes: every layer a segment of its own, or all layers in one. **Before you write anything: how much memory
# does each of the two save?** Count, for nine layers, the arrays that exist when backward begins with the last segment:
# the kept inputs of the segments, and the results of all layers of the segment that is computed again, its last layer
# included.

# %% predict
nine_guess = predict(each_alone=..., in_threes=..., all_in_one=...)

# %% exercise="memory.segments" own="a user of checkpoint: where to cut"
def in_segments(layer, x, weights, length):
    """All layers in a row, checkpointed in segments: layer(…layer(layer(x, w₀), w₁)…, last w).

    layer     layer(h, w) is a tensor; it may draw random numbers, which have to be the same again
    x         a tensor, with requires_grad=True or not
    weights   a list of tensors with requires_grad=True
    length    layers in a segment; the last segment may be shorter

    Each segment is one `checkpoint`, of a `replayable` function; its inputs are the h with which it
    begins, and its weights.
    """
    ### BEGIN SOLUTION
    def run(h, *part):
        for w in part:
            h = layer(h, w)
        return h

    for start in range(0, len(weights), length):
        x = checkpoint(replayable(run), x, *weights[start:start + length])
    return x
    ### END SOLUTION

# %% check="memory.segments"

# %% [markdown]
# <details><summary>Hint 1</summary>Inside, you need a function <code>run(h, *part)</code> that goes through its own
# weights. Hand this function to <code>checkpoint</code>.</details>
# <details><summary>Hint 2</summary>Make a new <code>replayable(run)</code> for each segment: each segment starts from
# another state of the random numbers.</details>
# <details><summary>Hint 3</summary><code>range(0, len(weights), length)</code> gives the starts, and the star hands in
# the weights: <code>*weights[start:start + length]</code>.</details>

# %% [markdown]
# First the nine layers, counted with your `saved_bytes`, in arrays of the size of x.

# %% demo
nine = weights_of([100] * 10)
x = Tensor(np.ones((500, 100), np.float32), requires_grad=True)
together = {}
for length in (1, 3, 9):
    out = in_segments(tanh_layer, x, nine, length)
    kept = saved_bytes(out, without=nine) // x.data.nbytes
    again = saved_bytes(all_layers(tanh_layer, x, nine[:length]), without=[x, *nine])
    together[length] = kept + again // x.data.nbytes
    print(f"segments of {length}: {kept} kept + {again // x.data.nbytes} computed again"
          f" = {together[length]}")
print("plain:", saved_bytes(all_layers(tanh_layer, x, nine), without=nine) // x.data.nbytes)
nine_guess.compare(each_alone=together[1], in_threes=together[3], all_in_one=together[9])

# %% [markdown]
# Neither extreme saves anything. With n layers in segments of k there are n/k arrays kept and k computed again. The
# slope of n/k + k in k is 1 − n/k². It is 0 at k = √n, and there the sum is smallest. So a network of a hundred layers
# needs the memory of twenty.
#
# ### Predict, then run
#
# Now 36 layers, measured. Which length of the segments has the lowest peak? And how much more time does a step take, in
# percent? A plain step is one forward and one backward, and a backward takes about as long as two forwards.

# %% predict
trade_guess = predict(best_length=..., more_time_percent=...)

# %% demo
long = weights_of([64] * 37)
batch = Tensor(rng.normal(size=(512, 64)).astype(np.float32))


def step(length=None):
    if length is None:
        out = all_layers(tanh_layer, batch, long)
    else:
        out = in_segments(tanh_layer, batch, long, length)
    out.sum().backward()
    del out
    for w in long:
        w.zero_grad()


lengths = [1, 2, 4, 6, 9, 18, 36]
plain_peak, plain_seconds = measure(step)
peaks, seconds = zip(*[measure(lambda: step(length)) for length in lengths])
by_hand = [36 / k + k for k in lengths]
best = lengths[int(np.argmin(peaks))]
trade_guess.compare(best_length=best,
                    more_time_percent=100 * (np.median(seconds) / plain_seconds - 1))
plot = plot_lines(lengths, {"peak memory": np.array(peaks) / plain_peak,
                            "by hand: (n/k + k) / (n + 1)": np.array(by_hand) / 37,
                            "time": np.array(seconds) / plain_seconds},
                  "36 layers in segments: memory against time", "layers in a segment",
                  "times the plain step", log="x")
plot.axes.set_xticks(lengths, lengths)
plot

# %% [markdown]
# Near its lowest point the curve of the memory is flat, so the exact root is not needed. The time depends little on the
# length: each layer is computed once more, however long its segment is, and very short segments add some work of
# Python's own. A plain step takes the time of three forwards: one forward, and a backward that takes two. Checkpoints
# add one forward, so a step takes about a third more. Read in your plot how near your machine comes to that.

# %% [markdown]
# ## When Python complains
#
# <details><summary><code>AttributeError: 'Tensor' object has no attribute 'kept_arrays'</code></summary>
# The topological order also contains leaves. Only an instance of <code>Context</code> keeps something.</details>
#
# <details><summary><code>TypeError: 'Context' object is not iterable</code></summary>
# <code>topological_order</code> takes a list of roots, also if there is only one.</details>
#
# <details><summary><code>ValueError: The truth value of an array with more than one element is ambiguous</code></summary>
# <code>array in some_list</code> compares numbers with <code>==</code>. The question is whether it is the same memory:
# compare <code>id(owner(array))</code>.</details>
#
# <details><summary><code>AttributeError: 'NoneType' object has no attribute 'data'</code></summary>
# A parameter had no backward yet: its <code>grad</code> is None, and takes no memory. In
# <code>Checkpoint.backward</code>: an input requires no gradient; return <code>leaf.grad</code> as it is.</details>
#
# <details><summary><code>KeyError: 'm'</code></summary>
# The state of Adam has an m after the first step, that of SGD never. Go over all values of the dict.</details>
#
# <details><summary><code>TypeError: object of type 'slice' has no len()</code></summary>
# Use the rows, <code>len(x[part])</code>: the last slice may go beyond the end of x.</details>
#
# <details><summary><code>AttributeError: 'function' object has no attribute 'backward'</code> (or
# <code>'recompute'</code>)</summary> You assigned your function to <code>ctx.function</code>. There the engine keeps
# the class <code>Checkpoint</code>, whose backward it wants to call. Take another name; <code>ctx.segment</code> is
# taken, too.</details>
#
# <details><summary><code>TypeError: function() missing 2 required positional arguments</code></summary>
# The function takes tensors one after the other, not a list of them: <code>function(*tensors)</code>.</details>
#
# <details><summary><code>AttributeError: 'numpy.ndarray' object has no attribute 'tanh'</code> (or
# <code>'gelu'</code>)</summary> <code>Checkpoint.forward</code> gets arrays; the function takes tensors:
# <code>Tensor(array)</code>.</details>
#
# <details><summary><code>RuntimeError: backward: this tensor requires no gradient</code></summary>
# In <code>Checkpoint.backward</code>: the second run was not recorded (<code>enable_grad()</code>), or no leaf requires
# a gradient (<code>requires_grad_</code>). In <code>accumulate</code>: the loss was computed in
# <code>no_grad</code>.</details>
#
# <details><summary><code>RuntimeError: Checkpoint.backward returned 1 gradients for 2 inputs</code></summary>
# One gradient for each input, in the same order, None where there is none.</details>
#
# <details><summary><code>RuntimeError: NumPy records nothing, and this tensor requires a gradient</code></summary>
# <code>Checkpoint.forward</code> returned a tensor that was recorded. Run the function in <code>no_grad()</code> and
# return its <code>data</code>. In <code>in_segments</code>: a list of weights is one of the inputs; hand them in with a
# star.</details>
#
# <details><summary><code>RuntimeError: MatMul: backward has been here before, and freed what it needs</code></summary>
# There were two backwards through one graph. In <code>accumulate</code>: call backward on the loss of this micro-batch,
# not on a sum with the ones before. In <code>Checkpoint.backward</code>: run the function again, every time.</details>
#
# <details><summary><code>UnboundLocalError: cannot access local variable 'first'</code></summary>
# A name that is assigned anywhere in a function is local to it. Write <code>nonlocal first</code> in the inner
# function.</details>
#
# <details><summary><code>RecursionError: maximum recursion depth exceeded</code></summary>
# The function of a segment uses x from outside. When backward runs it again, x is the result of all segments, and
# computing that starts from the beginning. Use the argument, h.</details>
#
# <details><summary>A weight's <code>grad</code> stays None, without any error</summary>
# If no input of a checkpoint requires a gradient, its call is not recorded. Make the weights inputs.</details>

# %% [markdown]
# ## What it costs
#
# **Backward takes twice as long as forward.** That was used above; now count it, and measure it. For
# <code>y = h @ W</code>, forward computes one matrix product; backward computes two gradients, and each is a product of
# the same size. The next cell counts the products in the graph.

# %% demo
def relu_stack(width, rows=256, layers=10):
    weights = weights_of([width] * (layers + 1))
    x = Tensor(np.random.default_rng(2).normal(size=(rows, width)).astype(np.float32))

    def forward():
        return all_layers(lambda h, w: (h @ w).relu(), x, weights).sum()

    def forward_and_backward():
        forward().backward()
        for w in weights:
            w.zero_grad()

    return forward, forward_and_backward


forward, _ = relu_stack(8)
products = [node for node in topological_order([forward().grad_fn])
            if isinstance(node, Context) and node.name == "MatMul"]
backward_products = sum(sum(node.needs_input_grad) for node in products)
counted = backward_products / len(products)
print(f"forward {len(products)} products, backward {backward_products}: {counted:g} times as many")
print("(the first layer's input is the data: nobody wants its gradient)")

widths, ratios = [8, 32, 128, 256], []
for width in widths:
    one, both = (measure(run)[1] for run in relu_stack(width))
    ratios.append((both - one) / one)
plot = plot_lines(widths, {"measured": ratios, "products counted": [counted] * len(widths)},
                  "Backward over forward, in time", "width of the layers", "backward / forward",
                  log="x")
plot.axes.set_xticks(widths, widths)
plot

# %% [markdown]
# For wide layers most of the time goes into the products, and the ratio comes near the count. For narrow layers most of
# it goes into Python's own work for each node, and that work need not take twice as long in backward.
#
# **Everything in one table.** The same step, computed in each of the ways of this lesson:

# %% demo
def without_recording():
    with no_grad():
        deep_loss(inputs, targets)


def segmented_loss(x, y):
    return mse_loss(in_segments(tanh_layer, Tensor(x), deep, 4), Tensor(y))


ways = {
    "forward, no_grad": without_recording,
    "forward, recorded": lambda: deep_loss(inputs, targets),
    "forward + backward": lambda: deep_loss(inputs, targets).backward(),
    "checkpointed": lambda: segmented_loss(inputs, targets).backward(),
    "accumulated, 8 pieces": lambda: accumulate(deep_loss, inputs, targets, 512),
    "both": lambda: accumulate(segmented_loss, inputs, targets, 512),
}
print(f"{'12 layers, 4,096 rows':24} {'peak MB':>8} {'ms':>6}   times a full step")
costs = {name: measure(run) for name, run in ways.items()}
full_peak, full_seconds = costs["forward + backward"]
for name, (peak, took) in costs.items():
    print(f"{name:24} {peak / 1e6:8.2f} {1000 * took:6.1f}"
          f"   memory {peak / full_peak:4.2f}, time {took / full_seconds:4.2f}")
for w in deep:
    w.zero_grad()

# %% [markdown] written="memory.explain" points=3
# ## In your own words
#
# A friend's network does not fit into memory. He wraps **the whole of it** in one `checkpoint`. Right after forward,
# little memory is used, and he is proud; but then the step runs out of memory all the same, later than before. Why?
# Would a checkpoint around each single layer be better? What do you advise? Six sentences at most; a small example with
# numbers helps.
#
# <!-- BEGIN SOLUTION -->
# The checkpoint keeps only the input, so after forward there is next to nothing. But backward begins by running the whole
# function again, recorded, and now everything is kept at once: the top is as high as before, it only comes later, and a
# forward more was paid for it. With each layer alone, every layer's input is kept, and those are what was kept in the
# first place, so that saves nothing either (but for what a layer keeps inside). In between, of n layers in segments of k,
# n/k inputs stay and k layers are recomputed at a time; 100 layers in tens need 10 + 10 instead of 100. If one layer alone
# is too much, or the rows are many, micro-batches help, too; against parameters and Adam's state neither does.
#
# **How it is marked**
#
# - 1 point: in backward the whole segment is recomputed with recording, so all is kept at once: same top, at another time.
# - 1 point: each layer alone keeps every input; the trade is n/k + k (in words or numbers), with segments in between.
# - 1 point: a piece of advice that works, and why: segments of about √n, or micro-batches, or both.
#
# A drawing counts in full. That single layers do save what is kept inside of them is right, too, and costs nothing.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# ```python
# import torch
# from torch.utils.checkpoint import checkpoint
#
# y = checkpoint(run, h, *part, use_reentrant=True)      # yours: a Function, its backward runs a backward
# y = checkpoint(run, h, *part, use_reentrant=False)     # the newer one
#
# for x, t in loader:                                    # micro-batches
#     (loss_of(x, t) / pieces).backward()                # right only if all pieces are equally long
# optimizer.step()
# ```
#
# | yours | PyTorch | JAX |
# |---|---|---|
# | `saved_bytes` | `torch.autograd.graph.saved_tensors_hooks` sees each saved tensor | `jax.ad_checkpoint.print_saved_residuals` |
# | `measure`: `tracemalloc` | `torch.cuda.max_memory_allocated()` | `jax.profiler.device_memory_profile` |
# | `checkpoint` | `torch.utils.checkpoint.checkpoint` | `jax.checkpoint`, also `jax.remat` |
# | `in_segments` | `checkpoint_sequential(layers, segments, x)`: the number, not the length | `jax.checkpoint` inside a `scan` |
# | `replayable` | `preserve_rng_state=True`, the default | not needed: a random function is given its state, the *key*, as an argument |
# | `accumulate` | a loop, and `loss / pieces` | a loop or `scan` over a sum of gradients |
#
# The engine's own `checkpoint` (`tinygrad_cl.tensor.checkpoint`) works like PyTorch's newer one: it builds the graph as
# always, then takes the saved arrays out, and brings them back when one is asked for. So gradients of gradients pass
# through it, and it does not matter whether an input requires a gradient. Yours is the older way, and it is shorter.
#
# ## What comes next
#
# **08 custom**: you wrote a `Function` with a rule of its own today. Next you write more of them, test that a rule is
# right, and then compute gradients of gradients.
