"""NumPy's random numbers: nothing to differentiate."""

import numpy


def __getattr__(name):
    return getattr(numpy.random, name)
