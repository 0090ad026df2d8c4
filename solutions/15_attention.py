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
# This is the last lesson. A <dfn>language model</dfn> is a network that reads a text and says how probable each
# possible next character is. You build a small one on your own engine, train it while you watch the loss, and let it
# write. It is of the kind that is called GPT, as in chat programs, only much smaller.
#
# ```
#   characters    a n n a   h a s   a   r e d   c a t .   t h e   c a t   i s   ?
#       │
#   embedding     a row of numbers for each character, and one for each place
#       │
#   block ×2      look back (attention), then two layers for each place by itself (mlp)
#       │
#   logits        a score for each character that may come next
# ```
#
# To say what comes for `?`, the model has to look back to `red`. For this you build a new part today, attention: with
# it, each place chooses by itself where to look.

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
    """A text of a tiny language: as many pairs of sentences as `sentences` says."""
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
# A reader of the text says before each character how probable each character of the alphabet is as the next one. Let p
# be the probability that was given to the character that really came. The loss is the mean of $-\ln p$ over the text. A
# <dfn>nat</dfn> is the unit of −ln p, where p is a probability. So the loss is measured in *nats per character*. What
# is the loss of these three readers?
#
# - `knows_nothing`: all characters are equally probable
# - `sees_one`: knows the character before, and how often each character follows it
# - `knows_all`: knows the program; unsure only where the program draws a name, a verb, a colour or an animal at random

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
# The last number is the *floor*: no model gets below it on new text, on average. A model that gets nearer to the floor
# than `sees_one` has to look further back than one character.

# %% [markdown]
# ## 1 · What is asked
#
# The model gets a *window* of the text, a piece of fixed length. For **each** place of the window it has to predict the
# character that comes next:
#
# ```
#   text    … a   r e d   c a t . …
#   x         [a   r e d   c a t]
#   y         [  r e d   c a t .]        the same, one place further
# ```
#
# So one window of 48 characters is 48 questions at once.

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
# <details><summary>Hint 1</summary>A window that starts at s has the places s, s + 1, … of <code>ids</code>.
# Broadcasting makes the places for all starts at once: a column plus a row.</details>
# <details><summary>Hint 2</summary><code>np.asarray(starts)[:, None] + np.arange(length)</code> are places;
# <code>ids[places]</code> are the characters there.</details>

# %% [markdown]
# ## 2 · A row for each character
#
# In the alphabet, `b` is between `a` and `c`, but for the model this order means nothing. So a character does not go in
# as a number: it gets a row of a table, and the rows are learned.
#
# You can look up rows with a matrix product:
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
    """Rows of a table: out[…, :] = table[idx[…], :], a Node that hands gradients to the table.

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
# <details><summary>Hint 2</summary>An idx of several axes: make it flat first (<code>ravel</code>), and give the result
# its axes back (<code>ag.reshape</code>).</details>
#
# The product is right, but it wastes work: it multiplies by 0 nearly everywhere. It also wastes memory: how many times
# as many bytes as the indices does the one-hot matrix have?

# %% predict
guess = predict(times_the_bytes=...)

# %% demo
indices = IDS[:16 * CONTEXT]
guess.compare(times_the_bytes=np.eye(len(ALPHABET), dtype=np.float32)[indices].nbytes
              / indices.nbytes)

# %% [markdown]
# With 50,000 words instead of a few characters, the one-hot matrix would be far too large. `ag.embedding` makes none.
# Forward it copies the rows; backward it adds each gradient to the row that it belongs to. The model below uses
# `ag.embedding`; your version says what it must compute.

# %% [markdown]
# ## 3 · Layer norm
#
# The model has several blocks (section 6). Each one adds numbers to the rows that it gets, so the numbers in the rows
# can become larger and larger. A <dfn>layer norm</dfn> shifts and scales each row of numbers, so that its mean is 0 and
# its variance is about 1. A block does this before it computes with a row:
#
# $$u = (x - \bar x)\,r \qquad r = 1/\sqrt{\tfrac1n\sum_i (x_i - \bar x)^2 + \varepsilon}$$
#
# x is one row of n numbers, x̄ is their mean, and the sum divided by n is their variance. ε is a tiny number, so that
# nothing is divided by 0. u is the result.

# %% demo
row = np.array([3.0, 3.5, 5.0, 3.2, 4.1])
shown = {"x": row, "10 x + 3": 10 * row + 3,
         "u, of either": (row - row.mean()) / row.std()}
plot_lines(range(5), shown, "Moved and stretched, the norm is the same",
           "place in the row", "number")

# %% [markdown]
# The picture tells you what the gradient must look like. Two moves of a row do not change u:
#
# - All numbers of the row are moved by the same amount. The direction of this move is (1, 1, …, 1).
# - The row is stretched around its mean. The direction of this move is u. (Because of ε, u stays only nearly the same.)
#
# A move that does not change u does not change the loss either. So the slope of the loss along these two directions is 0.

# %% [markdown]
# The *part* of the upstream gradient `g` in a direction is the multiple of this direction that comes nearest to `g`.
# For g = (1, 2, 6) and the direction (1, 1, 1) that is (3, 3, 3). In the direction (1, 1, …, 1), the part is mean(g) at
# each place. In the direction of u, it is u · mean(g · u), since the mean of u² is 1 (nearly, because of ε). Both parts
# are subtracted from `g`:
#
# ```
#   g                     the upstream gradient, ∂L/∂u
#   − mean(g)             moving all numbers changes nothing
#   − u · mean(g · u)     stretching changes nothing
#   · r                   the larger the variance, the less u changes with x
# ```
#
# $$\frac{\partial L}{\partial x} = r\,\big(g - \overline{g} - u\,\overline{g\,u}\big)$$
#
# The bars are means over the row. Make the layer norm **one** operation on the tape. You have two helpers:

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
    """Each row of x (its last axis) with mean 0 and variance about 1: u of the formula above.

    x        a Node; x.value is its Tensor. You can use + − * / between Tensors, and with numbers;
             nothing of this is recorded
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
# <details><summary>Hint 1</summary>Compute u and r first, from <code>x.value</code>. Both functions can use them, so
# <code>fn</code> may simply be <code>lambda value: u</code>.</details>
# <details><summary>Hint 2</summary>The variance is <code>row_mean(centred * centred)</code>; eps stands inside the
# root.</details>
# <details><summary>Hint 3</summary><code>return [r * (g - row_mean(g) - u * row_mean(g * u))]</code>: a list, for the
# list of parents.</details>
#
# Compare your gradient with central differences, on your device:

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
# You look up a *query* in a Python dict, and get the one value whose *key* is equal to it. Attention is like a dict
# that can be differentiated: its answer is a mean of all values, in which a value counts more if its key fits the query
# better. In <dfn>attention</dfn>, each place gets a weighted mean of the values of all places; the weight of a value
# says how well its key fits the query of the place that asks.
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
# In attention, each place has three rows of numbers, its <dfn>query, key and value</dfn>: what it looks for, what it
# offers, and what others get from it. All three are computed from the same row x of the place, by three matrix products
# with parameters (section 6). From here on, L is the number of places (no longer the loss), and d is the length of a
# query and of a key. The *attention weights* are no parameters: they are computed anew for each text.

# %% [markdown]
# ### The mask
#
# No place may look at a later one, or it would read the answer. A <dfn>causal mask</dfn> hides all later places, so
# that no place can see the character that it has to predict. The scores of hidden places become −∞ before the softmax,
# so their weights become 0. (In lesson 08, 1 meant that an entry counts. Here it means *hidden*, which has nothing to
# do with hidden layers.)

# %% demo
print(ag.causal_mask(5, queue).to_host().astype(int), "1: must not look")

# %% [markdown]
# Let there be four places, and let all scores be equal before the mask. Which weight does the first row have at its own
# place, and which does the third row have?

# %% predict
guess = predict(first_row=..., third_row=...)

# %% demo
scores = np.where(np.triu(np.ones((4, 4)), 1), -np.inf, 0.0)
weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
guess.compare(first_row=weights[0, 0], third_row=weights[2, 2])
print(np.round(weights, 2))

# %% [markdown]
# Why √d? Take random numbers with mean 0 and variance 1. A sum of d products of such numbers has a size of about √d.
# Without the division the scores become large. The softmax of large scores gives nearly all weight to one place, and
# then its gradient is nearly 0:

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
              row has at least one 0
    out       a Node of shape (…, L, e)
    weights   a Node of shape (…, L, L); each row sums to 1, also where scores are large

    Write the softmax with ag.exp, ag.max and ag.sum; ag.masked_fill(x, mask, fill) puts a number
    where the mask is 1 (the mask broadcasts), ag.matmul(a, b, transpose_b=True) computes a · bᵀ.
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
# <details><summary>Hint 1</summary>Three steps: scores, masked; the softmax along the last axis; the product with
# v.</details>
# <details><summary>Hint 2</summary>exp(−∞) is 0 and needs no special case. So mask first, with
# <code>-math.inf</code>.</details>
# <details><summary>Hint 3</summary>e¹⁰⁰ is too large for float32. Subtract the largest score of each row first,
# <code>ag.max(scores, axis=-1, keepdims=True)</code>: in exact arithmetic this does not change the weights.</details>

# %% [markdown]
# ## 5 · Several heads
#
# One softmax can look for one thing at a time. To look for the colour *and* the animal, cut the numbers of each query,
# key and value (its *features*) into parts of equal length. A <dfn>head</dfn> is one of several attentions side by
# side, each with its own part of the features and its own softmax. Two steps make heads of q, k and v:
#
# ```
#   (batch, L, heads · w)    each place: [ head 0: w numbers │ head 1: w numbers ]
#            │ cut the last axis
#   (batch, L, heads, w)
#            │ swap two axes
#   (batch, heads, L, w)     each head: a matrix of its own
# ```
#
# The swap is necessary. What would head 0 see if you only reshaped? This function swaps two axes:

# %% given source="tinygrad_cl.netcl.nn.attention:swapped"

# %% [markdown]
# There may be any number of axes in front, such as one for the batch. `*batch, length, width = x.shape` puts their
# sizes into the list `batch`, and `(*batch, length, …)` is a shape that begins with them again.

# %% exercise="attention.heads" source="tinygrad_cl.netcl.nn.attention:split_heads tinygrad_cl.netcl.nn.attention:join_heads"

# %% check="attention.heads"

# %% [markdown]
# <details><summary>Hint 1</summary>A reshape never moves a number in memory; it only says where an axis is cut. Cut the
# last axis in two, nothing else.</details>
# <details><summary>Hint 2</summary><code>ag.reshape(x, (*batch, length, heads, width // heads))</code> cuts. Then call
# <code>swapped</code>, which is its own inverse.</details>

# %% [markdown]
# ## 6 · A block
#
# The parts of a block are given: your functions, together with parameters. `Module` is a class of the package. The call
# `m(x)` of a module runs its `forward`, and `m.parameters()` is the list of all Parameters in it.

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
# A <dfn>transformer</dfn> is a network of blocks in a row, and each block is attention and then an MLP. A block has two
# branches, and each **adds** its result to its input. Along the straight line at the top, the residual connection of
# lesson 06, gradients go back unchanged: an addition hands on its gradient.
#
# ```
#    x ──┬─────────────────────────▶ + ──┬─────────────▶ + ──▶ out
#        └─ ln1 ─ attn(…, hidden) ───┘   └─ ln2 ─ mlp ───┘
# ```

# %% exercise="attention.block" own="a block of the lesson's own layers; the package's TransformerBlock makes its layers itself, and has dropout"
class Block(Module):
    """One block of a transformer: attention, then two layers for each place by itself (MLP).

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
# <details><summary>Hint 2</summary>The norm is inside the branch; its result is added to x itself: <code>x = x +
# self.attn(self.ln1(x), hidden)</code>.</details>
#
# Attention does not know where things are: if the earlier places change their order, the same mean comes out. So each
# *place* gets a row of learned numbers, too, which is added to the row of the character. The next cell has the whole
# model, and a training step for it. (The optimizer `AdamW` is Adam with another form of weight decay: in each step it
# makes each parameter a little smaller, and leaves the gradient as it is.)

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
# Your operations are small: the softmax launches a kernel for each max, −, exp, Σ and ÷. The package has the same
# block, fused: a whole layer norm is one kernel, and so is a whole softmax, or a layer with its activation. And a
# *captured* step (lesson 13) is replayed without Python.
#
# How many kernels does a training step launch, with your blocks (`plain`), and with the fused ones?

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
# The same parameters, the same logits, fewer launches. Now measure the time. Each of the two steps can run as it is, or
# captured. How many times as fast does capturing make the plain step? And the fused one?

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
# Capturing saves the time that Python needs for each launch. Fusing saves launches, and reading and writing memory. So
# where the device needs longer than Python, capturing saves little, for either step.

# %% [markdown]
# ## Training
#
# Now a new model is trained, fused and captured. A line counts the steps, and Kernel → Interrupt in the menu ends the
# training early. How low will the loss be in the last steps? (You know the floor. A window may begin in the middle of a
# sentence, so its first places have little to look back at.)

# %% predict
guess = predict(last_losses=...)

# %% demo
def train(model, count):
    """The losses of so many steps, or of those that were done when somebody interrupted."""
    step, losses, line = capture(make_step(model)), [], display(Pretty(""), display_id=True)
    try:
        for x, y in batches(count, seed=1):
            losses.append(step(x, y))  # a Tensor: nothing waits
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
# Look for the step at which the loss falls below the line «sees one». One character alone cannot tell that much: from
# there on, the model must use what stands further back.

# %% [markdown]
# ## 7 · Let it write
#
# The model says how probable each character is. Draw one at random, append it, and ask again. The
# <dfn>temperature</dfn> is a number by which logits are divided before the softmax: a low one makes likely characters
# likelier, a high one makes all more equal.
#
# To draw a character with one random number r from 0 to 1, put the probabilities one after the other on a line, as
# pieces. The character whose piece contains r is drawn.
#
# ```
#   0       0.5        0.8    1
#   ├── a ───┼─── b ────┼─ c ─┤        r = 0.63: b
# ```

# %% exercise="attention.generate" own="a user of the model; the package leaves it to its users"
def generate(model, ids, count, context, temperature, rng):
    """The ids, and then `count` further ones, each drawn as the model says: a list of ints.

    model         model(array) takes integers of shape (1, n), 1 ≤ n ≤ context, and returns a
                  Node of logits (1, n, characters); those of the last place say what comes next
    ids           at least one integer; the caller's stay as they are
    context       the model gets the last `context` ids
    temperature   above 0; p = softmax(logits / temperature)

    For each new one, draw a single r = rng.random(). The new one is the smallest number c with
    p[0] + … + p[c] > r. All inside ag.no_grad(), since no gradient is needed.
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
# <details><summary>Hint 1</summary><code>model(np.array([ids[-context:]])).to_host()[0, -1]</code> are the logits of
# the last place, a NumPy array.</details>
# <details><summary>Hint 2</summary>Divide by the temperature, subtract the largest, then softmax in NumPy.
# <code>np.cumsum(p)</code> are the ends of the pieces on the line.</details>
# <details><summary>Hint 3</summary><code>(np.cumsum(p) > r).argmax()</code> is the first place where the condition is
# true.</details>

# %% demo
def write(model, temperature, count=200, seed=0):
    """What the model writes after the first characters of our text."""
    rng = np.random.default_rng(seed)
    return decode(generate(model, IDS[:CONTEXT], count, CONTEXT, temperature, rng))[CONTEXT:]


print(f"after {TEXT[:CONTEXT]!r}")
for temperature in (0.1, 1.0, 2.5):
    print(f"\ntemperature {temperature}:\n{write(model, temperature)}")

# %% [markdown]
# Is it right what the model writes? In the text, the second sentence of a pair repeats animal and colour of the first.
# Of the pairs that the model writes at temperature 1, in how many percent are animal and colour both right?

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
# The <dfn>surprise</dfn> of a character is −ln p, where p is the probability that the model gave to that character. The
# picture has a bar for each character of two sentences. Where is the model surprised?

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
# The bars are high where the program draws at random, and nearly 0 in the second sentence. Change `black` at the end to
# `green`, and run the cell again.

# %% [markdown]
# And where does the model look while it reads the second sentence? The picture has a row for each place that asks, and
# a column for each place that it may look at. The darker a field, the larger the attention weight.

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
# Build a new model like it, without the mask, so that every place may look at all places, and train it for 300 steps.
# What will its loss be, and how many percent of the pairs that it writes are right?

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
# On new text, a model that does not see the answer cannot have a loss below the floor. A <dfn>leak</dfn> is an answer
# that reaches a model together with its input. If you ever see a loss that is too good, look for a leak.
#
# ## Messages you may meet
#
# <details><summary><code>ValueError: shape (16, 48, 32) cannot become (…)</code></summary>
#
# A reshape cannot change how many numbers there are: multiply the sizes of the shape. In <code>split_heads</code>, the
# features of one head are <code>width // heads</code>.
#
# </details>
#
# <details><summary><code>TypeError: the function of op 'normalize' returns a Tensor, not Node</code></summary>
#
# The functions that <code>apply_op</code> gets take and return Tensors. The Tensor of a Node is <code>.value</code>.
#
# </details>
#
# <details><summary>The loss is <code>nan</code> from the first step</summary>
#
# A row of scores contains only −∞, and so its weights are 0 / 0. Is the mask the wrong way round, so that a place may
# look nowhere?
#
# </details>
#
# <details><summary><code>RuntimeError: … cannot be replayed</code>, or a captured function that reads or writes</summary>
#
# <code>Tensor.from_host</code> and <code>to_host</code> may not be used in a captured step. That is why the mask is
# made once, and passed in.
#
# </details>

# %% [markdown] written="attention.explain" points=3
# ## In your own words
#
# A window of 48 characters is 48 questions, and all are answered in one forward pass. Why does the causal mask make
# these questions fair? What did the model without the mask learn, why was its loss below the floor, and why could it
# not write? Use numbers that you measured. Five sentences at most.
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
# This is the end of the course. You have built the engine three times: for numbers, for arrays, and for a device. And
# on the last one you have built a model that looks back and writes. Large models have more of each part, and many
# machines, as in lesson 14. You know all of these parts.
#
# Four tasks without solutions, and what to read, are in `projects/projects.ipynb`, beside the lessons of the whole
# course.
