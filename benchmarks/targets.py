"""What the engines are held to, and whether a run reached it."""

from dataclasses import dataclass

PRODUCTS = tuple(f"{size}, {kind}" for size in (512, 1024, 2048) for kind in ("NN", "NT", "TN"))
WAITED = ("sync", "pipelined")
FUSED = ("forward and backward",)


@dataclass(frozen=True)
class Target:
    """One line of the table.

    text             what is asked for
    key, part        where it is measured: a comparison, and a part of its turns
    modes            in all of these
    contender        whose time is taken
    least, aim       as a multiple of the first contender's time; with `most`, it is to be no larger
    unit             seconds for one: then it is the time itself
    limit            what keeps it from more, said where it is missed
    """

    text: str
    key: str
    modes: tuple
    contender: str
    least: float
    aim: float
    part: str = "step"
    most: bool = False
    unit: float = 0
    limit: str = ""

    def values(self, comparisons):
        """One number for each mode that was measured; `comparisons` as tables.main writes them."""
        return [
            row["median"] / self.unit if self.unit else row["ratio"]
            for comparison in comparisons
            if comparison["key"] == self.key
            for row in comparison["rows"]
            if row["mode"] in self.modes
            and row["part"] == self.part
            and row["contender"] == self.contender
            and row["ratio"] is not None
        ]

    def verdict(self, values):
        """In words, after the worst of the values."""
        if not values:
            return "not measured"
        worst = max(values) if self.most else min(values)

        def holds(goal):
            return worst <= goal if self.most else worst >= goal

        if holds(self.least):
            return "aim reached" if holds(self.aim) else "reached"
        share = abs(1 - worst / self.least)
        missed = f"missed by {share:.0%}" if share >= 0.01 else "missed by less than 1%"
        return f"{missed}: {self.limit}" if self.limit else missed


def eager(text, contender, least, aim, part, **more):
    return Target(
        text, "eager", ("y + x", "y · x", "relu(y)", "tanh(y)"), contender, least, aim, part, limit=EAGER, **more
    )


MICRO = 1e-6
# What keeps them from more, as far as it was measured: said where a target is missed.
STEP = (
    "a tenth of the step passes between launches, where PoCL wakes its workers, and the small"
    " products reach half of the peak"
)
PEAK = "each product is waited for, which costs a tenth at 512; and a large Aᵀ is rewritten row by row first"
EAGER = (
    "a bare launch takes a third, the Python of a Node and its plan another; the rest is PoCL's"
    " workers, who fall asleep between two operations and are woken"
)
VALUES = "nodes without any check or label are only a tenth faster: what is left is Python"
COLLECTOR = f"{VALUES}, and how long the collector takes for micrograd's garbage, which varies"

TARGETS = [
    Target("MLP step, captured: times faster than torch eager", "mlp", WAITED, "torch eager", 1.7, 2.3, limit=STEP),
    Target("… than jax.jit", "mlp", WAITED, "jax.jit", 1.5, 1.5, limit=STEP),
    Target("… than tinygrad", "mlp", WAITED, "tinygrad TinyJit", 5, 5),
    Target("… than netcl", "mlp", WAITED, "netcl", 150, 150, limit=STEP),
    Target("… than NumPy by hand", "mlp", WAITED, "NumPy by hand", 1.0, 1.2, limit=STEP),
    Target("fused chain: times faster than torch eager", "fused", FUSED, "torch eager", 6.5, 9),
    Target("… than torch.compile", "fused", FUSED, "torch.compile", 2.5, 3.5),
    Target("… than netcl", "fused", FUSED, "netcl", 13, 13),
    Target("… than netcl's jit_compile", "fused", FUSED, "netcl, jit_compile", 8, 8),
    Target("… of the bandwidth limit", "fused", FUSED, "limit: the same bytes", 0.8, 0.95),
    Target("matrix product 512 – 2048: times faster than torch", "matmul", PRODUCTS, "torch", 1.8, 2.2),
    Target("… than NumPy", "matmul", PRODUCTS, "NumPy", 0.85, 1.0),
    Target(
        "… of the peak of multiply-add", "matmul", PRODUCTS, "limit: multiply-add in registers", 0.9, 0.9, limit=PEAK
    ),
    eager("eager operation, forward: µs at most", "tinygrad_cl.netcl", 4.5, 3, "forward", most=True, unit=MICRO),
    eager("… backward: µs at most", "tinygrad_cl.netcl", 8, 5.5, "backward", most=True, unit=MICRO),
    eager("… forward: times faster than netcl", "netcl", 8, 8, "forward"),
    Target(
        "Value MLP: times faster than micrograd",
        "scalar",
        ("collector on",),
        "micrograd",
        20,
        28,
        "both",
        limit=COLLECTOR,
    ),
    Target(
        "… with the collector off in both", "scalar", ("collector off",), "micrograd", 2.7, 3.3, "both", limit=VALUES
    ),
    Target(
        "chain of 100,000 Values: times as long per Value as 1,000, at most",
        "chain",
        ("there and back",),
        "tinygrad_cl.scalar, 100,000",
        3,
        3,
        most=True,
    ),
]


def target_table(comparisons):
    """The Markdown table of all targets; a range is over the modes, and the worst counts."""
    lines = ["| target | at least | aim | reached | |", "|---|---:|---:|---:|---|"]
    for target in TARGETS:
        values = sorted(target.values(comparisons))
        shown = " – ".join(f"{value:.3g}" for value in dict.fromkeys(values[:1] + values[-1:]))
        lines.append(
            f"| {target.text} | {target.least:g} | {target.aim:g} | {shown or '–'} | {target.verdict(values)} |"
        )
    return "\n".join(lines)
