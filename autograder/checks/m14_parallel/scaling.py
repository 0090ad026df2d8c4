"""Check 7 of lesson 14: the time of a step on paper."""

from autograder.checks.check import check


@check("parallel.scaling", points=2)
def parallel_scaling(student, rng, tools):
    """Both ways, from one machine to many."""
    per_row, latency = rng.uniform(0.01, 0.02), rng.uniform(0.5, 1.5)
    nbytes, bandwidth = float(rng.integers(10**6, 2 * 10**6)), rng.uniform(5e5, 2e6)

    def seconds(machines, rows=1000, **way):
        return list(student.step_seconds(machines, rows, per_row, nbytes, latency, bandwidth, **way))

    return {
        "input": f"1000 rows of {per_row:.4g} s; {nbytes:g} bytes; latency {latency:.4g} s, bandwidth {bandwidth:.6g} bytes/s",
        "one machine, ring": lambda: seconds(1),
        "one machine, tree": lambda: seconds(1, way="tree"),
        "2 machines, ring": lambda: seconds(2),
        "2 machines, tree": lambda: seconds(2, way="tree"),
        "7 machines, ring": lambda: seconds(7, way="ring"),
        "7 machines, tree": lambda: seconds(7, way="tree"),
        "64 machines, ring": lambda: seconds(64),
        "64 machines, tree": lambda: seconds(64, way="tree"),
        "65 machines, tree": lambda: seconds(65, way="tree"),
        "3 machines for 2 rows, ring": lambda: seconds(3, 2),
        "a line without latency, 8 machines": lambda: list(student.step_seconds(8, 80, per_row, nbytes, 0, bandwidth)),
        "1000 machines, positional": lambda: list(
            student.step_seconds(1000, 4500, per_row, nbytes, latency, bandwidth, "tree")
        ),
    }


RING = "2 * (machines - 1), nbytes / machines"

parallel_scaling.mistake(
    "the rows are divided as if a row could be cut",
    swap=("-(-rows // machines)", "rows / machines"),
    hint=["10 rows for 4 machines: somebody has 3, and all wait for that one.", "Round up."],
)
parallel_scaling.mistake(
    "the rows are rounded down",
    swap=("-(-rows // machines)", "rows // machines"),
    hint=["The largest share decides.", "-(-rows // machines)"],
)
parallel_scaling.mistake(
    "the work is not shared out", swap=("-(-rows // machines)", "rows"), hint="Each machine has a share of the rows."
)
parallel_scaling.mistake(
    "only the half of the ring that adds is counted",
    swap=(RING, "machines - 1, nbytes / machines"),
    hint=["First the sums are made, then they are handed on.", "2 (p − 1) rounds."],
)
parallel_scaling.mistake(
    "in the ring, each message has all the bytes",
    swap=(RING, "2 * (machines - 1), nbytes"),
    hint=["What travels in the ring is one part.", "nbytes / machines"],
)
parallel_scaling.mistake(
    "the ring has 2p rounds, so a machine alone talks to itself",
    swap=(RING, "2 * machines, nbytes / machines"),
    hint=["How many rounds with one machine?", "2 (p − 1)"],
)
parallel_scaling.mistake(
    "the latency is paid once, not in each round",
    swap=("rounds * (latency + message / bandwidth)", "(latency + rounds * message / bandwidth if rounds else 0)"),
    hint=["Each message has to get going.", "rounds · (latency + …)"],
)
parallel_scaling.mistake(
    "the latency is forgotten",
    swap=("(latency + message / bandwidth)", "(message / bandwidth)"),
    hint="latency + bytes / bandwidth, for each round.",
)
parallel_scaling.mistake(
    "the latency is divided by the bandwidth, too",
    swap=("(latency + message / bandwidth)", "((latency + message) / bandwidth)"),
    hint=["Latency is seconds already.", "latency + bytes / bandwidth"],
)
parallel_scaling.mistake(
    "the bytes are multiplied by the bandwidth",
    swap=("message / bandwidth", "message * bandwidth"),
    hint=["Bytes over bytes per second are seconds.", "message / bandwidth"],
)
parallel_scaling.mistake(
    "the tree is only walked up",
    swap=("2 * (machines - 1).bit_length()", "(machines - 1).bit_length()"),
    hint=["The result has to come down again.", "2 ⌈log₂ p⌉"],
)
parallel_scaling.mistake(
    "the tree's rounds are not rounded up",
    swap=("2 * (machines - 1).bit_length()", "2 * np.log2(machines)"),
    hint=["7 machines need 3 rounds up.", "⌈log₂ p⌉"],
)
parallel_scaling.mistake(
    "the tree's rounds are rounded down",
    swap=("(machines - 1).bit_length()", "(machines.bit_length() - 1)"),
    hint=["7 machines need 3 rounds up, 64 need 6, 65 need 7.", "⌈log₂ p⌉, rounded up."],
)
parallel_scaling.mistake(
    "the tree has a round too many where p is a power of two",
    swap=("(machines - 1).bit_length()", "machines.bit_length()"),
    hint=["2 machines need one round up.", "⌈log₂ p⌉ is (p − 1).bit_length()."],
)
parallel_scaling.mistake(
    "in the tree, each message has only a part",
    swap=("(machines - 1).bit_length(), nbytes", "(machines - 1).bit_length(), nbytes / machines"),
    hint="In the tree, a message has all the bytes.",
)
parallel_scaling.mistake(
    "one sum comes back",
    swap=(
        "return computing, rounds * (latency + message / bandwidth)",
        "return computing + rounds * (latency + message / bandwidth)",
    ),
    hint="A pair: (computing, talking).",
)
parallel_scaling.variant(
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
parallel_scaling.variant(
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
    return np.array([len(range(0, rows, machines)) * per_row, talking])
""",
)
parallel_scaling.variant(
    "asked for the tree first",
    swap=[
        (
            'if way == "ring":\n        rounds, message = 2 * (machines - 1), nbytes / machines\n    else:\n        rounds, message = 2 * (machines - 1).bit_length(), nbytes',
            'if way == "tree":\n        rounds, message = 2 * (machines - 1).bit_length(), nbytes\n    else:\n        rounds, message = 2 * (machines - 1), nbytes / machines',
        )
    ],
)
parallel_scaling.variant(
    "bit_length looks at the size of a number, not at its sign",
    swap=("(machines - 1).bit_length()", "((1 - machines)).bit_length()"),
)
