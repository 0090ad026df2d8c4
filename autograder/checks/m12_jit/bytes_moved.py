"""Check 8 of lesson 12: bytes, one by one and fused."""

from autograder.checks.check import check


@check("jit.bytes", points=2)
def bytes_moved(student, rng, tools):
    """A chain, an operation that uses a tensor twice, a constant, a leaf that is used often."""
    n, times = int(rng.integers(11, 50)), int(rng.integers(3, 6))
    leaf = student.Traced

    def node(name, *inputs):
        return leaf(name, inputs, (True,) * len(inputs), {}, student.get_primitive(name))

    x, y, z = leaf(), leaf(), leaf(wants=False)

    def deep():
        out = x
        for _ in range(times):
            out = node("add", node("mul", out, y), "((V)(0.5))")
        return out

    def shared():
        out = x
        for _ in range(18):  # as many paths as 2 to the 18
            out = node("add", out, out)
        return out

    def quickly():
        with tools.work_limit(20_000):
            return [float(each) for each in student.bytes_moved(shared(), n)]

    cases = {
        "tanh(x)": node("tanh", x),
        "x · y": node("mul", x, y),
        "x · x": node("mul", x, x),
        "3 · x": node("mul", "((V)(3))", x),
        "tanh(x · y + x) / z": node("div", node("tanh", node("add", node("mul", x, y), x)), z),
        "x · y + 0.5, several times over": deep(),
    }
    found = {"input": f"n = {n}; chains of leaves x, y, z, and of constants; several is {times}"}
    for name, end in cases.items():
        found[f"{name}, one by one"] = lambda end=end: float(student.bytes_moved(end, n)[0])
        found[f"{name}, fused"] = lambda end=end: float(student.bytes_moved(end, n)[1])
    return found | {"x + x, and 17 times doubled": quickly}


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
    "8 bytes for each number",
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
