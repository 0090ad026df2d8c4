"""Check 3 of lesson 13: cross-entropy, of operations of the tape."""

import numpy as np

from autograder.checks.cases import Text, array, choice
from autograder.checks.check import exercise
from autograder.checks.m13_mnist.device import measured_gradients
from autograder.checks.m13_mnist.places import drawn, parameter

cross_entropy = exercise(
    "mnist.cross_entropy",
    "Losses and gradients: ties, one row, one class, very large logits; of which operations.",
    seconds=30,
)
SHAPES = (2, 2), (1, 3), (3, 2), (1, 1), (2, 3), (3, 4)
LOGITS = array("numbers", SHAPES, ("decimals", "large", "whole", "transposed", "zeros"), axes=2)
LOGITS = LOGITS.where(lambda numbers: numbers.ndim == 2).add(
    p=lambda numbers: parameter(numbers),
    logits=lambda rng: Text(drawn(rng, "lambda p: ag.tensor(p)", "lambda p: ag.tensor(p)", "lambda p: ag.mul(p, 0.5)")),
    targets=lambda numbers, rng: Text(
        f"on_device(np.eye({numbers.shape[1]})[{rng.integers(0, numbers.shape[1], len(numbers)).tolist()}])"
    ),
)
NEAR = {"rtol": 1e-4, "atol": 1e-5}


@cross_entropy.aspect("the loss", 1.5, cases=LOGITS, few=12, many=36, **NEAR)
def loss(student, case):
    found = student.cross_entropy(case.logits(case.p), case.targets)
    yield
    return {"loss": found.to_host(), "kind": type(found).__name__, "targets afterwards": case.targets.to_host()}


@cross_entropy.aspect(
    "the gradient of the logits",
    1.25,
    cases=LOGITS.add(grad=lambda rng: drawn(rng, 1.0, -2.0, 0.5)),
    few=10,
    many=30,
    device=5,
    **NEAR,
)
def gradient(student, case):
    return student.gradients(lambda: student.cross_entropy(case.logits(case.p), case.targets), case.grad, case.p)


@cross_entropy.aspect("without ag.cross_entropy", 0.25, corner=True, cases=choice("rows", 1, 2))
def without(student, case):
    logits = student.ag.tensor(student.Parameter.from_host(student.queue, np.ones((case.rows, 2))))
    with student.ag.Tape() as tape:
        student.cross_entropy(logits, student.on_device(np.eye(2)[: case.rows]))
    return [node.op_name for node in tape.nodes].count("cross_entropy")


@cross_entropy.on_device
def names(on, reference):
    return {"gradients": measured_gradients, "cross_entropy": on.ag.cross_entropy}


Z = "z = logits - ag.max(logits, axis=1, keepdims=True)"
LAST = "return ag.sum(targets * (log_sum - z)) * (1 / logits.shape[0])"
cross_entropy.mistake(
    "nothing is subtracted before exp: e¹⁰⁰⁰ is inf",
    swap=(Z, "z = logits"),
    hint=["What is e¹⁰⁰⁰ in float32?", "Subtract the row's maximum first."],
)
cross_entropy.mistake(
    "the maximum is that of all rows: a row far below it is ln 0",
    swap=(Z, "z = logits - ag.max(logits)"),
    hint="A row around −800 beside a 1000: each row has its own maximum, axis=1.",
)
cross_entropy.mistake(
    "the maximum is that of a column",
    swap=(Z, "z = logits - ag.max(logits, axis=0, keepdims=True)"),
    hint="axis=1: along the classes of a row.",
)
cross_entropy.mistake(
    "the sum goes down the columns",
    swap=("ag.sum(ag.exp(z), axis=1, keepdims=True)", "ag.sum(ag.exp(z), axis=0, keepdims=True)"),
    hint="Over the classes of a row: axis=1.",
)
cross_entropy.mistake(
    "the sum goes over all rows at once",
    swap=("ag.sum(ag.exp(z), axis=1, keepdims=True)", "ag.sum(ag.exp(z))"),
    hint="Each row has its own sum: axis=1.",
)
cross_entropy.mistake(
    "softmax first, then its logarithm: ln 0 for the probability 0",
    swap=(
        LAST,
        "return ag.sum(targets * -ag.log(ag.exp(z) / ag.sum(ag.exp(z), axis=1, keepdims=True))) * (1 / logits.shape[0])",
    ),
    hint=[
        "A logit 1000 below the largest: what is its probability, in float32?",
        "ln Σ eᶻ − z, without a probability between.",
    ],
)
cross_entropy.mistake(
    "the loss is a sum over the rows, not their mean",
    swap=(" * (1 / logits.shape[0])", ""),
    hint="Divide by the number of rows.",
)
cross_entropy.mistake(
    "it is divided by all numbers: rows · classes",
    swap=(LAST, "return ag.mean(targets * (log_sum - z))"),
    hint="ag.mean counts the zeros of the one-hot rows, too. Ten equal logits should cost ln 10.",
)
cross_entropy.mistake(
    "it is divided by the number of classes",
    swap=("logits.shape[0]", "logits.shape[1]"),
    hint="shape[0] counts the rows.",
)
cross_entropy.mistake(
    "the loss is negative: ln softmax, without the minus", swap=("(log_sum - z)", "(z - log_sum)"), hint="ln Σ eᶻ − z."
)
cross_entropy.mistake(
    "the targets are left out: the mean goes over all classes",
    swap=("targets * (log_sum - z)", "log_sum - z"),
    hint="Which class is the right one?",
)
cross_entropy.mistake(
    "only the right class's score: there is no log-sum", swap=("(log_sum - z)", "(-z)"), hint="ln Σ eᶻ − z."
)
cross_entropy.mistake(
    "the logarithm is missing",
    swap=("ag.log(ag.sum(ag.exp(z), axis=1, keepdims=True))", "ag.sum(ag.exp(z), axis=1, keepdims=True)"),
    hint="ln Σ eᶻ.",
)
cross_entropy.mistake(
    "the logits themselves take the place of z in the last line",
    swap=("(log_sum - z)", "(log_sum - logits)"),
    hint="log_sum is that of z, so the score must be z, too.",
)
cross_entropy.mistake(
    "probabilities in place of their logarithm",
    swap=(LAST, "return ag.sum(targets * (1 - ag.exp(z - log_sum))) * (1 / logits.shape[0])"),
    hint="−ln p, not 1 − p.",
)
cross_entropy.mistake(
    "computed with NumPy: nothing is recorded",
    swap=(Z, "import types\n    logits = ag.tensor(on_device(logits.to_host()))\n    " + Z),
    hint="`to_host` leaves the tape. Stay with Nodes.",
)
cross_entropy.mistake(
    "binary cross-entropy of each class",
    swap=(LAST, "return ag.binary_cross_entropy_with_logits(logits, ag.tensor(targets)) * logits.shape[1]"),
    hint="One softmax for a row, not a sigmoid for each class.",
)
cross_entropy.mistake(
    "it is engine 3's own, called",
    swap=(LAST, "return ag.cross_entropy(logits, targets)"),
    hint="It comes right below. First build it yourself.",
)
cross_entropy.variant(
    "log_softmax of the engine",
    source="""
def cross_entropy(logits, targets):
    picked = ag.log_softmax(logits) * targets
    return -ag.mean(ag.sum(picked, axis=1))
""",
)
cross_entropy.variant(
    "the maximum is a constant, the score is picked before the logarithm",
    source="""
def cross_entropy(logits, targets):
    shift = np.max(logits.to_host(), axis=1, keepdims=True)
    z = ag.sub(logits, on_device(shift))
    score = ag.sum(ag.mul(z, targets), axis=-1)
    total = ag.log(ag.sum(ag.exp(z), axis=-1)) - score
    return ag.sum(total) / len(shift)
""",
)
cross_entropy.variant(
    "logsumexp of the engine",
    swap=[
        ("    " + Z + "\n", "    z = logits\n"),
        ("ag.log(ag.sum(ag.exp(z), axis=1, keepdims=True))", "ag.logsumexp(logits, axis=1, keepdims=True)"),
    ],
)
cross_entropy.variant(
    "the classes are the last axis: the maximum", swap=("ag.max(logits, axis=1,", "ag.max(logits, axis=-1,")
)
cross_entropy.variant("the classes are the last axis: the sum", swap=("ag.exp(z), axis=1,", "ag.exp(z), axis=-1,"))
for rows in ("log_sum", "targets", "z"):
    cross_entropy.variant(f"{rows} has as many rows", swap=("logits.shape[0]", f"{rows}.shape[0]"))
