"""Task 1: a convolution and its two gradients, by kernels on the device."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from autograder.projects.on_device import Clock, called, follows, fresh, on, own_memory, stays_inside, tensor
from autograder.projects.task import Broken, Figure, Task, same, written
from tinygrad_cl.netcl.core.device import Device
from tinygrad_cl.netcl.core.tensor import Tensor

task = Task("convolution", ("conv", "conv_dx", "conv_dw"), "billion operations a second, of all three", higher=True)
check, measure, board = task.check, task.measure, task.board


FEW = 64  # numbers of g that are not 0, for each filter, where numbers have fractions


@dataclass(frozen=True)
class Case:
    """Shapes of x and of w, stride and padding."""

    x: tuple[int, int, int, int]
    w: tuple[int, int, int, int]
    stride: int = 1
    padding: int = 0

    @property
    def out(self) -> tuple[int, int, int, int]:
        height, width = (
            (length + 2 * self.padding - side) // self.stride + 1 for length, side in zip(self.x[2:], self.w[2:])
        )
        return self.x[0], self.w[0], height, width

    def drawn(self, *shapes: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
        """Small whole numbers: sums of their products are exact in float32."""
        rng = np.random.default_rng([seed, *self.x, *self.w])
        return [rng.integers(-4, 5, shape).astype(np.float32) for shape in shapes]

    def fractions(self, *shapes: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
        """Normal numbers, each array of a size of its own. Of out at most FEW for each filter are not 0, so that sums are short
        and their bounds tight.
        """
        rng, found = np.random.default_rng([seed, *self.x, *self.w]), []
        for shape in shapes:
            array = rng.normal(size=shape)
            if shape == self.out:
                rank = rng.random(shape).swapaxes(0, 1).reshape(shape[1], -1).argsort(1).argsort(1)
                array *= (rank < FEW).reshape(shape[1], shape[0], *shape[2:]).swapaxes(0, 1)
            found.append((array * 10.0 ** rng.integers(-4, 5)).astype(np.float32))
        return found

    def text(self, call: str, **arrays: np.ndarray) -> str:
        lines = [f"{name} = {written(array)}" for name, array in arrays.items()]
        return "\n".join([*lines, call.format(stride=self.stride, padding=self.padding)])


# From the smallest on: one number; a square; sides, channels and filters that all differ; padding, stride, a rest that no window
# reaches; windows with gaps between them; more padding than the window is wide.
CASES = [
    Case((1, 1, 1, 1), (1, 1, 1, 1)),
    Case((1, 1, 2, 2), (1, 1, 2, 2)),
    Case((1, 1, 1, 3), (1, 1, 1, 2)),
    Case((1, 1, 3, 1), (1, 1, 2, 1)),
    Case((1, 1, 2, 2), (1, 1, 2, 2), 1, 1),
    Case((1, 1, 1, 4), (1, 1, 1, 2), 2),
    Case((1, 1, 4, 5), (1, 1, 2, 2), 2),
    Case((2, 1, 2, 2), (1, 1, 1, 1)),
    Case((1, 2, 2, 2), (1, 2, 1, 1)),
    Case((1, 1, 2, 2), (2, 1, 1, 1)),
    Case((1, 1, 2, 1), (1, 1, 1, 1), 1, 2),
    Case((1, 1, 7, 7), (1, 1, 2, 2), 3),
    Case((2, 2, 3, 4), (3, 2, 2, 3), 1, 1),
    Case((2, 3, 6, 5), (4, 3, 3, 2), 2, 1),
    Case((1, 2, 7, 8), (2, 2, 3, 3), 3, 2),
]
# Strides and paddings far beyond the usual ones, windows larger than the picture, and more of each than above.
FAR = [
    Case((1, 1, 1, 1), (1, 1, 1, 1), 1, 3),
    Case((1, 1, 5, 1), (1, 1, 1, 1), 4),
    Case((1, 1, 1, 2), (1, 1, 7, 2), 1, 3),
    Case((1, 2, 11, 10), (2, 2, 2, 3), 5, 4),
    Case((1, 1, 2, 3), (2, 1, 3, 2), 7, 13),
    Case((1, 1, 30, 2), (1, 1, 2, 1), 23),
]
LARGER = [
    Case((3, 5, 19, 17), (7, 5, 3, 5), 2, 1),
    Case((2, 4, 33, 31), (6, 4, 5, 3), 1, 2),
    *CASES[-4:],
    Case((1, 1, 2, 301), (1, 1, 2, 1), 100),
    Case((1, 1, 3, 2), (1, 1, 2, 1), 1, 70),
    Case((9, 18, 13, 12), (35, 18, 7, 9), 1, 3),
]
REPLAYED = [CASES[0], CASES[4], CASES[-2]]


def windows(case: Case, x: np.ndarray) -> np.ndarray:
    """What lies under the window at each of its places, (N, C, P, Q, I, J), of x with the padding around it."""
    around = (case.padding, case.padding)
    padded = np.pad(x, ((0, 0), (0, 0), around, around))
    return np.lib.stride_tricks.sliding_window_view(padded, case.w[2:], (2, 3))[:, :, :: case.stride, :: case.stride]


def convolved(case: Case, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The convolution by NumPy, in float64."""
    return np.einsum("ncpqij,fcij->nfpq", windows(case, x.astype(float)), w.astype(float), optimize=True)


def of_x(case: Case, g: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient of x in float64: what a window gathers, its gradient adds to the same places."""
    size = math.prod(case.x)
    places = windows(case, np.arange(1, size + 1).reshape(case.x))  # 0 is the padding
    parts = np.einsum("nfpq,fcij->ncpqij", g.astype(float), w.astype(float), optimize=True)
    return np.bincount(places.ravel(), parts.ravel(), size + 1)[1:].reshape(case.x)


def of_w(case: Case, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The gradient of w in float64."""
    return np.einsum("ncpqij,nfpq->fcij", windows(case, x.astype(float)), g.astype(float), optimize=True)


def right(name: str, case: Case, text: str, arrays: Sequence[np.ndarray], result: object) -> None:
    """Broken unless it is what conv, conv_dx or conv_dw makes of two arrays: exactly, if they are whole numbers; else within the
    error of float32, in whatever order products are added.

    That is γ = k u / (1 − k u) times the largest sum of absolute products, if no sum has more than k that are not 0, and
    u = 2⁻²⁴ (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3). Two more roundings are granted.
    """
    reference, shape = {"conv": (convolved, case.out), "conv_dx": (of_x, case.x), "conv_dw": (of_w, case.w)}[name]
    wanted, allowed = reference(case, *arrays), 0.0
    if any((array % 1).any() for array in arrays):
        rounded = (reference(case, *(array != 0 for array in arrays)).max() + 2) * 2.0**-24
        allowed = rounded / (1 - rounded) * reference(case, *map(np.abs, arrays)).max() + 1e-37
    same(text, wanted, tensor(text, result, shape), allowed)


@task.property("conv computes what the loops of the formula do")
def values(conv: Callable, dx: Callable, dw: Callable, device: Device | None = None) -> None:
    for case in CASES + FAR + LARGER:
        x, w = case.drawn(case.x, case.w)
        text = case.text("conv(x, w, stride={stride}, padding={padding})", x=x, w=w)
        tensors = fresh(on(device), x, w)
        call = called(on(device), text, conv, *tensors, case.stride, case.padding)
        right("conv", case, text, (x, w), call.result)
        stays_inside(text, call, *tensors)


@task.property("the gradients are the finite differences of conv, on the device")
def differences(conv: Callable, dx: Callable, dw: Callable, device: Device | None = None) -> None:
    """conv is linear in x and in w, so a central difference has no error but rounding, however large the step."""
    device = on(device)
    for case in CASES + FAR:
        x, w, g = case.drawn(case.x, case.w, case.out)
        for name, gradient, own, other in (("dx", dx, x, w), ("dw", dw, w, x)):
            wanted = np.array([slope(conv, case, (x, w), name, unit, g, device) for unit in units(own.shape)])
            text = case.text(
                f"conv_{name}(g, {'w' if name == 'dx' else 'x'}, {own.shape}, stride={{stride}}, padding={{padding}})",
                g=g,
                **({"w": w} if name == "dx" else {"x": x}),
            )
            tensors = fresh(device, g, other)
            call = called(device, text, gradient, *tensors, own.shape, case.stride, case.padding)
            same(text, wanted.reshape(own.shape), tensor(text, call.result, own.shape))
            stays_inside(text, call, *tensors)


def slope(conv: Callable, case: Case, pair: tuple, name: str, unit: np.ndarray, g: np.ndarray, device: Device) -> float:
    """How fast <conv(x, w), g> grows along a unit array added to x, or to w: half of the difference of two calls."""
    sums = []
    for sign in (1, -1):
        moved = [each + sign * unit if name == which else each for each, which in zip(pair, ("dx", "dw"))]
        sums.append(product(conv(*fresh(device, *moved), case.stride, case.padding).to_host(), g))
    return (sums[0] - sums[1]) / 2


def units(shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """For each place an array that is 1 there, and 0 elsewhere."""
    for place in range(math.prod(shape)):
        unit = np.zeros(math.prod(shape), np.float32)
        unit[place] = 1
        yield unit.reshape(shape)


@task.property("<conv(x, w), g> = <x, conv_dx(g, w)> = <w, conv_dw(g, x)>, for larger shapes, too")
def adjoint(conv: Callable, dx: Callable, dw: Callable, device: Device | None = None) -> None:
    for case in LARGER:
        inner(case, conv, dx, dw, on(device))


def inner(case: Case, conv: Callable, dx: Callable, dw: Callable, device: Device, seed: int = 0) -> None:
    """Broken where the three inner products differ. The numbers are whole, so all three are exact."""
    x, w, g = arrays = case.drawn(case.x, case.w, case.out, seed=seed)
    tx, tw, tg = fresh(device, *arrays)
    text = case.text("stride={stride}, padding={padding}", **{"x.shape": x.shape, "w.shape": w.shape})  # type: ignore[arg-type]
    out = called(device, text, conv, tx, tw, case.stride, case.padding).result
    parts = {"<x, conv_dx(g, w)>": (dx, tw, x), "<w, conv_dw(g, x)>": (dw, tx, w)}
    products = {}
    for name, (gradient, other, own) in parts.items():
        call = called(device, text, gradient, tg, other, own.shape, case.stride, case.padding)
        products[name] = product(tensor(text, call.result, own.shape), own)
        stays_inside(text, call, tg, other)
    wanted = product(tensor(text, out, case.out), g)
    for name, got in products.items():
        equal(text, name, wanted, got)


def product(a: np.ndarray, b: np.ndarray) -> float:
    return float((a.astype(np.float64) * b).sum())


def calls(case: Case, conv: Callable, dx: Callable, dw: Callable) -> dict[str, tuple]:
    """{name: (function, shapes of its two Tensors, further arguments)}"""
    step = case.stride, case.padding
    return {
        "conv": (conv, (case.x, case.w), step),
        "conv_dx": (dx, (case.out, case.w), (case.x, *step)),
        "conv_dw": (dw, (case.out, case.x), (case.w, *step)),
    }


@task.property("fractions, too: all three are right within the error of float32")
def fractions(conv: Callable, dx: Callable, dw: Callable, device: Device | None = None) -> None:
    for case in CASES + FAR + LARGER:
        for name, (function, shapes, rest) in calls(case, conv, dx, dw).items():
            arrays = case.fractions(*shapes)
            text = case.text(
                f"{name}(a, b{''.join(f', {each}' for each in rest[:-2])}, stride={{stride}}, padding={{padding}})",
                a=arrays[0],
                b=arrays[1],
            )
            call = called(on(device), text, function, *fresh(on(device), *arrays), *rest)
            right(name, case, text, arrays, call.result)


@task.property("each call has memory of its own, and leaves its inputs as they are")
def memory(conv: Callable, dx: Callable, dw: Callable, device: Device | None = None) -> None:
    case = CASES[-3]
    for name, (function, shapes, rest) in calls(case, conv, dx, dw).items():
        own_memory(name, function, on(device), partial(case.drawn, *shapes), *rest)


@task.property("all of it is computed on the device, in each call")
def on_device(conv: Callable, dx: Callable, dw: Callable, device: Device | None = None) -> None:
    for case in REPLAYED:
        replayed(case, conv, dx, dw, on(device))


def replayed(case: Case, conv: Callable, dx: Callable, dw: Callable, device: Device) -> None:
    """Broken unless the commands of each call compute its result."""
    for name, (function, shapes, rest) in calls(case, conv, dx, dw).items():
        text = f"{name}, x of shape {case.x}, w of shape {case.w}, stride={case.stride}, padding={case.padding}"
        first, others = case.drawn(*shapes), case.drawn(*shapes, seed=1)
        follows(device, text, function, first, others, partial(right, name, case), rest)


def equal(text: str, name: str, wanted: float, got: float) -> None:
    """Broken unless two inner products are the same number."""
    if not abs(got - wanted) <= 1e-6 * abs(wanted) + 1e-3:
        raise Broken(f"{text}\n<conv(x, w), g> = {wanted:.9g}", f"{name} = {wanted:.9g}", f"{got:.9g}")


@task.measures
def speed(
    conv: Callable, dx: Callable, dw: Callable, device: Device | None = None, case: Case | None = None, turns: int = 5
) -> Figure:
    """The fastest of some turns of conv, conv_dx and conv_dw; new numbers in each, and each result is looked at."""
    device = on(device)
    case = case or (CASES[-1] if device.found.is_interpreter else Case((8, 16, 32, 32), (32, 16, 3, 3), 1, 1))
    step = case.stride, case.padding
    replayed(case, conv, dx, dw, device)

    def all_three(x: Tensor, w: Tensor, g: Tensor) -> tuple:
        return conv(x, w, *step), dx(g, w, case.x, *step), dw(g, x, case.w, *step)

    def look(when: str, arrays: Sequence[np.ndarray], results: tuple) -> None:
        x, w, g = arrays
        for name, pair, result in zip(("conv", "conv_dx", "conv_dw"), ((x, w), (g, w), (g, x)), results):
            right(name, case, f"{text}: {name}, {when}", pair, result)

    text, shapes = f"x of shape {case.x}, w of shape {case.w}", (case.x, case.w, case.out)
    clock = Clock(device, text, all_three)
    arrays = case.fractions(*shapes)
    look("of fractions", arrays, clock.warm(*(Tensor.from_host(device.queue, array) for array in arrays)))
    for turn in range(turns):
        arrays = case.drawn(*shapes, seed=turn)
        results = clock.call(*(Tensor.from_host(device.queue, array) for array in arrays))
        look(f"in turn {turn + 1}", arrays, results)
    operations = 3 * 2 * math.prod(case.out) * math.prod(case.w[1:])
    return Figure(operations / clock.fastest / 1e9, f"{1e3 * clock.fastest:.2f} ms for x {case.x}, w {case.w}")
