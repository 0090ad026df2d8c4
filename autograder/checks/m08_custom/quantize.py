"""Check 1 of lesson 08: rounding, with the straight-through estimator."""

from autograder.checks.cases import Text, array, choice, filled
from autograder.checks.check import exercise

custom_quantize = exercise(
    "custom.quantize", "Rounded forward, straight through backward, nothing outside of the limits."
)

NUMBERS = array(
    "x", ((), (1,), (2,), (3,), (6,), (2, 3), (3, 2), (1, 2), (2, 1, 2)), ("decimals", "whole", "transposed")
)
OPTIONS = choice("step", 0.5, 0.3, 1.5, 0.7, 0.1) * choice(
    "limit", 1.0, 2.0, 0.4, 1.6
)  # no x lies between two multiples


@custom_quantize.aspect("y", 1, cases=NUMBERS * OPTIONS)
def forward(student, case):
    x = student.Tensor(case.x)
    return {"y": student.Quantize.apply(x, step=case.step, limit=case.limit).data, "x afterwards": x.data}


PROGRAMS = choice(
    "f",
    Text("lambda q, x: q(x, step=0.5, limit=1.0)"),
    Text("lambda q, x: q(x, step=1.5, limit=2.0)"),
    Text("lambda q, x: q(x, step=0.3, limit=0.4)"),
    Text("lambda q, x: q(x * 0.7, step=0.5, limit=1.0) ** 2"),
    Text("lambda q, x: q(x, step=0.5, limit=1.0) + q(x, step=0.5, limit=2.0)"),
    Text("lambda q, x: q(x, step=0.5, limit=2.0) * q(x * 2.0, step=0.3, limit=1.0)"),
    Text("lambda q, x: q(q(x * 3.0, step=0.5, limit=2.0), step=0.3, limit=1.0)"),
)


@custom_quantize.aspect(
    "∂L/∂x", 1, cases=(NUMBERS * PROGRAMS).add(grad=lambda x, rng: filled(x.shape, "decimals", rng))
)
def gradient(student, case):
    x = student.Tensor(case.x, requires_grad=True)
    y = case.f(student.Quantize.apply, x)
    yield
    y.backward(case.grad)
    return x.grad.data


custom_quantize.mistake(
    "the true slope of the staircase, 0, is passed on",
    swap=("return grad * inside", "return grad * 0.0"),
    hint=["True, and useless: nothing would ever learn.", "Pretend that y is x: `grad`, where x is inside."],
)
custom_quantize.mistake(
    "the gradient goes through outside of the limits, too",
    swap=("return grad * inside", "return grad"),
    hint=[
        "Far outside, y is the limit however x moves. What is the slope of the dashed line there?",
        "Multiply by the mask `np.abs(x) <= limit`, saved in forward.",
    ],
)
custom_quantize.mistake(
    "grad is forgotten: only the mask comes back",
    swap=("return grad * inside", "return 1.0 * inside"),
    hint=["Along a path we multiply. What came down the path so far?", "`grad * inside`."],
)
custom_quantize.mistake(
    "not x, but the gradient is cut to the limits",
    source="""
class Quantize(Function):
    @staticmethod
    def forward(ctx, x, step, limit):
        ctx.limit = limit
        return step * np.round(np.clip(x, -limit, limit) / step)

    @staticmethod
    def backward(ctx, grad):
        return Tensor(np.clip(grad.data, -ctx.limit, ctx.limit))
""",
    hint=[
        "limit is about where x is, not about how large the gradient is.",
        "Save a mask of x, and multiply grad by it.",
    ],
)
custom_quantize.mistake(
    "the gradient is multiplied by the step",
    source="""
class Quantize(Function):
    @staticmethod
    def forward(ctx, x, step, limit):
        ctx.save_for_backward(np.abs(x) <= limit)
        ctx.step = step
        return step * np.round(np.clip(x, -limit, limit) / step)

    @staticmethod
    def backward(ctx, grad):
        (inside,) = ctx.saved_tensors
        return grad * inside * ctx.step
""",
    hint=[
        "The dashed line goes through the steps. Is it less steep when they are small?",
        "x/step brings 1/step, step · … brings step: together 1.",
    ],
)
custom_quantize.mistake(
    "it rounds to whole numbers: the step is not used",
    swap=("step * np.round(np.clip(x, -limit, limit) / step)", "np.round(np.clip(x, -limit, limit))"),
    hint=["With step 0.5, 0.3 becomes 0.5.", "Divide by step, round, multiply by step."],
)
custom_quantize.mistake(
    "how many steps it is comes back, not where: `step ·` is missing",
    swap=("step * np.round", "np.round"),
    hint=["With step 0.5, 0.6 lies near 0.5, not near 1.", "Multiply by step after rounding."],
)
custom_quantize.mistake(
    "x is rounded down, not to the nearest",
    swap=("np.round(", "np.floor("),
    hint=["With step 0.5, 0.4 is nearer to 0.5 than to 0.", "`np.round`."],
)
custom_quantize.mistake(
    "x is not cut to the limits",
    swap=("np.clip(x, -limit, limit)", "x"),
    hint=["What is y at x = 5, with limit 1?", "`np.clip(x, -limit, limit)` before rounding."],
)
custom_quantize.mistake(
    "x is cut only above: −limit is forgotten",
    swap=[("np.clip(x, -limit, limit)", "np.minimum(x, limit)"), ("np.abs(x) <= limit", "x <= limit")],
    hint=["What is y at x = −5, with limit 1?", "`np.clip(x, -limit, limit)`, and `np.abs(x)` in the mask."],
)
custom_quantize.mistake(
    "on the limit itself no gradient comes through",
    swap=("<= limit", "< limit"),
    hint=["Look at the signs in the docstring: −limit ≤ x ≤ limit.", "`<=`."],
)
custom_quantize.mistake(
    "what backward needs is kept in the class, where the next call overwrites it",
    swap=[
        ("ctx.save_for_backward(np.abs(x) <= limit)", "Quantize.inside = np.abs(x) <= limit"),
        ("(inside,) = ctx.saved_tensors", "inside = Quantize.inside"),
    ],
    hint=[
        "The class is one, the calls are many. Whose mask is it at backward?",
        "`ctx` belongs to one call: `ctx.save_for_backward(…)`.",
    ],
)
custom_quantize.mistake(
    "x itself is changed: the result is written into it",
    swap=(
        "return step * np.round(np.clip(x, -limit, limit) / step)",
        "x[...] = step * np.round(np.clip(x, -limit, limit) / step)\n        return x.copy()",
    ),
    hint=["What is in x after Quantize.apply(x, …)?", "Make a new array, and leave x as it is."],
)
custom_quantize.mistake(
    "x is first rounded, then cut: what lies outside lands on the limit, which may be no multiple of step",
    swap=("step * np.round(np.clip(x, -limit, limit) / step)", "np.clip(step * np.round(x / step), -limit, limit)"),
    hint=["With step 0.4 and limit 1, is y = 1 a multiple of 0.4?", "First `np.clip`, then round."],
)
custom_quantize.variant(
    "x saved, and the mask made in backward",
    source="""
class Quantize(Function):
    @staticmethod
    def forward(ctx, x, step, limit):
        ctx.save_for_backward(x)
        ctx.limit = limit
        k = np.rint(np.minimum(np.maximum(x, -limit), limit) / step)
        return k * step

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return (Tensor(np.where((x.data >= -ctx.limit) & (x.data <= ctx.limit), grad.data, 0.0)),)
""",
)
custom_quantize.variant(
    "no Function at all: the detach trick",
    source="""
class Quantize:
    @staticmethod
    def apply(x, step, limit):
        inside = np.abs(x.data) <= limit
        rounded = step * np.round(np.clip(x.data, -limit, limit) / step)
        line = x * inside
        return line + Tensor(rounded - line.data)
""",
)
custom_quantize.variant(
    "a mask of numbers, kept as an attribute of ctx",
    source="""
class Quantize(Function):
    @staticmethod
    def forward(ctx, x, step, limit):
        ctx.mask = 1.0 - (abs(x) > limit)
        return np.round(np.clip(x, -limit, limit) / step) * step

    @staticmethod
    def backward(ctx, grad):
        return ctx.mask * grad
""",
)
