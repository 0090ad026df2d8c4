"""What the names of several peers need: p.data -= lr * p.grad, and functions that are methods."""

import operator

import numpy as np

from tinygrad_cl.tensor.core.variable import Variable, raw

OPERATORS = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.power: operator.pow,
    np.matmul: operator.matmul,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
}


class ArrayData:
    """A tensor whose array may be changed and replaced: p.data -= …, p.data = ….

    Neither is recorded. The first is counted as a change in place: whoever saved the old numbers
    for backward will notice.
    """

    @property
    def data(self):
        return self.__dict__["data"]

    @data.setter
    def data(self, values):
        array = raw(values)
        if not isinstance(array, np.ndarray):
            raise TypeError(f"data is an array or a tensor, not {values!r}")
        if array is self.__dict__.get("data"):  # Python ends x.data -= y by x.data = x.data
            self.version.count += 1
        self.__dict__["data"] = array

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        """array + tensor is recorded, as tensor + array is; array += tensor changes the array."""
        operate = OPERATORS.get(ufunc)
        if operate is None or method != "__call__" or options:
            raise TypeError(
                f"numpy.{ufunc.__name__} takes no tensor: use the tensor's method, or its .detach().numpy()"
            )
        if out is not None:
            return ufunc(*[x.numpy() if isinstance(x, Variable) else x for x in inputs], out=out)
        return operate(*[self.wrap(x) if isinstance(x, np.ndarray) else raw_number(x) for x in inputs])


def raw_number(x):
    """A tensor as it is; of a NumPy scalar the number, so that float32 stays float32."""
    return x if isinstance(x, Variable) else raw(x)


def as_function(name):
    """The method of this name as a function of the tensor."""

    def function(input, *args, **options):
        if not isinstance(input, Variable):
            raise TypeError(f"{name} takes a tensor, not {type(input).__name__}")
        return getattr(input, name)(*args, **options)

    function.__name__ = name
    return function
