"""Saving and loading: what comes back, that a file is never half written, and what is refused."""

import os
import pickle
import random
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from netcl_devices import put

import tinygrad_cl.netcl.autograd as ag
from tinygrad_cl.netcl import io, nn
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.optim import Adam

DTYPES = st.sampled_from(["float32", "float64", "int32", "int64", "bool", "uint8", "<U3"])
ARRAYS = DTYPES.flatmap(lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(min_dims=0, min_side=0)))
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\\"), min_size=1, max_size=6)


class Layer:
    """As much of a Module as saving needs."""

    def __init__(self, **state):
        self.state = state

    def state_dict(self):
        return {name: value.to_host() if isinstance(value, Tensor) else value for name, value in self.state.items()}

    def load_state_dict(self, state):
        self.state = dict(state)


def same(got, expected):
    """Whether two dicts hold the same arrays: names, shapes, dtypes and every bit."""
    return got.keys() == expected.keys() and all(
        (got[name].shape, got[name].dtype, got[name].tobytes()) == (np.shape(array), array.dtype, array.tobytes())
        for name, array in expected.items()
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("io")


@given(values=st.dictionaries(NAMES.filter(lambda name: "." not in name), ARRAYS, max_size=4))
def test_what_was_saved_comes_back_and_numpy_reads_it(folder, values):
    path = folder / "values.npz"
    io.save(path, values)
    assert same(io.load(path), values)
    with np.load(path, allow_pickle=False) as file:
        assert same({name: file[name] for name in file.files}, values)


def test_numpys_own_files_are_read(folder):
    np.savez_compressed(folder / "numpy.npz", x=np.arange(3), y=np.ones((2, 2)))
    assert same(io.load(folder / "numpy.npz"), {"x": np.arange(3), "y": np.ones((2, 2))})


def test_tensors_nodes_numbers_and_texts(device, tmp_path):
    weight = put(device, np.array([[1.5, -2.0]], np.float32))
    loss = ag.sum(ag.tensor(weight, requires_grad=True))
    io.save(tmp_path / "a.npz", {"weight": weight, "loss": loss, "epoch": 3, "name": "mlp", "curve": [1.0, 0.5]})
    assert same(
        io.load(tmp_path / "a.npz"),
        {
            "weight": weight.to_host(),
            "loss": np.float32(-0.5),
            "epoch": np.array(3),
            "name": np.array("mlp"),
            "curve": np.array([1.0, 0.5]),
        },
    )


def test_names_in_dicts_and_states_are_joined_by_dots(tmp_path):
    inner = Layer(weight=np.ones((2, 3)), bias=np.zeros(3))
    io.save(tmp_path / "a.npz", {"model": {"0": inner, "1": {}}, "epoch": 3})
    assert sorted(io.load(tmp_path / "a.npz")) == ["epoch", "model.0.bias", "model.0.weight"]
    io.save(tmp_path / "a.npz", inner)
    assert sorted(io.load(tmp_path / "a.npz")) == ["bias", "weight"]


def test_loading_into_tensors_and_modules(device, tmp_path):
    path = tmp_path / "a.npz"
    weight, scale = put(device, np.arange(6, dtype=np.float32).reshape(2, 3), np.array(2.5, np.float32))
    io.save(path, {"weight": weight, "deep": {"scale": scale}, "layer": Layer(w=np.ones(2)), "layer2": 7})
    for tensor in (weight, scale):
        tensor.write(np.zeros(tensor.shape))
    layer, buffer = Layer(w=np.zeros(2)), weight.buffer
    arrays = io.load(path, into={"weight": weight, "deep": {"scale": scale}, "layer": layer})
    assert arrays["layer2"] == 7  # for which nobody needs to make room
    assert np.array_equal(weight.to_host(), [[0, 1, 2], [3, 4, 5]]) and weight.buffer is buffer
    assert scale.to_host() == 2.5 and layer.state["w"].tolist() == [1, 1]


def test_a_training_goes_on_where_it_was_saved(device, tmp_path):
    x, y = put(device, *np.random.default_rng(0).normal(size=(2, 8, 3)).astype(np.float32))

    def begin(seed):
        nn.manual_seed(seed)
        model = nn.Sequential(nn.Linear(device.queue, 3, 4), nn.Tanh(), nn.Linear(device.queue, 4, 3))
        return {"model": model, "optimizer": Adam(model.parameters(), lr=0.01 * seed)}

    def train(run, steps):
        for _ in range(steps):
            with ag.Tape() as tape:
                loss = ag.mse_loss(run["model"](x), y)
            run["model"].zero_grad()
            tape.backward(loss)
            run["optimizer"].step()

    whole, other = begin(seed=1), begin(seed=2)
    train(whole, 3)
    io.save(tmp_path / "a.npz", {**whole, "step": 3})
    assert io.load(tmp_path / "a.npz", into=other)["step"] == 3
    for run in (whole, other):
        train(run, 3)
    assert same(other["model"].state_dict(), whole["model"].state_dict())
    assert same(other["optimizer"].state_dict(), whole["optimizer"].state_dict())


def test_netcls_names_take_the_model_first(tmp_path):
    io.export_model(Layer(w=np.ones(2)), tmp_path / "a.npz")
    layer = Layer(w=np.zeros(2))
    io.load_into_model(layer, tmp_path / "a.npz")
    assert layer.state["w"].tolist() == [1, 1]


# -- what does not fit ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "second, error, message",
    [
        (Layer(w=np.zeros(2), b=np.zeros(1)), KeyError, r"a\.npz has no second\.b'"),
        (Layer(), KeyError, r"a\.npz has second\.w, for which there is no place"),
        (Layer(w=np.zeros((2, 1))), ValueError, r"second\.w has shape \(2, 1\), in .*a\.npz \(2,\)"),
        (3, TypeError, "not into second, an object of class int: take that from what load returns"),
    ],
)
def test_nothing_is_changed_if_something_does_not_fit(device, tmp_path, second, error, message):
    io.save(tmp_path / "a.npz", {"first": np.ones(2), "second": Layer(w=np.ones(2))})
    first = put(device, np.zeros(2, np.float32))
    with pytest.raises(error, match=message):
        io.load(tmp_path / "a.npz", into={"first": first, "second": second})
    assert first.to_host().tolist() == [0, 0]


def test_a_tensor_alone_has_no_name(device, tmp_path):
    tensor = put(device, np.ones(2, np.float32))
    with pytest.raises(TypeError, match="arrays by name, and no Tensor"):
        io.save(tmp_path / "a.npz", tensor)
    io.save(tmp_path / "a.npz", {"x": tensor})
    with pytest.raises(TypeError, match="dicts of Tensors, not into an object of class Tensor"):
        io.load(tmp_path / "a.npz", into=tensor)


@pytest.mark.parametrize(
    "values, error, message",
    [
        ({"a": 1, "b": object()}, TypeError, "arrays by name, and no object as 'b'"),
        ({"a": None}, TypeError, "no NoneType as 'a'"),
        ({"a": {"b": 1}, "a.b": 2}, ValueError, "two values are named 'a.b'"),
        ({3: 1}, TypeError, "a name is a text, not 3"),
        (42, TypeError, "arrays by name, and no int"),
    ],
)
def test_what_cannot_be_saved_leaves_no_file(tmp_path, values, error, message):
    with pytest.raises(error, match=message):
        io.save(tmp_path / "new" / "a.npz", values)
    assert list(tmp_path.iterdir()) == []


# -- files ----------------------------------------------------------------------------------------


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "a.npz"
    io.save(path, {"x": np.ones(3)})
    write = np.lib.format.write_array

    def fail(file, array, **options):
        write(file, array, **options)
        raise OSError("the disk is full")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="the disk is full"):
        patch.setattr(np.lib.format, "write_array", fail)
        io.save(path, {"x": np.zeros(3)})
    assert os.listdir(path.parent) == ["a.npz"] and io.load(path)["x"].tolist() == [1, 1, 1]
    io.save(str(path), {"x": np.zeros(3)})
    assert os.listdir(path.parent) == ["a.npz"] and io.load(str(path))["x"].tolist() == [0, 0, 0]


def test_others_may_read_the_file_where_they_may_read_any(tmp_path):
    (tmp_path / "plain").touch()
    io.save(tmp_path / "a.npz", {"x": 1})
    assert (tmp_path / "a.npz").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_pickles_are_not_read(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    np.savez(tmp_path / "a.npz", x=np.array([Trap()], dtype=object))
    (tmp_path / "b.npz").write_bytes(pickle.dumps(Trap()))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(ValueError, match=f"{name} is no npz file of arrays"):
            io.load(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_what_is_no_npz_file(tmp_path):
    np.save(tmp_path / "one.npy", np.ones(3))
    (tmp_path / "text.npz").write_text("x = 1")
    (tmp_path / "empty.npz").touch()
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
    for path in tmp_path.iterdir():
        with pytest.raises(ValueError, match=f"{path.name} is no npz file of arrays, or it is damaged"):
            io.load(path)
    with pytest.raises(FileNotFoundError, match="missing.npz"):
        io.load(tmp_path / "missing.npz")


def test_a_damaged_file_never_gives_other_numbers(tmp_path):
    path, rng = tmp_path / "a.npz", random.Random(1)
    io.save(path, {"x": np.arange(6.0).reshape(2, 3), "y.z": np.float32(3)})
    good, arrays, refused = path.read_bytes(), io.load(path), 0
    for _ in range(500):
        bad = bytearray(good)
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        path.write_bytes(bad[: rng.choice([len(bad), rng.randrange(len(bad))])])
        try:
            for name, array in io.load(path).items():
                assert name not in arrays or np.array_equal(arrays[name], array)
        except ValueError as error:
            assert "is damaged" in str(error)
            refused += 1
    assert refused > 300
