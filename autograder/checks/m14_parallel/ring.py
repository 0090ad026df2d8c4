"""Check 2 of lesson 14: the sum over a ring."""

import numpy as np

from autograder.checks.check import check


@check("parallel.ring", points=4)
def parallel_ring(student, rng, tools):
    """Rings of several sizes; messages and bytes counted."""
    arrays = rng.normal(size=(5, 23))

    def run(size, length=23):
        given = arrays[:size, :length].copy()
        results, sent = student.simulate(lambda comm: student.ring_all_reduce(comm, given[comm.rank]), size)
        return np.array(results), sent, given

    def nbytes(size, length):
        return [sum(number for _, number in calls) for calls in run(size, length)[1]]

    def integers():
        whole = np.arange(10) * np.arange(1, 4)[:, None]
        return student.simulate(lambda comm: student.ring_all_reduce(comm, whole[comm.rank]), 3)[0]

    def in_place():
        _, _, given = run(4)
        return [abs(given - arrays[:4]).max(), float(arrays.sum())]

    def own_array():
        """Writing into the result must leave what was given alone."""
        given = arrays[:3].copy()

        def program(comm):
            result = student.ring_all_reduce(comm, given[comm.rank])
            result += 1
            return result

        student.simulate(program, 3)
        return given

    def alone():
        given = arrays[:1].copy()
        (result,) = student.simulate(lambda comm: student.ring_all_reduce(comm, given[0]), 1)[0]
        result += 1
        return given

    def to_the_right(size=4):
        """Whom each process sends to, and listens to."""
        asked = [set() for _ in range(size)]

        class Watched:
            def __init__(self, comm):
                self.comm, self.rank, self.size = comm, comm.rank, comm.size

            def Get_rank(self):
                return self.rank

            def Get_size(self):
                return self.size

            def sendrecv(self, thing, dest, sendtag=0, recvbuf=None, source=None):
                asked[self.rank] |= {dest, source + 10}
                return self.comm.sendrecv(thing, dest, source=source)

        student.simulate(lambda comm: student.ring_all_reduce(Watched(comm), arrays[comm.rank].copy()), size)
        return [sorted(each) for each in asked]

    return {
        "input": "arrays of 23 random numbers, or as many as are named; process r has the r-th",
        "3 processes: the sum": lambda: run(3)[0],
        "2 processes: the sum": lambda: run(2)[0],
        "5 processes, 20 numbers: the sum": lambda: run(5, 20)[0],
        "5 processes, 3 numbers: the sum": lambda: run(5, 3)[0],
        "integers: the sum": integers,
        "4 processes: largest difference between two of them": lambda: [np.ptp(run(4)[0], axis=0).max(), *run(4)[0][0]],
        "messages of each process, 3 processes": lambda: [len(calls) for calls in run(3)[1]],
        "messages of each process, 5 processes": lambda: [len(calls) for calls in run(5)[1]],
        "bytes sent by each process, 4 processes, 20 numbers": lambda: nbytes(4, 20),
        "largest message, 4 processes, 20 numbers": lambda: max(
            number for calls in run(4, 20)[1] for _, number in calls
        ),
        "4 processes: whom they send to, whom they listen to (+ 10)": to_the_right,
        "how far the caller's arrays moved; their sum": in_place,
        "the caller's arrays, after 1 was added to the results": own_array,
        "one process: its array, after 1 was added to the result": alone,
    }


FIRST, SECOND = "parts[(rank - step) % size], dest", "parts[(rank - step + 1) % size], dest"

parallel_ring.mistake(
    "what arrives is added to the part that was sent, not to the one that arrived",
    swap=("here = (rank - step - 1) % size", "here = (rank - step) % size"),
    hint=[
        "Your left neighbour sends its part. Which one is that, seen from you?",
        "It sends (left − k) = (rank − 1 − k): add it to that one.",
    ],
)
parallel_ring.mistake(
    "every round sends the same part",
    swap=(FIRST, "parts[rank], dest"),
    hint=["What was just received and added has to travel on.", "In round k: part (rank − k) mod p."],
)
parallel_ring.mistake(
    "one round too few in the first loop",
    swap=(
        "range(size - 1):\n        got = comm.sendrecv(parts[(rank - step) %",
        "range(size - 2):\n        got = comm.sendrecv(parts[(rank - step) %",
    ),
    hint=["A part has to visit how many other processes?", "size − 1 rounds in each loop."],
)
parallel_ring.mistake(
    "size rounds in each loop: the last one adds, or moves, too much",
    swap=("range(size - 1)", "range(size)"),
    hint=["After size − 1 rounds a part has met everybody.", "range(size - 1)"],
)
parallel_ring.mistake(
    "the second loop adds instead of replacing",
    swap=("parts[(rank - step) % size] = got", "parts[(rank - step) % size] = parts[(rank - step) % size] + got"),
    hint=["What arrives in the second loop is complete.", "It replaces what is there."],
)
parallel_ring.mistake(
    "the second loop begins with the part of the first one's beginning",
    swap=[(SECOND, FIRST), ("parts[(rank - step) % size] = got", "parts[(rank - step - 1) % size] = got")],
    hint=["Which part is complete in process r after the first loop?", "(r + 1) mod p: begin with that."],
)
parallel_ring.mistake(
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
parallel_ring.mistake(
    "the numbers that arrive are added in place, into the caller's array",
    swap=("parts[here] = parts[here] + got", "parts[here] += got"),
    hint=["The parts of np.array_split are views.", "`parts[i] = parts[i] + got` makes a new array."],
)
parallel_ring.mistake(
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
parallel_ring.mistake(
    "the last process has no right neighbour",
    swap=("(rank + 1) % size, (rank - 1) % size\n", "min(rank + 1, size - 1), max(rank - 1, 0)\n"),
    hint=["To the right of the last process sits the first.", "(rank + 1) % size"],
)
parallel_ring.mistake(
    "the left neighbour of process 0 is number −1",
    swap=("(rank - 1) % size\n", "rank - 1\n"),
    hint=["To the left of the first process sits the last.", "(rank - 1) % size is never negative."],
)
parallel_ring.mistake(
    "the parts are cut too short: what does not divide evenly is lost",
    swap=("np.array_split(array, size)", "list(array[:len(array) // size * size].reshape(size, -1))"),
    hint=["23 numbers for 3 processes: 8, 8 and 7.", "np.array_split(array, size) cuts any length."],
)
parallel_ring.mistake(
    "a list of parts comes back",
    swap=("return np.concatenate(parts)", "return parts"),
    hint=["An array like the one that was given.", "np.concatenate(parts)"],
)
parallel_ring.variant(
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
parallel_ring.variant(
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
    parallel_ring.variant(f"negative indices count from the end, as the ring does: {new}", swap=(old, new))
parallel_ring.variant(
    "here is the right neighbour's number after the first loop",
    swap=("parts[(rank - step + 1) % size], dest=right", "parts[(rank - step + 1) % size], dest=here"),
)
