"""What backward needs must be as it was: a tensor written since is an error, and no wrong gradient."""

import functools

import numpy as np
import pytest
from netcl_devices import close, put
from netcl_operations import OPERATIONS, leaves_of
from netcl_steps import TWICE

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl import io
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.nn import Linear, Module
from tinygrad_cl.netcl.ops.elementwise import compute_into
from tinygrad_cl.netcl.optim import SGD, Adam, clip_grad_norm_
from tinygrad_cl.netcl.runtime import capture

WRITTEN = r"needs a tensor of shape .* as it was, but it was written in place since"


def leaf(numbers, device=None):
    return ag.tensor(put(device or manager.default("auto"), np.array(numbers, np.float32)), requires_grad=True)


def stepped(optimizer, **settings):
    """A writer that takes a step."""

    def write(tensor):
        tensor.requires_grad, tensor.grad = True, tensor.copy()
        optimizer([tensor], lr=0.5, **settings).step()

    return write


def replayed(tensor):
    step = capture(lambda: compute_into(tensor, TWICE, (tensor,)))
    for _ in range(4):
        step()


def loaded(tensor, folder):
    io.save(folder / "x.npz", {"x": np.array([7, 8], np.float32)})
    io.load(folder / "x.npz", {"x": tensor})


WRITERS = {
    "write": lambda tensor: tensor.write([10.0, 20.0]),
    "write, a Tensor": lambda tensor: tensor.write(tensor + 1),
    "a view": lambda tensor: tensor.reshape(2, 1).write([[10.0], [20.0]]),
    "compute_into": lambda tensor: compute_into(tensor, TWICE, (tensor,)),
    "SGD": stepped(SGD),
    "Adam": stepped(Adam),
    "replay": replayed,
}


@pytest.mark.parametrize("name", WRITERS)
def test_whoever_writes_what_backward_needs_it_is_an_error(name, device):
    x = leaf([1.0, 2.0], device)
    y, z = ag.sum(x * x), ag.sum(x + x)
    WRITERS[name](x.value)
    x.value.grad = None
    ag.Tape().backward(z)
    assert close(x.grad.to_host(), [2, 2]), "a sum needs no numbers"
    with pytest.raises(RuntimeError, match=WRITTEN):
        ag.Tape().backward(y)
    x.value.grad = None
    ag.Tape().backward(ag.sum(x * x))
    assert close(x.grad.to_host(), 2 * x.to_host()), "computed after it"


def test_a_file_that_is_loaded(tmp_path):
    x = leaf([1.0, 2.0])
    y = ag.sum(x * x)
    loaded(x.value, tmp_path)
    with pytest.raises(RuntimeError, match=WRITTEN):
        ag.Tape().backward(y)


def test_two_losses_and_a_step_between_their_backwards(device):
    """As for two networks that play against each other, with the second loss computed too early."""
    p = Parameter.from_host(device.queue, [1.0, 2.0])
    optimizer = SGD([p], lr=0.5)
    first, second = ag.sum(ag.square(ag.tensor(p))), ag.sum(ag.square(ag.tensor(p)))
    ag.Tape().backward(first)
    optimizer.step()
    with pytest.raises(RuntimeError, match=r"square: backward needs a tensor of shape \(2,\) as it was"):
        ag.Tape().backward(second)


def test_a_result_that_is_needed_may_not_be_written_either():
    x = leaf([1.0, 2.0])
    for operation in (ag.exp, ag.softmax, ag.relu):
        y = operation(x)
        y.value.write([5.0, 5.0])
        with pytest.raises(RuntimeError, match=WRITTEN):
            ag.Tape().backward(ag.sum(y))


same = functools.partial(np.array_equal, equal_nan=True)


def gradients(operation, leaves, write=None):
    for x in leaves:
        x.grad = None
    out = operation.f(*leaves)
    if write is not None:
        write(out)
    tape = ag.Tape()
    tape.backward(out, np.ones(out.shape))
    return [x.grad.to_host() for x in leaves]


@pytest.mark.parametrize("operation", [pytest.param(each, id=each.name) for each in OPERATIONS if each.slopes])
def test_no_operation_gives_another_gradient_after_its_input_or_result_was_written(operation):
    """It gives the same one, or none."""
    leaves = leaves_of(manager.default("auto"), [x.astype(np.float32) for x in operation.inputs(operation.case())])
    right = gradients(operation, leaves)
    for number in range(len(leaves) + 1):
        before = [x.to_host() for x in leaves]

        def write(out):
            written = out if number == len(leaves) else leaves[number]
            written.value.write(np.full(written.shape, 0.625, np.float32))

        fault, found = "", right
        try:
            found = gradients(operation, leaves, write)
        except RuntimeError as error:
            fault = str(error)
        assert "as it was" in fault if fault else all(map(same, found, right)), number
        for x, array in zip(leaves, before):
            x.value.write(array)


NOT_NEEDED = {  # the operation, of x, w and b, and what may be written: its backward does not need that
    "add": (lambda x, w, b: x + b, "xb"),
    "sub": (lambda x, w, b: x - b, "xb"),
    "exp": (lambda x, w, b: ag.exp(x), "x"),
    "relu": (lambda x, w, b: ag.relu(x), "x"),
    "number times x": (lambda x, w, b: 2 * x, "x"),
    "sum": (lambda x, w, b: ag.mean(x), "x"),
    "reshape": (lambda x, w, b: ag.reshape(x, (4,)), "x"),
    "transpose": (lambda x, w, b: ag.transpose(x), "x"),
    "cat": (lambda x, w, b: ag.cat([x, w]), "xw"),
    "getitem": (lambda x, w, b: x[0] + x[[1]], "x"),
    "embedding": (lambda x, w, b: ag.embedding(w, [0, 1]), "w"),
    "softmax": (lambda x, w, b: ag.softmax(x), "x"),
    "weight of a constant": (lambda x, w, b: ag.matmul(x.to_host(), w), "w"),
    "layer of a constant": (lambda x, w, b: ag.linear(ag.tensor(x.value, requires_grad=False), w, b, "relu"), "wb"),
    "input of a layer that is fixed": (lambda x, w, b: ag.linear(x, ag.tensor(w.value, requires_grad=False), b), "xb"),
    "bias": (lambda x, w, b: ag.linear(x, w, b), "b"),
    "shift of a layer norm": (lambda x, w, b: ag.layer_norm(x, w[0], b), "b"),
    "compiled": (ag.jit_compile(lambda x, w, b: ag.sum(ag.exp(x) + b)), "b"),
}


@pytest.mark.parametrize("name", NOT_NEEDED)
def test_what_backward_does_not_need_may_be_written(name):
    operation, written = NOT_NEEDED[name]
    leaves = dict(zip("xwb", map(leaf, ([[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 1.0]], [1.0, 3.0]))))

    def run(write=""):
        for x in leaves.values():
            x.grad = None
        out = operation(**leaves)
        for each in write:
            leaves[each].value.write(leaves[each].to_host() + 1)
        ag.Tape().backward(out, np.ones(out.shape, np.float32))
        return [x.grad and x.grad.to_host() for x in leaves.values()]

    right = run()
    assert all(a is b is None or np.array_equal(a, b) for a, b in zip(run(written), right, strict=True))


def test_indices_on_the_device_are_needed():
    w, indices = leaf(np.ones((3, 2))), Tensor.from_host(manager.default("auto").queue, [0, 1], "int32")
    logits = leaf(np.eye(2))
    for y in (ag.embedding(w, indices), w[indices], ag.index_select(w, 0, indices), ag.cross_entropy(logits, indices)):
        indices.write([1, 1])
        with pytest.raises(RuntimeError, match=WRITTEN):
            ag.Tape().backward(y, np.ones(y.shape))


def test_an_op_of_your_own():
    """Its rule holds on to what it uses from around it, alone, as a Node, in a list, or by partial."""
    x = leaf([1.0, 2.0])

    def product(saved, grad):
        return [grad * saved]

    for rule in (
        lambda grad: [grad * x.value],
        functools.partial(product, x.value),
        functools.partial(lambda several, grad: product(several[0], grad), [x.value]),
        lambda grad, factor=None: [grad * x.value.reshape(2)],
    ):
        y = ag.apply_op(lambda v: v * 1.0, rule, x, op_name="mine")
        x.value.write([3.0, 4.0])
        with pytest.raises(RuntimeError, match="mine: backward needs"):
            ag.Tape().backward(y, [1.0, 1.0])
    shape = x.shape
    y = ag.apply_op(lambda v: v * 1.0, lambda grad: [grad.reshape(shape)], x)
    x.value.write([3.0, 4.0])
    ag.Tape().backward(y, [1.0, 1.0])


def test_memory_that_was_used_again_is_not_taken_for_written():
    """An address that was written counts for its old owner only."""
    for _ in range(20):
        x = leaf(np.ones(1000))
        x.value.write(np.full(1000, 2.0))
        y = ag.sum(x * x)
        x.value.grad = None
        ag.Tape().backward(y)
        assert close(x.grad.to_host(), np.full(1000, 4.0))


class Twice(Module):
    def __init__(self):
        self.inner = Linear(None, 2, 2, seed=0)

    def forward(self, x):
        return self.inner(self.inner(x))


def test_a_training_step_in_its_usual_order_is_none_the_worse(device):
    """Forward, backward, clipping, step; captured, too, and with graphs from before a replay."""
    model, x = Twice(), leaf(np.ones((3, 2)))
    optimizer = Adam(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        loss = ag.sum(ag.square(model(x.value)))
        ag.Tape().backward(loss)
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    losses = [float(step().to_host()) for _ in range(3)]
    fast = capture(step)
    losses += [float(fast().to_host()) for _ in range(4)]
    assert losses == sorted(losses, reverse=True)
    early = ag.sum(ag.square(model(x)))
    fast()
    with pytest.raises(RuntimeError, match=WRITTEN):
        ag.Tape().backward(early)
    held = ag.sum(ag.tensor(model.inner.weight.grad) * x[:2])
    fast()
    with pytest.raises(RuntimeError, match=WRITTEN):  # the gradient lies in the memory of the recording
        ag.Tape().backward(held)
