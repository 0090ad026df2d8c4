"""Check 4 of lesson 07: the gradient of a batch from micro-batches."""

import numpy as np

from autograder.checks.check import check


@check(
    "memory.accumulate",
    points=3,
    device=("equal pieces: w.grad", "a shorter last piece: w.grad", "a shorter last piece: b.grad"),
)
def memory_accumulate(student, rng, tools):
    """Even and uneven pieces; one graph at a time."""
    n, k, m = 3 * int(rng.integers(4, 6)) + 1, int(rng.integers(4, 9)), 3
    x, y = rng.normal(size=(n, k)), rng.normal(size=(n, m))
    first, old = rng.normal(size=(k, m)), rng.normal(size=(k, m))

    def run(size, rows=n, before=None, times=1):
        w = student.Tensor(first, requires_grad=True)
        b = student.Tensor(np.linspace(-1, 1, m), requires_grad=True)
        if before is not None:
            w.grad = student.Tensor(before)
        graphs, seen = [], {"rows": 0, "piece": 0, "bytes": 0}

        def alive():
            """Rows and bytes in graphs that were not freed yet."""
            there = [(rows, graph) for rows, graph in graphs if not graph.freed]
            arrays = {id(a): a.nbytes for _, graph in there for node in nodes_below(graph) for a in node.kept_arrays()}
            return sum(rows for rows, _ in there), sum(arrays.values())

        def loss_of(xs, ys):
            loss = student.mse_loss((student.Tensor(xs) @ w + b).tanh(), student.Tensor(ys))
            graphs.append((len(xs), loss.grad_fn))
            rows, size = alive()
            seen.update(rows=max(seen["rows"], rows), bytes=max(seen["bytes"], size), piece=max(seen["piece"], len(xs)))
            return loss

        losses = [student.accumulate(loss_of, x[:rows], y[:rows], size) for _ in range(times)]
        kinds = [
            "a number" if isinstance(loss, (float, np.floating, np.ndarray)) else f"a {type(loss).__name__}"
            for loss in losses
        ]
        return {
            "losses": [float(loss) for loss in losses],
            "w": w.grad.data,
            "b": b.grad.data,
            "kinds": kinds,
            "left": alive()[0],
            **seen,
        }

    def nodes_below(node):
        found, todo = [], [node]
        while todo:
            node = todo.pop()
            if hasattr(node, "next_nodes") and node not in found:
                found.append(node)
                todo += node.next_nodes
        return found

    def two_calls():
        found = run(4, before=old, times=2)
        return [*found["w"].ravel(), *found["losses"]]

    def afterwards():
        a, b = x.copy(), y.copy()
        found = run(5)
        moved = np.abs(a - x).sum() + np.abs(b - y).sum()
        return [*found["kinds"], f"{found['left']} rows in graphs", f"x and y moved by {moved:g}"]

    return {
        "input": f"{n} rows of x with {k} numbers, of y with {m}",
        "equal pieces: w.grad": lambda: run(3, rows=12)["w"],
        "a shorter last piece: w.grad": lambda: run(5)["w"],
        "a shorter last piece: b.grad": lambda: run(5)["b"],
        "a shorter last piece: the loss": lambda: run(5)["losses"],
        "two calls, w.grad there before: w.grad and the losses": two_calls,
        "what comes back, and what is left": afterwards,
        "pieces of 5: more than 5 rows in graphs at once": lambda: run(5)["rows"] > 5,
        "pieces of 3: more than 3 rows in graphs at once": lambda: run(3)["rows"] > 3,
        "row by row: rows in a piece": lambda: run(1)["piece"],
        "row by row: rows in graphs at once": lambda: run(1)["rows"],
        "row by row: bytes kept at once": lambda: run(1)["bytes"],
        "two pieces, one of a row: all rows in graphs at once": lambda: run(n - 1)["rows"] == n,
    }


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
