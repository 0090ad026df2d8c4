"""Engine 1: reverse-mode automatic differentiation of single numbers.

A `Value` keeps its parents and, for each of them, the local derivative along that edge, already a number
when the node is made. So `backward` is one line per edge, and the whole graph can be drawn with its
derivatives on it. Nothing else is stored: no closures, hence no reference cycles. A graph can be as deep as
memory allows, but pickle and copy.deepcopy go down it by recursion, and raise a RecursionError below a chain of
some hundred nodes: to save a result, save its number.

The names and the tests follow micrograd (Karpathy, 2020); the method is reverse accumulation, Linnainmaa 1970.
"""

import math
from numbers import Real


class Value:
    """One real number that remembers how it was computed.

    data                the number
    grad                ∂(the node `backward` was called on)/∂(this node); 0 before
    parents             the Values it was computed from, a tuple
    local_derivatives   ∂(this node)/∂(each parent), numbers, in the order of `parents`
    op                  what computed it: "+", "*", "exp", …; "" for a leaf
    label               a name for drawings

    `if v:` asks about the number, as it does for a float. `v == w` asks whether v and w are the
    same node, so that nodes can be looked up in sets and lists. To compare numbers, write
    v.data == w.data.
    """

    __slots__ = ("data", "grad", "parents", "local_derivatives", "op", "label", "__weakref__")
    __array_ufunc__ = None  # so that np.float64(2) * Value(3) is left to Value.__rmul__

    def __init__(self, data, parents=(), local_derivatives=(), op="", label=""):
        if type(data) is not float:  # most are; for them the slower test is left out
            if not isinstance(data, Real):
                raise TypeError(f"a Value holds one real number, not {data!r}")
            data = float(data)
        self.data = data
        self.grad = 0.0
        self.parents = parents
        self.local_derivatives = local_derivatives
        self.op = op
        self.label = label

    def __repr__(self):
        name = f"{self.label}: " if self.label else ""
        return f"Value({name}data={self.data:.6g}, grad={self.grad:.6g})"

    def __bool__(self):
        return self.data != 0

    # -- the operations that carry a rule ---------------------------------------------------------------

    def __add__(self, other):
        """The sum a + b of a = self and b = other (a Value or a number), with op "+".

        ∂(a + b)/∂a = 1        ∂(a + b)/∂b = 1

        >>> a, b = Value(2.0), Value(-3.0)
        >>> (a + b).data, (a + b).local_derivatives
        (-1.0, (1.0, 1.0))
        """
        other = as_value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0), "+")

    def __mul__(self, other):
        """The product a · b of a = self and b = other (a Value or a number), with op "*".

        ∂(a · b)/∂a = b        ∂(a · b)/∂b = a

        >>> a, b = Value(2.0), Value(-3.0)
        >>> (a * b).data, (a * b).local_derivatives
        (-6.0, (-3.0, 2.0))
        """
        other = as_value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data), "*")

    def __pow__(self, exponent):
        """The power aⁿ of a = self; the exponent n is a number or a Value, with op "**".

        ∂aⁿ/∂a = n · aⁿ⁻¹      ∂aⁿ/∂n = aⁿ · ln a   (only if n is a Value)

        A plain number as exponent is a constant: it is no parent. If n is a Value, ValueError
        unless a > 0.

        >>> a, n = Value(3.0), Value(2.0)
        >>> (a ** 2).local_derivatives
        (6.0,)
        >>> [round(d, 4) for d in (a ** n).local_derivatives]
        [6.0, 9.8875]
        """
        if not isinstance(exponent, Value):
            power, slope = power_and_slope(self.data, exponent)
            return Value(power, (self,), (slope,), "**")
        if self.data <= 0:
            raise ValueError(
                f"{self.data:g} ** Value: the slope along n is aⁿ · ln a, for a > 0 only;"
                " if the exponent is a constant, write it as a plain number"
            )
        power, slope = power_and_slope(self.data, exponent.data)
        return Value(power, (self, exponent), (slope, power * math.log(self.data)), "**")

    def exp(self):
        """The exponential eᵃ of a = self, with op "exp".

        ∂eᵃ/∂a = eᵃ

        >>> Value(0.0).exp().local_derivatives
        (1.0,)
        """
        try:
            result = math.exp(self.data)
        except OverflowError:
            raise OverflowError(f"exp({self.data:g}) is larger than any float") from None
        return Value(result, (self,), (result,), "exp")

    def log(self):
        """The natural logarithm ln a of a = self, with op "log". ValueError unless a > 0.

        ∂(ln a)/∂a = 1 / a

        >>> Value(4.0).log().local_derivatives
        (0.25,)
        """
        if self.data <= 0:
            raise ValueError(f"log({self.data:g}): the logarithm needs a number above 0")
        return Value(math.log(self.data), (self,), (1.0 / self.data,), "log")

    def log1p(self):
        """The logarithm ln(1 + a) of a = self, with all its digits near 0, with op "log1p".
        ValueError unless a > −1.

        ∂ln(1 + a)/∂a = 1 / (1 + a)

        >>> Value(3.0).log1p().local_derivatives
        (0.25,)
        """
        if self.data <= -1:
            raise ValueError(f"log1p({self.data:g}): the logarithm of 1 + a needs a number above -1")
        return Value(math.log1p(self.data), (self,), (1.0 / (1.0 + self.data),), "log1p")

    def tanh(self):
        """The hyperbolic tangent t = tanh a of a = self, with op "tanh".

        ∂t/∂a = 1 − t²

        >>> Value(0.0).tanh().local_derivatives
        (1.0,)
        """
        t = math.tanh(self.data)
        return Value(t, (self,), (1.0 - t * t,), "tanh")

    def sigmoid(self):
        """The sigmoid s = 1 / (1 + e⁻ᵃ) of a = self, with op "sigmoid".

        ∂s/∂a = s · (1 − s)

        It is right for a = ±1000, too.

        >>> s = Value(0.0).sigmoid()
        >>> s.data, s.local_derivatives
        (0.5, (0.25,))
        """
        small = math.exp(-abs(self.data))  # the exponent is never positive, so nothing overflows
        s = (1.0 if self.data >= 0 else small) / (1.0 + small)
        return Value(s, (self,), (s * (1.0 - s),), "sigmoid")

    def relu(self):
        """The ReLU max(0, a) of a = self, with op "relu".

        ∂relu(a)/∂a = 1 if a > 0, else 0. At a = 0 there is no derivative; like PyTorch, we take 0.

        >>> [Value(a).relu().local_derivatives for a in (-2.0, 0.0, 2.0)]
        [(0.0,), (0.0,), (1.0,)]
        """
        return Value(max(self.data, 0.0), (self,), (1.0 if self.data > 0 else 0.0,), "relu")

    # -- the operations made of those -------------------------------------------------------------------

    def __neg__(self):
        """−a, as a · (−1)."""
        return self * -1.0

    def __sub__(self, other):
        """a − b, as a + (−b)."""
        return self + -as_value(other)

    def __truediv__(self, other):
        """a / b, as a · b⁻¹."""
        return self * as_value(other) ** -1

    def __radd__(self, other):
        """other + self, where other is a number.

        Python asks the right operand when the left one, the number, does not know how to add.
        """
        return as_value(other) + self

    def __rsub__(self, other):
        """other − self, where other is a number."""
        return as_value(other) - self

    def __rmul__(self, other):
        """other · self, where other is a number."""
        return as_value(other) * self

    def __rtruediv__(self, other):
        """other / self, where other is a number."""
        return as_value(other) / self

    def __rpow__(self, other):
        """other ** self, where other is a number."""
        return as_value(other) ** self

    # -- backward ---------------------------------------------------------------------------------------

    def backward(self):
        """Add ∂self/∂leaf to the `grad` of every leaf that self was computed from.

        Chain rule, one line per edge: parent.grad += local derivative · node.grad. A node has its
        turn only when its own grad is complete: in the reverse of `topological_order`. The grad of
        a leaf adds up over calls until `zero_grad`. The nodes between self and the leaves start
        from 0 in each call, and their `grad` is ∂self/∂node after it. Where self is a leaf itself,
        1 may be added to its grad or set: both are right.

        >>> a = Value(3.0)
        >>> (a * a).backward()
        >>> a.grad
        6.0
        """
        order = topological_order(self)
        for node in order:
            if node.parents:
                node.grad = 0.0
        self.grad += 1.0
        for node in reversed(order):
            for parent, local_derivative in zip(node.parents, node.local_derivatives):
                parent.grad += local_derivative * node.grad

    def zero_grad(self):
        """Set `grad` to 0 on this node and on everything it was computed from.

        >>> a = Value(3.0)
        >>> b = a * a
        >>> b.backward(); b.zero_grad(); a.grad, b.grad
        (0.0, 0.0)
        """
        for node in topological_order(self):
            node.grad = 0.0


def as_value(x):
    """x itself if it is a Value, else a new leaf that holds the number x."""
    return x if isinstance(x, Value) else Value(x)


def power_and_slope(base, exponent):
    """(baseⁿ, n · baseⁿ⁻¹) for numbers; a clear error where there is no such real number.

    The slope is inf where the curve is vertical, as for √a at 0.
    """
    if not isinstance(exponent, Real):
        raise TypeError(f"an exponent is a number or a Value, not {exponent!r}")
    exponent = float(exponent)
    if base == 0 and exponent < 0:
        raise ZeroDivisionError(f"0 ** {exponent:g}: a negative power of 0 is a division by 0")
    power = f"({base:g}) ** {exponent:g}"
    if base < 0 and not exponent.is_integer():
        raise ValueError(f"{power} is no real number: a base below 0 needs a whole exponent")
    if exponent == 0:
        return 1.0, 0.0
    if base == 0 and exponent < 1:
        return 0.0, math.inf
    try:
        return base**exponent, exponent * base ** (exponent - 1)
    except OverflowError:
        raise OverflowError(f"{power}, or its slope, is larger than any float") from None


def topological_order(root):
    """A list of root and all nodes that it was computed from, each once, each after its parents.

    root is the node of the result; it comes last. Any such order is right. A chain of 100,000
    nodes is no problem, and a node costs one visit, however many paths lead to it.

    >>> a = Value(2.0, label="a")
    >>> b = a * a
    >>> c = b + a
    >>> topological_order(c) == [a, b, c]
    True
    """
    order, visited, stack = [], set(), [root]  # a list of our own: Python's call stack is too short
    while stack:
        node = stack.pop()
        if node is None:  # the mark above a node whose parents are all in the order now
            order.append(stack.pop())
        elif node not in visited:
            visited.add(node)
            stack += [node, None, *node.parents]
    return order
