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
# A neural network is a formula with very many numbers in it. Most of them are *weights*: numbers by which others are
# multiplied. Training changes the weights, and for every weight it needs the answer to one question: **if this number
# goes up a little, how many times as far does the result move?** The answer is called the gradient of the weight.
#
# In this lesson you build a class, `Value`. A <dfn>Value</dfn> is a number that remembers what it was computed from. So
# one call answers the question for all inputs at once:
#
# ```python
# a, b = Value(2.0), Value(-3.0)
# c = (a + b) * b
# c.backward()
# a.grad, b.grad          # how fast c moves with a, and with b
# ```
#
# Eleven small exercises, each with its check right below. You need Python and the derivatives from school. If you have
# forgotten a derivative, you find it in the docstring.

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
# Here is the whole class, still without a single operation. In the pictures a `Value` is a box. A box is also called a
# *node*. It holds four facts:
#
# - `data`: its number.
# - `parents`: the boxes from which it was computed. A <dfn>parent</dfn> of a box is a box that it was computed from
#   directly.
# - `local_derivatives`: one number for each parent. A <dfn>local derivative</dfn> says how fast a box moves if only one
#   of its parents moves.
# - `grad`: its gradient. It stays 0 until exercise 10.
#
# A <dfn>leaf</dfn> is a number or an array that no recorded operation computed, such as an input or a weight. So a leaf
# has no parents.

# %% given source="tinygrad_cl.scalar:Value[__array_ufunc__ __init__ __repr__ __bool__] tinygrad_cl.scalar:as_value"

# %% [markdown]
# There is no `+` and no `*` yet, so we put the boxes for $c = (a + b)\cdot b$ together by hand. Read the picture from
# left to right: the numbers flow that way. The local derivative is written at the end of each edge, where the edge
# enters a box.

# %% demo
a = Value(2.0, label="a")
b = Value(-3.0, label="b")
s = Value(a.data + b.data, parents=(a, b), local_derivatives=(1.0, 1.0), op="+", label="s")
c = Value(s.data * b.data, parents=(s, b), local_derivatives=(b.data, s.data), op="*", label="c")
draw(c)

# %% [markdown]
# ### Predict, then run
#
# `b` goes up by a tiny bit, from −3 to −2.999. **How many times as far** as `b` does `c` move? (A minus sign means: in
# the other direction.) And how many times as far as `a` does `c` move, if only `a` goes up? You find all you need in
# the picture. A *path* is a way along the edges. How many paths lead from `b` to `c`?
#
# Write your guesses in place of `...`, without a calculator. A guess is never graded.

# %% predict
paths_guess = predict(a=..., b=...)  # how fast does c move with a? with b?

# %% demo
def c_of(a, b):
    return (a + b) * b


bit = 0.001
paths_guess.compare(a=(c_of(2.0 + bit, -3.0) - c_of(2.0, -3.0)) / bit,
                    b=(c_of(2.0, -3.0 + bit) - c_of(2.0, -3.0)) / bit)
smaller = bit / 100  # c contains b · b, so the answer for b is off by the bit itself, 0.001
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
# (Σ means: add all of them. ∏ means: multiply all of them.)
#
# The rest of the lesson makes the computer do it: each operation notes its local derivatives (exercises 2 to 8), then
# `backward` multiplies and adds (9 and 10). But first we need a second way to find a gradient, with which we can test
# the first one. It decides who is right, so we call it the *referee*.

# %% [markdown]
# ## 1 · A referee that knows no rule
#
# The *slope* of a function at x is another word for its derivative there. A slope can be measured without any rule.
# Take one point a little to the left of x, and one a little to the right. Divide the difference of the two results by
# the distance of the two points.

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
    """The measured slope of f at x: f(x + h) minus f(x − h), divided by the distance of the points.

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
# What is the slope of x³ at 2? And which number does `slope` measure with a wide step, h = 1: the same, a larger one,
# or a smaller one? Guess a number for each.

# %% predict
# the slope of x³ at 2, with h = 1e-5 and with h = 1
cube_guess = predict(small_step=..., wide_step=...)

# %% demo
cube_guess.compare(small_step=slope(cube, 2.0), wide_step=slope(cube, 2.0, h=1.0))

# %% [markdown]
# So a small step is better than a wide one. Is the smallest step the best? The next picture shows the error of the
# measured slope, for steps h that get smaller and smaller. The function is exp, because we know its slope: it is exp
# again. Guess the shape of the curve before you look.

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
# Read the picture from right to left. On the right h is large. As h shrinks, the straight line gets closer to the
# curve, and the error shrinks like h²: if h is ten times smaller, the error is a hundred times smaller. The error of
# the one-sided slope, (f(x + h) − f(x)) / h, is only ten times smaller then.
#
# On the left h is very small. There f(x + h) and f(x − h) agree in nearly all of their 16 digits. Their difference is
# mostly rounding error, and it is divided by a tiny h. The error is smallest between these two parts, near `h=1e-5`. So
# 1e-5 is the default.
#
# So we have a referee, but it is slow: it runs f twice for each input. The loss of a network may depend on millions of
# weights, and each of them counts as an input. That would take millions of runs. So we need rules.

# %% [markdown]
# ## 2 · The sum
#
# Each operation does what we did by hand in the first picture: it makes a new box from the numbers, with its parents
# and one local derivative for each parent.
#
# `a + b`: if only `a` goes up by a tiny h, the sum goes up by h, too. The same holds for `b`.
#
# The other side of the `+` may be a plain number, as in `a + 2.5`; `as_value` makes a box of it. The line
# `@add_to_class(Value)` above a function makes the function a method of the class `Value`. So the class grows from
# exercise to exercise.

# %% exercise="value.add" source="tinygrad_cl.scalar:Value.__add__"

# %% check="value.add"

# %% [markdown]
# <details><summary>Hint 1</summary>Look at the line <code>s = Value(…)</code> of the first picture; <code>self</code>
# is a, <code>other</code> is b.</details>
# <details><summary>Hint 2</summary>First <code>other = as_value(other)</code>, then return a new <code>Value</code>
# with four things: the sum, the two parents, the two local derivatives, the sign for the drawing.</details>

# %% [markdown]
# ## 3 · The product
#
# The product a · b is the area of a rectangle with the sides a and b. Make a longer by a tiny h: the area grows by h
# times … which side?
#
# ```
#        a             h
#   ┌───────────────┬───┐
# b │     a · b     │ ? │ b
#   └───────────────┴───┘
# ```

# %% exercise="value.mul" source="tinygrad_cl.scalar:Value.__mul__"

# %% check="value.mul"

# %% [markdown]
# <details><summary>Hint 1</summary>The area of the new strip is h · b: the local derivative for a is the <em>other</em>
# side.</details>
# <details><summary>Hint 2</summary>The derivatives are in the order of the parents: first the one for
# <code>self</code>, then the one for <code>other</code>.</details>

# %% [markdown]
# Now Python builds the first picture for you, from the formula alone. And what happens if both factors are the same
# box?

# %% demo
a, b = Value(2.0, label="a"), Value(-3.0, label="b")
draw((a + b) * b)

# %% demo
draw(a * a)

# %% [markdown]
# There are two edges, so two paths. Squares need no special rule: the sum over the paths gives 2a.

# %% [markdown]
# ## 4 · The power
#
# $a^n$ with a plain number n has one parent, a. The rule from school: the derivative of $a^n$ is $n \cdot a^{n-1}$. The
# function below computes the power and this derivative. It also takes care of special cases, such as 0 to a negative
# power. It is given. You need only the first line of its docstring, which says what it returns.

# %% given source="tinygrad_cl.scalar:power_and_slope"

# %% [markdown]
# If n is a `Value`, n is a parent, too, and we need the derivative of $a^n$ with respect to n. Write $a^n = e^u$ with
# $u = n \ln a$. The derivative of $e^u$ with respect to u is $e^u$. The derivative of u with respect to n is $\ln a$.
# By the chain rule we multiply: the derivative of $a^n$ with respect to n is $a^n \cdot \ln a$.

# %% exercise="value.pow" source="tinygrad_cl.scalar:Value.__pow__"

# %% check="value.pow"

# %% [markdown]
# <details><summary>Hint 1</summary>Two cases, so start with <code>if not isinstance(exponent, Value):</code>. In the
# first case there is one parent and one local derivative.</details>
# <details><summary>Hint 2</summary>A tuple of one needs its comma: <code>(slope,)</code>. Without it, it is only a
# number in parentheses.</details>
# <details><summary>Hint 3</summary>In the second case, call <code>power_and_slope(self.data, exponent.data)</code>, and
# the derivative for the exponent is <code>power * math.log(self.data)</code>.</details>

# %% [markdown]
# ## 5 · Eight operations for free
#
# For the next eight operations you need no derivative. a − b is a + (−b), −a is a · (−1), a / b is a · b⁻¹: they are
# made of operations that have their rules already.
#
# The five whose names begin with r (`__radd__`, `__rsub__`, `__rmul__`, `__rtruediv__`, `__rpow__`) are for a plain
# number on the **left**. At `2.5 - a` Python first asks the number. The number does not know `Value`. Then Python calls
# `a.__rsub__(2.5)`. So in `__rsub__`, `self` is what stands on the right of the sign.
#
# This exercise uses your code of exercises 2, 3 and 4. An error there shows up here again, so first make sure that
# those three checks pass.

# %% exercise="value.derived" source="tinygrad_cl.scalar:Value.__neg__ tinygrad_cl.scalar:Value.__sub__ tinygrad_cl.scalar:Value.__truediv__ tinygrad_cl.scalar:Value.__radd__ tinygrad_cl.scalar:Value.__rsub__ tinygrad_cl.scalar:Value.__rmul__ tinygrad_cl.scalar:Value.__rtruediv__ tinygrad_cl.scalar:Value.__rpow__"

# %% check="value.derived"

# %% [markdown]
# <details><summary>Hint 1</summary>The body of each method is one line, with only operators that you have
# already.</details>
# <details><summary>Hint 2</summary><code>return other + self</code> in <code>__radd__</code> calls
# <code>__radd__</code> again, without end. With <code>as_value(other)</code> on the left, Python calls
# <code>__add__</code>.</details>

# %% [markdown]
# This way is short to write, but it makes more boxes. Count the boxes of 1 − a / b, one subtraction and one division:

# %% demo
a, b = Value(2.0, label="a"), Value(-3.0, label="b")
draw(1 - a / b)

# %% [markdown]
# ## 6 · exp and log
#
# The exponential is the function that is its own slope. The logarithm is its inverse: it takes $e^a$ back to a. The
# curve of an inverse has the two axes swapped. So where one curve goes up 3 for 1 to the right, the other goes up 1 for
# 3 to the right. So the slope of ln at a is 1 divided by the slope of exp at $\ln a$. That slope of exp is $e^{\ln a} =
# a$.

# %% exercise="value.exp_log" source="tinygrad_cl.scalar:Value.exp tinygrad_cl.scalar:Value.log"

# %% check="value.exp_log"

# %% [markdown]
# <details><summary>Hint 1</summary>The local derivative of exp is a number that you computed one line before.</details>
# <details><summary>Hint 2</summary>math.exp raises OverflowError by itself if a is too large. You may raise one with a
# better message, but you need not.</details>

# %% [markdown]
# ## 7 · tanh and sigmoid
#
# The next two functions have S-shaped curves. The <dfn>tanh</dfn> (hyperbolic tangent) is an S-shaped function with
# results between −1 and 1. Python has it as `math.tanh`. The <dfn>sigmoid</dfn> is the S-shaped function 1 / (1 + e⁻ᵃ)
# of a number a, with results between 0 and 1. For both, the slope can be computed from the **result** alone.
#
# There is one trap. $1/(1 + e^{-a})$ is right as a formula, but for a = −1000 it needs $e^{1000}$, and no float is that
# large. For negative a, multiply numerator and denominator by $e^{a}$.

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
# <dfn>ReLU</dfn> (rectified linear unit) is the function max(0, a): it gives 0 for a negative number a, and a itself
# for a positive one. So it is flat on the left of 0, and a line with the slope 1 on the right. At 0 it has a corner,
# and no slope. One has to be chosen. We take 0, as PyTorch does.

# %% exercise="value.relu" source="tinygrad_cl.scalar:Value.relu"

# %% check="value.relu"

# %% [markdown]
# ### Predict, then run
#
# Networks need such functions. An <dfn>activation</dfn> is a function, such as tanh, sigmoid or ReLU, that a network
# applies to sums that it computes (lesson 02). Take ReLU and tanh. The input moves by a tiny step. How many times as
# far does the output move, for an input of −3 and for an input of 3?

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
print(f"ten tanh in a row, from 3 on, pass on {passed_on:.0e} of a tiny step")
inputs = [i / 25 - 4 for i in range(201)]
activations = {"relu": Value.relu, "tanh": Value.tanh, "sigmoid": Value.sigmoid}
plot_lines(inputs, {name: [local(f, x) for x in inputs] for name, f in activations.items()},
           "Local derivatives: what a tiny step is multiplied by", "input a", "∂/∂a", markers=False)

# %% [markdown]
# Far from 0, on both sides, the local derivative of tanh is nearly 0. A function is said to <dfn>saturate</dfn> where
# it is so flat that a moved input hardly moves the output. ReLU has the local derivative 0 or 1.
#
# Along a path local derivatives are multiplied. In a network with many activations one after the other (a *deep*
# network), many small factors give a gradient of nearly 0. Factors of 1 do not make it smaller.

# %% [markdown]
# ## 9 · In which order?
#
# Now we go back, from right to left. The `grad` of a box says how fast the result moves with this box. Each box hands
# its `grad` on to each of its parents. On the way it is multiplied by the local derivative. The parent adds what it
# gets to the `grad` that it has.
#
# Look once more at the picture of $c = (a + b)\cdot b$. The result c starts with 1, since ∂c/∂c = 1: c moves exactly as
# far as c. It hands on to both of its parents, s and b. **If you read b.grad now, what is missing?** The part that
# comes through s. A box is complete only when every box that uses it is done.

# %% [markdown]
# So we need a list of the boxes, in a special order. A <dfn>topological order</dfn> is a list of all nodes of a graph,
# each once, in which every node stands after all of its parents. `backward` goes through this list from its end to its
# beginning.
#
# ```
# parents first:   a   b   s   c          (b a s c is as good)
# backward goes:   c → s → b → a
# ```
#
# Take care of two things. A box to which many paths lead must be in the list only once. And a chain may be long: Python
# limits how often a function may call itself before it returns. So recursion works for small graphs only. Use a list of
# what is still to do instead.

# %% exercise="value.order" source="tinygrad_cl.scalar:topological_order"

# %% check="value.order"

# %% [markdown]
# <details><summary>Hint 1: with recursion, for a start</summary>visit(node): if it was visited, return; note it as
# visited; visit each parent; then append the node. Then all of the check passes, except for the long chains.</details>
# <details><summary>Hint 2: without</summary>Keep a list <code>stack</code> of pairs (node, are its parents done?). Take
# the last pair. If the parents are done: append the node to the order. If not, and it was not visited before: put the
# node back with True, then all its parents with False, which come off first.</details>
# <details><summary>Hint 3: another way</summary>Count for each box how many boxes use it. Start at the root. A box may
# go into the list when all boxes that use it are in the list. At the end reverse the list (Kahn, 1962).</details>

# %% [markdown]
# ## 10 · backward
#
# You have boxes, local derivatives and an order: the checks of 2, 3, 4 and 9 must pass. A <dfn>backward pass</dfn> goes
# from the result back to the leaves and computes all gradients by the chain rule. It is what `backward` does. What is
# left to write begins with `zero_grad`. Its heart is one line of code, which runs once for each edge.
#
# We decide one thing as PyTorch does: **the `grad` of a leaf keeps adding up** over several calls of `backward`, since
# a weight often gets its gradient from several results. A box with parents starts from 0 in each call. If it did not,
# it would hand an old gradient on once more. To begin again with 0 in the leaves, call `zero_grad`.

# %% exercise="value.backward" source="tinygrad_cl.scalar:Value.backward tinygrad_cl.scalar:Value.zero_grad"

# %% check="value.backward"

# %% [markdown]
# <details><summary>Hint 1</summary>Three steps: set grad to 0 on every box that has parents; add 1 to self.grad; go
# through the order from its end.</details>
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
# This picture shows the end of the backward pass. To see how it gets there, go through it one edge at a time, with ▶ or
# the arrow keys. It is your own `backward` that runs. Above the picture is a field for each leaf: write another number
# there, and `backward` runs again. The gradient of `b` has two parts: which two boxes hand them on?

# %% demo
steps(c)

# %% [markdown]
# ### Predict, then run
#
# Two numbers, a = 1 and b = 2, are the scores of two answers: the larger a is, the more probable is the first answer,
# and the larger b is, the more probable is the second one. The probability of the first answer is
# $p = \dfrac{e^a}{e^a + e^b}$. This is called the *softmax* of two numbers. If a goes up, p goes up. Does p go up or
# down if b goes up? And if **both** go up by the same tiny step: what is ∂p/∂a + ∂p/∂b?

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
# Only the difference of the scores counts: the softmax of two numbers is the sigmoid of a − b. So if both move
# together, p does not move, and the two gradients add up to 0 (the sum is rounded to 12 places). If they did not, there
# would be a bug. Such a law is a test that costs hardly anything.

# %% [markdown]
# ## 11 · Call the referee
#
# You have gradients by rules, and a way to measure slopes that knows no rule. Compute the gradient of a whole function
# in both ways, so that the two can be compared. PyTorch tests its own rules in this way (`torch.autograd.gradcheck`).

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
# <details><summary>Hint 1</summary>For the slope along input i you need a function of one number x. It calls f with x
# in place i and the given numbers in the other places, and returns the <code>.data</code> of the result.</details>
# <details><summary>Hint 2</summary>Make new Values for each call of f: in leaves that you use twice, the gradients add
# up.</details>

# %% [markdown]
# Now all rules that you wrote are tested. Among them is one function with a mistake, called `impostor`. The test should
# find it:

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
# <dfn>Finite differences</dfn> are slopes measured by running a formula again on slightly moved numbers, as `slope`
# does. No run has to wait for another one, so a device can do many of them at once. `device_gradient` runs your
# function once to note its boxes. For every box, inputs and others, the device then runs the formula twice, with this box
# moved a little up and a little down. All these runs are one launch.

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
# <details><summary><code>NotImplementedError</code></summary> The cell still holds
# <code>raise NotImplementedError</code>, or you changed it and did not run it. After a restart of the notebook's
# process all cells above have to run again: Run → Run All Above Selected Cell.</details>
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
# <details><summary><code>TypeError: a Value holds one real number, not Value(…)</code></summary> You wrote
# <code>Value(other)</code>, and <code>other</code> is a Value already. <code>as_value(other)</code> takes both. Or a
# box stands where a number should be: inside, compute with <code>self.data</code> and
# <code>other.data</code>.</details>
#
# <details><summary><code>TypeError: 'float' object is not iterable</code> (or <code>'Value'</code>)</summary>
# <code>(slope)</code> is a number, <code>(slope,)</code> is a tuple with one number in it. The same with
# <code>(self)</code> and <code>(self,)</code>.</details>
#
# <details><summary><code>RecursionError: maximum recursion depth exceeded</code></summary>
# In an operator: it calls itself, such as <code>return other + self</code> inside <code>__radd__</code>, or
# <code>Value(self + other, …)</code> inside <code>__add__</code>, where <code>self.data + other.data</code> is meant. In
# <code>topological_order</code> or <code>backward</code>: the graph is deeper than Python allows; use a list as your own
# stack.</details>
#
# <details><summary>It runs and never ends</summary> <code>topological_order</code> follows every path again, and there
# may be 2ⁿ of them: note which nodes were visited. Or you wrote <code>node not in order</code> with a list. That is
# right, but slow: each box is compared with all before it. Use a set.</details>

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
print(f"\none box: at least {size_of_box} bytes, for a number that needs 8")

# %% [markdown]
# A <dfn>forward pass</dfn> is one run of a computation from its inputs to its result; an engine records the computation
# on the way. We say *forward* and *backward* for short.
#
# **Time.** For all gradients of N inputs, your engine needs one forward and one backward. Finite differences need 2N
# forwards. Guess first: for N = 256, how many times faster are one forward and one backward than 2N forwards?

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
# Forward and backward together take the time of a few forwards, however many inputs there are: you get **all**
# gradients in the time of a few runs. That is why large networks can be trained. (Finite differences could run on plain
# numbers, without boxes. That moves their line down, but does not make it less steep.)
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
# **Depth.** The next cell makes a chain of 100,000 boxes in a row. A network that reads a long text word by word may
# make such chains. You see why `topological_order` must do without recursion:

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
# A friend's `backward` sets `c.grad` to 1. Then it says `parent.grad = local_derivative * node.grad`, with `=` in place
# of `+=`, and it goes through the boxes in the order in which they were made: a, b, s, c. For `c = (a + b) * b` with
# a = 2 and b = −3, where s = a + b: which gradients of a and b does it find? Why is it not enough to repair only one of
# the two faults? Five sentences at most. You may run it.
#
# <!-- BEGIN SOLUTION -->
# In that order s comes before c, so s hands on a gradient of 0: a gets 0; then c gives b its direct part, s = −1. Right
# would be −3 and −4. With `+=` alone, that stays so: what was handed on too early is lost. With the right order alone,
# a becomes −3, which is right, since it has one path; but b has two, −1 directly and −3 through s, and `=` keeps only
# the one that comes last, −3. Adding needs all the parts, and the order makes sure that each part is complete.
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
# PyTorch's `Tensor` is an array that can remember how it was computed. In PyTorch you would have written:
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
# micrograd (Karpathy, 2020) is a very small engine in Python, with a class much like yours.
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
# micrograd keeps a function in each node, where you keep numbers on the edges:
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
# **02 neuron**: a weighted sum, one more number and a tanh are a neuron. Several neurons are a network. With
# `backward`, and small steps against the gradient, the network learns.
