"""Check 5 of lesson 12: the lines that somebody needs, and no others."""

from autograder.checks.cases import Draft, Source
from autograder.checks.check import exercise

needed = exercise("jit.needed", "The lines that somebody needs, and no others.")

NAMES = "add_3 mul_31 exp_4 mul_3 tanh_41 sub_5 exp_42 mul_52".split()
SMALL = ("|a", "0 1|0", "0 1|1", "0 01|1", "0 01|0", "0 01 12|2", "0 01 12 23 34 45 56|6", "0 0 0|1", "0 0 0|0 2", "0 01 00 12|2", "0 1|", "|", "0 01 12 1|3", "0 01 12 1 34|4 2", "0 0 12 23 24|4", "0 01 12 23 34 45 56 67|5", "0 0 02 2 14 1|4")  # fmt: skip


def draft(uses, users):
    """Line k uses the names of the lines uses[k], and inputs; the users mention names, or inputs alone."""
    lines = [
        f"const V {NAMES[k]} = MUL({', '.join([*(NAMES[n] for n in used if n < k), f'v{k % 2}'])});"
        for k, used in enumerate(uses)
    ]
    said = [
        f"V g_{k} = g * {NAMES[n] if n is not None else 'v1'};" if k % 2 == 0 else f"g_v0 += {NAMES[n]} + 1;"
        for k, n in enumerate(users)
    ]
    deep = any(n is not None and len(closure(uses, n)) > 3 for n in users)
    tags = (
        ["a line is needed through several others"] * deep
        + ["nobody needs a line"] * (not {*users} - {None})
        + ["there are two users"] * (len(users) > 1)
    )
    return Draft({"lines": lines, "users": said}, tuple(tags))


def closure(uses, n):
    return {n}.union(*(closure(uses, k) for k in uses[n] if k < n))


def small(rng):
    for text in SMALL:
        uses, users = text.split("|")
        yield draft(
            [[int(k) for k in used] for used in uses.split()], [int(k) if k != "a" else None for k in users.split()]
        )


def drawn(rng):
    count = int(rng.integers(2, 9))
    return draft(
        [[int(k) for k in rng.integers(count, size=2)] for _ in range(count)],
        [int(k) for k in rng.integers(count, size=rng.integers(1, 3))],
    )


@needed.aspect("which lines", 2, cases=Source(small, drawn))
def which(student, case):
    found = student.needed(case.lines, case.users)
    return {"it is": type(found).__name__, "lines": list(found)}


needed.mistake(
    "only what the users mention themselves counts as needed, not what that needs (or the walk learns of it too late)",
    swap=("            used |= words([line])\n", ""),
    hint=[
        "tanh(add_…) needs add_…, too.",
        "What a needed line mentions is used as well; walk from the last line to the first, so that it is known in time.",
    ],
)
needed.mistake(
    "the lines come back in reverse order",
    swap=("return found[::-1]", "return found"),
    hint="A name must be declared before it is used.",
)
needed.mistake(
    "a name counts as used if it is a part of another name",
    source="""
def needed(lines, users):
    found, text = [], " ".join(users)
    for line in reversed(lines):
        if line.split()[2] in text:
            found.append(line)
            text += " " + line
    return found[::-1]
""",
    hint=["`mul_3` stands in `mul_32`.", "Compare whole words: `words(lines)` is the set of them."],
)
needed.mistake("every line is needed", swap=("if name in used:", "if name:"), hint="Only those that somebody mentions.")
needed.mistake(
    "a line that is not needed passes on its needs all the same",
    swap=("            used |= words([line])\n", "        used |= words([line])\n"),
    hint="Whether `used` grows depends on the line being needed: look at the indentation.",
)
needed.mistake(
    "only the first user is read",
    swap=("words(users)", "words(users[:1])"),
    hint="`users` is a list of lines, and each may mention something.",
)
needed.mistake(
    "the names come back, not the lines",
    swap=("found.append(line)", "found.append(name)"),
    hint="A list of lines of C.",
)
needed.mistake(
    "the caller's users grow",
    swap=("            used |= words([line])\n", "            users.append(line)\n            used |= words([line])\n"),
    hint="Keep the set of used words for yourself, and leave the list as it is.",
)
needed.mistake(
    "a line stops the search: what stands before a line that is not needed is lost",
    swap=(
        "            used |= words([line])\n",
        "            used |= words([line])\n        else:\n            break\n",
    ),
    hint="A line that is not needed is left out; those before it may be needed all the same.",
)
needed.mistake(
    "a line counts as needed if it shares any word with the users",
    swap=("if name in used:", "if words([line]) & used:"),
    hint=["All lines share `V`, and many share v0.", "What counts is the name that the line computes, on its left."],
)
needed.variant(
    "again and again, until nothing is added",
    source="""
def needed(lines, users):
    keep = set()
    while True:
        used = words(users) | words([lines[k].partition("=")[2] for k in keep])
        more = {k for k, line in enumerate(lines) if line.split()[2] in used}
        if more <= keep:
            return [line for k, line in enumerate(lines) if k in keep]
        keep |= more
""",
)
needed.variant(
    "recursively, from what is mentioned",
    source="""
def needed(lines, users):
    definition = {line.split("=")[0].split()[-1]: line for line in lines}
    wanted = []

    def visit(text):
        for word in re.findall(r"[A-Za-z_][A-Za-z_0-9]*", text):
            if word in definition and definition[word] not in wanted:
                wanted.append(definition[word])
                visit(definition[word].split("=", 1)[1])

    for user in users:
        visit(user)
    return sorted(wanted, key=lines.index)
""",
)
