"""runtime.capture: a replay does what the step would have done, with any arguments and results."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies
from netcl_devices import close, devices, put
from netcl_steps import ADD, OPTIMIZERS, TWICE, SlowMomentum, batch, numbers, same, training

import tinygrad_cl.netcl.autograd as ag
import tinygrad_cl.netcl.nn as nn
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.elementwise import compute, compute_into, formula_of
from tinygrad_cl.netcl.ops.random import Generator
from tinygrad_cl.netcl.optim import AdamW
from tinygrad_cl.netcl.runtime import capture


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_replay_is_the_same_to_the_last_bit(device, optimizer):
    params, _, step = training(device, OPTIMIZERS[optimizer])
    others, _, eager = training(device, OPTIMIZERS[optimizer])
    captured = capture(step)
    for number in range(20):
        x, y = batch(device, number)
        assert same([captured(x, y)], [eager(x, y)]) and same(params, others)
        assert same([p.grad for p in params], [p.grad for p in others])
    assert captured.num_launches > 10
    assert not np.array_equal(params[0].to_host(), numbers(0, 5, 4))


def test_layers_that_draw_and_look_up_are_trained_as_without(device):
    """Embedding, dropout, cross-entropy; labels and tokens are int32."""

    def training():
        queue = device.queue
        model = nn.Sequential(
            nn.Embedding(11, 4, queue, seed=1), nn.Dropout(0.3, seed=2, queue=queue), nn.Linear(queue, 4, 3, seed=3)
        )
        optimizer = AdamW(model.parameters(), lr=0.1)

        def step(tokens, labels):
            optimizer.zero_grad()
            with ag.Tape() as tape:
                logits = model(tokens)
                loss = ag.cross_entropy(logits, labels)
            tape.backward(loss)
            optimizer.step()
            return loss, logits

        return optimizer.params, step

    (params, step), (others, eager) = training(), training()
    captured, rng = capture(step), np.random.default_rng(4)
    for _ in range(7):
        tokens, labels = (Tensor.from_host(device.queue, rng.integers(count, size=15), "int32") for count in (11, 3))
        assert same(captured(tokens, labels), eager(tokens, labels)) and same(params, others)


def test_this_test_notices_a_launch_that_is_left_out(device):
    params, _, step = training(device, OPTIMIZERS["SGD"])
    others, _, eager = training(device, OPTIMIZERS["SGD"])
    captured = capture(step)
    for number in range(3):
        captured(*batch(device, number)), eager(*batch(device, number))
    calls, names = captured._recording._calls, captured.commands
    for left_out in [number for number, name in enumerate(names) if name != "fill"]:
        captured._recording._calls = calls[:left_out] + calls[left_out + 1 :]
        for p, other in zip(params, others):
            p.write(other.to_host())
        got, expected = captured(*batch(device, 3 + left_out)), eager(*batch(device, 3 + left_out))
        assert not (same([got], [expected]) and same(params, others)), names[left_out]


def test_python_runs_twice_and_the_work_is_done_at_every_call(device):
    count, runs = Tensor.full(device.queue, (), 0), []

    @capture
    def step():
        """Adds one."""
        runs.append(1)
        compute_into(count, formula_of("v0 + 1", 1), (count,))

    assert repr(step) == "Captured(step: not recorded yet)" and step.commands == []
    for number in range(1, 8):
        assert step() is None and count.to_host() == number
    assert len(runs) == 2
    assert (step.__name__, step.__doc__) == ("step", "Adds one.")
    assert step.commands == ["elementwise_kernel"] and step.num_launches == 1


def test_what_is_made_at_first_use_takes_one_more_call(device):
    params, optimizer, step = training(device, SlowMomentum)
    runs = []
    captured = capture(lambda *batch: (runs.append(1), step(*batch))[1])
    for number in range(6):
        captured(*batch(device, number))
    assert len(runs) == 3


def test_a_learning_rate_is_followed(device):
    params, optimizer, step = training(device, OPTIMIZERS["SGD"])
    others, other, eager = training(device, OPTIMIZERS["SGD"])
    captured = capture(step)
    for number in range(8):
        optimizer.lr = other.lr = 0.1 / (1 + number)
        assert same([captured(*batch(device, number))], [eager(*batch(device, number))])
    assert same(params, others)


def test_drawn_numbers_differ_from_call_to_call_and_are_those_of_an_eager_run(device):
    first, second = Generator(device.queue, 5), Generator(device.queue, 5)
    step, seen = capture(lambda: first.keep((50,), 0.5)), []
    for _ in range(6):
        seen.append(step().to_host())
        assert np.array_equal(seen[-1], second.keep((50,), 0.5).to_host())
    assert len({each.tobytes() for each in seen}) == 6


# -- arguments ------------------------------------------------------------------------------------


def test_arguments_are_tensors_arrays_and_nested(device):
    w = Parameter.full(device.queue, (3,), 2)

    @capture
    def step(x, more, scale, where=None):
        (y,), named = more
        inner = compute(ADD, (compute(ADD, (x, y)), named["z"].value))
        return compute(formula_of("v0 * v1 * v2", 3), (inner, w, where)), scale

    for number in range(6):
        x, y, z, where = numbers(number, 4, 3)
        more = [(put(device, y),), {"z": ag.tensor(put(device, z))}]
        out, scale = step(x.astype(np.float64), more, 3, where=put(device, where))
        assert close(out.to_host(), (x + y + z) * 2 * where) and scale == 3


def test_integers_become_int32_and_other_floats_float32():
    step = capture(lambda *args: [str(x.dtype) for x in args])
    for _ in range(4):
        assert step(np.arange(3), np.ones(2), np.array([True]), np.float16([1])) == [
            "int32",
            "float32",
            "float32",
            "float32",
        ]
    with pytest.raises(TypeError, match="floats, integers and booleans"):
        capture(lambda x: x)(np.array(["a"]))


def test_a_replay_reads_arguments_where_they_are_and_never_writes_there(device):
    seen = []
    read = capture(lambda x: compute(TWICE, (x,)))
    write = capture(lambda x: compute_into(x, TWICE, (x,)) or compute(TWICE, (x,)))
    move = capture(lambda x: x.copy())
    for number in range(5):
        x = put(device, numbers(number, 7))
        for step, factor in ((read, 2), (write, 4), (move, 1)):
            with device.watched_by(lambda command: seen.append((step, command.name))):
                out = step(x)
            assert np.array_equal(out.to_host(), factor * numbers(number, 7))
        assert np.array_equal(x.to_host(), numbers(number, 7))
        if number < 4:
            seen.clear()
    copies = {step: seen.count((step, "copy")) for step in (read, write, move)}
    assert copies == {read: 1, write: 2, move: 3}  # the result; the argument; the copy itself


def test_a_result_can_be_the_next_argument(device):
    w = Parameter.from_host(device.queue, numbers(0, 4, 4) / 3)

    def step(x, h):
        h = ag.tanh(ag.matmul(h, w) + x)
        return h, ag.sum(h)

    captured = capture(step)
    h = other = ag.tensor(put(device, numbers(1, 2, 4)))
    for number in range(7):
        x = put(device, numbers(number, 2, 4))
        (h, total), (other, expected) = captured(x, h), step(x, other)
        assert same([h, total], [other, expected])
        h, other = ag.tensor(h.value), ag.tensor(other.value)


def test_one_tensor_for_two_arguments_is_two_arguments(device):
    step = capture(lambda x, y: compute(formula_of("v0 - 2 * v1", 2), (x, y)))
    x, y = put(device, numbers(0, 5), numbers(1, 5))
    for _ in range(4):
        assert close(step(x, x).to_host(), -numbers(0, 5))
    assert close(step(x, y).to_host(), numbers(0, 5) - 2 * numbers(1, 5))


def test_what_the_function_knows_is_not_an_argument(device):
    """The same tensor is used by itself and passed: a replay tells the two apart."""
    x, y = put(device, numbers(0, 5), numbers(1, 5))
    step = capture(lambda given: compute(ADD, (given, x)))
    for _ in range(4):
        step(x)
    assert close(step(y).to_host(), numbers(0, 5) + numbers(1, 5))


def test_memory_of_the_recording_can_be_passed(device):
    """The gradient of the last call, which the replay overwrites."""
    w = Parameter.full(device.queue, (3,), 1)

    @capture
    def step(before):
        w.grad = None
        with ag.Tape() as tape:
            loss = ag.sum(ag.square(ag.tensor(w)) * 2.0)
        tape.backward(loss)
        compute_into(w, ADD, (w, w.grad))
        return compute(ADD, (before, w.grad))

    before, expected = Tensor.full(device.queue, (3,), 0), 1.0
    for _ in range(6):
        out = step(before)
        assert np.all(out.to_host() == before_number(expected) + 4 * expected)
        before, expected = w.grad, expected * 5


def before_number(weight):
    """The gradient of the call before: 4 · w / 5, and 0 before the first."""
    return 4 * weight / 5 if weight > 1 else 0


def test_other_shapes_values_and_objects_are_refused(device):
    w, other = Parameter.full(device.queue, (3,), 1), Parameter.full(device.queue, (3,), 1)

    @capture(queue=device.queue)
    def step(x, rate, w):
        return compute(formula_of("v0 * v1 * v2", 3), (x, rate, w))

    x = np.ones((2, 3))
    for _ in range(4):
        out = step(x, 0.5, w)
        for wrong in [(x[:1], 0.5, w), (x, 0.25, w), (x, 0.5, other), ([x], 0.5, w), (x, 0.5), (x.astype(int), 0.5, w)]:
            with pytest.raises(ValueError, match="captured for .*, got .*: capture again"):
                step(*wrong)
    words = r"step\(float32 \(2, 3\), 0.5, Parameter.*\), got \(float32 \(2, 3\), rate=1, w=Param.*:"
    with pytest.raises(ValueError, match=f"captured for {words} capture again"):
        step(x, rate=1, w=w)
    assert np.all(out.to_host() == 0.5) and np.all(step(x, 0.5, w).to_host() == 0.5)
    step.clear()
    for _ in range(4):
        assert step(x[:1], 4, other).to_host().tolist() == [[4.0] * 3]


def test_a_method_is_captured_for_one_object(device):
    class Counter:
        def __init__(self):
            self.count = Tensor.full(device.queue, (), 0)

        @capture
        def add(self, x):
            compute_into(self.count, ADD, (self.count, x))

    first, second = Counter(), Counter()
    for number in range(1, 6):
        first.add(Tensor.full(device.queue, (), 1))
        assert first.count.to_host() == number
    with pytest.raises(ValueError, match="captured for add"):
        second.add(Tensor.full(device.queue, (), 1))
    Counter.add.clear()
    second.add(Tensor.full(device.queue, (), 1))
    assert (first.count.to_host(), second.count.to_host()) == (5, 1)


def test_a_tensor_on_another_device_is_refused():
    first, second = [each for each in devices().values() if not isinstance(each, str)][:2]
    step = capture(lambda x: compute(TWICE, (x,)))
    for _ in range(4):
        step(Tensor.full(first.queue, (2,), 1))
    with pytest.raises(ValueError, match="captured for a tensor on Device"):
        step(Tensor.full(second.queue, (2,), 1))


# -- results ------------------------------------------------------------------------------------


def test_results_are_new_at_every_call(device):
    x, w = put(device, numbers(0, 3)), Parameter.full(device.queue, (2,), 3)

    @capture
    def step(x):
        compute_into(w, TWICE, (w,))
        node = ag.square(ag.tensor(x, requires_grad=True))
        return {"x": x, "w": w, "node": node, "view": [node.value.reshape(3, 1)], "number": 3}, None

    results = [step(put(device, numbers(number, 3))) for number in range(6)]
    for number, (named, nothing) in enumerate(results):
        x = numbers(number, 3)
        assert nothing is None and named["number"] == 3 and named["w"] is w
        assert close(named["x"].to_host(), x) and close(named["node"].to_host(), x * x)
        assert close(named["view"][0].to_host(), (x * x)[:, None])
        assert isinstance(named["node"], ag.Node) and not named["node"].requires_grad


def test_gradients_stay_the_same_tensor_and_come_back_if_somebody_forgets_them(device):
    """zero_grad outside: the parameters have gradients after each call."""
    params, optimizer, step = training(device, OPTIMIZERS["SGD"])
    others, other, eager = training(device, OPTIMIZERS["SGD"])
    captured = capture(step)
    for number in range(6):
        captured(*batch(device, number)), eager(*batch(device, number))
        gradients = [p.grad for p in params]
        assert same(gradients, [p.grad for p in others])
        optimizer.zero_grad(), other.zero_grad()
    captured(*batch(device, 6))
    assert all(p.grad is gradient for p, gradient in zip(params, gradients))


def test_gradients_that_the_step_forgets_are_none_afterwards(device):
    params, optimizer, step = training(device, OPTIMIZERS["SGD"])

    @capture
    def captured(x, y):
        loss = step(x, y)
        optimizer.zero_grad()
        return loss

    for number in range(5):
        captured(*batch(device, number))
        assert all(p.grad is None for p in params)


def test_the_gradient_of_an_argument_does_not_add_up(device):
    @capture
    def step(x):
        x = ag.tensor(x, requires_grad=True)
        with ag.Tape() as tape:
            loss = ag.sum(ag.square(x))
        tape.backward(loss)
        return x.grad

    for number in range(5):
        assert close(step(numbers(number, 4)).to_host(), 2 * numbers(number, 4))


# -- any program ----------------------------------------------------------------------------------

PROGRAM = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(["add", "mul", "into", "reshape", "full", "copy", "sum", "forget"]),
        strategies.integers(0, 9),
        strategies.integers(0, 9),
    ),
    min_size=1,
    max_size=12,
)


def run(program, w, x):
    """Whatever the program says, on three tensors that stay (w), an argument, and what it makes."""
    found = [*w, x]
    for op, i, j in program:
        a, b = found[i % len(found)], found[j % len(found)]
        if op == "into":
            compute_into(w[i % 3], formula_of("0.5f * v0 - 0.25f * v1", 2), (w[i % 3], b))
        elif op == "forget" and len(found) > 4:
            del found[4 + i % (len(found) - 4)]
        else:
            found.append(
                {
                    "add": lambda: compute(ADD, (a, b)),
                    "mul": lambda: compute(formula_of("v0 * sin(v1)", 2), (a, b)),
                    "reshape": lambda: a.reshape(3, 2).reshape(6),
                    "full": lambda: Tensor.full(a.queue, (6,), i),
                    "copy": a.copy,
                    "sum": lambda: compute(ADD, (ag.sum(ag.tensor(a)).value, b)),
                    "forget": a.copy,
                }[op]()
            )
    return found[-1], found[j % len(found)]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=PROGRAM)
def test_any_program_is_replayed_as_it_runs(program):
    device = manager.default("auto")
    with device.pool.poisoned():
        ours, theirs = ([Tensor.from_host(device.queue, numbers(seed, 6)) for seed in range(3)] for _ in range(2))
        step = capture(lambda x: run(program, ours, x))
        for number in range(5):
            x, y = (Tensor.from_host(device.queue, numbers(number, 6)) for _ in range(2))
            assert same(step(x), run(program, theirs, y)) and same(ours, theirs)
