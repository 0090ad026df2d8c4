"""Check 7 of lesson 09: the matrix product, a number of c for each work-item."""

from autograder.checks.check import exercise
from autograder.checks.m09_kernels.launches import launches, numbers

matmul = exercise(
    "kernels.matmul",
    "Products of no square and no equal sizes, with too many work-items.",
    seconds=30,
    texts=("MATMUL",),
)

SHAPES = [  # m, n, k, work-items, group, first work-item
    (1, 1, 1, (8, 2), (8, 2), (0, 0)),
    (1, 1, range(2, 5), (8, 2), (8, 2), (0, 0)),
    (1, range(9, 13), 7, (16, 2), (8, 2), (0, 0)),
    (2, 3, range(4, 6), (8, 2), (8, 2), (0, 0)),
    (range(5, 7), 16, range(17, 23), (16, 8), (8, 2), (0, 0)),
    (5, range(4, 7), range(2, 5), (8, 2), (8, 2), (0, 2)),
]


def matrices(rng, m, n, k, work_items, group, first):
    sizes = {"m": m, "n": n, "k": k, "work_items": work_items, "group": group, "first": first}
    return {"a": numbers(m * k, rng, 1.5), "b": numbers(k * n, rng, 1.5)} | sizes


def tags(m, n, k, work_items, group, first):
    ends = [start + items for start, items in zip(first, work_items)]
    yield from ["there are columns too many"] * (ends[0] > n) + ["there are rows too many"] * (ends[1] > m)


@matmul.aspect("the product", 2, cases=launches(SHAPES, matrices, tags), few=12, many=36, rtol=1e-5, atol=1e-4)
@matmul.watch(launches([(3, 5, 4, (8, 4), (8, 2), (0, 0))], matrices))
def result(student, case):
    from tinygrad_cl.opencl.trial import tried

    arguments = case.a, case.b, None, case.m, case.n, case.k
    sizes = {"work_items": case.work_items, "local_size": case.group, "offset": case.first}
    return tried(student.MATMUL, "matmul", *arguments, result=case.m * case.n, seed=case.fill, **sizes)


GUARD = "if (row < m && column < n)"
matmul.mistake("there is no guard", swap=(GUARD, ""), hint="Both dimensions may have work-items too many.")
matmul.mistake(
    "only the rows are guarded",
    swap=(GUARD, "if (row < m)"),
    hint="A work-item too far right of row 0 finds a place in row 1, and writes there.",
)
matmul.mistake("only the columns are guarded", swap=(GUARD, "if (column < n)"), hint="Who is below the last row of c?")
matmul.mistake(
    "one of the two guards is enough: `||`",
    swap=(GUARD, "if (row < m || column < n)"),
    hint="A work-item has a number of c if its row and its column exist, both: `&&`.",
)
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
