"""Check 11 of lesson 01: a gradient check of one's own."""

from autograder.checks.cases import choice
from autograder.checks.check import exercise
from autograder.checks.m01_value.closures import CLOSURES
from autograder.checks.value_programs import programs

value_gradcheck = exercise(
    "value.gradcheck",
    "A whole function, its gradient by backward and by slope.",
    needs=("value.slope", "value.add", "value.mul", "value.backward"),
)
CASES = (
    programs("f", "(a + b) * b", "a * Value(b.data) + b", "a * b * (a * 10)", left=False)
    * choice("inputs", [2.0, -3.0], [1.5, 1.5], [3, -2], [0.0, 0.7], [-1.2, 0.4])
    + programs("f", "a * b * c + c * c + a", "a + c * c", names="abc", left=False)
    * choice("inputs", [1.5, -0.5, 2.5], [3, 0, -2], [2.0, -1.0, 2.0], [0.7, 0.7, 0.7])
    + programs("f", "a * a * a", names="a", left=False) * choice("inputs", [3.0], [-0.5], [0])
)


@value_gradcheck.aspect("by backward", 1, cases=CASES)
def by_backward(student, case):
    by_backward, by_slope = student.two_gradients(case.f, case.inputs)
    return list(map(float, by_backward))


@value_gradcheck.aspect("by slope", 1.5, cases=CASES, rtol=1e-7, atol=1e-8)
def by_slope(student, case):
    by_backward, by_slope = student.two_gradients(case.f, case.inputs)
    return list(map(float, by_slope))


@value_gradcheck.aspect(
    "one call of f for backward, two for each slope",
    0.5,
    cases=CASES,
    corner=True,
    few=8,
    many=20,
    at_most=("calls of f",),
)
def calls(student, case):
    calls = []
    list(student.two_gradients(lambda *leaves: (calls.append(leaves), case.f(*leaves))[1], case.inputs))
    return {"calls of f": len(calls)}


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
    "NumPy arrays, own differences",
    source="""
import numpy as np

def two_gradients(f, inputs):
    x, h = np.array(inputs), 1e-5
    leaves = [Value(v) for v in x]
    f(*leaves).backward()
    slopes = np.zeros(len(x))
    for i, step in enumerate(h * np.eye(len(x))):
        slopes[i] = (f(*[Value(v) for v in x + step]).data - f(*[Value(v) for v in x - step]).data) / (2 * h)
    return np.array([leaf.grad for leaf in leaves]), slopes
""",
)
value_gradcheck.variant("as many leaves as inputs", swap=("range(len(inputs))", "range(len(leaves))"))
