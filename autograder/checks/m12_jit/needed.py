"""Check 5 of lesson 12: the lines that somebody needs, and no others."""

from autograder.checks.check import check


@check("jit.needed", points=2)
def needed(student, rng, tools):
    """Lines in which names are parts of other names, and needs are passed on."""
    one, two = (int(k) for k in rng.choice(range(2, 10), 2, replace=False))
    chain = [
        f"const V mul_{one} = MUL(v0, v1);",
        f"const V add_{one}1 = ADD(mul_{one}, v0);",
        f"const V exp_{two} = exp(v1);",
        f"const V mul_{one}2 = MUL(exp_{two}, v1);",
        f"const V tanh_{two} = tanh(add_{one}1);",
    ]
    before = list(chain)

    def which(lines, users):
        """The numbers of the lines that came back, in their order."""
        found = student.needed(lines, users)
        return [
            type(found).__name__,
            *[str(lines.index(line)) if line in lines else f"another line: {line}" for line in found],
        ]

    def untouched():
        users = [f"V g = tanh_{two};"]
        student.needed(chain, users)
        return [chain == before, users == [f"V g = tanh_{two};"]]

    users = [f"V g_v0 = g * tanh_{two};", f"g_v0 += mul_{one}2;"]
    return {
        "input": f"the lines {' | '.join(chain)}; users for instance {' | '.join(users)}",
        "needed through two others": lambda: which(chain, [f"V g = g * (1 - tanh_{two} * tanh_{two});"]),
        "one is mentioned, by name and nearly": lambda: which(chain, [f"V g = mul_{one};"]),
        "the longer name is mentioned": lambda: which(chain, [f"V g = mul_{one}2;"]),
        "two users": lambda: which(chain, users),
        "nobody": lambda: which(chain, ["V g_v0 = v1 * upstream;"]),
        "no users": lambda: which(chain, []),
        "no lines": lambda: which([], users),
        "a name that is needed twice": lambda: which(chain, [f"V a = exp_{two};", f"V b = exp_{two} * mul_{one}2;"]),
        "lines and users afterwards": untouched,
    }


needed.mistake(
    "only what the users mention themselves, not what that needs (or the walk goes from the first line on, and learns of it too late)",
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
