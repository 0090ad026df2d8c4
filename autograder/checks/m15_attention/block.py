"""Check 6 of lesson 15: two branches that add."""

from autograder.checks.check import check


@check("attention.block", points=2, rtol=1e-4, atol=1e-5)
def attention_block(student, rng, tools):
    """A block whose four parts are replaced by simple functions; the gradient through it."""
    ag = student.ag
    x, hidden = rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 1))
    up = rng.choice([-1, 1], x.shape) * rng.uniform(0.5, 2.0, x.shape)
    a, b, c, d = rng.uniform(0.5, 1.5, 4).tolist()
    calls = []

    def put(array):
        return student.Tensor.from_host(student.queue, array)

    def noted(name, function):
        def part(*args):
            calls.append(name)
            return function(*args)

        return part

    def block():
        made = student.Block.__new__(student.Block)
        made.ln1 = noted("ln1", lambda x: ag.sin(a * x))
        made.attn = noted("attn", lambda x, hidden: x * x * b + hidden)
        made.ln2 = noted("ln2", lambda x: ag.tanh(c * x))
        made.mlp = noted("mlp", lambda x: x * d + x * x)
        return made

    def run():
        leaf = ag.tensor(put(x), requires_grad=True)
        with ag.Tape() as tape:
            out = block()(leaf, put(hidden))
        tape.backward(out, put(up))
        return out.to_host(), leaf.grad.to_host(), leaf.to_host()

    def called():
        calls.clear()
        run()
        return " ".join(calls)

    return {
        "input": "ln1(x) = sin(a·x), attn(x, hidden) = b·x² + hidden, ln2(x) = tanh(c·x), mlp(x) = d·x + x²; "
        f"a, b, c, d = {a:.2f}, {b:.2f}, {c:.2f}, {d:.2f}",
        "out": lambda: run()[0],
        "∂L/∂x": lambda: run()[1],
        "out of two blocks": lambda: block()(block()(ag.tensor(put(x)), put(hidden)), put(hidden)).to_host(),
        "the parts, in the order in which they were called": called,
        "x afterwards": lambda: run()[2],
    }


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
