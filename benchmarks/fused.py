"""Fusing: f = sum(tanh(a · b + a) · b) of four million numbers, forward and backward.

    python benchmarks/fused.py [--quick] [--rounds 15] [--json FILE]

A turn computes f and both gradients, float32, and waits. Operation by operation, each reads and
writes memory; a fused kernel reads a and b once on the way there and once on the way back. The
limits are measured by kernels that move the same bytes and compute nothing.
"""

import time

import numpy as np
from contenders import Comparison, Contender, stepping
from limits import make_traffic
from tables import main

SIZE = 4 * 2**20
SAMPLES = 64  # numbers of each gradient that are compared


def inputs(size):
    rng = np.random.default_rng(0)
    return rng.normal(size=(2, size)).astype(np.float32)


def evaluated(run, read):
    """stepping of run(), which gives (f, ∂f/∂a, ∂f/∂b) when it is done; read(x) makes an array."""
    last = []

    def step():
        last[:] = [run()]

    def answer():
        value, *slopes = map(read, last[0])
        # f is a sum with cancellation: it counts relative to the number of terms.
        scale = np.sqrt(slopes[0].size)
        return np.concatenate([value.reshape(1) / scale, *[slope[:: slope.size // SAMPLES] for slope in slopes]])

    return stepping(step, lambda: None, answer)


def ours(size, prepare):
    """prepare(ag) gives the function f(a, b) of Nodes."""
    import tinygrad_cl.netcl.autograd as ag
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.tensor import Tensor

    return on_the_tape(ag, Tensor, manager.default("auto").queue, size, prepare)


def on_the_tape(ag, tensor_class, queue, size, prepare):
    """f forward and backward, in the words that both netcls have; both keep gradients on the tensors."""
    a, b = (ag.tensor(tensor_class.from_host(queue, x), requires_grad=True) for x in inputs(size))
    function = prepare(ag)

    def run():
        a.grad = b.grad = a.value.grad = b.value.grad = None
        with ag.Tape() as tape:
            value = function(a, b)
        tape.backward(value)
        queue.finish()
        return value.value, a.grad, b.grad

    return evaluated(run, lambda x: x.to_host())


def chain(ag):
    """f, in the words of both netcls."""
    return lambda a, b: ag.sum(ag.mul(ag.tanh(ag.add(ag.mul(a, b), a)), b))


def make_compiled(size):
    return ours(size, lambda ag: ag.jit_compile(chain(ag)))


def make_eager(size):
    return ours(size, chain)


def make_numpy(size):
    """By hand: every array is there already."""
    a, b = inputs(size)
    t, s, slope_a, slope_b = (np.empty_like(a) for _ in range(4))

    def run():
        np.multiply(a, b, out=t)
        np.add(t, a, out=t)
        np.tanh(t, out=t)
        np.multiply(t, b, out=s)
        value = s.sum()
        np.multiply(t, t, out=s)
        np.subtract(1, s, out=s)
        np.multiply(s, b, out=s)  # ∂f/∂(a·b + a)
        np.add(b, 1, out=slope_a)
        np.multiply(s, slope_a, out=slope_a)
        np.multiply(s, a, out=slope_b)
        np.add(slope_b, t, out=slope_b)
        return value, slope_a, slope_b

    return evaluated(run, np.asarray)


def torch_chain(size, prepare):
    import torch

    a, b = (torch.from_numpy(x).requires_grad_() for x in inputs(size))
    function = prepare(torch)

    def run():
        a.grad = b.grad = None
        value = function(a, b)
        value.backward()
        return value, a.grad, b.grad

    return evaluated(run, lambda x: x.detach().numpy())


def make_torch(size):
    return torch_chain(size, lambda torch: lambda a, b: ((a * b + a).tanh() * b).sum())


def make_torch_compile(size):
    return torch_chain(size, lambda torch: torch.compile(lambda a, b: ((a * b + a).tanh() * b).sum()))


def make_jax(size):
    import jax
    import jax.numpy as jnp

    a, b = map(jax.device_put, inputs(size))
    both = jax.jit(jax.value_and_grad(lambda a, b: (jnp.tanh(a * b + a) * b).sum(), (0, 1)))

    def run():
        value, (slope_a, slope_b) = jax.block_until_ready(both(a, b))
        return value, slope_a, slope_b

    return evaluated(run, np.asarray)


def netcl_chain(size, prepare):
    import netcl.autograd as ag
    from netcl.core.device import manager
    from netcl.core.tensor import Tensor

    return on_the_tape(ag, Tensor, manager.default("auto").queue, size, prepare)


def make_netcl(size):
    return netcl_chain(size, chain)


def make_netcl_compiled(size):
    """Its jit_compile fuses elementwise operations alone: the sum stays outside."""

    def prepare(ag):
        fused = ag.jit_compile(lambda a, b: ag.mul(ag.tanh(ag.add(ag.mul(a, b), a)), b))
        return lambda a, b: ag.sum(fused(a, b))

    return netcl_chain(size, prepare)


def make_limit(size):
    return limit(size, False)


def make_limit_past_cache(size):
    return limit(size, True)


def limit(size, non_temporal):
    launch = make_traffic(size, non_temporal)

    def turn(mode):
        count, _ = mode
        start = time.perf_counter()
        for _ in range(count):
            launch()
        return {"step": (time.perf_counter() - start) / count}, None

    return turn


def comparisons(quick):
    size = 2**14 if quick else SIZE
    return [
        Comparison(
            "fused",
            f"f = sum(tanh(a · b + a) · b) and its gradients, {size:,} numbers",
            (
                Contender("tinygrad_cl.netcl, jit_compile", make_compiled, ours=True),
                Contender("tinygrad_cl.netcl, eager", make_eager, ours=True),
                Contender("limit: the same bytes", make_limit),
                Contender("limit: the same bytes, written past the cache", make_limit_past_cache),
                Contender("NumPy with out=", make_numpy),
                Contender("torch eager", make_torch, ("torch",)),
                Contender("torch.compile", make_torch_compile, ("torch",)),
                Contender("jax.jit", make_jax, ("jax",)),
                Contender("netcl, jit_compile", make_netcl_compiled, ("netcl",)),
                Contender("netcl", make_netcl, ("netcl",)),
            ),
            size,
            {"forward and backward": (2 if quick else 10, 1)},
            tolerance=1e-3,
        )
    ]


if __name__ == "__main__":
    main(__doc__, comparisons)
