"""Check 8 of lesson 09: operations per byte."""

from autograder.checks.cases import integer
from autograder.checks.check import exercise

intensity = exercise("kernels.intensity", "Blocks of several shapes; with a single lane, with a single row.")


@intensity.aspect(
    "operations per byte",
    1,
    cases=integer("rows", 1, 2, 3, 8, low=1, high=40) * integer("lanes", 1, 4, 16, low=1, high=40),
)
def operations_per_byte(student, case):
    return student.intensity(case.rows, case.lanes)


intensity.mistake(
    "bytes are counted as floats: the 4 is missing",
    swap=("4 * (rows + lanes)", "rows + lanes"),
    hint="A float has 4 bytes.",
)
intensity.mistake(
    "a multiplication with its addition is counted as one operation",
    swap=("2 * rows * lanes", "rows * lanes"),
    hint="Each number of the block gets a multiplication and an addition.",
)
intensity.mistake(
    "every multiplication loads its own two numbers",
    swap=("4 * (rows + lanes)", "4 * 2 * rows * lanes"),
    hint="That is what the naive kernel does. Here each number is loaded once, and used several times.",
)
intensity.mistake("only the numbers of b are loaded", swap=("(rows + lanes)", "lanes"), hint="And `rows` numbers of a.")
intensity.mistake("only the numbers of a are loaded", swap=("(rows + lanes)", "rows"), hint="And `lanes` numbers of b.")
intensity.mistake(
    "it is upside down: bytes per operation",
    swap=("operations / loaded", "loaded / operations"),
    hint="Operations *per* byte.",
)
intensity.mistake(
    "the block's own numbers are loaded, too",
    swap=("(rows + lanes)", "(rows + lanes + rows * lanes)"),
    hint="The running sums stay in registers; nobody loads them.",
)
intensity.mistake(
    "the quotient is rounded down",
    swap=("operations / loaded", "operations // loaded"),
    hint="`//` drops the decimals.",
)
intensity.variant(
    "simplified",
    source="""
def intensity(rows, lanes):
    return 0.5 / (1 / rows + 1 / lanes)
""",
)
intensity.variant(
    "counted in loops",
    source="""
def intensity(rows, lanes):
    loaded = sum(4 for _ in range(rows)) + sum(4 for _ in range(lanes))
    done = sum(2 for _ in range(rows) for _ in range(lanes))
    return np.float64(done) / loaded
""",
)
