"""OpenCL C of indexing: rows by their indices, their gradients, copies of parts.

Rows are taken along one axis: a tensor is seen as (blocks, length, inner), the axis in the middle
is the one, and a row has `inner` elements. The range of an index is checked before it is used, so no
access leaves its buffer.

A work-item handles a stretch of `width` elements of a row: many on a CPU, whose compiler vectorizes
the loop; one on a GPU, whose hardware forms vectors from work-items.
"""

from tinygrad_cl.netcl.ops.c_source import settings

TAKE = """
__kernel void take(const long inner, const long count, const long length, const long width,
                   __global T *out, __global const T *x, __global const int *indices) {
    const long begin = get_global_id(0) * width, end = min(begin + width, inner);
    const long i = get_global_id(1), block = get_global_id(2);
    if (i >= count) return;
    const int row = indices[i];
    out += (block * count + i) * inner;
    x += (block * length + row) * inner;
    if (0 <= row && row < length)
        for (long column = begin; column < end; column++) out[column] = x[column];
    else
        for (long column = begin; column < end; column++) out[column] = MISSING;
}
"""

# The other way round, several numbers may go to one place. To have no race, a work-item owns its
# places: a stretch of every row whose number is `part` modulo PARTS, a power of two. It sets them
# to 0, walks over all indices, and adds what is for a row of its own, always in the same order.
PUT = """
__kernel void put(const long inner, const long count, const long length, const long width,
                  __global T *out, __global const T *grad, __global const int *indices) {
    const long begin = get_global_id(0) * width, end = min(begin + width, inner);
    const long part = get_global_id(1), block = get_global_id(2);
    out += block * length * inner;
    grad += block * count * inner;
    for (long row = part; row < length; row += PARTS)
        for (long column = begin; column < end; column++) out[row * inner + column] = 0;
    for (long i = 0; i < count; i++) {
        const int row = indices[i];
        if ((row & (PARTS - 1)) == part && 0 <= row && row < length)
            for (long column = begin; column < end; column++)
                out[row * inner + column] += grad[i * inner + column];
    }
}
"""


def take_source(dtype):
    """The kernel of `out[b, i, :] = x[b, indices[i], :]`, NaN (−1 for indices) where there is no
    such row. A work-item for each (stretch, i, block).
    """
    missing = "-1" if dtype == "int32" else "NAN"
    return f"{settings(dtype, 1)}#define MISSING {missing}\n{TAKE}"


def put_source(dtype, parts):
    """The kernel of `out[b, indices[i], :] += grad[b, i, :]`, beginning with 0. A work-item for
    each (stretch, part, block).
    """
    return f"{settings(dtype, 1)}#define PARTS {parts}\n{PUT}"


def copy_source(dtype, outer, steps):
    """The kernel that copies a part of one tensor into a part of another: rows of n numbers, one
    for each place on `outer` axes.

    steps   for out and x, along a row: 1, or None for any other

    Arguments: n, how many rows, the lengths of the outer axes; for out and x the strides along them
    and, where it is not 1, along a row; `width`; where the parts begin; out, x. A work-item for
    each (stretch, row).
    """
    parameters = ["const long n, const long rows", *[f"const long n{axis}" for axis in range(outer)]]
    for name, step in zip(("out", "x"), steps):
        parameters += [f"const long {name}_{axis}" for axis in range(outer)]
        parameters += [] if step else [f"const long {name}_step"]
    places = ["i" if step else f"i * {name}_step" for name, step in zip(("out", "x"), steps)]
    lines = [
        f"const long i{axis} = row % n{axis};  row /= n{axis};  out += i{axis} * out_{axis};  x += i{axis} * x_{axis};"
        for axis in reversed(range(outer))
    ]
    body = "\n    ".join(lines)
    return f"""{settings(dtype, 1)}
__kernel void copy({", ".join(parameters)}, const long width,
                   const long out_begin, const long x_begin,
                   __global T *out, __global const T *x) {{
    const long begin = get_global_id(0) * width, end = min(begin + width, n);
    long row = get_global_id(1);
    if (row >= rows) return;
    out += out_begin;
    x += x_begin;
    {body}
    for (long i = begin; i < end; i++) out[{places[0]}] = x[{places[1]}];
}}
"""
