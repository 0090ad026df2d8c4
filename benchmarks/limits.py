"""What the device can do at most, measured by kernels that do nothing else.

They are contenders like others, so that a limit is measured in the same minutes as what is held to
it.
"""

import numpy as np

ITEMS, ROUNDS = 64, 400_000
CHUNK = 64  # vectors that one work-item reads


def make_arithmetic():
    """(launch, operations): a launch of nothing but multiply-adds in registers."""
    from tinygrad_cl.netcl.core.device import FLOAT32, manager
    from tinygrad_cl.netcl.core.tensor import Tensor
    from tinygrad_cl.opencl.speed import CHAINS, multiply_adds

    device = manager.default("auto")
    lanes = device.launch_config.lanes[FLOAT32]
    kernel = device.kernel(
        multiply_adds(lanes),
        "arithmetic",
        (np.int32(ROUNDS),),
        (None,),
    )
    out = Tensor.from_shape(device.queue, (ITEMS * lanes,))

    def launch():
        device.launch(kernel, (ITEMS,), (1,), (out.buffer,))
        device.queue.finish()

    return launch, 2 * CHAINS * lanes * ITEMS * ROUNDS


def make_traffic(size, non_temporal):
    """launch: reads two arrays of `size` numbers, then reads them again and writes two.

    size           a multiple of 1,024
    non_temporal   writes go past the cache, so that the memory they replace is not read first, by a
                   word of clang's, which PoCL compiles with; elsewhere pyopencl.RuntimeError
    """
    from tinygrad_cl.netcl.core.device import FLOAT32, manager
    from tinygrad_cl.netcl.core.tensor import Tensor

    device = manager.default("auto")
    lanes = device.launch_config.lanes[FLOAT32]
    store = "__builtin_nontemporal_store(v, p)" if non_temporal else "(*(p) = (v))"
    source = f"""
#define V float{lanes if lanes > 1 else ""}
#define STORE(v, p) {store}
__kernel void read(__global const V *a, __global const V *b, __global V *out) {{
    const long i = (long)get_global_id(0) * {CHUNK};
    V sum = (V)(0);
    for (int j = 0; j < {CHUNK}; j++) sum += a[i + j] + b[i + j];
    out[get_global_id(0)] = sum;
}}
__kernel void copy(__global const V *a, __global const V *b, __global V *c, __global V *d) {{
    const long i = get_global_id(0);
    STORE(a[i], c + i);
    STORE(b[i], d + i);
}}"""
    read = device.kernel(source, "read", (), (None,) * 3)
    copy = device.kernel(source, "copy", (), (None,) * 4)
    a, b = (Tensor.full(device.queue, (size,), 1) for _ in range(2))
    c, d = (Tensor.from_shape(device.queue, (size,)) for _ in range(2))
    items = size // lanes // CHUNK
    out = Tensor.from_shape(device.queue, (items * lanes,))

    def launch():
        device.launch(read, (items,), None, (a.buffer, b.buffer, out.buffer))
        device.launch(copy, (size // lanes,), None, (a.buffer, b.buffer, c.buffer, d.buffer))
        device.queue.finish()

    return launch
