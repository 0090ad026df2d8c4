"""The lesson's `gradients`, measured: central differences of what the device computes."""

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.gradcheck import numerical_gradient
from tinygrad_cl.measured import real_type
from tinygrad_cl.netcl.core.tensor import Tensor


def measured_gradients(f, upstream, *leaves):
    """∂L/∂leaf for each of the leaves, given upstream = ∂L/∂f(), without any rule.

    The leaves become float64 where the device has it, and stay so.
    """
    real = real_type(leaves[0].device)
    for leaf in leaves:
        exact = Tensor.from_host(leaf.queue, leaf.to_host(), real)
        leaf.spec, leaf.buffer = exact.spec, exact.buffer

    def value(*arrays):
        for leaf, array in zip(leaves, arrays):
            leaf.write(array)
        with ag.no_grad():
            return f().to_host()

    return numerical_gradient(value, [leaf.to_host() for leaf in leaves], np.asarray(upstream, np.float64))
