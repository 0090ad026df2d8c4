"""Check 5 of lesson 15: features dealt out to heads, and put together again."""

import math

import numpy as np

from autograder.checks.cases import Draft, Source, Text
from autograder.checks.check import exercise
from autograder.checks.m15_attention.leaves import node, parameter, some

attention_heads = exercise(
    "attention.heads",
    "Each direction and its gradient, with any number of axes in front, of leaves and of what was computed.",
)


def dealt(batch, places, heads, width, rng):
    shape = {"split_heads": (*batch, places, heads * width), "join_heads": (*batch, heads, places, width)}
    texts = {"split_heads": f"lambda x: split_heads(x, {heads})", "join_heads": "join_heads"}
    return {
        name: Draft({"p": parameter(shape[name], "decimals", rng), "x": node(rng), "f": Text(text)})
        for name, text in texts.items()
    }


ONE = (
    ((1,), 1, 2, 1),
    ((1,), 2, 2, 2),
    ((2,), 3, 2, 1),
    ((2,), 2, 3, 1),
    ((2,), 3, 2, 4),
    ((1,), 2, 1, 3),
    ((3,), 1, 4, 2),
)
ANY = ((), 2, 2, 1), ((1, 2), 1, 2, 2), ((), 3, 2, 2), ((2, 2), 2, 3, 1), ((), 1, 4, 3), ((2, 1, 2), 2, 2, 1)


def cases(name, small, *batches):
    return Source(
        lambda rng: (dealt(*sizes, rng)[name] for sizes in small),
        lambda rng: dealt(some(rng, *batches), *(int(n) for n in rng.integers(1, 5, 3)), rng)[name],
    )


def there_and_back(student, case):
    with student.ag.Tape() as tape:
        out = case.f(case.x(case.p))
    yield
    up = np.arange(1.0, 1 + math.prod(out.shape)).reshape(out.shape)
    tape.backward(out, student.Tensor.from_host(student.queue, up))
    return {"out": out.to_host(), "gradient": case.p.grad if case.p.grad is None else case.p.grad.to_host()}


NAMES, NEAR = ("split_heads", "join_heads"), {"rtol": 1e-5, "atol": 1e-5}
for name in NAMES:
    attention_heads.aspect(
        f"{name} and its gradient", 0.75, cases=cases(name, ONE, (1,), (2,), (3,)), few=10, many=36, **NEAR
    )(there_and_back)
FRONT = [cases(name, ANY, (), (2, 3), (1, 2)) for name in NAMES]
attention_heads.aspect(
    "with several axes in front, or none", 0.5, corner=True, cases=FRONT[0] + FRONT[1], few=8, many=24, **NEAR
)(there_and_back)


SPLIT = "swapped(ag.reshape(x, (*batch, length, heads, width // heads)))"
JOIN = "ag.reshape(swapped(x), (*batch, length, heads * width))"
attention_heads.mistake(
    "split: only reshaped, so that a head gets all features of some places",
    swap=(SPLIT, "ag.reshape(x, (*batch, heads, length, width // heads))"),
    hint=[
        "Reshape moves nothing: the first numbers of the result are the first numbers of x, all of place 0.",
        "Cut the last axis, then swap the axes in the middle.",
    ],
)
attention_heads.mistake(
    "split: the axes are not swapped",
    swap=(SPLIT, "ag.reshape(x, (*batch, length, heads, width // heads))"),
    hint="(…, L, heads, w) is half of it: `swapped(…)`.",
)
attention_heads.mistake(
    "split: each head gets every so-many-th feature, not neighbours",
    swap=(
        SPLIT,
        "ag.transpose(swapped(ag.reshape(x, (*batch, length, width // heads, heads))), "
        "(*range(len(batch)), len(batch) + 2, len(batch) + 1, len(batch)))",
    ),
    hint="Head 0 gets the first w features: (…, heads, w), in this order.",
)
attention_heads.mistake(
    "split: heads and features are mixed up: w heads of so many features",
    swap=(
        "(*batch, length, heads, width // heads)",
        "(*batch, length, width // heads, heads)",
    ),
    hint="How many heads has your result? The second axis says it.",
)
attention_heads.mistake(
    "split: places and features are swapped inside a head",
    swap=(
        SPLIT,
        "ag.transpose(ag.reshape(x, (*batch, length, heads, width // heads)), "
        "(*range(len(batch)), len(batch) + 1, len(batch) + 2, len(batch)))",
    ),
    hint="A head is (L, w): a row for each place.",
)
attention_heads.mistake(
    "join: only reshaped, so that a place gets features of other places",
    swap=(JOIN, "ag.reshape(x, (*batch, length, heads * width))"),
    hint=[
        "Reshape moves nothing. Where do the numbers of one place stand in (…, heads, L, w)?",
        "Swap back first, then reshape.",
    ],
)
attention_heads.mistake(
    "join: the features of the heads alternate",
    swap=("swapped(x)", "ag.transpose(x, (*range(len(batch)), len(batch) + 1, len(batch) + 2, len(batch)))"),
    hint="First all features of head 0, then all of head 1: (…, L, heads, w).",
)
attention_heads.mistake(
    "join: swapped back, but heads and features are still two axes",
    swap=(JOIN, "swapped(x)"),
    hint="The result has one axis less: (…, L, heads · w).",
)
attention_heads.mistake(
    "the batches are in the wrong order: all heads are in one axis with them",
    swap=(
        SPLIT,
        "ag.transpose(ag.reshape(x, (*batch, length, heads, width // heads)), "
        "(len(batch) + 1, *range(len(batch) + 1), len(batch) + 2))",
    ),
    hint="What is in front stays in front: (…, heads, L, w).",
)
attention_heads.mistake(
    "split: computed on the host, so that no gradient comes back",
    swap=(
        SPLIT,
        "ag.tensor(Tensor.from_host(queue, "
        "x.to_host().reshape(*batch, length, heads, width // heads).swapaxes(-2, -3)))",
    ),
    hint="The numbers are right, but the gradient is lost. `ag.reshape` and `swapped` know it.",
)
attention_heads.mistake(
    "there has to be one axis in front, no more and no less",
    source="""
def split_heads(x, heads):
    batch, length, width = x.shape
    return ag.transpose(ag.reshape(x, (batch, length, heads, width // heads)), (0, 2, 1, 3))


def join_heads(x):
    batch, heads, length, width = x.shape
    return ag.reshape(ag.transpose(x, (0, 2, 1, 3)), (batch, length, heads * width))
""",
    hint="`*batch, length, width = x.shape`: batch is a list of all axes in front, also of none.",
)
attention_heads.variant("a length of 3.0: reshape takes it", swap=("width // heads)", "width / heads)"))
attention_heads.variant(
    "each head cut out, then stacked; joined by cat",
    source="""
def split_heads(x, heads):
    return ag.stack(ag.chunk(x, heads, axis=-1), axis=len(x.shape) - 2)


def join_heads(x):
    return ag.cat([x[..., head, :, :] for head in range(x.shape[-3])], axis=-1)
""",
)
attention_heads.variant(
    "by slices; the axes by their numbers",
    source="""
def split_heads(x, heads):
    w = x.shape[-1] // heads
    return ag.stack([x[..., h * w:(h + 1) * w] for h in range(heads)], axis=len(x.shape) - 2)


def join_heads(x):
    n = len(x.shape)
    places = ag.transpose(x, axes=[*range(n - 3), n - 2, n - 3, n - 1])
    return ag.reshape(places, (*places.shape[:-2], -1))
""",
)
