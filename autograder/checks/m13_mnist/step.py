"""Check 6 of lesson 13: a step of training, and its recording."""

from autograder.checks.cases import Draft, Source, Text, filled
from autograder.checks.check import exercise
from autograder.checks.m13_mnist.places import drawn, parameter

step = exercise(
    "mnist.step",
    "Losses and weights of steps, with an old gradient, side by side; what is kept and read; replayed.",
    needs=("mnist.cross_entropy",),
    seconds=60,
)
MODELS = "ag.matmul(x, w)", "ag.tanh(ag.matmul(x, w))", "ag.matmul(ag.tanh(x), w) * 2.0"
NEAR = {"rtol": 1e-4, "atol": 1e-5}


def batch(rows, rng):
    return filled((rows, 2), "decimals", rng), Text(f"np.eye(3)[{rng.integers(0, 3, rows).tolist()}]")


def training(rng, count, old, rows=2):
    """A model of one Parameter w, and batches: one input each, since y is an expression."""
    x, y = zip(*(batch(rows, rng) for _ in range(count)))
    w, grad = filled((2, 3), "decimals", rng), filled((2, 3), "whole", rng) if old else None
    inputs = {
        "w": parameter(w),
        "old": grad,
        "model": Text(f"lambda x: {drawn(rng, *MODELS)}"),
        "lr": drawn(rng, 0.5, 0.25, 1.0),
    }
    return Draft(
        inputs | {"x": list(x), "y": Text(f"[{', '.join(each.expression for each in y)}]")},
        ("w had a gradient before",) * old,
    )


TRAININGS = Source(
    lambda rng: [training(rng, count, old) for count in (1, 2, 4) for old in (False, True)],
    lambda rng: training(rng, int(rng.integers(1, 5)), bool(rng.integers(2)), int(rng.integers(1, 4))),
)
LONG = Source(lambda rng: [training(rng, 5, False), training(rng, 6, True)], lambda rng: training(rng, 5, True))


@step.aspect("losses and weights", 1.75, cases=TRAININGS, few=10, many=32, **NEAR)
def trained(student, case):
    case.w.grad = None if case.old is None else student.on_device(case.old)
    step, losses, way = student.make_step(case.model, student.SGD([case.w], lr=case.lr)), [], []
    for x, y in zip(case.x, case.y):
        yield
        losses.append(step(student.on_device(x), student.on_device(y)))
        way.append(case.w.to_host())
    return {"losses": [loss.to_host() for loss in losses], "w after each step": way}


@step.aspect(
    "the loss is a Tensor; nothing is read, and nothing is kept",
    0.75,
    corner=True,
    cases=LONG,
    few=3,
    many=6,
    exact="a Tensor of shape ()",
)
def costs(student, case, tools):
    import gc
    import weakref

    walks, events, reads = [], [], []

    def model(x):
        def back(grad):
            events.append("backward")
            return [grad]

        events.append("forward")
        walks.append(weakref.ref(back))
        return student.ag.apply_op(lambda value: value.copy(), back, case.model(x))

    class Watched(student.SGD):
        def step(self):
            events.append("step without a gradient" if case.w.grad is None else "step")
            super().step()

    step = student.make_step(model, Watched([case.w], lr=case.lr))
    pairs = [(student.on_device(x), student.on_device(y)) for x, y in zip(case.x, case.y)]
    with tools.collector_waits(), student.device.watched_by(lambda command: reads.append(command.name)):
        losses = [step(x, y) for x, y in pairs]
        gc.collect(0)
    return {
        "what step returns": type(losses[0]).__name__,
        "what happens in a step": ", ".join(events[: len(events) // len(pairs)]),
        "reads": reads.count("read"),
        "graphs kept": sum(walk() is not None for walk in walks),
    }


@step.aspect("captured, it is replayed", 0.5, corner=True, cases=LONG, few=2, many=5, **NEAR)
def replayed(student, case):
    step = student.capture(student.make_step(case.model, student.SGD([case.w], lr=case.lr)))
    losses = [step(student.on_device(x), student.on_device(y)).to_host() for x, y in zip(case.x, case.y)]
    return {"losses": losses, "w": case.w.to_host(), "is replayed": step.num_launches > 0}


ZERO, BACKWARD, STEP, RETURN = (
    "        optimizer.zero_grad()\n",
    "        tape.backward(loss)\n",
    "        optimizer.step()\n",
    "        return loss.value\n",
)
step.mistake(
    "the gradients of the steps before are never forgotten",
    swap=(ZERO, ""),
    hint=["Gradients add up on leaves. Who clears them?", "`optimizer.zero_grad()` at the beginning of the step."],
)
step.mistake(
    "gradients are forgotten only at the end: an old one counts in the first step",
    swap=[(ZERO, ""), (RETURN, ZERO + RETURN)],
    hint="Gradients from before the call do not count: forget them at the beginning.",
)
step.mistake(
    "gradients are forgotten between backward and step: nothing moves",
    swap=[(ZERO, ""), (STEP, ZERO + STEP)],
    hint="In which order? Forget, compute, step.",
)
step.mistake(
    "gradients are forgotten once, outside of the step",
    swap=(f"    def step(x, y):\n{ZERO}", "    optimizer.zero_grad()\n\n    def step(x, y):\n"),
    hint="What stands before `def step` runs once. Forget them in each step.",
)
step.mistake("there is no backward", swap=(BACKWARD, ""), hint="Who computes the gradients?")
step.mistake("the optimizer does not step", swap=(STEP, ""), hint="`optimizer.step()`.")
step.mistake(
    "the optimizer steps before backward, with no gradient yet",
    swap=(BACKWARD + STEP, STEP + BACKWARD),
    hint="backward first.",
)
step.mistake("the optimizer steps twice", swap=(STEP, STEP + STEP), hint="Once.")
step.mistake(
    "backward runs twice: the gradient is doubled", swap=(BACKWARD, BACKWARD + BACKWARD), hint="Gradients add up: once."
)
step.mistake(
    "the loss is read: float(…)",
    swap=("return loss.value", "return float(loss.to_host())"),
    hint=["What does `capture` say to a read?", "Return the Tensor, `loss.value`."],
)
step.mistake(
    "the loss is read for a look at it, and then returned as a Tensor",
    swap=(RETURN, "        last = float(loss.to_host())\n" + RETURN),
    hint="Nothing is read inside the step.",
)
step.mistake(
    "the loss after the step is returned",
    swap=(RETURN, "        return cross_entropy(model(x), y).value\n"),
    hint="The loss that was differentiated, from before the step.",
)
step.mistake("nothing is returned", swap=(RETURN, ""), hint="`return loss.value`.")
step.mistake(
    "the logits are returned",
    swap=[
        ("loss = cross_entropy(model(x), y)", "logits = model(x)\n            loss = cross_entropy(logits, y)"),
        ("return loss.value", "return logits.value"),
    ],
    hint="The loss, one number.",
)
step.mistake(
    "the labels are taken for pictures",
    swap=("cross_entropy(model(x), y)", "cross_entropy(y, model(x))"),
    hint="cross_entropy(logits, targets).",
)
step.mistake(
    "softmax comes before cross-entropy, which has one inside",
    swap=("cross_entropy(model(x), y)", "cross_entropy(ag.softmax(model(x)), y)"),
    hint="cross_entropy takes logits.",
)
step.mistake(
    "forward runs inside no_grad",
    swap=(
        "            loss = cross_entropy(model(x), y)",
        "            with ag.no_grad():\n                loss = cross_entropy(model(x), y)",
    ),
    hint="no_grad is for measuring, not for training.",
)
step.mistake(
    "the step runs at once, and its loss is returned in its place",
    swap=("    return step", "    return step(x, y)"),
    hint="`return step`: the function, not a call of it.",
)
step.mistake(
    "the first batch is kept, and trained for ever",
    swap=(
        "    def step(x, y):\n",
        "    kept = []\n\n    def step(x, y):\n        kept.append((x, y))\n        x, y = kept[0]\n",
    ),
    hint="Each call has a batch of its own.",
)
step.mistake(
    "the loss is a NumPy array",
    swap=("return loss.value", "return loss.to_host()"),
    hint="That reads it. Return the Tensor.",
)
step.mistake(
    "the Node is returned: it keeps all that was computed for the loss",
    swap=("return loss.value", "return loss"),
    hint="A Node knows its parents. `loss.value` is the number alone, a Tensor.",
)
step.mistake(
    "one tape for all steps: it lists and keeps all that was ever computed",
    swap=[
        ("    def step(x, y):\n", "    tape = ag.Tape()\n\n    def step(x, y):\n"),
        ("with ag.Tape() as tape:", "with tape:"),
    ],
    hint="A tape for each step: `with ag.Tape() as tape:` inside of it.",
)
step.variant(
    "no tape is open: nodes know their parents",
    source="""
def make_step(model, optimizer):
    def train_on(x, y):
        for p in optimizer.params:
            p.grad = None
        loss = cross_entropy(model(ag.tensor(x)), y)
        ag.Tape().backward(loss)
        optimizer.step()
        return loss.value
    return train_on
""",
)
step.variant(
    "a class with __call__",
    source="""
class Step:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def __call__(self, x, y):
        with ag.Tape() as tape:
            logits = self.model(x)
            loss = cross_entropy(logits, y)
            self.optimizer.zero_grad()
            tape.backward(loss)
        self.optimizer.step()
        return loss.value


make_step = Step
""",
)
step.variant("zero_grad after forward, and again at the end", swap=[(ZERO, ""), (BACKWARD, ZERO + BACKWARD)])
