"""Check 7 of lesson 13: how many are right."""

import numpy as np

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise
from autograder.checks.m13_mnist.places import drawn, parameter

accuracy = exercise(
    "mnist.accuracy", "Sets that fill their batches and that do not; what the model sees of them.", seconds=30
)
SETS = (1, 1), (2, 1), (3, 2), (3, 5), (5, 3), (4, 2), (6, 4), (5, 1), (7, 3), (7, 7), (9, 4), (8, 3)


def pictures(n, size, rng):
    """n pictures of 2 · 5 pixels, which are their logits but for a bias; two of three labels are the largest one's."""
    images = f"np.random.default_rng({rng.integers(10**6)}).integers(0, 256, ({n}, 2, 5), np.uint8)"
    bias = rng.permutation(10) / 7
    scores = eval(images, {"np": np}).reshape(n, 10) / 255 + np.round(bias, 3)
    labels = np.where(rng.random(n) < 0.65, scores.argmax(axis=1), rng.integers(0, 10, n))
    labels = labels.astype(drawn(rng, "uint8", "int64"))
    inputs = {"images": Text(images), "labels": labels, "b": parameter(np.round(bias, 3))}
    return Draft(inputs | {"model": Text("lambda x: ag.add(x, b)"), "size": size})


PICTURES = Source(
    lambda rng: (pictures(*numbers, rng) for numbers in SETS),
    lambda rng: pictures(*(int(n) for n in rng.integers(1, (12, 6))), rng),
)
MANY = Source(lambda rng: [pictures(503, None, rng), pictures(7, 3, rng), pictures(3, 1, rng), pictures(4, 2, rng)])


@accuracy.aspect("the share", 1.25, cases=PICTURES, few=16, many=48)
def share(student, case):
    with student.ag.enable_grad():
        return student.accuracy(case.model, case.images, case.labels, size=case.size)


@accuracy.aspect("at most so many pictures at once, and nothing is recorded", 0.5, corner=True, cases=MANY, few=4)
def watched(student, case):
    seen = []

    def model(x):
        out = case.model(x)
        seen.append((out.shape[0], student.ag.is_grad_enabled(), out.requires_grad))
        return out

    size = {} if case.size is None else {"size": case.size}
    with student.ag.enable_grad():
        student.accuracy(model, case.images, case.labels, **size)
        afterwards = student.ag.is_grad_enabled()
    rows, enabled, required = zip(*seen)
    return {
        "at most size pictures at once": max(rows) <= (case.size or 500),
        "pictures in all": sum(rows),
        "calls with recording on": sum(enabled),
        "results that require a gradient": sum(required),
        "recording is on again afterwards": afterwards,
    }


@accuracy.aspect("a float", 0.25, corner=True, cases=PICTURES, few=4, many=8, exact="a float from 0 to 1")
def kind(student, case):
    with student.ag.enable_grad():
        return isinstance(student.accuracy(case.model, case.images, case.labels), float)


LOOP = """        for start in range(0, len(images), size):
            logits = model(on_device(as_rows(images[start:start + size]))).to_host()
            right += np.sum(logits.argmax(axis=1) == labels[start:start + size])
"""
accuracy.mistake(
    "the model runs with recording on",
    swap=("    with ag.no_grad():\n", "    if True:\n"),
    hint="`with ag.no_grad():` around the loop.",
)
accuracy.mistake(
    "recording is switched off, and stays off",
    swap=("    with ag.no_grad():\n", "    ag.set_grad_enabled(False)\n    if True:\n"),
    hint="A `with` block puts it back.",
)
accuracy.mistake(
    "the mean of the batches' shares: the short batch counts as much as a full one",
    source="""
def accuracy(model, images, labels, size=500):
    shares = []
    with ag.no_grad():
        for start in range(0, len(images), size):
            logits = model(on_device(as_rows(images[start:start + size]))).to_host()
            shares.append(np.mean(logits.argmax(axis=1) == labels[start:start + size]))
    return float(np.mean(shares))
""",
    hint=[
        "Three pictures in the last batch, 500 in the others: what does one of the three count?",
        "Count the right ones, divide once.",
    ],
)
accuracy.mistake(
    "the rest that fills no batch is left out, and counts as wrong",
    swap=("range(0, len(images), size)", "range(0, len(images) - size + 1, size)"),
    hint="All of them count. A slice at the end is shorter by itself.",
)
accuracy.mistake(
    "the rest is left out of both, the right ones and their number",
    swap=[
        ("range(0, len(images), size)", "range(0, len(images) - size + 1, size)"),
        ("right / len(images)", "right / max(1, len(images) // size * size)"),
    ],
    hint="All of them count. A slice at the end is shorter by itself.",
)
accuracy.mistake(
    "all pictures go through the model at once",
    swap=(
        LOOP,
        """        logits = model(on_device(as_rows(images))).to_host()
        right = np.sum(logits.argmax(axis=1) == labels)
""",
    ),
    hint="At most `size` at once: memory.",
)
accuracy.mistake("the smallest logit is taken", swap=("argmax", "argmin"), hint="The largest logit: argmax.")
accuracy.mistake(
    "the largest logit of each column",
    swap=("argmax(axis=1)", "argmax(axis=0)"),
    hint="axis=1: over the classes of a row.",
)
accuracy.mistake(
    "the largest of all logits", swap=("argmax(axis=1)", "argmax()"), hint="One answer for each row: axis=1."
)
accuracy.mistake("the share of wrong answers", swap=("== labels", "!= labels"), hint="Right: equal to the label.")
accuracy.mistake(
    "the labels always begin at 0",
    swap=("labels[start:start + size]", "labels[:len(logits)]"),
    hint="The labels of the same pictures: from start on.",
)
accuracy.mistake(
    "the number of right answers, not their share",
    swap=("right / len(images)", "right"),
    hint="Divide by their number.",
)
accuracy.mistake("in percent", swap=("right / len(images)", "100 * right / len(images)"), hint="From 0 to 1.")
accuracy.mistake(
    "divided by the size of a batch",
    swap=("right / len(images)", "right / size"),
    hint="By the number of all pictures.",
)
accuracy.mistake("the share is rounded down", swap=("right / len(images)", "right // len(images)"), hint="`/`.")
accuracy.mistake(
    "pixels go in from 0 to 255",
    swap=(
        "as_rows(images[start:start + size])",
        "images[start:start + size].reshape(len(images[start:start + size]), -1)",
    ),
    hint="The model has learned with `as_rows`: numbers from 0 to 1.",
)
accuracy.mistake(
    "pictures are not made rows",
    swap=("as_rows(images[start:start + size])", "images[start:start + size] / 255"),
    hint="The model takes `as_rows` of pictures.",
)
accuracy.mistake("the count begins anew with each batch", swap=("right += np", "right = np"), hint="`+=`")
accuracy.mistake(
    "only the first batch counts: return stands in the loop",
    swap=("    return float(right / len(images))", "            return float(right / len(images))"),
    hint="How far is the return indented?",
)
accuracy.variant(
    "all answers in a list, a mean at the end",
    source="""
def accuracy(model, images, labels, size=500):
    answers = []
    with ag.no_grad():
        while len(answers) < len(images):
            part = images[len(answers):len(answers) + size]
            answers += model(ag.tensor(on_device(as_rows(part)))).to_host().argmax(-1).tolist()
    return np.mean(np.array(answers) == labels)
""",
)
accuracy.variant(
    "split before, as a decorated function",
    source="""
@ag.no_grad()
def accuracy(model, images, labels, size=500):
    hits = 0
    parts = range(size, len(labels), size)
    for x, y in zip(np.split(as_rows(images), parts), np.split(np.asarray(labels), parts)):
        logits = model(on_device(x)).to_host()
        hits += int((np.argsort(-logits, axis=1, kind="stable")[:, 0] == y).sum())
    return hits / len(labels)
""",
)
accuracy.variant(
    "there are as many labels, in the loop", swap=("range(0, len(images), size)", "range(0, len(labels), size)")
)
accuracy.variant("there are as many labels, at the end", swap=("right / len(images)", "right / len(labels)"))
accuracy.variant(
    "the model takes an array to the device itself",
    swap=("on_device(as_rows(images[start:start + size]))", "as_rows(images[start:start + size])"),
)
accuracy.variant("the classes are the last axis", swap=("argmax(axis=1)", "argmax(axis=-1)"))
accuracy.variant("NumPy's float64 is a float", swap=("return float(right / len(images))", "return right / len(images)"))
