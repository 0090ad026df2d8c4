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
# # 02 · Neuron: numbers that learn
#
# You have `Value`: after one call of `backward` each number knows how fast the result moves with it. In this lesson you
# use that. Each number takes a small step in the direction that makes the result better, again and again. That is all
# that training is.
#
# At the end a network made of your neurons separates two sets of points, each in the shape of a half moon. Then we
# measure what that costs, in time and in memory.
#
# Nine small exercises, each with its check right below. The engine, `Value`, is given, as you built it in lesson 01.

# %% given
import math
import random
import time
import tracemalloc

import numpy as np

from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.scalar import Value, topological_order
from tinygrad_cl.viz import Plot, draw, plot_boundary, plot_lines, plot_losses, plot_times, steps

# %% [markdown]
# ### Go on with your own engine, if you like
#
# The next cell looks for your saved notebook of lesson 01 in `work/`, and runs the checks on the functions that you
# wrote. Those that are right take the place of the finished ones in this notebook. The cell says which functions are
# yours. If it finds no notebook of yours, it says so.

# %% demo
from autograder.notebook import mine

mine(before=2)

# %% [markdown]
# ## One neuron
#
# A <dfn>neuron</dfn> is a function: it multiplies each of its inputs by a weight, adds the products and a bias, and
# applies an activation to the sum.
#
# ```
#  x₁ ──( · w₁ )──┐
#                 ├── sum s ── tanh ── out
#  x₂ ──( · w₂ )──┤
#                 │
#        b ───────┘
# ```
#
# A <dfn>weight</dfn> is a number by which a neuron multiplies one of its inputs: it says how much the input counts, and
# with which sign. A <dfn>bias</dfn> is a number that a neuron adds to its weighted sum, whatever the inputs are. If an
# output above 0 means yes and one below 0 means no, a neuron with a larger bias says yes more easily.
#
# Here is a neuron in the boxes of lesson 01:

# %% demo
x1, x2 = Value(1.0, label="x₁"), Value(3.0, label="x₂")
w1, w2, b = Value(2.0, label="w₁"), Value(-1.0, label="w₂"), Value(0.5, label="b")
s = b + w1 * x1 + w2 * x2
s.label = "s"
out = s.tanh()
out.label = "out"
draw(out)

# %% [markdown]
# ### Predict, then run
#
# Training will change the weights, so look at them. If $w_1$ goes up by a tiny h, by how many h does the sum s move?
# And if $w_2$ goes up by h? The numbers are in the picture.

# %% predict
weights_guess = predict(w1=..., w2=...)  # ∂s/∂w₁ and ∂s/∂w₂

# %% demo
s.backward()
weights_guess.compare(w1=w1.grad, w2=w2.grad)

# %% [markdown]
# The slope of the sum for a weight is **its input**. In training, a weight moves by a multiple of its gradient. So, if
# all else is equal, a weight moves the farther, the farther its input is from 0. If its input is 0, the weight does not
# move: it had no effect on the output, so nothing can be learned about it.

# %% [markdown]
# ## 1 · The weighted sum
#
# In a network, the inputs of a neuron may be plain numbers (data) or Values (outputs of other neurons). `Value` takes
# both in a sum and in a product, so you need no cases.

# %% exercise="neuron.sum" own="a user of engine 1, which ends at Value and has no layers"
def weighted_sum(weights, inputs, bias):
    """The sum w₁·x₁ + w₂·x₂ + … + b, a Value.

    weights   a list of Values
    inputs    a list of numbers or Values, as many as there are weights; if not, ValueError
    bias      a Value

    Nothing that is given changes.

    >>> weighted_sum([Value(2.0), Value(-1.0)], [1.0, 3.0], Value(0.5)).data
    -0.5
    """
    ### BEGIN SOLUTION
    total = bias
    for w, x in zip(weights, inputs, strict=True):
        total = total + w * x
    return total
    ### END SOLUTION

# %% check="neuron.sum"

# %% [markdown]
# <details><summary>Hint 1</summary>Start with the bias, and for each pair of weight and input add their
# product.</details>
# <details><summary>Hint 2</summary><code>zip(weights, inputs)</code> gives the pairs, and stops silently at the end of
# the shorter list. <code>zip(weights, inputs, strict=True)</code> raises ValueError.</details>

# %% [markdown]
# ## 2 · The neuron
#
# A neuron keeps its weights and its bias between two calls. The weights start as small random numbers, the bias at 0.
# Why not all the same number? That is the question at the end of the lesson. A <dfn>parameter</dfn> is a number, or an
# array of numbers, that training changes: a weight or a bias. `__init__` is given. You write the other two methods.
#
# `__call__` is what runs when you write `neuron(inputs)`.

# %% exercise="neuron.neuron" own="a user of engine 1, which ends at Value and has no layers"
class Neuron:
    """One neuron. Neuron(3) takes three inputs: in `__init__`, `inputs` is how many there are, in
    `__call__` it is the list of them.

    w            its weights, a list of Values, one for each input
    b            its bias, a Value
    activation   a function from Value to Value, such as Value.tanh; with None the sum is the
                 output
    """

    def __init__(self, inputs, activation=Value.tanh, rng=random):
        reach = 1 / math.sqrt(inputs)  # the more inputs, the smaller the weights
        self.w = [Value(rng.uniform(-reach, reach)) for _ in range(inputs)]
        self.b = Value(0.0)
        self.activation = activation

    def __call__(self, inputs):
        """The output for a list of inputs, a Value: activation(w · inputs + b), or the sum."""
        ### BEGIN SOLUTION
        total = weighted_sum(self.w, inputs, self.b)
        return total if self.activation is None else self.activation(total)
        ### END SOLUTION

    def parameters(self):
        """A new list of all that can be trained: the weights in their order, then the bias.

        >>> len(Neuron(3, rng=random.Random(0)).parameters())
        4
        """
        ### BEGIN SOLUTION
        return [*self.w, self.b]
        ### END SOLUTION

# %% check="neuron.neuron"

# %% [markdown]
# <details><summary>Hint 1</summary>The activation is an attribute that holds a function:
# <code>self.activation(total)</code> calls it.</details>
# <details><summary>Hint 2</summary>The weights are a list, the bias is one Value: <code>self.w + [self.b]</code>. What
# would <code>self.w.append(self.b)</code> do to the neuron?</details>

# %% [markdown]
# One neuron can divide the points of the plane into two sets: an output above 0 means yes, below 0 no. Guess the shape
# of the border before you run this.

# %% demo
one = Neuron(2, rng=random.Random(4))
one.b.data = 0.3
somewhere = random.Random(1)
scatter = [[somewhere.uniform(-2, 2), somewhere.uniform(-2, 2)] for _ in range(60)]
sides = ["yes" if one(point).data > 0 else "no" for point in scatter]


def score_of(model):
    return lambda points: [model([float(x) for x in point]).data for point in points]


plot_boundary(score_of(one), scatter, sides, "One neuron", cells=40)

# %% [markdown]
# The border of one neuron is a straight line, always: it is where w₁x₁ + w₂x₂ + b = 0. This is so for tanh, for ReLU
# and without an activation, because each of these is above 0 exactly where the sum is above 0. Remember it for later.

# %% [markdown]
# ## 3 · A layer
#
# A <dfn>layer</dfn> is several neurons side by side, which get the same inputs and have their own weights. Here is one:
#
# ```
#         ┌── neuron ── out₁
#  x₁ ──┐ │
#       ├─┼── neuron ── out₂
#  x₂ ──┘ │
#         └── neuron ── out₃
# ```

# %% exercise="neuron.layer" own="a user of engine 1, which ends at Value and has no layers"
class Layer:
    """Neurons side by side: `inputs` numbers in, `outputs` numbers out.

    neurons   a list of Neurons, as many as there are outputs
    """

    def __init__(self, inputs, outputs, activation=Value.tanh, rng=random):
        """Make the neurons, one after the other, each with that activation and that rng."""
        ### BEGIN SOLUTION
        self.neurons = [Neuron(inputs, activation, rng) for _ in range(outputs)]
        ### END SOLUTION

    def __call__(self, inputs):
        """A list with the output of each neuron."""
        ### BEGIN SOLUTION
        return [neuron(inputs) for neuron in self.neurons]
        ### END SOLUTION

    def parameters(self):
        """One flat list: all parameters of the first neuron, then those of the second, …

        >>> len(Layer(2, 3).parameters())
        9
        """
        ### BEGIN SOLUTION
        return [p for neuron in self.neurons for p in neuron.parameters()]
        ### END SOLUTION

# %% check="neuron.layer"

# %% [markdown]
# <details><summary>Hint 1</summary>Three list comprehensions, the last one with two <code>for</code>.</details>
# <details><summary>Hint 2</summary><code>[Neuron(…)] * 3</code> is a list with the <em>same</em> neuron three times.
# <code>[Neuron(…) for _ in range(3)]</code> makes three.</details>

# %% [markdown]
# ## 4 · A network
#
# A <dfn>multi-layer perceptron</dfn> (MLP) is a network of layers, one after the other: the outputs of one layer are
# the inputs of the next. `MLP([2, 4, 1])` has two inputs, four neurons in the middle, and one output.
#
# The last layer has no activation. An output should reach any number, and tanh would keep it between −1 and 1.

# %% exercise="neuron.mlp" own="a user of engine 1, which ends at Value and has no layers"
class MLP:
    """Layers one after the other; MLP([2, 8, 8, 1]) takes two numbers and gives one.

    layers   a list of Layers
    """

    def __init__(self, sizes, activation=Value.tanh, rng=random):
        """Make the layers, first to last: one for each pair of neighbours in the list `sizes`.

        All have the activation, except for the last one: there it is None. All get that rng.
        """
        ### BEGIN SOLUTION
        pairs = list(zip(sizes, sizes[1:]))
        self.layers = [Layer(*pair, activation, rng) for pair in pairs[:-1]]
        self.layers.append(Layer(*pairs[-1], None, rng))
        ### END SOLUTION

    def __call__(self, inputs):
        """The list of outputs of the last layer; a single output comes as it is, without a list."""
        ### BEGIN SOLUTION
        values = inputs
        for layer in self.layers:
            values = layer(values)
        return values[0] if len(values) == 1 else values
        ### END SOLUTION

    def parameters(self):
        """One flat list: the parameters of the first layer, then those of the second, …

        >>> len(MLP([2, 4, 1]).parameters())
        17
        """
        ### BEGIN SOLUTION
        return [p for layer in self.layers for p in layer.parameters()]
        ### END SOLUTION

# %% check="neuron.mlp"

# %% [markdown]
# <details><summary>Hint 1</summary>[2, 8, 1] has the neighbours (2, 8) and (8, 1). <code>zip(sizes, sizes[1:])</code>
# gives them.</details>
# <details><summary>Hint 2</summary>With <code>enumerate</code> you know which pair is the last: its index is
# <code>len(sizes) - 2</code>.</details>
# <details><summary>Hint 3</summary>In <code>__call__</code>, one name is enough: <code>values = layer(values)</code>,
# for each layer.</details>

# %% [markdown]
# The next cell draws `MLP([2, 4, 3, 1])`. Each line is a weight: blue if it is positive, orange if it is negative; a
# thick line is a large weight. There are more parameters than one thinks. How many do you count in this network?

# %% predict
count_guess = predict(parameters=...)

# %% demo
def draw_network(model, title):
    """Neurons as dots, weights as lines."""
    columns = [len(model.layers[0].neurons[0].w)] + [len(layer.neurons) for layer in model.layers]
    plot = Plot(title, "", "", width=5.2, height=3.2)
    for k, layer in enumerate(model.layers):
        for j, neuron in enumerate(layer.neurons):
            for i, w in enumerate(neuron.w):
                plot.axes.plot([k, k + 1], [i - columns[k] / 2, j - columns[k + 1] / 2],
                               color="#0072b2" if w.data > 0 else "#e69f00",
                               linewidth=0.3 + 2 * min(abs(w.data), 3.0), zorder=1)
    for k, n in enumerate(columns):
        plot.axes.scatter([k] * n, [i - n / 2 for i in range(n)], s=160, color="white",
                          edgecolors="#444444", zorder=2)
    plot.axes.set_axis_off()
    return plot


example = MLP([2, 4, 3, 1], rng=random.Random(0))
count_guess.compare(parameters=len(example.parameters()))
draw_network(example, "MLP([2, 4, 3, 1]), before training")

# %% [markdown]
# ## 5 · How wrong is it?
#
# An *example* is a list of inputs together with the right answer. A <dfn>target</dfn> is the right answer to one
# example. A <dfn>prediction</dfn> is what a network answers to one example.
#
# `backward` starts from **one** number. It is the loss: it says how wrong the network is, over all examples. The
# <dfn>mean squared error</dfn> is the mean of (prediction − target)² over all examples. It is the loss that we use.
#
# The loss is a `Value` that is computed from the predictions, so `backward` finds the gradient of every parameter.

# %% exercise="neuron.loss" own="a user of engine 1, which ends at Value and has no losses"
def mean_squared_error(predictions, targets):
    """The mean of (prediction − target)² over all examples, a Value.

    predictions   a list of n Values, n ≥ 1
    targets       a list of n numbers; if there are more or fewer, ValueError

    >>> mean_squared_error([Value(1.0), Value(-2.0)], [3.0, -1.0]).data
    2.5
    """
    ### BEGIN SOLUTION
    total = Value(0.0)
    for prediction, target in zip(predictions, targets, strict=True):
        total = total + (prediction - target) ** 2
    return total / len(targets)
    ### END SOLUTION

# %% check="neuron.loss"

# %% [markdown]
# <details><summary>Hint 1</summary>A loop as in exercise 1, and at the end divide by the number of examples. No
# <code>.data</code> anywhere: a plain number remembers nothing.</details>
# <details><summary>Hint 2</summary><code>sum(…)</code> works on Values, too: it begins with 0, and 0 + Value is
# <code>__radd__</code>.</details>

# %% [markdown]
# ## Downhill
#
# Take one neuron with one input, x = 2. The target is 0.8. Leave the bias at 0, change only the weight, and look at the
# loss:

# %% demo
def loss_at(w):
    neuron = Neuron(1)
    neuron.w[0].data, neuron.b.data = w, 0.0
    loss = mean_squared_error([neuron([2.0])], [0.8])
    loss.backward()
    return loss.data, neuron.w[0].grad


along = [i / 50 - 1.0 for i in range(121)]
valley = plot_lines(along, {"loss": [loss_at(w)[0] for w in along]}, "One weight, one valley",
                    "weight w", "loss", markers=False)
for at in (-0.3, 0.2, 1.0):
    loss, slope = loss_at(at)
    valley.axes.plot([at - 0.15, at + 0.15], [loss - 0.15 * slope, loss + 0.15 * slope], "k-")
    valley.axes.annotate(f"slope {slope:+.2f}", (at, loss), (8, 6), textcoords="offset points")
valley

# %% [markdown]
# Left of the bottom the slope is negative, and w should go up. Right of the bottom the slope is positive, and w should
# go down. So the step is **against the slope**:
# $w \leftarrow w - \eta \cdot \frac{\partial\, \text{loss}}{\partial w}$. The steeper the curve, the longer the step.
# The <dfn>learning rate</dfn> η (eta) is the number by which a gradient is multiplied to get the step. We choose it.
#
# In <dfn>gradient descent</dfn>, every parameter takes small steps against its gradient, again and again, so that the
# loss gets smaller. It is the same for one weight and for a billion.

# %% [markdown]
# ## 6 · The step, and the eraser
#
# You write two tiny functions. `step` moves the parameters. `zero_grad` sets their gradients to 0: it is the eraser. It
# is needed because each `backward` adds to the `grad` of a leaf, as in lesson 01, and parameters are leaves.

# %% exercise="neuron.step" own="a user of engine 1, which ends at Value and has no optimizers"
def step(parameters, learning_rate):
    """Move every parameter against its gradient: its data becomes data − learning_rate · grad.

    parameters   a list of Values. They stay the same Values, and keep their grad.

    >>> w = Value(1.0); w.grad = 3.0
    >>> step([w], 0.1); round(w.data, 6)
    0.7
    """
    ### BEGIN SOLUTION
    for p in parameters:
        p.data -= learning_rate * p.grad
    ### END SOLUTION


def zero_grad(parameters):
    """Set the grad of every parameter to 0. Their data stays.

    >>> w = Value(1.0); w.grad = 3.0
    >>> zero_grad([w]); w.data, w.grad
    (1.0, 0.0)
    """
    ### BEGIN SOLUTION
    for p in parameters:
        p.grad = 0.0
    ### END SOLUTION

# %% check="neuron.step"

# %% [markdown]
# <details><summary>Hint 1</summary>In a loop <code>for p in parameters</code>, the line <code>p = …</code> only gives
# the name <code>p</code> to another object. The network still has the old one. So change what is inside p.</details>
# <details><summary>Hint 2</summary><code>p.data</code> and <code>p.grad</code> are plain numbers; compute with
# those.</details>

# %% [markdown]
# Now the neuron moves step by step to its target. Both its weight and its bias are trained:

# %% demo
def descend(learning_rate, times):
    neuron = Neuron(1)
    neuron.w[0].data, neuron.b.data = -0.4, 0.1
    outputs = []
    for _ in range(times):
        out = neuron([2.0])
        outputs.append(out.data)
        loss = mean_squared_error([out], [0.8])
        zero_grad(neuron.parameters())
        loss.backward()
        step(neuron.parameters(), learning_rate)
    return neuron, outputs


neuron, outputs = descend(0.1, 30)
for i in (0, 1, 2, 5, 10, 29):
    print(f"step {i:2}: output {outputs[i]:+.4f}")
print(f"at the end w = {neuron.w[0].data:.3f}, b = {neuron.b.data:.3f}")

# %% [markdown]
# One *round* of training: compute the predictions and the loss, set the gradients to 0, call `backward`, make one step.
# Here is the graph of one round, from the parameters to the loss. Go back through it with ▶. You watch `backward`. The
# two parameters are among the last boxes that it reaches: `step` will move them.

# %% demo
neuron = descend(0.1, 0)[0]
neuron.w[0].label, neuron.b.label = "w", "b"
first_loss = mean_squared_error([neuron([2.0])], [0.8])
first_loss.label = "loss"
steps(first_loss)

# %% [markdown]
# How long should a step be? Guess which of the learning rates 0.01, 0.1 and 3 will be best, and what the worst
# will look like.

# %% demo
runs = {f"learning rate {rate}": descend(rate, 30)[1] for rate in (0.01, 0.1, 3.0)}
lines = plot_lines(range(30), runs, "One neuron on its way to 0.8", "step", "output", markers=False)
lines.axes.axhline(0.8, color="black", linewidth=0.8)
lines

# %% [markdown]
# With a learning rate that is too small, the output moves too slowly. With one that is too large, the weight jumps over
# the valley and lands where tanh is flat. There the slope is nearly 0, so the weight hardly moves for a long time.

# %% [markdown]
# ### Predict, then run: the forgotten eraser
#
# Take loss = 3 · w. The slope is 3, wherever w is. w starts at 1, the learning rate is 0.1, and there are three rounds
# of `backward` and `step`. Where is w at the end with `zero_grad` in each round? Without `zero_grad`, where is w at the
# end, and what is in its grad?

# %% predict
eraser_guess = predict(w_with=..., w_without=..., grad_without=...)

# %% demo
def three_rounds(erase):
    w = Value(1.0)
    for _ in range(3):
        if erase:
            zero_grad([w])
        (3 * w).backward()
        step([w], 0.1)
    return w


eraser_guess.compare(w_with=three_rounds(True).data, w_without=three_rounds(False).data,
                     grad_without=three_rounds(False).grad)

# %% [markdown]
# Without `zero_grad`, the gradients are 3, then 3 + 3, then 3 + 3 + 3, and each step is 0.1 times that. Every old slope
# is used again in each later step, though w is no longer where that slope was found. No error message says so. Below
# you see what it does in real training.

# %% [markdown]
# ## 7 · Training
#
# You have all parts: predictions, loss, gradients, step. Write the loop. The order matters: some orders are wrong, and
# no error message tells you.

# %% exercise="neuron.train" own="a training loop; the package leaves loops to its users"
def train(model, inputs, targets, rounds, learning_rate):
    """Gradient descent on the mean squared error over all examples: a list of `rounds` losses.

    model     anything with model(inputs of one example) → a Value, and model.parameters() → the
              Values it uses
    inputs    a list with, for each example, the list of its inputs
    targets   a list of numbers, one for each example

    In each round: the predictions for all examples and their loss, its gradients, one step. The
    loss is noted as a plain number, as it was before the step. What is in a grad before training
    begins does not count.
    """
    ### BEGIN SOLUTION
    losses = []
    for _ in range(rounds):
        loss = mean_squared_error([model(x) for x in inputs], targets)
        zero_grad(model.parameters())
        loss.backward()
        step(model.parameters(), learning_rate)
        losses.append(loss.data)
    return losses
    ### END SOLUTION

# %% check="neuron.train"

# %% [markdown]
# <details><summary>Hint 1</summary>The predictions belong inside the loop. A graph holds the numbers of the moment when
# it was made; after a step it is out of date.</details>
# <details><summary>Hint 2</summary><code>step</code> needs the gradients of this round and no others: first
# <code>zero_grad</code>, then <code>loss.backward()</code>, then <code>step</code>.</details>

# %% [markdown]
# ## XOR
#
# XOR ("exclusive or") has four examples. The target is 1 if exactly one of the two inputs is 1, else −1. Draw the four
# points as the corners of a square: the two with target 1 are on one diagonal, the two with target −1 are on the other
# diagonal. The border of one neuron is a straight line, and no straight line separates them.

# %% [markdown]
# ### Predict, then run
#
# One neuron without activation is trained until its loss no longer changes. How small does the loss get?

# %% predict
line_guess = predict(loss=...)

# %% demo
corners, xor = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]

straight = Neuron(2, activation=None, rng=random.Random(0))
straight_losses = train(straight, corners, xor, 300, 0.3)
line_guess.compare(loss=straight_losses[-1])
print("its answers:", *(f"{straight(x).data:.4f}" for x in corners))

# %% [markdown]
# The neuron answers 0 to every example and is wrong by 1 each time. One neuron without an activation cannot do better.
# (Minsky and Papert wrote a book about such limits in 1969.) With four neurons in a layer before it, it works:

# %% demo
xor_net = MLP([2, 4, 1], rng=random.Random(3))
xor_losses = train(xor_net, corners, xor, 150, 0.2)
for x, target in zip(corners, xor):
    print(f"{x} → {xor_net(x).data:+.3f}, should be {target:+}")
plot_losses({"one neuron": straight_losses[:150], "MLP([2, 4, 1])": xor_losses}, "XOR")

# %% demo
plot_boundary(score_of(xor_net), corners, xor, "XOR: the border of MLP([2, 4, 1])", cells=40)

# %% demo
draw_network(xor_net, "MLP([2, 4, 1]), after training")

# %% [markdown]
# And now the same network, from the same start, without `zero_grad` in the loop:

# %% demo
def train_without_erasing(model, inputs, targets, rounds, learning_rate):
    losses = []
    for _ in range(rounds):
        loss = mean_squared_error([model(x) for x in inputs], targets)
        loss.backward()
        step(model.parameters(), learning_rate)
        losses.append(loss.data)
    return losses


forgetful = train_without_erasing(MLP([2, 4, 1], rng=random.Random(3)), corners, xor, 150, 0.2)
plot_losses({"with zero_grad": xor_losses, "without": forgetful}, "XOR, with and without zero_grad")

# %% [markdown]
# At first training without `zero_grad` is even faster: old slopes still point in about the right direction, and the
# steps get longer. Then it cannot stop, like a ball that rolls down without any friction. With some friction the idea
# is good, and lesson 05 uses it. A step with <dfn>momentum</dfn> uses older gradients, too, and the older a gradient
# is, the less it counts.

# %% [markdown]
# ## Two moons
#
# A larger problem: forty points on two half circles, moved a little at random. Each half circle reaches into the other
# one, so no straight line separates them.

# %% demo
def make_moons(n, rng, noise=0.1):
    points, labels = [], []
    for i in range(n):
        angle, upper = math.pi * rng.random(), i % 2
        x, y = math.cos(angle), math.sin(angle)
        points.append([(x if upper else 1 - x) + rng.gauss(0, noise),
                       (y if upper else 0.5 - y) + rng.gauss(0, noise)])
        labels.append(1 if upper else -1)
    return points, labels


def accuracy(model, points, labels):
    return sum((model(x).data > 0) == (label > 0) for x, label in zip(points, labels)) / len(labels)


points, labels = make_moons(40, random.Random(4))
moon_net = MLP([2, 8, 8, 1], rng=random.Random(1))
moon_losses = train(moon_net, points, labels, 30, 0.5)
print(f"after {len(moon_losses)} rounds: {accuracy(moon_net, points, labels):.0%} right")
plot_boundary(score_of(moon_net), points, labels, "Two moons, after 30 rounds", cells=30)

# %% [markdown]
# The border is still nearly a straight line. Training goes on from there. What will the border look like?

# %% demo
start = time.perf_counter()
for _ in range(4):
    moon_losses += train(moon_net, points, labels, 30, 0.5)
    print(f"after {len(moon_losses)} rounds: loss {moon_losses[-1]:.3f}")
took = time.perf_counter() - start
print(f"after {len(moon_losses)} rounds: {accuracy(moon_net, points, labels):.0%} right; "
      f"{1000 * took / 120:.0f} ms a round")
plot_boundary(score_of(moon_net), points, labels, "Two moons, after 150 rounds", cells=30)

# %% demo
plot_losses({"MLP([2, 8, 8, 1])": moon_losses}, "Two moons")

# %% [markdown]
# Look at the flat part: for a long time the loss hardly changes, while the border is still nearly straight and slowly
# begins to bend. If you stop there, you may think that the network cannot learn. A sudden peak is a step that was too
# long: it leaves the valley, and the next steps lead slowly back.
#
# And how good are the predictions for points that were not used in training?

# %% demo
fresh_points, fresh_labels = make_moons(400, random.Random(7))
print(f"{accuracy(moon_net, fresh_points, fresh_labels):.0%} of 400 new points right")

# %% [markdown]
# ## 8 · Dead neurons
#
# ReLU is cheaper than tanh and does not saturate on the right. But on the left it gives 0, with a slope of 0. A
# <dfn>dead neuron</dfn> is a neuron with ReLU that gives 0 for every example, so the gradients of all its parameters
# are 0 and it does not learn. No message tells you. The network is then smaller than you think.

# %% exercise="neuron.dead" own="a measurement of a network; nothing in the package needs it"
def dead_neurons(layer, inputs):
    """How many neurons of a layer give exactly 0 for every example.

    layer    has `neurons`, a list; layer(x) is the list of their outputs, Values
    inputs   a list with, for each example, the list of its inputs; at least one
    """
    ### BEGIN SOLUTION
    outputs = [layer(x) for x in inputs]
    return sum(all(row[i].data == 0 for row in outputs) for i in range(len(layer.neurons)))
    ### END SOLUTION

# %% check="neuron.dead"

# %% [markdown]
# <details><summary>Hint 1</summary>There are two loops, one inside the other: for each neuron, is its output 0 for all
# examples? Python has <code>all(…)</code>.</details>
# <details><summary>Hint 2</summary>True counts as 1: <code>sum(all(…) for neuron in layer.neurons)</code>.</details>

# %% [markdown]
# ### Predict, then run
#
# Take a network with eight neurons with ReLU in the middle. It is trained on the moons for twenty rounds, from five
# different starts: that is forty neurons. How many of them are dead before training? How many after it with the
# learning rate 0.1, and with 0.8?

# %% predict
dead_guess = predict(before=..., after_small_steps=..., after_large_steps=...)

# %% demo
def dead_over_time(learning_rate, rounds=20, starts=5):
    """The number of dead ones among all starts, after each round."""
    dead = [0] * (rounds + 1)
    for seed in range(starts):
        model = MLP([2, 8, 1], Value.relu, random.Random(seed))
        dead[0] += dead_neurons(model.layers[0], points)
        for i in range(rounds):
            train(model, points, labels, 1, learning_rate)
            dead[i + 1] += dead_neurons(model.layers[0], points)
        print(f"learning rate {learning_rate}: {seed + 1} of {starts} starts")
    return dead


dead = {f"learning rate {rate}": dead_over_time(rate) for rate in (0.1, 0.8)}
small_steps, large_steps = dead.values()
dead_guess.compare(before=small_steps[0], after_small_steps=small_steps[-1],
                   after_large_steps=large_steps[-1])
plot_lines(range(21), dead, "Dead ReLUs among 40", "round", "dead neurons", markers=False)

# %% [markdown]
# After a step that is too long, the weights of a neuron may be such that its sum is not above 0 for any example. Then
# nothing moves them any more. To count dead neurons is a cheap test of a network with ReLU.

# %% [markdown]
# ## When Python complains
#
# <details><summary><code>TypeError: 'NoneType' object is not callable</code></summary>
# <code>self.activation(…)</code> where the activation is None: then the sum itself is the output.</details>
#
# <details><summary><code>TypeError: a Value holds one real number, not [Value(…)]</code></summary>
# A list where a Value should be. <code>self.w + self.b</code> is a list plus a Value; a list plus a list is
# <code>self.w + [self.b]</code>. Or your MLP returns a list with one Value; the docstring wants it without the
# list.</details>
#
# <details><summary><code>TypeError: a Value holds one real number, not [1.2, -0.5]</code></summary>
# All examples where one belongs: <code>model(inputs)</code>, but <code>model(x)</code> for each x of the inputs is
# meant.</details>
#
# <details><summary><code>TypeError: 'module' object is not callable</code></summary>
# The module <code>random</code> came where the activation belongs: <code>Neuron(inputs, rng)</code>. The order is inputs,
# activation, rng.</details>
#
# <details><summary><code>ValueError: zip() argument 2 is shorter than argument 1</code></summary> A neuron with two
# weights got one input, or the other way round. In a Layer: were inputs and outputs exchanged?</details>
#
# <details><summary><code>AttributeError: 'float' object has no attribute 'backward'</code></summary> The loss is a
# plain number. Somewhere on the way you took the <code>.data</code> of a Value, and the graph ends there.</details>
#
# <details><summary><code>AttributeError: 'list' object has no attribute 'grad'</code></summary>
# <code>parameters()</code> gives a list of lists. It has to be flat: a comprehension with two <code>for</code>, or
# <code>+=</code> of lists in place of <code>append</code>.</details>
#
# <details><summary>An exercise was repaired, and a demo below still does the old thing</summary> The network of the
# demo was made from the class as it was before. Run all cells from the class on once more.</details>
#
# <details><summary><code>OverflowError: … is larger than any float</code></summary> The loss grew from round to round:
# the learning rate is too large, or <code>zero_grad</code> is not called, or the step goes up the slope.</details>
#
# <details><summary>No error, but the loss stays the same in every round</summary>
# The predictions are computed before the loop, or <code>p = p − …</code> changes only a name, or every neuron is
# dead.</details>

# %% [markdown]
# ## What it costs
#
# Training on the moons does one thing many thousand times: a weighted sum. Without the bias it is called a *dot
# product*. Take one with a thousand weights and a thousand inputs. How many boxes is that: all weights, inputs,
# products and sums together, and the 0 with which the sum begins? And how many times longer does it take than NumPy's
# `w @ x`?

# %% predict
price_guess = predict(boxes=..., times_slower=...)

# %% demo
def best_seconds(run, repeat=5):
    best = math.inf
    for _ in range(repeat):
        start = time.process_time()  # our own time only, so that a busy machine does no harm
        count = run()
        best = min(best, (time.process_time() - start) / count)
    return best


def value_dot(n):
    """The result, with all of its boxes."""
    return weighted_sum([Value(math.sin(i)) for i in range(n)],
                        [Value(math.cos(i)) for i in range(n)], Value(0.0))


def numpy_seconds(n):
    w, x = np.sin(np.arange(n)), np.cos(np.arange(n))

    def run():
        for _ in range(1000):
            w @ x
        return 1000
    return best_seconds(run)


def value_seconds(n):
    w, x = [Value(math.sin(i)) for i in range(n)], [Value(math.cos(i)) for i in range(n)]

    def run():
        weighted_sum(w, x, Value(0.0))
        return 1
    return best_seconds(run)


price_guess.compare(boxes=len(topological_order(value_dot(1000))),
                    times_slower=value_seconds(1000) / numpy_seconds(1000))

# %% [markdown]
# There are four boxes for each element: a weight, an input, their product, and a sum. One more box holds the 0 with
# which the sum begins. How much memory do they take?

# %% demo
def bytes_of(make):
    tracemalloc.start()
    kept = make()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return held


n = 1000
boxes = bytes_of(lambda: value_dot(n))
arrays = bytes_of(lambda: (np.sin(np.arange(n)), np.cos(np.arange(n))))
print(f"Values: {boxes:9,} bytes, {boxes / n:.0f} for each element of the sum")
print(f"NumPy:  {arrays:9,} bytes, {arrays / n:.0f} for each element of the sum")

# %% [markdown]
# With Values, everything is done one element at a time, and each element costs several calls in Python. With NumPy
# there is one call for all elements, and the processor takes several of them at once. But to learn, we need slopes, not
# only a result.

# %% [markdown]
# ## 9 · All the slopes at once
#
# ∂(w·x)/∂w₁ is x₁, ∂(w·x)/∂w₂ is x₂, and so on: you predicted that at the beginning of this lesson. So all slopes for w
# together are … one array that you already have. The upstream gradient of the dot product is one number, ∂loss/∂(w·x).
# By the chain rule each slope is multiplied by it. In the code the upstream gradient is called `arrived`.

# %% exercise="neuron.dot" own="the bridge from numbers to arrays, in NumPy; engine 2 has it as MatMul, lesson 04"
def dot_with_slopes(w, x, arrived):
    """The dot product of two arrays, and what it hands back: (w·x, ∂loss/∂w, ∂loss/∂x).

    w, x      arrays of shape (n,); they stay as they are
    arrived   ∂loss/∂(w·x), a number: the upstream gradient

    The two gradients have shape (n,), too.

    >>> dot, of_w, of_x = dot_with_slopes(np.array([2.0, -1.0]), np.array([1.0, 3.0]), 10.0)
    >>> float(dot), of_w, of_x
    (-1.0, array([10., 30.]), array([ 20., -10.]))
    """
    ### BEGIN SOLUTION
    return float(w @ x), arrived * x, arrived * w
    ### END SOLUTION

# %% check="neuron.dot"

# %% [markdown]
# <details><summary>Hint 1</summary><code>w @ x</code> is the dot product. The other two need one multiplication
# each.</details>
# <details><summary>Hint 2</summary>The slope for a weight is its input, times <code>arrived</code>.</details>

# %% [markdown]
# The next cell measures forward and backward, with Values and with NumPy, for dot products of several lengths:

# %% demo
def value_both(n):
    w, x = [Value(math.sin(i)) for i in range(n)], [Value(math.cos(i)) for i in range(n)]

    def run():
        weighted_sum(w, x, Value(0.0)).backward()
        return 1
    return best_seconds(run, 3)


def numpy_both(n):
    w, x = np.sin(np.arange(n)), np.cos(np.arange(n))

    def run():
        for _ in range(100):
            dot_with_slopes(w, x, 1.0)
        return 100
    return best_seconds(run)


lengths = [4 ** k for k in range(7)]
by_values, by_numpy = [value_both(n) for n in lengths], [numpy_both(n) for n in lengths]
for n, slow, fast in zip(lengths, by_values, by_numpy):
    print(f"n = {n:6,}: {4 * n + 1:7,} boxes, Values {1e6 * slow:9,.0f} µs, "
          f"NumPy {1e6 * fast:5,.0f} µs, {slow / fast:6,.0f} times")
plot_times(lengths, {"Values, forward + backward": by_values,
                     "NumPy, forward + backward": by_numpy}, "A dot product with all its slopes",
           "elements n")

# %% [markdown]
# With Values, each element costs the same, from the first one on: a straight line. With NumPy, each **call** costs
# nearly the same, as long as there are no more than some thousand elements. Beyond that, each further element costs a
# little. For a single number, NumPy gains hardly anything. For a thousand, it gains very much.
#
# So this is the plan for the next lessons: the same chain rule, but each box holds an array. Then there are few boxes,
# each with many numbers.

# %% [markdown] written="neuron.explain" points=3
# ## In your own words
#
# A friend does not like random numbers and starts `MLP([2, 4, 1])` with 0.5 in every weight and 0 in every bias. It
# trains on XOR without an error and never gets it right. Why? And what happens if every weight is 0 at the start? Five
# sentences at most. You may run it.
#
# <!-- BEGIN SOLUTION -->
# All four neurons in the middle get the same inputs and have the same weights, so their outputs are equal. The last layer
# weighs them equally, too, so all four get the same gradient and take the same step: they stay equal for ever, and the
# network is worth `MLP([2, 1, 1])`. One neuron in the middle bends along one straight line, and XOR needs two. With 0
# everywhere, tanh(0) = 0 goes into the last layer, so its weights have the gradient 0; and since they are 0, nothing is
# handed back to the layer before. Only the last bias moves, and for XOR not even that: its gradient is the mean error, 0.
#
# **How it is marked**
#
# - 1 point: equal weights give equal outputs *and* equal gradients, so the neurons stay equal after every step.
# - 1 point: therefore four neurons do the work of one, and one is too few for XOR (one straight line).
# - 1 point: all 0: the slopes of the first layer are 0 since the outgoing weights are 0, those of the last since its inputs
#   are 0; at most the last bias learns.
#
# Numbers or gradients printed from a run count as an argument. That the bias stands still on XOR is not asked.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# In PyTorch you would have written:
#
# ```python
# import torch
# from torch import nn
#
# model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
# optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
# x = torch.tensor(points)
# y = torch.tensor(labels, dtype=torch.float32).reshape(-1, 1)
# for _ in range(150):
#     loss = nn.functional.mse_loss(model(x), y)
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# ```
#
# JAX is another Python library for this. You write functions of arrays, and `jax.grad` makes from such a function
# another one, which returns the gradients.
#
# | yours | PyTorch | JAX |
# |---|---|---|
# | `Neuron` | one row of the matrix in `nn.Linear` | the same, in an array of your own |
# | `Layer(2, 8)` | `nn.Linear(2, 8)`, then `nn.Tanh()` | `jnp.tanh(x @ w + b)` |
# | `MLP([2, 8, 1])` | `nn.Sequential(…)` | a function of parameters and input |
# | `model.parameters()`, a list | the same, an iterator | a tree of arrays, handed in and out |
# | `mean_squared_error` | `nn.functional.mse_loss` | `jnp.mean((p - t) ** 2)` |
# | `zero_grad` | `optimizer.zero_grad()`, sets None | not needed: `jax.grad` returns new gradients |
# | `step` | `optimizer.step()` | `w - rate * g`, new arrays; nothing changes in place |
# | weights within ±1/√inputs | the same; its bias is drawn, too | your choice |
#
# It is useful that gradients add up. A <dfn>batch</dfn> is the set of examples that are used for one step. If a batch
# does not fit into memory, it is cut into parts. `backward` is called for each part, the gradients add up, and then
# there is one step. Lesson 07 does that.
#
# ## What comes next
#
# **03 broadcast**: arrays in place of numbers. The rule for a product stays the same. The new question is: what is the
# gradient of a row that was added to every line of a table?
