"""needle, the engine of CMU's course Deep Learning Systems, as engine 2: float64, backward recorded, grad overwritten."""

import numpy as np
from verdicts import NotOffered

from needle import autograd as autograd
from tinygrad_cl.tensor import tensor_class


class Tensor(tensor_class.Tensor):
    def __init__(self, array, requires_grad=True):
        super().__init__(np.asarray(array, np.float64), requires_grad)

    def realize_cached_data(self):
        return self.data

    def numpy(self):
        return self.data.copy()

    @property
    def op(self):
        return Op(self.grad_fn)

    def backward(self, out_grad=None):
        super().backward(np.ones_like(self.data) if out_grad is None else out_grad, create_graph=True)

    def accumulate_grad(self, grad):
        self.grad = grad

    def __getattr__(self, name):
        raise NotOffered(f"Tensor.{name}")


class Op:
    """What computed a tensor: the node of the graph."""

    def __init__(self, node):
        self.node = node

    def gradient_as_tuple(self, out_grad, out):
        return tuple(part for part in self.node.input_gradients(out_grad) if part is not None)


def power_scalar(a, scalar):
    return a**scalar


def power(a, b):
    return a**b


def divide(a, b):
    return a / b


divide_scalar = lambda a, scalar: a / scalar


def matmul(a, b):
    return a @ b


def summation(a, axes=None):
    return a.sum(axes)


def broadcast_to(a, shape):
    return a.expand(shape)


def reshape(a, shape):
    return a.reshape(shape)


def negate(a):
    return -a


def transpose(a, axes=None):
    return a.transpose(*(axes or (-1, -2)))


def log(a):
    return a.log()


def exp(a):
    return a.exp()


def relu(a):
    return a.relu()


def __getattr__(name):
    raise NotOffered(f"needle.{name}")
