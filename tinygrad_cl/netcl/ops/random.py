"""Random numbers made on the device, by a function of a key and a counter, which are both there.

Philox (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3") turns 128 bits of counter
into 128 random ones. So each work-item makes its own numbers from its place, without any other's,
and the same seed gives the same numbers on every device. The counter is moved on by a launch, so
that a replayed step draws new ones as well.
"""

import numpy as np

from tinygrad_cl.netcl.core.device import INT32, plans
from tinygrad_cl.netcl.core.tensor import Tensor, spec_of
from tinygrad_cl.netcl.ops.c_source import C_NAMES, settings

# Four words of counter become four words of noise, for a vector of counters at once.
PHILOX = """
void philox(U *x, uint2 key) {
    for (int round = 0; round < 10; round++, key += (uint2)(0x9E3779B9, 0xBB67AE85)) {
        const U even = HIGH(x[0], 0xD2511F53) ^ x[3] ^ key.y;
        const U odd = HIGH(x[2], 0xCD9E8D57) ^ x[1] ^ key.x;
        x[1] = x[2] * 0xCD9E8D57u;
        x[3] = x[0] * 0xD2511F53u;
        x[0] = odd;
        x[2] = even;
    }
}
"""

# Each counter gives one number to each quarter of the result.
KEEP = """
__kernel void random_keep(const long n, const long quarter, __global T *out,
                          __global const uint4 *state, const uint drop, const T kept) {
    const long first = (long)get_global_id(0) * LANES;
    U words[4] = {(U)((uint)first) + IOTA, (U)((uint)(first >> 32)), (U)(state->z), (U)(state->w)};
    philox(words, state->xy);
    for (int j = 0; j < 4; j++) {
        const V factors = CONVERT(words[j] < (U)(drop) ? (U)(0) : (U)(1)) * kept;
        const long place = j * quarter + first, room = min(quarter - first, n - place);
        if (room >= LANES) STORE(factors, out + place);
        else for (int lane = 0; lane < room; lane++) out[place + lane] = ((T *)&factors)[lane];
    }
}
"""

NEXT = """
__kernel void random_next(__global uint4 *state) {
    if (++state->z == 0) state->w++;
}
"""


class Generator:
    """A stream of random numbers on the device of a queue; the same seed gives the same numbers.

    state   int32 (4,): two words of key, and two that count the draws
    """

    __slots__ = ("state",)

    def __init__(self, queue, seed):
        words = np.zeros(4, np.uint32)
        words[:2] = np.random.SeedSequence(seed).generate_state(2)
        self.state = Tensor.from_host(queue, words.view(np.int32), INT32)

    def keep(self, shape, p, dtype="float32"):
        """A dropout mask: a Tensor whose elements are 0 with probability p, else 1 / (1 − p)."""
        p = probability(p)
        spec = spec_of(self.state.device, shape, dtype)
        device, state = spec.device, self.state.buffer
        out = Tensor(spec, device.pool.allocate(spec.nbytes))
        if spec.size:
            plan = plans.table.get((Generator, spec))
            if plan is None:
                plan = plans.table[Generator, spec] = make_plan(spec)
            kernel, size, group, step = plan
            device.launch(kernel, size, group, (out.buffer, state, int(p * 2**32), 1 / (1 - p)))
            device.launch(step, (1,), None, (state,))
        return out


def probability(p):
    """p itself. ValueError unless 0 ≤ p < 1."""
    if not 0 <= p < 1:
        raise ValueError(f"p is the probability to be dropped, at least 0 and less than 1, not {p}")
    return p


def make_plan(spec):
    """(kernel, size, group) of the draw for a spec, and the kernel that moves the counter on."""
    device, dtype = spec.device, spec.dtype
    lanes, quarter = device.launch_config.lanes[dtype], -(-spec.size // 4)
    text = settings(dtype.name, lanes) + vectors(dtype.name, lanes) + PHILOX + KEEP
    keep = device.kernel(
        text, "random_keep", [np.int64(spec.size), np.int64(quarter)], (None, None, np.uint32, dtype.type)
    )
    step = device.kernel(NEXT, "random_next", [], (None,))
    size, group = device.launch_config.spread(-(-quarter // lanes))
    return keep, (size,), group and (group,), step


def vectors(dtype, lanes):
    """What the kernel calls its vectors: V of numbers, U of words; HIGH, the upper half of a
    product.
    """
    kind = C_NAMES[dtype]
    if lanes == 1:
        return (
            "#define V T\n#define U uint\n#define IOTA 0u\n#define CONVERT(u) ((T)(u))\n"
            "#define STORE(v, p) (*(p) = (v))\n#define HIGH(x, y) mul_hi(x, y##u)\n"
        )
    return (
        f"#define V {kind}{lanes}\n#define U uint{lanes}\n"
        f"#define IOTA (U)({', '.join(map(str, range(lanes)))})\n"
        f"#define CONVERT(u) convert_{kind}{lanes}(u)\n"
        f"#define STORE(v, p) vstore{lanes}(v, 0, p)\n"  # mul_hi is slow for vectors on PoCL
        f"#define HIGH(x, y) convert_uint{lanes}((convert_ulong{lanes}(x) * y##ul) >> 32)\n"
    )
