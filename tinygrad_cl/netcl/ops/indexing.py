"""Indices."""

import numpy as np

from tinygrad_cl.netcl.core.device import INT32
from tinygrad_cl.netcl.core.tensor import Tensor, check_all
from tinygrad_cl.netcl.ops.elementwise import cast


def index_tensor(x, like, below=None):
    """The indices x as an int32 Tensor on the device of the Tensor `like`.

    x       an array or nested lists of whole numbers, a number, or a Tensor: of int32, which is
            returned as it is, or of whole numbers of another dtype, which are cast
    below   indices are 0, 1, …, below − 1: ValueError that names the first other one and its place.
            What is on the device already is not looked at, since that would wait for it: kernels
            that use indices must be right whatever they are

    ValueError for numbers that are not whole, TypeError for truth values: a mask is no index.
    """
    if isinstance(x, Tensor):
        return x if x.dtype == INT32 else cast(x, INT32)
    array = np.asarray(x)
    if array.dtype == bool:
        raise TypeError("a mask of truth values is no index: numpy.flatnonzero(mask) gives indices")
    if below is not None:
        check_all(array, (array >= 0) & (array < below),
                  f"is no index here: indices go from 0 to {below - 1}")
    return Tensor.from_host(like.queue, array, INT32)
