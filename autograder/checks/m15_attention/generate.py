"""Check 7 of lesson 15: a text, character by character."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise
from autograder.checks.m15_attention.leaves import some

attention_generate = exercise(
    "attention.generate",
    "Texts of a model whose logits depend on each character that it sees and on its place; what it costs.",
    seconds=30,
)
HALF = Text("type('Half', (np.random.Generator,), {'random': lambda self, *size: 0.5})(np.random.PCG64(0))")


def writing(length, count, rng, temperature=1.0, shift=0.0):
    ids, context, seed = [int(n) for n in rng.integers(0, 6, length)], int(rng.integers(2, 6)), rng.integers(10**6)
    table = Text(f"np.random.default_rng({seed}).normal(0, 2, ({context}, 6, 6)) + {shift}")
    inputs = {
        "ids": some(rng, ids, Text(f"np.array({ids})")),
        "count": count,
        "context": context,
        "temperature": temperature,
    }
    return Draft({"table": table} | inputs | {"rng": Text(f"np.random.default_rng({rng.integers(1000)})")})


def small(rng):
    for count, length in ((1, 1), (1, 3), (2, 2), (6, 3), (3, 7), (0, 2)):
        for temperature, shift in ((1.0, 0.0), (0.3, 0.0), (3.0, 1000.0)):
            yield writing(length, count, rng, temperature, shift)
    for characters in (2, 4):  # p[0] + … + p[c] = r, exactly
        equal = {"table": Text(f"np.zeros((3, {characters}, {characters}))"), "ids": [0, 1], "count": 3, "context": 3}
        yield Draft(equal | {"temperature": 1.0, "rng": HALF}, ("r is exactly a sum of probabilities",))


def drawn(rng):
    return writing(
        int(rng.integers(1, 8)),
        int(rng.integers(1, 9)),
        rng,
        round(float(rng.uniform(0.2, 3)), 1),
        some(rng, 0.0, 1000.0),
    )


WRITINGS = Source(small, drawn)


@attention_generate.aspect("the text", 2, cases=WRITINGS, few=24, many=72)
def text(student, case):
    def model(ids):
        ids = np.asarray(ids.to_host() if hasattr(ids, "to_host") else ids)
        if ids.ndim != 2 or len(ids) != 1 or not 1 <= ids.shape[1] <= case.context:
            raise ValueError(f"the model takes integers of shape (1, n), 1 ≤ n ≤ {case.context}, not {ids.shape}")
        logits = np.cumsum([case.table[place, each] for place, each in enumerate(ids[0])], axis=0)
        logits /= 1 + np.arange(len(logits))[:, None]
        return student.ag.tensor(student.Tensor.from_host(student.queue, logits[None]), requires_grad=True)

    return student.generate(model, case.ids, case.count, case.context, case.temperature, case.rng)


@attention_generate.aspect(
    "one random number for each, no graph, a list of ints",
    1,
    corner=True,
    cases=WRITINGS,
    few=10,
    many=20,
    exact="a list of ints",
)
def costs(student, case):
    recorded, before = [], student.ag.is_grad_enabled()

    def model(ids):
        recorded.append(student.ag.is_grad_enabled())
        return student.ag.tensor(student.Tensor.from_host(student.queue, case.table[:1, :1] * 0.5), requires_grad=True)

    found = student.generate(model, case.ids, case.count, case.context, case.temperature, case.rng)
    after, _ = student.ag.is_grad_enabled(), student.ag.set_grad_enabled(before)
    return {
        "next random number": case.rng.random(),
        "calls of the model with recording on": sum(recorded),
        "recording is on again": after == before,
        "types": " ".join(sorted({type(found).__name__, *(type(each).__name__ for each in found)})),
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
attention_generate.mistake(
    "the new ones are NumPy's integers, not ints",
    swap=("int(np.searchsorted", "(np.searchsorted"),
    hint="A list of ints, says the docstring: `int(…)`.",
)
attention_generate.mistake(
    "ids given as an array stay NumPy's integers",
    swap=("ids = [int(each) for each in ids]", "ids = [each for each in ids]"),
    hint="A list of ints, says the docstring: `int(…)` of each, or `tolist()`.",
)
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
