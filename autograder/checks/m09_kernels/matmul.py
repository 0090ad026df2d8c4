import numpy as np

from autograder.checks.check import check


@check("kernels.matmul", points=2, rtol=1e-5, atol=1e-4, seconds=30)
def matmul(student, rng, tools):
    """Products of no square and no equal sizes, with too many work-items below, to the right, and beside others' rows."""
    from tinygrad_cl.opencl.trial import try_kernel

    deep, short = int(rng.integers(17, 23)), int(rng.integers(2, 5))
    cases = {  # name: (m, n, k, work-items, group, first work-item)
        "rows too many": (5, 16, deep, (16, 8), (8, 4), (0, 0)),
        "one row, columns too many": (1, 11, 7, (16, 2), (8, 2), (0, 0)),
        "only row 1 of three is started": (3, 5, short, (8, 1), (8, 1), (0, 1)),
    }
    found, memory = (
        {
            "input": "m × k times k × n, work-items: "
            + "; ".join(
                f"{m} × {k} times {k} × {n}, {w[0]} × {w[1]} ({name})" for name, (m, n, k, w, _, _) in cases.items()
            )
        },
        [],
    )
    for name, (m, n, k, work_items, group, first) in cases.items():
        a, b = rng.normal(0, 1.5, m * k).astype(np.float32), rng.normal(0, 1.5, k * n).astype(np.float32)
        right = (a.reshape(m, k) @ b.reshape(k, n)).ravel() if m == 1 else None
        c, said = try_kernel(
            student.MATMUL,
            "matmul",
            a,
            b,
            None,
            m,
            n,
            k,
            result=m * n,
            work_items=work_items,
            local_size=group,
            offset=first,
            right=right,
        )
        found[f"c ({name})"] = c.reshape(m, n)
        memory.append(said)
    return found | {"memory": memory}


GUARD = "if (row < m && column < n)"
matmul.mistake("there is no guard", swap=(GUARD, ""), hint="Both dimensions may have work-items too many.")
matmul.mistake(
    "only the rows are guarded",
    swap=(GUARD, "if (row < m)"),
    hint="A work-item too far right of row 0 finds a place in row 1, and writes there.",
)
matmul.mistake("only the columns are guarded", swap=(GUARD, "if (column < n)"), hint="Who is below the last row of c?")
matmul.mistake("the columns are held against k", swap=("column < n", "column < k"), hint="c has m rows and n columns.")
matmul.mistake(
    "row and column have changed places",
    swap=(
        "int column = get_global_id(0), row = get_global_id(1);",
        "int column = get_global_id(1), row = get_global_id(0);",
    ),
    hint="Dimension 0 counts columns.",
)
matmul.mistake(
    "a row of a is taken to be n long",
    swap=("a[row * k + p]", "a[row * n + p]"),
    hint="a has m × k numbers: how long is its row?",
)
matmul.mistake(
    "a row of b is taken to be k long",
    swap=("b[p * n + column]", "b[p * k + column]"),
    hint="b has k × n numbers: how long is its row?",
)
matmul.mistake(
    "a row of c is taken to be k long",
    swap=("c[row * n + column]", "c[row * k + column]"),
    hint="c has m × n numbers: how long is its row?",
)
matmul.mistake(
    "b is read as if it were transposed",
    swap=("b[p * n + column]", "b[column * k + p]"),
    hint="p goes down a column of b.",
)
matmul.mistake(
    "a is read as if it were transposed", swap=("a[row * k + p]", "a[p * m + row]"), hint="p goes along a row of a."
)
matmul.mistake("the sum is overwritten in each turn", swap=("sum += a", "sum = a"), hint="`+=`")
matmul.mistake("the sum begins with the second product", swap=("int p = 0", "int p = 1"), hint="C counts from 0.")
matmul.mistake(
    "the sum goes one product too far", swap=("p < k", "p <= k"), hint="A row of a has the places 0 … k − 1."
)
matmul.mistake(
    "the sum goes over n products", swap=("p < k", "p < n"), hint="Row of a times column of b: both have k numbers."
)
matmul.mistake(
    "the products are added to what was in c",
    swap=("c[row * n + column] = sum", "c[row * n + column] += sum"),
    hint="Nobody has set c before: `=`.",
)
matmul.mistake(
    "the sum is an `int`", swap=("float sum = 0.0f", "int sum = 0"), hint="In C the type decides: `float sum`."
)
matmul.mistake(
    "the numbers are added, and not multiplied",
    swap=("a[row * k + p] * b", "a[row * k + p] + b"),
    hint="Products are summed.",
)
matmul.variant(
    "leaving early, with fma and pointers that move",
    swap=(
        "    if (row < m && column < n) {\n        float sum = 0.0f;\n        for (int p = 0; p < k; p++)\n"
        "            sum += a[row * k + p] * b[p * n + column];\n        c[row * n + column] = sum;\n    }",
        "    if (row >= m || column >= n) return;\n    __global const float *x = a + row * k, *y = b + column;\n    float s = 0;\n"
        "    for (int p = k; p > 0; p--, x++, y += n) s = fma(*x, *y, s);\n    c[column + n * row] = s;",
    ),
)
matmul.variant("an int as the first sum: C makes a float of it", swap=("float sum = 0.0f", "float sum = 0"))
matmul.variant("summed from the other end", swap=("for (int p = 0; p < k; p++)", "for (int p = k - 1; p >= 0; p--)"))
matmul.variant(
    "summed in c itself, set to 0 first",
    swap=(
        "float sum = 0.0f;\n        for (int p = 0; p < k; p++)\n            sum += a[row * k + p] * b[p * n + column];\n        c[row * n + column] = sum;",
        "c[row * n + column] = 0;\n        for (int p = 0; p < k; p++)\n            c[row * n + column] += a[row * k + p] * b[p * n + column];",
    ),
)
