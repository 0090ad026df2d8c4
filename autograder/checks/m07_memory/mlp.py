"""Check 2 of lesson 07: what an MLP's forward keeps, by hand."""

from autograder.checks.cases import Draft, Source, choice
from autograder.checks.check import exercise

memory_mlp = exercise(
    "memory.mlp",
    "What an MLP's forward keeps: relu shares its result with the next layer, gelu keeps its input besides.",
)

SIZES = ([3, 4], [3, 5, 4], [2, 3, 5, 4], (3, 5, 4), [4, 4, 4], [1, 1], [7, 6, 5, 4, 3, 2], (1, 8, 2, 9))


def drawn(rng):
    sizes = [int(n) for n in rng.integers(1, 60, size=rng.integers(2, 7))]
    return Draft({"sizes": sizes if rng.random() < 0.7 else tuple(sizes), "batch": int(rng.integers(1, 60))})


NETWORKS = Source((choice("sizes", *SIZES) * choice("batch", 2, 1, 7)).small, drawn)


def count(student, case):
    return student.mlp_bytes(case.batch, case.sizes, **case.options)


for activation, defaults in (
    ("relu", [{}, {"itemsize": 8}, {"activation": "relu"}]),
    ("gelu", [{"activation": "gelu"}]),
):
    options = choice("options", *defaults, {"activation": activation, "itemsize": 2})
    memory_mlp.aspect(activation, 1, cases=NETWORKS * options)(count)


memory_mlp.mistake(
    "the logits are forgotten, which cross_entropy keeps",
    swap=("numbers = sum(sizes)", "numbers = sum(sizes[:-1])"),
    hint=["Who keeps the output of the last layer?", "cross_entropy keeps what it is given: `sizes[-1]` counts, too."],
)
memory_mlp.mistake(
    "the input x is forgotten, which the first layer keeps",
    swap=("numbers = sum(sizes)", "numbers = sum(sizes[1:])"),
    hint=["What does the first h @ W keep?", "`sizes[0]` counts, too."],
)
memory_mlp.mistake(
    "only the hidden layers are counted",
    swap=("numbers = sum(sizes)", "numbers = sum(sizes[1:-1])"),
    hint=["What does the first h @ W keep? And cross_entropy?", "All of `sizes`, from the first to the last."],
)
memory_mlp.mistake(
    "relu's result and the next layer's input are counted as two",
    swap=('if activation == "gelu":', 'if activation in ("gelu", "relu"):'),
    hint=[
        "relu's result is the next layer's input: how many arrays is that?",
        "With relu there is one array for each size.",
    ],
)
memory_mlp.mistake(
    "gelu counts like relu",
    swap=('if activation == "gelu":', "if False:"),
    hint=[
        "What does gelu keep: its result, like relu?",
        "Its input; and the next layer keeps the result: two arrays for each hidden size.",
    ],
)
memory_mlp.mistake(
    "gelu is counted for the output as well, after which there is none",
    swap=("sizes[1:-1]", "sizes[1:]"),
    hint=["After which layers does an activation come?", "Not after the last: `sizes[1:-1]`."],
)
memory_mlp.mistake(
    "gelu is counted for x as well, before which there is none",
    swap=("sum(sizes[1:-1])", "sum(sizes[:-1])"),
    hint=["After which layers does an activation come?", "x is data, not the result of one: `sizes[1:-1]`."],
)
memory_mlp.mistake(
    "gelu's input, its result, and the next layer's input are counted as three",
    swap=("numbers += sum(sizes[1:-1])", "numbers += 2 * sum(sizes[1:-1])"),
    hint=[
        "gelu's result is the next layer's input: how many arrays is that?",
        "Two for each hidden size: before gelu, and after.",
    ],
)
memory_mlp.mistake(
    "everything is doubled for gelu, x and the logits, too",
    swap=("numbers += sum(sizes[1:-1])", "numbers *= 2"),
    hint=["gelu keeps one more array. For which sizes?", "Only the hidden ones: `sizes[1:-1]`."],
)
memory_mlp.mistake(
    "numbers are counted, not bytes",
    swap=("batch * numbers * itemsize", "batch * numbers"),
    hint=["How many bytes has one number?", "Times `itemsize`."],
)
memory_mlp.mistake(
    "four bytes are written into the function",
    swap=("batch * numbers * itemsize", "batch * numbers * 4"),
    hint=["In float64 a number has 8 bytes.", "Times `itemsize`."],
)
memory_mlp.mistake(
    "the rows are forgotten",
    swap=("batch * numbers * itemsize", "numbers * itemsize"),
    hint=["How large is h for 64 rows at once?", "Times `batch`."],
)
memory_mlp.mistake(
    "the weights are counted, too",
    swap=(
        "return batch * numbers * itemsize",
        "return (batch * numbers + sum(a * b + b for a, b in zip(sizes, sizes[1:]))) * itemsize",
    ),
    hint=["What does the docstring say about parameters?", "Only what comes with the rows."],
)
memory_mlp.variant(
    "array by array",
    source="""
def mlp_bytes(batch, sizes, activation="relu", itemsize=4):
    kept = [(batch, sizes[0])]
    for size in sizes[1:-1]:
        if activation == "gelu":
            kept.append((batch, size))
        kept.append((batch, size))
    kept.append((batch, sizes[-1]))
    return sum(a * b * itemsize for a, b in kept)
""",
)
memory_mlp.variant(
    "with NumPy",
    source="""
def mlp_bytes(batch, sizes, activation="relu", itemsize=4):
    times = np.ones(len(sizes))
    times[1:-1] = {"relu": 1, "gelu": 2}[activation]
    return times @ np.array(sizes) * batch * itemsize
""",
)
