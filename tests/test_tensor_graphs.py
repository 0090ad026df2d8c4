"""The graph as a thing in memory: 100,000 nodes deep, no reference cycles, several threads."""

import sys
import threading
import weakref

import numpy as np
import pytest
from cycles import no_cycles

from tinygrad_cl.tensor import Tensor, grad


def test_a_chain_of_100_000_nodes_forward_backward_and_garbage():
    x = Tensor(1.0, requires_grad=True)
    h = x
    for _ in range(100_000):
        h = h + 0.5
    h.backward()
    assert x.grad.item() == 1
    h = x
    for _ in range(100_000):
        h = h * 1.0
    del h  # never went backward: all nodes are freed at once


def build(x):
    y = ((x @ x).relu().exp().softmax() * x).sum()
    y.retain_grad()
    y.register_hook(lambda g: g)
    return y


@pytest.mark.parametrize("what", ["no backward", "backward", "retained", "grad", "in place"])
def test_a_graph_needs_no_garbage_collector(what):
    x = Tensor(np.ones((2, 2)), requires_grad=True)
    with no_cycles():
        y = build(x)
        node = weakref.ref(y.grad_fn.next_nodes[0])
        if what == "backward":
            y.backward()
        elif what == "retained":
            y.backward(retain_graph=True)
        elif what == "grad":
            (g,) = grad(y, x, create_graph=True)
            (g * g).sum().backward()
            del g
            x.grad = None
        elif what == "in place":
            y += 1
            y *= y
        del y
        assert node() is None


def test_an_add_keeps_no_array_alive():
    x = Tensor(np.ones(3), requires_grad=True)
    y = x * 2
    array = weakref.ref(y.data)
    z = y + 1
    del y
    assert array() is None
    z.sum().backward()
    assert x.grad.data.tolist() == [2, 2, 2]


def test_threads_add_to_one_leaf_without_loss(request):
    request.addfinalizer(lambda interval=sys.getswitchinterval(): sys.setswitchinterval(interval))
    sys.setswitchinterval(1e-6)
    x = Tensor(0.0, requires_grad=True)

    def work():
        for _ in range(200):
            (x * 1.0).backward()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.item() == 1600
