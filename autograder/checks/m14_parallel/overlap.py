"""Check 6 of lesson 14: messages on their way while the next gradient is computed."""

import numpy as np

from autograder.checks.check import check


@check("parallel.overlap", points=4)
def parallel_overlap(student, rng, tools):
    """The sums, and what happens in which order."""
    lengths = [2, 3, 1, 6, 4]
    arrays = [[rng.normal(size=n) for n in lengths] for _ in range(3)]

    class Watched:
        """The communicator, with a note of each call."""

        def __init__(self, comm, notes):
            self.comm, self.notes, self.rank, self.size = comm, notes, comm.rank, comm.size

        def Iallreduce(self, send, receive):
            self.notes.append(f"send {send.size}")
            return Noted(self.comm.Iallreduce(send, receive), self.notes)

    class Noted:
        """A request, with a note of its Wait."""

        def __init__(self, request, notes):
            self.request, self.notes = request, notes

        def Wait(self):
            self.notes.append("wait")
            self.request.Wait()

        wait = Wait

    def run(bucket, size=3, count=5):
        notes = [[] for _ in range(size)]

        def program(comm):
            def computed():
                for i, array in enumerate(arrays[comm.rank][:count]):
                    notes[comm.rank].append(f"gradient {i}")
                    yield array.copy()

            return student.overlapped(Watched(comm, notes[comm.rank]), computed(), bucket)

        results, _ = student.simulate(program, size)
        return results, notes

    def sums(*which, **how):
        return np.array([np.concatenate([np.ravel(part) for part in result]) for result in run(*which, **how)[0]])

    def order(bucket):
        notes = run(bucket)[1][1]
        return ", ".join(note for note in notes if note != "wait")

    def waits(bucket):
        """How many, and how many come before the last message is sent."""
        notes = run(bucket)[1][0]
        last = max(i for i, note in enumerate(notes) if note.startswith("send"))
        return [notes.count("wait"), notes[:last].count("wait")]

    def untouched():
        given = [[array.copy() for array in of_one] for of_one in arrays]
        student.simulate(lambda comm: student.overlapped(comm, iter(given[comm.rank]), 4), 3)
        return np.concatenate([array for of_one in given for array in of_one])

    return {
        "input": f"gradients of {lengths} numbers, 3 processes",
        "buckets of 4: the sums": lambda: sums(4),
        "buckets of 1: the sums": lambda: sums(1),
        "one bucket for all: the sums": lambda: sums(100),
        "buckets of 6, nothing left at the end: the sums": lambda: sums(6, count=4),
        "2 processes, one gradient: the sums": lambda: sums(4, 2, 1),
        "the lengths of the sums": lambda: [np.size(part) for part in run(4)[0][2]],
        "buckets of 4: what happens, in order": lambda: order(4),
        "buckets of 6: what happens, in order": lambda: order(6),
        "buckets of 3: what happens, in order": lambda: order(3),
        "one bucket for all: what happens, in order": lambda: order(100),
        "buckets of 4: waits, and how many before the last message": lambda: waits(4),
        "buckets of 1: waits, and how many before the last message": lambda: waits(1),
        "the gradients afterwards": untouched,
    }


parallel_overlap.mistake(
    "all gradients are computed before the first message",
    swap=("for gradient in gradients:", "for gradient in list(gradients):"),
    hint=[
        "Look at the order of what happens: all gradients, then all messages.",
        "list(…) asks for all. Loop over the iterator itself.",
    ],
)
parallel_overlap.mistake(
    "each message is waited for at once: nothing overlaps",
    swap=(
        "requests.append(comm.Iallreduce(*arrays[-1]))",
        "requests.append(comm.Iallreduce(*arrays[-1]))\n        requests[-1].Wait()",
    ),
    hint=["Between start and Wait the next gradient should be computed.", "Wait after the loop."],
)
parallel_overlap.mistake(
    "what is left in the last bucket is never sent",
    swap=("    if collected:\n        send()\n", ""),
    hint=["The last bucket is rarely full.", "After the loop: if something is collected, send it."],
)
parallel_overlap.mistake(
    "at the end the bucket is sent even if nothing is in it",
    swap=("    if collected:\n        send()\n", "    send()\n"),
    hint=["What if the last gradient has just filled the bucket?", "Send at the end only if something is collected."],
)
parallel_overlap.mistake(
    "an empty array more comes back: np.split at the last length, too",
    swap=("np.cumsum(lengths)[:-1]", "np.cumsum(lengths)"),
    hint=["How many sums came back?", "np.split cuts between the parts: np.cumsum(lengths)[:-1]."],
)
parallel_overlap.mistake(
    "only the last request is waited for",
    swap=("for request in requests:\n        request.Wait()", "requests[-1].Wait()"),
    hint=["NaN: room that was read before its sum was there.", "Wait for each request."],
)
parallel_overlap.mistake(
    "nobody waits",
    swap=("    for request in requests:\n        request.Wait()\n", ""),
    hint=["NaN: the sums are not there yet.", "Wait for each request."],
)
parallel_overlap.mistake(
    "a bucket has to be more than full",
    swap=(">= bucket", "> bucket"),
    hint=["Six numbers in a bucket of six.", "`>=`"],
)
parallel_overlap.mistake(
    "the bucket counts gradients, not numbers",
    swap=("sum(part.size for part in collected) >= bucket", "len(collected) >= bucket"),
    hint=["How many numbers are collected?", "The sum of their sizes."],
)
parallel_overlap.mistake(
    "a message for each gradient, however small",
    swap=("if sum(part.size for part in collected) >= bucket:", "if collected:"),
    hint=["A bucket is collected first.", "Send when the bucket is full."],
)
parallel_overlap.mistake(
    "the bucket is not emptied: what was sent is sent again",
    swap=("        collected.clear()\n", ""),
    hint=["What is in the bucket after it was sent?", "Empty it."],
)
parallel_overlap.mistake(
    "only the gradient that fills the bucket is counted",
    swap=("sum(part.size for part in collected) >= bucket", "gradient.size >= bucket"),
    hint=["2 and 3 numbers together fill a bucket of 4.", "Count all that is collected."],
)
parallel_overlap.mistake(
    "one array is used for all messages: it is changed while it is being sent",
    source="""
def overlapped(comm, gradients, bucket):
    requests, results, lengths, filled = [], [], [], 0
    message = np.zeros(1000)
    for gradient in gradients:
        lengths.append(gradient.size)
        message[filled:filled + gradient.size] = gradient
        filled += gradient.size
        if filled >= bucket:
            results.append(np.empty(filled))
            requests.append(comm.Iallreduce(message[:filled], results[-1]))
            filled = 0
    if filled:
        results.append(np.empty(filled))
        requests.append(comm.Iallreduce(message[:filled], results[-1]))
    for request in requests:
        request.Wait()
    return np.split(np.concatenate(results), np.cumsum(lengths)[:-1])
""",
    hint=["Until Wait, the array belongs to MPI.", "A new array for each message: np.concatenate makes one."],
)
parallel_overlap.mistake(
    "the sums of the buckets come back, not those of the gradients",
    swap=("return np.split(total, np.cumsum(lengths)[:-1])", "return [received for _, received in arrays]"),
    hint=["One sum for each gradient, in its length.", "Concatenate what arrived, and split it at the lengths."],
)
parallel_overlap.mistake(
    "the sums come back in the order of the layers, first layer first",
    swap=("return np.split(total, np.cumsum(lengths)[:-1])", "return np.split(total, np.cumsum(lengths)[:-1])[::-1]"),
    hint="In the order in which the gradients came.",
)
parallel_overlap.variant(
    "next() by hand, a message written into room of its own",
    source="""
def overlapped(comm, gradients, bucket):
    flying, now, owners = [], [], []
    gradients = iter(gradients)
    while True:
        gradient = next(gradients, None)
        if gradient is not None:
            now.append(gradient)
        if now and (gradient is None or sum(map(len, now)) >= bucket):
            message = np.hstack(now)
            room = np.zeros(message.shape)
            flying.append((comm.Iallreduce(message, room), message, room))
            owners.append([len(part) for part in now])
            now = []
        if gradient is None:
            break
    sums = []
    for (request, _, room), sizes in zip(flying, owners):
        request.wait()
        for size in sizes:
            sums.append(room[:size].copy())
            room = room[size:]
    return sums
""",
)
parallel_overlap.variant(
    "a running count, waits from the end",
    source="""
def overlapped(comm, gradients, bucket):
    requests, rooms, kept, parts, count, result = [], [], [], [], 0, []

    def flush():
        kept.append(np.concatenate(parts))
        rooms.append((np.full(kept[-1].size, -1.0), [part.size for part in parts]))
        requests.append(comm.Iallreduce(kept[-1], rooms[-1][0]))

    for gradient in gradients:
        parts.append(gradient)
        count += gradient.size
        if bucket <= count:
            flush()
            parts, count = [], 0
    if count > 0:
        flush()
    for request in reversed(requests):
        request.Wait()
    for room, sizes in rooms:
        result += np.split(room, np.cumsum(sizes[:-1]))
    return result
""",
)
