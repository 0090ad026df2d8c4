"""Check 5 of lesson 13: Adam as text for kernels."""

import numpy as np

from autograder.checks.check import check


@check("mnist.adam", points=3, rtol=1e-4, atol=2e-5, seconds=30)
def adam(student, rng, tools):
    """Steps of Adam on the device: the first, four of them, with other settings, of two parameters, and replayed."""
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.parameter import Parameter
    from tinygrad_cl.netcl.core.tensor import Tensor
    from tinygrad_cl.netcl.runtime import capture

    queue = manager.default("auto").queue
    p, lr = rng.normal(size=(2, 3)), rng.uniform(0.05, 0.2)
    other = rng.normal(size=5)
    gradients = (
        rng.uniform(0.5, 2, (4, 2, 3)) * rng.choice([-1, 1], (4, 2, 3)) * 10.0 ** np.array([[-1, 0, 1], [0, 1, -1]])
    )
    odd = dict(betas=(0.5, 0.75), eps=0.125, weight_decay=0.25)

    def tensor(array):
        return Tensor.from_host(queue, array)

    def walk(count=4, **options):
        leaf = Parameter.from_host(queue, p)
        optimizer, way = student.Adam([leaf], lr=lr, **options), []
        for g in gradients[:count]:
            leaf.grad = tensor(g)
            optimizer.step()
            way.append(leaf.to_host())
        return way

    def state():
        leaf = Parameter.from_host(queue, p)
        optimizer = student.Adam([leaf], lr=lr, betas=(0.5, 0.75))
        for g in gradients[:3]:
            leaf.grad = tensor(g)
            optimizer.step()
        return np.concatenate([optimizer.state[0][name].to_host().ravel() for name in ("m", "v", "c1", "c2")])

    def two():
        a, b = Parameter.from_host(queue, p), Parameter.from_host(queue, other)
        optimizer = student.Adam([a, b], lr=lr, **odd)
        for g in gradients[:3]:
            a.grad, b.grad = tensor(g), tensor(g.ravel()[:5] / 3)
            optimizer.step()
        return [*a.to_host().ravel(), *b.to_host()]

    def replayed():
        leaf = Parameter.from_host(queue, p)
        optimizer = student.Adam([leaf], lr=lr, **odd)

        def step(g):
            leaf.grad = g
            optimizer.step()

        captured = capture(step)
        for g in np.concatenate([gradients, gradients]):
            captured(tensor(g))
        return leaf.to_host()

    def plainly(walk):
        """The same, but where the C text does not compile, the error says why, and shows the text."""

        def run():
            try:
                return walk()
            except Exception as error:
                said = [line for line in str(error).splitlines() if "error:" in line]
                if not said:
                    raise
                text = student.Adam([Parameter.from_host(queue, p)], lr=lr).update(
                    *["p", "g", "lr", "m", "v", "c1", "c2"]
                )
                raise ValueError(
                    f"this is no C, says the compiler ({said[0].rsplit(': ', 1)[-1]}). Your texts of the new p, m and v: "
                    + "   |   ".join(text)
                ) from None

        return run

    found = {
        "input": f"p = {np.round(p, 4).tolist()}, lr = {lr:.4g}; first gradient {np.round(gradients[0], 4).tolist()}; other settings: {odd}",
        "the first step": lambda: walk(1),
        "4 steps": lambda: walk(),
        "4 steps with other betas": lambda: walk(betas=(0.5, 0.75)),
        "4 steps with a large eps": lambda: walk(betas=(0.5, 0.75), eps=0.125),
        "4 steps with weight decay": lambda: walk(betas=(0.5, 0.75), weight_decay=0.25),
        "m, v, c1 and c2 after 3 steps": state,
        "two parameters": two,
        "8 steps, captured": replayed,
    }
    return {name: plainly(each) if callable(each) else each for name, each in found.items()}


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
