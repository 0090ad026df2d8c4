"""Check 7 of lesson 10: which rule said the first bad number."""

import numpy as np

from autograder.checks.cases import Draft, Source
from autograder.checks.check import exercise
from autograder.checks.m10_tape.programs import put, tenths

anomaly = exercise("tape.anomaly", "Which parent's gradient is bad, and which op said so.", seconds=30)

ONE = {"Inf": np.inf, "-Inf": -np.inf, "NaN": np.nan}
ALL = {"large": 3e38, "-large": -3e38, "zeros": 0.0, "all-Inf": np.inf, "all-NaN": np.nan}
BAD = "Inf|NaN|-Inf|good Inf|NaN good|good good -Inf|none NaN|Inf NaN|NaN Inf|none none Inf|all-NaN|good all-Inf|large NaN|good none Inf none NaN|zeros -Inf"
GOOD = "good|none|good none|large|-large good|zeros|none none|good good good|empty|large large"


def part(kind, rng):
    if kind == "none":
        return None
    array = tenths((0,) if kind == "empty" else ((2,), (3,), (2, 2), ())[rng.integers(4)], rng)
    if kind in ONE:
        array.flat[rng.integers(array.size)] = ONE[kind]
    return put(np.full_like(array, ALL[kind]) if kind in ALL else array)


def parts(kinds, rng):
    tags = ["a part is None"] * ("none" in kinds) + [f"a part holds {kind}" for kind in sorted({*kinds} & {*ONE})]
    tags += ["a part holds numbers of 3e38"] * ("large" in " ".join(kinds)) + ["no number of a part is finite"] * (
        "all" in " ".join(kinds)
    )
    tags += ["the first part is good"] * (kinds[0] not in ONE) + ["two parts are bad"] * (
        sum(kind in ONE for kind in kinds) > 1
    )
    value = put(np.array(np.nan if rng.integers(2) else 1.0))
    name, mode = ("twist", "fold", "sum")[rng.integers(3)], bool(rng.integers(2))
    return Draft(
        {"value": value, "parts": [part(kind, rng) for kind in kinds], "name": name, "mode": mode}, tuple(tags)
    )


def source(listed, at_least):
    def drawn(rng):
        kinds = [
            str(kind) for kind in rng.choice(["good", "none", "large", "zeros", *at_least], rng.integers(4))
        ] + at_least[:1]
        return parts([str(kind) for kind in rng.permutation(kinds)], rng)

    return Source(lambda rng: [parts(kinds.split(), rng) for kinds in listed.split("|")], drawn)


@anomaly.aspect("nothing happens where all is well", 0.5, corner=True, cases=source(GOOD, ["good"]))
@anomaly.aspect("which parent is named", 1, cases=source(BAD, ["NaN", "Inf", "-Inf"]))
def named(student, case):
    import contextlib
    import io

    node = student.Node(case.value, True, (case.value,) * len(case.parts), len, case.name)
    try:
        student.state.anomaly = case.mode
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            student.look_for_anomaly(node, case.parts)
        return "something is printed" if printed.getvalue() else "nothing happens"
    except NotImplementedError:
        raise
    except RuntimeError as error:
        return "RuntimeError: " + "".join(str(error).partition(" or Inf")[:2])
    finally:
        student.state.anomaly = False


@anomaly.aspect("the lines that made the node", 0.5, corner=True, few=8, cases=source(BAD, ["NaN"]))
def lines(student, case):
    node = student.Node(case.value, True, (case.value,) * len(case.parts), len, case.name)
    try:
        student.look_for_anomaly(node, case.parts)
    except NotImplementedError:
        raise
    except RuntimeError as error:
        return "".join(node.creation_trace) in str(error)


TEST = "not np.isfinite(part.to_host()).all()"

anomaly.mistake(
    "only NaN is looked for",
    swap=(TEST, "np.isnan(part.to_host()).any()"),
    hint="ln at 0 has a slope of ∞; the NaN comes a step later. `np.isfinite`.",
)
anomaly.mistake(
    "only Inf is looked for", swap=(TEST, "np.isinf(part.to_host()).any()"), hint="`np.isfinite` is False for both."
)
anomaly.mistake(
    "numbers are compared with NaN, which is equal to nothing",
    swap=(TEST, "(part.to_host() == np.nan).any()"),
    hint="NaN == NaN is False: `np.isfinite`.",
)
anomaly.mistake(
    "a part counts as bad only if all its numbers are",
    swap=(TEST, "not np.isfinite(part.to_host()).any()"),
    hint="One is enough: not *all* of them finite.",
)
anomaly.mistake(
    "the sum is checked: large numbers overflow",
    swap=(TEST, "not np.isfinite(part.to_host().sum())"),
    hint="3e38 + 3e38 is infinite, and both are fine. Look at each number.",
)
anomaly.mistake(
    "None is not skipped", swap=("part is not None and ", ""), hint="A rule may give None: nothing to look at."
)
anomaly.mistake(
    "only parts that are not None are numbered",
    swap=("enumerate(parts)", "enumerate([p for p in parts if p is not None])"),
    hint="The parent's number counts all of them, None too.",
)
anomaly.mistake(
    "parents are numbered from 1", swap=("enumerate(parts)", "enumerate(parts, 1)"), hint="From 0, as in the list."
)
anomaly.mistake(
    "the last bad one is named", swap=("enumerate(parts)", "reversed(list(enumerate(parts)))"), hint="The first one."
)
anomaly.mistake(
    "the Node's own numbers are checked",
    swap=("part.to_host()", "node.to_host()"),
    hint="The gradients: the parts that the rule returned.",
)
anomaly.mistake(
    "only the first part is checked", swap=("enumerate(parts)", "enumerate(parts[:1])"), hint="One for each parent."
)
anomaly.mistake(
    "a line is printed, no error raised",
    swap=("raise RuntimeError(", "print("),
    hint="`raise RuntimeError(…)`, or the loop goes on and nobody reads it.",
)
anomaly.mistake(
    "another kind of error is raised",
    swap=("raise RuntimeError(", "raise ValueError("),
    hint="A RuntimeError, as PyTorch and netcl have it.",
)
anomaly.mistake(
    "the line that made the op is missing",
    swap=("\\nThe op was created at:\\n{''.join(node.creation_trace)}", ""),
    hint="`node.creation_trace` belongs into the message: it is what people look for.",
)
anomaly.mistake("the name has no quotes", swap=("{node.op_name!r}", "{node.op_name}"), hint="`!r` brings the quotes.")
anomaly.mistake(
    "it speaks only while the mode is on",
    swap=("if part is not None", "if state.anomaly and part is not None"),
    hint="The mode was asked already, by parts_of. Here: look.",
)
anomaly.variant(
    "in long form",
    source="""
def look_for_anomaly(node, parts):
    bad = [k for k in range(len(parts))
           if parts[k] is not None and (np.isnan(parts[k].to_host()) | np.isinf(parts[k].to_host())).any()]
    if bad:
        text = "Gradient w.r.t. parent " + str(bad[0]) + " of op " + repr(node.op_name) + " contains NaN or Inf."
        raise RuntimeError(text + "\\n" + "".join(node.creation_trace))
""",
)
anomaly.variant(
    "0 · x is 0 for a number, and NaN for what is none",
    source="""
def look_for_anomaly(node, parts):
    k = -1
    for part in parts:
        k += 1
        if part is None:
            continue
        with np.errstate(invalid="ignore"):
            fine = (0 * part.to_host() == 0).all()
        if not fine:
            where = "".join(node.creation_trace)
            raise RuntimeError("Gradient w.r.t. parent %d of op '%s' contains NaN or Inf\\n%s" % (k, node.op_name, where))
""",
)
