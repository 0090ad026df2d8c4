"""Check 1 of lesson 14: the gradient of a batch from a tape in each process."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text, choice, filled
from autograder.checks.check import exercise

gradients = exercise(
    "parallel.gradients", "The gradient of a whole batch, of which each process has a share.", seconds=40
)

HEAD = "lambda parameters, x, y: (lambda x, y, w, *more: ag.mean({}))(*[on_device(z, getattr(parameters[0], 'value', parameters[0]).dtype) for z in (x, y)], *parameters)"
LOSSES = {  # with the shapes of the parameters, for x of 2 numbers a row
    "ag.square(x * w - y)": [(1,)],
    "ag.square(ag.matmul(x, w) + more[0] - y)": [(2, 3), (3,)],
    "ag.square(ag.matmul(x, w) * more[0] + more[1] - y)": [(2, 2), (1,), (2,)],
}
SIZES = (1, 1), (2, 3), (1, 3), (2, 4), (3, 4), (3, 8), (4, 5), (2, 2), (5, 7), (3, 3)  # processes, rows


def batch(kind, size, n, old, calls, rng):
    text, shapes = list(LOSSES.items())[kind]
    x, y = (filled((n, columns), "decimals", rng) for columns in ((1, 1) if kind == 0 else (2, shapes[-1][0])))
    given = {"loss_of": Text(HEAD.format(text)), "parameters": [filled(shape, "decimals", rng) for shape in shapes]}
    tags = ["the shares are not equal"] * (n % size > 0) + ["a parameter has a gradient already"] * (old or calls > 1)
    tags += ["there is one process"] * (size == 1) + ["there are several parameters"] * (kind > 0)
    return Draft(given | {"x": x / 2, "y": y / 2, "size": size, "old": old, "calls": calls}, tuple(tags))


def drawn(rng):
    size = int(rng.integers(1, 5))
    return batch(
        int(rng.integers(3)), size, size + int(rng.integers(5)), bool(rng.integers(2)), int(rng.integers(1, 3)), rng
    )


BATCHES = Source(
    lambda rng: [batch(k % 3, *sizes, k % 4 == 1, 1 + (k % 4 == 2), rng) for k, sizes in enumerate(SIZES)], drawn
)
NEAR = {"rtol": 1e-4, "atol": 1e-4}  # sums of float32 in any order


def run(student, case):
    def program(comm):
        queue, rows = student.manager.default("auto").queue, []
        parameters = [student.Parameter.from_host(queue, array) for array in case.parameters]
        for parameter in parameters:
            parameter.grad = student.on_device(np.full(parameter.shape, 7.0)) if case.old else None
        loss_of = lambda parameters, x, y: rows.append(len(x)) or case.loss_of(parameters, x, y)
        for _ in range(case.calls):
            loss = student.parallel_gradients(comm, loss_of, parameters, case.x, case.y)
        plain = np.isscalar(loss) or isinstance(loss, np.ndarray) and loss.ndim == 0
        return {
            "gradients": lambda: {f"parameter {k}": p.grad.to_host() for k, p in enumerate(parameters)},
            "loss": {
                "loss": float(loss) if plain else loss,
                "it is": "a number" if plain else f"a {type(loss).__name__}",
            },
            "rows": {"rows": " ".join(map(str, rows)), "weights": [p.to_host() for p in parameters]},
        }

    results, sent = student.simulate(program, case.size)
    found = {f"process {rank}": found[case.of] for rank, found in enumerate(results)}
    if case.of == "rows":
        found["messages"] = " ".join(str(len(calls)) for calls in sent)
        found["bytes"] = max(sum(nbytes for _, nbytes in calls) for calls in sent)
    return found


for of, name, points in (
    ("gradients", "the gradient of the whole batch", 2),
    ("loss", "the loss of the whole batch, a plain number", 1),
    ("rows", "own rows, and one Allreduce in float32", 1),
):
    options = {"device": 3} if of != "rows" else {"at_most": ("bytes",), "corner": True}
    gradients.aspect(name, points, cases=BATCHES * choice("of", of), few=7, many=22, **NEAR, **options)(run)


@gradients.on_device
def names(on, reference):
    def measured_gradients(comm, loss_of, parameters, x, y):
        arrays = [parameter.to_host() for parameter in parameters]
        found = on.gradients(lambda *nodes: loss_of(nodes, x, y), np.ones(()), *arrays)
        for parameter, gradient in zip(parameters, found):
            parameter.grad = reference["on_device"](gradient)
        return float(on.value(lambda *nodes: loss_of(nodes, x, y), *arrays))

    return {"parallel_gradients": measured_gradients}


SHARE = " * (len(my_x) / len(x))"

gradients.mistake(
    "the means of the processes are added as they are",
    swap=(SHARE, ""),
    hint=[
        "Twice as many processes, twice the gradient?",
        "Before adding up, each multiplies by its share of the rows: len(my_x) / len(x).",
    ],
)
gradients.mistake(
    "the mean of the means: each process counts the same, whatever its share",
    swap=(SHARE, " / comm.size"),
    hint=[
        "8 rows for 3 processes are 3, 3 and 2. Does a row of the last one count more?",
        "The share is len(my_x) / len(x), not 1 / comm.size.",
    ],
)
gradients.mistake(
    "only the gradients are weighted by the share, the loss is not",
    swap=("comm.Allreduce(row" + SHARE + ", total)", "row[1:] *= len(my_x) / len(x)\n    comm.Allreduce(row, total)"),
    hint=[
        "The gradients are right. And what comes back?",
        "The loss is a mean over rows like the rest: the same share.",
    ],
)
gradients.mistake(
    "the loss that comes back is that of this process's rows",
    swap=("return float(total[0])", "return float(row[0])"),
    hint=["Do all processes return the same?", "The first number of the sum, not of what was sent."],
)
gradients.mistake(
    "an old gradient is still there, and backward adds to it",
    swap=("    for parameter in parameters:\n        parameter.grad = None\n", ""),
    hint=["backward adds to what it finds in grad.", "Set grad to None first."],
)
gradients.mistake(
    "every process differentiates the whole batch",
    swap=("np.array_split(array, comm.size)[comm.rank]", "array"),
    hint=[
        "Then nobody needs the others. How many rows went through your loss_of?",
        "np.array_split(x, comm.size)[comm.rank]",
    ],
)
gradients.mistake(
    "every process takes the rows of process 0",
    swap=("[comm.rank]", "[0]"),
    hint=["Who differentiates the last rows?", "[comm.rank]"],
)
gradients.mistake(
    "nothing is sent: each keeps its own gradient",
    swap=("comm.Allreduce(row" + SHARE + ", total)", "total = row"),
    hint=["No message was sent.", "`comm.Allreduce(row, total)`, then take `total` apart."],
)
gradients.mistake(
    "the sum arrives, but is not written into the gradients",
    swap=("parameter.grad.write(total[", "parameter.grad.write(row["),
    hint=["What do you take apart, what was sent or what arrived?", "`parameter.grad.write(part of total)`"],
)
gradients.mistake(
    "the place in the row does not move on: every parameter gets the part of the first",
    swap=("        begin += grad.size\n", ""),
    hint=["Which part of the row belongs to the second parameter?", "`begin` goes on by grad.size."],
)
gradients.mistake(
    "the first number of the row is the loss, but it is taken for a gradient",
    swap=("begin = 1\n", "begin = 0\n"),
    hint=["What stands at the beginning of your row?", "The gradients begin after the loss."],
)
gradients.mistake(
    "a message for each parameter",
    source="""
def parallel_gradients(comm, loss_of, parameters, x, y):
    my_x, my_y = (np.array_split(array, comm.size)[comm.rank] for array in (x, y))
    for parameter in parameters:
        parameter.grad = None
    with ag.Tape() as tape:
        loss = loss_of(parameters, my_x, my_y)
    tape.backward(loss)
    share = np.float32(len(my_x) / len(x))
    for parameter in parameters:
        total = np.empty(parameter.shape, np.float32)
        comm.Allreduce(parameter.grad.to_host() * share, total)
        parameter.grad.write(total)
    total = np.empty((), np.float32)
    comm.Allreduce(np.array(loss.value.to_host() * share), total)
    return float(total)
""",
    hint=[
        "The numbers are right. Count the messages: a network has hundreds of parameters.",
        "np.concatenate all of them, the loss too, into one row; one Allreduce; then take it apart.",
    ],
)
gradients.mistake(
    "the message is float64: twice as many bytes",
    swap=[(SHARE, " * np.float64(len(my_x) / len(x))"), ("total = np.empty_like(row)", "total = np.empty(row.shape)")],
    hint=[
        "The numbers are right. How many bytes has each?",
        "float32: a plain number times a float32 row stays float32, an np.float64 does not.",
    ],
)
gradients.mistake(
    "the loss that comes back is a Node",
    swap=("return float(total[0])", "return loss"),
    hint=["A Node holds its graph, and it is the loss of a part.", "`float(…)` of what arrived."],
)
gradients.mistake(
    "grad becomes an array, where it was a tensor on the device",
    swap=(
        "parameter.grad.write(total[begin:begin + grad.size].reshape(grad.shape))",
        "parameter.grad = total[begin:begin + grad.size].reshape(grad.shape)",
    ),
    hint=[
        "An optimizer on the device expects a tensor in grad.",
        "`parameter.grad.write(array)`, or `on_device(array)`.",
    ],
)
gradients.variant(
    "the share goes into backward",
    source="""
def parallel_gradients(comm, loss_of, parameters, x, y):
    begin = sum(len(part) for part in np.array_split(x, comm.size)[:comm.rank])
    mine = slice(begin, begin + len(np.array_split(x, comm.size)[comm.rank]))
    share = (mine.stop - mine.start) / len(x)
    for parameter in parameters:
        parameter.grad = None
    with ag.Tape() as tape:
        loss = loss_of(parameters, x[mine], y[mine])
    tape.backward(loss, np.array(share, np.float32))
    pieces = [parameter.grad.to_host().ravel() for parameter in parameters] + [[share * loss.value.to_host().item()]]
    row = np.concatenate(pieces).astype("float32")
    total = np.zeros(row.size, "float32")
    comm.Allreduce(row, total)
    *parts, loss = np.split(total, np.cumsum([len(piece) for piece in pieces])[:-1])
    for parameter, part in zip(parameters, parts):
        parameter.grad = on_device(part.reshape(parameter.shape))
    return loss.item()
""",
)
gradients.variant(
    "the loss is multiplied on the tape, and the row is filled in place",
    source="""
def parallel_gradients(comm, loss_of, parameters, x, y):
    xs, ys = np.array_split(x, comm.Get_size()), np.array_split(y, comm.Get_size())
    me = comm.Get_rank()
    for parameter in parameters:
        parameter.grad = None
    with ag.Tape() as tape:
        part = loss_of(parameters, xs[me], ys[me]) * (len(xs[me]) / len(x))
        tape.backward(part)
    row, total = np.zeros((2, 1 + sum(parameter.size for parameter in parameters)), np.float32)
    at = 0
    for parameter in parameters:
        row[at:at + parameter.size] = parameter.grad.to_host().reshape(-1)
        at += parameter.size
    row[at] = part.value.to_host()
    comm.Allreduce(row, total)
    for parameter in reversed(parameters):
        at -= parameter.size
        parameter.grad.write(total[at:at + parameter.size].reshape(parameter.shape))
    return total[-1]
""",
)
for old, new in (("len(my_x)", "len(my_y)"), ("/ len(x)", "/ len(y)")):
    gradients.variant(f"x and y have the same number of rows: {new}", swap=(old, new))
for old, new in (
    ("total[begin:begin + grad.size]", "total[begin:begin + parameter.size]"),
    ("begin += grad.size", "begin += parameter.size"),
    ("reshape(grad.shape)", "reshape(parameter.shape)"),
    ("zip(parameters, gradients)", "zip(parameters, parameters)"),
):
    gradients.variant(f"a gradient has the shape of its parameter: {new}", swap=(old, new))
gradients.variant(
    "the sum overwrites the row, which is not needed any longer", swap=("total = np.empty_like(row)", "total = row")
)
gradients.variant("NumPy's number is a plain number, too", swap=("float(total[0])", "total[0]"))
gradients.variant("a Node has its numbers from its value", swap=("loss.to_host()", "loss.value.to_host()"))
