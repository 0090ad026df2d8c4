"""Engine 1 under micrograd's names: `from tinygrad_cl.micrograd import Value`.

The same numbers and gradients, with the names by which micrograd's own programs look at the graph.

>>> a, b = Value(2.0), Value(3.0)
>>> c = a * b
>>> c._op, c._prev == {a, b}
('*', True)
"""

from collections.abc import Callable
from typing import Any

from tinygrad_cl import scalar

__all__ = ["Value"]


def renewed(method: Callable[..., scalar.Value], op: Callable[..., str] | None = None) -> Callable[..., "Value"]:
    """A method of engine 1 whose result is of the class of self."""

    def call(self: "Value", *args: scalar.Value | float) -> "Value":
        node = method(self, *args)
        value = type(self)(node.data, label=node.label)
        value.parents, value.local_derivatives = node.parents, node.local_derivatives
        value.op = op(*args) if op else node.op
        return value

    return call


class Value(scalar.Value):
    """One real number that remembers how it was computed, under micrograd's names.

    A node of one's own needs its derivatives as numbers, not as a closure `_backward`: make it with
    scalar.Value(data, parents, local_derivatives, op).
    """

    __slots__ = ()

    def __init__(self, data: float, _children: tuple[()] = (), _op: str = "", label: str = "") -> None:
        if _children:
            raise TypeError("engine 1 has no closures: scalar.Value(data, parents, local_derivatives, op) makes a node")
        super().__init__(data, op=_op, label=label)

    @property
    def _prev(self) -> set[scalar.Value]:
        """The nodes that it was computed from, a set."""
        return set(self.parents)

    @property
    def _op(self) -> str:
        return self.op

    def _backward(self) -> None:
        """Add this node's part to the `grad` of each of its parents."""
        for parent, local_derivative in zip(self.parents, self.local_derivatives):
            parent.grad += local_derivative * self.grad

    __add__ = renewed(scalar.Value.__add__)
    __mul__ = renewed(scalar.Value.__mul__)
    __pow__ = renewed(scalar.Value.__pow__, op=lambda n: f"**{n}" if not isinstance(n, scalar.Value) else "**")
    exp = renewed(scalar.Value.exp)
    log = renewed(scalar.Value.log)
    log1p = renewed(scalar.Value.log1p)
    tanh = renewed(scalar.Value.tanh)
    sigmoid = renewed(scalar.Value.sigmoid)
    relu = renewed(scalar.Value.relu, op=lambda: "ReLU")

    def __radd__(self, other: Any) -> "Value":
        return self + other

    def __rmul__(self, other: Any) -> "Value":
        return self * other

    def __rsub__(self, other: Any) -> "Value":
        return self * -1.0 + other

    def __rtruediv__(self, other: Any) -> "Value":
        return self**-1 * other

    def __rpow__(self, other: Any) -> "Value":
        return type(self)(other) ** self

    # -- comparisons of the numbers; == says, as in micrograd, whether it is the same node

    def __lt__(self, other: scalar.Value | float) -> bool:
        return self.data < scalar.as_value(other).data

    def __le__(self, other: scalar.Value | float) -> bool:
        return self.data <= scalar.as_value(other).data

    def __gt__(self, other: scalar.Value | float) -> bool:
        return self.data > scalar.as_value(other).data

    def __ge__(self, other: scalar.Value | float) -> bool:
        return self.data >= scalar.as_value(other).data

    def __float__(self) -> float:
        return self.data
