"""Check 7 of lesson 14: the time of a step on paper."""

from autograder.checks.cases import Draft, Source, choice
from autograder.checks.check import exercise

scaling = exercise("parallel.scaling", "The seconds of a step on paper: computing, and talking both ways.")

SIZES = (
    (1, 4),
    (2, 4),
    (2, 5),
    (4, 10),
    (3, 2),
    (7, 20),
    (8, 8),
    (9, 100),
    (5, 1),
    (64, 1000),
    (65, 1000),
    (1000, 4500),
    (16, 7),
    (1, 1),
    (2, 1),
    (33, 99),
)


def step(machines, rows, ways, rng):
    numbers = {
        "per_row": float(rng.integers(1, 40)) / 10,
        "nbytes": int(rng.integers(1, 2000)),
        "latency": float(rng.integers(0, 20)) / 10,
        "bandwidth": float(rng.integers(1, 300)),
    }
    tags = ["there is one machine"] * (machines == 1) + ["there are more machines than rows"] * (machines > rows)
    tags += ["the rows are not shared evenly"] * (rows % machines > 0)
    return Draft({"machines": machines, "rows": rows, **numbers, "way": ways[rng.integers(len(ways))]}, tuple(tags))


def steps(*ways):
    return Source(
        lambda rng: [step(*sizes, ways, rng) for sizes in SIZES],
        lambda rng: step(int(rng.integers(1, 300)), int(rng.integers(1, 3000)), ways, rng),
    )


def seconds(student, case):
    numbers = case.machines, case.rows, case.per_row, case.nbytes, case.latency, case.bandwidth
    found = student.step_seconds(*numbers, *case.way)
    return {"parts": len(found), "seconds": float(found[case.part])}


RING, TREE = [(), ("ring",)], [("tree",)]
for name, points, ways, part in (
    ("computing", 0.5, RING + TREE, 0),
    ("talking over a ring", 0.75, RING, 1),
    ("talking over a tree", 0.75, TREE, 1),
):
    scaling.aspect(name, points, cases=steps(*ways) * choice("part", part))(seconds)


RING = "2 * (machines - 1), nbytes / machines"

scaling.mistake(
    "the rows are divided as if a row could be cut",
    swap=("-(-rows // machines)", "rows / machines"),
    hint=["10 rows for 4 machines: somebody has 3, and all wait for that one.", "Round up."],
)
scaling.mistake(
    "the rows are rounded down",
    swap=("-(-rows // machines)", "rows // machines"),
    hint=["The largest share decides.", "-(-rows // machines)"],
)
scaling.mistake(
    "the work is not shared out", swap=("-(-rows // machines)", "rows"), hint="Each machine has a share of the rows."
)
scaling.mistake(
    "only the half of the ring that adds is counted",
    swap=(RING, "machines - 1, nbytes / machines"),
    hint=["First the sums are made, then they are handed on.", "2 (p − 1) rounds."],
)
scaling.mistake(
    "in the ring, each message has all the bytes",
    swap=(RING, "2 * (machines - 1), nbytes"),
    hint=["What travels in the ring is one part.", "nbytes / machines"],
)
scaling.mistake(
    "the ring has 2p rounds, so a machine alone talks to itself",
    swap=(RING, "2 * machines, nbytes / machines"),
    hint=["How many rounds with one machine?", "2 (p − 1)"],
)
scaling.mistake(
    "the latency is paid once, not in each round",
    swap=("rounds * (latency + message / bandwidth)", "(latency + rounds * message / bandwidth if rounds else 0)"),
    hint=["Each message has to get going.", "rounds · (latency + …)"],
)
scaling.mistake(
    "the latency is forgotten",
    swap=("(latency + message / bandwidth)", "(message / bandwidth)"),
    hint="latency + bytes / bandwidth, for each round.",
)
scaling.mistake(
    "the latency is divided by the bandwidth, too",
    swap=("(latency + message / bandwidth)", "((latency + message) / bandwidth)"),
    hint=["Latency is seconds already.", "latency + bytes / bandwidth"],
)
scaling.mistake(
    "the bytes are multiplied by the bandwidth",
    swap=("message / bandwidth", "message * bandwidth"),
    hint=["Bytes over bytes per second are seconds.", "message / bandwidth"],
)
scaling.mistake(
    "the tree is only walked up",
    swap=("2 * (machines - 1).bit_length()", "(machines - 1).bit_length()"),
    hint=["The result has to come down again.", "2 ⌈log₂ p⌉"],
)
scaling.mistake(
    "the tree's rounds are not rounded up",
    swap=("2 * (machines - 1).bit_length()", "2 * np.log2(machines)"),
    hint=["7 machines need 3 rounds up.", "⌈log₂ p⌉"],
)
scaling.mistake(
    "the tree's rounds are rounded down",
    swap=("(machines - 1).bit_length()", "(machines.bit_length() - 1)"),
    hint=["7 machines need 3 rounds up, 64 need 6, 65 need 7.", "⌈log₂ p⌉, rounded up."],
)
scaling.mistake(
    "the tree has a round too many where p is a power of two",
    swap=("(machines - 1).bit_length()", "machines.bit_length()"),
    hint=["2 machines need one round up.", "⌈log₂ p⌉ is (p − 1).bit_length()."],
)
scaling.mistake(
    "in the tree, each message has only a part",
    swap=("(machines - 1).bit_length(), nbytes", "(machines - 1).bit_length(), nbytes / machines"),
    hint="In the tree, a message has all the bytes.",
)
scaling.mistake(
    "one sum comes back",
    swap=(
        "return computing, rounds * (latency + message / bandwidth)",
        "return computing + rounds * (latency + message / bandwidth)",
    ),
    hint="A pair: (computing, talking).",
)
scaling.variant(
    "with logarithms, and the terms sorted otherwise",
    source="""
def step_seconds(machines, rows, per_row, nbytes, latency, bandwidth, way="ring"):
    share = int(np.ceil(rows / machines))
    if way == "tree":
        up = int(np.ceil(np.log2(machines)))
        return share * per_row, 2 * up * latency + 2 * up * nbytes / bandwidth
    return share * per_row, 2 * (machines - 1) * latency + 2 * nbytes * (1 - 1 / machines) / bandwidth
""",
)
scaling.variant(
    "counting the rounds",
    source="""
def step_seconds(machines, rows, per_row, nbytes, latency, bandwidth, way="ring"):
    talking = 0.0
    if way == "ring":
        for _ in range(2 * machines - 2):
            talking += latency + nbytes / machines / bandwidth
    else:
        together = 1
        while together < machines:
            together *= 2
            talking += 2 * latency + 2 * nbytes / bandwidth
    return len(range(0, rows, machines)) * per_row, talking
""",
)
scaling.variant(
    "asked for the tree first",
    swap=[
        (
            'if way == "ring":\n        rounds, message = 2 * (machines - 1), nbytes / machines\n    else:\n        rounds, message = 2 * (machines - 1).bit_length(), nbytes',
            'if way == "tree":\n        rounds, message = 2 * (machines - 1).bit_length(), nbytes\n    else:\n        rounds, message = 2 * (machines - 1), nbytes / machines',
        )
    ],
)
scaling.variant(
    "bit_length looks at the size of a number, not at its sign",
    swap=("(machines - 1).bit_length()", "((1 - machines)).bit_length()"),
)
