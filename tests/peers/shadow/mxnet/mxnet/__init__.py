"""MXNet, as far as its tests of automatic differentiation ask for it, on tinygrad_cl.tensor.mxnet."""

from verdicts import NotOffered

from mxnet import autograd as autograd
from mxnet import ndarray as ndarray
from mxnet import np as np

nd = ndarray


def __getattr__(name):
    raise NotOffered(f"mxnet.{name}")
