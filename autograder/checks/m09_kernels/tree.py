import numpy as np

from autograder.checks.check import check


@check("kernels.tree", points=3, rtol=1e-5, atol=1e-4, seconds=30)
def tree(student, rng, tools):
    """Full groups, a last one that is not full, one number alone; and how often each place of a group is counted."""
    from tinygrad_cl.opencl.oclgrind import inspect_kernel
    from tinygrad_cl.opencl.trial import try_kernel

    rest, few = int(rng.integers(70, 120)), int(rng.integers(3, 30))
    ones = np.zeros(64 * 64, np.float32)
    ones[::65] = 1  # group g has a single 1, at its place g
    cases = {
        "three full groups": rng.normal(0, 2, 192).astype(np.float32),
        "a group that is not full": rng.normal(0, 2, rest).astype(np.float32),
        "one group with few numbers": rng.normal(0, 2, few).astype(np.float32),
    }
    found = {
        "input": f"n = 192, {rest} and {few}, in groups of 64; then 64 groups: group g has a 1 at place g, and 0 elsewhere; where "
        "work-items run in the opposite order, a missing barrier or `if` shows"
    }
    memory = []
    for name, x in cases.items():
        groups = -(-x.size // 64)
        right = [x[64 * g : 64 * g + 64].sum() for g in range(groups)] if x.size == rest else None
        sums, said = try_kernel(
            student.TREE, "tree", x, None, x.size, result=groups, work_items=64 * groups, local_size=64, right=right
        )
        found[f"sums ({name})"] = sums
        memory.append(said)
        if right and not np.allclose(sums, right, 1e-4, 1e-4):
            seen = inspect_kernel(
                student.TREE, "tree", x, np.zeros(groups, np.float32), x.size, work_items=64 * groups, local_size=64
            )
            found["input"] += "".join(f"; Oclgrind: {fault}" for fault in seen[:2])
    opposite = (
        "#define get_local_id(d) (63 - get_local_id(d))\n"
        "#define get_global_id(d) (64 * get_group_id(d) + get_local_id(d))\n"
        + student.TREE.replace(
            "__local float part[64];", "__local float part[128]; part[127 - get_local_id(0)] = 1e6f;"
        )
    )
    x = rng.normal(0, 2, 128).astype(np.float32)
    found["sums (two groups, their work-items taken in the opposite order)"], _ = try_kernel(
        opposite, "tree", x, None, x.size, result=2, work_items=128, local_size=64
    )
    counted, _ = try_kernel(student.TREE, "tree", ones, None, ones.size, result=64, work_items=ones.size, local_size=64)
    return found | {"how often each of the 64 places is counted": counted, "memory": memory}


LOAD, ADD, BARRIER = "part[me] = i < n ? x[i] : 0.0f;", "part[me] += part[me + step];", "barrier(CLK_LOCAL_MEM_FENCE);"
tree.mistake(
    "who has no number brings something else than 0: x is read beyond its end",
    swap=(LOAD, "part[me] = x[i];"),
    hint="In the last group some i are not below n. What should they bring?",
)
tree.mistake(
    "the guard lets one number too many pass",
    swap=("i < n ?", "i <= n ?"),
    hint="x[n] is the first that does not belong to you.",
)
tree.mistake("who has no number brings 1", swap=(": 0.0f", ": 1.0f"), hint="Which number changes no sum?")
tree.mistake(
    "a step is missing: it starts with 16",
    swap=("step = 32", "step = 16"),
    hint="64 numbers: the first 32 take the second 32.",
)
tree.mistake(
    "the last step is missing", swap=("step > 0", "step > 1"), hint="After step 2 there are still two numbers left."
)
tree.mistake("the steps get smaller by one, not by half", swap=("step /= 2", "step -= 1"), hint="32, 16, 8, 4, 2, 1.")
tree.mistake("the numbers are copied, and not added", swap=(ADD, "part[me] = part[me + step];"), hint="`+=`")
tree.mistake(
    "neighbours are added in every step: `me + 1`",
    swap=("part[me + step]", "part[me + 1]"),
    hint="In the first step the partner is 32 places away, then 16, …",
)
tree.mistake(
    "the numbers are read by their place in the group: every group adds the first 64",
    swap=("x[i]", "x[me]"),
    hint="`i` counts over all groups, `me` within one.",
)
tree.mistake("squares are added", swap=("? x[i]", "? x[i] * x[i]"), hint="A sum of the numbers as they are.")
tree.mistake(
    "an `int` holds the numbers on their way",
    swap=(LOAD, "int mine = i < n ? x[i] : 0.0f; part[me] = mine;"),
    hint="In C the type decides: `int mine = 0.7f;` keeps 0. Write `float`.",
)
tree.mistake(
    "only one work-item brings its number",
    swap=(LOAD, "part[me] = me == 0 && i < n ? x[i] : 0.0f;"),
    hint="Every work-item writes its own place: `part[me] = …`, with no `if (me == 0)`.",
)
tree.variant(
    "a barrier after each step, too", swap=(ADD, "part[me] += part[me + step];\n        barrier(CLK_LOCAL_MEM_FENCE);")
)
tree.variant(
    "neighbours first: steps 1, 2, 4, …",
    swap=(
        "for (int step = 32; step > 0; step /= 2) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (me < step)",
        "for (int step = 1; step < 64; step *= 2) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (me % (2 * step) == 0)",
    ),
)
tree.variant(
    "one work-item adds all, after one barrier",
    swap=(
        "for (int step = 32; step > 0; step /= 2) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (me < step)\n"
        "            part[me] += part[me + step];\n    }",
        "barrier(CLK_LOCAL_MEM_FENCE);\n    if (me == 0)\n        for (int j = 1; j < 64; j++)\n            part[0] += part[j];",
    ),
)
tree.variant("an int for who has no number: C makes a float of it", swap=(": 0.0f;", ": 0;"))
tree.variant(
    "with if and else, and shifts",
    swap=[(LOAD, "if (i >= n) part[me] = 0;\n    else part[me] = x[i];"), ("step /= 2", "step >>= 1")],
)
