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
# # 01 · Value: a number that remembers
#
# Training a network comes down to one question, asked for every weight: **if this number goes up a little, how far does
# the result move?** The answer is called the gradient.
#
# Today you build `Value`, a number that remembers what it was computed from. With that memory, one call answers the
# question for all inputs at once:
#
# ```python
# a, b = Value(2.0), Value(-3.0)
# c = (a + b) * b
# c.backward()
# a.grad, b.grad          # how far c moves with a, and with b
# ```
#
# Eleven small exercises, each with its check right below. You need Python and the derivatives from school; the ones that
# you have forgotten stand in the docstrings.

# %% given
import math
import sys
import time
from numbers import Real

from autograder.notebook import add_to_class, check, predict
from tinygrad_cl.viz import draw, plot_lines, plot_step_size, plot_times, steps

# %% [markdown]
# ## One box, four facts
#
# Here is the whole class, still without a single operation. A box holds a number (`data`), the boxes it was computed from
# (`parents`), and, for each parent, one more number: **how fast this box moves if only that parent moves**
# (`local_derivatives`). The fourth, `grad`, stays 0 until the end of the lesson.

# %% given source="tinygrad_cl.scalar:Value[__array_ufunc__ __init__ __repr__ __bool__] tinygrad_cl.scalar:as_value"

# %% [markdown]
# There is no `+` and no `*` yet, so we put the boxes for $c = (a + b)\cdot b$ together by hand. Read the picture from left
# to right: the numbers flow that way. Where an edge enters a box stands the local derivative.

# %% demo
a = Value(2.0, label="a")
b = Value(-3.0, label="b")
s = Value(a.data + b.data, parents=(a, b), local_derivatives=(1.0, 1.0), op="+", label="s")
c = Value(s.data * b.data, parents=(s, b), local_derivatives=(b.data, s.data), op="*", label="c")
draw(c)

# %% [markdown]
# ### Predict, then run
#
# `b` goes up by a tiny bit, from −3 to −2.999. How far does `c` move, **counted in that tiny bit**? The picture has all
# you need; how many ways lead from `b` to `c`?
#
# Write your guesses in place of `...`, with no calculator. Nobody grades them.

# %% predict
paths_guess = predict(a=..., b=...)  # how fast does c move with a? with b?

# %% demo
def c_of(a, b):
    return (a + b) * b


bit = 0.001
paths_guess.compare(a=(c_of(2.0 + bit, -3.0) - c_of(2.0, -3.0)) / bit,
                    b=(c_of(2.0, -3.0 + bit) - c_of(2.0, -3.0)) / bit)
smaller = bit / 100  # the bit itself is squared in c, so a little is left over
print(f"b, with a bit 100 times smaller: "
      f"{(c_of(2.0, -3.0 + smaller) - c_of(2.0, -3.0)) / smaller:.5f}")

through_s = s.local_derivatives[1] * c.local_derivatives[0]  # b → s → c
directly = c.local_derivatives[1]                            # b → c
print(f"\nb → s → c: {s.local_derivatives[1]:g} · {c.local_derivatives[0]:g} = {through_s:g}")
print(f"b → c:     {directly:g}")
print(f"together:  {through_s + directly:g}")

# %% [markdown]
# That is all of automatic differentiation, in two lines:
#
# - **along a path, multiply** the local derivatives (the chain rule);
# - **over all paths, add.**
#
# $$\frac{\partial c}{\partial b} \;=\; \sum_{\text{paths } b \to c}\;\; \prod_{\text{edges on the path}} \text{local derivative}$$
#
# The rest of the lesson makes the computer do it: each operation notes its local derivatives (exercises 2 to 8), then
# `backward` multiplies and adds (9 and 10). But first we need a referee.

# %% [markdown]
# ## 1 · A referee that knows no rule
#
# Anybody can measure a slope without calculus: stand a bit to the left, stand a bit to the right, divide the rise by the
# distance.

# %% demo
def cube(x):
    return x ** 3


x, far = 2.0, 0.8
between = [x - far + i * far / 20 for i in range(41)]
rise = (cube(x + far) - cube(x - far)) / (2 * far)
line = [cube(x - far) + rise * (t - x + far) for t in between]
curves = {"f(x) = x³": [cube(t) for t in between], "the line through both points": line}
plot = plot_lines(between, curves,
                  "The slope at x, from two points beside it", markers=False)
plot.axes.plot([x - far, x + far], [cube(x - far), cube(x + far)], "o", color="black")
plot.axes.set(xlabel="x", ylabel="f(x)")
plot.axes.set_xticks([x - far, x, x + far], ["x − h", "x", "x + h"])
plot

# %% exercise="value.slope" own="of one number, plain floats; gradcheck.numerical_gradient is the same for arrays, with a step that fits the dtype"
def slope(f, x, h=1e-5):
    """The slope of f at x, measured: f(x + h) minus f(x − h), over the distance of the points.

    f    takes a number and returns a number
    h    how far to go to each side

    >>> round(slope(lambda x: x * x, 3.0), 6)
    6.0
    """
    ### BEGIN SOLUTION
    left, right = x - h, x + h
    return (f(right) - f(left)) / (right - left)
    ### END SOLUTION

# %% check="value.slope"

# %% [markdown]
# <details><summary>Hint 1</summary>How far apart are x − h and x + h?</details>
# <details><summary>Hint 2</summary>Python divides before it subtracts: which parts need parentheses?</details>

# %% [markdown]
# ### Predict, then run
#
# The slope of x³ at 2. And with a wide step, h = 1: is what you measure the same, too large or too small?

# %% predict
# the slope of x³ at 2, with h = 1e-5 and with h = 1
cube_guess = predict(small_step=..., wide_step=...)

# %% demo
cube_guess.compare(small_step=slope(cube, 2.0), wide_step=slope(cube, 2.0, h=1.0))

# %% [markdown]
# So a small step is better. The smallest, then? Guess the shape of the curve before you look: the error of the measured
# slope, for ever smaller steps. (Of exp, because there we know the slope: it is exp again.)

# %% demo
def one_sided(f, x, h):
    return (f(x + h) - f(x)) / h


def worst_error(method, h):  # over forty points, since at one alone the noise may be 0 by luck
    return max(abs(method(math.exp, x, h) - math.exp(x)) for x in [0.1 + i / 50 for i in range(40)])


sizes = [10 ** (-k / 4) for k in range(61)]
central = [worst_error(slope, h) for h in sizes]
error, best = min(zip(central, sizes))
print(f"best: h = {best:.0e}, error {error:.0e}")
print(f"at h = {sizes[-1]:.0e} the error is {central[-1]:.0e}")
plot_step_size(sizes, {"yours: f(x + h) − f(x − h)": central,
                       "one-sided: f(x + h) − f(x)": [worst_error(one_sided, h) for h in sizes]})

# %% [markdown]
# Read it from right to left. First the straight line gets closer to the curve: an error of h² (one-sided only h). Then
# f(x + h) and f(x − h) agree in nearly all of their 16 digits, and the subtraction leaves only noise, divided by a tiny h. The
# valley between is why `h=1e-5` is the default.
#
# A referee, but a slow one: two runs of f for each input. A network has millions of inputs. So, rules.

# %% [markdown]
# ## 2 · The sum
#
# Each operation does what we did by hand in the first picture: make a new box from the numbers, with its parents and one
# local derivative per parent.
#
# `a + b`: if only `a` goes up by a bit, the sum goes up by just that bit. The same for `b`.
#
# The other side of the `+` may be a plain number, as in `a + 2.5`; `as_value` makes a box of it.

# %% exercise="value.add" source="tinygrad_cl.scalar:Value.__add__"

# %% check="value.add"

# %% [markdown]
# <details><summary>Hint 1</summary>Look at the line <code>s = Value(…)</code> of the first picture; <code>self</code> is a,
# <code>other</code> is b.</details>
# <details><summary>Hint 2</summary>First <code>other = as_value(other)</code>, then return a new <code>Value</code> with four
# things: the sum, the two parents, the two local derivatives, the sign for the drawing.</details>

# %% [markdown]
# ## 3 · The product
#
# A rectangle with the sides a and b. Make a longer by a bit: the area grows by that bit times … which side?
#
# ```
#        a            bit
#   ┌───────────────┬───┐
# b │     a · b     │ ? │ b
#   └───────────────┴───┘
# ```

# %% exercise="value.mul" source="tinygrad_cl.scalar:Value.__mul__"

# %% check="value.mul"

# %% [markdown]
# <details><summary>Hint 1</summary>The new strip is bit · b: the local derivative for a is the <em>other</em> side.</details>
# <details><summary>Hint 2</summary>The derivatives stand in the order of the parents: first the one for
# <code>self</code>, then the one for <code>other</code>.</details>

# %% [markdown]
# Now Python builds the first picture for you, from the formula alone. And what happens if one box comes in twice?

# %% demo
a, b = Value(2.0, label="a"), Value(-3.0, label="b")
draw((a + b) * b)

# %% demo
draw(a * a)

# %% [markdown]
# Two edges, two paths. No special rule for squares: the sum over paths gives 2a.

# %% [markdown]
# ## 4 · The power
#
# $a^n$ with a plain number n has one parent, a, and the rule from school: the exponent comes down, and goes down by one.
# The function below knows it, with the corners (0 to a negative power, and so on). It is given; read its first line.

# %% given source="tinygrad_cl.scalar:power_and_slope"

# %% [markdown]
# If n is a `Value`, it is a parent, too: $a^n = e^{n \ln a}$, so with n it moves by $a^n \cdot \ln a$.

# %% exercise="value.pow" source="tinygrad_cl.scalar:Value.__pow__"

# %% check="value.pow"

# %% [markdown]
# <details><summary>Hint 1</summary>Two cases, so start with
# <code>if not isinstance(exponent, Value):</code>. In the first there is one parent and one local derivative.</details>
# <details><summary>Hint 2</summary>A tuple of one needs its comma: <code>(slope,)</code>. Without it, it is only a number in
# parentheses.</details>
# <details><summary>Hint 3</summary>In the second case, call <code>power_and_slope(self.data, exponent.data)</code>, and the
# derivative for the exponent is <code>power * math.log(self.data)</code>.</details>

# %% [markdown]
# ## 5 · Eight operations for free
#
# Nothing below needs a derivative. a − b is a + (−b), −a is a · (−1), a / b is a · b⁻¹: the boxes inside know the rules.
#
# The five with an `r` are for a plain number on the **left**: at `2.5 - a` Python first asks the number, the number does not
# know `Value`, then Python calls `a.__rsub__(2.5)`. So in there, `self` is the one on the right.
#
# This one stands on 2, 3 and 4: an error there shows up here again, so get those green first.

# %% exercise="value.derived" source="tinygrad_cl.scalar:Value.__neg__ tinygrad_cl.scalar:Value.__sub__ tinygrad_cl.scalar:Value.__truediv__ tinygrad_cl.scalar:Value.__radd__ tinygrad_cl.scalar:Value.__rsub__ tinygrad_cl.scalar:Value.__rmul__ tinygrad_cl.scalar:Value.__rtruediv__ tinygrad_cl.scalar:Value.__rpow__"

# %% check="value.derived"

# %% [markdown]
# <details><summary>Hint 1</summary>Each body is one line, and in it stand only operators that you have already.</details>
# <details><summary>Hint 2</summary><code>return other + self</code> in <code>__radd__</code> asks the same question again, for
# ever. With <code>as_value(other)</code> on the left, <code>__add__</code> answers.</details>

# %% [markdown]
# Convenience has a price. Count the boxes of one little division:

# %% demo
a, b = Value(2.0, label="a"), Value(-3.0, label="b")
draw(1 - a / b)

# %% [markdown]
# ## 6 · exp and log
#
# The exponential is the function that is its own slope. The logarithm undoes it, so its slope is one over: where exp is
# steep, log is flat.

# %% exercise="value.exp_log" source="tinygrad_cl.scalar:Value.exp tinygrad_cl.scalar:Value.log"

# %% check="value.exp_log"

# %% [markdown]
# <details><summary>Hint 1</summary>The local derivative of exp is a number that you have computed a line before.</details>
# <details><summary>Hint 2</summary>math.exp raises OverflowError by itself for a too large a; you may say it better, you need
# not.</details>

# %% [markdown]
# ## 7 · tanh and sigmoid
#
# Two S-shaped curves: tanh from −1 to 1, sigmoid from 0 to 1. Both have a slope that can be had from the **result**
# alone.
#
# One trap: $1/(1 + e^{-a})$ is right as a formula, but for a = −1000 it asks for $e^{1000}$, and no float is that large.
# For negative a multiply top and bottom by $e^{a}$.

# %% exercise="value.tanh_sigmoid" source="tinygrad_cl.scalar:Value.tanh tinygrad_cl.scalar:Value.sigmoid"

# %% check="value.tanh_sigmoid"

# %% [markdown]
# <details><summary>Hint 1</summary>Compute the result first and give it a name: t, or s. The rule uses that name, not
# a.</details>
# <details><summary>Hint 2</summary>For a ≥ 0 compute 1 / (1 + math.exp(−a)), else math.exp(a) / (1 + math.exp(a)): the
# exponent is never positive.</details>

# %% [markdown]
# ## 8 · ReLU, and the one number without a slope
#
# max(0, a). Left of 0 flat, right of 0 the line itself, at 0 a kink: no slope there. One has to be chosen; like PyTorch, we
# take 0.

# %% exercise="value.relu" source="tinygrad_cl.scalar:Value.relu"

# %% check="value.relu"

# %% [markdown]
# ### Predict, then run
#
# You have two activations now. How much of a nudge at the input comes out, for an input of −3 and for one of 3?

# %% predict
# the local derivatives at −3 (left) and at 3 (right)
pass_guess = predict(relu_left=..., tanh_left=..., relu_right=..., tanh_right=...)

# %% demo
def local(activation, x):
    return sum(activation(Value(x)).local_derivatives)  # one number; without parents, 0


pass_guess.compare(relu_left=local(Value.relu, -3.0), tanh_left=local(Value.tanh, -3.0),
                   relu_right=local(Value.relu, 3.0), tanh_right=local(Value.tanh, 3.0))

number, passed_on = 3.0, 1.0
for _ in range(10):  # the next tanh sees what the last one gave
    passed_on *= local(Value.tanh, number)
    number = math.tanh(number)
print(f"ten tanh in a row, from 3 on, pass on {passed_on:.0e} of a nudge")
inputs = [i / 25 - 4 for i in range(201)]
activations = {"relu": Value.relu, "tanh": Value.tanh, "sigmoid": Value.sigmoid}
plot_lines(inputs, {name: [local(f, x) for x in inputs] for name, f in activations.items()},
           "Local derivatives: what a nudge is multiplied by", "input a", "∂/∂a", markers=False)

# %% [markdown]
# Far from 0, tanh lets hardly anything through, on both sides: it saturates. ReLU lets all through or nothing. Along a path
# local derivatives are multiplied, so deep networks notice the difference.

# %% [markdown]
# ## 9 · In which order?
#
# Now the way back, from right to left. Each box collects its `grad`, the answer to "how fast does the result move
# with me?", and hands it on to its parents: times the local derivative, added to what they have.
#
# Look at the picture once more. The result c starts with 1 and hands on to both of its parents, s and b. **If you read b.grad
# now, what is missing?** The part that comes through s. A box is complete only when every box that uses it is done.
#
# So we need an order in which every box stands after all of its parents; `backward` then walks it from its end.
#
# ```
# parents first:   a   b   s   c          (b a s c is as good)
# backward goes:   c → s → b → a
# ```
#
# Two things to take care of. A box that is reached over many paths must stand in the list once. And a chain may be longer
# than Python lets a function call itself, so recursion will do for small graphs only: keep a list of what is still to do.

# %% exercise="value.order" source="tinygrad_cl.scalar:topological_order"

# %% check="value.order"

# %% [markdown]
# <details><summary>Hint 1: with recursion, for a start</summary>visit(node): if it was visited, return; note it as visited;
# visit each parent; then append the node. Every quantity but the long chain gets green.</details>
# <details><summary>Hint 2: without</summary>Keep a list <code>stack</code> of pairs (node, are its parents done?). Take the last
# pair. If the parents are done: append the node to the order. If not, and it is new: put the node back with True, then all
# its parents with False, which come off first.</details>
# <details><summary>Hint 3: another way</summary>Count for each box how many boxes use it. Start at the root; whenever
# all the users of a box are done, it is its turn. At the end reverse the list (Kahn, 1962).</details>

# %% [markdown]
# ## 10 · backward
#
# All is ready: boxes, local derivatives, an order (2, 3, 4 and 9 have to be green). What is left is one line per edge.
#
# One decision, the same as PyTorch's: **leaves keep adding up** over several calls, since a weight often gets its gradient
# from several results. Boxes in between belong to one call; they start from 0, or an old gradient would be handed on once
# more. To begin again with leaves at 0, call `zero_grad`.

# %% exercise="value.backward" source="tinygrad_cl.scalar:Value.backward tinygrad_cl.scalar:Value.zero_grad"

# %% check="value.backward"

# %% [markdown]
# <details><summary>Hint 1</summary>Three steps: set grad to 0 on every box that has parents; add 1 to self.grad; walk
# the order from its end.</details>
# <details><summary>Hint 2</summary>At each node, for each parent and its local derivative:
# <code>parent.grad += local_derivative * node.grad</code>. Why +=?</details>

# %% [markdown]
# The first picture, for the last time, now with `grad` in each box:

# %% demo
a, b = Value(2.0, label="a"), Value(-3.0, label="b")
c = (a + b) * b
c.label = "c"
c.backward()
draw(c)

# %% [markdown]
# That is where it ends. To see how it gets there, walk through it one edge at a time, with ▶ or the arrow keys. It is your
# own `backward` that runs; change `a`, and it runs again. The gradient of `b` has two
# parts: which two boxes hand them over?

# %% demo
steps(c)

# %% [markdown]
# ### Predict, then run
#
# Two scores, a = 1 and b = 2, become a probability: $p = \dfrac{e^a}{e^a + e^b}$, the softmax of two. If a goes up, p goes
# up. If b goes up? And if **both** go up by the same bit: what is ∂p/∂a + ∂p/∂b?

# %% predict
softmax_guess = predict(b_sign=..., both=...)  # −1, 0 or 1; and the sum of the two gradients

# %% demo
a, b = Value(1.0, label="a"), Value(2.0, label="b")
p = a.exp() / (a.exp() + b.exp())
p.label = "p"
p.backward()
softmax_guess.compare(b_sign=math.copysign(1, b.grad), both=round(a.grad + b.grad, 12))
print(f"\np = {p.data:.6f}   ∂p/∂a = {a.grad:.6f}   ∂p/∂b = {b.grad:.6f}")
print(f"sigmoid(a − b) = {(a - b).sigmoid().data:.6f}   p · (1 − p) = {p.data * (1 - p.data):.6f}")

# %% [markdown]
# Only the difference of the scores counts: the softmax of two numbers is the sigmoid of a − b. So a push on both does
# nothing, and the two gradients add up to 0 (rounding aside: the sum is shown to 12 places). If they did not, there would
# be a bug. Such laws are the cheapest tests there are.

# %% [markdown]
# ## 11 · Call the referee
#
# You have gradients by rules, and a way to measure slopes that knows no rule. Let them meet, for a whole function. PyTorch
# tests its own rules just so (`torch.autograd.gradcheck`).

# %% exercise="value.gradcheck" own="compares two gradients of Values; gradcheck.gradcheck is for functions of arrays and says by how much they differ"
def two_gradients(f, inputs):
    """The gradient of f at the inputs in two ways, (by backward, by slope): two lists of numbers.

    f         takes as many Values as there are inputs and returns a Value
    inputs    a list of numbers; it is not changed

    By backward: one call of f, one of backward. By slope: for each input alone, the `slope` of f
    along it, the others held still; f needs Values, `slope` needs plain numbers.

    >>> by_backward, by_slope = two_gradients(lambda a, b: a * b + a, [2.0, -3.0])
    >>> by_backward, [round(s, 6) for s in by_slope]
    ([-2.0, 2.0], [-2.0, 2.0])
    """
    ### BEGIN SOLUTION
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()

    def along(i):
        def moved(x):
            return f(*[Value(x if j == i else other) for j, other in enumerate(inputs)]).data
        return slope(moved, inputs[i])

    return [leaf.grad for leaf in leaves], [along(i) for i in range(len(inputs))]
    ### END SOLUTION

# %% check="value.gradcheck"

# %% [markdown]
# <details><summary>Hint 1</summary>For the slope along input i you need a function of one number x: f with x in the place i and
# the given numbers in the others, and of its result the <code>.data</code>.</details>
# <details><summary>Hint 2</summary>Make fresh Values for each call of f; leaves that you use twice add up.</details>

# %% [markdown]
# Now everything you wrote stands trial, and one impostor with it:

# %% demo
def impostor(a, b):
    return a * Value(b.data)  # looks like a · b, but b is only copied: the graph is cut


trials = {
    "sums, products": (lambda a, b: (a + b) * b - a, [2.0, -3.0]),
    "powers": (lambda a, b: a ** 3 / b + b ** -2 + 2 ** a, [2.0, -3.0]),
    "exp, log": (lambda a, b: (a * b).exp() + (a - b).log(), [0.7, -0.4]),
    "tanh, sigmoid": (lambda a, b: (a - b).tanh() * b.sigmoid(), [0.7, -0.4]),
    "relu": (lambda a, b: (a * b).relu() + (a - b).relu() * a, [0.7, -0.4]),
    "impostor": (impostor, [2.0, -3.0]),
}
for name, (f, inputs) in trials.items():
    worst = max(abs(rule - measured) for rule, measured in zip(*two_gradients(f, inputs)))
    print(f"{name:15} worst difference {worst:.0e}", "" if worst < 1e-6 else "  ← caught")

# %% [markdown]
# ## The same on the device
#
# Finite differences are many runs of one formula on slightly different numbers, and none waits for another: just what a
# device is good at. `device_gradient` runs your function once to note its boxes. Then the device moves every box, inputs
# and those between, once a little up and once a little down, all at the same time, in one launch.

# %% demo
from tinygrad_cl.gradcheck import device_gradient


def bump(a, b, c):
    return (a * b + c).tanh() * (b - c).exp() + a / (1 + c ** 2)


point = [0.7, -0.4, 1.3]
value, measured = device_gradient(bump, point)
by_backward, by_slope = two_gradients(bump, point)
print(f"value: {bump(*[Value(x) for x in point]).data:.10f} here, {value:.10f} on the device\n")
print(f"{'':6} {'your backward':>16} {'your slope':>16} {'the device':>16}")
for name, *numbers in zip("abc", by_backward, by_slope, measured):
    print(f"{'∂/∂' + name:6}", *(f"{number:16.10f}" for number in numbers))

# %% [markdown]
# ## When Python complains
#
# <details><summary><code>NotImplementedError</code></summary>
# The cell still holds <code>raise NotImplementedError</code>, or you changed it and did not run it. After a restart of the
# kernel all cells above have to run again: Run → Run All Above Selected Cell.</details>
#
# <details><summary><code>AttributeError: 'float' object has no attribute 'data'</code> (or <code>'int'</code>)</summary>
# The other operand is a plain number, as in <code>a + 2.5</code>. First line of the method:
# <code>other = as_value(other)</code>.</details>
#
# <details><summary><code>AttributeError: 'NoneType' object has no attribute 'data'</code></summary>
# The method computes something and does not <code>return</code> it.</details>
#
# <details><summary><code>TypeError: unsupported operand type(s) for +: 'Value' and 'Value'</code></summary>
# The cell with <code>__add__</code> did not run since the cell with <code>class Value</code> ran. That cell makes a new,
# empty class: run all cells after it again.</details>
#
# <details><summary><code>TypeError: unsupported operand type(s) for -: 'float' and 'Value'</code></summary>
# The number stands on the left: that is <code>__rsub__</code>, in exercise 5.</details>
#
# <details><summary><code>TypeError: unsupported operand type(s) for +=: 'float' and 'Value'</code></summary>
# A box stands where a number should be, as in the local derivatives <code>(other, self)</code>. The numbers are
# <code>other.data</code> and <code>self.data</code>.</details>
#
# <details><summary><code>TypeError: a Value holds one real number, not Value(…)</code></summary>
# <code>Value(other)</code> of an <code>other</code> that is a Value already: <code>as_value(other)</code> looks first. Or a
# box stands where a number should be: inside, compute with <code>self.data</code> and <code>other.data</code>.</details>
#
# <details><summary><code>TypeError: 'float' object is not iterable</code> (or <code>'Value'</code>)</summary>
# <code>(slope)</code> is a number, <code>(slope,)</code> is a tuple with one number in it. The same with <code>(self)</code>
# and <code>(self,)</code>.</details>
#
# <details><summary><code>RecursionError: maximum recursion depth exceeded</code></summary>
# In an operator: it calls itself, such as <code>return other + self</code> inside <code>__radd__</code>, or
# <code>Value(self + other, …)</code> inside <code>__add__</code>, where <code>self.data + other.data</code> is meant. In
# <code>topological_order</code> or <code>backward</code>: the graph is deeper than Python's stack; use a list as your own
# stack.</details>
#
# <details><summary>It runs and never ends</summary>
# <code>topological_order</code> goes down every path again, and there may be 2ⁿ of them: note what was visited. Or it is
# <code>node not in order</code> with a list: right, but each box is compared with all before it; use a set.</details>

# %% [markdown]
# ## What it costs
#
# **Boxes.** First count, with your own order:

# %% demo
def size(root):
    order = topological_order(root)
    return len(order), sum(len(node.parents) for node in order)


a, b = Value(2.0), Value(-3.0)
for text, root in {"a * b": a * b, "a - b": a - b, "a / b": a / b, "a.sigmoid()": a.sigmoid(),
                   "1 / (1 + (-a).exp())": 1 / (1 + (-a).exp())}.items():
    print(f"{text:22} {size(root)[0]} boxes, {size(root)[1]} edges")
size_of_box = sys.getsizeof(a) + sys.getsizeof(a.__dict__)
print(f"\none box: at least {size_of_box} bytes, for a number of 8")

# %% [markdown]
# **Time.** N inputs, all N gradients: one forward and one backward, against 2N forwards. Guess first: how many times
# faster is backward for N = 256?

# %% predict
cost_guess = predict(times_faster_at_256=...)

# %% demo
def ripple(numbers):
    inputs = [Value(x) for x in numbers]
    total = Value(0.0)
    for x in inputs:
        total = total + (x * x).tanh()
    return total


def moved_each_way(numbers, h=1e-5):
    for i, x in enumerate(numbers):
        for step in (h, -h):
            yield ripple(numbers[:i] + [x + step] + numbers[i + 1:]).data


def seconds(run, repeat):
    best = math.inf
    for _ in range(repeat):
        start = time.process_time()  # our own time only, so that a busy machine does no harm
        run()
        best = min(best, time.process_time() - start)
    return best


sizes, rows = [2 ** k for k in range(9)], []
for n in sizes:
    numbers = [math.sin(i + 1) for i in range(n)]
    rows.append((seconds(lambda: ripple(numbers), 5),
                 seconds(lambda: ripple(numbers).backward(), 5),
                 seconds(lambda: list(moved_each_way(numbers)), 2)))

forwards, boths, differences = zip(*rows)
cost_guess.compare(times_faster_at_256=differences[-1] / boths[-1])
ratios = [both / forward for both, forward in zip(boths, forwards)]
print("forward + backward, in forwards:", *(f"{ratio:.1f}" for ratio in ratios))
plot_times(sizes, {"2N forwards (finite differences)": differences, "forward + backward": boths,
                   "forward": forwards}, "All gradients of N inputs", "N inputs")

# %% [markdown]
# Those few forwards are the reason why networks can be trained: **all** gradients for the price of a few runs, however
# many inputs there are. (Finite differences could run on plain numbers, without boxes. That moves their line down, but
# does not make it less steep.)
#
# **Paths.** `h = h + h`, again and again: each time the number of paths doubles, and your `backward` counts them, since
# each path contributes 1.

# %% demo
for n in (1, 2, 5, 20, 60):
    x = Value(1.0)
    h = x
    for _ in range(n):
        h = h + h
    start = time.perf_counter()
    h.backward()
    took = time.perf_counter() - start
    boxes = size(h)[0]
    print(f"{n:2} doublings: {boxes:2} boxes, {x.grad:,.0f} paths, backward {1e6 * took:.0f} µs")
per_path = took / size(h)[1]
years = x.grad * per_path / 3600 / 24 / 365
print(f"\nat your time per edge, one walk per path would take {years:,.0f} years")

# %% [markdown]
# **Depth.** 100,000 boxes in a row, as a long recurrent network makes them, and why your order needed its own stack:

# %% demo
def chain(n):
    x = Value(0.5)
    h = x
    for _ in range(n):
        h = h.relu()
    return x, h


def recursive_order(node, visited, order):
    if node not in visited:
        visited.add(node)
        for parent in node.parents:
            recursive_order(parent, visited, order)
        order.append(node)
    return order


x, h = chain(100_000)
start = time.perf_counter()
h.backward()
print(f"backward through 100,000 boxes: {time.perf_counter() - start:.2f} s, gradient {x.grad:g}")

for n in (100, 100_000):
    try:
        order = recursive_order(chain(n)[1], set(), [])
        print(f"with recursion, {n:,} boxes: an order of {len(order)}")
    except RecursionError:
        limit = sys.getrecursionlimit()
        print(f"with recursion, {n:,} boxes: RecursionError, the limit is {limit:,}")

# %% [markdown] written="value.explain" points=3
# ## In your own words
#
# A friend's `backward` says `parent.grad = local_derivative * node.grad`, with `=` in place of `+=`, and it walks the
# boxes in the order in which they come. For `c = (a + b) * b` with a = 2 and b = −3: which gradients of a and b may it
# find, and why is it not enough to repair only one of the two faults? Five sentences at most. You may run it.
#
# <!-- BEGIN SOLUTION -->
# Forwards, s comes before c, so it hands on a gradient of 0: a gets 0; then c gives b its direct part, s = −1. Right would
# be −3 and −4. With `+=` alone, that stays so: what was handed on too early is lost. With the right order alone, a becomes
# −3, which is right, since it has one path; but b has two, −1 directly and −3 through s, and `=` keeps only the one that
# comes last, −3. Adding needs all the parts, and the order makes sure that each part is complete.
#
# **How it is marked**
#
# - 1 point: b has two paths to c, and their contributions are added (−1 and −3 make −4); `=` keeps one of them.
# - 1 point: a box may hand on its gradient only when all boxes that use it are done (s before a and b); else 0, or a part,
#   is handed on.
# - 1 point: both are needed, with the numbers of this example or another one that shows it.
#
# Right arguments in other words or with a drawing count in full. A wrong number with a right argument loses nothing.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# In PyTorch you would have written:
#
# ```python
# import torch
#
# a = torch.tensor(2.0, requires_grad=True)
# b = torch.tensor(-3.0, requires_grad=True)
# c = (a + b) * b
# c.backward()
# print(a.grad, b.grad)
# ```
#
# | yours | PyTorch | micrograd |
# |---|---|---|
# | `Value` | a `Tensor` with `requires_grad=True` | `Value` |
# | `parents` | `grad_fn.next_functions` | `_prev`, a set |
# | `local_derivatives` | saved tensors, and a `backward` per operation | a closure, `_backward` |
# | leaves add up, boxes between start from 0 | the same; boxes between keep no `grad` unless `retain_grad()` | all add up; only the root is set to 1 |
# | a second `backward` on the same graph works | only with `retain_graph=True` | it works, but old gradients are handed on again |
# | `zero_grad` walks the graph | `optimizer.zero_grad()` goes over the weights, and sets None | `Module.zero_grad()`, over the weights |
# | ReLU at 0 passes on 0 | 0 | 0 |
# | an order with its own stack | an own queue, in C++ | recursion; a long chain ends in RecursionError |
#
# micrograd (Karpathy, 2020) hangs a function on each node instead of numbers on the edges:
#
# ```python
# def __mul__(self, other):
#     out = Value(self.data * other.data, (self, other), "*")
#     def _backward():
#         self.grad += other.data * out.grad
#         other.grad += self.data * out.grad
#     out._backward = _backward
#     return out
# ```
#
# It is the same rule. But `out` keeps the function and the function keeps `out`: a circle of references. Python's garbage
# collector has to find such circles, from time to time. Numbers on edges make no circle, and can be drawn.
#
# ## What comes next
#
# **02 neuron**: a weighted sum, a bias and a tanh are a neuron; a few of them are a network. With `backward`, and a step
# against the gradient, it learns.
