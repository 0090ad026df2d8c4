"""Check 7 of lesson 10: which rule said the first bad number."""

import math

import numpy as np

from autograder.checks.check import check


@check("tape.anomaly", points=2, seconds=30)
def anomaly(student, rng, tools):
    """Which parent's gradient is bad, in a RuntimeError that names the op and its lines; silence where all is well."""
    import contextlib
    import io

    name = f"twist{rng.integers(10, 99)}"
    numbers = rng.normal(size=(3, 4)).astype(np.float32)
    number = int(rng.integers(2, 5))
    place = tuple(int(rng.integers(n)) for n in numbers.shape)

    def tensor(bad=None, everywhere=False):
        array = numbers.copy()
        if bad is not None:
            array[... if everywhere else place] = bad
        return student.Tensor.from_host(student.queue, array)

    def node(op_name, parents=5):
        leaves = tuple(student.Node(tensor(), True) for _ in range(parents))
        return student.Node(tensor(), True, leaves, lambda grad: [grad] * parents, op_name)

    def answer(made, parts):
        """−1 if no error comes (−2 if text is printed); else the parent that it names, is the first line as asked, …"""
        try:
            with contextlib.redirect_stdout(io.StringIO()) as printed, np.errstate(all="ignore"):
                student.look_for_anomaly(made, parts)
        except NotImplementedError:
            raise
        except RuntimeError as error:
            text = str(error)
            found = [
                k
                for k in range(10)
                if text.startswith(f"Gradient w.r.t. parent {k} of op {made.op_name!r} contains NaN or Inf")
            ]
            named = [k for k in range(10) if f"parent {k}" in text]
            return [
                *(found or named or [-9])[:1],
                bool(found),
                repr(made.op_name) in text,
                "".join(made.creation_trace) in text,
            ]
        return [-2 if printed.getvalue() else -1, 0, 0, 0]

    def parts_with(bad, *where, **options):
        return [tensor(bad, **options) if k in where else tensor() for k in range(5)]

    def one(bad):
        seen = [x for k in (number, 0) for x in answer(node(name), parts_with(bad, k))]
        return [*seen, *answer(node(name), parts_with(bad, number, everywhere=True)), number]

    def first_of_two():
        return (
            answer(node(name), parts_with(math.nan, number, 4)[:5])
            + answer(node("sum", 5), parts_with(math.inf, 1, number))
            + [number]
        )

    def beside_none():
        parts = parts_with(math.inf, number)
        parts[0] = parts[number - 1] = None
        return answer(node(name), parts) + [number]

    def all_well():
        seen = [answer(node(name), parts_with(None))[0], answer(node(name), [None] * 5)[0]]
        return [*seen, answer(node(name), [None, *parts_with(None)[1:]])[0], number]

    def large():
        """Numbers whose sum, or whose square, is no longer finite; and zeros."""
        seen = [answer(node(name), parts_with(each, number, everywhere=True))[0] for each in (3e38, -3e38, 0.0)]
        return [*seen, number]

    def values_are_not_asked():
        made = node(name)
        made.value = made.parents[0].value = tensor(math.nan)
        return answer(made, parts_with(None)) + answer(made, parts_with(math.nan, number)) + [number]

    def any_mode():
        seen, before = [], student.state.anomaly
        for student.state.anomaly in (False, True):
            seen += answer(node(name), parts_with(math.nan, number))
        student.state.anomaly = before
        return [*seen, number]

    return {
        "input": f"five gradients of shape {numbers.shape}, number {number} is bad at {list(place)}, and the op is {name!r}; "
        "an answer is [parent, first line as asked, op named, its lines in the text], or −1 for no error",
        "a NaN in one, then in the first, then nothing but NaN in one": lambda: one(math.nan),
        "an Inf": lambda: one(math.inf),
        "a −Inf": lambda: one(-math.inf),
        "two of them are bad": first_of_two,
        "None among them": beside_none,
        "all well": all_well,
        "numbers that are large, but finite": large,
        "the node's own numbers are NaN, its gradients are not; then one is": values_are_not_asked,
        "with the mode off and on": any_mode,
    }


BAD = "not np.isfinite(part.to_host()).all()"

anomaly.mistake(
    "only NaN is looked for",
    swap=(BAD, "np.isnan(part.to_host()).any()"),
    hint="ln at 0 has a slope of ∞; the NaN comes a step later. `np.isfinite`.",
)
anomaly.mistake(
    "only Inf is looked for", swap=(BAD, "np.isinf(part.to_host()).any()"), hint="`np.isfinite` is False for both."
)
anomaly.mistake(
    "compared with NaN, which is equal to nothing",
    swap=(BAD, "(part.to_host() == np.nan).any()"),
    hint="NaN == NaN is False: `np.isfinite`.",
)
anomaly.mistake(
    "bad only if all numbers are",
    swap=(BAD, "not np.isfinite(part.to_host()).any()"),
    hint="One is enough: not *all* of them finite.",
)
anomaly.mistake(
    "the sum is checked: large numbers overflow",
    swap=(BAD, "not np.isfinite(part.to_host().sum())"),
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
    "the wrong kind of error",
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
