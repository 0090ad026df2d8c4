"""Check 7 of lesson 15: text, character by character."""

import numpy as np

from autograder.checks.check import check


@check("attention.generate", points=3)
def attention_generate(student, rng, tools):
    """A model that the check brings along: its logits depend on each character that it sees, and on its place."""
    ag, characters, context = student.ag, 6, 5
    table, seed = rng.normal(size=(context, characters, characters)), int(rng.integers(10**6))
    prompt, long = rng.integers(0, characters, 3).tolist(), rng.integers(0, characters, 9).tolist()
    enabled = []

    def model(ids):
        ids = np.asarray(ids.to_host() if hasattr(ids, "to_host") else ids)
        if ids.ndim != 2 or len(ids) != 1:
            raise ValueError(f"the model takes integers of shape (1, n), not of shape {ids.shape}")
        if not 1 <= ids.shape[1] <= context:
            raise ValueError(f"the model sees 1 to {context} characters, not {ids.shape[1]}")
        enabled.append(ag.is_grad_enabled())
        seen = np.array([table[place, each % characters] for place, each in enumerate(ids[0])])
        logits = 1.5 * np.cumsum(seen, axis=0) / np.sqrt(1 + np.arange(len(seen)))[:, None]
        return ag.tensor(student.Tensor.from_host(student.queue, logits[None]), requires_grad=True)

    def written(ids, count, temperature):
        return student.generate(model, ids, count, context, temperature, np.random.default_rng(seed))

    def near_1000():
        with np.errstate(all="ignore"):
            return student.generate(
                lambda ids: model(ids) + 1000.0, prompt, 4, context, 1.0, np.random.default_rng(seed)
            )

    def unused():
        ours = np.random.default_rng(seed)
        student.generate(model, prompt, 4, context, 1.0, ours)
        return ours.random()

    def kept():
        given = np.array(prompt)
        as_list = list(prompt)
        written(given, 3, 1.0), written(as_list, 3, 1.0)
        return [given, np.array(as_list)]

    def recorded():
        enabled.clear()
        written(prompt, 2, 1.0)
        return (
            f"{sum(enabled)} of {len(enabled)} calls of the model recorded a graph, {ag.is_grad_enabled()} afterwards"
        )

    return {
        "input": f"ids = {prompt} or {long}, context = {context}, {characters} characters, rng = np.random.default_rng({seed})",
        "one character": lambda: written(prompt, 1, 1.0),
        "two characters": lambda: written(prompt, 2, 1.0),
        "beyond the context": lambda: written(prompt, 12, 1.0),
        "ids longer than the context": lambda: written(np.array(long), 6, 1.0),
        "temperature 0.3": lambda: written(prompt, 12, 0.3),
        "temperature 3": lambda: written(prompt, 12, 3.0),
        "logits near 1000": near_1000,
        "no further character": lambda: written(prompt, 0, 1.0),
        "the next random number of rng, after 4 characters": unused,
        "ids afterwards": kept,
        "the graph": recorded,
    }


CROP, LAST, DRAW = "ids[-context:]", "[0, -1]", 'np.searchsorted(line / line[-1], rng.random(), "right")'
attention_generate.mistake(
    "the first place is read, which knows one character",
    swap=(LAST, "[0, 0]"),
    hint=["Which place has seen all characters?", "The last: `[0, -1]`."],
)
attention_generate.mistake(
    "the temperature multiplies",
    swap=("/ temperature", "* temperature"),
    hint="logits / temperature: a low one makes differences larger.",
)
attention_generate.mistake(
    "the temperature is not used", swap=(" / temperature", ""), hint="p = softmax(logits / temperature)"
)
attention_generate.mistake(
    "the temperature divides probabilities, not logits",
    swap=[(" / temperature", ""), ("np.cumsum(p)", "np.cumsum(np.exp(p / p.sum() / temperature))")],
    hint="Divide before the softmax.",
)
attention_generate.mistake(
    "the likeliest is taken, always",
    swap=(DRAW, "(0 * rng.random() + p).argmax()"),
    hint=["What does the random number change in your version?", "Lay p on a line, and see into whose piece r falls."],
)
attention_generate.mistake(
    "all characters are equally likely: p is not used",
    swap=(DRAW, "(rng.random() * len(p))"),
    hint="The pieces on the line have different lengths: p.",
)
attention_generate.mistake(
    "the model sees the first characters, not the last ones",
    swap=(CROP, "ids[:context]"),
    hint=["What does the model see when the text is long?", "`ids[-context:]`"],
)
attention_generate.mistake(
    "the context is not cut", swap=(CROP, "ids"), hint="The model sees `context` characters at most: `ids[-context:]`."
)
attention_generate.mistake(
    "the model sees one character only", swap=(CROP, "ids[-1:]"), hint="As many as it can: `ids[-context:]`."
)
attention_generate.mistake(
    "the cut is one too short",
    swap=(CROP, "ids[-(context - 1):]"),
    hint="The model sees `context` characters, not one less.",
)
attention_generate.mistake(
    "only what is new comes back",
    swap=("return ids", "return ids[len(ids) - count:]"),
    hint="The ids, and then the new ones: all of them.",
)
attention_generate.mistake(
    "new ones are put in front", swap=("ids.append(", "ids.insert(0, "), hint="Text grows at its end: append."
)
attention_generate.mistake(
    "one too many is drawn", swap=("range(count)", "range(count + 1)"), hint="How many new ones for count = 0?"
)
attention_generate.mistake(
    "the random number is drawn once, for all",
    swap=[
        ("    with ag.no_grad():", "    r = rng.random()\n    with ag.no_grad():"),
        ('rng.random(), "right"', 'r, "right"'),
    ],
    hint="Each character has a random number of its own.",
)
attention_generate.mistake(
    "nothing is subtracted before exp: large logits overflow",
    swap=("np.exp(logits - logits.max())", "np.exp(logits)"),
    hint="e¹⁰⁰⁰ is infinite. Subtract the largest first.",
)
attention_generate.mistake(
    "the line is read from its other end",
    swap=("rng.random()", "1 - rng.random()"),
    hint="The smallest c with p[0] + … + p[c] > r.",
)
attention_generate.mistake(
    "one character too far right on the line", swap=(DRAW, f"{DRAW} + 1"), hint="p[0] > r means: character 0."
)
attention_generate.mistake(
    "a graph is recorded", swap=("with ag.no_grad():", "if True:"), hint="`with ag.no_grad():` around it."
)
attention_generate.mistake(
    "the caller's ids are changed",
    swap=("ids = [int(each) for each in ids]", "ids = ids if isinstance(ids, list) else ids.tolist()"),
    hint="`append` to a list of your own: `list(ids)`.",
)
attention_generate.variant(
    "NumPy's integers, which are equal to ints",
    swap=("ids = [int(each) for each in ids]", "ids = [each for each in ids]"),
)
attention_generate.variant("the new ones as NumPy's integers", swap=("int(np.searchsorted", "(np.searchsorted"))
attention_generate.variant(
    "a list of lists for the model: ag.embedding takes it", swap=("np.array([ids[-context:]])", "[ids[-context:]]")
)
attention_generate.variant("there is one batch: the last is the first", swap=("[0, -1]", "[-1, -1]"))
attention_generate.variant(
    "argmax of what is larger than r, p as float64",
    source="""
@ag.no_grad()
def generate(model, ids, count, context, temperature, rng):
    text = np.array(ids, dtype=np.int64)
    while count:
        scores = model(text[None, -context:]).to_host().astype(float)[0][-1] / temperature
        e = np.exp(scores - max(scores))
        r = rng.random()
        text = np.append(text, (np.cumsum(e) > r * e.sum()).argmax())
        count -= 1
    return text.tolist()
""",
)
attention_generate.variant(
    "the package's softmax, a walk along the line, a tensor for the model",
    source="""
def generate(model, ids, count, context, temperature, rng):
    new = list(map(int, ids))
    for _ in range(count):
        with ag.no_grad():
            seen = Tensor.from_host(queue, [new[max(0, len(new) - context):]], "int32")
            p = ag.softmax(model(seen)[0, -1] * (1 / temperature)).to_host()
        r, c = rng.random(), 0
        while c < len(p) - 1 and r >= p[c]:
            r -= float(p[c])
            c += 1
        new.append(c)
    return new
""",
)
