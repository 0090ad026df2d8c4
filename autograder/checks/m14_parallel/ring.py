"""Check 2 of lesson 14: the sum over a ring."""

import numpy as np

from autograder.checks.cases import Draft, Source, filled
from autograder.checks.check import exercise

ring = exercise("parallel.ring", "The sum over a ring: messages to the right neighbour alone.")

SIZES = (
    (2, 2),
    (2, 3),
    (3, 3),
    (1, 3),
    (3, 7),
    (2, 1),
    (3, 2),
    (4, 4),
    (5, 3),
    (2, 0),
    (3, 1),
    (4, 9),
    (3, 6),
    (1, 0),
    (5, 10),
)
KINDS = "decimals", "integers", "float32", "whole"


def arrays(size, length, kind, rng):
    tags = ["there is one process"] * (size == 1) + ["some parts are empty"] * (length < size)
    tags += ["the parts are not equally long"] * (length % size > 0)
    return Draft({"arrays": [summands(length, kind, rng) for _ in range(size)]}, tuple(tags))


def summands(length, kind, rng):
    """In float32 only eighths: their sum is exact, in any order."""
    numbers = filled((length,), kind, rng)
    return (numbers * 10).round() / 8 if kind == "float32" else numbers


ARRAYS = Source(
    lambda rng: [arrays(*pair, KINDS[k % 4], rng) for k, pair in enumerate(SIZES)],
    lambda rng: arrays(int(rng.integers(1, 7)), int(rng.integers(0, 15)), KINDS[rng.integers(4)], rng),
)


EXACT = {"rtol": 1e-9, "atol": 1e-11}  # float64, in any order


@ring.aspect("the sum", 2, cases=ARRAYS, few=24, many=80, **EXACT)
def sums(student, case):
    results, _ = student.simulate(lambda comm: student.ring_all_reduce(comm, case.arrays[comm.rank]), len(case.arrays))
    same = all(result.tobytes() == results[0].tobytes() for result in results)
    return {"the sum": results[0], "the same bits everywhere": same}


@ring.aspect("2 (size − 1) messages of one part each", 1, cases=ARRAYS, few=16, many=60, at_most=("largest message",))
def messages(student, case):
    size, length = len(case.arrays), len(case.arrays[0])
    _, sent = student.simulate(lambda comm: student.ring_all_reduce(comm, case.arrays[comm.rank]), size)
    return {
        "messages": " ".join(f"{len(calls)}" for calls in sent),
        "calls": " ".join(sorted({name for calls in sent for name, _ in calls})),
        "largest message": max([nbytes for calls in sent for _, nbytes in calls], default=0),
        "bytes": [sum(nbytes for _, nbytes in calls) for calls in sent]
        if length % size == 0
        else "depends on the order",
    }


@ring.aspect("sent to the right, received from the left", 0.5, corner=True, cases=ARRAYS, few=10, many=30)
def neighbours(student, case):
    class Watched:
        def __init__(self, comm):
            self.comm, self.rank, self.size, self.Get_rank, self.Get_size = (
                comm,
                comm.rank,
                comm.size,
                comm.Get_rank,
                comm.Get_size,
            )

        def sendrecv(self, thing, dest, sendtag=0, recvbuf=None, source=None):
            asked[self.rank].add(f"to {dest}, from {source}")
            return self.comm.sendrecv(thing, dest, source=source)

    size = len(case.arrays)
    asked = [set() for _ in range(size)]
    student.simulate(lambda comm: student.ring_all_reduce(Watched(comm), case.arrays[comm.rank]), size)
    return {f"process {rank}": "; ".join(sorted(each)) for rank, each in enumerate(asked)}


@ring.aspect(
    "a new array of the same type; the given one stays", 0.5, corner=True, cases=ARRAYS, few=10, many=30, **EXACT
)
def new(student, case):
    def program(comm):
        result = student.ring_all_reduce(comm, case.arrays[comm.rank])
        result += 1
        return result

    results, _ = student.simulate(program, len(case.arrays))
    types = " ".join(str(result.dtype) for result in results)
    return {"the sums plus 1": np.array(results), "of type": types, "the arrays afterwards": np.array(case.arrays)}


FIRST, SECOND = "parts[(rank - step) % size], dest", "parts[(rank - step + 1) % size], dest"

ring.mistake(
    "what arrives is added to the part that was sent, not to the one that arrived",
    swap=("here = (rank - step - 1) % size", "here = (rank - step) % size"),
    hint=[
        "Your left neighbour sends its part. Which one is that, seen from you?",
        "It sends (left − k) = (rank − 1 − k): add it to that one.",
    ],
)
ring.mistake(
    "every round sends the same part",
    swap=(FIRST, "parts[rank], dest"),
    hint=["What was just received and added has to travel on.", "In round k: part (rank − k) mod p."],
)
ring.mistake(
    "one round too few in the first loop",
    swap=(
        "range(size - 1):\n        got = comm.sendrecv(parts[(rank - step) %",
        "range(size - 2):\n        got = comm.sendrecv(parts[(rank - step) %",
    ),
    hint=["A part has to visit how many other processes?", "size − 1 rounds in each loop."],
)
ring.mistake(
    "size rounds in each loop: the last one adds, or moves, too much",
    swap=("range(size - 1)", "range(size)"),
    hint=["After size − 1 rounds a part has met everybody.", "range(size - 1)"],
)
ring.mistake(
    "the second loop adds instead of replacing",
    swap=("parts[(rank - step) % size] = got", "parts[(rank - step) % size] = parts[(rank - step) % size] + got"),
    hint=["What arrives in the second loop is complete.", "It replaces what is there."],
)
ring.mistake(
    "the second loop begins with the part of the first one's beginning",
    swap=[(SECOND, FIRST), ("parts[(rank - step) % size] = got", "parts[(rank - step - 1) % size] = got")],
    hint=["Which part is complete in process r after the first loop?", "(r + 1) mod p: begin with that."],
)
ring.mistake(
    "the second loop is missing",
    source="""
def ring_all_reduce(comm, array):
    size, rank = comm.size, comm.rank
    right, left = (rank + 1) % size, (rank - 1) % size
    parts = np.array_split(array, size)
    for step in range(size - 1):
        got = comm.sendrecv(parts[(rank - step) % size], dest=right, source=left)
        here = (rank - step - 1) % size
        parts[here] = parts[here] + got
    return np.concatenate(parts)
""",
    hint=[
        "Each process has one part complete now. Who tells the others?",
        "A second loop hands the complete parts on.",
    ],
)
ring.mistake(
    "the numbers that arrive are added in place, into the caller's array",
    swap=("parts[here] = parts[here] + got", "parts[here] += got"),
    hint=["The parts of np.array_split are views.", "`parts[i] = parts[i] + got` makes a new array."],
)
ring.mistake(
    "everybody sends the whole array on, all around",
    source="""
def ring_all_reduce(comm, array):
    size, rank = comm.size, comm.rank
    total, travelling = array.copy(), array
    for step in range(size - 1):
        travelling = comm.sendrecv(travelling, dest=(rank + 1) % size, source=(rank - 1) % size)
        total = total + travelling
    return total
""",
    hint=["The sum is right. Count the bytes: (p − 1) · n.", "Cut the array in p parts; one part travels at a time."],
)
ring.mistake(
    "the last process has no right neighbour",
    swap=("(rank + 1) % size, (rank - 1) % size\n", "min(rank + 1, size - 1), max(rank - 1, 0)\n"),
    hint=["To the right of the last process sits the first.", "(rank + 1) % size"],
)
ring.mistake(
    "the left neighbour of process 0 is number −1",
    swap=("(rank - 1) % size\n", "rank - 1\n"),
    hint=["To the left of the first process sits the last.", "(rank - 1) % size is never negative."],
)
ring.mistake(
    "the parts are cut too short: what does not divide evenly is lost",
    swap=("np.array_split(array, size)", "list(array[:len(array) // size * size].reshape(size, -1))"),
    hint=["23 numbers for 3 processes: 8, 8 and 7.", "np.array_split(array, size) cuts any length."],
)
ring.mistake(
    "a list of parts comes back",
    swap=("return np.concatenate(parts)", "return parts"),
    hint=["An array like the one that was given.", "np.concatenate(parts)"],
)
ring.variant(
    "around the other way of counting: each process starts with the part to its left",
    source="""
def ring_all_reduce(comm, array):
    p, r = comm.Get_size(), comm.Get_rank()
    pieces = [piece.copy() for piece in np.array_split(array, p)]
    at = (r - 1) % p
    for _ in range(p - 1):
        got = comm.sendrecv(pieces[at], (r + 1) % p, source=(r - 1) % p)
        at = (at - 1) % p
        pieces[at] += got
    for _ in range(p - 1):
        got = comm.sendrecv(pieces[at], (r + 1) % p, source=(r - 1) % p)
        at = (at - 1) % p
        pieces[at] = got
    return np.concatenate(pieces)
""",
)
ring.variant(
    "the part that travels in a variable of its own",
    source="""
def ring_all_reduce(comm, array):
    size, rank = comm.size, comm.rank
    cuts = [len(array) * i // size for i in range(size + 1)]
    if len(array) % size:
        cuts = np.cumsum([0] + [len(part) for part in np.array_split(array, size)])
    result, travelling = array.copy(), None
    for step in range(2 * size - 1):
        i = (rank - step) % size
        place = slice(cuts[i], cuts[i + 1])
        if 0 < step < size:
            travelling = result[place] + travelling
        elif step == 0:
            travelling = result[place].copy()
        if step >= size - 1:
            result[place] = travelling
        if step < 2 * size - 2:
            travelling = comm.sendrecv(travelling, dest=(rank + 1) % size, source=(rank + size - 1) % size)
    return result
""",
)
for old, new in (
    ("parts[(rank - step) % size], dest", "parts[(rank - step)], dest"),
    ("(rank - step - 1) % size", "(rank - step - 1)"),
    ("parts[(rank - step) % size] = got", "parts[(rank - step)] = got"),
):
    ring.variant(f"negative indices count from the end, as the ring does: {new}", swap=(old, new))
ring.variant(
    "here is the right neighbour's number after the first loop",
    swap=("parts[(rank - step + 1) % size], dest=right", "parts[(rank - step + 1) % size], dest=here"),
)
