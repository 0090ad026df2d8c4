import contextlib

import numpy as np

import mxnet as mx

__all__ = ["assert_almost_equal", "discard_stderr", "environment", "mx", "np", "rand_ndarray", "same", "use_np"]


def same(a, b):
    return np.array_equal(a, b)


def assert_almost_equal(a, b, rtol=1e-5, atol=1e-20):
    np.testing.assert_allclose(a, b, rtol, atol)


def environment(*variables):
    return contextlib.nullcontext()


discard_stderr = contextlib.nullcontext


def use_np(function):
    return function


def rand_ndarray(shape, stype):
    return mx.nd.only_dense(stype) or mx.nd.uniform(shape=shape)
