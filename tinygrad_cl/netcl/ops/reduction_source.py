"""OpenCL C of reductions, generated for a way to join two numbers.

A tensor is seen as (outer, length, inner), and the axis in the middle is reduced, in chunks: each
work-item, or each group of them, joins one chunk. Where there are several chunks, the results,
(outer, chunks, inner), are reduced once more.

    rows      inner = 1, a row lies in one piece: one work-item per chunk, vectors down the row
    tree      the same on a GPU: one group per chunk, whose work-items meet in local memory
    columns   inner > 1: one work-item for a piece of a row, vector after vector, down a chunk;
              memory is read in long lines
"""

from tinygrad_cl.netcl.ops.elementwise_source import settings, vector_settings

JOIN = {"sum": "ADD", "max": "MAX", "min": "MIN"}  # macros of ops.primitives
NEUTRAL = {"sum": "0", "max": "-INFINITY", "min": "INFINITY"}
CHAIN = 512  # additions one after the other: rounding grows with their number

ROWS = """
__kernel void reduce_rows(const long length, const long chunk, const T divisor, const long rows,
                          __global T *out, __global const T *x) {
    const long begin = (long)get_global_id(0) * chunk, end = min(begin + chunk, length);
    if (get_global_id(1) >= rows) return;
    x += (long)get_global_id(1) * length;
    V sum = (V)(NEUTRAL);
    long i = begin;
    while (i + 2 * LANES <= end) {
        const long stop = min(end, i + CHAIN * 2 * LANES);
        V a = (V)(NEUTRAL), b = (V)(NEUTRAL);  // two: an addition need not wait for the last one
        for (; i + 2 * LANES <= stop; i += 2 * LANES) {
            a = JOIN(a, LOAD(x + i));
            b = JOIN(b, LOAD(x + i + LANES));
        }
        a = JOIN(a, b);
        sum = JOIN(sum, a);
    }
    T lanes[LANES], result = NEUTRAL;
    STORE(sum, lanes);
    for (int lane = 0; lane < LANES; lane++) result = JOIN(result, lanes[lane]);
    for (; i < end; i++) result = JOIN(result, x[i]);
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = result / divisor;
}
"""

TREE = """
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce_tree(const long length, const long chunk, const T divisor,
                 __global T *out, __global const T *x) {
    __local T part[GROUP];
    const long begin = (long)get_group_id(0) * chunk, end = min(begin + chunk, length);
    const int me = get_local_id(0);
    x += (long)get_global_id(1) * length;
    T result = NEUTRAL;
    for (long i = begin + me; i < end; i += GROUP) result = JOIN(result, x[i]);
    part[me] = result;
    for (int rest = GROUP / 2; rest > 0; rest /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < rest) part[me] = JOIN(part[me], part[me + rest]);
    }
    if (me == 0) out[get_global_id(1) * get_num_groups(0) + get_group_id(0)] = part[0] / divisor;
}
"""

COLUMNS = """
__kernel void reduce_columns(const long length, const long chunk, const T divisor, const long inner,
                             __global T *out, __global const T *x) {
    const long column = (long)get_global_id(0) * WIDTH * LANES;
    const long begin = (long)get_global_id(1) * chunk, end = min(begin + chunk, length);
    const int width = min((long)WIDTH, (inner - column + LANES - 1) / LANES);
    x += (long)get_global_id(2) * length * inner + column;
    out += ((long)get_global_id(2) * get_global_size(1) + get_global_id(1)) * inner + column;
    V sums[WIDTH];
    for (int j = 0; j < width; j++) sums[j] = (V)(NEUTRAL);
    for (long i = begin; i < end; i++) {
        __global const T *row = x + i * inner;
        for (int j = 0; j < width; j++) sums[j] = JOIN(sums[j], LOAD(row + j * LANES));
    }
    for (int j = 0; j < width; j++)
        put(sums[j] / divisor, out + j * LANES, inner - column - j * LANES);
}
"""


def reduction_source(template, how, dtype, lanes, group=1, width=1):
    """The text of one of the kernels above for `how`: "sum", "max" or "min".

    group   work-items in a group of `tree`
    width   vectors in a piece of a row of `columns`
    """
    return (
        f"{settings(dtype, lanes)}{vector_settings(dtype, lanes)}#define GROUP {group}\n"
        f"#define WIDTH {width}\n#define CHAIN {CHAIN}\n#define JOIN {JOIN[how]}\n"
        f"#define NEUTRAL {NEUTRAL[how]}\n{template}"
    )
