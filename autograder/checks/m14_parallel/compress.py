"""Check 5 of lesson 14: few numbers sent, the rest kept."""

import numpy as np

from autograder.checks.cases import Draft, Source
from autograder.checks.check import exercise

compress = exercise("parallel.compress", "The few largest numbers are sent, and the rest is kept for later.")

SIZES = [  # processes, rounds, numbers, keep
    (1, 1, 2, 1), (1, 2, 3, 1), (2, 1, 3, 1), (1, 3, 4, 2), (2, 2, 3, 2), (3, 2, 4, 1), (1, 2, 1, 1), (1, 4, 5, 2), (2, 3, 5, 3), (3, 3, 6, 2), (1, 2, 3, 3),
    (4, 2, 3, 1),
]  # fmt: skip


def gradients(processes, rounds, numbers, keep, rng):
    """A list of gradients for each process; at no time are two numbers equally large in size."""
    while True:
        given = rng.normal(size=(processes, rounds, numbers)).round(2)
        if not any(ties(of_one, keep) for of_one in given):
            tags = ["several processes"] * (processes > 1) + ["there are several rounds"] * (rounds > 1)
            return Draft({"given": list(map(list, given)), "keep": keep}, tuple(tags[1:] if processes < 2 else tags))


def ties(gradients, keep):
    rest = np.zeros(gradients.shape[1])
    for gradient in gradients:
        rest = rest + gradient
        if np.diff(np.sort(abs(rest))).min(initial=1) < 0.005:
            return True
        rest[np.argsort(-abs(rest))[:keep]] = 0
    return False


def drawn(rng):
    numbers = int(rng.integers(1, 7))
    return gradients(int(rng.integers(1, 5)), int(rng.integers(1, 5)), numbers, int(rng.integers(1, numbers + 1)), rng)


GRADIENTS = Source(lambda rng: [gradients(*sizes, rng) for sizes in SIZES], drawn)


@compress.aspect("what is chosen", 1.5, cases=GRADIENTS, few=15, many=70)
def chosen(student, case):
    """A compressor for each list of gradients, all in turn."""
    compressors, found = [student.Compressor(case.keep) for _ in case.given], []
    for of_round in zip(*case.given):
        found += [compressor.select(gradient) for compressor, gradient in zip(compressors, of_round)]
    yield
    rows = [(0 * case.given[0][0], len(indices), len(values)) for indices, values in found]
    for (row, _, _), (indices, values) in zip(rows, found):
        row[np.asarray(indices, int)] = values
    return {f"call {k + 1}": {"chosen": row, "lengths": lengths} for k, (row, *lengths) in enumerate(rows)}


@compress.aspect("the rest, and the gradient as it was", 1, cases=GRADIENTS, few=14, many=60)
def rests(student, case):
    compressor = student.Compressor(case.keep)
    found = {"at first": compressor.rest + 0 * case.given[0][0]}
    for k, gradient in enumerate(case.given[0]):
        compressor.select(gradient)
        found[f"after call {k + 1}"] = np.array(compressor.rest)
    return found | {"the gradients afterwards": case.given[0]}


@compress.aspect("the sum of all processes", 1, cases=GRADIENTS, few=14, many=60)
def sums(student, case):
    def program(comm):
        compressor = student.Compressor(case.keep)
        found = [compressor.all_reduce(comm, gradient) for gradient in case.given[comm.rank]]
        return np.array([*found, compressor.rest])

    return {f"process {rank}": found for rank, found in enumerate(student.simulate(program, len(case.given))[0])}


@compress.aspect(
    "one short message",
    0.5,
    corner=True,
    cases=GRADIENTS,
    few=14,
    many=60,
    at_most=("messages of a process", "bytes in a message"),
)
def messages(student, case):
    def program(comm):
        compressor = student.Compressor(case.keep)
        return [compressor.all_reduce(comm, gradient) for gradient in case.given[comm.rank]]

    _, sent = student.simulate(program, len(case.given))
    return {
        "messages of a process": max(map(len, sent)),
        "bytes in a message": max(nbytes for calls in sent for _, nbytes in calls),
        "calls": " ".join(sorted({name for calls in sent for name, _ in calls})),
    }


compress.mistake(
    "what is not sent is thrown away",
    swap=("self.rest[indices] = 0", "self.rest = 0"),
    hint=["What becomes of the second largest number?", "It stays in the rest."],
)
compress.mistake(
    "the choice looks at the gradient alone, not at gradient + rest",
    swap=("np.argsort(-abs(self.rest))", "np.argsort(-abs(gradient))"),
    hint=[
        "A small number that was never sent grows in the rest. Does it ever get its turn?",
        "Choose by the size of gradient + rest.",
    ],
)
compress.mistake(
    "what is sent stays in the rest, too, and is sent again",
    swap=("        self.rest[indices] = 0\n", ""),
    hint=["Sent is sent.", "Set the rest to 0 where something was sent."],
)
compress.mistake(
    "the largest are chosen without regard to size below zero",
    swap=("-abs(self.rest)", "-self.rest"),
    hint=["−3 is large, too.", "By abs(…)."],
)
compress.mistake(
    "the smallest are chosen",
    swap=("-abs(self.rest)", "abs(self.rest)"),
    hint=["np.argsort puts the smallest first.", "argsort of minus abs, or take from the end."],
)
compress.mistake(
    "the gradient's numbers are sent, without the rest",
    swap=("values = self.rest[indices]", "values = gradient[indices]"),
    hint=["What was kept has to be sent some day.", "gradient + rest at these indices."],
)
compress.mistake(
    "the sizes are sent, without their signs",
    swap=("values = self.rest[indices]", "values = abs(self.rest)[indices]"),
    hint=["abs is for choosing.", "Send the numbers as they are."],
)
compress.mistake(
    "the rest is replaced by the new gradient's, not added to",
    swap=("self.rest = self.rest + gradient", "carried, self.rest = self.rest + gradient, gradient.copy()"),
    hint=["What is left of earlier calls?", "rest + gradient, less what is sent."],
)
compress.mistake(
    "a view is sent, and set to 0 afterwards",
    swap=(
        "values = self.rest[indices]\n        self.rest[indices] = 0",
        "self.rest[indices] = 0\n        values = self.rest[indices]",
    ),
    hint=["In which order: take, then set to 0.", "`values = rest[indices]` first."],
)
compress.mistake(
    "the caller's gradient becomes the rest, and is changed",
    swap=("self.rest = self.rest + gradient", "gradient += self.rest\n        self.rest = gradient"),
    hint=["`gradient += …` writes into the caller's array.", "`self.rest = self.rest + gradient` makes a new one."],
)
compress.mistake(
    "the first `keep` numbers are sent",
    swap=("np.argsort(-abs(self.rest))[:self.keep]", "np.arange(self.keep)"),
    hint=["Which numbers are the largest?", "np.argsort(-abs(…))[:keep]"],
)
compress.mistake(
    "where two processes chose the same index, the last one counts",
    swap=("total[indices] += values", "total[indices] = values"),
    hint=["Two processes may choose the same index.", "`+=`"],
)
compress.mistake(
    "the whole gradients are sent around, with zeros in them",
    swap=[
        (
            "for indices, values in comm.allgather(self.select(gradient)):\n            total[indices] += values",
            "indices, values = self.select(gradient)\n        mine = np.zeros_like(gradient)\n        mine[indices] = values\n        comm.Allreduce(mine, total)",
        )
    ],
    hint=["Zeros cost as much as other numbers.", "comm.allgather(the pair of indices and values)"],
)
compress.mistake(
    "the sum is divided by the number of processes",
    swap=("return total", "return total / comm.size"),
    hint="The sum was asked for.",
)
compress.mistake(
    "one rest for all objects: it is kept in the class",
    swap=[
        ("self.keep = keep\n        self.rest = 0", "self.keep = keep\n        Compressor.rest = 0"),
        ("self.rest = self.rest + gradient", "Compressor.rest = self.rest + gradient"),
    ],
    hint=["Each process, and each layer, has its own rest.", "self.rest"],
)
compress.variant(
    "argpartition, and a mask",
    source="""
class Compressor:
    def __init__(self, keep):
        self.keep, self.rest = keep, 0.0

    def select(self, gradient):
        total = np.asarray(gradient) + self.rest
        chosen = np.zeros(total.shape, dtype=bool)
        chosen[np.argpartition(abs(total), -self.keep)[-self.keep:]] = True
        self.rest = np.where(chosen, 0, total)
        return np.flatnonzero(chosen), total[chosen]

    def all_reduce(self, comm, gradient):
        everybody = comm.allgather(self.select(gradient))
        total = np.zeros(gradient.size)
        for pair in everybody:
            np.add.at(total, *pair)
        return total
""",
)
compress.variant(
    "one by one, with lists",
    source="""
class Compressor:
    def __init__(self, keep):
        self.keep = keep
        self.rest = None

    @property
    def rest(self):
        return 0 if self.left is None else np.array(self.left)

    @rest.setter
    def rest(self, value):
        self.left = value

    def select(self, gradient):
        left = [0.0] * len(gradient) if self.left is None else self.left
        left = [a + b for a, b in zip(left, gradient)]
        order = sorted(range(len(left)), key=lambda i: abs(left[i]), reverse=True)[:self.keep]
        values = np.array([left[i] for i in order])
        for i in order:
            left[i] = 0.0
        self.left = left
        return np.array(order), values

    def all_reduce(self, comm, gradient):
        pairs = comm.allgather(self.select(gradient))
        return sum(np.bincount(i, weights=v, minlength=len(gradient)) for i, v in pairs)
""",
)
