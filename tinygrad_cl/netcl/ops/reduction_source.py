"""OpenCL C of reductions, generated for a way to join two numbers.

A tensor is seen as (outer, length, inner), and the axis in the middle is reduced, in chunks: each
work-item, or each group of them, joins one chunk. Where there are several chunks, the results,
(outer, chunks, inner), are reduced once more.

    rows      inner = 1, a row lies in one piece: one work-item per chunk, vectors down the row
    tree      the same on a GPU: one group per chunk, whose work-items meet in local memory
    columns   inner > 1: one work-item for a vector of neighbouring columns, down a chunk
"""

from tinygrad_cl.netcl.ops.elementwise_source import C_NAMES, settings

JOIN = {"sum": "ADD", "max": "MAX", "min": "MIN"}  # macros of ops.primitives
NEUTRAL = {"sum": "0", "max": "-INFINITY", "min": "INFINITY"}

ROWS = """
__kernel void reduce_rows(const long length, const long chunk, const T divisor,
                          __global T *out, __global const T *x) {
    const long begin = (long)get_global_id(0) * chunk, end = min(begin + chunk, length);
    x += (long)get_global_id(1) * length;
    V a = (V)(NEUTRAL), b = (V)(NEUTRAL);  // two chains: an addition need not wait for the last one
    long i = begin;
    for (; i + 2 * LANES <= end; i += 2 * LANES) {
        a = JOIN(a, LOAD(x + i));
        b = JOIN(b, LOAD(x + i + LANES));
    }
    a = JOIN(a, b);
    T lanes[LANES], result = NEUTRAL;
    STORE(a, lanes);
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
    const long column = (long)get_global_id(0) * LANES;
    const long begin = (long)get_global_id(1) * chunk, end = min(begin + chunk, length);
    x += (long)get_global_id(2) * length * inner;
    out += ((long)get_global_id(2) * get_global_size(1) + get_global_id(1)) * inner;
    if (column + LANES <= inner) {
        V result = (V)(NEUTRAL);
        for (long i = begin; i < end; i++) result = JOIN(result, LOAD(x + i * inner + column));
        result = result / divisor;
        STORE(result, out + column);
    } else {
        for (long j = column; j < inner; j++) {
            T result = NEUTRAL;
            for (long i = begin; i < end; i++) result = JOIN(result, x[i * inner + j]);
            out[j] = result / divisor;
        }
    }
}
"""


def reduction_source(template, how, dtype, lanes, group=1):
    """The text of one of the kernels above for `how`: "sum", "max" or "min"."""
    if lanes == 1:
        vector = "#define V T\n#define LOAD(p) (*(p))\n#define STORE(v, p) (*(p) = (v))\n"
    else:
        vector = (f"#define V {C_NAMES[dtype]}{lanes}\n#define LOAD(p) vload{lanes}(0, p)\n"
                  f"#define STORE(v, p) vstore{lanes}(v, 0, p)\n")
    return (f"{settings(dtype, lanes)}{vector}#define GROUP {group}\n#define JOIN {JOIN[how]}\n"
            f"#define NEUTRAL {NEUTRAL[how]}\n{template}")
