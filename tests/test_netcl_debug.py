"""Finding a fault with engine 3: anomalies with the line that made them, and what is on a tape."""

import inspect

import numpy as np
import pytest
from netcl_devices import put

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.tape.modes import state


def leaf(device, *numbers):
    return ag.tensor(put(device, np.array(numbers, np.float32)), requires_grad=True)


def bad_logarithm(x):
    return ag.log(x)


LINE = inspect.getsourcelines(bad_logarithm)[1] + 1


def test_an_anomaly_names_the_op_and_its_line_also_around_backward_alone(device):
    """netcl's creation trace is empty there, which is how its tutorial shows it."""
    x = leaf(device, 0.0, 1.0)
    with ag.Tape() as tape:
        loss = ag.sum(bad_logarithm(x))
    tape.backward(loss)  # says nothing
    with pytest.raises(RuntimeError) as error, ag.detect_anomaly():
        tape.backward(loss)
    message = str(error.value)
    assert "Gradient w.r.t. parent 0 of op 'log' contains NaN or Inf" in message
    assert f'test_netcl_debug.py", line {LINE}, in bad_logarithm' in message
    assert "return ag.log(x)" in message
    assert not state.anomaly


def test_around_the_forward_it_shows_the_way_there(device):
    x = leaf(device, -1.0)
    with pytest.raises(RuntimeError) as error, ag.detect_anomaly():
        with ag.Tape() as tape:
            loss = ag.sum(bad_logarithm(x) * float("inf"))
        tape.backward(loss)
    message = str(error.value)
    assert "op 'mul'" in message and "test_around_the_forward_it_shows_the_way_there" in message
    assert "tinygrad_cl" not in message.split("created at:")[1].replace("tests/", "").split("test_netcl")[0]


def test_operators_and_ops_of_your_own_have_their_line_as_well(device):
    x = leaf(device, 2.0)
    y = x * x
    own = ag.apply_op(lambda a: a.copy(), lambda g: [g], x)
    here = inspect.currentframe().f_lineno
    assert y.created_at == f"{__file__}:{here - 2} in {inspect.currentframe().f_code.co_name}"
    assert own.created_at.startswith(f"{__file__}:{here - 1} ")
    assert x.created_at == "" and x.creation_trace == []
    assert "y = x * x" in "".join(y.creation_trace)


def test_the_switch(device):
    x = leaf(device, 0.0)
    with ag.Tape() as tape:
        loss = ag.sum(ag.sqrt(x))
    ag.set_detect_anomaly(True)
    try:
        with pytest.raises(RuntimeError, match="'sqrt'"):
            tape.backward(loss)
        with ag.detect_anomaly(False):
            tape.backward(loss)
    finally:
        ag.set_detect_anomaly(False)


def test_debug_tape_says_what_was_listed_inside(device):
    """netcl's hands its argument back."""
    x, frozen = leaf(device, 1.0, -2.0), put(device, np.array([1.0, np.inf], np.float32))
    said = []
    with ag.Tape() as tape:
        before = ag.exp(x)
        with ag.debug_tape(tape, say=said.append) as same:
            assert same is tape
            y = before * frozen
            assert len(same.nodes) == 2
            ag.sum(y)
    header, *lines = said[0].splitlines()
    assert header.split() == ["op", "shape", "dtype", "from", "numbers", "made", "at"]
    assert len(lines) == 2
    assert lines[0].startswith("#1 mul") and "#0, constant" in lines[0] and "1 NaN or Inf" in lines[0]
    assert "(2,)" in lines[0] and "test_netcl_debug.py:" in lines[0]
    assert lines[1].startswith("#2 sum") and "none finite" in lines[1]
    assert state.tapes == []


def test_debug_tape_takes_the_open_tape_or_a_new_one_and_speaks_after_an_exception_too(device):
    x, said = leaf(device, 1.0), []
    with ag.Tape() as tape, ag.debug_tape(say=said.append) as same:
        assert same is tape
    with pytest.raises(ZeroDivisionError), ag.debug_tape(say=said.append) as new:
        ag.tanh(x)
        1 / 0
    assert [node.op_name for node in new.nodes] == ["tanh"] and "#0 tanh" in said[-1]
    assert state.tapes == []


def test_a_node_tells_what_it_keeps_for_backward(device):
    x, y = (ag.tensor(Tensor.from_host(device.queue, np.ones((2, 3))), requires_grad=True) for _ in range(2))
    kept = {"add": 0, "mul": 2, "matmul": 2, "relu": 1}
    nodes = [x + y, x * y, ag.matmul(x, ag.transpose(y)), ag.relu(x)]
    assert {node.op_name: len(node.kept_arrays()) for node in nodes} == kept
    assert {each.nbytes for each in nodes[1].kept_arrays()} == {24} and nodes[1].kept_arrays()[0] is x.value
    assert x.kept_arrays() == [], "a leaf"
