"""Check 4 of lesson 15: who looks at whom."""

import math

import numpy as np

from autograder.checks.cases import Draft, Source
from autograder.checks.check import exercise
from autograder.checks.m15_attention.leaves import node, on_device, parameter, some

attention_attention = exercise(
    "attention.attention",
    "Out, weights and gradients under masks of all kinds, with any axes in front; scores that are large.",
    seconds=60,
)


def looks(batch, places, d, e, kind, rng):
    """The causal mask, or a drawn one in which each row has a 0."""
    hidden = np.triu(np.ones((places, places)), 1)
    if rng.integers(2):
        hidden = (rng.random((places, places)) < 0.5) * 1.0
        hidden[np.arange(places), rng.integers(0, places, places)] = 0
    shapes = {"q": (*batch, places, d), "k": (*batch, places, d), "v": (*batch, places, e)}
    inputs = {name: parameter(shape, "decimals" if name == "v" else kind, rng) for name, shape in shapes.items()}
    return Draft(inputs | {"node": node(rng), "hidden": on_device(hidden)})


SMALL = (
    ((), 2, 3, 1),
    ((1,), 2, 2, 3),
    ((2,), 3, 2, 1),
    ((), 1, 2, 2),
    ((2,), 3, 1, 2),
    ((1, 2), 2, 3, 2),
    ((2,), 4, 3, 2),
)
KINDS = "decimals", "whole"
USUAL = Source(
    lambda rng: (looks(*sizes, kind, rng) for kind in KINDS for sizes in SMALL),
    lambda rng: looks(some(rng, (), (2,), (2, 1)), *(int(n) for n in rng.integers(1, 5, 3)), some(rng, *KINDS), rng),
)
LARGE = Source(
    lambda rng: (looks(*sizes, "large", rng) for sizes in (SMALL[2], SMALL[6], SMALL[1])),
    lambda rng: looks((2,), 4, 3, 2, "large", rng),
)


def both(student, case):
    out, weights = student.attention(*(case.node(each) for each in (case.q, case.k, case.v)), case.hidden)
    yield
    return {"weights": weights.to_host(), "out": out.to_host()}


attention_attention.aspect("weights and out", 1.5, cases=USUAL, few=10, many=30, rtol=2e-3, atol=2e-5)(both)


@attention_attention.aspect(
    "the gradients of q, k and v", 1, cases=USUAL, few=8, many=28, device=3, rtol=2e-3, atol=1e-4
)
def gradients(student, case):
    leaves = case.q, case.k, case.v
    with student.ag.Tape() as tape:
        out, _ = student.attention(*map(case.node, leaves), case.hidden)
    yield
    up = np.cos(np.arange(math.prod(out.shape))).round(1).reshape(out.shape)
    tape.backward(out, student.Tensor.from_host(student.queue, up))
    return {name: leaf.grad if leaf.grad is None else leaf.grad.to_host() for name, leaf in zip("qkv", leaves)}


attention_attention.aspect("large scores", 0.5, corner=True, cases=LARGE, few=4, many=12, rtol=2e-3, atol=2e-5)(both)


@attention_attention.on_device
def names(on, reference):
    def measured(hidden):
        def out(q, k, v):
            scores = on.ag.matmul(q, k, transpose_b=True) * (1 / q.shape[-1] ** 0.5)
            return on.ag.matmul(on.ag.softmax(on.ag.masked_fill(scores, hidden, -1e9)), v)

        return on.on_tape(out)

    return {"attention": lambda q, k, v, hidden: (measured(hidden.to_host())(q, k, v), None)}


SCALE, MASK = " / math.sqrt(q.shape[-1])", "ag.masked_fill(scores, hidden, -math.inf)"
attention_attention.mistake("the scores are not divided by √d", swap=(SCALE, ""), hint="scores = q · kᵀ / √d")
attention_attention.mistake(
    "the scores are divided by d, not by √d", swap=(SCALE, " / q.shape[-1]"), hint="The square root of d."
)
attention_attention.mistake(
    "the scores are multiplied by √d", swap=(SCALE, SCALE.replace("/ ", "* ")), hint="It makes scores smaller: divide."
)
attention_attention.mistake(
    "√ of the number of places is divided by, not of the features",
    swap=("q.shape[-1]", "q.shape[-2]"),
    hint=["d is the length of what is multiplied and summed.", "`q.shape[-1]`"],
)
attention_attention.mistake(
    "nothing is hidden: every place looks at the answer",
    swap=(f"    scores = {MASK}\n", ""),
    hint=[
        "What is above the diagonal of your weights?",
        "`ag.masked_fill(scores, hidden, -math.inf)`, before the softmax.",
    ],
)
attention_attention.mistake(
    "hidden places get the score 0, and e⁰ is 1", swap=("-math.inf)", "0.0)"), hint="exp(0) is 1. Which score gives 0?"
)
attention_attention.mistake(
    "hidden places get a score that is only a little low",
    swap=("-math.inf)", "-3.0)"),
    hint="A score of −3 is not much lower than others. −∞ always is.",
)
attention_attention.mistake(
    "the mask comes after the softmax: rows do not sum to 1",
    swap=[
        (f"    scores = {MASK}\n", ""),
        (
            "keepdims=True)\n    return",
            "keepdims=True)\n    weights = ag.masked_fill(weights, hidden, 0.0)\n    return",
        ),
    ],
    hint=["What do the weights of a row sum to?", "Mask the scores, before exp."],
)
attention_attention.mistake(
    "the mask is inverted: only what is hidden is seen",
    swap=(MASK, "ag.masked_fill(scores, 1 - hidden, -math.inf)"),
    hint="1 means: must not look.",
)
attention_attention.mistake(
    "the mask is transposed: places look ahead, never back",
    swap=(MASK, "ag.masked_fill(scores, ag.transpose(hidden), -math.inf)"),
    hint="Row: who asks. Column: who is looked at. The mask has it that way already.",
)
attention_attention.mistake(
    "a causal mask of its own, whatever `hidden` says",
    swap=(MASK, "ag.masked_fill(scores, ag.causal_mask(q.shape[-2], queue), -math.inf)"),
    hint="`hidden` is an argument; it may be another mask.",
)
attention_attention.mistake(
    "softmax along the queries, not along the keys",
    swap=("axis=-1", "axis=-2"),
    hint=["What sums to 1, rows or columns?", "axis=-1"],
)
attention_attention.mistake(
    "nothing is subtracted before exp: large scores overflow",
    swap=(" - ag.max(scores, axis=-1, keepdims=True)", ""),
    hint=["e¹⁰⁰ is no float32.", "Subtract the largest score of the row."],
)
attention_attention.mistake(
    "the largest score of all is subtracted: low rows vanish",
    swap=("ag.max(scores, axis=-1, keepdims=True)", "ag.max(scores)"),
    hint="One row's scores are far below another's. Each row has its own largest: `axis=-1, keepdims=True`.",
)
attention_attention.mistake(
    "queries and keys have changed places",
    swap=("ag.matmul(q, k,", "ag.matmul(k, q,"),
    hint="A row for each query: q first.",
)
attention_attention.mistake(
    "no division by the sum: weights are not shares",
    swap=("e / ag.sum(e, axis=-1, keepdims=True)", "e"),
    hint="Softmax: e / Σ e.",
)
attention_attention.mistake(
    "scores come back in place of weights", swap=("v), weights", "v), scores"), hint="return out, weights"
)
attention_attention.mistake(
    "the weights are transposed in the product with v",
    swap=("ag.matmul(weights, v)", "ag.matmul(weights, v, transpose_a=True)"),
    hint="Row i of the weights mixes the values for place i: weights · v.",
)
attention_attention.mistake(
    "the weights leave the graph: only v gets a gradient",
    swap=("return ag.matmul(weights, v)", "return ag.matmul(weights.value, v)"),
    hint=["Who gets a gradient, q, k, v?", "`.value` is a Tensor without a history. Pass the Node."],
)
attention_attention.variant("d is the length of a key, too", swap=("q.shape[-1]", "k.shape[-1]"))
attention_attention.variant(
    "the package's softmax, the mask as a large negative number",
    source="""
def attention(q, k, v, hidden):
    scores = q * (1 / q.shape[-1] ** 0.5) @ ag.transpose(k, (*range(len(k.shape) - 2), -1 % len(k.shape), -2 % len(k.shape)))
    weights = ag.softmax(scores + ag.tensor(hidden) * -1e9)
    return weights @ v, weights
""",
)
attention_attention.variant(
    "chosen by where, exp of the difference to logsumexp",
    source="""
def attention(q, k, v, hidden):
    scale = ag.rsqrt(ag.tensor(Tensor.from_host(queue, [float(q.shape[-1])])))
    scores = ag.where(ag.tensor(hidden), -1e30, ag.matmul(q, k, transpose_b=True) * scale)
    weights = ag.exp(scores - ag.logsumexp(scores, axis=-1, keepdims=True))
    return [ag.matmul(weights, v), weights]
""",
)
attention_attention.variant(
    "the largest as a constant: its gradient cancels anyway",
    source="""
def attention(q, k, v, hidden):
    scores = ag.masked_fill(ag.matmul(q, k, transpose_b=True), hidden) * q.shape[-1] ** -0.5
    with ag.no_grad():
        largest = ag.max(scores, axis=-1, keepdims=True).value
    e = ag.exp(scores - largest)
    weights = e * ag.reciprocal(ag.sum(e, axis=-1, keepdims=True))
    return ag.matmul(weights, v), weights
""",
)
