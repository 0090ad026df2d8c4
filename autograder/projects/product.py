"""Task 2: a matrix product, measured against the package's own kernel as `tune` has set it."""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from autograder.projects.on_device import Clock, called, follows, fresh, on, own_memory, stays_inside, tensor
from autograder.projects.task import Broken, Figure, Task, same, written
from tinygrad_cl.netcl.core.device import Device
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.matmul import matmul
from tinygrad_cl.netcl.runtime import tune

task = Task("product", ("product",), "times as fast as the package's kernel", higher=True)
check, measure, board = task.check, task.measure, task.board

# (m, k, n), from the smallest on: one number, rows and columns, nothing, sides that are no multiple of any tile.
SHAPES = [
    (1, 1, 1),
    (1, 2, 1),
    (2, 1, 1),
    (1, 1, 2),
    (1, 0, 1),
    (0, 1, 1),
    (1, 1, 0),
    (2, 0, 3),
    (0, 3, 0),
    (2, 3, 4),
    (3, 3, 3),
    (5, 7, 3),
    (1, 37, 1),
    (17, 1, 33),
    (33, 17, 31),
    (64, 64, 64),
    (65, 63, 67),
    (1, 130, 257),
    (129, 5, 1),
    (100, 259, 97),
    (3, 1027, 5),
    (128, 128, 128),
]
FEW = 8  # sides up to which numbers are whole, so that the smallest example can be read
ENGINES = ("/tinygrad_cl/netcl/", "\\tinygrad_cl\\netcl\\")


def drawn(shape: tuple[int, int, int], seed: int = 0) -> list[np.ndarray]:
    """a and b: whole numbers where they are small; else rows of a, and columns of b, of very different size."""
    (m, k, n), rng = shape, np.random.default_rng([seed, *shape])
    if max(shape) <= FEW:
        return [rng.integers(-4, 5, each).astype(np.float32) for each in ((m, k), (k, n))]
    a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    return [
        (a * 10.0 ** rng.integers(-4, 5, (m, 1))).astype(np.float32),
        (b * 10.0 ** rng.integers(-4, 5, (1, n))).astype(np.float32),
    ]


def exact(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product in float64."""
    return a.astype(np.float64) @ b.astype(np.float64)


def bound(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What rounding to float32 may cost, in whatever order the products are added: |a| |b| · γ, with γ = k u / (1 − k u) and
    u = 2⁻²⁴ (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3). Two more roundings are granted.
    """
    rounded = (a.shape[1] + 2) * 2.0**-24
    return rounded / (1 - rounded) * exact(np.abs(a), np.abs(b)) + 1e-37


def text_of(shape: tuple[int, int, int], a: np.ndarray, b: np.ndarray) -> str:
    return (
        f"a = {written(a)}\nb = {written(b)}\nproduct(a, b), of ({shape[0]}, {shape[1]}) and ({shape[1]}, {shape[2]})"
    )


def right(text: str, arrays: Sequence[np.ndarray], result: object) -> None:
    """Broken unless it is the product."""
    a, b = arrays
    same(text, exact(a, b), tensor(text, result, (a.shape[0], b.shape[1])), bound(a, b))


@task.property("the product is that of float64, within the error of float32")
def values(product: Callable, device: Device | None = None) -> None:
    for shape in SHAPES:
        a, b = drawn(shape)
        text, tensors = text_of(shape, a, b), fresh(on(device), a, b)
        call = called(on(device), text, product, *tensors)
        right(text, (a, b), call.result)
        stays_inside(text, call, *tensors)
    a, _ = drawn((5, 5, 5))
    (twice,) = fresh(on(device), a)
    same(
        f"a = {written(a)}\nproduct(a, a), of the same Tensor",
        exact(a, a),
        tensor("", product(twice, twice), (5, 5)),
        bound(a, a),
    )


@task.property("each call has memory of its own, and leaves its inputs as they are")
def memory(product: Callable, device: Device | None = None) -> None:
    own_memory("product", product, on(device), partial(drawn, (5, 7, 3)))


@task.property("all of it is computed on the device, in each call")
def on_device(product: Callable, device: Device | None = None) -> None:
    for shape in ((1, 1, 1), (5, 7, 3), (33, 17, 31)):
        a, b = drawn(shape, seed=1)
        text = f"product(a, b), of ({shape[0]}, {shape[1]}) and ({shape[1]}, {shape[2]})"
        follows(on(device), text, product, drawn(shape), (a, b), right)


@task.property("by kernels of your own")
def own(product: Callable, device: Device | None = None) -> None:
    for shape in ((2, 3, 4), (65, 63, 67)):
        own_kernels(product, on(device), shape)


def own_kernels(product: Callable, device: Device, shape: tuple[int, int, int]) -> None:
    """Broken if an operation of the package was called, or a kernel of its text launched."""
    case, tensors = (
        f"product(a, b), of ({shape[0]}, {shape[1]}) and ({shape[1]}, {shape[2]})",
        fresh(device, *drawn(shape)),
    )
    theirs = {each.kernel.source for each, _ in called(device, case, matmul, *tensors).launches()}
    for launch, file in called(device, case, product, *tensors).launches():
        if launch.kernel.source in theirs or any(part in file for part in ENGINES):
            raise Broken(case, "only kernels whose text is yours", f"the package's kernel {launch.name}")


@task.measures
def speed(product: Callable, device: Device | None = None, sizes: Sequence[int] = (), seconds: float = 20) -> Figure:
    """How many times as fast as the package's kernel: the geometric mean over the sizes. Both take turns, with new numbers in
    each; each result is looked at; the fastest turn of each counts.
    """
    device = on(device)
    sizes = sizes or ((16,) if device.found.is_interpreter else tune.SIZES)
    ratios, end = {}, time.monotonic() + seconds
    for size in sizes:
        shape, text = (size, size, size), f"product(a, b), of ({size}, {size}) and ({size}, {size})"
        print(f"measuring {text} …", flush=True)
        clocks = Clock(device, text, product), Clock(device, "the package's product", matmul)
        own_kernels(product, device, shape)
        follows(device, text, product, drawn(shape, 1), drawn(shape, 2), right)
        for turn in range(tune.TURNS):
            arrays = drawn(shape, turn + 3)
            for clock in clocks:
                tensors = [Tensor.from_host(device.queue, array) for array in arrays]
                if not turn:
                    clock.warm(*tensors)
                right(f"{clock.case}, in turn {turn + 1}", arrays, clock.call(*tensors))
            if turn and time.monotonic() > end:
                break
        ratios[size] = clocks[1].fastest / clocks[0].fastest
    tuned = "tuned" if tune.kept(device.found)["settings"] else "by its rules"
    each = ", ".join(f"{size}: {ratio:.2f}" for size, ratio in ratios.items())
    return Figure(math.exp(sum(map(math.log, ratios.values())) / len(ratios)), f"{each}; the package's is {tuned}")
