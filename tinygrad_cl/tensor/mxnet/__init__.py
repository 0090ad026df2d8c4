"""The same engine under MXNet's names, as in Dive into Deep Learning.

>>> from tinygrad_cl.tensor.mxnet import autograd, np, npx
>>> npx.set_np()
>>> x = np.arange(4.0)
>>> x.attach_grad()
>>> with autograd.record():
...     y = 2 * np.dot(x, x)
>>> y.backward(); x.grad
Tensor([ 0.,  4.,  8., 12.])

ndarray holds what lesson 04 builds, where recording is on from the start; autograd and np stand on it.
"""

from tinygrad_cl.tensor.mxnet import autograd, np, npx
from tinygrad_cl.tensor.mxnet.ndarray import NDArray, array, backward, dot, is_recording, pause, record

__all__ = [
    "NDArray",
    "array",
    "autograd",
    "backward",
    "dot",
    "is_recording",
    "np",
    "npx",
    "pause",
    "record",
]
