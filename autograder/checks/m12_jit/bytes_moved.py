"""Check 8 of lesson 12: bytes, one by one and fused."""

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise
from autograder.checks.m12_jit.formulas import FORMULAS

bytes_moved = exercise(
    "jit.bytes",
    "The bytes that are read and written: one operation after the other, and in one kernel.",
    needs=("jit.operation",),
    seconds=4,
)

SHARED = (
    "x * x", "[x := x + x for _ in range(3)][-1]", "(lambda s: sin(s) * s)(x * y)", "[x := x * y + 0.5 for _ in range(5)][-1]", "3 * x",
    "[x := x + x for _ in range(18)][-1]", "[x := x + x for _ in range(40)][-1]", "x * y * y",
)  # fmt: skip
CHAINS = Source(lambda rng: [Draft({"formula": Text(f"lambda x, y, silent: {text}")}) for text in SHARED]) + FORMULAS
CHAINS = CHAINS.add(n=lambda rng: (10, 1, 1000)[rng.integers(3)])


@bytes_moved.aspect("one by one", 1, cases=CHAINS)
def one_by_one(student, case):
    end = case.formula(student.Traced(), student.Traced(), student.Traced(wants=False))
    return float(student.bytes_moved(end, case.n)[0])


@bytes_moved.aspect("fused", 1, cases=CHAINS)
def fused(student, case):
    end = case.formula(student.Traced(), student.Traced(), student.Traced(wants=False))
    return float(student.bytes_moved(end, case.n)[1])


ONE = "sum(len({x for x in node.inputs if isinstance(x, Traced)}) + 1 for node in body)"
bytes_moved.mistake(
    "a tensor that is used twice is read twice",
    swap=(ONE, "sum(len([x for x in node.inputs if isinstance(x, Traced)]) + 1 for node in body)"),
    hint=["x · x: how many tensors does the kernel get?", "A set holds x once."],
)
bytes_moved.mistake(
    "constants are read like tensors",
    swap=(ONE, "sum(len(set(node.inputs)) + 1 for node in body)"),
    hint="A constant stands in the text. Only Traced are read.",
)
bytes_moved.mistake(
    "results are not written", swap=(ONE, ONE.replace(" + 1", "")), hint="Each kernel writes one tensor: its result."
)
bytes_moved.mistake(
    "the fused kernel writes nothing",
    swap=("(len(leaves) + 1)", "len(leaves)"),
    hint="The fused kernel has a result, too.",
)
bytes_moved.mistake(
    "the fused kernel writes a tensor for each operation",
    swap=("(len(leaves) + 1)", "(len(leaves) + len(body))"),
    hint="What lies between stays in registers.",
)
bytes_moved.mistake(
    "the fused kernel reads a leaf for each use",
    swap=("(len(leaves) + 1)", "(sum(x in leaves for node in body for x in node.inputs) + 1)"),
    hint="Each leaf is loaded once, at the top of the kernel.",
)
bytes_moved.mistake(
    "numbers are counted, not bytes",
    swap=("return 4 * n * one_by_one, 4 * n * (len", "return n * one_by_one, n * (len"),
    hint="A float has 4 bytes.",
)
bytes_moved.mistake(
    "each number is taken for 8 bytes",
    swap=("return 4 * n * one_by_one, 4 * n * (len", "return 8 * n * one_by_one, 8 * n * (len"),
    hint="float32: 4 bytes.",
)
bytes_moved.mistake(
    "the two have changed places",
    swap=(
        "return 4 * n * one_by_one, 4 * n * (len(leaves) + 1)",
        "return 4 * n * (len(leaves) + 1), 4 * n * one_by_one",
    ),
    hint="First one by one, then fused.",
)
bytes_moved.mistake(
    "every operation is taken to read two tensors", swap=(ONE, "3 * len(body)"), hint="tanh has one input."
)
bytes_moved.mistake(
    "n is forgotten",
    swap=("return 4 * n * one_by_one, 4 * n * (len", "return 4 * one_by_one, 4 * (len"),
    hint="Each tensor holds n numbers.",
)
bytes_moved.mistake(
    "one by one, only leaves are read: what lies between is not",
    swap=("if isinstance(x, Traced)}", "if x in leaves}"),
    hint="The second kernel reads what the first one wrote.",
)
bytes_moved.mistake(
    "the walk takes every path: 2 to the 18 of them",
    source="""
def bytes_moved(end, n):
    def walk(node):
        inputs = [x for x in node.inputs if isinstance(x, Traced)]
        return sum(map(walk, inputs)) + (len(set(inputs)) + 1 if inputs else 0)
    leaves, _ = chain_of(end)
    return 4 * n * walk(end), 4 * n * (len(leaves) + 1)
""",
    hint="A node that is used twice is computed once: use chain_of.",
)
bytes_moved.mistake(
    "every input is read: constants, and the same tensor twice",
    swap=(ONE, "sum(len(node.inputs) + 1 for node in body)"),
    hint="Constants stand in the text, and a tensor that is used twice is read once.",
)
bytes_moved.variant(
    "one result for each operation, and the reads",
    source="""
def bytes_moved(end, n):
    leaves, body = chain_of(end)
    tensor = np.zeros(n, np.float32).nbytes
    plain = tensor * len(body)
    for node in body:
        read = []
        for x in node.inputs:
            if not isinstance(x, str) and x not in read:
                read.append(x)
                plain += tensor
    return plain, tensor * len(leaves) + tensor
""",
)
bytes_moved.variant(
    "pairs of reader and tensor in a set, as floats in a list",
    source="""
def bytes_moved(end, n):
    seen, stack, reads = {end}, [end], set()
    while stack:
        node = stack.pop()
        for x in node.inputs:
            if isinstance(x, Traced):
                reads.add((node, x))
                if x not in seen:
                    seen.add(x)
                    stack.append(x)
    leaves = sum(not x.inputs for x in seen)
    return [4.0 * n * (len(reads) + len(seen) - leaves), 4.0 * n * (leaves + 1)]
""",
)
