"""Check 5 of lesson 14: few numbers sent, the rest kept."""

import numpy as np

from autograder.checks.check import check


@check("parallel.compress", points=4)
def parallel_compress(student, rng, tools):
    """What is chosen, what is left, over several calls and processes."""
    gradients = rng.normal(size=(4, 9)) * rng.uniform(0.5, 2, size=9)
    many = rng.normal(size=(3, 3, 9))  # round, process, number

    def dense(pair):
        indices, values = pair
        array = np.zeros(9)
        array[np.asarray(indices, dtype=int)] = values
        return array

    def selected(keep=3, calls=4):
        compressor = student.Compressor(keep)
        return [dense(compressor.select(gradient.copy())) for gradient in gradients[:calls]]

    def rests(keep=3, calls=4):
        compressor = student.Compressor(keep)
        found = []
        for gradient in gradients[:calls]:
            compressor.select(gradient.copy())
            found.append(np.array(compressor.rest))
        return found

    def sorted_indices():
        compressor = student.Compressor(2)
        return [np.sort(compressor.select(gradient.copy())[0]) for gradient in gradients]

    def at_first():
        return np.array(student.Compressor(3).rest) + np.zeros(9), rests(calls=1)[0]

    def untouched():
        compressor, given = student.Compressor(3), gradients.copy()
        for gradient in given:
            compressor.select(gradient)
        return given

    def values_stay():
        """What one call returned must not change with the next."""
        compressor = student.Compressor(3)
        pairs = [compressor.select(gradient.copy()) for gradient in gradients]
        return [dense(pair) for pair in pairs]

    def two_objects():
        one, other = student.Compressor(2), student.Compressor(4)
        pairs = []
        for a, b in zip(gradients[:2], gradients[2:]):
            pairs += [dense(one.select(a.copy())), dense(other.select(b.copy()))]
        return pairs

    def together(keep=3):
        def program(comm):
            compressor = student.Compressor(keep)
            return [compressor.all_reduce(comm, of_round[comm.rank].copy()) for of_round in many]

        return student.simulate(program, 3)

    def nothing_lost():
        """Σ sent + Σ rests, less Σ gradients."""

        def program(comm):
            compressor = student.Compressor(2)
            sent = sum(compressor.all_reduce(comm, of_round[comm.rank].copy()) for of_round in many)
            return sent, np.array(compressor.rest)

        results = student.simulate(program, 3)[0]
        return [results[0][0] + sum(rest for _, rest in results) - many.sum((0, 1)), results[0][0]]

    return {
        "input": "gradients of 9 random numbers, keep = 3 unless named",
        "one call: what is sent": lambda: selected(calls=1)[0],
        "four calls: what is sent": selected,
        "keep = 1, four calls: what is sent": lambda: selected(1),
        "keep = 9, four calls: what is sent": lambda: selected(9),
        "four calls: the rest after each": rests,
        "the rest before the first call, and after it": at_first,
        "keep = 2: the indices, sorted": sorted_indices,
        "the gradients afterwards": untouched,
        "what earlier calls returned, after four": values_stay,
        "two compressors in turn: what is sent": two_objects,
        "3 processes, 3 rounds: the sums": lambda: together()[0],
        "3 processes: messages": lambda: [len(calls) for calls in together()[1]],
        "3 processes: numbers in a message": lambda: [[size // 8 for _, size in calls] for calls in together(4)[1]],
        "sent and left, less what came in; what was sent": nothing_lost,
    }


parallel_compress.mistake(
    "what is not sent is thrown away",
    swap=("self.rest[indices] = 0", "self.rest = 0"),
    hint=["What becomes of the second largest number?", "It stays in the rest."],
)
parallel_compress.mistake(
    "the choice looks at the gradient alone, not at gradient + rest",
    swap=("np.argsort(-abs(self.rest))", "np.argsort(-abs(gradient))"),
    hint=[
        "A small number that was never sent grows in the rest. Does it ever get its turn?",
        "Choose by the size of gradient + rest.",
    ],
)
parallel_compress.mistake(
    "what is sent stays in the rest, too, and is sent again",
    swap=("        self.rest[indices] = 0\n", ""),
    hint=["Sent is sent.", "Set the rest to 0 where something was sent."],
)
parallel_compress.mistake(
    "the largest are chosen without regard to size below zero",
    swap=("-abs(self.rest)", "-self.rest"),
    hint=["−3 is large, too.", "By abs(…)."],
)
parallel_compress.mistake(
    "the smallest are chosen",
    swap=("-abs(self.rest)", "abs(self.rest)"),
    hint=["np.argsort puts the smallest first.", "argsort of minus abs, or take from the end."],
)
parallel_compress.mistake(
    "the gradient's numbers are sent, without the rest",
    swap=("values = self.rest[indices]", "values = gradient[indices]"),
    hint=["What was kept has to be sent some day.", "gradient + rest at these indices."],
)
parallel_compress.mistake(
    "the sizes are sent, without their signs",
    swap=("values = self.rest[indices]", "values = abs(self.rest)[indices]"),
    hint=["abs is for choosing.", "Send the numbers as they are."],
)
parallel_compress.mistake(
    "the rest is replaced by the new gradient's, not added to",
    swap=("self.rest = self.rest + gradient", "carried, self.rest = self.rest + gradient, gradient.copy()"),
    hint=["What is left of earlier calls?", "rest + gradient, less what is sent."],
)
parallel_compress.mistake(
    "a view is sent, and set to 0 afterwards",
    swap=(
        "values = self.rest[indices]\n        self.rest[indices] = 0",
        "self.rest[indices] = 0\n        values = self.rest[indices]",
    ),
    hint=["In which order: take, then set to 0.", "`values = rest[indices]` first."],
)
parallel_compress.mistake(
    "the caller's gradient becomes the rest, and is changed",
    swap=("self.rest = self.rest + gradient", "gradient += self.rest\n        self.rest = gradient"),
    hint=["`gradient += …` writes into the caller's array.", "`self.rest = self.rest + gradient` makes a new one."],
)
parallel_compress.mistake(
    "the first `keep` numbers are sent",
    swap=("np.argsort(-abs(self.rest))[:self.keep]", "np.arange(self.keep)"),
    hint=["Which numbers are the largest?", "np.argsort(-abs(…))[:keep]"],
)
parallel_compress.mistake(
    "where two processes chose the same index, the last one counts",
    swap=("total[indices] += values", "total[indices] = values"),
    hint=["Two processes may choose the same index.", "`+=`"],
)
parallel_compress.mistake(
    "the whole gradients are sent around, with zeros in them",
    swap=[
        (
            "for indices, values in comm.allgather(self.select(gradient)):\n            total[indices] += values",
            "indices, values = self.select(gradient)\n        mine = np.zeros_like(gradient)\n        mine[indices] = values\n        comm.Allreduce(mine, total)",
        )
    ],
    hint=["Zeros cost as much as other numbers.", "comm.allgather(the pair of indices and values)"],
)
parallel_compress.mistake(
    "the sum is divided by the number of processes",
    swap=("return total", "return total / comm.size"),
    hint="The sum was asked for.",
)
parallel_compress.mistake(
    "one rest for all objects: it is kept in the class",
    swap=[
        ("self.keep = keep\n        self.rest = 0", "self.keep = keep\n        Compressor.rest = 0"),
        ("self.rest = self.rest + gradient", "Compressor.rest = self.rest + gradient"),
    ],
    hint=["Each process, and each layer, has its own rest.", "self.rest"],
)
parallel_compress.variant(
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
parallel_compress.variant(
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
