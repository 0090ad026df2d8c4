import numpy as np
from hypothesis import assume

from tinygrad_cl import micrograd


class Scalar(micrograd.Value):
    """Engine 1's value, by micrograd's names; a comparison is a number, as in minitorch."""

    __slots__ = ()
    __hash__ = micrograd.Value.__hash__

    def __eq__(self, other):
        return Scalar(float(self.data == number(other)))

    def __lt__(self, other):
        return Scalar(float(super().__lt__(other)))

    def __gt__(self, other):
        return Scalar(float(super().__gt__(other)))


def central_difference(f, *values, arg=0, epsilon=1e-6):
    def at(step):
        return f(*[x + step if i == arg else x for i, x in enumerate(values)])

    return (at(epsilon) - at(-epsilon)) / (2 * epsilon)


def derivative_check(f, *scalars):
    f(*scalars).backward()
    for i, x in enumerate(scalars):
        expected = central_difference(
            lambda *numbers: number(f(*map(Scalar, numbers))), *[x.data for x in scalars], arg=i
        )
        assume(abs(expected) < 1e5)  # a jump, such as that of a < b, has no slope: another example is drawn
        np.testing.assert_allclose(x.grad, expected, 1e-2, 1e-2)


def number(x):
    return x.data if isinstance(x, micrograd.scalar.Value) else float(x)
