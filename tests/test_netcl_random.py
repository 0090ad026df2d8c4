"""Random numbers made on the device, and dropout, which needs them."""

import numpy as np
import pyopencl as cl
import pytest
from netcl_devices import behind, close, devices

from tinygrad_cl.netcl import autograd as ag
from tinygrad_cl.netcl import nn, runtime
from tinygrad_cl.netcl.core.device import build
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.random import PHILOX, Generator, vectors


def test_philox_gives_its_known_answers(device):
    """The vectors that its authors publish, `kat_vectors` of Random123."""
    known = [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ]
    for lanes in (1, 4):
        text = (
            "#define T float\n"
            + vectors("float32", lanes)
            + PHILOX
            + """
__kernel void answer(__global uint *out, const uint4 x, const uint2 key) {
    U words[4] = {(U)(x.x), (U)(x.y), (U)(x.z), (U)(x.w)};
    philox(words, key);
    for (int j = 0; j < 4; j++) out[j] = ((uint *)&words[j])[0];
}"""
        )
        kernel = cl.Kernel(build(device.context, text, ()), "answer")
        for counter, key, answer in known:
            out = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, 16)
            kernel.set_args(out, np.array(counter, np.uint32), np.array(key, np.uint32))
            cl.enqueue_nd_range_kernel(device.queue, kernel, (1,), None)
            words = np.empty(4, np.uint32)
            cl.enqueue_copy(device.queue, words, out)
            assert words.tolist() == answer


def test_dropout_keeps_the_mean_and_lets_the_gradient_through_where_it_lets_the_number(device):
    layer = nn.Dropout(0.3, seed=0, queue=device.queue)
    x = ag.tensor(Tensor.full(device.queue, (50, 80), 2.0), requires_grad=True)
    with ag.Tape() as tape:
        out = layer(x)
    tape.backward(out, np.full((50, 80), 5.0))
    numbers = out.to_host()
    assert 0.27 < np.mean(numbers == 0) < 0.33 and close(np.unique(numbers), [0, 2 / 0.7])
    assert close(x.grad.to_host(), numbers * 2.5)
    again = layer(x).to_host()
    assert np.mean((numbers == 0) & (again == 0)) == pytest.approx(0.09, abs=0.03)
    model = nn.Sequential(layer)
    assert model.eval() is model and not layer.training
    assert model(x) is x
    assert model.train()(x) is not x
    assert nn.Dropout(0.0, queue=device.queue)(x) is x


def test_the_same_seed_drops_the_same_on_every_device(device):
    others = [each for each in devices().values() if not isinstance(each, str)]
    for size in (1, 3, 64, 333):
        drawn = []
        for each in (device, *others):
            generator = Generator(each.queue, 4)
            generator.keep((size,), 0.5)
            drawn.append(generator.keep((size,), 0.5).to_host())
        assert all(np.array_equal(drawn[0], other) for other in drawn[1:])
    generator = Generator(device.queue, 4)
    assert generator.keep((0, 3), 0.5).shape == (0, 3)
    tensor = generator.keep((7,), 0.5)
    assert np.all(behind(tensor) == 255)


def test_dropout_in_float64_and_a_counter_that_overflows(exact):
    generator = Generator(exact.queue, 0)
    words = generator.state.to_host()
    generator.state.write([*words[:2].tolist(), -1, 0])
    assert set(generator.keep((100,), 0.25, "float64").to_host()) == {0, 1 / 0.75}
    assert generator.state.to_host()[2:].tolist() == [0, 1]


def test_a_captured_step_draws_new_numbers_as_an_eager_one_does(device):
    def run(wrap):
        layer = nn.Dropout(0.5, seed=1, queue=device.queue)
        step = wrap(lambda x: layer(x))
        x = Tensor.full(device.queue, (200,), 1.0)
        return [step(x).to_host() for _ in range(6)]

    eager, captured = run(lambda function: function), run(runtime.capture)
    assert all(np.array_equal(a, b) for a, b in zip(eager, captured))
    assert len({array.tobytes() for array in captured}) == 6


@pytest.mark.parametrize("p", [1.0, -0.1, 2, float("nan")])
def test_what_is_no_probability(p, device):
    with pytest.raises(ValueError, match="at least 0 and less than 1"):
        nn.Dropout(p, queue=device.queue)
    with pytest.raises(ValueError, match="at least 0 and less than 1"):
        Generator(device.queue, 0).keep((2,), p)
