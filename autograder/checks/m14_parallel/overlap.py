"""Check 6 of lesson 14: messages on their way while the next gradient is computed."""

import math

import numpy as np

from autograder.checks.cases import Draft, Source, choice, filled
from autograder.checks.check import exercise

overlap = exercise("parallel.overlap", "Gradients are sent in buckets while the next ones are computed.")

SIZES = [  # processes, lengths of the gradients, bucket
    (2, [2], 2), (1, [1, 2], 2), (2, [2, 3, 1], 4), (2, [1, 1], 5), (2, [2, 3, 1, 6, 4], 4), (3, [1, 2, 1], 1), (2, [2, 2, 2], math.inf), (2, [3, 1, 2, 2], 3),
    (2, [0, 2, 1], 2), (2, [2, 3, 1], 6), (1, [4], 3), (2, [1, 0, 1, 1], 2), (3, [2, 1, 3, 1, 2], 3),
]  # fmt: skip


def gradients(processes, lengths, bucket, rng):
    given = [[filled((n,), "decimals", rng) for n in lengths] for _ in range(processes)]
    tags = ["several gradients share a bucket"] * (bucket > lengths[0]) + ["there is one gradient"] * (
        len(lengths) == 1
    )
    return Draft({"given": given, "bucket": bucket}, tuple(tags))


def drawn(rng):
    lengths = [int(n) for n in rng.integers(1, 6, rng.integers(1, 7))]
    return gradients(int(rng.integers(1, 4)), lengths, int(rng.integers(1, 9)), rng)


GRADIENTS = Source(lambda rng: [gradients(*sizes, rng) for sizes in SIZES], drawn)


@overlap.aspect("the sums", 2, cases=GRADIENTS, few=20, many=70, rtol=1e-10, atol=1e-12)
def sums(student, case):
    def program(comm):
        return student.overlapped(comm, iter(case.given[comm.rank]), case.bucket)

    results, _ = student.simulate(program, len(case.given))
    return {f"process {rank}": [np.asarray(total) for total in found] for rank, found in enumerate(results)}


def noted(student, case):
    """What the last process does, in order."""
    notes = []

    class Watched:
        def __init__(self, comm, request=None):
            self.comm, self.rank, self.size, self.request = comm, comm.rank, comm.size, request

        def Iallreduce(self, send, receive):
            notes.append(f"send {send.size} of {send.dtype}")
            return Watched(self.comm, self.comm.Iallreduce(send, receive))

        def Wait(self):
            notes.append("wait")
            self.request.Wait()

        wait = Wait

    def program(comm):
        def computed():
            for k, gradient in enumerate(case.given[comm.rank]):
                if comm.rank == last:
                    notes.append(f"gradient {k}")
                yield gradient

        return student.overlapped(Watched(comm) if comm.rank == last else comm, computed(), case.bucket)

    last = len(case.given) - 1
    student.simulate(program, len(case.given))
    if case.waits:
        sends = [place for place, note in enumerate(notes) if note[0] == "s"]
        return {"waits": notes.count("wait"), "waits before the last message": notes[: sends[-1]].count("wait")}
    return ", ".join(note for note in notes if note != "wait")


GIVEN = {"cases": GRADIENTS, "few": 16, "many": 60}
overlap.aspect("when each bucket is sent", 1.5, corner=True, **GIVEN | {"cases": GRADIENTS * choice("waits", False)})(
    noted
)
overlap.aspect(
    "a Wait for each message, when all are sent",
    0.5,
    corner=True,
    **GIVEN | {"cases": GRADIENTS * choice("waits", True)},
)(noted)


overlap.mistake(
    "all gradients are computed before the first message",
    swap=("for gradient in gradients:", "for gradient in list(gradients):"),
    hint=[
        "Look at the order of what happens: all gradients, then all messages.",
        "list(…) asks for all. Loop over the iterator itself.",
    ],
)
overlap.mistake(
    "each message is waited for at once: nothing overlaps",
    swap=(
        "requests.append(comm.Iallreduce(*arrays[-1]))",
        "requests.append(comm.Iallreduce(*arrays[-1]))\n        requests[-1].Wait()",
    ),
    hint=["Between start and Wait the next gradient should be computed.", "Wait after the loop."],
)
overlap.mistake(
    "what is left in the last bucket is never sent",
    swap=("    if collected:\n        send()\n", ""),
    hint=["The last bucket is rarely full.", "After the loop: if something is collected, send it."],
)
overlap.mistake(
    "at the end the bucket is sent even if nothing is in it",
    swap=("    if collected:\n        send()\n", "    send()\n"),
    hint=["What if the last gradient has just filled the bucket?", "Send at the end only if something is collected."],
)
overlap.mistake(
    "an empty array more comes back: np.split at the last length, too",
    swap=("np.cumsum(lengths)[:-1]", "np.cumsum(lengths)"),
    hint=["How many sums came back?", "np.split cuts between the parts: np.cumsum(lengths)[:-1]."],
)
overlap.mistake(
    "only the last request is waited for",
    swap=("for request in requests:\n        request.Wait()", "requests[-1].Wait()"),
    hint=["NaN: room that was read before its sum was there.", "Wait for each request."],
)
overlap.mistake(
    "nobody waits",
    swap=("    for request in requests:\n        request.Wait()\n", ""),
    hint=["NaN: the sums are not there yet.", "Wait for each request."],
)
overlap.mistake(
    "a bucket has to be more than full",
    swap=(">= bucket", "> bucket"),
    hint=["Six numbers in a bucket of six.", "`>=`"],
)
overlap.mistake(
    "the bucket counts gradients, not numbers",
    swap=("sum(part.size for part in collected) >= bucket", "len(collected) >= bucket"),
    hint=["How many numbers are collected?", "The sum of their sizes."],
)
overlap.mistake(
    "a message for each gradient, however small",
    swap=("if sum(part.size for part in collected) >= bucket:", "if collected:"),
    hint=["A bucket is collected first.", "Send when the bucket is full."],
)
overlap.mistake(
    "the bucket is not emptied: what was sent is sent again",
    swap=("        collected.clear()\n", ""),
    hint=["What is in the bucket after it was sent?", "Empty it."],
)
overlap.mistake(
    "only the gradient that fills the bucket is counted",
    swap=("sum(part.size for part in collected) >= bucket", "gradient.size >= bucket"),
    hint=["2 and 3 numbers together fill a bucket of 4.", "Count all that is collected."],
)
overlap.mistake(
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
overlap.mistake(
    "the sums of the buckets come back, not those of the gradients",
    swap=("return np.split(total, np.cumsum(lengths)[:-1])", "return [received for _, received in arrays]"),
    hint=["One sum for each gradient, in its length.", "Concatenate what arrived, and split it at the lengths."],
)
overlap.mistake(
    "the sums come back in the order of the layers, first layer first",
    swap=("return np.split(total, np.cumsum(lengths)[:-1])", "return np.split(total, np.cumsum(lengths)[:-1])[::-1]"),
    hint="In the order in which the gradients came.",
)
overlap.variant(
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
overlap.variant(
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
