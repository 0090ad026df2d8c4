"""Check 6 of lesson 15: a block: look back, then think."""

import math

import numpy as np

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise
from autograder.checks.m15_attention.leaves import node, on_device, parameter

attention_block = exercise(
    "attention.block", "A block whose four parts are replaced by simple functions; the gradient through it."
)


def block(shape, rng):
    a, b, c, d = rng.integers(5, 15, 4) / 10
    inputs = {
        "p": parameter(shape, "decimals", rng),
        "x": node(rng),
        "hidden": on_device(rng.integers(-9, 9, (shape[1], 1)) / 10),
    }
    texts = f"x: ag.sin(x * {a})", f"x, hidden: x * x * {b} + hidden", f"x: ag.tanh(x * {c})", f"x: x * {d} + x * x"
    return Draft(inputs | {name: Text(f"lambda {text}") for name, text in zip(("ln1", "attn", "ln2", "mlp"), texts)})


BLOCKS = Source(
    lambda rng: (block(shape, rng) for shape in ((1, 1, 1), (1, 2, 2), (2, 3, 2), (2, 1, 3))),
    lambda rng: block(tuple(int(n) for n in rng.integers(1, 4, 3)), rng),
)


@attention_block.aspect("out and its gradient", 1.75, cases=BLOCKS, few=8, many=32, rtol=1e-4, atol=1e-4)
def through(student, case):
    block = student.Block.__new__(student.Block)
    block.ln1, block.attn, block.ln2, block.mlp = case.ln1, case.attn, case.ln2, case.mlp
    with student.ag.Tape() as tape:
        out = block(case.x(case.p), case.hidden)
    yield
    up = np.cos(np.arange(math.prod(out.shape))).round(1).reshape(out.shape)
    tape.backward(out, student.Tensor.from_host(student.queue, up))
    return {"out": out.to_host(), "gradient": case.p.grad if case.p.grad is None else case.p.grad.to_host()}


@attention_block.aspect("each part is called once, in order", 0.25, corner=True, cases=BLOCKS, few=4, many=8)
def called(student, case):
    block, calls = student.Block.__new__(student.Block), []
    for name in ("ln1", "attn", "ln2", "mlp"):
        setattr(block, name, lambda *args, name=name: calls.append(name) or getattr(case, name)(*args))
    block(case.x(case.p), case.hidden)
    return " ".join(calls)


FIRST, SECOND = "x = x + self.attn(self.ln1(x), hidden)", "return x + self.mlp(self.ln2(x))"
attention_block.mistake(
    "nothing is added in the first branch: x is lost",
    swap=(FIRST, "x = self.attn(self.ln1(x), hidden)"),
    hint="The line at the left goes past the branch: x + …",
)
attention_block.mistake(
    "nothing is added in the second branch",
    swap=(SECOND, "return self.mlp(self.ln2(x))"),
    hint="The line at the left goes past the branch: x + …",
)
attention_block.mistake(
    "the norm comes after the sum, not inside the branch",
    swap=[(FIRST, "x = self.ln1(x + self.attn(x, hidden))"), (SECOND, "return self.ln2(x + self.mlp(x))")],
    hint="That is the block of 2017. In the drawing, the norm is in front of attn, inside the branch.",
)
attention_block.mistake(
    "what is added to is the normed x",
    swap=[
        (FIRST, "x = self.ln1(x)\n        x = x + self.attn(x, hidden)"),
        (SECOND, "x = self.ln2(x)\n        return x + self.mlp(x)"),
    ],
    hint="The straight line has no norm in it. Keep x, and norm only what enters the branch.",
)
attention_block.mistake(
    "both branches start from the same x",
    swap=(FIRST + "\n        " + SECOND, "return x + self.attn(self.ln1(x), hidden) + self.mlp(self.ln2(x))"),
    hint="The second branch sees what the first has added.",
)
attention_block.mistake(
    "the second sum starts from the old x: what attention found is lost",
    swap=(
        FIRST + "\n        " + SECOND,
        "h = x + self.attn(self.ln1(x), hidden)\n        return x + self.mlp(self.ln2(h))",
    ),
    hint="Is the result of attention on the straight line?",
)
attention_block.mistake(
    "the norms are left out",
    swap=[("self.ln1(x)", "x"), ("self.ln2(x)", "x")],
    hint="Each branch begins with its norm.",
)
attention_block.mistake(
    "the second norm is left out", swap=("self.ln2(x)", "x"), hint="Each branch begins with its norm."
)
attention_block.mistake(
    "the first norm is left out", swap=("self.ln1(x)", "x"), hint="Each branch begins with its norm."
)
attention_block.mistake(
    "what is added to is the normed x, in the first branch",
    swap=(FIRST, "x = self.ln1(x)\n        x = x + self.attn(x, hidden)"),
    hint="The straight line has no norm in it. Keep x, and norm only what enters the branch.",
)
attention_block.mistake(
    "the sum of the first branch has a name of its own, and the second goes on with the old x",
    swap=(FIRST, "h = x + self.attn(self.ln1(x), hidden)"),
    hint="The second branch starts from the sum, and is added to the sum.",
)
attention_block.mistake(
    "ln1 is used in both branches", swap=("self.ln2", "self.ln1"), hint="The second branch has a norm of its own: ln2."
)
attention_block.mistake(
    "the norms have changed places",
    swap=[("self.ln2", "self.ln0"), ("self.ln1", "self.ln2"), ("self.ln0", "self.ln1")],
    hint="ln1 belongs to attn, ln2 to mlp.",
)
attention_block.mistake(
    "think first, then look back",
    swap=(
        FIRST + "\n        " + SECOND,
        "x = x + self.mlp(self.ln2(x))\n        return x + self.attn(self.ln1(x), hidden)",
    ),
    hint="attn is the first branch of the drawing.",
)
attention_block.mistake(
    "x is added twice in the end",
    swap=(
        FIRST + "\n        " + SECOND,
        "h = x + self.attn(self.ln1(x), hidden)\n        return x + h + self.mlp(self.ln2(h))",
    ),
    hint="h holds x already.",
)
CLASS = """
class Block(Module):
    def __init__(self, width, heads, seed=None):
        self.ln1, self.attn = Norm(width), Attention(width, heads, seed)
        self.ln2, self.mlp = Norm(width), MLP(width, seed)

    def forward(self, x, hidden):
"""
attention_block.variant(
    "with names for the parts",
    source=CLASS
    + """
        normed = self.ln1(x)
        found = self.attn(normed, hidden)
        middle = ag.add(found, x)
        thought = self.mlp(self.ln2(middle))
        return ag.add(middle, thought)
""",
)
attention_block.variant(
    "a loop over the branches",
    source=CLASS
    + """
        for branch in (lambda h: self.attn(self.ln1(h), hidden), lambda h: self.mlp(self.ln2(h))):
            x = branch(x) + x
        return x
""",
)
