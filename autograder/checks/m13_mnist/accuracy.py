"""Check 7 of lesson 13: how many are right."""

import numpy as np

from autograder.checks.check import check


@check("mnist.accuracy", points=2, rtol=1e-6, atol=1e-7)
def accuracy(student, rng, tools):
    """A model of fixed weights on sets that fill their batches and that do not; what the model sees of them."""
    import tinygrad_cl.netcl.autograd as ag
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.parameter import Parameter

    queue = manager.default("auto").queue
    n = int(rng.integers(41, 48))
    weight = Parameter.from_host(queue, rng.normal(size=(12, 10)))
    bias = rng.normal(0, 1.5, 10)
    images = rng.integers(0, 256, (n, 3, 4)).astype(np.uint8)
    scores = images.reshape(n, 12) / 255 @ weight.to_host() + bias
    labels = np.where(rng.random(n) < 0.6, scores.argmax(axis=1), rng.integers(0, 10, n)).astype(np.uint8)
    labels[-1], labels[0] = scores[-1].argmax(), scores[0].argmin()
    kept = images.copy(), labels.copy()
    seen = []

    def model(x):
        out = ag.matmul(x, weight) + bias
        seen.append((out.shape[0], ag.is_grad_enabled(), out.requires_grad))
        return out

    def share(count=n, **size):
        with ag.enable_grad():
            return student.accuracy(model, images[:count], labels[:count], **size)

    def watched(which):
        seen.clear()
        with ag.enable_grad():  # puts back what a mistake leaves
            student.accuracy(model, images, labels, size=7)
            afterwards = ag.is_grad_enabled()
        rows = [rows for rows, _, _ in seen]
        return {
            "rows": [max(rows) <= 7, sum(rows)],
            "afterwards": afterwards,
            "recorded": [sum(enabled for _, enabled, _ in seen), sum(required for _, _, required in seen)],
        }[which]

    return {
        "input": f"{n} images of 3 × 4 bytes; batches of 7, of {n}, and of more than there are",
        "batches of 7": lambda: share(size=7),
        "one more in a batch than there are": lambda: share(size=n + 1),
        "batches that are full": lambda: share(count=40, size=8),
        "batches of 1": lambda: share(count=9, size=1),
        "one picture": lambda: share(count=1),
        "without a size": lambda: share(),
        "at most 7 at once, rows in all": lambda: watched("rows"),
        "calls with recording on, results that require a gradient": lambda: watched("recorded"),
        "recording is on again afterwards": lambda: watched("afterwards"),
        "is a number": lambda: isinstance(share(), (float, np.floating)),
        "images and labels afterwards": lambda: (share(size=7), [(kept[0] == images).all(), (kept[1] == labels).all()])[
            1
        ],
    }


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
