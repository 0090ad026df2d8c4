import numpy as np

from autograder.checks.check import check


@check("kernels.lanes", points=3, rtol=1e-5, atol=1e-6, seconds=30)
def lanes(student, rng, tools):
    """Lengths that fill their vectors, that do not, and that fill none; with work-items too many, and one work-item alone."""
    from tinygrad_cl.opencl.trial import try_kernel

    cases = {  # name: (n, work-items, first work-item)
        "three full vectors": (48, 3, 0),
        "a rest, and work-items too many": (int(rng.integers(67, 79)), 8, 0),
        "less than one vector": (int(rng.integers(3, 15)), 1, 0),
        "work-item 2 alone, of five": (int(rng.integers(67, 79)), 1, 2),
        "work-item 2 alone, with the rest": (int(rng.integers(35, 47)), 1, 2),
    }
    found, memory = (
        {"input": "n, work-items: " + "; ".join(f"{n}, {w} ({name})" for name, (n, w, _) in cases.items())},
        [],
    )
    for name, (n, work_items, first) in cases.items():
        x = (rng.uniform(0.2, 1.6, n) * rng.choice([-1, 1], n)).astype(np.float32)
        right = np.exp(-x * x) if work_items == 8 else None
        out, said = try_kernel(
            student.BELL, "bell", x, None, n, result=n, work_items=work_items, local_size=1, offset=first, right=right
        )
        found[f"out ({name})"] = out
        memory.append(said)
    return found | {"memory": memory}


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
