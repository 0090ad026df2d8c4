import numpy as np

from autograder.checks.check import check


@check("kernels.blocked", points=4, rtol=1e-5, atol=1e-4, seconds=40)
def blocked(student, rng, tools):
    """Blocks of 8 rows, and the same text with 10 and with 2; blocks below and beside each other; and one block alone."""
    import re

    from tinygrad_cl.opencl.trial import try_kernel

    found, memory, shapes = {}, [], []
    cases = {  # name: (rows of a block, blocks of c, blocks started, the first of them)
        "two blocks of 8 rows, one below the other": (8, (1, 2), (1, 2), (0, 0)),
        "two blocks of 10 rows, side by side": (10, (2, 1), (2, 1), (0, 0)),
        "one block of 2 rows alone, the last of four": (2, (2, 2), (1, 1), (1, 1)),
    }
    for name, (rows, grid, blocks, first) in cases.items():
        m, n, k = rows * grid[1], 16 * grid[0], int(rng.integers(3, 8)) + (rows == 8)
        source = re.sub(r"(?m)^\s*#\s*define\s+ROWS\s.*$", f"#define ROWS {rows}", student.BLOCKED)
        a, b = rng.normal(0, 1.5, m * k).astype(np.float32), rng.normal(0, 1.5, k * n).astype(np.float32)
        right = (a.reshape(m, k) @ b.reshape(k, n)).ravel() if blocks == (2, 1) else None
        c, said = try_kernel(
            source,
            "blocked",
            a,
            b,
            None,
            m,
            n,
            k,
            result=m * n,
            work_items=blocks,
            local_size=blocks,
            offset=first,
            right=right,
        )
        found[f"c ({name})"] = c.reshape(m, n)
        memory.append(said)
        shapes.append(f"{m} × {k} times {k} × {n} ({name})")
    return found | {"input": "; ".join(shapes), "memory": memory}


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
