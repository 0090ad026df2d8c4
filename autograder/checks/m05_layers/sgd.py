"""Check 9 of lesson 05: steps of SGD."""

from autograder.checks.check import exercise
from autograder.checks.m05_layers.walks import given, steps, two_parameters, walk, walk_of_two

layers_sgd = exercise("layers.sgd", "Steps with and without momentum, Nesterov, weight decay; of several parameters.")

MOMENTUM, NESTEROV = "SGD(ps, lr=0.1, momentum={:.2f})", "SGD(ps, lr=0.1, momentum={:.2f}, nesterov=True)"
DECAY = [f"{text[:-1]}, weight_decay={{:.2f}})" for text in ("SGD(ps, lr=0.5)", MOMENTUM, NESTEROV)]

layers_sgd.aspect(
    "plain steps, and momentum", 1, cases=walk("SGD(ps, lr=0.1)", MOMENTUM, "SGD(ps, lr=2.0, momentum={:.2f})")
)(steps)
layers_sgd.aspect("Nesterov", 0.25, cases=walk(NESTEROV))(steps)
layers_sgd.aspect("weight decay", 0.25, cases=walk(*DECAY))(steps)
layers_sgd.aspect("two parameters, rates that change", 0.25, cases=walk_of_two(MOMENTUM, NESTEROV))(two_parameters)
layers_sgd.aspect("p and g are not changed", 0.25, cases=walk(MOMENTUM, *DECAY), corner=True)(given)


layers_sgd.mistake(
    "the step goes uphill",
    swap=("return p - self.lr * g", "return p + self.lr * g"),
    hint=["The gradient says where the loss grows.", "Minus."],
)
layers_sgd.mistake(
    "lr is not used", swap=("return p - self.lr * g", "return p - g"), hint=["How far does a step go?", "lr · g."]
)
layers_sgd.mistake(
    "the step is returned, not the new p",
    swap=("return p - self.lr * g", "return -self.lr * g"),
    hint=["What does update give back, by its docstring?", "p − lr · …."],
)
layers_sgd.mistake(
    "v is not kept: each step begins anew",
    swap=('v = state["v"] = ', "v = "),
    hint=["Where is v after the first step?", '`state["v"] = v`.'],
)
layers_sgd.mistake(
    "v is kept on the optimizer: all parameters share one",
    source="""
@add_to_class(SGD)
def update(self, p, g, state):
    if self.weight_decay:
        g = g + self.weight_decay * p
    if self.momentum:
        self.v = self.momentum * self.v + g if hasattr(self, "v") else g.copy()
        g = g + self.momentum * self.v if self.nesterov else self.v
    return p - self.lr * g
""",
    hint=["Two parameters, two shapes, one self.v?", '`state` is there for each parameter: state["v"].'],
)
layers_sgd.mistake(
    "g is damped: v is a running mean, μ v + (1 − μ) g",
    swap=('self.momentum * state["v"] + g', 'self.momentum * state["v"] + (1 - self.momentum) * g'),
    hint=["That is how Adam's m works. And here?", "v ← μ v + g."],
)
layers_sgd.mistake(
    "lr goes into the velocity: the same only as long as lr stays",
    swap=[
        (
            'self.momentum * state["v"] + g if "v" in state else g.copy()',
            'self.momentum * state["v"] + self.lr * g if "v" in state else self.lr * g',
        ),
        (
            "g = g + self.momentum * v if self.nesterov else v",
            "g = (self.lr * g + self.momentum * v if self.nesterov else v) / self.lr",
        ),
    ],
    hint=[
        "lr is made smaller on the way. Which steps should get smaller, and which do?",
        "v ← μ v + g, and lr only in p ← p − lr · v.",
    ],
)
layers_sgd.mistake(
    "the old v is not damped: μ is missing",
    swap=('self.momentum * state["v"] + g', 'state["v"] + g'),
    hint=["Without friction the ball never comes to rest.", "μ · v + g."],
)
layers_sgd.mistake(
    "the first v is 0, so the first step is lost",
    swap=("g.copy()", "np.zeros_like(g)"),
    hint=["Does p move in the first step?", "The first v is g."],
)
layers_sgd.mistake(
    "v is g's own memory: when the next gradient is written there, v changes",
    swap=("g.copy()", "g"),
    hint=["What if backward writes the next gradient into the same array?", "Keep a copy."],
)
layers_sgd.mistake(
    "Nesterov is left out, or takes the old v: g + μ · (the old v) is the new v",
    swap=("g = g + self.momentum * v if self.nesterov else v", "g = v"),
    hint=["What is nesterov=True for?", "Then the step is g + μ v."],
)
layers_sgd.mistake(
    "Nesterov adds to v, not to g",
    swap=("g = g + self.momentum * v if self.nesterov else v", "g = v + self.momentum * v if self.nesterov else v"),
    hint=["g + μ v: which of the two stands first?", "The new gradient, plus μ times the new v."],
)
layers_sgd.mistake(
    "weight decay is left out",
    swap=("if self.weight_decay:", "if False:"),
    hint=["What becomes of p where g is 0?", "g ← g + λ p comes first."],
)
layers_sgd.mistake(
    "weight decay pushes away from 0",
    swap=("g = g + self.weight_decay * p", "g = g - self.weight_decay * p"),
    hint=["Should large weights grow or shrink?", "g + λ p: the step is minus that."],
)
layers_sgd.mistake(
    "weight decay comes after momentum, so v does not know it",
    source="""
@add_to_class(SGD)
def update(self, p, g, state):
    if self.momentum:
        v = state["v"] = self.momentum * state["v"] + g if "v" in state else g.copy()
        g = g + self.momentum * v if self.nesterov else v
    if self.weight_decay:
        g = g + self.weight_decay * p
    return p - self.lr * g
""",
    hint=["In which order do the rules stand?", "g ← g + λ p comes first."],
)
layers_sgd.mistake(
    "g is changed in place: `+=` writes the decay into the gradient",
    swap=("g = g + self.weight_decay * p", "g += self.weight_decay * p"),
    hint=["Whose memory is g?", "`g = g + …` makes a new array."],
)
layers_sgd.mistake(
    "p is changed in place",
    swap=("return p - self.lr * g", "p -= self.lr * g\n    return p"),
    hint=["update returns the new numbers; who writes them into p?", "`return p - …`."],
)

layers_sgd.mistake(
    "the first g counts twice: v starts as g, and then μ v + g is made of it",
    swap=('self.momentum * state["v"] + g if "v" in state else g.copy()', 'self.momentum * state.get("v", g) + g'),
    hint=["What is v after the first step?", "The first v is g alone."],
)

layers_sgd.variant(
    "v starts from zeros",
    source="""
@add_to_class(SGD)
def update(self, p, g, state):
    g = g + self.weight_decay * p
    state["v"] = self.momentum * state.get("v", np.zeros_like(p)) + g
    direction = g + self.momentum * state["v"] if self.nesterov else state["v"]
    return p - self.lr * direction
""",
)
layers_sgd.variant(
    "in place on arrays of its own",
    source="""
@add_to_class(SGD)
def update(self, p, g, state):
    step = np.array(g)
    if self.weight_decay != 0:
        step += p * self.weight_decay
    if self.momentum > 0:
        if "velocity" not in state:
            state["velocity"] = np.zeros(p.shape)
        state["velocity"] *= self.momentum
        state["velocity"] += step
        step = step + self.momentum * state["velocity"] if self.nesterov else state["velocity"]
    return np.subtract(p, np.multiply(step, self.lr))
""",
)
layers_sgd.variant("without weight decay, λ p is 0 anyway", swap=("if self.weight_decay:", "if True:"))
layers_sgd.variant("without momentum, v is g anyway", swap=("if self.momentum:", "if True:"))
layers_sgd.variant("an optimizer is true, and λ = 0 does nothing", swap=("if self.weight_decay:", "if self:"))
layers_sgd.variant("an optimizer is true, and μ = 0 does nothing", swap=("if self.momentum:", "if self:"))
