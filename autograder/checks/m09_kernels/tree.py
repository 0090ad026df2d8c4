"""Check 5 of lesson 09: a sum by halves, in local memory."""

from autograder.checks.cases import Text, fixed
from autograder.checks.check import exercise
from autograder.checks.m09_kernels.launches import launches, numbers

tree = exercise(
    "kernels.tree", "Full groups, a last one that is not full, one number alone.", seconds=30, texts=("TREE",)
)

SIZES = [
    (1,),
    (64,),
    (63,),
    (60, 4),
    (2,),
    (65,),
    (128,),
    (range(3, 30),),
    (range(70, 120), 9),
    (range(150, 250),),
    (65, 0, True),
]


def vector(rng, n, more=0, infinite=False):
    """n numbers, the last of them perhaps infinite, and more of them in memory behind."""
    x = numbers(n + more, rng)
    return {"x": Text(f"np.append({x.expression}[1:], np.float32(np.inf))") if infinite else x, "n": n}


def tags(n, more=0, infinite=False):
    yield from ["a number is infinite"] * infinite
    yield from ["memory goes on after n numbers"] * (more > 0)
    yield from ["the last group is not full"] * (n % 64 > 0) + ["there are several groups"] * (n > 64)


@tree.aspect("the sum of each group", 2, cases=launches(SIZES, vector, tags), few=16, many=48, rtol=1e-5, atol=1e-4)
@tree.aspect(
    "each of the 64 places counts once",
    0.5,
    corner=True,
    cases=fixed(x=Text("np.eye(64, dtype=np.float32).ravel()"), n=4096, fill=0),
)
@tree.watch(launches([(range(70, 120),)], vector))
def result(student, case):
    from tinygrad_cl.opencl.trial import tried

    groups = -(-case.n // 64)
    sizes = {"work_items": 64 * groups, "local_size": 64}
    return tried(student.TREE, "tree", case.x, None, case.n, result=groups, seed=case.fill, **sizes)


@tree.aspect(
    "the order of the work-items does not matter",
    0.5,
    corner=True,
    races=True,
    cases=launches([(128,), (range(100, 120),)], vector),
    few=2,
    many=4,
    rtol=1e-5,
    atol=1e-4,
)
def opposite_order(student, case):
    from tinygrad_cl.opencl.trial import tried

    mirrored = (
        "#define get_local_id(d) (63 - get_local_id(d))\n"
        "#define get_global_id(d) (64 * get_group_id(d) + get_local_id(d))\n"
        + student.TREE.replace(
            "__local float part[64];", "__local float part[128]; part[127 - get_local_id(0)] = 1e6f;"
        )
    )
    return tried(mirrored, "tree", case.x, None, case.n, result=2, work_items=128, local_size=64, seed=case.fill)


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
