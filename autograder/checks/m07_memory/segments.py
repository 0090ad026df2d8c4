"""Check 7 of lesson 07: layers in checkpointed segments."""

import functools

import numpy as np

from autograder.checks.check import check


@check(
    "memory.segments",
    points=3,
    needs=("memory.checkpoint", "memory.replay"),
    device=("segments of 3, 3, 1: gradients of x and the weights",),
)
def memory_segments(student, rng, tools):
    """The same network, and of each segment only its start is kept."""
    n, k, layers = int(rng.choice([2, 5, 6, 7])), int(rng.integers(3, 5)), 7
    seed = int(rng.integers(1, 10_000))
    x_array, upstream = rng.normal(size=(n, k)), rng.normal(size=(n, k))
    w_arrays = [rng.normal(size=(k, k)) / 2 for _ in range(layers)]

    def tanh_layer(h, w):
        return (h @ w).tanh()

    def dropout_layer(h, w):
        return student.dropout((h @ w).sin(), 0.3)

    def build(layer, length, data=False):
        student.manual_seed(seed)
        x = student.Tensor(x_array, requires_grad=not data)
        weights = [student.Tensor(w, requires_grad=True) for w in w_arrays]
        return student.in_segments(layer, x, weights, length), x, weights

    def gradients(layer, length, data=False):
        """Of x, where it asks for one, and of the weights."""
        out, x, weights = build(layer, length, data)
        out.backward(upstream)
        return np.concatenate([t.grad.data.ravel() for t in ([] if data else [x]) + weights])

    def checkpoints(length):
        out, _, _ = build(tanh_layer, length)
        found, todo = [], [out.grad_fn]
        while todo:
            node = todo.pop()
            if hasattr(node, "next_nodes") and node not in found:
                found.append(node)
                todo += node.next_nodes
        return found

    def kept(length):
        arrays = {id(a): a for node in checkpoints(length) for a in node.kept_arrays()}
        return sum(a.size for a in arrays.values() if a.shape == (n, k))

    def runs(length, backward):
        calls = []

        def layer(h, w):
            calls.append(1)
            return tanh_layer(h, w)

        out, _, _ = build(layer, length)
        if backward:
            out.backward(upstream)
        return len(calls)

    def draws():
        """The value with dropout, and what others draw before and after backward."""
        out, _, _ = build(dropout_layer, 2)
        between = student.default_generator().random(3)
        out.backward(upstream)
        return np.concatenate([out.data.ravel(), between, student.default_generator().random(3)])

    return {
        "input": f"x ({n}, {k}), {layers} layers",
        "segments of 3, 3, 1: the value": lambda: build(tanh_layer, 3)[0].data,
        "segments of 3, 3, 1: gradients of x and the weights": lambda: gradients(tanh_layer, 3),
        "x is data, asks for no gradient: gradients of the weights": lambda: gradients(tanh_layer, 3, data=True),
        "with dropout: the value, and what others draw before and after backward": draws,
        "with dropout: gradients of x and the weights": lambda: gradients(dropout_layer, 2),
        "segments of 3: nodes in the graph": lambda: len(checkpoints(3)),
        "segments of 2: nodes in the graph": lambda: len(checkpoints(2)),
        "segments of 3: numbers kept, without those of the weights": lambda: kept(3),
        "segments of 2: numbers kept, without those of the weights": lambda: kept(2),
        "one segment: numbers kept, without those of the weights": lambda: kept(9),
        "runs of a layer after forward, after backward": lambda: [runs(3, False), runs(3, True)],
    }


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
