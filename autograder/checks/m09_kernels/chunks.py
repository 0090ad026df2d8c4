import numpy as np

from autograder.checks.check import check


@check("kernels.chunks", points=3, rtol=1e-5, atol=1e-4, seconds=30)
def chunks(student, rng, tools):
    """Chunks that are no multiple of 16, the last one short or empty; some below 16, some of full vectors; one alone."""
    from tinygrad_cl.opencl.trial import try_kernel

    odd = int(rng.integers(35, 46))
    cases = {  # name: (n, chunk, work-items, first work-item)
        "the third chunk is short, the fourth empty": (2 * odd + int(rng.integers(19, 30)), odd, 4, 0),
        "chunks of 32": (96, 32, 3, 0),
        "chunks below 16": (int(rng.integers(16, 20)), 7, 3, 0),
        "work-item 1 alone, of three": (3 * odd, odd, 1, 1),
    }
    found, memory = (
        {"input": "n, chunk: " + "; ".join(f"{n}, {chunk} ({name})" for name, (n, chunk, _, _) in cases.items())},
        [],
    )
    for name, (n, chunk, work_items, first) in cases.items():
        x = rng.normal(0, 2, n).astype(np.float32)
        right = [x[k * chunk : (k + 1) * chunk].sum() for k in range(4)] if work_items == 4 else None
        sums, said = try_kernel(
            student.CHUNKS,
            "chunks",
            x,
            None,
            n,
            chunk,
            result=max(work_items, 3),
            work_items=work_items,
            local_size=work_items,
            offset=first,
            right=right,
        )
        found[f"sums ({name})"] = sums
        memory.append(said)
    places = 2.0 ** np.arange(-7, 16, dtype=np.float32)  # 16 + 7 numbers; a sum of some of them says which
    counted, _ = try_kernel(student.CHUNKS, "chunks", places, None, 23, 23, result=1, work_items=1, local_size=1)
    return found | {"sum of the powers of 2 from −7 to 15": counted, "memory": memory}


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
