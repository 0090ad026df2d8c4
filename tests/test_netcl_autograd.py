"""Tapes, nodes and backward of engine 3: what is recorded, who owns a gradient, what costs
nothing.
"""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from netcl_devices import close

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl.autograd.engine import apply_op
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import elementwise_binary
from tinygrad_cl.netcl.ops.elementwise_optimized import elementwise_unary
from tinygrad_cl.netcl.tape.modes import state


def leaf(device, numbers, requires_grad=True):
    return ag.tensor(Tensor.from_host(device.queue, numbers), requires_grad=requires_grad)


def gradient(device, function, numbers, grad=None):
    x = leaf(device, numbers)
    with ag.Tape() as tape:
        out = function(x)
    tape.backward(out, grad)
    return x.grad.to_host()


def test_the_first_program_of_the_tutorial(device):
    x = leaf(device, [[1.0, 2.0], [-3.0, 4.0]])
    assert (x.grad_fn, x.op_name, x.parents, x.grad) == (None, None, (), None)
    with ag.Tape() as tape:
        y = ag.relu(x)
        z = (y * 2.0) + 1.0
        loss = ag.sum(z)
    tape.backward(loss)
    assert close(x.value.grad.to_host(), [[2, 2], [0, 2]])
    assert [node.op_name for node in tape.nodes] == ["relu", "mul", "add", "sum"]
    assert y.grad_fn is not None and y.parents == (x,)
    assert "Node(shape=(2, 2), dtype=float32, op_name='relu', requires_grad=True)" == repr(y)


def my_op(a, b, tape=None):
    """sin(a) · b, as the tutorial composes it, with its misprint corrected."""
    sin_a = elementwise_unary(a.value, expression="sin(v0)")

    def forward(x, y):
        return elementwise_binary(sin_a, y, expression="MUL(v0, v1)")

    def grad_fn(grad_out):
        cos_a = elementwise_unary(a.value, expression="cos(v0)")
        ga = elementwise_binary(grad_out, b.value, expression="MUL(v0, v1)")
        ga = elementwise_binary(ga, cos_a, expression="MUL(v0, v1)")
        gb = elementwise_binary(grad_out, sin_a, expression="MUL(v0, v1)")
        return [ga, gb]

    return apply_op(forward, grad_fn, a, b, tape=tape, op_name="my_op")


def test_an_op_of_your_own(device):
    a, b = np.random.default_rng(0).normal(size=(2, 5)).astype(np.float32)
    x, y = leaf(device, a), leaf(device, b)
    tape = ag.Tape()
    out = my_op(x, y, tape=tape)
    assert tape.nodes == [out] and out.op_name == "my_op"
    tape.backward(ag.sum(out))
    assert close(x.grad.to_host(), b * np.cos(a)) and close(y.grad.to_host(), np.sin(a))


def test_a_gradient_of_your_own_is_fitted_to_what_was_broadcast(device):
    x, bias = leaf(device, np.ones((4, 3))), leaf(device, np.ones(3))
    with ag.Tape() as tape:
        out = apply_op(lambda a, b: elementwise_binary(a, b, expression="ADD(v0, v1)"), lambda g: [g, g], x, bias)
        loss = ag.sum(out)
    tape.backward(loss)
    assert close(bias.grad.to_host(), [4, 4, 4]) and close(x.grad.to_host(), np.ones((4, 3)))


def test_what_an_op_of_your_own_may_not_return(device):
    x = leaf(device, [1.0, 2.0])
    with pytest.raises(TypeError, match="op 'odd' returns a Tensor, not float"):
        apply_op(lambda a: 1.0, lambda g: [g], x, op_name="odd")
    tape = ag.Tape()
    two = apply_op(lambda a: a.copy(), lambda g: [g, g], x, op_name="two")
    with pytest.raises(
        ValueError, match=r"'two' returns 2 gradients for 1 parents.*test_netcl_autograd.py:\d+ in test"
    ):
        tape.backward(two, [1.0, 1.0])
    wrong = apply_op(lambda a: a.copy(), lambda g: [g.reshape(1, 2).reshape(2, 1)], x)
    with pytest.raises(ValueError, match="does not broadcast"):
        tape.backward(wrong, [1.0, 1.0])


def test_a_parent_used_more_than_once_gets_the_sum(device):
    for function, expected in [
        (lambda x: x + x, 2),
        (lambda x: x * x, 6),
        (lambda x: x * x * x, 27),
        (lambda x: x + x + x + x, 4),
        (lambda x: (x + x) * (x + x), 24),
        (lambda x: ag.exp(x) * 0 + x, 1),
    ]:
        assert close(gradient(device, function, 3.0), expected), expected


def test_a_gradient_that_two_parents_share_is_not_changed_for_one_of_them(device):
    """`add` hands one buffer to both parents; adding to it in place for one would change the
    other's.
    """
    x, y = leaf(device, [1.0, 2.0]), leaf(device, [3.0, 4.0])
    with ag.Tape() as tape:
        both = x + y
        loss = ag.sum(both + x * 10.0 + x * 100.0)
    tape.backward(loss)
    assert close(x.grad.to_host(), [111, 111]) and close(y.grad.to_host(), [1, 1])
    x.grad.write([7.0, 7.0])
    assert close(y.grad.to_host(), [1, 1])


def test_threads_that_share_a_leaf_lose_no_gradient(device):
    x = leaf(device, [1.0, 2.0])
    ag.Tape().backward(ag.sum(x + x))  # compiled once

    def work():
        for _ in range(50):
            ag.Tape().backward(ag.sum(x + x))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(before)
    assert x.grad.to_host().tolist() == [402, 402]


def test_a_residual_connection_does_not_double_per_layer(device):
    def deep(x):
        for _ in range(20):
            x = x + x * 0.0
        return x

    assert close(gradient(device, deep, 3.0), 1)


def test_the_callers_gradient_is_never_changed(device):
    """netcl adds into it."""
    seed = Tensor.from_host(device.queue, [1.0, 2.0])
    x, y = leaf(device, [3.0, 4.0]), leaf(device, [5.0, 6.0])
    with ag.Tape() as tape:
        out = x + y
        out = out + x
    tape.backward(out, seed)
    assert close(seed.to_host(), [1, 2]) and close(x.grad.to_host(), [2, 4])
    for each in (x, y):
        each.grad.write([0.0, 0.0])
    assert close(seed.to_host(), [1, 2])
    tape.backward(x, seed)  # straight into a leaf
    x.grad.write([9.0, 9.0])
    assert close(seed.to_host(), [1, 2])


def test_a_second_backward_adds_the_same_again(device):
    """In netcl the gradients of nodes between are still there, and the second one is twice the
    first.
    """
    x = leaf(device, 2.0)
    with ag.Tape() as tape:
        cube = x * x * x
    for backward in range(1, 4):
        tape.backward(cube)
        assert close(x.grad.to_host(), 12 * backward)  # leaves accumulate
    x.grad = None
    tape.backward(cube)
    assert close(x.grad.to_host(), 12)


def test_gradients_accumulate_without_changing_the_one_that_was_read(device):
    x = leaf(device, [1.0])
    with ag.Tape() as tape:
        loss = ag.sum(x * 3.0)
    tape.backward(loss)
    read = x.grad
    tape.backward(loss)
    assert close(read.to_host(), [3]) and close(x.grad.to_host(), [6])


def test_two_leaves_on_one_tensor_add_to_its_gradient(device):
    weight = Parameter.full(device.queue, (2,), 3.0)
    with ag.Tape() as tape:
        loss = ag.sum(ag.mul(weight, weight) + weight)
    tape.backward(loss)
    assert close(weight.grad.to_host(), [7, 7])


def test_leaves_that_need_no_gradient_cost_nothing(device):
    """netcl computes their gradients all the same."""
    x, frozen = leaf(device, np.ones((3, 4))), leaf(device, np.ones((4, 2)), requires_grad=False)
    with ag.Tape() as tape:
        loss = ag.sum(x @ frozen * leaf(device, np.ones((3, 2)), requires_grad=False))
    with device.watch() as launches:
        tape.backward(loss)
    assert frozen.grad is None
    assert len([each for each in launches if each.name.startswith("matmul")]) == 1
    with ag.Tape() as tape, device.watch() as launches:
        out = ag.relu(frozen @ ag.tensor(frozen.value.reshape(2, 4)))
    assert tape.nodes == [] and not out.requires_grad and out.parents == () and out.grad_fn is None


def test_only_the_tensors_that_a_gradient_needs_are_kept(device):
    x = leaf(device, np.ones(5))
    y = x + 1.0
    inner = weakref.ref(y.value)
    z = ag.relu(y + 2.0)  # relu needs its result only, add nothing
    del y
    gc.collect()
    assert inner() is not None  # the graph holds the node
    z_node = z
    z = ag.tensor(z.value)
    del z_node
    gc.collect()
    assert inner() is None and z.shape == (5,)


def test_a_graph_is_freed_without_the_collector(device):
    gc.collect()
    gc.disable()
    try:
        x = leaf(device, np.ones(5))
        with ag.Tape() as tape:
            loss = ag.sum(ag.max(ag.exp(x) @ x * x))
        tape.backward(loss)
        watched = weakref.ref(loss)
        del loss, tape
        assert watched() is None
    finally:
        gc.enable()


def test_a_number_at_the_end_or_a_gradient(device):
    """netcl takes any shape without a word."""
    x = leaf(device, [1.0, 2.0])
    tape = ag.Tape()
    with pytest.raises(ValueError, match=r"shape \(2,\) needs the gradient of each number"):
        tape.backward(x * 2.0)
    with pytest.raises(ValueError, match=r"has shape \(2,\), its gradient \(3,\)"):
        tape.backward(x * 2.0, [1.0, 2.0, 3.0])
    tape.backward(x * 2.0, np.array([1.0, 10.0]))
    assert close(x.grad.to_host(), [2, 20])
    x.grad = None
    tape.backward(ag.reshape(ag.sum(x), (1, 1)))
    assert close(x.grad.to_host(), [1, 1])
    with pytest.raises(ValueError, match="requires no gradient"):
        tape.backward(leaf(device, 1.0, requires_grad=False) * 2.0)


def test_tapes_nest(device):
    """In netcl no tape is current after the inner one ends."""
    x = leaf(device, 2.0)
    with ag.Tape() as outer:
        a = x * 2.0
        with ag.Tape() as inner:
            b = x * 3.0
        c = a * b
    assert [outer.nodes, inner.nodes, state.tapes] == [[a, c], [b], []]
    outer.backward(c)
    assert close(x.grad.to_host(), 24)
    with pytest.raises(ZeroDivisionError), ag.Tape(), ag.Tape():
        1 / 0
    assert state.tapes == []


def test_the_graph_is_there_without_a_tape_too(device):
    x = leaf(device, 3.0)
    ag.Tape().backward(x * x)
    assert close(x.grad.to_host(), 6)


def test_gradients_of_nodes_between_are_kept_on_request(device):
    x = leaf(device, 2.0)
    for retain in (False, True):
        with ag.Tape(retain_grads=retain) as tape:
            y = x * 3.0
            z = y * y
        tape.backward(z)
        assert (y.grad is not None) == retain
    assert close(y.grad.to_host(), 12) and close(z.grad.to_host(), 1)
    tape.backward(z)
    assert close(y.grad.to_host(), 12)


def test_depth_is_no_limit(device):
    def deep(x):
        for _ in range(5000):
            x = x + 1.0
        return x

    assert close(gradient(device, deep, 3.0), 1)


def test_a_node_is_visited_once_however_many_paths_lead_there(device):
    def wide(x):
        for _ in range(30):  # 2³⁰ paths
            x = x + x
        return x

    with device.watch() as launches:
        assert close(gradient(device, wide, 1.0), 2.0**30)
    assert len(launches) <= 30 + 30 + 5


def test_ag_tensor_wraps_tensors_only(device):
    with pytest.raises(TypeError, match="Tensor.from_host makes one"):
        ag.tensor([1.0, 2.0])
    assert ag.tensor(Parameter.full(device.queue, (1,), 0)).requires_grad
    assert not ag.tensor(Parameter.full(device.queue, (1,), 0), requires_grad=False).requires_grad


# -- modes ----------------------------------------------------------------------------------------


def test_no_grad_records_nothing_and_its_results_still_have_operators(device):
    """netcl's are bare tensors inside no_grad, and x * 2 + 1 fails."""
    x = leaf(device, [1.0, 2.0])
    with ag.Tape() as tape, ag.no_grad():
        out = (x * 2.0 + 1.0) @ x
        mine = my_op(x, x)
    assert close(out.to_host(), 13) and tape.nodes == []
    for node in (out, mine):
        assert not node.requires_grad and node.grad_fn is None and node.parents == ()


def test_modes_nest_and_survive_exceptions():
    assert ag.is_grad_enabled()
    with ag.no_grad():
        assert not ag.is_grad_enabled()
        with ag.enable_grad():
            assert ag.is_grad_enabled()
            with ag.set_grad_enabled(False):
                assert not ag.is_grad_enabled()
            assert ag.is_grad_enabled()
        assert not ag.is_grad_enabled()
    with pytest.raises(ZeroDivisionError), ag.no_grad():
        1 / 0
    assert ag.is_grad_enabled()


def test_set_grad_enabled_is_a_switch_too():
    ag.set_grad_enabled(False)
    assert not ag.is_grad_enabled()
    ag.set_grad_enabled(True)
    assert ag.is_grad_enabled()


def test_no_grad_decorates_also_a_function_that_calls_itself():
    @ag.no_grad()
    def down(n):
        assert not ag.is_grad_enabled()
        return n if n == 0 else down(n - 1)

    assert down(3) == 0 and ag.is_grad_enabled()


def test_a_mode_decorates_no_generator_and_no_async_function():
    """Their bodies run when the call, and the mode, are over: operations inside were recorded."""

    def generator():
        yield ag.is_grad_enabled()

    async def coroutine():
        return ag.is_grad_enabled()

    async def both():
        yield ag.is_grad_enabled()

    for mode in (ag.no_grad, ag.enable_grad):
        for function in (generator, coroutine, both):
            with pytest.raises(
                TypeError, match=f"{mode.__name__}.. would be over before the body of {function.__name__}"
            ):
                mode()(function)
        assert mode()(ag.is_grad_enabled)() == (mode is ag.enable_grad) and ag.is_grad_enabled()


def test_a_single_number_is_no_sequence(device):
    """Its __getitem__ raises IndexError, at which a loop ends: list(loss) was []."""
    x = leaf(device, [[1.0, 2.0], [3.0, 4.0]])
    for go_through in (list, iter, lambda node: [*node], lambda node: sum(each for each in node)):
        with pytest.raises(TypeError, match="a single number has no rows to go through"):
            go_through(ag.sum(x))
    assert [row.to_host().tolist() for row in x] == [[1, 2], [3, 4]]
    assert list(leaf(device, np.ones((0, 2)))) == []


def test_backward_starts_from_a_node(device):
    for odd in (1.0, None, Tensor.from_host(device.queue, 1.0), Parameter.from_host(device.queue, 1.0)):
        with pytest.raises(
            TypeError, match=f"starts from a Node, which an operation gave, not from .* {type(odd).__name__}"
        ):
            ag.Tape().backward(odd)


def test_modes_and_tapes_belong_to_a_thread():
    """netcl's no_grad holds for all threads."""
    seen = []
    with ag.no_grad(), ag.Tape():
        thread = threading.Thread(target=lambda: seen.append((ag.is_grad_enabled(), list(state.tapes))))
        thread.start()
        thread.join()
    assert seen == [(True, [])]


def test_backward_works_inside_no_grad(device):
    x = leaf(device, 3.0)
    with ag.Tape() as tape:
        y = x * x
    with ag.no_grad():
        tape.backward(y)
    assert close(x.grad.to_host(), 6)
