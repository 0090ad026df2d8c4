"""Check 6 of lesson 13: a step of training, and its recording."""

import numpy as np

from autograder.checks.check import check


@check("mnist.step", points=3, rtol=1e-4, atol=1e-6, needs=("mnist.cross_entropy",), seconds=30)
def step(student, rng, tools):
    """Steps with plain SGD: losses, weights; with an old gradient; captured; and with nothing but a step read."""
    import tinygrad_cl.netcl.autograd as ag
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.parameter import Parameter
    from tinygrad_cl.netcl.core.tensor import Tensor
    from tinygrad_cl.netcl.runtime import capture

    device = manager.default("auto")
    queue, rows, inputs, classes = device.queue, 6, 4, 3
    weight, lr = rng.normal(size=(inputs, classes)), rng.uniform(0.3, 0.8)
    data = [
        (
            Tensor.from_host(queue, rng.normal(size=(rows, inputs))),
            Tensor.from_host(queue, np.eye(classes)[rng.integers(0, classes, rows)]),
        )
        for _ in range(6)
    ]

    def number(loss):
        return loss.to_host() if hasattr(loss, "to_host") else float(loss)

    def trained(count, old_gradient=False, wrap=lambda step: step):
        w = Parameter.from_host(queue, weight)
        if old_gradient:
            w.grad = Tensor.from_host(queue, 5 * weight)
        step = wrap(student.make_step(lambda x: ag.matmul(x, w), student.SGD([w], lr=lr)))
        return w, step, [number(step(x, y)) for x, y in data[:count]]

    def reads():
        w = Parameter.from_host(queue, weight)
        step, seen = student.make_step(lambda x: ag.matmul(x, w), student.SGD([w], lr=lr)), []
        with device.watched_by(lambda command: seen.append(command.name)):
            step(*data[0])
        return seen.count("read")

    def what_happens():
        """Forward, backward and step() in one step, how many of each; how many of these found a gradient; and is step() the last?"""
        w, events = Parameter.from_host(queue, weight), []

        class Watched(student.SGD):
            def step(self):
                events.append("step with a gradient" if w.grad is not None else "step without")
                super().step()

        def model(x):
            events.append("forward")
            out = ag.matmul(x, w)

            def back(grad):
                events.append("backward")
                return [grad]

            return ag.apply_op(lambda value: value.copy(), back, out)

        loss = student.make_step(model, Watched([w], lr=lr))(*data[0])
        kinds = [
            sum(event.startswith(kind) for event in events) for kind in ("forward", "backward", "step", "step with a")
        ]
        return [*kinds, events[-1].startswith("step"), hasattr(loss, "to_host"), isinstance(loss, np.ndarray)]

    def tape_afterwards():
        w = Parameter.from_host(queue, weight)
        step = student.make_step(lambda x: ag.matmul(x, w), student.SGD([w], lr=lr))
        with ag.Tape() as outer:
            step(*data[0])
            ag.mul(w, 2.0)
        return outer.nodes[-1].op_name == "mul"

    def replayed(found):
        w, step, losses = trained(6, wrap=capture)
        return {"w": w.to_host(), "losses": losses, "is a list": step.num_launches > 0}[found]

    def two_models():
        w, u = Parameter.from_host(queue, weight), Parameter.from_host(queue, weight + 1)
        steps = [student.make_step(lambda x, p=p: ag.matmul(x, p), student.SGD([p], lr=lr)) for p in (w, u)]
        for x, y in data[:2]:
            for each in steps:
                each(x, y)
        return [w.to_host(), u.to_host()]

    return {
        "input": f"a model x @ w with w of shape ({inputs}, {classes}), batches of {rows}, SGD with lr = {lr:.4g}",
        "the loss of one step": lambda: trained(1)[2],
        "w after one step": lambda: trained(1)[0].to_host(),
        "losses of 4 steps": lambda: trained(4)[2],
        "w after 4 steps": lambda: trained(4)[0].to_host(),
        "w after 2 steps, with an old gradient at first": lambda: trained(2, old_gradient=True)[0].to_host(),
        "two models side by side": two_models,
        "forward, backward, step: how many, with a gradient, step last; a Tensor, an array": what_happens,
        "numbers read on the host": reads,
        "a tape around it is open again afterwards": tape_afterwards,
        "captured: w after 6 steps": lambda: replayed("w"),
        "captured: losses": lambda: replayed("losses"),
        "captured: is replayed": lambda: replayed("is a list"),
    }


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
step.variant(
    "the Node is returned, and no tape is open: nodes know their parents",
    source="""
def make_step(model, optimizer):
    def train_on(x, y):
        for p in optimizer.params:
            p.grad = None
        loss = cross_entropy(model(ag.tensor(x)), y)
        ag.Tape().backward(loss)
        optimizer.step()
        return loss
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
step.variant("the Node itself, which can be read as well", swap=("return loss.value", "return loss"))
