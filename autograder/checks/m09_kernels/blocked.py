"""Check 9 of lesson 09: a block of c for each work-item."""

from autograder.checks.check import exercise
from autograder.checks.m09_kernels.launches import launches, numbers

blocked = exercise(
    "kernels.blocked",
    "Blocks of 8 rows, and the same text with 10 and with 2; below and beside each other.",
    seconds=40,
    texts=("BLOCKED",),
)

SHAPES = [  # ROWS, blocks of c beside and below each other, those that are started, the first of them, k
    (8, (1, 1), (1, 1), (0, 0), range(1, 3)),
    (8, (1, 2), (1, 2), (0, 0), range(4, 9)),
    (10, (2, 1), (2, 1), (0, 0), range(3, 8)),
    (2, (2, 2), (1, 1), (1, 1), range(3, 8)),
    (2, (3, 2), (3, 2), (0, 0), range(3, 8)),
]


def matrices(rng, rows, grid, blocks, first, k):
    m, n = rows * grid[1], 16 * grid[0]
    sizes = {"m": m, "n": n, "k": k, "rows": rows, "blocks": blocks, "first": first}
    return {"a": numbers(m * k, rng, 1.5), "b": numbers(k * n, rng, 1.5)} | sizes


def tags(rows, grid, blocks, first, k):
    yield from ["ROWS is not 8"] * (rows != 8) + ["there are blocks below each other"] * (grid[1] > 1)
    yield from ["there are blocks beside each other"] * (grid[0] > 1)


@blocked.aspect("the product", 4, cases=launches(SHAPES, matrices, tags), few=10, many=30, rtol=1e-5, atol=1e-4)
@blocked.watch(launches([(8, (2, 1), (2, 1), (0, 0), 3)], matrices))
def result(student, case):
    import re

    from tinygrad_cl.opencl.trial import tried

    source = re.sub(r"(?m)^\s*#\s*define\s+ROWS\s.*$", f"#define ROWS {case.rows}", student.BLOCKED)
    arguments = case.a, case.b, None, case.m, case.n, case.k
    sizes = {"work_items": case.blocks, "local_size": case.blocks, "offset": case.first}
    return tried(source, "blocked", *arguments, result=case.m * case.n, seed=case.fill, **sizes)


LINE, STORE = "float16 line = vload16(0, b + p * n + column);", "vstore16(sum[r], 0, c + (row + r) * n + column);"
blocked.mistake(
    "all rows of the block use the same row of a",
    swap=("a[(row + r) * k + p]", "a[row * k + p]"),
    hint="Row r of the block needs row `row + r` of a.",
)
blocked.mistake(
    "all rows of the block are stored in the same place",
    swap=("c + (row + r) * n + column", "c + row * n + column"),
    hint="Row r of the block goes to row `row + r` of c.",
)
blocked.mistake(
    "the rows are stored one number apart",
    swap=("c + (row + r) * n + column", "c + row * n + column + r"),
    hint="The next row of c begins n numbers further.",
)
blocked.mistake(
    "r is added to the place and not to the row of a",
    swap=("a[(row + r) * k + p]", "a[row * k + r + p]"),
    hint="The next row of a begins k numbers further.",
)
blocked.mistake("the sums are overwritten in each turn", swap=("sum[r] += a", "sum[r] = a"), hint="`+=`")
blocked.mistake(
    "a row of b is taken to be k long",
    swap=("b + p * n + column", "b + p * k + column"),
    hint="b has k × n numbers: how long is its row?",
)
blocked.mistake(
    "a row of a is taken to be n long",
    swap=("(row + r) * k + p", "(row + r) * n + p"),
    hint="a has m × k numbers: how long is its row?",
)
blocked.mistake(
    "a row of c is taken to be k long",
    swap=("(row + r) * n + column", "(row + r) * k + column"),
    hint="c has m × n numbers: how long is its row?",
)
blocked.mistake(
    "the vector of b is always the first one of its row",
    swap=("b + p * n + column", "b + p * n"),
    hint="The block begins at `column`.",
)
blocked.mistake(
    "the vector of b is the first row's, in each turn",
    swap=("b + p * n + column", "b + column"),
    hint="For each p, row p of b.",
)
blocked.mistake(
    "the block is stored at the left edge",
    swap=("c + (row + r) * n + column", "c + (row + r) * n"),
    hint="The block begins at `column`.",
)
blocked.mistake("only the first row is stored", swap=(STORE, "if (r == 0) " + STORE), hint="ROWS vectors, ROWS stores.")
blocked.mistake("the sums start with 1", swap=("sum[r] = 0.0f", "sum[r] = 1.0f"), hint="A sum begins with 0.")
blocked.mistake(
    "the last product is left out", swap=("p < k", "p < k - 1"), hint="A row of a has the places 0 … k − 1."
)
blocked.mistake(
    "the sum goes over n products", swap=("p < k", "p < n"), hint="Row of a times column of b: both have k numbers."
)
blocked.mistake(
    "the numbers of a and b are added, and not multiplied",
    swap=("+ p] * line", "+ p] + line"),
    hint="Products are summed.",
)
blocked.mistake(
    "the products are added to what was in c",
    swap=(STORE, "vstore16(sum[r] + vload16(0, c + (row + r) * n + column), 0, c + (row + r) * n + column);"),
    hint="Nobody has set c before: store the sums alone.",
)
blocked.mistake(
    "the loop ends at 8, where the text may say another number of ROWS",
    swap=("    EACH_ROW\n        vstore16", "    for (int r = 0; r < 8; r++)\n        if (r < ROWS) vstore16"),
    hint="The text is used with other values of ROWS, too: `EACH_ROW`, or `r < ROWS`.",
)
BODY = (
    "    EACH_ROW\n        sum[r] = 0.0f;\n    for (int p = 0; p < k; p++) {\n"
    f"        {LINE}\n"
    "        EACH_ROW\n            sum[r] += a[(row + r) * k + p] * line;\n    }\n"
    f"    EACH_ROW\n        {STORE}"
)
blocked.variant(
    "ordinary loops: slow, and right", swap=("        EACH_ROW\n", "        for (int r = 0; r < ROWS; r++)\n")
)
blocked.variant("an int as the first sum: C makes a vector of floats of it", swap=("sum[r] = 0.0f", "sum[r] = 0"))
blocked.variant(
    "number by number, with a nested loop and fma",
    swap=(
        f"        {LINE}\n        EACH_ROW\n            sum[r] += a[(row + r) * k + p] * line;",
        "        for (int r = ROWS - 1; r >= 0; r--)\n"
        "            sum[r] = fma((float16)(a[(row + r) * k + p]), vload16(0, b + column + n * p), sum[r]);",
    ),
)
blocked.variant(
    "pointers to the block",
    swap=[
        (
            "    EACH_ROW\n        sum[r] = 0.0f;",
            "    a += row * k;\n    b += column;\n    c += row * n + column;\n    EACH_ROW sum[r] = (float16)(0);",
        ),
        ("b + p * n + column", "b + p * n"),
        ("a[(row + r) * k + p]", "a[r * k + p]"),
        ("c + (row + r) * n + column", "c + r * n"),
    ],
)
blocked.variant(
    "row by row, each with its own loop over p",
    swap=(
        BODY,
        "    for (int r = row; r < row + ROWS; r++) {\n        float16 total = 0.0f;\n        for (int p = 0; p < k; p++)\n"
        "            total += a[r * k + p] * vload16(0, b + p * n + column);\n        vstore16(total, 0, c + r * n + column);\n    }",
    ),
)
