"""Check 1 of lesson 14: the gradient of a batch from a tape in each process."""

import numpy as np

from autograder.checks.check import check


@check(
    "parallel.gradients",
    points=4,
    rtol=2e-4,
    atol=2e-5,
    device=(
        "3 processes, shares not equal: ∂L/∂w",
        "3 processes, shares not equal: ∂L/∂b",
        "3 processes, shares not equal: the loss",
    ),
)
def parallel_gradients(student, rng, tools):
    """Shares that are equal and not; one message; what was there before."""
    ag = student.ag
    x, y = rng.normal(size=(8, 4)), rng.normal(size=(8, 3))
    first, bias = rng.normal(size=(4, 3)), rng.normal(size=3)
    queue = student.manager.default("auto").queue
    rows = []

    def loss_of(parameters, xs, ys):
        w, b = parameters
        dtype = getattr(w, "value", w).dtype
        rows.append(len(xs))
        xs, ys = (ag.tensor(student.Tensor.from_host(queue, array.astype(dtype), dtype)) for array in (xs, ys))
        return ag.mean(ag.square(ag.matmul(xs, w) + b - ys))

    def run(size, count=8, old=False, times=1):
        def program(comm):
            w, b = (student.Parameter.from_host(queue, array) for array in (first, bias))
            if old:
                w.grad = student.Tensor.from_host(queue, np.full((4, 3), 7.0))
            for _ in range(times):
                loss = student.parallel_gradients(comm, loss_of, [w, b], x[:count], y[:count])
            return {
                "loss": loss,
                "w": w.grad.to_host(),
                "b": b.grad.to_host(),
                "weights": w.to_host(),
                "kind": "a number" if np.isscalar(loss) or isinstance(loss, np.ndarray) else f"a {type(loss).__name__}",
            }

        return student.simulate(program, size)

    def of_all(name, *which, **how):
        found = [result[name] for result in run(*which, **how)[0]]
        return [float(number) for number in found] if name == "loss" else found

    def messages():
        sent = run(3)[1]
        return [len(calls) for calls in sent]

    def nbytes():
        sent = run(3)[1]
        return [sum(size for _, size in calls) for calls in sent]

    def rows_seen():
        rows.clear()
        run(3)
        return sorted(rows)

    def afterwards():
        before = x.copy(), y.copy()
        weights = of_all("weights", 2)
        return [*weights[0].ravel(), *weights[1].ravel(), abs(x - before[0]).max() + abs(y - before[1]).max()]

    return {
        "input": "8 rows of x with 4 numbers, of y with 3; W is (4, 3), b is (3,)",
        "3 processes, shares not equal: ∂L/∂w": lambda: of_all("w", 3),
        "3 processes, shares not equal: ∂L/∂b": lambda: of_all("b", 3),
        "3 processes, shares not equal: the loss": lambda: of_all("loss", 3),
        "2 processes, equal shares: ∂L/∂w": lambda: of_all("w", 2),
        "2 processes, equal shares: the loss": lambda: of_all("loss", 2),
        "5 processes, 7 rows: ∂L/∂b": lambda: of_all("b", 5, 7),
        "one process alone: ∂L/∂w": lambda: of_all("w", 1),
        "w had a gradient before: ∂L/∂w": lambda: of_all("w", 2, old=True),
        "called twice: ∂L/∂b": lambda: of_all("b", 2, times=2),
        "messages of each process": messages,
        "bytes sent by each process": nbytes,
        "rows that went through loss_of, process by process": rows_seen,
        "what comes back is": lambda: of_all("kind", 2),
        "the weights afterwards; how far x and y moved": afterwards,
    }


@parallel_gradients.on_device
def names(on, reference):
    def measured_gradients(comm, loss_of, parameters, x, y):
        arrays = [parameter.to_host() for parameter in parameters]
        found = on.gradients(lambda *nodes: loss_of(nodes, x, y), np.ones(()), *arrays)
        for parameter, gradient in zip(parameters, found):
            parameter.grad = reference["on_device"](gradient)
        return float(on.value(lambda *nodes: loss_of(nodes, x, y), *arrays))

    return {"parallel_gradients": measured_gradients}


SHARE = " * (len(my_x) / len(x))"

parallel_gradients.mistake(
    "the means of the processes are added as they are",
    swap=(SHARE, ""),
    hint=[
        "Twice as many processes, twice the gradient?",
        "Before adding up, each multiplies by its share of the rows: len(my_x) / len(x).",
    ],
)
parallel_gradients.mistake(
    "the mean of the means: each process counts the same, whatever its share",
    swap=(SHARE, " / comm.size"),
    hint=[
        "8 rows for 3 processes are 3, 3 and 2. Does a row of the last one count more?",
        "The share is len(my_x) / len(x), not 1 / comm.size.",
    ],
)
parallel_gradients.mistake(
    "only the gradients are weighted by the share, the loss is not",
    swap=("comm.Allreduce(row" + SHARE + ", total)", "row[1:] *= len(my_x) / len(x)\n    comm.Allreduce(row, total)"),
    hint=[
        "The gradients are right. And what comes back?",
        "The loss is a mean over rows like the rest: the same share.",
    ],
)
parallel_gradients.mistake(
    "the loss that comes back is that of this process's rows",
    swap=("return float(total[0])", "return float(row[0])"),
    hint=["Do all processes return the same?", "The first number of the sum, not of what was sent."],
)
parallel_gradients.mistake(
    "an old gradient is still there, and backward adds to it",
    swap=("    for parameter in parameters:\n        parameter.grad = None\n", ""),
    hint=["backward adds to what it finds in grad.", "Set grad to None first."],
)
parallel_gradients.mistake(
    "every process differentiates the whole batch",
    swap=("np.array_split(array, comm.size)[comm.rank]", "array"),
    hint=[
        "Then nobody needs the others. How many rows went through your loss_of?",
        "np.array_split(x, comm.size)[comm.rank]",
    ],
)
parallel_gradients.mistake(
    "every process takes the rows of process 0",
    swap=("[comm.rank]", "[0]"),
    hint=["Who differentiates the last rows?", "[comm.rank]"],
)
parallel_gradients.mistake(
    "nothing is sent: each keeps its own gradient",
    swap=("comm.Allreduce(row" + SHARE + ", total)", "total = row"),
    hint=["No message was sent.", "`comm.Allreduce(row, total)`, then take `total` apart."],
)
parallel_gradients.mistake(
    "the sum arrives, but is not written into the gradients",
    swap=("parameter.grad.write(total[", "parameter.grad.write(row["),
    hint=["What do you take apart, what was sent or what arrived?", "`parameter.grad.write(part of total)`"],
)
parallel_gradients.mistake(
    "the place in the row does not move on: every parameter gets the part of the first",
    swap=("        begin += grad.size\n", ""),
    hint=["Which part of the row belongs to the second parameter?", "`begin` goes on by grad.size."],
)
parallel_gradients.mistake(
    "the first number of the row is the loss, but it is taken for a gradient",
    swap=("begin = 1\n", "begin = 0\n"),
    hint=["What stands at the beginning of your row?", "The gradients begin after the loss."],
)
parallel_gradients.mistake(
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
parallel_gradients.mistake(
    "the message is float64: twice as many bytes",
    swap=[(SHARE, " * np.float64(len(my_x) / len(x))"), ("total = np.empty_like(row)", "total = np.empty(row.shape)")],
    hint=[
        "The numbers are right. How many bytes has each?",
        "float32: a plain number times a float32 row stays float32, an np.float64 does not.",
    ],
)
parallel_gradients.mistake(
    "the loss that comes back is a Node",
    swap=("return float(total[0])", "return loss"),
    hint=["A Node holds its graph, and it is the loss of a part.", "`float(…)` of what arrived."],
)
parallel_gradients.mistake(
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
parallel_gradients.variant(
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
parallel_gradients.variant(
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
    parallel_gradients.variant(f"x and y have the same number of rows: {new}", swap=(old, new))
for old, new in (
    ("total[begin:begin + grad.size]", "total[begin:begin + parameter.size]"),
    ("begin += grad.size", "begin += parameter.size"),
    ("reshape(grad.shape)", "reshape(parameter.shape)"),
    ("zip(parameters, gradients)", "zip(parameters, parameters)"),
):
    parallel_gradients.variant(f"a gradient has the shape of its parameter: {new}", swap=(old, new))
parallel_gradients.variant(
    "the sum overwrites the row, which is not needed any longer", swap=("total = np.empty_like(row)", "total = row")
)
parallel_gradients.variant("NumPy's number is a plain number, too", swap=("float(total[0])", "total[0]"))
parallel_gradients.variant("a Node has its numbers from its value", swap=("loss.to_host()", "loss.value.to_host()"))
