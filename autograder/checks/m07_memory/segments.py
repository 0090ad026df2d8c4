"""Check 7 of lesson 07: layers in checkpointed segments."""

import functools

import numpy as np

from autograder.checks.cases import Draft, Source, Text, filled
from autograder.checks.check import exercise

memory_segments = exercise(
    "memory.segments",
    "Layers in checkpointed segments: of each only its start is kept.",
    needs=("memory.checkpoint", "memory.replay"),
)

LAYERS = ("lambda h, w: (h @ w).tanh()", "lambda h, w: (h @ w).sin() + h")
NOISY = ("lambda h, w: dropout((h @ w).sin(), 0.3)", "lambda h, w: (h @ w) * default_generator().random(h.shape)")
LENGTHS = ((2, 1), (3, 2), (1, 1), (4, 2), (5, 2), (2, 3), (7, 3), (6, 3), (3, 1), (4, 3), (0, 2))


def network(layer, count, length, asks, rng):
    x, weights = filled((2, 3), "decimals", rng), [filled((3, 3), "decimals", rng) / 2 for _ in range(count)]
    return Draft({"layer": Text(layer), "x": x, "asks": asks, "weights": weights, "length": length})


def networks(layers, least=0):
    def drawn(rng):
        return network(
            layers[rng.integers(2)], int(rng.integers(1, 8)), int(rng.integers(1, 5)), bool(rng.integers(2)), rng
        )

    return Source(
        lambda rng: (
            network(layer, n, length, asks, rng)
            for asks in (True, False)
            for n, length in LENGTHS
            if n >= least and (n or asks)
            for layer in layers
        ),
        drawn,
    )


def there_and_back(student, case):
    student.manual_seed(5)
    x = student.Tensor(case.x, requires_grad=case.asks)
    weights = [student.Tensor(w, requires_grad=True) for w in case.weights]
    y = student.in_segments(case.layer, x * 0.5, weights, case.length)
    y.backward(np.arange(1.0, 7.0).reshape(2, 3))
    return {
        "y": y.data,
        "x.grad": None if x.grad is None else x.grad.data,
        "gradients of the weights": [w.grad.data for w in weights],
    }


def noisy(student, case):
    student.manual_seed(5)
    x = student.Tensor(case.x, requires_grad=case.asks)
    weights = [student.Tensor(w, requires_grad=True) for w in case.weights]
    y = student.in_segments(case.layer, x, weights, case.length)
    found = {"y": y.data.copy(), "drawn then": student.default_generator().random(2)}
    y.sum().backward()
    return found | {
        "gradients of the weights": [w.grad.data for w in weights],
        "drawn in the end": student.default_generator().random(2),
    }


memory_segments.aspect("the value and the gradients", 1.5, device=3, cases=networks(LAYERS))(there_and_back)
memory_segments.aspect("with random numbers", 0.75, cases=networks(NOISY, 1))(noisy)


@memory_segments.aspect(
    "one checkpoint for each segment",
    0.75,
    corner=True,
    cases=networks(LAYERS, 1),
    at_most=("numbers kept", "runs in all"),
)
def kept(student, case):
    calls = []
    x = student.Tensor(case.x, requires_grad=True)
    weights = [student.Tensor(w, requires_grad=True) for w in case.weights]
    y = student.in_segments(lambda h, w: calls.append(1) or case.layer(h, w), x, weights, case.length)
    order = [node for node in student.topological_order([y.grad_fn or y]) if hasattr(node, "kept_arrays")]
    arrays = {id(a): a.size for node in order for a in node.kept_arrays() if a.shape == x.shape}
    found = {"checkpoints": len(order), "numbers kept": sum(arrays.values()), "runs at first": len(calls)}
    y.sum().backward()
    return found | {"runs in all": len(calls)}


@memory_segments.on_device
def names(on, reference):
    def in_segments(layer, x, weights, length):
        return functools.reduce(layer, weights, x)

    return {"Tensor": on.MeasuredTensor, "in_segments": in_segments}


memory_segments.mistake(
    "the second run throws new dice: what is checkpointed is not `replayable`",
    swap=("replayable(run)", "run"),
    hint=[
        "With dropout: which mask has the second run?",
        "`checkpoint(replayable(run), …)`: the function inside is the one that runs again.",
    ],
)
memory_segments.mistake(
    "one `replayable` for all segments: each of them starts from the dice of the first",
    swap=[
        ("    for start in range", "    once = replayable(run)\n    for start in range"),
        ("checkpoint(replayable(run)", "checkpoint(once"),
    ],
    hint=["A replayable function has one first call. How many segments are there?", "Make a new one for each segment."],
)
memory_segments.mistake(
    "the weights are no inputs of the checkpoint, but taken from a loop's variable: the last part, when backward comes",
    source="""
def in_segments(layer, x, weights, length):
    for start in range(0, len(weights), length):
        def run(h):
            for w in weights[start:start + length]:
                h = layer(h, w)
            return h

        x = checkpoint(replayable(run), x)
    return x
""",
    hint=[
        "What is `start` when backward calls run?",
        "Hand the weights in: `checkpoint(…, x, *weights[start:start + length])`.",
    ],
)
memory_segments.mistake(
    "the weights are no inputs of the checkpoint, so the first segment is not linked where x is data",
    source="""
def in_segments(layer, x, weights, length):
    def part(some):
        def run(h):
            for w in some:
                h = layer(h, w)
            return h
        return run

    for start in range(0, len(weights), length):
        x = checkpoint(replayable(part(weights[start:start + length])), x)
    return x
""",
    hint=[
        "A Function is linked if one of its inputs asks for a gradient. Which inputs has your first segment?",
        "Hand the weights in: `checkpoint(…, x, *weights[start:start + length])`.",
    ],
)
memory_segments.mistake(
    "nothing is checkpointed",
    source="""
def in_segments(layer, x, weights, length):
    for w in weights:
        x = layer(x, w)
    return x
""",
    hint=["All gradients are right. What is kept?", "Each segment goes through `checkpoint`."],
)
memory_segments.mistake(
    "every layer is a checkpoint of its own",
    source="""
def in_segments(layer, x, weights, length):
    for w in weights:
        x = checkpoint(replayable(layer), x, w)
    return x
""",
    hint=["How many nodes has the graph?", "`length` layers in one function, and this function in one checkpoint."],
)
memory_segments.mistake(
    "the whole is one checkpoint",
    source="""
def in_segments(layer, x, weights, length):
    def run(h, *part):
        for w in part:
            h = layer(h, w)
        return h

    return checkpoint(replayable(run), x, *weights)
""",
    hint=["Then all of it is recomputed, and kept, at once.", "A checkpoint for every `length` layers."],
)
memory_segments.mistake(
    "`length` is taken for the number of segments",
    swap=("    for start in range", "    length = -(-len(weights) // length)\n    for start in range"),
    hint=["Seven layers in segments of 3: how many checkpoints?", "`range(0, len(weights), length)`."],
)
memory_segments.mistake(
    "the slice ends at `length`, not `length` further on",
    swap=("weights[start:start + length]", "weights[start:length]"),
    hint=["Which weights has the second segment?", "`weights[start:start + length]`."],
)
memory_segments.mistake(
    "a segment starts at every layer: most are computed several times",
    swap=("range(0, len(weights), length)", "range(0, len(weights))"),
    hint=["Where does the second segment start?", "`range(0, len(weights), length)`."],
)
memory_segments.mistake(
    "layers that do not fill a segment are left out",
    swap=("range(0, len(weights), length)", "range(0, len(weights) - length + 1, length)"),
    hint=["Seven layers in segments of 3: where is the last?", "The last slice may be shorter."],
)
memory_segments.mistake(
    "each segment starts from x, not from where the last one ended",
    swap=[("        x = checkpoint(", "        out = checkpoint("), ("return x", "return out")],
    hint=["With which h does the second segment begin?", "`x = checkpoint(…, x, …)`: the result goes on."],
)
memory_segments.mistake(
    "the last layer of each segment is left out",
    swap=("for w in part:", "for w in part[:-1] or part:"),
    hint=["How many layers are run?", "All weights of the slice."],
)
memory_segments.mistake(
    "the function returns inside its loop, after one layer",
    swap=("            h = layer(h, w)\n        return h", "            h = layer(h, w)\n            return h"),
    hint=["How many layers are run?", "`return h` comes after the loop."],
)
memory_segments.variant(
    "recursion",
    source="""
def in_segments(layer, x, weights, length):
    def run(h, *part):
        if not part:
            return h
        return run(layer(h, part[0]), *part[1:])

    if not weights:
        return x
    return in_segments(layer, checkpoint(replayable(run), x, *weights[:length]), weights[length:], length)
""",
)
memory_segments.variant(
    "parts first, reduce",
    source="""
from functools import reduce

def in_segments(layer, x, weights, length):
    parts = [[]]
    for w in weights:
        if len(parts[-1]) == length:
            parts.append([])
        parts[-1].append(w)
    for part in parts:
        x = checkpoint(replayable(lambda h, *ws: reduce(layer, ws, h)), x, *part)
    return x
""",
)
memory_segments.variant(
    "a while loop, Checkpoint.apply itself",
    source="""
def in_segments(layer, x, weights, length):
    i = 0
    while i < len(weights):
        part = weights[i:i + length]

        def run(h, *ws, count=len(part)):
            for j in range(count):
                h = layer(h, ws[j])
            return h

        x = Checkpoint.apply(x, *part, function=replayable(run))
        i += length
    return x
""",
)
