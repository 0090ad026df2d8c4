"""Check 10 of lesson 05: steps of Adam."""

from autograder.checks.check import exercise
from autograder.checks.m05_layers.walks import given, steps, two_parameters, walk, walk_of_two

layers_adam = exercise(
    "layers.adam", "Steps of Adam, the first and later ones; other β and ε; weight decay; several parameters."
)

USUAL, OTHER = "Adam(ps, lr=0.1)", "Adam(ps, lr=0.1, betas=({:.2f}, {:.2f}), eps={:.2f})"
DECAY = "Adam(ps, lr=0.1, weight_decay={:.2f})", "Adam(ps, lr=0.1, betas=({:.2f}, {:.2f}), weight_decay={:.2f})"

layers_adam.aspect("steps", 1.5, cases=walk(USUAL, "Adam(ps)"))(steps)
layers_adam.aspect("other β and ε", 0.5, cases=walk(OTHER, "Adam(ps, lr=0.1, betas=(0.0, {:.2f}))"))(steps)
layers_adam.aspect("weight decay", 0.5, cases=walk(*DECAY))(steps)
layers_adam.aspect("two parameters, rates that change", 0.25, cases=walk_of_two(USUAL, OTHER))(two_parameters)
layers_adam.aspect("p and g are not changed", 0.25, cases=walk(USUAL, *DECAY), corner=True)(given)


HATS = "m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)"
layers_adam.mistake(
    "the means are not bias-corrected: 1 − βᵗ is missing",
    swap=(HATS, "m_hat, v_hat = m, v"),
    hint=["m starts at 0. How large is it after the first step, beside g?", "m / (1 − β₁ᵗ), v / (1 − β₂ᵗ)."],
)
layers_adam.mistake(
    "only m is bias-corrected, v is not",
    swap=(HATS, "m_hat, v_hat = m / (1 - beta1**t), v"),
    hint=["Both means start at 0. Which one do you correct?", "v̂ = v / (1 − β₂ᵗ) stands below the root."],
)
layers_adam.mistake(
    "steps are counted from 0: the first divides by 0",
    swap=('state.get("t", 0) + 1', 'state.get("t", -1) + 1'),
    hint=["What is 1 − β⁰?", "t = 1 in the first step."],
)
layers_adam.mistake(
    "t is not counted on: every step is corrected like the first",
    swap=('t = state["t"] = state.get("t", 0) + 1', "t = 1"),
    hint=["After a thousand steps, how much is there to correct?", 'Keep t in state: `state["t"]`.'],
)
layers_adam.mistake(
    "t is counted for all parameters together",
    swap=('t = state["t"] = state.get("t", 0) + 1', 't = self.t = getattr(self, "t", 0) + 1'),
    hint=["With two parameters, how far does your t go in one step?", "`state` is there for each parameter."],
)
layers_adam.mistake(
    "the corrected means are kept, and corrected again in the next step",
    swap=(HATS, HATS + '\n    state["m"], state["v"] = m_hat, v_hat'),
    hint=[
        "Which of the two goes on to the next step, m or m̂?",
        "m and v are kept as they are; the hats are for this step only.",
    ],
)
layers_adam.mistake(
    "the correction is β · t, not βᵗ",
    swap=[("beta1**t", "beta1 * t"), ("beta2**t", "beta2 * t")],
    hint=["Up there stands t: is it a factor or a power?", "`beta ** t`."],
)
layers_adam.mistake(
    "v is a mean of g, not of g²",
    swap=("(1 - beta2) * g * g", "(1 - beta2) * g"),
    hint=["A root of a negative number?", "β₂ v + (1 − β₂) g²."],
)
layers_adam.mistake(
    "the root is missing: the step is divided by v̂",
    swap=("np.sqrt(v_hat)", "v_hat"),
    hint=["A hundred times the gradient: should the step be the same, or a hundredth?", "√v̂."],
)
layers_adam.mistake(
    "ε stands below the root",
    swap=("(np.sqrt(v_hat) + self.eps)", "np.sqrt(v_hat + self.eps)"),
    hint=["√(v̂ + ε) or √v̂ + ε?", "After the root: √v̂ + ε."],
)
layers_adam.mistake(
    "ε is not used",
    swap=("(np.sqrt(v_hat) + self.eps)", "np.sqrt(v_hat)"),
    hint=["What if all gradients were 0 so far?", "√v̂ + ε."],
)
layers_adam.mistake(
    "β₁ and β₂ are swapped",
    swap=("beta1, beta2 = self.betas", "beta2, beta1 = self.betas"),
    hint=["Which mean is the longer one?", "β₁ (0.9) is for g, β₂ (0.999) for g²."],
)
layers_adam.mistake(
    "new and old are weighted the wrong way round: (1 − β) m + β g",
    swap=[
        ('beta1 * state.get("m", 0.0) + (1 - beta1) * g', '(1 - beta1) * state.get("m", 0.0) + beta1 * g'),
        ('beta2 * state.get("v", 0.0) + (1 - beta2) * g * g', '(1 - beta2) * state.get("v", 0.0) + beta2 * g * g'),
    ],
    hint=["β is near 1: is that the weight of the memory, or of the news?", "β times the old, 1 − β times the new."],
)
layers_adam.mistake(
    "g stands for m̂: the first running mean is not used",
    swap=("self.lr * m_hat /", "self.lr * g /"),
    hint=["That is RMSProp. What does Adam add to it?", "lr · m̂ / (√v̂ + ε)."],
)
layers_adam.mistake(
    "the step goes uphill",
    swap=("return p - self.lr", "return p + self.lr"),
    hint=["The gradient says where the loss grows.", "Minus."],
)
layers_adam.mistake(
    "weight decay is left out",
    swap=("if self.weight_decay:", "if False:"),
    hint=["What becomes of p where g is 0?", "g ← g + λ p comes first."],
)
layers_adam.mistake(
    "weight decay apart from the gradient: that is AdamW",
    swap=[
        ("    if self.weight_decay:\n        g = g + self.weight_decay * p\n", ""),
        ("return p - self.lr", "p = p - self.lr * self.weight_decay * p\n    return p - self.lr"),
    ],
    hint=["Does your decay go through m and v?", "In Adam λ p is a part of g; in AdamW it is not."],
)
layers_adam.mistake(
    "g is changed in place: `+=` writes the decay into the gradient",
    swap=("g = g + self.weight_decay * p", "g += self.weight_decay * p"),
    hint=["Whose memory is g?", "`g = g + …` makes a new array."],
)
layers_adam.mistake(
    "p is changed in place",
    swap=(
        "return p - self.lr * m_hat / (np.sqrt(v_hat) + self.eps)",
        "p -= self.lr * m_hat / (np.sqrt(v_hat) + self.eps)\n    return p",
    ),
    hint=["update returns the new numbers; who writes them into p?", "`return p - …`."],
)

layers_adam.variant(
    "written in place, on arrays of its own",
    source="""
@add_to_class(Adam)
def update(self, p, g, state):
    b1, b2 = self.betas
    if not state:
        state.update(m=np.zeros(p.shape), v=np.zeros(p.shape), t=0)
    state["t"] += 1
    if self.weight_decay:
        g = g + p * self.weight_decay
    state["m"] *= b1
    state["m"] += g * (1 - b1)
    state["v"] *= b2
    state["v"] += np.square(g) * (1 - b2)
    m = state["m"] / (1 - b1 ** state["t"])
    v = state["v"] / (1 - b2 ** state["t"])
    return p - m * self.lr / (v ** 0.5 + self.eps)
""",
)
layers_adam.variant(
    "the correction goes into lr, as in the paper's remark",
    source="""
@add_to_class(Adam)
def update(self, p, g, state):
    beta1, beta2 = self.betas
    g = g + self.weight_decay * p
    m, v, t = state.get("all", (0, 0, 0))
    t += 1
    m = m + (1 - beta1) * (g - m)
    v = v + (1 - beta2) * (g ** 2 - v)
    state["all"] = m, v, t
    root = math.sqrt(1 - beta2 ** t)
    return p - self.lr * root / (1 - beta1 ** t) * m / (np.sqrt(v) + self.eps * root)
""",
)
layers_adam.variant("without weight decay, λ p is 0 anyway", swap=("if self.weight_decay:", "if True:"))
layers_adam.variant("an optimizer is true, and λ = 0 does nothing", swap=("if self.weight_decay:", "if self:"))
