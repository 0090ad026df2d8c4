"""Check 6 of lesson 09: each work-item adds a chunk."""

from autograder.checks.cases import Text
from autograder.checks.check import exercise
from autograder.checks.m09_kernels.launches import launches, numbers

chunks = exercise(
    "kernels.chunks",
    "Chunks that are no multiple of 16, the last one short or empty; and full vectors.",
    seconds=30,
    texts=("CHUNKS",),
)

SIZES = [  # n, chunk, work-items, first work-item
    (1, 1, 1, 0),
    (16, 16, 1, 0),
    (range(16, 20), 7, 3, 0),
    (range(1, 4), 2, 4, 0),
    (96, 32, 3, 0),
    (range(89, 100), 35, 4, 0),
    (range(105, 120), 35, 1, 1),
]


def chunked(rng, n, chunk, work_items, first):
    return {"x": numbers(n, rng), "chunk": chunk, "work_items": work_items, "first": first}


def powers(rng, n):
    """Each place is a power of 2, so that a sum of some of them says which."""
    return {"x": Text(f"(2.0 ** np.arange(-7, {n - 7})).astype(np.float32)"), "chunk": n, "work_items": 1, "first": 0}


def tags(n, chunk, work_items, first):
    yield from ["chunk is below 16"] * (chunk < 16) + ["chunk is no multiple of 16"] * (chunk % 16 > 0)
    yield from ["the last chunk is empty"] * (chunk * (first + work_items - 1) >= n)
    yield from ["the last chunk is short"] * (n % chunk > 0)


@chunks.aspect(
    "the sums",
    3,
    cases=launches(SIZES, chunked, tags) + launches([(23,), (17,)], powers),
    few=14,
    many=42,
    rtol=1e-5,
    atol=1e-4,
)
@chunks.watch(launches([(range(89, 100), 35, 4, 0)], chunked))
def result(student, case):
    from tinygrad_cl.opencl.trial import tried

    sizes = {"work_items": case.work_items, "local_size": case.work_items, "offset": case.first}
    arguments = case.x, None, case.x.size, case.chunk
    return tried(student.CHUNKS, "chunks", *arguments, result=case.first + case.work_items + 1, seed=case.fill, **sizes)


VECTORS = "for (; i + 16 <= end; i += 16)\n        lanes += vload16(0, x + i);"
TAIL = "for (; i < end; i++)\n        sum += x[i];"
FOLD = "float8 eight = lanes.lo + lanes.hi;\n    float4 four = eight.lo + eight.hi;\n    float2 two = four.lo + four.hi;\n    float sum = two.x + two.y;"
chunks.mistake(
    "the rest of each chunk is left out", swap=(TAIL, ""), hint="A chunk of 37 is two vectors and five numbers."
)
chunks.mistake(
    "the rest is added from the chunk's beginning again",
    swap=("for (; i < end; i++)", "for (i = get_global_id(0) * chunk; i < end; i++)"),
    hint="The second loop goes on where the first one stopped: no new start for i.",
)
chunks.mistake(
    "the last vector reaches into the next chunk",
    swap=("i + 16 <= end", "i < end"),
    hint="A vector may be loaded while 16 numbers are left.",
)
chunks.mistake(
    "the last vector is kept, the others are lost",
    swap=("lanes += vload16", "lanes = vload16"),
    hint="`+=`: add to the running sums.",
)
chunks.mistake(
    "every vector is the chunk's first",
    swap=("vload16(0, x + i)", "vload16(0, x + get_global_id(0) * chunk)"),
    hint="The vector begins at `x + i`, and i moves.",
)
chunks.mistake(
    "the upper half of the vector is lost", swap=("lanes.lo + lanes.hi", "lanes.lo"), hint="16 → 8: both halves."
)
chunks.mistake(
    "a half is added to itself",
    swap=("eight.lo + eight.hi", "eight.lo + eight.lo"),
    hint=".lo and .hi are the two halves.",
)
chunks.mistake("of the last two lanes one is lost", swap=("two.x + two.y", "two.x"), hint="A float2 has .x and .y.")
chunks.mistake(
    "the steps of the vector loop are 1, not 16",
    swap=("i += 16", "i += 1"),
    hint="A vector takes 16 numbers; the next one begins 16 further.",
)
chunks.mistake("the rest overwrites the sum", swap=("sum += x[i]", "sum = x[i]"), hint="`+=`")
chunks.mistake(
    "the vectors are forgotten: only the rest is added",
    swap=("float sum = two.x + two.y;", "float sum = 0.0f;"),
    hint="The loop in steps of 1 goes on with the sum of the lanes.",
)
chunks.mistake(
    "sums are added to what was there",
    swap=("sums[get_global_id(0)] = sum", "sums[get_global_id(0)] += sum"),
    hint="Nobody has set the sums before: `=`.",
)
chunks.mistake(
    "the sum lands at the place in the group",
    swap=("sums[get_global_id(0)]", "sums[get_local_id(0)]"),
    hint="`get_local_id` begins at 0 in each group. Which id counts over all work-items?",
)
chunks.mistake("the mean is taken", swap=("= sum;", "= sum / chunk;"), hint="A sum, not a mean.")
chunks.mistake(
    "of the rest the last number is missing",
    swap=("for (; i < end; i++)", "for (; i < end - 1; i++)"),
    hint="`end` is the first number that does not belong to the chunk.",
)
chunks.mistake(
    "the rest goes one number too far",
    swap=("for (; i < end; i++)", "for (; i <= end; i++)"),
    hint="`end` is the first number that does not belong to the chunk.",
)
chunks.variant(
    "one vector less: the rest takes 16 numbers one by one, slower and right", swap=("i + 16 <= end", "i + 16 < end")
)
chunks.variant(
    "the rest takes 16 numbers, since a vector waits for a 17th: slower and right",
    swap=("i + 16 <= end", "i + (16 + 1) <= end"),
)
chunks.variant(
    "an int as the first sum: C makes a vector of floats of it", swap=("float16 lanes = 0.0f", "float16 lanes = 0")
)
chunks.variant(
    "no vectors: the check asks for the right sums",
    swap=(f"float16 lanes = 0.0f;\n    {VECTORS}\n    {FOLD}\n", "float sum = 0.0f;\n"),
)
chunks.variant(
    "two running vectors",
    swap=(
        f"float16 lanes = 0.0f;\n    {VECTORS}",
        "float16 a = (float16)(0.0f), b = (float16)(0.0f);\n    for (; i + 32 <= end; i += 32) {\n"
        "        a += vload16(0, x + i);\n        b += vload16(1, x + i);\n    }\n"
        "    for (; i + 16 <= end; i += 16) a += vload16(0, x + i);\n    float16 lanes = a + b;",
    ),
)
chunks.variant(
    "folded through an array",
    swap=(
        FOLD,
        "float all[16];\n    vstore16(lanes, 0, all);\n    float sum = 0.0f;\n"
        "    for (int j = 0; j < 16; j++) sum += all[j];",
    ),
)
chunks.variant(
    "four lanes, folded with dot",
    swap=(
        f"float16 lanes = 0.0f;\n    {VECTORS}\n    {FOLD}",
        "float4 lanes = 0.0f;\n    for (; i + 4 <= end; i += 4) lanes += vload4(0, x + i);\n    float sum = dot(lanes, (float4)(1.0f));",
    ),
)
