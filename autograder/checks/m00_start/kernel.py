"""Check 4 of lesson 00: sin(a) · b, a kernel."""

from autograder.checks.check import exercise
from autograder.checks.m00_start.launches import launches, several_groups, slips_with_the_number

kernel = exercise(
    "start.kernel",
    "Your kernel on arrays of several lengths, each between margins that must stay untouched.",
    seconds=60,
    texts=("SIN_TIMES",),
)


@kernel.aspect("out, and nothing else is written", 2.5, cases=launches(2), rtol=1e-5, atol=1e-5)
@kernel.watch(launches(2).where(lambda n: n == 17))
def run(student, case):
    from tinygrad_cl.opencl.trial import tried

    sizes = {"work_items": case.work_items, "local_size": case.group, "seed": case.fill}
    return tried(student.SIN_TIMES, "sin_times", *case.inputs, None, case.n, result=case.n, **sizes)


@kernel.aspect("each work-item writes its own number", 0.5, cases=several_groups(2), corner=True, few=3, many=3)
def share(student, case):
    from tinygrad_cl.opencl.trial import tried

    sizes = {"work_items": case.work_items - case.group, "local_size": case.group, "offset": case.group}
    one, other = (
        tried(student.SIN_TIMES, "sin_times", *case.inputs, None, case.n, result=case.n, seed=seed, **sizes)
        for seed in (case.fill, case.fill + 1)
    )
    return {"without the first group, some numbers are not written": bool((one["out"] != other["out"]).any())}


slips_with_the_number(kernel)
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
