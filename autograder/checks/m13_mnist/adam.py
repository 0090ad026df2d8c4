"""Check 5 of lesson 13: Adam as text for kernels."""

from autograder.checks.cases import Text, array, filled
from autograder.checks.check import exercise
from autograder.checks.m13_mnist.places import drawn

adam = exercise(
    "mnist.adam",
    "Steps on the device, the first and later ones; other settings; several parameters; replayed.",
    seconds=60,
)
OTHER = (
    "betas=(0.5, 0.75)",
    "betas=(0.5, 0.75), eps=0.125",
    "eps=0.125",
    "weight_decay=0.25",
    "betas=(0.5, 0.75), eps=0.125, weight_decay=0.25",
    "betas=(0.0, 0.5)",
)
NEAR = {"rtol": 1e-4, "atol": 2e-5}


def gradients(p, rng):
    """Gradients of one size, small or large, since float32 loses what is small beside a large one; some are 0."""
    kinds, first, size = (
        ("decimals", "whole", "decimals", "zeros", "small"),
        rng.integers(5),
        drawn(rng, 1, 1, 0.001, 10),
    )
    return [(size * filled(p.shape, kinds[(first + k) % 5], rng)).round(5) for k in range(rng.integers(1, 6))]


def walks(*settings):
    makes = [Text(f"lambda ps: Adam(ps, {text})") for text in settings]
    return (
        array("p", ((2,), (1,), (2, 3), ()), ("decimals", "whole"), axes=2)
        .each(make=lambda rng: makes)
        .add(gradients=gradients)
    )


def steps(student, case):
    p, way = student.Parameter.from_host(student.queue, case.p), []
    optimizer = case.make([p])
    for g in case.gradients:
        yield
        p.grad = student.on_device(g)
        optimizer.step()
        way.append(p.to_host())
    return {"p after each step": way} | {name: kept.to_host() for name, kept in optimizer.state[0].items()}


adam.aspect("steps", 1.5, cases=walks("lr=0.1"), few=10, many=30, **NEAR)(steps)
adam.aspect(
    "other β and ε, weight decay", 1, cases=walks(*(f"lr=0.1, {text}" for text in OTHER)), few=14, many=36, **NEAR
)(steps)


def pairs(p, rng):
    """Rate, gradient of p and gradient of q, or None, in each step."""
    return [
        [
            drawn(rng, 0.1, 0.2),
            *(drawn(rng, filled(p.shape, "decimals", rng), filled(p.shape, "whole", rng), None) for _ in "pq"),
        ]
        for _ in range(4)
    ]


@adam.aspect(
    "two parameters, rates that change, a step that is replayed",
    0.5,
    corner=True,
    cases=walks("lr=0.1", f"lr=0.1, {OTHER[4]}").add(rounds=pairs),
    few=6,
    many=20,
    **NEAR,
)
def together(student, case):
    p, q = (student.Parameter.from_host(student.queue, start) for start in (case.p, case.p + 1))
    optimizer = case.make([p, q])
    for optimizer.lr, *found in case.rounds:
        p.grad, q.grad = (None if g is None else student.on_device(g) for g in found)
        optimizer.step()
    p.grad, q.grad = (student.on_device(case.gradients[0]) for _ in "pq")
    replayed = student.capture(optimizer.step)
    for _ in range(5):
        replayed()
    return {"p": p.to_host(), "q": q.to_host()}


MEAN = 'return f"({c_number(beta)} * {mean} + {c_number(1 - beta)} * {x})"'
COUNT = 'return [running_mean(beta1, c1, "(V)(1)"), running_mean(beta2, c2, "(V)(1)")]'
MOMENTS = 'm, v = running_mean(beta1, m, g), running_mean(beta2, v, f"{g} * {g}")'
STEP = '''step = f"({m} / {c1}) / (sqrt({v} / {c2}) + {c_number(self.settings['eps'])})"'''
LAST = 'return [f"{p} - {lr} * {step}", m, v]'
adam.mistake(
    "the means are not bias-corrected",
    swap=(STEP, STEP.replace(" / {c1}", "").replace(" / {c2}", "")),
    hint=["m starts at 0. How large is it after the first step, beside g?", "m / c1, v / c2."],
)
adam.mistake(
    "only m is bias-corrected, v is not",
    swap=("sqrt({v} / {c2})", "sqrt({v})"),
    hint="v / c2 stands below the root.",
)
adam.mistake("only v is bias-corrected, m is not", swap=("({m} / {c1}) / ", "({m}) / "), hint="m / c1.")
adam.mistake(
    "the counts have changed places",
    swap=[("{m} / {c1}", "{m} / {c2}"), ("{v} / {c2}", "{v} / {c1}")],
    hint="c1 belongs to β₁ and m, c2 to β₂ and v.",
)
adam.mistake(
    "the counts multiply",
    swap=[("{m} / {c1}", "{m} * {c1}"), ("{v} / {c2}", "{v} * {c2}")],
    hint="m̂ = m / c1: a small c makes m larger.",
)
adam.mistake(
    "Python counts: t is a number in the text, the same in every step",
    swap=(
        COUNT,
        'self.settings["t"] = t = self.settings.get("t", 0) + 1\n    return [c_number(1 - beta1 ** t), c_number(1 - beta2 ** t)]',
    ),
    hint=[
        "How often does Python call `count`? Print something in it.",
        "The text is made once. What changes must come from the old count, c1.",
    ],
)
adam.mistake(
    "the counts are βᵗ, not 1 − βᵗ",
    swap=(
        COUNT,
        'return [f"({c1} == 0 ? {c_number(beta1)} : {c_number(beta1)} * {c1})", f"({c2} == 0 ? {c_number(beta2)} : {c_number(beta2)} * {c2})"]',
    ),
    hint="c ← β c + (1 − β).",
)
adam.mistake(
    "the counts add up ones without end",
    swap=(COUNT, 'return [f"{c1} + 1", f"{c2} + 1"]'),
    hint="A mean of ones, not their sum.",
)
adam.mistake(
    "both counts use β₁", swap=("running_mean(beta2, c2", "running_mean(beta1, c2"), hint="c2 is made with β₂."
)
adam.mistake("v is a mean of g, not of g²", swap=('f"{g} * {g}"', "g"), hint="β₂ v + (1 − β₂) g².")
adam.mistake(
    "the root is missing",
    swap=("sqrt({v} / {c2})", "({v} / {c2})"),
    hint=["A hundred times the gradient: should the step be the same, or a hundredth?", "√v̂."],
)
adam.mistake(
    "ε stands below the root",
    swap=(
        "(sqrt({v} / {c2}) + {c_number(self.settings['eps'])})",
        "sqrt({v} / {c2} + {c_number(self.settings['eps'])})",
    ),
    hint="√v̂ + ε, not √(v̂ + ε).",
)
adam.mistake("ε is not used", swap=(" + {c_number(self.settings['eps'])}", ""), hint="√v̂ + ε.")
adam.mistake(
    "the correction covers √v̂ only after the root",
    swap=("sqrt({v} / {c2})", "sqrt({v}) / {c2}"),
    hint="First v̂ = v / c2, then its root.",
)
adam.mistake(
    "β₁ and β₂ are swapped",
    swap=('beta1, beta2 = self.settings["betas"]', 'beta2, beta1 = self.settings["betas"]'),
    hint="β₁ (0.9) is for g, β₂ (0.999) for g².",
)
adam.mistake(
    "new and old are weighted the wrong way round",
    swap=(
        "{c_number(beta)} * {mean} + {c_number(1 - beta)} * {x}",
        "{c_number(1 - beta)} * {mean} + {c_number(beta)} * {x}",
    ),
    hint=["β is near 1: is that the weight of the memory, or of the news?", "β · mean + (1 − β) · x."],
)
adam.mistake(
    "the news has no weight: β · mean + x",
    swap=(" + {c_number(1 - beta)} * {x}", " + {x}"),
    hint="β · mean + (1 − β) · x.",
)
adam.mistake(
    "the mean has no parentheses: what follows takes only its last part",
    swap=(MEAN, MEAN.replace('"(', '"').replace(')"', '"')),
    hint=["Print a text, and read it as C does: which part does `/ c1` divide?", "Parentheses around the whole mean."],
)
adam.mistake(
    "g stands for m̂: the first mean is not used",
    swap=("({m} / {c1}) /", "{g} /"),
    hint="That is RMSProp. lr · m̂ / (√v̂ + ε).",
)
adam.mistake("the step goes uphill", swap=('f"{p} - {lr}', 'f"{p} + {lr}'), hint="Minus.")
adam.mistake("lr is not used", swap=("{lr} * {step}", "{step}"), hint="How far does a step go?")
adam.mistake(
    "the old m and v are returned: nothing is remembered",
    swap=[
        (MOMENTS, MOMENTS.replace("m, v =", "m_new, v_new =")),
        (STEP, STEP.replace("{m}", "{m_new}").replace("{v}", "{v_new}")),
    ],
    hint="What you return is what is kept: the new m, the new v.",
)
adam.mistake(
    "the step is made of the old m and v",
    swap=[(MOMENTS, MOMENTS.replace("m, v =", "m_new, v_new =")), (LAST, LAST.replace("m, v]", "m_new, v_new]"))],
    hint="First the new means, then the step from them. Is there any step at all in the beginning?",
)
adam.mistake("m and v come back in the wrong order", swap=("m, v]", "v, m]"), hint="[new p, new m, new v].")
adam.mistake(
    "the freed means are kept, and freed again in the next step",
    swap=(LAST, 'return [f"{p} - {lr} * {step}", f"{m} / {c1}", f"{v} / {c2}"]'),
    hint="m and v are kept as they are; m̂ and v̂ are for this step only.",
)
adam.mistake(
    "weight decay is left out", swap=("    g = self.decayed(p, g)\n", ""), hint="g = self.decayed(p, g) comes first."
)
adam.variant(
    "a difference: mean + (1 − β) (x − mean)",
    swap=(MEAN, 'return f"({mean} + {c_number(1 - beta)} * (({x}) - {mean}))"'),
)
adam.variant(
    "the numbers as plain C text, names for the parts",
    source="""
def running_mean(beta, mean, x):
    return "(({0!r}f) * {1} + ({2!r}f) * ({3}))".format(float(beta), mean, 1.0 - beta, x)


@add_to_class(Adam)
def count(self, c1, c2):
    return [f"1 - {beta!r}f * (1 - {c})" for beta, c in zip(self.settings["betas"], (c1, c2))]


@add_to_class(Adam)
def update(self, p, g, lr, m, v, c1, c2):
    b1, b2 = self.settings["betas"]
    g = self.decayed(p, g)
    new_m = running_mean(b1, m, g)
    new_v = running_mean(b2, v, f"({g}) * ({g})")
    m_hat, v_hat = f"({new_m} / {c1})", f"({new_v} / {c2})"
    root = f"(sqrt({v_hat}) + {float(self.settings['eps'])!r}f)"
    return f"({p}) - ({lr} * {m_hat}) / {root}", new_m, new_v
""",
)
adam.variant(
    "the correction goes into the learning rate, as in the paper's remark",
    swap=(
        STEP,
        '''root = f"sqrt({c2})"
    step = f"({root} / {c1} * {m} / (sqrt({v}) + {c_number(self.settings['eps'])} * {root}))"''',
    ),
)
