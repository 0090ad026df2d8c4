"""Check 11 of lesson 01: a gradient check of one's own."""

from autograder.checks.check import check
from autograder.checks.m01_value.closures import CLOSURES


@check("value.gradcheck", points=3, needs=("value.slope", "value.add", "value.mul", "value.backward"))
def value_gradcheck(student, rng, tools):
    """A whole function, its gradient by backward and by slope."""
    x, y, z = rng.uniform(1.2, 1.9), -rng.uniform(0.3, 0.8), rng.uniform(2.1, 2.9)

    def product(a, b):
        return (a + b) * b

    def three(a, b, c):
        return a * b * c + c * c + a

    def cut(a, b):
        return a * student.Value(b.data) + b

    def run(f, inputs, which):
        by_backward, by_slope = student.two_gradients(f, inputs)
        return [float(number) for number in (by_backward, by_slope)[which]]

    def afterwards():
        inputs = [x, y, z]
        list(student.two_gradients(three, inputs))
        return inputs

    return {
        "input": f"a = {x:.4g}, b = {y:.4g}, c = {z:.4g}",
        "(a + b)·b, by backward": lambda: run(product, [x, y], 0),
        "(a + b)·b, by slope": lambda: run(product, [x, y], 1),
        "a·b·c + c·c + a, by backward": lambda: run(three, [x, y, z], 0),
        "a·b·c + c·c + a, by slope": lambda: run(three, [x, y, z], 1),
        "a · copy of b + b, by backward": lambda: run(cut, [x, y], 0),
        "a · copy of b + b, by slope": lambda: run(cut, [x, y], 1),
        "a·b·c + c·c + a at 3, 0, −2, by backward": lambda: run(three, [3, 0, -2], 0),
        "a·b·c + c·c + a at 3, 0, −2, by slope": lambda: run(three, [3, 0, -2], 1),
        "(a + b)·b with b = a, by backward": lambda: run(product, [x, x], 0),
        "(a + b)·b with b = a, by slope": lambda: run(product, [x, x], 1),
        "the inputs afterwards": afterwards,
    }


value_gradcheck.mistake(
    "all inputs are moved together",
    source="""
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    slopes = []
    for i in range(len(inputs)):
        def moved(x, i=i):
            return f(*[Value(other + x - inputs[i]) for other in inputs]).data
        slopes.append(slope(moved, inputs[i]))
    return [leaf.grad for leaf in leaves], slopes
""",
    hint=["∂f/∂a asks: what if only a moves?", "All inputs stay as they are but the one with the number i."],
)
value_gradcheck.mistake(
    "a function made in a loop sees the last i: all slopes are along the last input",
    source="""
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    along = [lambda x: f(*[Value(x if j == i else other) for j, other in enumerate(inputs)]).data for i in range(len(inputs))]
    return [leaf.grad for leaf in leaves], [slope(g, x) for g, x in zip(along, inputs)]
""",
    hint=[
        "A lambda looks i up when it is called, not when it is made.",
        "Call it inside the loop, or fix i: `lambda x, i=i: …`.",
    ],
)
value_gradcheck.mistake(
    "the inputs are moved and not put back",
    source="""
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    slopes = []
    for i in range(len(inputs)):
        def moved(x):
            inputs[i] = x
            return f(*[Value(other) for other in inputs]).data
        slopes.append(slope(moved, inputs[i]))
    return [leaf.grad for leaf in leaves], slopes
""",
    hint=["What is in the list `inputs` after the call?", "Work on a copy: `moved = list(inputs)`."],
)
value_gradcheck.mistake(
    "backward is never called",
    swap=("f(*leaves).backward()", "f(*leaves)"),
    hint=["All of the first list is 0. Who fills grad?", "Call `backward` on what `f` returns."],
)
value_gradcheck.mistake(
    "backward is called once per input on the same leaves, and they add up",
    source="""
def two_gradients(f, inputs):
    leaves, by_backward, by_slope = [Value(x) for x in inputs], [], []
    for i in range(len(inputs)):
        f(*leaves).backward()
        by_backward.append(leaves[i].grad)
        by_slope.append(slope(lambda x: f(*[Value(x if j == i else v) for j, v in enumerate(inputs)]).data, inputs[i]))
    return by_backward, by_slope
""",
    hint=[
        "The second number is twice too large, the third three times.",
        "One call gives all gradients: put it before the loop.",
    ],
)
value_gradcheck.mistake(
    "the two lists are the wrong way round",
    swap=(
        "return [leaf.grad for leaf in leaves], [along(i) for i in range(len(inputs))]",
        "return [along(i) for i in range(len(inputs))], [leaf.grad for leaf in leaves]",
    ),
    hint=["As long as both agree, nobody notices.", "First by backward, then by slope."],
)
value_gradcheck.mistake(
    "`.data` is missing: the slope is a Value, not a number",
    swap=(".data\n", "\n"),
    hint=["What is the type of the numbers in your second list?", "f returns a Value; `slope` wants its `.data`."],
)
value_gradcheck.mistake(
    "the slopes are taken at 0, not at the inputs",
    swap=("slope(moved, inputs[i])", "slope(moved, 0.0)"),
    hint=["At which point should the slope be?", "`slope(…, inputs[i])`."],
)
value_gradcheck.mistake(
    "both lists come from backward, so nothing is checked",
    swap=("return slope(moved, inputs[i])", "return leaves[i].grad"),
    hint=["A referee who asks the player is none.", "The second list comes from `slope`, and from nothing else."],
)
value_gradcheck.mistake(
    "only the first input is used",
    swap=[("for leaf in leaves]", "for leaf in leaves[:1]]"), ("range(len(inputs))", "range(1)")],
    hint=["How many numbers does each list hold?", "One per input."],
)
value_gradcheck.mistake(
    "`inputs.index(x)` finds the first place, also where two inputs are equal",
    source="""
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    by_slope = []
    for x in inputs:
        i = inputs.index(x)
        by_slope.append(slope(lambda t: f(*[Value(t if j == i else v) for j, v in enumerate(inputs)]).data, x))
    return [leaf.grad for leaf in leaves], by_slope
""",
    hint=[
        "Which place does [2.0, 2.0].index(2.0) give for the second input?",
        "Count: `for i, x in enumerate(inputs)`.",
    ],
)
value_gradcheck.mistake(
    "the inputs are copied into an array of whole numbers, which cuts off the small step",
    source="""
import numpy as np

def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    by_slope = []
    for i in range(len(inputs)):
        def moved(x):
            copy = np.array(inputs)
            copy[i] = x
            return f(*[Value(float(v)) for v in copy]).data
        by_slope.append(slope(moved, inputs[i]))
    return [leaf.grad for leaf in leaves], by_slope
""",
    hint=[
        "Of which type is np.array([3, 0, −2])? What becomes of 3.00001 in it?",
        "`np.array(inputs, dtype=float)`, or a list.",
    ],
)
value_gradcheck.variant(
    "the two lists one after the other",
    source="""
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    yield [leaf.grad for leaf in leaves]
    yield [slope(lambda t: f(*map(Value, inputs[:i] + [t] + inputs[i + 1:])).data, x) for i, x in enumerate(inputs)]
""",
)
value_gradcheck.variant("the whole lesson with closures, as in micrograd", source=CLOSURES)
value_gradcheck.variant(
    "moved copies of the list",
    source="""
def two_gradients(f, inputs):
    leaves = [Value(x) for x in inputs]
    out = f(*leaves)
    out.backward()
    by_backward, by_slope = [], []
    for i, x in enumerate(inputs):
        def g(t):
            copy = list(inputs)
            copy[i] = t
            return f(*map(Value, copy)).data
        by_backward.append(leaves[i].grad)
        by_slope.append(slope(g, x))
    return by_backward, by_slope
""",
)
value_gradcheck.variant(
    "fresh leaves for each backward, NumPy arrays, own differences",
    source="""
import numpy as np

def two_gradients(f, inputs):
    x = np.array(inputs)
    n, h = len(x), 1e-5
    rules, slopes = np.zeros(n), np.zeros(n)
    for i in range(n):
        leaves = [Value(float(v)) for v in x]
        f(*leaves).backward()
        rules[i] = leaves[i].grad
        step = h * np.eye(n)[i]
        slopes[i] = (f(*[Value(v) for v in x + step]).data - f(*[Value(v) for v in x - step]).data) / (2 * h)
    return rules, slopes
""",
)
value_gradcheck.variant("as many leaves as inputs", swap=("range(len(inputs))", "range(len(leaves))"))
