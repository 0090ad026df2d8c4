"""Check 5 of lesson 10: gradients that add up, and whose buffer that is."""

from autograder.checks.cases import Draft, Source
from autograder.checks.check import exercise
from autograder.checks.m10_tape.programs import put, tenths

accumulate = exercise("tape.accumulate", "Gradients that add up, and whose buffer they lie in.", seconds=30)

SMALL = "x0|x0 x1|x0 x0|x0 x1 x2|x0 y0|y0 x0 x1|x0 y0 x1 x2|x0 x1 x2 x1|x0 x0 x0|x0 y0 x1 y1 x2|x0 y1 x1 x2 y0|y0 x1 y1 x0 x2 y2 y0|x0 x1 y2 y0|x0 x1 x2 x0 x1"


def arrivals(text, rng):
    """`x0 y0 x1`: part 0 arrives at x and at y, then part 1 at x."""
    steps = [(step[0], int(step[1])) for step in text.split()]
    most = max(sum(node == name for node, _ in steps) for name in "xy")
    tags = ["a node gets a second part"] * (most > 1) + ["a node gets a third part"] * (most > 2)
    tags += ["both nodes get the same Tensor"] * any(("x", k) in steps and ("y", k) in steps for k in range(3))
    tags += ["a node gets the same Tensor twice"] * (len({*steps}) < len(steps))
    return Draft({"parts": [put(tenths((2,), rng)) for _ in range(3)], "steps": steps}, tuple(tags))


def drawn(rng):
    return arrivals(" ".join(f"{'xy'[rng.integers(2)]}{rng.integers(3)}" for _ in range(rng.integers(2, 8))), rng)


ARRIVALS = Source(lambda rng: [arrivals(text, rng) for text in SMALL.split("|")], drawn)


@accumulate.aspect("the sums, and what others hold stays", 1.5, cases=ARRIVALS, rtol=1e-5, atol=1e-5)
def sums(student, case):
    gradients, ours = {}, set()
    for node, k in case.steps:
        student.accumulate(gradients, ours, node, case.parts[k])
    return {
        "gradients": {node: x.to_host() for node, x in gradients.items()},
        "ours": str(sorted(ours)),
        "parts": [x.to_host() for x in case.parts],
    }


@accumulate.aspect(
    "in which buffer each sum lies, and what it costs",
    1.5,
    corner=True,
    cases=ARRIVALS,
    at_most=("kernels", "other commands"),
)
def buffers(student, case):
    gradients, ours, seen, commands = {}, set(), [], []
    for node, k in case.steps:
        before = gradients.get(node)
        with student.device.watched_by(commands.append):
            student.accumulate(gradients, ours, node, case.parts[k])
        now = gradients[node].buffer
        is_old = before is not None and now is before.buffer
        seen.append("that of the part" if now is case.parts[k].buffer else "that of before" if is_old else "a new one")
    kernels = sum(type(command).__name__ == "Launch" for command in commands)
    return {"buffers": "; ".join(seen), "kernels": kernels, "other commands": len(commands) - kernels}


FIRST, OURS, NEW = (
    "        gradients[node] = part\n",
    "add_into(gradients[node], part)",
    "gradients[node] = gradients[node] + part\n        ours.add(node)",
)

accumulate.mistake(
    "a new gradient overwrites what was there",
    swap=[(OURS, "gradients[node] = part"), (NEW, "gradients[node] = part\n        ours.add(node)")],
    hint="Over paths, gradients add up.",
)
accumulate.mistake("only the first one counts", swap=[(OURS, "pass"), (NEW, "pass")], hint="And the second one?")
accumulate.mistake(
    "the second part is added in place, into a buffer that others hold",
    swap=(NEW, "add_into(gradients[node], part)\n        ours.add(node)"),
    hint=[
        "y holds the same Tensor as x. What has y after x was added to?",
        "The second part makes a new Tensor: `gradients[node] + part`.",
    ],
)
accumulate.mistake(
    "the first one counts as ours already",
    swap=(FIRST, "        gradients[node] = part\n        ours.add(node)\n"),
    hint=[
        "Who made the first Tensor? A rule, and it may have given it to two nodes.",
        "Into `ours` with the second, when the sum is made.",
    ],
)
accumulate.mistake(
    "nothing is added in place: each sum is a new Tensor",
    swap=(OURS, "gradients[node] = gradients[node] + part"),
    hint="From the third on, the sum is ours alone: `add_into`, and no new buffer.",
)
accumulate.mistake(
    "the sum is not noted as ours, so each is a new one",
    swap=("\n        ours.add(node)", ""),
    hint="How does the third part know? `ours.add(node)`.",
)
accumulate.mistake(
    "the first one is copied",
    swap=(FIRST, "        gradients[node] = part.copy()\n        ours.add(node)\n"),
    hint=["Most nodes are used once. A copy for each of them is memory for nothing.", "Keep the Tensor as it is."],
)
accumulate.mistake(
    "the sum is written into the part that arrives",
    swap=(OURS, "add_into(part, gradients[node])\n        gradients[node] = part"),
    hint="Others hold the part, too. Add into the sum that is ours.",
)
accumulate.mistake(
    "the second is added into the part that arrives",
    swap=(NEW, "add_into(part, gradients[node])\n        gradients[node] = part\n        ours.add(node)"),
    hint="Others hold that part. The second makes a new Tensor.",
)
accumulate.mistake(
    "one node in `ours` opens the door for all",
    swap=("elif node in ours:", "elif ours:"),
    hint="Is *this* node's Tensor ours?",
)
accumulate.mistake(
    "the Tensor is noted in `ours`, not the node",
    swap=[("elif node in ours:", "elif gradients[node] in ours:"), ("ours.add(node)", "ours.add(gradients[node])")],
    hint="`ours` is a set of nodes.",
)
accumulate.mistake(
    "the later ones are added twice",
    swap=(OURS, "add_into(gradients[node], part)\n        gradients[node] = gradients[node] + part"),
    hint="add_into has done it all.",
)
accumulate.mistake(
    "what add_into returns is kept: None",
    swap=(OURS, "gradients[node] = add_into(gradients[node], part)"),
    hint="add_into changes its target, and returns nothing.",
)
accumulate.variant(
    "with an early return",
    source="""
def accumulate(gradients, ours, node, part):
    known = gradients.get(node)
    if known is None:
        gradients.update({node: part})
        return
    if node not in ours:
        gradients[node] = part + known
        ours |= {node}
        return
    add_into(known, part)
""",
)
accumulate.variant(
    "with +=, which makes a new Tensor: Tensors have no addition in place",
    swap=("gradients[node] = gradients[node] + part", "gradients[node] += part"),
)
accumulate.variant(
    "with elementwise kernels, and try",
    source="""
from tinygrad_cl.netcl.ops.elementwise import elementwise_binary

def accumulate(gradients, ours, node, part):
    try:
        known = gradients[node]
    except KeyError:
        gradients[node] = part
    else:
        if node in ours:
            compute(get_primitive("add").forward_formula(), (part, known), into=known)
        else:
            ours.update([node])
            gradients[node] = elementwise_binary(known, part, expression="ADD(v0, v1)")
""",
)
