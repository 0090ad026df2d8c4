"""What the two kernels of lesson 00 have in common: their launches, and slips with the number of the work-item."""

from autograder.checks.cases import Source, Text, fixed
from autograder.checks.check import Check

SIZES = (  # n, and the size of a group
    (1, 64), (100, 16), (64, 64), (290, 128), (65, 64), (16, 16), (40, 64), (17, 16), (15, 16), (128, 64), (127, 64), (63, 16),
)  # fmt: skip


def launches(arrays: int) -> Source:
    """How many numbers, in groups of how many, the inputs, and the seed of what lies in the results before the run."""
    return fixed(*({"n": n, "group": group} for n, group in SIZES)).add(
        inputs=lambda n, rng: Text(
            f"np.random.default_rng({rng.integers(10**6)}).normal(0, 2, ({arrays}, {n})).round(1).astype(np.float32)"
        ),
        work_items=lambda n, group: -(-n // group) * group,
        fill=lambda rng: int(rng.integers(10**6)),
    )


def several_groups(arrays: int) -> Source:
    return launches(arrays).where(lambda n, group: n > group)


def slips_with_the_number(kernel: Check) -> None:
    """The mistakes with `int i = get_global_id(0); if (i < n) { … }`, which stands in both kernels."""
    kernel.mistake(
        "the guard is missing",
        swap=("if (i < n)", ""),
        hint=[
            "How many work-items run for one number, in groups of 64? What do the others do?",
            "Put the line that writes into `if (i < n) { … }`.",
        ],
    )
    kernel.mistake(
        "the guard lets one work-item too many pass",
        swap=("i < n", "i <= n"),
        hint="n numbers have the places 0 … n − 1. Which place has work-item n?",
    )
    kernel.mistake(
        "the guard leaves out the last number",
        swap=("i < n", "i < n - 1"),
        hint="The last place is n − 1. Is it below n − 1?",
    )
    kernel.mistake(
        "the guard is the wrong way round",
        swap=("i < n", "i >= n"),
        hint="Which work-items shall write: those below n, or the others?",
    )
    kernel.mistake(
        "the local id is used for the global id",
        swap=("get_global_id", "get_local_id"),
        hint=[
            "`get_local_id` counts within a group: it begins at 0 again in each. Which count goes on over all groups?",
            "`get_global_id(0)`",
        ],
    )
    kernel.mistake(
        "the number of the group is used for that of the work-item",
        swap=("get_global_id", "get_group_id"),
        hint="All 64 work-items of a group have the same group id. Each needs a number of its own.",
    )
    kernel.mistake(
        "it asks for the second dimension",
        swap=("get_global_id(0)", "get_global_id(1)"),
        hint="Work-items can be numbered in up to three dimensions. Here there is one, and counting starts at 0.",
    )
    kernel.mistake(
        "every work-item computes all the numbers, in a loop",
        swap=("int i = get_global_id(0);\n    if (i < n) {", "for (int i = 0; i < n; i++) {"),
        hint=[
            "All the work-items run, and each of them does all of the work. Where is your own number?",
            "No loop: `int i = get_global_id(0);`, a guard, and the line for that one i.",
        ],
    )
