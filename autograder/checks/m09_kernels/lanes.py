"""Check 4 of lesson 09: sixteen numbers a work-item, and the rest one by one."""

from autograder.checks.check import exercise
from autograder.checks.m09_kernels.launches import launches, numbers

lanes = exercise(
    "kernels.lanes", "Lengths that fill their vectors, that do not, and that fill none.", seconds=30, texts=("BELL",)
)

SIZES = [  # n, work-items, first work-item
    (1, 1, 0),
    (16, 1, 0),
    (15, 1, 0),
    (17, 2, 0),
    (48, 3, 0),
    (range(3, 15), 1, 0),
    (range(67, 79), 8, 0),
    (range(67, 79), 1, 2),
    (range(35, 47), 1, 2),
]


def vector(rng, n, work_items, first):
    return {"x": numbers(n, rng, 1.6), "work_items": work_items, "first": first}


def tags(n, work_items, first):
    yield from ["n is no multiple of 16"] * (n % 16 > 0) + ["n is below 16"] * (n < 16)
    yield from ["there are work-items too many"] * (16 * (first + work_items - 1) >= n)


@lanes.aspect("exp(−x²)", 3, cases=launches(SIZES, vector, tags), few=16, many=48, rtol=1e-5, atol=1e-12)
@lanes.watch(launches([(range(35, 47), 4, 0)], vector))
def result(student, case):
    from tinygrad_cl.opencl.trial import tried

    sizes = {"work_items": case.work_items, "local_size": 1, "offset": case.first}
    return tried(student.BELL, "bell", case.x, None, case.x.size, result=case.x.size, seed=case.fill, **sizes)


VECTOR = "float16 v = vload16(0, x + start);\n        vstore16(exp(-v * v), 0, out + start);"
REST = "    } else {\n        for (int i = start; i < n; i++)\n            out[i] = exp(-x[i] * x[i]);\n    }"
lanes.mistake(
    "the rest is left out", swap=(REST, "    }"), hint="n = 70 is four vectors and six numbers. Who computes the six?"
)
lanes.mistake(
    "the last vector is stored beyond the end",
    swap=("start + 16 <= n", "start < n"),
    hint="A vector may be stored where 16 numbers are left, not where one is.",
)
lanes.mistake(
    "there is no guard: vectors only, everywhere",
    swap=("if (start + 16 <= n)", "if (1)"),
    hint="Is there room for 16 numbers?",
)
lanes.mistake(
    "each work-item starts one number further, not sixteen",
    swap=("16 * get_global_id(0)", "get_global_id(0)"),
    hint="Work-item 1 begins with number 16.",
)
lanes.mistake(
    "`vload16(start, x)` counts in vectors",
    swap=("vload16(0, x + start)", "vload16(start, x)"),
    hint="The first argument counts vectors of 16; `x + start` counts numbers. One of the two.",
)
lanes.mistake(
    "the result is stored at vector `start`",
    swap=("0, out + start)", "start, out)"),
    hint="The offset of `vstore16` counts vectors of 16; `out + start` counts numbers.",
)
lanes.mistake("the minus is lost", swap=("-v * v", "v * v"), hint="exp(−x²) never exceeds 1.")
lanes.mistake(
    "the minus is squared away: (−x)²",
    swap=[("-v * v", "(-v) * (-v)"), ("-x[i] * x[i]", "(-x[i]) * (-x[i])")],
    hint="Minus the square, not the square of minus x.",
)
lanes.mistake("x is not squared", swap=[("-v * v", "-v"), ("-x[i] * x[i]", "-x[i]")], hint="The exponent is −x · x.")
lanes.mistake(
    "the rest starts from 0",
    swap=("int i = start;", "int i = 0;"),
    hint="The rest begins where this work-item's numbers begin.",
)
lanes.mistake("of the rest one number is missing", swap=("i < n;", "i < n - 1;"), hint="The last number is n − 1.")
lanes.mistake("the rest goes one number too far", swap=("i < n;", "i <= n;"), hint="The last number is n − 1.")
lanes.mistake(
    "the rest is computed without exp",
    swap=("out[i] = exp(-x[i] * x[i])", "out[i] = -x[i] * x[i]"),
    hint="The rest is the same formula, for single numbers.",
)
lanes.mistake(
    "each work-item goes on to the end",
    swap=(
        f"if (start + 16 <= n) {{\n        {VECTOR}\n{REST}",
        "for (int i = start; i < n; i++)\n        out[i] = exp(-x[i] * x[i]);",
    ),
    hint="Only 16 numbers belong to a work-item. The next ones belong to somebody else.",
)
lanes.variant(
    "one by one where a vector just fits: slower at the end, and right", swap=("start + 16 <= n", "start + 16 < n")
)
lanes.variant(
    "one number more than needed has to be left for a vector: slower at the end, and right",
    swap=("start + 16 <= n", "start + (16 + 1) <= n"),
)
lanes.variant(
    "leaving early, and the rest by another loop",
    swap=(
        f"if (start + 16 <= n) {{\n        {VECTOR}\n{REST}",
        "if (start >= n) return;\n    if (n - start < 16) {\n        int i = start;\n"
        "        while (i < n) { float t = x[i]; out[i++] = exp(-(t * t)); }\n        return;\n    }\n"
        "    float16 v = vload16(get_global_id(0), x);\n    vstore16(exp(-(v * v)), get_global_id(0), out);",
    ),
)
lanes.variant(
    "two vectors of 8",
    swap=(
        VECTOR,
        "for (int h = 0; h < 2; h++) {\n            float8 v = vload8(h, x + start);\n"
        "            vstore8(exp(v * -v), h, out + start);\n        }",
    ),
)
lanes.variant(
    "no vectors at all: the check asks for the right numbers",
    swap=(
        f"if (start + 16 <= n) {{\n        {VECTOR}\n{REST}",
        "for (int i = start; i < min(start + 16, n); i++)\n        out[i] = exp(-x[i] * x[i]);",
    ),
)
