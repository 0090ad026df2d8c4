"""Check 5 of lesson 10: gradients that add up, and whose buffer that is."""

import numpy as np

from autograder.checks.check import check


@check("tape.accumulate", points=3, rtol=1e-5, atol=1e-6, seconds=30)
def accumulate(student, rng, tools):
    """Sums of one to five parts, what each costs, in which buffer they lie; and whom nobody else's gradient may change."""
    count = 5
    arrays = [rng.normal(size=4).astype(np.float32) for _ in range(count)]

    def put(array):
        return student.Tensor.from_host(student.queue, array)

    def add_all(parts, node="x", gradients=None, ours=None):
        gradients, ours = {} if gradients is None else gradients, set() if ours is None else ours
        for part in parts:
            student.accumulate(gradients, ours, node, part)
        return gradients[node].to_host()

    def sums():
        return np.stack([add_all(map(put, arrays[:n])) for n in range(1, count + 1)])

    def is_ours():
        gradients, ours, seen = {}, set(), []
        for k, array in enumerate(arrays):
            student.accumulate(gradients, ours, "x", put(array))
            seen += ["x" in ours, len(ours), len(gradients)]
            if k == 2:
                student.accumulate(gradients, ours, "y", put(array))
        return np.array([*seen, "y" in ours, arrays[0][0]])

    def buffers():
        """Step by step: is it the part itself, a buffer of one of the parts, the buffer of the step before."""
        gradients, ours, seen, parts, before = {}, set(), [], [], None
        for array in arrays:
            parts.append(put(array))
            student.accumulate(gradients, ours, "x", parts[-1])
            now = gradients["x"].buffer
            seen += [gradients["x"] is parts[-1], any(now is each.buffer for each in parts), now is before]
            before = now
        return np.array([*seen, *gradients["x"].to_host()])

    def cost():
        """Step by step: kernels launched, other commands."""
        gradients, ours, seen = {}, set(), []
        for part in list(map(put, arrays)):
            commands = []
            with student.device.watched_by(commands.append):
                student.accumulate(gradients, ours, "x", part)
            kernels = sum(type(each).__name__ == "Launch" for each in commands)
            seen += [kernels, len(commands) - kernels]
        return np.array([*seen, arrays[0][0]])

    def shared():
        """x and y hold one Tensor, as after `add`; x gets more. What has y, what has x?"""
        gradients, ours, both = {}, set(), put(arrays[0])
        for node in ("y", "x"):
            student.accumulate(gradients, ours, node, both)
        for array in arrays[1:4]:
            student.accumulate(gradients, ours, "x", put(array))
        return np.stack([gradients[node].to_host() for node in ("y", "x")])

    def both_get_more():
        gradients, ours, both, more = {}, set(), put(arrays[0]), put(arrays[1])
        for part in (both, more, both):
            for node in ("x", "y"):
                student.accumulate(gradients, ours, node, part)
        student.accumulate(gradients, ours, "y", put(arrays[2]))
        return np.stack([gradients[node].to_host() for node in ("x", "y")])

    def parts_afterwards():
        parts = [put(array) for array in arrays]
        add_all(parts)
        return np.stack([part.to_host() for part in parts])

    def one_part_again_and_again():
        part = put(arrays[0])
        return np.stack([add_all([part] * n) for n in (2, 3, 4)] + [part.to_host()])

    def same_objects():
        gradients, ours = {}, set()
        first = put(arrays[0])
        student.accumulate(gradients, ours, "x", first)
        student.accumulate(gradients, ours, "x", put(arrays[1]))
        return np.concatenate([first.to_host(), gradients.pop("x").to_host(), [len(gradients)]])

    return {
        "input": f"five gradients, that arrive one after the other: {np.round(arrays, 3).tolist()}",
        "the sum after one, two, … parts": sums,
        "after each: is it in `ours`, how many are, how many gradients": is_ours,
        "after each: the part itself, a buffer of a part, the buffer of before; the sum": buffers,
        "after each: kernels launched, other commands": cost,
        "y and x share the first Tensor, x gets three more: y, x": shared,
        "both share two Tensors: x, y": both_get_more,
        "the parts themselves, afterwards": parts_afterwards,
        "one part two, three and four times; itself": one_part_again_and_again,
        "the first part after a second one; the sum": same_objects,
    }


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
    "in place from the second on, into a buffer that others hold",
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
    "never in place: each sum is a new Tensor",
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
    "added into the part that arrives",
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
