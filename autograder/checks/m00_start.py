"""Checks of module 00: a first function, sin(a)·b with its gradients in NumPy, and both as OpenCL kernels."""

from functools import reduce

import numpy as np

from autograder.checks.cases import Source, Text, array, choice, filled, fixed, number
from autograder.checks.check import exercise
from autograder.checks.value_programs import any_of

double = exercise("start.double", "Twice a number: positive, 0, negative, not whole.")


@double.aspect(
    "twice x",
    1,
    rtol=1e-12,
    atol=0.0,
    cases=choice("x", 21, 3, 0, -4, 1000) + number("x", 2.5, -0.75, 0.0, 1.2345, 1e-9, 1e9, -1e-3),
)
def twice(student, case):
    return student.double(case.x)


double.mistake(
    "the result is printed and not returned",
    swap=("return 2 * x", "print(2 * x)"),
    hint="A function gives its result back with `return`; `print` only shows it.",
)
double.mistake("the number is squared", swap=("2 * x", "x ** 2"), hint="`x ** 2` is x · x. Twice x is another number.")
double.mistake("2 is added", swap=("2 * x", "2 + x"), hint="Twice 21 is 42, and 2 + 21 is 23.")
double.mistake(
    "the number comes back unchanged", swap=("2 * x", "x"), hint="Something must happen to x before `return`."
)
double.mistake(
    "the decimals are cut off", swap=("2 * x", "2 * int(x)"), hint="`int` cuts off what is behind the point."
)
double.mistake(
    "it answers for the number of the example only",
    swap=("2 * x", "42"),
    hint="The check calls your function with other numbers than the example. Compute with `x`.",
)
double.mistake("the sign is lost", swap=("2 * x", "2 * abs(x)"), hint="What is twice −3?")
double.mistake("it is divided by 2", swap=("2 * x", "x / 2"), hint="Twice 21 is 42; half of it is 10.5.")
double.mistake(
    "for 0 nothing is returned: `if x:` is not met",
    swap=("return 2 * x", "if x:\n        return 2 * x"),
    hint="To `if`, the number 0 counts as False. What is returned then?",
)
double.variant("added to itself", swap=("2 * x", "x + x"))
double.variant(
    "over a name",
    source="""
def double(x):
    result = x
    result += x
    return result
""",
)
double.variant("a lambda", source="double = lambda x: x * 2.0")


KINDS = ("decimals", "integers", "whole", "transposed")


def like_a(a, rng):
    """Arrays of the shape of a, and a itself."""
    return [filled(a.shape, kind, rng) for kind in ("decimals", "integers", "infinite")] + [Text("a")]


def single(*names: str) -> Source:
    """Single numbers, floats and ints, 0 among them."""
    sources = [choice(name, 0.5, 3, 0, -2, 0.0) + number(name, -1.2, 2.5) for name in names]
    return reduce(Source.__mul__, sources)


sin_times = exercise("start.sin_times", "sin(a) · b for arrays, single and whole numbers.")


@sin_times.aspect("out, of single numbers", 0.5, rtol=1e-9, cases=single("a", "b"), few=20)
@sin_times.aspect("out, of arrays", 1.5, rtol=1e-9, cases=array("a", kinds=KINDS, empty=True).each(b=like_a))
def out(student, case):
    return np.array(student.sin_times(case.a, case.b))


sin_times.mistake(
    "cos stands in place of sin", swap=("np.sin", "np.cos"), hint="Look at the function once more: sin or cos?"
)
sin_times.mistake(
    "b is inside the sine",
    swap=("np.sin(a) * b", "np.sin(a * b)"),
    hint="The sine is taken of a alone; its result is multiplied by b.",
)
sin_times.mistake(
    "a and b have changed places",
    swap=("np.sin(a) * b", "np.sin(b) * a"),
    hint="Which of the two goes through the sine?",
)
sin_times.mistake("the sine and b are added", swap=("np.sin(a) * b", "np.sin(a) + b"), hint="· is a product: `*`.")
sin_times.mistake(
    "a is taken as degrees",
    swap=("np.sin(a)", "np.sin(np.deg2rad(a))"),
    hint="Here, as in all of mathematics, angles are in radians. `np.sin` takes them as they are.",
)
sin_times.mistake(
    "the products are summed",
    swap=("np.sin(a) * b", "np.sum(np.sin(a) * b)"),
    hint="The result has as many numbers as a: one product for each place.",
)
sin_times.mistake(
    "`@` or `dot` stands in place of `*`",
    swap=("np.sin(a) * b", "np.dot(np.sin(a), b)"),
    hint="`*` multiplies number by number; `@` and `np.dot` add the products up.",
)
sin_times.mistake(
    "math.sin is used, which takes one number only",
    swap=("return np.sin(a) * b", "import math\n    return math.sin(a) * b"),
    hint="`math` knows single numbers. Which library has a sine for whole arrays?",
)
sin_times.mistake(
    "the result is written over a",
    swap=(
        "return np.sin(a) * b",
        "if np.ndim(a) == 0:\n        return np.sin(a) * b\n    a[...] = np.sin(a) * b\n    return a",
    ),
    hint="`a[...] = …`, `a *= …` and `out=a` change the caller's array. Make a new one.",
)
sin_times.mistake("the factor b is missing", swap=("np.sin(a) * b", "np.sin(a)"), hint="And b?")
sin_times.mistake(
    "out is made like a, so where a holds whole numbers the decimals are cut off",
    source="""
def sin_times(a, b):
    out = np.zeros_like(a)
    out[...] = np.sin(a) * b
    return out
""",
    hint="`zeros_like(a)` and `empty_like(a)` take the type of a, too. Of which type is `np.sin(a) * b`?",
)
sin_times.mistake(
    "the numbers are cut down to float32",
    swap=("return np.sin(a) * b", "return np.float32(np.sin(a) * b)"),
    hint="A float32 keeps 7 digits, a float of Python 16. Here nothing asks for fewer.",
)
sin_times.variant("the factors the other way round", swap=("np.sin(a) * b", "np.multiply(b, np.sin(a))"))
sin_times.variant(
    "number by number",
    source="""
def sin_times(a, b):
    import math
    a, b = np.asarray(a), np.asarray(b)
    out = [math.sin(x) * y for x, y in zip(a.ravel(), b.ravel())]
    return np.array(out).reshape(a.shape)
""",
)
sin_times.variant(
    "in place, but on a copy",
    source="""
def sin_times(a, b):
    out = np.sin(a)
    out *= b
    return out
""",
)


gradient = exercise("start.gradient", "Both gradients, for an upstream gradient that is not 1.")
UPSTREAM = (
    array("a", kinds=KINDS, empty=True)
    .each(b=like_a)
    .add(upstream=lambda a, rng: filled(a.shape, any_of(rng, ["decimals", "integers"]), rng))
)
SINGLE = single("a", "b", "upstream")


@gradient.aspect("∂loss/∂a, of single numbers", 0.25, cases=SINGLE, few=12)
@gradient.aspect("∂loss/∂a, of arrays", 1.25, cases=UPSTREAM)
def grad_a(student, case):
    grad_a, _ = student.sin_times_gradient(case.a, case.b, case.upstream)
    return np.array(grad_a)


@gradient.aspect("∂loss/∂b, of single numbers", 0.25, cases=SINGLE, few=12)
@gradient.aspect("∂loss/∂b, of arrays", 1.25, cases=UPSTREAM)
def grad_b(student, case):
    _, grad_b = student.sin_times_gradient(case.a, case.b, case.upstream)
    return np.array(grad_b)


gradient.mistake(
    "the upstream gradient is not used",
    swap=[("upstream * np.cos", "np.cos"), ("upstream * np.sin", "np.sin")],
    hint=[
        "The partial derivatives are right. What does the chain rule do with them?",
        "Multiply each of them by `upstream`.",
    ],
)
gradient.mistake(
    "the upstream gradient is missing in grad_b",
    swap=("upstream * np.sin", "np.sin"),
    hint="grad_a is multiplied by upstream. And grad_b?",
)
gradient.mistake(
    "the upstream gradient is missing in grad_a",
    swap=("upstream * np.cos", "np.cos"),
    hint="grad_b is multiplied by upstream. And grad_a?",
)
gradient.mistake(
    "the factor b is missing in grad_a",
    swap=("np.cos(a) * b", "np.cos(a)"),
    hint="While a moves, b is a constant factor. It stays: the derivative of 5·sin(a) is 5·cos(a).",
)
gradient.mistake(
    "cos has a minus sign",
    swap=("upstream * np.cos", "-upstream * np.cos"),
    hint="The derivative of sin is cos. It is the derivative of cos that has the minus sign.",
)
gradient.mistake(
    "grad_a has sin where cos belongs",
    swap=("np.cos(a)", "np.sin(a)"),
    hint="The sine is steepest at 0, where it is 0 itself. So its derivative cannot be sin.",
)
gradient.mistake(
    "grad_b has cos where sin belongs",
    swap=("upstream * np.sin(a)", "upstream * np.cos(a)"),
    hint="While b moves, nothing happens to a: sin(a) is just a factor, and is not differentiated.",
)
gradient.mistake(
    "the two gradients have changed places",
    swap=("upstream * np.cos(a) * b, upstream * np.sin(a)", "upstream * np.sin(a), upstream * np.cos(a) * b"),
    hint="The gradients come in the order of the inputs: the one for a first.",
)
gradient.mistake(
    "both functions are differentiated at once: f'·g' is no product rule",
    swap=("upstream * np.cos(a) * b, upstream * np.sin(a)", "upstream * np.cos(a), upstream * np.cos(a)"),
    hint="A partial derivative moves one input and holds the other still. Do a alone first, then b alone.",
)
gradient.mistake(
    "the upstream gradient is added, not multiplied",
    swap=[("upstream * np.cos", "upstream + np.cos"), ("upstream * np.sin", "upstream + np.sin")],
    hint="If the loss moves 10 times as fast as out, it moves 10 times as fast with a, too: times, not plus.",
)
gradient.mistake(
    "the gradients are summed over the array",
    source="""
def sin_times_gradient(a, b, upstream):
    return np.sum(upstream * np.cos(a) * b), np.sum(upstream * np.sin(a))
""",
    hint="Each number of a has a gradient of its own: grad_a has the shape of a.",
)
gradient.mistake(
    "`upstream` is changed in place",
    source="""
def sin_times_gradient(a, b, upstream):
    grad_b = upstream * np.sin(a)
    upstream *= np.cos(a) * b
    return upstream, grad_b
""",
    hint="`upstream *= …` changes the caller's array, who may need it again. Write `grad_a = upstream * …`.",
)
gradient.mistake(
    "upstream was changed before its second use",
    source="""
def sin_times_gradient(a, b, upstream):
    upstream = upstream * np.cos(a) * b
    return upstream, upstream * np.sin(a)
""",
    hint="What is in `upstream` when the second gradient is computed?",
)
gradient.mistake(
    "the arrays are multiplied as matrices, which is right for lists only",
    source="""
def sin_times_gradient(a, b, upstream):
    if np.ndim(a) == 0:
        return upstream * np.cos(a) * b, upstream * np.sin(a)
    return np.diag(np.cos(a) * b) @ upstream, np.diag(np.sin(a)) @ upstream
""",
    hint="Each number of out depends on one number of a alone. `*` multiplies number by number, for every shape.",
)
gradient.variant(
    "one array for both",
    source="""
def sin_times_gradient(a, b, upstream):
    return upstream * np.array([np.cos(a) * b, np.sin(a)])
""",
)
gradient.variant(
    "one after the other, as they are asked for",
    source="""
def sin_times_gradient(a, b, upstream):
    return map(lambda derivative: upstream * derivative, (b * np.cos(a), np.sin(a)))
""",
)
gradient.variant(
    "over names, in another order",
    source="""
def sin_times_gradient(a, b, upstream):
    grad_b = np.sin(a) * upstream
    grad_a = b * np.cos(a) * upstream
    return [grad_a, grad_b]
""",
)
gradient.variant("the derivative as a shifted sine", swap=("np.cos(a)", "np.sin(a + np.pi / 2)"))
gradient.variant(
    "by the chain rule, node by node",
    source="""
def sin_times_gradient(a, b, upstream):
    grad_s = upstream * b
    return grad_s * np.cos(a), upstream * sin_times(a, 1.0)
""",
)


def launches(arrays: int) -> Source:
    """How many numbers, in groups of how many, the inputs, and what lies in the result before the run."""
    sizes = [
        (1, 64),
        (100, 16),
        (64, 64),
        (40, 64),
        (65, 64),
        (16, 16),
        (290, 64),
        (17, 16),
        (15, 16),
        (128, 64),
        (127, 64),
        (63, 16),
    ]
    return fixed(*({"n": n, "group": group} for n, group in sizes)).add(
        inputs=lambda n, rng: Text(
            f"np.random.default_rng({rng.integers(10**6)}).normal(0, 2, ({arrays}, {n})).round(1).astype(np.float32)"
        ),
        before=lambda rng: float(rng.choice([-1000, 0.25, 77.5])),
    )


kernel = exercise(
    "start.kernel",
    "Your kernel on arrays of several lengths, each between margins that must stay untouched.",
    seconds=60,
)


@kernel.aspect("out, and nothing else is written", 2.5, cases=launches(2), rtol=1e-5, atol=1e-5)
def run(student, case):
    from tinygrad_cl.opencl.kernels import run_guarded

    out = np.full(case.n, case.before, np.float32)
    arrays, outside = run_guarded(student.SIN_TIMES, "sin_times", *case.inputs, out, n=case.n, local_size=case.group)
    found = {"out": arrays[-1], "numbers written outside the arrays": outside}
    return found | {"inputs overwritten": int((np.array(arrays[:-1]) != case.inputs).sum())}


@kernel.aspect(
    "each work-item writes its own number",
    0.5,
    cases=launches(2).where(lambda n, group: n > group),
    corner=True,
    few=3,
    many=3,
)
def share(student, case):
    from tinygrad_cl.opencl.kernels import run_guarded

    out = np.full(case.n, case.before, np.float32)
    arrays, _ = run_guarded(
        student.SIN_TIMES, "sin_times", *case.inputs, out, n=case.n, local_size=case.group, first_group=1
    )
    return {"without the first group, some numbers are not written": bool((arrays[-1] == out).any())}


GUARD_HINT = [
    "How many work-items run for one number, in groups of 64? What do the others do?",
    "Put the line that writes into `if (i < n) { … }`.",
]
LOOP_HINT = [
    "All the work-items run, and each of them does all of the work. Where is your own number?",
    "No loop: `int i = get_global_id(0);`, a guard, and the line for that one i.",
]
LOCAL_HINT = [
    "`get_local_id` counts within a group: it begins at 0 again in each. Which count goes on over all groups?",
    "`get_global_id(0)`",
]

kernel.mistake("the guard is missing", swap=("if (i < n)", ""), hint=GUARD_HINT)
kernel.mistake(
    "the guard lets one work-item too many pass",
    swap=("i < n", "i <= n"),
    hint="n numbers have the places 0 … n − 1. Which place has work-item n?",
)
kernel.mistake(
    "the guard leaves out the last number",
    swap=("i < n", "i < n - 1"),
    hint="The last place is n − 1. Is it below n − 1?",
)
kernel.mistake(
    "the guard is the wrong way round",
    swap=("i < n", "i >= n"),
    hint="Which work-items shall write: those below n, or the others?",
)
kernel.mistake("the local id is used for the global id", swap=("get_global_id", "get_local_id"), hint=LOCAL_HINT)
kernel.mistake(
    "the number of the group is used for that of the work-item",
    swap=("get_global_id", "get_group_id"),
    hint="All 64 work-items of a group have the same group id. Each needs a number of its own.",
)
kernel.mistake(
    "it asks for the second dimension",
    swap=("get_global_id(0)", "get_global_id(1)"),
    hint="Work-items can be numbered in up to three dimensions. Here there is one, and counting starts at 0.",
)
kernel.mistake(
    "cos stands in place of sin", swap=("sin(a[i])", "cos(a[i])"), hint="Forward is sin; cos comes in backward."
)
kernel.mistake(
    "b is inside the sine",
    swap=("sin(a[i]) * b[i]", "sin(a[i] * b[i])"),
    hint="The sine is taken of a[i] alone; its result is multiplied by b[i].",
)
kernel.mistake(
    "a and b have changed places",
    swap=("sin(a[i]) * b[i]", "sin(b[i]) * a[i]"),
    hint="Which of the two goes through the sine?",
)
kernel.mistake(
    "b is read at the first place only",
    swap=("b[i]", "b[0]"),
    hint="`b[0]`, or `*b`, is the first number of b. Each work-item has its own.",
)
kernel.mistake(
    "an `int` holds a number with decimals",
    swap=("out[i] = sin(a[i]) * b[i];", "int x = a[i]; out[i] = sin((float)x) * b[i];"),
    hint="In C the type decides: `int x = 0.7f;` keeps 0. Write `float x`.",
)
kernel.mistake(
    "the sine is kept in an `int`",
    swap=("out[i] = sin(a[i]) * b[i];", "int s = sin(a[i]); out[i] = s * b[i];"),
    hint="In C the type decides: `int s = 0.7f;` keeps 0. Write `float s`.",
)
kernel.mistake(
    "the result is written over a",
    swap=[("__global const float *a", "__global float *a"), ("out[i] =", "a[i] =")],
    hint="a is an input; somebody may need it again. The result belongs into out.",
)
kernel.mistake(
    "each result lands one place further",
    swap=("out[i] =", "out[i + 1] ="),
    hint="C counts from 0, like Python: out[i] is right.",
)
kernel.mistake(
    "nothing is written",
    swap=("out[i] = sin(a[i]) * b[i];", "float result = sin(a[i]) * b[i];"),
    hint="A kernel returns nothing. Its result is what it writes into out.",
)
kernel.mistake(
    "the result is written over a, and then into out",
    swap=[
        ("__global const float *a", "__global float *a"),
        ("out[i] = sin(a[i]) * b[i];", "a[i] = sin(a[i]); out[i] = a[i] * b[i];"),
    ],
    hint="a is an input; somebody may need it again. Keep the sine in a `float s` of your own.",
)
kernel.mistake(
    "every work-item computes all the numbers, in a loop",
    swap=("int i = get_global_id(0);\n    if (i < n) {", "for (int i = 0; i < n; i++) {"),
    hint=LOOP_HINT,
)
kernel.mistake(
    "results are added to what was there",
    swap=("out[i] =", "out[i] +="),
    hint="Nobody has set out before: `+=` adds to whatever lies in that memory. Write `=`.",
)
kernel.variant(
    "a loop that strides over all work-items",
    swap=(
        "int i = get_global_id(0);\n    if (i < n) {",
        "for (int i = get_global_id(0); i < n; i += get_global_size(0)) {",
    ),
)
kernel.variant(
    "leave early",
    swap=(
        "if (i < n) {\n        out[i] = sin(a[i]) * b[i];\n    }",
        "if (i >= n) return;\n    out[i] = b[i] * sin(a[i]);",
    ),
)
kernel.variant(
    "over names, with another type for the number",
    swap=(
        "int i = get_global_id(0);\n    if (i < n) {\n        out[i] = sin(a[i]) * b[i];\n    }",
        "const size_t k = get_global_id(0);\n    if (k < (size_t)n) {\n        float s = sin(a[k]);\n        out[k] = s * b[k];\n    }",
    ),
)
kernel.variant(
    "the number put together from group and local id",
    swap=("get_global_id(0)", "get_group_id(0) * get_local_size(0) + get_local_id(0)"),
)
kernel.variant(
    "with pointers and a helper function",
    source='''
SIN_TIMES = """
float both(float x, float y) { return sin(x) * y; }
__kernel void sin_times(__global const float *a, __global const float *b, __global float *out, const int n)
{
    int i = get_global_id(0);
    if (n > i) *(out + i) = both(*(a + i), *(b + i));
}
"""
''',
)


backward_kernel = exercise(
    "start.backward_kernel", "Your gradient kernel, between margins that must stay untouched.", seconds=60
)


@backward_kernel.aspect("both gradients, and nothing else is written", 2.5, cases=launches(3), rtol=1e-5, atol=1e-5)
def run_backward(student, case):
    from tinygrad_cl.opencl.kernels import run_guarded

    empty, source = np.full(case.n, case.before, np.float32), student.SIN_TIMES_BACKWARD
    arrays, outside = run_guarded(
        source, "sin_times_backward", *case.inputs, empty, empty, n=case.n, local_size=case.group
    )
    found = {"grad_a": arrays[-2], "grad_b": arrays[-1], "numbers written outside the arrays": outside}
    return found | {"inputs overwritten": int((np.array(arrays[:-2]) != case.inputs).sum())}


@backward_kernel.aspect(
    "each work-item writes its own numbers",
    0.5,
    cases=launches(3).where(lambda n, group: n > group),
    corner=True,
    few=3,
    many=3,
)
def share_backward(student, case):
    from tinygrad_cl.opencl.kernels import run_guarded

    empty, source = np.full(case.n, case.before, np.float32), student.SIN_TIMES_BACKWARD
    arrays, _ = run_guarded(
        source, "sin_times_backward", *case.inputs, empty, empty, n=case.n, local_size=case.group, first_group=1
    )
    return {
        "without the first group, some numbers are not written": [bool((out == empty).any()) for out in arrays[-2:]]
    }


GRAD_A, GRAD_B = "grad_a[i] = upstream[i] * cos(a[i]) * b[i];", "grad_b[i] = upstream[i] * sin(a[i]);"

backward_kernel.mistake(
    "the upstream gradient is not used",
    swap=("upstream[i] * ", ""),
    hint="Both lines begin with the number that came from the right: upstream[i].",
)
backward_kernel.mistake(
    "the upstream gradient is missing in grad_b",
    swap=(GRAD_B, "grad_b[i] = sin(a[i]);"),
    hint="grad_a is multiplied by upstream[i]. And grad_b?",
)
backward_kernel.mistake(
    "the upstream gradient is read at the first place only",
    swap=("upstream[i]", "upstream[0]"),
    hint="Every number of out has its own upstream gradient.",
)
backward_kernel.mistake("the guard is missing", swap=("if (i < n)", ""), hint=GUARD_HINT)
backward_kernel.mistake(
    "the guard covers the first line only",
    swap=(
        f"if (i < n) {{\n        {GRAD_A}\n        {GRAD_B}\n    }}",
        f"if (i < n)\n        {GRAD_A}\n        {GRAD_B}",
    ),
    hint="C ignores how far a line is indented. Two lines under one `if` need `{ }` around them.",
)
backward_kernel.mistake(
    "the guard lets one work-item too many pass",
    swap=("i < n", "i <= n"),
    hint="n numbers have the places 0 … n − 1. Which place has work-item n?",
)
backward_kernel.mistake(
    "the local id is used for the global id", swap=("get_global_id", "get_local_id"), hint=LOCAL_HINT
)
backward_kernel.mistake(
    "grad_a has sin where cos belongs",
    swap=("cos(a[i])", "sin(a[i])"),
    hint="This is the forward line. How does sin(a)·b move with a?",
)
backward_kernel.mistake(
    "grad_b has cos where sin belongs",
    swap=("* sin(a[i])", "* cos(a[i])"),
    hint="While b moves, sin(a) is just a factor, and is not differentiated.",
)
backward_kernel.mistake(
    "the factor b is missing in grad_a", swap=(" * b[i]", ""), hint="While a moves, b is a constant factor: it stays."
)
backward_kernel.mistake(
    "cos has a minus sign",
    swap=("upstream[i] * cos", "-upstream[i] * cos"),
    hint="The derivative of sin is cos. It is the derivative of cos that has the minus sign.",
)
backward_kernel.mistake(
    "the two gradients have changed places",
    swap=[("grad_a[i]", "swap[i]"), ("grad_b[i]", "grad_a[i]"), ("swap[i]", "grad_b[i]")],
    hint="grad_a tells how the loss moves with a: that is the line with cos.",
)
backward_kernel.mistake(
    "gradients are added to memory that nobody has set",
    swap=[(GRAD_A, GRAD_A.replace("=", "+=")), (GRAD_B, GRAD_B.replace("=", "+="))],
    hint="`+=` adds to whatever lies there, and nobody has set it. Here each work-item writes once: `=`.",
)
backward_kernel.mistake(
    "grad_b is built on grad_a in place of upstream",
    swap=("grad_b[i] = upstream[i]", "grad_b[i] = grad_a[i]"),
    hint="Both gradients start from upstream[i]; neither is computed from the other.",
)
backward_kernel.mistake(
    "every work-item computes all the gradients, in a loop",
    swap=("int i = get_global_id(0);\n    if (i < n) {", "for (int i = 0; i < n; i++) {"),
    hint=LOOP_HINT,
)
backward_kernel.mistake(
    "grad_b comes from grad_a, by a division that fails where cos(a) or b is 0",
    swap=("upstream[i] * sin(a[i])", "grad_a[i] / b[i] * tan(a[i])"),
    hint="Both gradients start from upstream[i]; neither is computed from the other.",
)
backward_kernel.mistake(
    "grad_b is never written", swap=(GRAD_B, ""), hint="This kernel has two results. −1000 means: nobody wrote here."
)
backward_kernel.variant(
    "over names, leaving early",
    swap=(
        f"if (i < n) {{\n        {GRAD_A}\n        {GRAD_B}\n    }}",
        "if (i >= n) return;\n    float g = upstream[i], x = a[i];\n    grad_b[i] = sin(x) * g;\n    grad_a[i] = g * b[i] * cos(x);",
    ),
)
backward_kernel.variant(
    "sine and cosine in one call",
    swap=(
        f"{GRAD_A}\n        {GRAD_B}",
        "float c, s = sincos(a[i], &c);\n        grad_a[i] = upstream[i] * c * b[i];\n        grad_b[i] = upstream[i] * s;",
    ),
)
