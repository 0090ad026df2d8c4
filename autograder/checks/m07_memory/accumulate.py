"""Check 4 of lesson 07: the gradient of a batch from micro-batches."""

from autograder.checks.cases import Draft, Source, Text, choice, filled
from autograder.checks.check import exercise

memory_accumulate = exercise("memory.accumulate", "The gradient of a batch from micro-batches.")

LOSSES = choice(
    "loss",
    Text("lambda w, x, y: ((x @ w - y) ** 2).mean()"),
    Text("lambda w, x, y: ((x @ w).tanh() * y).mean()"),
    Text("lambda w, x, y: (x @ w - y).abs().mean() + 0.1 * (w * w).sum()"),
)
ROWS = ((2, 1), (3, 2), (4, 2), (1, 1), (5, 2), (5, 5), (3, 4), (7, 3), (6, 3), (7, 1), (6, 4), (8, 3), (9, 8))


def batch(rows, size, rng):
    shapes = {"w": (2,), "x": (rows, 2), "y": (rows,)}
    return Draft({name: filled(shape, "decimals", rng) for name, shape in shapes.items()} | {"size": size})


BATCHES = Source(
    lambda rng: (batch(rows, size, rng) for rows, size in ROWS),
    lambda rng: batch(int(rng.integers(1, 13)), int(rng.integers(1, 8)), rng),
)


@memory_accumulate.aspect("the gradient", 1.5, device=4, cases=BATCHES * LOSSES * choice("before", None, 2.0))
def gradient(student, case):
    w = student.Tensor(case.w, requires_grad=True)
    w.grad = case.before and student.Tensor(case.before * case.w)
    student.accumulate(lambda x, y: case.loss(w, student.Tensor(x), student.Tensor(y)), case.x, case.y, case.size)
    return w.grad.data


@memory_accumulate.aspect("the loss, a plain number", 0.75, cases=BATCHES * LOSSES)
def loss(student, case):
    w = student.Tensor(case.w, requires_grad=True)
    return student.accumulate(
        lambda x, y: case.loss(w, student.Tensor(x), student.Tensor(y)), case.x, case.y, case.size
    )


@memory_accumulate.aspect(
    "one graph at a time, of `size` rows at most",
    0.75,
    corner=True,
    cases=BATCHES * LOSSES,
    at_most=("rows in a piece", "rows in graphs at once", "rows in graphs afterwards"),
)
def graphs(student, case):
    w, graphs, found = (
        student.Tensor(case.w, requires_grad=True),
        [],
        {"rows in a piece": 0, "rows in graphs at once": 0},
    )

    def alive():
        return sum(rows for rows, graph in graphs if not graph.freed)

    def loss_of(x, y):
        loss = case.loss(w, student.Tensor(x), student.Tensor(y))
        graphs.append((len(x), loss.grad_fn))
        for name, rows in zip(found, (len(x), alive())):
            found[name] = max(found[name], rows)
        return loss

    student.accumulate(loss_of, case.x, case.y, case.size)
    return found | {"rows in graphs afterwards": alive(), "a gradient": w.grad is not None}


@memory_accumulate.on_device
def names(on, reference):
    def accumulate(loss_of, x, y, size):
        loss = loss_of(x, y)
        loss.backward()
        return loss.item()

    return {"Tensor": on.MeasuredTensor, "mse_loss": on.operation(on.ag.mse_loss), "accumulate": accumulate}


memory_accumulate.mistake(
    "the means of the pieces are added as they are",
    swap=(" * (len(x[part]) / len(x))", ""),
    hint=[
        "Twice as many pieces, twice the gradient?",
        "Each loss counts by its share of the rows: · len(piece) / len(x).",
    ],
)
memory_accumulate.mistake(
    "each piece counts the same, a shorter one, too",
    swap=("(len(x[part]) / len(x))", "(1 / -(-len(x) // size))"),
    hint=[
        "The last piece has fewer rows. Does it count as much as a full one?",
        "Its share is len(piece) / len(x), not 1 / (number of pieces).",
    ],
)
memory_accumulate.mistake(
    "the last piece counts as if it were full",
    swap=("(len(x[part]) / len(x))", "(size / len(x))"),
    hint=["How many rows has the last piece?", "`len(x[part])`, not `size`."],
)
memory_accumulate.mistake(
    "rows that do not fill a piece are left out",
    swap=("range(0, len(x), size)", "range(0, len(x) - size + 1, size)"),
    hint=[
        "13 rows in pieces of 5: where are the last three?",
        "The last slice may be shorter; let `range` go on to len(x).",
    ],
)
memory_accumulate.mistake(
    "the loss is the mean of the pieces' means for the number, too small by the number of pieces",
    swap=("return total", "return total / -(-len(x) // size)"),
    hint=["The parts of the loss have their shares already.", "Add them up; nothing is left to be divided."],
)
memory_accumulate.mistake(
    "the loss is not weighted, only the gradient is",
    swap=(
        "loss = loss_of(x[part], y[part]) * (len(x[part]) / len(x))\n        loss.backward()",
        "loss = loss_of(x[part], y[part])\n        (loss * (len(x[part]) / len(x))).backward()",
    ),
    hint=["The gradient is right. And the number that comes back?", "The same share belongs to the loss."],
)
memory_accumulate.mistake(
    "all losses come first, and backward after the loop: all graphs are there at the same time",
    source="""
def accumulate(loss_of, x, y, size):
    total = 0.0
    for start in range(0, len(x), size):
        part = slice(start, start + size)
        total = total + loss_of(x[part], y[part]) * (len(x[part]) / len(x))
    total.backward()
    return total.item()
""",
    hint=["The gradient is right. When is the first graph freed?", "Call backward inside the loop."],
)
memory_accumulate.mistake(
    "the graphs are kept: retain_graph=True",
    swap=("loss.backward()", "loss.backward(retain_graph=True)"),
    hint=["Who needs the graph of this piece once more?", "`loss.backward()`: it frees what was kept."],
)
memory_accumulate.mistake(
    "only the last piece calls backward",
    swap=(
        "        loss.backward()\n        total += loss.item()\n",
        "        total += loss.item()\n    loss.backward()\n",
    ),
    hint=["How often is backward called?", "Once for each piece, inside the loop."],
)
memory_accumulate.mistake(
    "backward comes before the share: only the loss is weighted",
    swap=(
        "loss = loss_of(x[part], y[part]) * (len(x[part]) / len(x))\n        loss.backward()",
        "loss = loss_of(x[part], y[part])\n        loss.backward()\n        loss = loss * (len(x[part]) / len(x))",
    ),
    hint=["Twice as many pieces, twice the gradient?", "Multiply by len(piece) / len(x) first, then backward."],
)
memory_accumulate.mistake(
    "each piece counts by its rows, and only the loss is divided by all of them",
    swap=[(" * (len(x[part]) / len(x))", " * len(x[part])"), ("return total", "return total / len(x)")],
    hint=[
        "What backward leaves in `grad` is not divided later.",
        "The share, len(piece) / len(x), belongs in the loss before backward.",
    ],
)
memory_accumulate.mistake(
    "the loss of the last piece comes back, not that of the batch",
    swap=("total += loss.item()", "total = loss.item()"),
    hint=["How much of the batch is in the number that you return?", "Add up the parts: `total += …`."],
)
memory_accumulate.mistake(
    "`size` is taken for the number of pieces",
    swap=("    total = 0.0\n", "    total, size = 0.0, -(-len(x) // size)\n"),
    hint=["Pieces of 3: how many rows has yours?", "`range(0, len(x), size)`: `size` is the number of rows."],
)
memory_accumulate.mistake(
    "the whole batch goes through at once",
    source="""
def accumulate(loss_of, x, y, size):
    loss = loss_of(x, y)
    loss.backward()
    return loss.item()
""",
    hint=["Nothing was saved: how many rows are in your graph?", "Slices of `size` rows, one after the other."],
)
memory_accumulate.mistake(
    "x and y are cut at different places",
    swap=("y[part])", "y[:len(x[part])])"),
    hint=["Which rows of y belong to these rows of x?", "The same slice for both."],
)
memory_accumulate.mistake(
    "the loss that comes back is a tensor",
    swap=("total += loss.item()", "total = loss + total"),
    hint=["A tensor holds its graph.", "`loss.item()` is the number."],
)
memory_accumulate.variant(
    "the share goes into backward",
    source="""
def accumulate(loss_of, x, y, size):
    losses, shares = [], []
    while sum(shares) < len(x):
        start = sum(shares)
        shares.append(min(size, len(x) - start))
        loss = loss_of(x[start:start + size], y[start:start + size])
        loss.backward(shares[-1] / len(x))
        losses.append(float(loss))
    return np.average(losses, weights=shares)
""",
)
memory_accumulate.variant(
    "pieces as equal as can be",
    source="""
def accumulate(loss_of, x, y, size):
    n = len(x)
    pieces = -(-n // size)
    total = 0
    for xs, ys in zip(np.array_split(x, pieces), np.array_split(y, pieces)):
        loss = loss_of(xs, ys)
        (loss * len(xs) / n).backward()
        total += len(xs) * loss.data
    return total / n
""",
)
memory_accumulate.variant(
    "from the end",
    source="""
def accumulate(loss_of, x, y, size):
    starts = list(range(0, len(x), size))
    parts = []
    for start in reversed(starts):
        share = min(size, len(x) - start) / len(x)
        loss = share * loss_of(x[start:start + size], y[start:start + size])
        loss.backward()
        parts.append(loss.item())
    return sum(parts)
""",
)
for old, new in (
    ("range(0, len(x), size)", "range(0, len(y), size)"),
    ("(len(x[part])", "(len(y[part])"),
    ("/ len(x))", "/ len(y))"),
):
    memory_accumulate.variant(f"x and y have the same number of rows: {new}", swap=(old, new))
