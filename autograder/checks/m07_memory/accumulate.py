"""Check 4 of lesson 07: the gradient of a batch from micro-batches."""

import numpy as np

from autograder.checks.check import check


@check("memory.accumulate", points=3)
def memory_accumulate(student, rng, tools):
    """Even and uneven pieces; one graph at a time."""
    n, k, m = 3 * int(rng.integers(4, 6)) + 1, 4, 3
    x, y = rng.normal(size=(n, k)), rng.normal(size=(n, m))
    first = rng.normal(size=(k, m))

    def run(size, rows=n, before=None, times=1):
        w = student.Tensor(first, requires_grad=True)
        b = student.Tensor(np.linspace(-1, 1, m), requires_grad=True)
        if before is not None:
            w.grad = student.Tensor(before)
        graphs, seen = [], {"rows": [], "held": 0}

        def loss_of(xs, ys):
            seen["rows"].append(len(xs))
            seen["held"] = max(seen["held"], sum(not graph.freed for graph in graphs))
            loss = student.mse_loss((student.Tensor(xs) @ w + b).tanh(), student.Tensor(ys))
            graphs.append(loss.grad_fn)
            return loss

        losses = [student.accumulate(loss_of, x[:rows], y[:rows], size) for _ in range(times)]
        left = sum(not graph.freed for graph in graphs)
        return {"losses": [float(loss) for loss in losses], "w": w.grad.data, "b": b.grad.data, "left": left, **seen}

    def untouched():
        a, b = x.copy(), y.copy()
        run(5)
        return [np.abs(a - x).sum(), np.abs(b - y).sum()]

    def plain_number():
        w = student.Tensor(first, requires_grad=True)
        loss = student.accumulate(lambda xs, ys: student.mse_loss(student.Tensor(xs) @ w, student.Tensor(ys)), x, y, 4)
        return "a number" if isinstance(loss, (float, np.floating, np.ndarray)) else f"a {type(loss).__name__}"

    old = rng.normal(size=(k, m))
    return {
        "input": f"{n} rows of x with {k} numbers, of y with {m}",
        "equal pieces: w.grad": lambda: run(3, rows=12)["w"],
        "equal pieces: the loss": lambda: run(3, rows=12)["losses"],
        "a shorter last piece: w.grad": lambda: run(5)["w"],
        "a shorter last piece: b.grad": lambda: run(5)["b"],
        "a shorter last piece: the loss": lambda: run(5)["losses"],
        "all in one piece: w.grad": lambda: run(n + 2)["w"],
        "w.grad where there was something before": lambda: run(4, before=old)["w"],
        "two calls: w.grad and the losses": lambda: [*run(4, times=2)["w"].ravel(), *run(4, times=2)["losses"]],
        "rows that went through loss_of, in all": lambda: sum(run(5)["rows"]),
        "more than 5 rows in a piece of 5": lambda: max(run(5)["rows"]) > 5,
        "more than 3 rows in a piece of 3": lambda: max(run(3)["rows"]) > 3,
        "row by row: rows in a piece": lambda: max(run(1)["rows"]),
        "pieces of 3: graphs not freed when the next piece starts": lambda: run(3)["held"],
        "pieces of 5: graphs not freed when the next piece starts": lambda: run(5)["held"],
        "row by row: graphs not freed when the next piece starts": lambda: run(1)["held"],
        "graphs not freed at the end": lambda: run(3)["left"],
        "what comes back is": plain_number,
        "x and y afterwards: how far moved": untouched,
    }


memory_accumulate.mistake(
    "the means of the pieces are added as they are", swap=(" * (len(x[part]) / len(x))", ""),
    hint=["Twice as many pieces, twice the gradient?", "Each loss counts by its share of the rows: · len(piece) / len(x)."])
memory_accumulate.mistake(
    "each piece counts the same, a shorter one, too", swap=("(len(x[part]) / len(x))", "(1 / -(-len(x) // size))"),
    hint=["The last piece has fewer rows. Does it count as much as a full one?", "Its share is len(piece) / len(x), not 1 / (number of pieces)."])
memory_accumulate.mistake(
    "the last piece counts as if it were full", swap=("(len(x[part]) / len(x))", "(size / len(x))"),
    hint=["How many rows has the last piece?", "`len(x[part])`, not `size`."])
memory_accumulate.mistake(
    "rows that do not fill a piece are left out", swap=("range(0, len(x), size)", "range(0, len(x) - size + 1, size)"),
    hint=["13 rows in pieces of 5: where are the last three?", "The last slice may be shorter; let `range` go on to len(x)."])
memory_accumulate.mistake(
    "the loss is the mean of the pieces' means for the number, too small by the number of pieces",
    swap=("return total", "return total / -(-len(x) // size)"),
    hint=["The parts of the loss have their shares already.", "Add them up; nothing is left to be divided."])
memory_accumulate.mistake(
    "the loss is not weighted, only the gradient is", swap=("loss = loss_of(x[part], y[part]) * (len(x[part]) / len(x))\n        loss.backward()",
                                                         "loss = loss_of(x[part], y[part])\n        (loss * (len(x[part]) / len(x))).backward()"),
    hint=["The gradient is right. And the number that comes back?", "The same share belongs to the loss."])
memory_accumulate.mistake(
    "the losses are added up first, and backward comes once: all graphs are there at the same time", source='''
def accumulate(loss_of, x, y, size):
    total = 0.0
    for start in range(0, len(x), size):
        part = slice(start, start + size)
        total = total + loss_of(x[part], y[part]) * (len(x[part]) / len(x))
    total.backward()
    return total.item()
''', hint=["The gradient is right. When is the first graph freed?", "Call backward inside the loop."])
memory_accumulate.mistake(
    "the graphs are kept: retain_graph=True", swap=("loss.backward()", "loss.backward(retain_graph=True)"),
    hint=["Who needs the graph of this piece once more?", "`loss.backward()`: it frees what was kept."])
memory_accumulate.mistake(
    "only the last piece calls backward", swap=("        loss.backward()\n        total += loss.item()\n", "        total += loss.item()\n    loss.backward()\n"),
    hint=["How often is backward called?", "Once for each piece, inside the loop."])
memory_accumulate.mistake(
    "the whole batch goes through at once", source='''
def accumulate(loss_of, x, y, size):
    loss = loss_of(x, y)
    loss.backward()
    return loss.item()
''', hint=["Nothing was saved: how many rows are in your graph?", "Slices of `size` rows, one after the other."])
memory_accumulate.mistake(
    "x and y are cut at different places", swap=("y[part])", "y[:len(x[part])])"),
    hint=["Which rows of y belong to these rows of x?", "The same slice for both."])
memory_accumulate.mistake(
    "the loss that comes back is a tensor", swap=("total += loss.item()", "total = loss + total"),
    hint=["A tensor holds its graph.", "`loss.item()` is the number."])
memory_accumulate.variant("the share goes into backward", source='''
def accumulate(loss_of, x, y, size):
    losses, shares = [], []
    while sum(shares) < len(x):
        start = sum(shares)
        shares.append(min(size, len(x) - start))
        loss = loss_of(x[start:start + size], y[start:start + size])
        loss.backward(shares[-1] / len(x))
        losses.append(float(loss))
    return np.average(losses, weights=shares)
''')
memory_accumulate.variant("pieces as equal as can be", source='''
def accumulate(loss_of, x, y, size):
    n = len(x)
    pieces = -(-n // size)
    total = 0
    for xs, ys in zip(np.array_split(x, pieces), np.array_split(y, pieces)):
        loss = loss_of(xs, ys)
        (loss * len(xs) / n).backward()
        total += len(xs) * loss.data
    return total / n
''')
memory_accumulate.variant("from the end", source='''
def accumulate(loss_of, x, y, size):
    starts = list(range(0, len(x), size))
    parts = []
    for start in reversed(starts):
        share = min(size, len(x) - start) / len(x)
        loss = share * loss_of(x[start:start + size], y[start:start + size])
        loss.backward()
        parts.append(loss.item())
    return sum(parts)
''')
for old, new in (("range(0, len(x), size)", "range(0, len(y), size)"), ("(len(x[part])", "(len(y[part])"), ("/ len(x))", "/ len(y))")):
    memory_accumulate.variant(f"x and y have the same number of rows: {new}", swap=(old, new))
