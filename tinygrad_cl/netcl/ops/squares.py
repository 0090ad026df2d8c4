"""The squared length of many tensors taken together, by one launch for all of them and one that
joins what the work-items have: gradients are clipped by it.
"""

import math

import numpy as np

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.core.tensor import Tensor, layout_of
from tinygrad_cl.netcl.ops.elementwise import work_items
from tinygrad_cl.netcl.ops.reduction import reduce_sum
from tinygrad_cl.netcl.ops.reduction_source import reduction_source
from tinygrad_cl.netcl.ops.update import check

# All work-items walk through a tensor side by side. One of them finds a vector that is cut off.
ADD_SQUARES = """
void add_squares(V *sum, T *rest, __global const T *x, const long n) {
    long i = (long)get_global_id(0) * LANES;
    for (; i + LANES <= n; i += (long)get_global_size(0) * LANES) {
        const V v = LOAD(x + i);
        *sum += v * v;
    }
    for (; i < n; i++) *rest += x[i] * x[i];
}
"""


def sum_of_squares(tensors):
    """Σ x² over all numbers of all tensors, as a Tensor of one number.

    ValueError if they lie on several devices, TypeError if they have several dtypes.
    """
    key = (sum_of_squares, *[x.layout for x in tensors])
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = make_plan(tensors)
    layout, steps = plan
    sums = Tensor(layout, layout.device.pool.allocate(layout.nbytes))
    for kernel, size, group, begin, end in steps:
        buffers = [x.buffer for x in tensors[begin:end]]
        layout.device.launch(kernel, size, group, [sums.buffer, *buffers])
    return reduce_sum(sums)


def make_plan(tensors):
    """(Layout of the sums that the work-items make, launches: kernel, size, group, numbers of the
    first tensor and of that after the last). Each takes as many tensors as it has room for.
    """
    layout = tensors[0].layout
    device, dtype = layout.device, layout.dtype
    check("sum of squares", layout, tensors)
    lanes = device.choices.lanes[dtype]
    vectors = -(-sum(x.size for x in tensors) // lanes)
    # Rounding grows with additions one after the other: √n here, and √n where the sums are joined.
    workers = max(1, min(vectors, max(device.choices.workers, math.isqrt(vectors))))
    size, group = work_items(device.choices, workers, [])
    most = device.found.handle.max_parameter_size // 16 - 1  # 8 bytes for a length, 8 for a tensor
    steps = []
    for begin in range(0, len(tensors), most):
        some = tensors[begin : begin + most]
        constants = [np.int64(x.size) for x in some] + [np.int64(len(steps) * size[0])]
        kernel = device.kernel(
            squares_source(dtype.name, lanes, len(some)), "sum_of_squares", constants, [None] * (1 + len(some))
        )
        steps.append((kernel, size, group, begin, begin + len(some)))
    return layout_of(device, (len(steps) * size[0],), dtype), steps


def squares_source(dtype, lanes, count):
    """The kernel. Arguments: the tensors' lengths; where its sums begin; the sums; the tensors."""
    parameters = [
        *[f"const long n{number}" for number in range(count)],
        "const long begin",
        "__global T *out",
        *[f"__global const T *x{number}" for number in range(count)],
    ]
    walks = [f"add_squares(&sum, &rest, x{number}, n{number});" for number in range(count)]
    return (
        reduction_source(ADD_SQUARES, "sum", dtype, lanes)
        + f"""
__kernel void sum_of_squares({", ".join(parameters)}) {{
    V sum = (V)(0);
    T rest = 0, lanes[LANES];
    {(chr(10) + "    ").join(walks)}
    STORE(sum, lanes);
    for (int lane = 0; lane < LANES; lane++) rest += lanes[lane];
    out[begin + get_global_id(0)] = rest;
}}
"""
    )
