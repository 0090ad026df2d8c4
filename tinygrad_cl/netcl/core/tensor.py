"""A tensor: numbers in device memory, with a shape and a dtype."""

import copy
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Self, TypeAlias

import numpy as np
import pyopencl as cl
from numpy.typing import ArrayLike, DTypeLike

from tinygrad_cl.netcl.core.device import INT32, Device, manager
from tinygrad_cl.netcl.core.memory import writes


class TensorSpec:
    """Device, shape and dtype of a tensor. `spec_of` gives the same object for the same three.

    size     number of elements
    nbytes   their size in bytes
    """

    __slots__ = ("device", "shape", "dtype", "size", "nbytes")

    def __init__(self, device: Device, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.device, self.shape, self.dtype = device, shape, dtype
        self.size = math.prod(shape)
        self.nbytes = self.size * dtype.itemsize

    def __deepcopy__(self, memo):
        return self  # there is only one

    def __repr__(self):
        return f"TensorSpec({self.shape}, {self.dtype})"


def spec_of(device: Device, shape: Iterable[int], dtype: DTypeLike) -> TensorSpec:
    """The one TensorSpec of this device, shape and dtype. TypeError if the device has no tensors of
    the dtype, or a length is no whole number.
    """
    shape, dtype = tuple(shape), np.dtype(dtype)
    spec = device.specs.get((shape, dtype))
    if spec is None:
        shape = tuple([whole("a length", length) for length in shape])
        if not device.has(dtype):
            able = ", ".join(str(each) for each in device.launch_config.lanes)
            raise TypeError(f"{device.found.name} has tensors of {able}, not of {dtype}")
        if any(length < 0 for length in shape):
            raise ValueError(f"a shape has no negative length: {shape}")
        spec = device.specs.setdefault((shape, dtype), TensorSpec(device, shape, dtype))
    return spec


def whole(what, number):
    """A whole number as an int. TypeError that says what it is if it is none."""
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{what} is a whole number, not {number!r}") from None


def refuse_indices(name, specs):
    """TypeError if the operation `name` is asked to compute with indices."""
    if any(spec.dtype == INT32 for spec in specs):
        raise TypeError(f"{name}: an int32 tensor holds indices, not numbers to compute with: cast to float32 first")


def real_array(rule, data):
    """`data` as an array. TypeError, with the rule, if something in it is no real number."""
    array = np.asarray(data)
    if array.dtype.kind not in "fiub" and not all(isinstance(each, Real) for each in array.flat):
        raise TypeError(f"{rule}, not of {data!r}")
    return array


def as_array(data, dtype):
    """`data` as an array of this dtype. TypeError if it holds no real numbers, ValueError where one does
    not fit into int32.
    """
    array = real_array("a tensor is made of real numbers, or of arrays and lists of them", data)
    limits = np.iinfo(INT32)
    if dtype != INT32:
        return np.asarray(array, dtype)
    good = (array >= limits.min) & (array <= limits.max)
    if array.dtype.kind == "f":
        good &= array == np.floor(array)
    check_all(array, good, "is no whole number that fits into int32")
    return array.astype(INT32)


def device_dtype(array):
    """The dtype that an array has on a device unless somebody asks for another: float32 for floats
    and truth values, int32 for integers. TypeError if it holds neither.
    """
    if array.dtype.kind not in "fbiu":
        raise TypeError(f"a device takes floats, integers and booleans, not {array.dtype}")
    return np.dtype(np.float32) if array.dtype.kind in "fb" else INT32


def check_all(array, good, fault):
    """ValueError that names the first number of an array which is not good, and its place."""
    if not np.all(good):
        place = tuple(np.argwhere(~good)[0].tolist())
        raise ValueError(f"{array[place]}{f' at {list(place)}' if place else ''} {fault}")


Other: TypeAlias = "Tensor | np.ndarray | float"  # what + and its like take beside a Tensor
OPERATORS: dict[str, Callable] = {}  # {"add": what + computes, …}, filled by ops.operators, which knows kernels


def binary(name: str) -> tuple[Callable[["Tensor", Other], "Tensor"], Callable[["Tensor", Other], "Tensor"]]:
    """Two methods, for a Tensor on the left and one on the right of an operator."""

    def left(self, other):
        return OPERATORS[name](self, other) if isinstance(other, Tensor) else operate(name, self, other)

    def right(self, other):
        return operate(name, other, self)

    return left, right


def operate(name, left, right):
    """The result of an operator on Tensors, numbers and arrays; anything else, such as a Node of
    autograd, is asked how it does it.
    """
    like = left if isinstance(left, Tensor) else right
    operands = [Tensor.from_host(like.queue, x, like.dtype) if isinstance(x, np.ndarray) else x for x in (left, right)]
    if not all(isinstance(x, (Tensor, Real)) for x in operands):
        return NotImplemented
    return OPERATORS[name](*operands)


class Tensor:
    """Numbers on a device, contiguous, the last axis running fastest.

    + − * / and @ compute new tensors, broadcast as in NumPy, without autograd: nothing is recorded.

    spec          device, shape and dtype
    buffer          the device memory; a view (`reshape`) shares it
    grad            the gradient that a backward pass left here, a Tensor of the same shape; None
                    before
    requires_grad   whether autograd should compute one, when the tensor is used as a leaf
    """

    __slots__ = ("spec", "buffer", "grad", "requires_grad", "__weakref__")
    __array_ufunc__ = None  # so that np.float64(2) * tensor is left to Tensor.__rmul__

    spec: TensorSpec
    buffer: cl.Buffer
    grad: "Tensor | None"
    requires_grad: bool

    def __init__(self, spec: TensorSpec, buffer: cl.Buffer, requires_grad: bool = False) -> None:
        self.spec = spec
        self.buffer = buffer
        self.grad = None
        self.requires_grad = requires_grad

    @classmethod
    def from_host(cls, queue: cl.CommandQueue, data: ArrayLike, dtype: DTypeLike = "float32") -> Self:
        """A copy of `data` (an array, nested lists or a number) on the device of `queue`.

        dtype   "float32"; "float64" where the device has it; "int32" for indices: ValueError for
                what is no whole number
        """
        array = as_array(data, dtype)
        return cls.from_shape(queue, array.shape, dtype)._fill(array)

    @classmethod
    def from_shape(cls, queue: cl.CommandQueue, shape: int | Sequence[int], dtype: DTypeLike = "float32") -> Self:
        """A tensor of this shape whose numbers are undefined: `write` them, or let a kernel do
        so.
        """
        spec = spec_of(manager.of(queue), (shape,) if np.ndim(shape) == 0 else shape, dtype)
        return cls(spec, spec.device.pool.allocate(spec.nbytes))

    @classmethod
    def full(
        cls, queue: cl.CommandQueue, shape: int | Sequence[int], value: float, dtype: DTypeLike = "float32"
    ) -> Self:
        """A tensor of this shape that holds `value` everywhere."""
        tensor, number = cls.from_shape(queue, shape, dtype), as_array(value, dtype)
        if number.shape:
            raise TypeError(f"full takes one number, not {value!r}: from_host takes an array")
        if tensor.size:
            tensor.device.fill(tensor.buffer, number, tensor.nbytes)
        return tensor

    def to_host(self) -> np.ndarray:
        """The numbers as a new NumPy array; waits for the kernels that compute them."""
        array = np.empty(self.shape, self.dtype)
        if array.size:
            self.device.read(array, self.buffer)
        return array

    def write(self, data: ArrayLike) -> Self:
        """Replace the numbers by those of `data`, an array or a Tensor of the same shape, and return
        self. Views see it, too. A backward pass that needs the old numbers will be an error.
        """
        data = data if isinstance(data, Tensor) else as_array(data, self.dtype)
        if data.shape != self.shape:
            raise ValueError(f"shape {data.shape} cannot be written into a tensor of shape {self.shape}")
        self._fill(data)
        writes.note((self.buffer.int_ptr,))
        return self

    def _fill(self, data):
        """`write` into new memory, whose numbers nobody can need."""
        if isinstance(data, Tensor) and data.spec is not self.spec:
            raise TypeError(
                f"a tensor of {data.dtype} on {data.device} cannot be written into one of {self.dtype} on {self.device}"
            )
        if self.size and isinstance(data, Tensor):
            self.device.copy(self.buffer, data.buffer, self.nbytes)
        elif self.size:
            self.device.write(self.buffer, np.ascontiguousarray(data))
        return self

    def copy(self) -> "Tensor":
        """The same numbers in memory of their own."""
        return Tensor(self.spec, self.device.pool.allocate(self.nbytes))._fill(self)

    def reshape(self, *shape: int | Sequence[int]) -> "Tensor":
        """The same memory under another shape; one length may be −1. ValueError if the sizes
        differ.
        """
        shape = shape[0] if len(shape) == 1 and not np.isscalar(shape[0]) else shape
        if -1 in shape:
            rest = -math.prod(shape)
            if shape.count(-1) > 1 or rest == 0 or self.size % rest:
                raise ValueError(f"shape {self.shape} cannot become {tuple(shape)}")
            shape = tuple(self.size // rest if length == -1 else length for length in shape)
        spec = spec_of(self.spec.device, shape, self.dtype)
        if spec.size != self.size:
            raise ValueError(f"shape {self.shape} cannot become {spec.shape}")
        return Tensor(spec, self.buffer)

    def __deepcopy__(self, memo):
        """The same numbers and gradient in memory of their own; `copy.copy` shares them."""
        twin = type(self)(self.spec, self.copy().buffer, self.requires_grad)
        twin.grad = copy.deepcopy(self.grad, memo)
        return twin

    __add__, __radd__ = binary("add")
    __sub__, __rsub__ = binary("sub")
    __mul__, __rmul__ = binary("mul")
    __truediv__, __rtruediv__ = binary("div")
    __matmul__, __rmatmul__ = binary("matmul")

    def __neg__(self) -> "Tensor":
        return OPERATORS["neg"](self)

    @property
    def queue(self) -> cl.CommandQueue:
        return self.spec.device.queue

    @property
    def device(self) -> Device:
        return self.spec.device

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape

    @property
    def dtype(self) -> np.dtype:
        return self.spec.dtype

    @property
    def size(self) -> int:
        return self.spec.size

    @property
    def nbytes(self) -> int:
        return self.spec.nbytes

    @property
    def ndim(self) -> int:
        return len(self.spec.shape)

    def __repr__(self):
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"
