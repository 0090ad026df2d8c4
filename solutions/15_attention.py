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
# # 15 · Attention: a model that writes
#
# The last module. You build a small GPT on your own engine, train it while you watch the loss, and let it write.
#
# ```
#   characters    a n n a   h a s   a   r e d   c a t .   t h e   c a t   i s   ?
#       │
#   embedding     a row of numbers for each character, and one for each place
#       │
#   block ×2      look back (attention), then think about it (mlp)
#       │
#   logits        a score for each character that may come next
# ```
#
# To say what comes for `?`, the model has to look back to `red`. Nothing that you have built so far can do that.

# %% given
import math
import time

import numpy as np
from IPython.display import Pretty, display

import tinygrad_cl.netcl.autograd as ag
from autograder.notebook import add_to_class, check, predict
from tinygrad_cl import measured
from tinygrad_cl.netcl import nn
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.nn import init
from tinygrad_cl.netcl.nn.layers import Module
from tinygrad_cl.netcl.ops.reduction import reduce_mean
from tinygrad_cl.netcl.optim import AdamW
from tinygrad_cl.netcl.runtime import capture, profile
from tinygrad_cl.viz import Plot, plot_lines, plot_losses

queue = manager.default("auto").queue

# %% given
NAMES, VERBS = ["anna", "bob", "carl", "dora"], ["has", "sees", "wants"]
COLOURS, ANIMALS = ["red", "blue", "green", "black"], ["cat", "dog", "hen", "fox"]


def write_text(sentences, seed):
    """So many sentences of a tiny language."""
    rng = np.random.default_rng(seed)
    text = []
    for _ in range(sentences):
        name, verb, colour, animal = map(rng.choice, (NAMES, VERBS, COLOURS, ANIMALS))
        text.append(f"{name} {verb} a {colour} {animal}. the {animal} is {colour}. ")
    return "".join(text)


SENTENCES = 2000
TEXT = write_text(SENTENCES, seed=15)
ALPHABET = sorted(set(TEXT))
NUMBER = {character: number for number, character in enumerate(ALPHABET)}


def encode(text):
    """The numbers of its characters, an int32 array."""
    return np.array([NUMBER[character] for character in text], np.int32)


def decode(ids):
    """The characters of numbers, as text."""
    return "".join(ALPHABET[number] for number in ids)


IDS = encode(TEXT)
CONTEXT = 48  # how many characters the model sees at once

# %% [markdown]
# ## A text whose secrets we know
#
# The text is written by a program, the cell above. So we know exactly how well it can be predicted at all.

# %% demo
print(TEXT[:160])
print(f"{len(TEXT):,} characters, {len(ALPHABET)} different ones: {''.join(ALPHABET)!r}")

# %% [markdown]
# Somebody reads the text and says, before each character, how probable each of them is. The loss is $-\ln p$ of the one that
# came, on average: *nats per character*. Guess it for three readers:
#
# - `knows_nothing`: all characters are equally probable
# - `sees_one`: knows the character before, and how often which one follows it
# - `knows_all`: knows the program; surprised only where it draws a name, a verb, a colour, an animal

# %% predict
guess = predict(knows_nothing=..., sees_one=..., knows_all=...)

# %% demo
pairs = np.zeros((len(ALPHABET), len(ALPHABET)))
np.add.at(pairs, (IDS[:-1], IDS[1:]), 1)
follows = pairs / pairs.sum(axis=1, keepdims=True)
NOTHING = math.log(len(ALPHABET))
ONE = -np.log(follows[IDS[:-1], IDS[1:]]).mean()
choices = len(NAMES) * len(VERBS) * len(COLOURS) * len(ANIMALS)
FLOOR = math.log(choices) / (len(TEXT) / SENTENCES)
guess.compare(knows_nothing=NOTHING, sees_one=ONE, knows_all=FLOOR)

# %% [markdown]
# The last number is the floor: no model gets below it on new text. Whatever lies between one character and the floor has to
# come from looking further back.
#
# ## 1 · What is asked
#
# A window of the text, and for **each** of its places the character that comes next:
#
# ```
#   text    … a   r e d   c a t . …
#   x         [a   r e d   c a t]
#   y         [  r e d   c a t .]        the same, one place further
# ```
#
# One window of 48 characters is 48 questions at once.

# %% exercise="attention.windows" own="how a text becomes examples; the package's DataLoader takes any data set"
def windows(ids, length, starts):
    """(x, y): windows of a text, and for each of their places the number of the next character.

    ids      (n,) integers
    starts   where the windows begin, each from 0 to n − length − 1
    x, y     integer arrays of shape (len(starts), length)

    >>> windows(np.array([5, 6, 7, 8, 9]), 3, [1, 0])
    (array([[6, 7, 8],
           [5, 6, 7]]), array([[7, 8, 9],
           [6, 7, 8]]))
    """
    ### BEGIN SOLUTION
    places = np.asarray(starts)[:, None] + np.arange(length)
    return ids[places], ids[places + 1]
    ### END SOLUTION

# %% check="attention.windows"

# %% [markdown]
# <details><summary>Hint 1</summary>Which places of <code>ids</code> does a window have that starts at s? s, s + 1, …
# Broadcasting makes them for all starts at once, a column plus a row.</details>
# <details><summary>Hint 2</summary><code>np.asarray(starts)[:, None] + np.arange(length)</code> are places;
# <code>ids[places]</code> are the characters there.</details>

# %% [markdown]
# ## 2 · A row for each character
#
# Is `b` between `a` and `c`? Not in any way that matters here. So a character does not go in as a number: it gets a row of a
# table, and the rows are learned.
#
# Looking up a row is a matrix product in disguise:
#
# ```
#   one-hot of idx     table              out
#   [0 0 1 0]          [ ······ ]         [ row 2 ]
#   [1 0 0 0]     @    [ ······ ]    =    [ row 0 ]
#   [0 0 1 0]          [ row 2  ]         [ row 2 ]
#                      [ ······ ]
# ```
#
# And you know the gradient of a product. Row 2 was taken twice. What is its gradient?

# %% exercise="attention.embedding" own="a matrix product with one-hot rows; the package's embedding reads rows by their numbers"
def embedding(table, idx):
    """Rows of a table: out[…, :] = table[idx[…], :], a Node that knows its way back to the table.

    table    a Node of shape (rows, features)
    idx      an integer NumPy array of any shape
    result   a Node of shape idx.shape + (features,)

    As a product with one-hot rows. You may need np.eye, Tensor.from_host(queue, array),
    ag.matmul, ag.reshape.
    """
    ### BEGIN SOLUTION
    rows, features = table.shape
    one_hot = Tensor.from_host(queue, np.eye(rows)[idx.ravel()])
    return ag.reshape(ag.matmul(one_hot, table), (*idx.shape, features))
    ### END SOLUTION

# %% check="attention.embedding"

# %% [markdown]
# <details><summary>Hint 1</summary><code>np.eye(rows)[[2, 0, 2]]</code> is the left matrix of the drawing.</details>
# <details><summary>Hint 2</summary>An idx of several axes: make it flat first (<code>ravel</code>), and give the result its
# axes back (<code>ag.reshape</code>).</details>
#
# The product is right, and a waste: it multiplies by 0 nearly everywhere. How many times as many bytes as the indices
# does the one-hot matrix have?

# %% predict
guess = predict(times_the_bytes=...)

# %% demo
indices = IDS[:16 * CONTEXT]
guess.compare(times_the_bytes=np.eye(len(ALPHABET), dtype=np.float32)[indices].nbytes
              / indices.nbytes)

# %% [markdown]
# With 50,000 words instead of a few characters, that would be the end. `ag.embedding` copies the rows, and adds up
# gradients by index. The model below uses it; your version says what it must compute.
#
# ## 3 · Layer norm
#
# Blocks add to what came before, again and again, and the numbers drift. So each branch first brings its row into shape:
# mean 0, variance 1.
#
# $$u = (x - \bar x)\,r \qquad r = 1/\sqrt{\tfrac1n\sum_i (x_i - \bar x)^2 + \varepsilon}$$

# %% demo
row = np.array([3.0, 3.5, 5.0, 3.2, 4.1])
shown = {"x": row, "10 x + 3": 10 * row + 3,
         "u, of either": (row - row.mean()) / row.std()}
plot_lines(range(5), shown, "Moved and stretched, the norm is the same",
           "place in the row", "number")

# %% [markdown]
# The picture holds the gradient. Moving the whole row changes nothing; stretching it changes nothing. So what arrives as a
# gradient `g` loses both parts:
#
# ```
#   g                     what arrives
#   − mean(g)             no use moving everything
#   − u · mean(g · u)     no use stretching
#   · r                   and a wide row reacts less
# ```
#
# $$\frac{\partial L}{\partial x} = r\,\big(g - \overline{g} - u\,\overline{g\,u}\big)$$
#
# The bars are means over the row. Make it **one** operation on the tape. You have two helpers:

# %% given
def row_mean(t):
    """The mean of each row of a Tensor, its last axis, which stays as an axis of length 1."""
    return reduce_mean(t, -1, keepdims=True)


def rsqrt(t):
    """1 / √t of each number of a Tensor."""
    with ag.no_grad():
        return ag.rsqrt(t).value

# %% exercise="attention.normalize" own="one operation of tensors; the package's normalization is one kernel for each row, with scale and shift"
def normalize(x, eps=1e-5):
    """Each row of x, its last axis, with mean 0 and variance about 1: u of the formula above.

    x        a Node; x.value is its Tensor. Tensors know + − * / among each other and with numbers,
             nothing of which is recorded
    result   a Node, by ag.apply_op(fn, grad_fn, x, op_name="normalize"): fn(value) returns the
             Tensor u, grad_fn(g) a list with the gradient of x
    """
    ### BEGIN SOLUTION
    centred = x.value - row_mean(x.value)
    r = rsqrt(row_mean(centred * centred) + eps)
    u = centred * r

    def differentiate(g):
        return [r * (g - row_mean(g) - u * row_mean(g * u))]

    return ag.apply_op(lambda value: u, differentiate, x, op_name="normalize")
    ### END SOLUTION

# %% check="attention.normalize"

# %% [markdown]
# <details><summary>Hint 1</summary>Compute u and r first, from <code>x.value</code>. Both functions see them afterwards, so
# <code>fn</code> may simply be <code>lambda value: u</code>.</details>
# <details><summary>Hint 2</summary>The variance is <code>row_mean(centred * centred)</code>; eps stands inside the
# root.</details>
# <details><summary>Hint 3</summary><code>return [r * (g - row_mean(g) - u * row_mean(g * u))]</code>: a list, for the list of
# parents.</details>
#
# Held against central differences, on your device:

# %% demo
rng = np.random.default_rng(3)
numbers, upstream = rng.normal(size=(2, 5)).astype(np.float32), rng.normal(size=(2, 5))
x = ag.tensor(Tensor.from_host(queue, numbers), requires_grad=True)
with ag.Tape() as tape:
    out = normalize(x)
tape.backward(out, Tensor.from_host(queue, upstream))
(by_differences,) = measured.gradients(ag.layer_norm, upstream, numbers)
print("yours      ", np.round(x.grad.to_host()[0], 4))
print("differences", np.round(by_differences[0], 4))

# %% [markdown]
# ## 4 · Attention
#
# A Python dict is asked with a key, and hands out the one value whose key is equal. Attention is a dict that you can
# differentiate:
#
# ```
#   query q        what I look for                       one row for each place
#   key k          what I have to offer                  one row for each place
#   value v        what you get if you look at me        one row for each place
#
#   scores  = q · kᵀ / √d       how well does each key fit each query?
#   weights = softmax(scores)   each row: shares that sum to 1
#   out     = weights · v       the mean of the values, weighted
# ```
#
# And no place may look at a later one, or it would read the answer: there, the score becomes −∞ before the softmax.

# %% demo
print(ag.causal_mask(5, queue).to_host().astype(int), "1: must not look")

# %% [markdown]
# Four places, and all scores are equal. Which weight does the first row have at its own place, and which does the third
# row have?

# %% predict
guess = predict(first_row=..., third_row=...)

# %% demo
scores = np.where(np.triu(np.ones((4, 4)), 1), -np.inf, 0.0)
weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
guess.compare(first_row=weights[0, 0], third_row=weights[2, 2])
print(np.round(weights, 2))

# %% [markdown]
# Why √d? A sum of d products of random numbers is about √d large. Without the division, the softmax of large scores looks at
# one place only, and then its gradient is nearly 0:

# %% demo
rng = np.random.default_rng(4)
features = [1, 4, 16, 64, 256]
largest = {"q · kᵀ": [], "q · kᵀ / √d": []}
for d in features:
    q, k = rng.normal(size=(2, 200, 16, d))
    dots = np.einsum("nd,nkd->nk", q[:, 0], k)
    for name, scores in zip(largest, (dots, dots / math.sqrt(d))):
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        largest[name].append((e / e.sum(axis=-1, keepdims=True)).max(axis=-1).mean())
plot_lines(features, largest, "The largest of 16 weights, on average", "features d",
           "largest weight", log="x")

# %% exercise="attention.attention" own="of operations that are known, and it returns the weights, too; the package's scaled_dot_product_attention has the softmax in one operation, and no weights outside"
def attention(q, k, v, hidden):
    """(out, weights): weights = softmax(q · kᵀ / √d) along the keys, and 0 where hidden;
    out = weights · v.

    q, k      Nodes of shape (…, L, d)
    v         a Node of shape (…, L, e)
    hidden    a Tensor of shape (L, L): 1 where the query of this row must not look, else 0. Each
              row has a 0
    out       a Node of shape (…, L, e)
    weights   a Node of shape (…, L, L); each row sums to 1, also where scores are large

    Write the softmax with ag.exp, ag.max and ag.sum; ag.masked_fill(x, mask, fill) puts a number
    where the mask is 1, ag.matmul(a, b, transpose_b=True) computes a · bᵀ.
    """
    ### BEGIN SOLUTION
    scores = ag.matmul(q, k, transpose_b=True) / math.sqrt(q.shape[-1])
    scores = ag.masked_fill(scores, hidden, -math.inf)
    e = ag.exp(scores - ag.max(scores, axis=-1, keepdims=True))
    weights = e / ag.sum(e, axis=-1, keepdims=True)
    return ag.matmul(weights, v), weights
    ### END SOLUTION

# %% check="attention.attention"

# %% [markdown]
# <details><summary>Hint 1</summary>Three steps: scores, masked; the softmax along the last axis; the product with v.</details>
# <details><summary>Hint 2</summary>exp(−∞) is 0, without a special case. So mask first, with
# <code>-math.inf</code>.</details>
# <details><summary>Hint 3</summary>e¹⁰⁰ is too large for float32. Subtract the largest score of each row first,
# <code>ag.max(scores, axis=-1, keepdims=True)</code>: that changes nothing in exact numbers.</details>
#
# ## 5 · Several heads
#
# One softmax finds one thing. To look for the colour *and* the animal, the features are shared among heads, and each head
# looks by itself:
#
# ```
#   (batch, L, heads · w)    each place: [ head 0: w numbers │ head 1: w numbers ]
#            │ cut the last axis
#   (batch, L, heads, w)
#            │ swap two axes
#   (batch, heads, L, w)     each head: a matrix of its own
# ```
#
# The swap is no formality. What would head 0 see if you only reshaped? For the swap there is a function:

# %% given source="tinygrad_cl.netcl.nn.attention:swapped"

# %% [markdown]
# Of the axes in front, such as the batch, nothing is asked: `*batch, length, width = x.shape` puts as many as there are into
# a list, and `(*batch, length, …)` puts them back.

# %% exercise="attention.heads" source="tinygrad_cl.netcl.nn.attention:split_heads tinygrad_cl.netcl.nn.attention:join_heads"

# %% check="attention.heads"

# %% [markdown]
# <details><summary>Hint 1</summary>Reshape never moves a number in memory; it only cuts the row of all numbers elsewhere.
# Cut the last axis in two, nothing else.</details>
# <details><summary>Hint 2</summary><code>ag.reshape(x, (*batch, length, heads, width // heads))</code> cuts. Then
# <code>swapped</code>, which is its own way back.</details>
#
# ## 6 · A block
#
# The parts are given: your functions, with parameters around them.

# %% given
class Dense(Module):
    """x · weight + bias."""

    def __init__(self, inputs, outputs, seed=None):
        self.weight = init.xavier_uniform(Parameter.from_shape(queue, (inputs, outputs)), seed)
        self.bias = Parameter.full(queue, (outputs,), 0)

    def forward(self, x):
        return ag.matmul(x, ag.tensor(self.weight)) + self.bias


class Norm(Module):
    """normalize, and then each feature with a factor and a shift that are learned."""

    def __init__(self, width):
        self.gamma = Parameter.full(queue, (width,), 1)
        self.beta = Parameter.full(queue, (width,), 0)

    def forward(self, x):
        return normalize(x) * self.gamma + self.beta


class Attention(Module):
    """Queries, keys and values are made of x by three layers; one more mixes the heads."""

    def __init__(self, width, heads, seed=None):
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = [
            Dense(width, width, seed) for _ in range(4)]

    def look(self, x, hidden):
        """(out, weights) of all heads."""
        q, k, v = [split_heads(make(x), self.heads)
                   for make in (self.q_proj, self.k_proj, self.v_proj)]
        return attention(q, k, v, hidden)

    def forward(self, x, hidden):
        out, _ = self.look(x, hidden)
        return self.out_proj(join_heads(out))


class MLP(Module):
    """Two layers, for each place by itself."""

    def __init__(self, width, seed=None):
        self.up, self.down = Dense(width, 4 * width, seed), Dense(4 * width, width, seed)

    def forward(self, x):
        return self.down(ag.gelu(self.up(x)))

# %% [markdown]
# A block has two branches, and each **adds** to what is there. The straight line down the left is what gradients run along.
#
# ```
#    x ──┬───────────────────────────┐
#        └─ ln1 ─ attn(…, hidden) ───+
#    ┌───────────────────────────────┘
#    ├───────────────────────────┐
#    └─ ln2 ─ mlp ───────────────+──  out
# ```

# %% exercise="attention.block" own="a block of the lesson's own layers; the package's TransformerBlock makes its layers itself, and has dropout"
class Block(Module):
    """What transformers are made of: look back, then think.

    ln1, ln2        norms: ln1(x)
    attn            attention: attn(x, hidden)
    mlp             two layers: mlp(x)
    """

    def __init__(self, width, heads, seed=None):
        self.ln1, self.attn = Norm(width), Attention(width, heads, seed)
        self.ln2, self.mlp = Norm(width), MLP(width, seed)

    def forward(self, x, hidden):
        """The block as drawn above: a Node (batch, L, width) → a Node of the same shape."""
        ### BEGIN SOLUTION
        x = x + self.attn(self.ln1(x), hidden)
        return x + self.mlp(self.ln2(x))
        ### END SOLUTION

# %% check="attention.block"

# %% [markdown]
# <details><summary>Hint 1</summary>Two lines. The second branch starts from the sum of the first.</details>
# <details><summary>Hint 2</summary>The norm is inside the branch; what is added to is x itself:
# <code>x = x + self.attn(self.ln1(x), hidden)</code>.</details>
#
# Attention does not know where things are: shuffle the places before, and the same mean comes out. So the *place* gets a
# row of numbers, too, added to that of the character. The whole model:

# %% given
class CharModel(Module):
    """Integers (batch, L ≤ CONTEXT) → logits (batch, L, characters): what comes next?

    block   makes a block of (width, heads, seed)
    """

    def __init__(self, block=Block, width=32, heads=2, blocks=2, seed=0):
        rng, characters = np.random.default_rng(seed), len(ALPHABET)
        table = init.normal(Parameter.from_shape(queue, (characters, width)), 0, 0.3, rng)
        places = init.normal(Parameter.from_shape(queue, (CONTEXT, width)), 0, 0.3, rng)
        self.table, self.places = table, places
        self.blocks = [block(width, heads, rng) for _ in range(blocks)]
        self.norm, self.head = Norm(width), Dense(width, characters, rng)
        self.hidden = ag.causal_mask(CONTEXT, queue)

    def embed(self, ids):
        """(rows for characters and places, hidden) for so many places as ids have."""
        length = ids.shape[1]
        if length > CONTEXT:
            raise ValueError(f"the model sees {CONTEXT} characters, not {length}")
        if length == CONTEXT:
            return ag.embedding(self.table, ids) + self.places, self.hidden
        places, hidden = ag.tensor(self.places)[:length], ag.tensor(self.hidden)
        return ag.embedding(self.table, ids) + places, hidden[:length, :length].value

    def forward(self, ids):
        x, hidden = self.embed(ids)
        for block in self.blocks:
            x = block(x, hidden)
        return self.head(self.norm(x))


def make_step(model, rate=6e-3):
    """A function of (x, y), tensors of integers, which trains the model a step and returns the
    loss.
    """
    optimizer = AdamW(model.parameters(), lr=rate)

    def step(x, y):
        optimizer.zero_grad()
        with ag.Tape() as tape:
            logits = model(x)
            rows = ag.reshape(logits, (-1, len(ALPHABET)))
            loss = ag.cross_entropy(rows, ag.reshape(y, (-1,)))
        tape.backward(loss)
        optimizer.step()
        return loss

    return step


def batches(count, seed=0, size=16):
    """So many batches (x, y) of windows, as tensors."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x, y = windows(IDS, CONTEXT, rng.integers(0, len(IDS) - CONTEXT, size))
        yield Tensor.from_host(queue, x, "int32"), Tensor.from_host(queue, y, "int32")

# %% [markdown]
# ## Plain, fused, captured
#
# Your operations are small: the softmax launches a kernel for each max, −, exp, Σ and ÷. The package has the same block, fused:
# a whole layer norm is one, a whole softmax is one, a layer with its activation is one. And a *captured* step (module 13)
# is replayed without Python.
#
# How many kernels does a training step launch, with your blocks, and with the fused ones?

# %% predict
guess = predict(plain=..., fused=...)

# %% demo
class FusedNorm(Norm):
    """The same numbers, in one launch."""

    def forward(self, x):
        return ag.layer_norm(x, self.gamma, self.beta)


class FusedBlock(nn.TransformerBlock):
    """The block of the package, under the arguments of ours."""

    def __init__(self, width, heads, seed, causal=True):
        super().__init__(width, heads, causal=causal, queue=queue, seed=seed)

    def forward(self, x, hidden):
        return super().forward(x)


def fused_model(seed=0, block=FusedBlock):
    model = CharModel(block, seed=seed)
    model.norm = FusedNorm(model.table.shape[1])
    model.head = nn.Linear(queue, model.table.shape[1], len(ALPHABET), seed=seed)
    return model


plain, fused = CharModel(), fused_model()
for ours, theirs in zip(plain.parameters(), fused.parameters()):
    theirs.write(ours.to_host())  # the same parameters, in the same order

x, y = next(batches(1))
print("largest difference of logits:",
      np.abs(plain(x).to_host() - fused(x).to_host()).max())
steps = {"plain": make_step(plain), "fused": make_step(fused)}
launches = {}
for name, step in steps.items():
    step(x, y)  # compiles, which takes a while
    print(f"{name}: the first step is done")
    with profile() as seen:
        step(x, y)
    launches[name] = len(seen.records)
guess.compare(**launches)

# %% [markdown]
# The same parameters, the same logits, fewer launches. Now the clock: which of the four is fastest, and is capturing worth
# more to the plain step or to the fused one?

# %% predict
guess = predict(captured_plain_times_faster=..., captured_fused_times_faster=...)

# %% demo
def least_seconds(step, calls=20):
    """The time of the shortest of several steps, each waited for."""
    times = []
    for x, y in batches(calls):
        start = time.perf_counter()
        step(x, y).to_host()
        times.append(time.perf_counter() - start)
    return min(times)


steps |= {f"{name}, captured": capture(step) for name, step in list(steps.items())}
seconds = {name: least_seconds(step) for name, step in steps.items()}
guess.compare(captured_plain_times_faster=seconds["plain"] / seconds["plain, captured"],
              captured_fused_times_faster=seconds["fused"] / seconds["fused, captured"])

# %% demo
plot = Plot("A training step", "milliseconds", "step", height=2.4)
plot.axes.barh(list(seconds), [1e3 * each for each in seconds.values()], color="#0072b2")
plot.axes.invert_yaxis()
plot.axes.grid(False, axis="y")
plot

# %% [markdown]
# What capturing saves is Python's time, paid for each launch; what fusing saves is launches, and trips to memory. So where
# the device needs longer than Python, capturing is worth little, to either step.
#
# ## Training
#
# A fresh model, fused and captured. A line counts the steps, and Kernel → Interrupt ends the training early. How low will the
# loss be in the last steps? (You know the floor. A window begins in the middle of something, so its first places know less.)

# %% predict
guess = predict(last_losses=...)

# %% demo
def train(model, count):
    """The losses of so many steps, or of those that were done when somebody interrupted."""
    step, losses, line = capture(make_step(model)), [], display(Pretty(""), display_id=True)
    try:
        for x, y in batches(count, seed=1):
            losses.append(step(x, y))  # a Tensor: nobody waits
            if len(losses) % 50 == 0:
                loss = losses[-1].to_host()
                line.update(Pretty(f"{len(losses)} of {count} steps, loss {loss:.3f}"))
    except KeyboardInterrupt:
        print(f"interrupted after {len(losses)} steps; the model keeps what it has learned")
    return [float(loss.to_host()) for loss in losses]


STEPS = 900
model = fused_model(seed=1)
start = time.perf_counter()
losses = train(model, STEPS)
print(f"{len(losses)} steps in {time.perf_counter() - start:.1f} s")
guess.compare(last_losses=np.mean(losses[-50:]))

# %% demo
plot = plot_losses({"model": losses}, "Nats per character", smooth=20)
for name, level in (("knows nothing", NOTHING), ("sees one", ONE), ("knows all", FLOOR)):
    plot.axes.axhline(level, color="#5b6470", linewidth=1, linestyle=":")
    plot.axes.text(STEPS, level, name, ha="right", va="bottom")
plot

# %% [markdown]
# Look for the moment when it falls through «sees one». One character alone cannot tell that much: from here on the model uses
# what stands further back.
#
# ## 7 · Let it write
#
# The model says how probable each character is. Draw one, append it, ask again. The *temperature* divides the logits first:
# a low one makes the likely likelier, a high one makes all more equal.
#
# To draw with one random number r from 0 to 1: lay the probabilities one after the other on a line, and see into whose piece
# r falls.
#
# ```
#   0       0.5        0.8    1
#   ├── a ───┼─── b ────┼─ c ─┤        r = 0.63: b
# ```

# %% exercise="attention.generate" own="a user of the model; the package leaves it to its users"
def generate(model, ids, count, context, temperature, rng):
    """The ids, and then `count` further ones, each drawn from what the model says: a list of ints.

    model         model(array) takes integers of shape (1, n), 1 ≤ n ≤ context, and returns a
                  Node of logits (1, n, characters); the last place speaks of what comes next
    ids           at least one integer; the caller's stay as they are
    context       the model sees the last `context` of them
    temperature   above 0; p = softmax(logits / temperature)

    For each new one a single r = rng.random(): the smallest number c with p[0] + … + p[c] > r.
    Inside ag.no_grad(), since nobody wants a gradient.
    """
    ### BEGIN SOLUTION
    ids = [int(each) for each in ids]
    with ag.no_grad():
        for _ in range(count):
            logits = model(np.array([ids[-context:]])).to_host()[0, -1] / temperature
            p = np.exp(logits - logits.max())
            line = np.cumsum(p)  # as long as all pieces together: line[-1]
            ids.append(int(np.searchsorted(line / line[-1], rng.random(), "right")))
    return ids
    ### END SOLUTION

# %% check="attention.generate"

# %% [markdown]
# <details><summary>Hint 1</summary><code>model(np.array([ids[-context:]])).to_host()[0, -1]</code> are the logits of the last
# place, a NumPy array.</details>
# <details><summary>Hint 2</summary>Divide by the temperature, then softmax in NumPy. <code>np.cumsum(p)</code> are the ends of the
# pieces on the line.</details>
# <details><summary>Hint 3</summary><code>(np.cumsum(p) > r).argmax()</code> is the first place where it is true.</details>

# %% demo
def write(model, temperature, count=200, seed=0):
    """What the model writes after the first characters of our text."""
    rng = np.random.default_rng(seed)
    return decode(generate(model, IDS[:CONTEXT], count, CONTEXT, temperature, rng))[CONTEXT:]


print(f"after {TEXT[:CONTEXT]!r}")
for temperature in (0.1, 1.0, 2.5):
    print(f"\ntemperature {temperature}:\n{write(model, temperature)}")

# %% [markdown]
# Does it tell the truth? In the text, the second sentence repeats animal and colour of the first. Of the pairs that the model
# writes at temperature 1, how many percent are right in both?

# %% predict
guess = predict(percent_right=...)

# %% demo
def percent_right(text):
    """Of the sentence pairs in a text, how many could stand in ours."""
    pairs = [pair.split() for pair in text.split("the ")]
    firsts, seconds = pairs[:-2], pairs[1:-1]
    right = [first[-2:] == [second[2].strip("."), second[0] + "."]
             for first, second in zip(firsts, seconds) if len(first) >= 5 and len(second) >= 3]
    return 100 * np.mean(right)


guess.compare(percent_right=percent_right(write(model, 1.0, count=800)))

# %% [markdown]
# Where is the model surprised? A bar for each character of two sentences: $-\ln p$ of it.

# %% demo
def surprise(model, text):
    """−ln p of each character of a text but the first."""
    ids = encode(text)
    with ag.no_grad():
        z = ag.logsumexp(model(ids[None, :-1]), keepdims=True).to_host()[0]
        logits = model(ids[None, :-1]).to_host()[0]
    return (z - logits)[np.arange(len(ids) - 1), ids[1:]]


SENTENCE = " dora wants a black hen. the hen is black."
plot = Plot("Surprise of the trained model", "the character that came", "nats",
            width=8.6, height=2.6)
plot.axes.bar(range(len(SENTENCE) - 1), surprise(model, SENTENCE), color="#0072b2")
plot.axes.set_xticks(range(len(SENTENCE) - 1), SENTENCE[1:])
plot.axes.grid(False, axis="x")
plot

# %% [markdown]
# High bars where the program draws; nearly nothing in the second half. Change `black` at the end to `green`, and run it again.
#
# And where does it look while it writes that second half? A row for each place that asks, a column for each place it may
# look at; the darker, the larger the weight.

# %% demo
def weights_of(model, text):
    """[(heads, L, L) array for each block]: where each place looks, by your attention."""
    found = []
    with ag.no_grad():
        x, hidden = model.embed(encode(text)[None])
        for block in model.blocks:
            q, k, v = [split_heads(make(block.ln1(x)), block.attn.num_heads) for make in
                       (block.attn.q_proj, block.attn.k_proj, block.attn.v_proj)]
            found.append(attention(q, k, v, hidden)[1].to_host()[0])
            x = block(x, hidden)
    return found


asked = SENTENCE[1:]
maps = weights_of(model, asked)
first = len("dora wants a black hen. ")
strongest = max(((w[first:, :first].max(axis=1).mean(), b, h) for b, heads in enumerate(maps)
                 for h, w in enumerate(heads)))
_, b, h = strongest
plot = Plot(f"Block {b + 1}, head {h + 1}: who looks where", "looks at", "asks",
            width=7, height=4.2)
plot.axes.imshow(maps[b][h][first:], cmap="Blues", aspect="auto")
plot.axes.set_xticks(range(len(asked)), asked)
plot.axes.set_yticks(range(len(asked) - first), asked[first:])
plot.axes.grid(False)
plot

# %% [markdown]
# ## If somebody forgets the mask
#
# The same model, the same text, but every place may look everywhere. What will the loss be now, and how many percent of what it
# writes are right?

# %% predict
guess = predict(loss=..., percent_right=...)

# %% demo
cheat = fused_model(2, lambda width, heads, seed: FusedBlock(width, heads, seed, causal=False))
cheats = train(cheat, 300)
written = write(cheat, 1.0, count=400)
share = percent_right(written) if written.count("the ") > 2 else 0.0
guess.compare(loss=np.mean(cheats[-20:]), percent_right=share)
print(written[:160])

# %% [markdown]
# A loss below the floor is impossible. If you ever see one, do not celebrate: look for the leak.
#
# ## Messages you may meet
#
# <details><summary><code>ValueError: shape (16, 48, 32) cannot become (…)</code></summary>
#
# A reshape to another number of numbers: multiply the shape out. In <code>split_heads</code>, the features of one head are
# <code>width // heads</code>.
#
# </details>
#
# <details><summary><code>TypeError: the function of op 'normalize' returns a Tensor, not Node</code></summary>
#
# Inside <code>apply_op</code>, functions take and give Tensors. Of a Node, take <code>.value</code>.
#
# </details>
#
# <details><summary>The loss is <code>nan</code> from the first step</summary>
#
# A row of scores with nothing but −∞: 0 / 0. Somebody turned the mask round, so that a place may look
# nowhere.
#
# </details>
#
# <details><summary><code>RuntimeError: … cannot be replayed</code>, or a captured function that reads or writes</summary>
#
# <code>Tensor.from_host</code> and <code>to_host</code> do not belong into a captured step. That is why the mask is made
# once, and passed in.
#
# </details>

# %% [markdown] written="attention.explain" points=3
# ## In your own words
#
# A window of 48 characters is 48 questions, and all are answered in one forward pass. Why does the causal mask make that
# fair? What did the model without the mask learn, why was its loss below the floor, and why could it not write? Use numbers
# that you measured. Five sentences at most.
#
# <!-- BEGIN SOLUTION -->
# With the mask, the answer at place i is computed from the characters up to i only, so it is the answer that the model would
# give if the text ended there; the 48 answers share the work, but nobody sees the solution. Without it, place i can look at
# place i + 1, where the answer stands, so the model learned to copy its right neighbour instead of the language. Its loss
# (my number stands above) fell below the floor, which nobody gets below who really predicts, since names, verbs,
# colours and animals are drawn at random. When it writes, there is no right neighbour to copy: it meets
# a task that it was never trained on, and hardly any of its sentences are right.
#
# **How it is marked**
#
# - 1 point: with the mask, each place knows what came before and nothing later, so that each is an honest question.
# - 1 point: without it, the next character can be copied; a loss below the floor shows the leak.
# - 1 point: writing has no later character to copy; measured numbers stand behind it.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# | here | PyTorch | JAX / Flax |
# |---|---|---|
# | `embedding(table, idx)` | `torch.nn.Embedding` | `flax.linen.Embed` |
# | `Norm` | `torch.nn.LayerNorm` | `flax.linen.LayerNorm` |
# | `attention(q, k, v, hidden)` | `F.scaled_dot_product_attention(…, is_causal=True)` | `jax.nn.dot_product_attention` |
# | `Attention` | `torch.nn.MultiheadAttention` | `flax.linen.MultiHeadDotProductAttention` |
# | `Block` | `torch.nn.TransformerEncoderLayer(norm_first=True)` | written by hand |
# | `capture(step)` | `torch.cuda.graphs`, `torch.compile` | `jax.jit` |
#
# netcl's names are those of the package: `nn.MultiheadAttention`, `nn.TransformerBlock`, `ag.causal_mask`.
#
# ## What comes next
#
# Nothing in this course. You have built the engine three times: numbers, arrays, a device; and a model on it that looks
# back and writes. What large models add is scale: more of each part, and the machines of module 14. Parts that you know.
