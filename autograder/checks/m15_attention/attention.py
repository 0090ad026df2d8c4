"""Check 4 of lesson 15: softmax(q · kᵀ / √d) · v, where nothing is hidden."""

import numpy as np

from autograder.checks.check import check


@check("attention.attention", points=3, rtol=2e-3, atol=2e-5, device=("∂L/∂q", "∂L/∂k", "∂L/∂v"))
def attention_attention(student, rng, tools):
    """Two batches of four places, under two masks; gradients; scores that are large, and rows of different sizes."""
    ag = student.ag
    later = np.triu(np.ones((4, 4)), 1)
    other = np.array([[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], float)[:, rng.permutation(4)]
    q, k = rng.normal(size=(2, 2, 4, 3))
    v = rng.normal(size=(2, 4, 5))
    up = rng.choice([-1, 1], v.shape) * rng.uniform(0.5, 2.0, v.shape)

    def put(array):
        return student.Tensor.from_host(student.queue, array)

    def run(q, k, v, hidden):
        return student.attention(*[ag.tensor(put(each), requires_grad=True) for each in (q, k, v)], put(hidden))

    def gradients():
        leaves = [ag.tensor(put(each), requires_grad=True) for each in (q, k, v)]
        with ag.Tape() as tape:
            out, _ = student.attention(*leaves, put(later))
        tape.backward(out, put(up))
        return [np.zeros(1) if leaf.grad is None else leaf.grad.to_host() for leaf in leaves]

    found = {}

    def gradient(number):
        if not found:
            found["all"] = gradients()
        return found["all"][number]

    sizes = np.array([100.0, 1.0, -100.0, 30.0])[:, None]
    return {
        "input": f"q and k of shape {q.shape}, v of shape {v.shape}; hidden is the causal mask unless it says otherwise",
        "weights": lambda: run(q, k, v, later)[1].to_host(),
        "out": lambda: run(q, k, v, later)[0].to_host(),
        "∂L/∂q": lambda: gradient(0),
        "∂L/∂k": lambda: gradient(1),
        "∂L/∂v": lambda: gradient(2),
        "another mask: weights": lambda: run(q, k, v, other)[1].to_host(),
        "another mask: out": lambda: run(q, k, v, other)[0].to_host(),
        "large scores: weights": lambda: run(40 * q, 10 * k, v, later)[1].to_host(),
        "rows of large and of small scores: weights": lambda: run(np.abs(q) * sizes, np.abs(k), v, later)[1].to_host(),
        "one batch less, 5 places: out": lambda: run(
            v[0].T, v[1].T, q[0].T[[0, 1, 2, 0, 1]], np.triu(np.ones((5, 5)), 1)
        )[0].to_host(),
    }


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
    swap=("-math.inf)", "-10.0)"),
    hint="A score of −10 is not much lower than others. −∞ always is.",
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
