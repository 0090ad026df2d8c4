"""Matrix products of square matrices, float32, each waited for: GFLOP/s, in all transpositions.

    python benchmarks/matmul.py [--quick] [--rounds 15] [--json FILE]

NN is A · B, NT is A · Bᵀ, TN is Aᵀ · B, with A and B contiguous in memory. The peers write into an
array that is there already. The limit is what the device adds and multiplies where nothing has to
be fetched from memory.
"""

import time

import numpy as np
from contenders import Comparison, Contender
from limits import make_arithmetic
from tables import main

KINDS = {"NN": (False, False), "NT": (False, True), "TN": (True, False)}
ENOUGH = 4e9  # operations of a turn: small products are repeated
NETCL_LIMIT = 512  # netcl's product of larger matrices takes seconds


def matrices(size):
    """A and B, whose product has numbers of about 1; contiguous, as they lie before transposing."""
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=(2, size, size)).astype(np.float32) / np.float32(size**0.25)
    return a, b


def product(prepare):
    """turn(size, kind) for prepare(size, transpose_a, transpose_b), which returns multiply, result.

    multiply()   one product, and waits for it
    result()     the last one, as an array
    """
    ready = {}

    def turn(mode):
        size, kind = mode
        if mode not in ready:
            ready[mode] = prepare(size, *KINDS[kind])
        multiply, result = ready[mode]
        repeat = max(1, int(ENOUGH / (2 * size**3))) if size >= 256 else 1
        start = time.perf_counter()
        for _ in range(repeat):
            multiply()
        seconds = (time.perf_counter() - start) / repeat
        return {"step": seconds}, result()[:: size // 8, :: size // 8]

    return turn


def make_ours(settings):
    from tinygrad_cl.netcl.core.device import manager
    from tinygrad_cl.netcl.core.tensor import Tensor
    from tinygrad_cl.netcl.ops.matmul import matmul

    queue = manager.default("auto").queue

    def prepare(size, transpose_a, transpose_b):
        a, b = (Tensor.from_host(queue, x) for x in matrices(size))
        last = [None]

        def multiply():
            last[0] = matmul(a, b, transpose_a, transpose_b)
            queue.finish()

        return multiply, lambda: last[0].to_host()

    return product(prepare)


def make_numpy(settings):
    def prepare(size, transpose_a, transpose_b):
        a, b = matrices(size)
        a, b, out = a.T if transpose_a else a, b.T if transpose_b else b, np.empty_like(a)
        return lambda: np.matmul(a, b, out=out), lambda: out

    return product(prepare)


def make_torch(settings):
    import torch

    def prepare(size, transpose_a, transpose_b):
        a, b = map(torch.from_numpy, matrices(size))
        a, b, out = a.T if transpose_a else a, b.T if transpose_b else b, torch.empty_like(a)
        return lambda: torch.mm(a, b, out=out), out.numpy

    return product(prepare)


def make_netcl(settings):
    from netcl.core.device import manager
    from netcl.core.tensor import Tensor
    from netcl.ops.matmul import matmul

    queue = manager.default("auto").queue

    def prepare(size, transpose_a, transpose_b):
        if transpose_a or transpose_b:
            raise ValueError("its matmul transposes nothing")
        if size > NETCL_LIMIT:
            raise ValueError("it would take seconds")
        a, b = (Tensor.from_host(queue, x) for x in matrices(size))
        last = [None]

        def multiply():
            last[0] = matmul(a, b)
            queue.finish()

        return multiply, lambda: last[0].to_host()

    return product(prepare)


def make_limit(settings):
    launch, operations = make_arithmetic()

    def turn(mode):
        start = time.perf_counter()
        launch()
        return {"step": (time.perf_counter() - start) * 2 * mode[0] ** 3 / operations}, None

    return turn


def comparisons(quick):
    modes = {
        f"{size}, {kind}": (size, kind) for size in ((64, 72) if quick else (256, 512, 1024, 2048)) for kind in KINDS
    }
    return [
        Comparison(
            "matmul",
            "Matrix product, float32, each waited for",
            (
                Contender("tinygrad_cl.netcl", make_ours, ours=True),
                Contender("NumPy", make_numpy),
                Contender("torch", make_torch, ("torch",)),
                Contender("netcl", make_netcl, ("netcl",)),
                Contender("limit: multiply-add in registers", make_limit),
            ),
            None,
            modes,
            unit="GFLOP/s",
            tolerance=1e-3,
            work={title: 2 * size**3 for title, (size, _) in modes.items()},
        )
    ]


if __name__ == "__main__":
    main(__doc__, comparisons)
