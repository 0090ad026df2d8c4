"""The DataLoader: what an epoch holds and in which order, and how its thread behaves."""

import gc
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from netcl_devices import close

from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.data.dataloader import DataLoader, ahead, gather
from tinygrad_cl.netcl.ops.reduction import reduce_sum


def threads():
    return [each for each in threading.enumerate() if each.name.startswith("DataLoader")]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    gc.collect()
    assert not threads()


class Squares:
    """A data set in netcl's form: len() and [number], a sample is a tuple."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, number):
        return np.full((2, 3), number, np.float32), number**2


SIZES = {
    "length": st.integers(0, 40),
    "size": st.integers(1, 12),
    "shuffle": st.booleans(),
    "drop": st.booleans(),
    "prefetch": st.integers(0, 3),
    "seed": st.integers(0, 2**70),
}


@given(**SIZES)
def test_each_sample_comes_once_an_epoch_its_fields_together(length, size, shuffle, drop, prefetch, seed):
    numbers = np.arange(length)
    for dataset in [(numbers, numbers**2), Squares(length)]:
        loader = DataLoader(dataset, size, shuffle, drop_last=drop, prefetch=prefetch, seed=seed)
        batches = [(first.reshape(len(first), -1)[:, 0].tolist(), second.tolist()) for first, second in loader]
        assert len(batches) == len(loader) == (length // size if drop else -(-length // size))
        assert all(len(first) == size for first, _ in batches[:-1])
        assert all(second == [number**2 for number in first] for first, second in batches)
        seen = [number for first, _ in batches for number in first]
        assert len(set(seen)) == len(seen) == (len(loader) * size if drop else length)
        assert shuffle or seen == list(range(len(seen)))


def order(loader):
    return np.concatenate(list(loader)).tolist()


@given(seed=st.integers(0, 2**70), length=st.integers(20, 60), size=st.integers(1, 9), prefetch=st.integers(0, 3))
def test_an_order_is_a_function_of_seed_and_epoch_alone(seed, length, size, prefetch):
    first = DataLoader(np.arange(length), size, seed=seed, prefetch=prefetch)
    orders = [order(first) for _ in range(3)]
    assert orders[0] != orders[1] != orders[2] != orders[0]
    second = DataLoader(np.arange(length), size + 1, seed=seed)
    next(iter(second))  # an epoch that is left at once is an epoch, too
    assert order(second) == orders[1]
    second.epoch = 0
    assert order(second) == orders[0]
    assert order(DataLoader(np.arange(length), size, seed=seed + 1)) != orders[0]


def test_without_a_seed_each_loader_has_its_own_order_which_can_be_had_again():
    first, second = DataLoader(np.arange(60)), DataLoader(np.arange(60))
    once = order(first)
    assert once != order(second)
    assert order(DataLoader(np.arange(60), seed=first.seed)) == once


def test_two_loops_over_one_loader_do_not_disturb_each_other():
    loader = DataLoader(np.arange(30), 4, seed=1)
    epochs = [order(loader), order(loader)]
    loader.epoch = 0
    pairs = list(zip(loader, loader))
    assert [np.concatenate(each).tolist() for each in zip(*pairs)] == epochs


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_batches_are_copies(prefetch):
    data = np.arange(6)
    for batch in DataLoader(data, 2, shuffle=False, prefetch=prefetch):
        batch[:] = -1
    assert data.tolist() == [0, 1, 2, 3, 4, 5]


def test_without_a_queue_arrays_are_as_the_data_set_has_them():
    names, pixels = next(iter(DataLoader((np.array(["a", "b"]), np.array([[1, 2], [3, 4]], np.uint8)), shuffle=False)))
    assert names.tolist() == ["a", "b"] and pixels.dtype == np.uint8 and pixels.tolist() == [[1, 2], [3, 4]]


# -- on the device --------------------------------------------------------------------------------


def test_batches_on_the_device_are_float32_and_int32(device):
    images, labels, masks = np.random.default_rng(0).normal(size=(7, 2, 3)), np.arange(7), np.arange(7) > 3
    loader = DataLoader((images, labels, masks), 3, seed=3, device_queue=device.queue)
    arrays = DataLoader((images, labels, masks), 3, seed=3)
    batches = 0
    for got, expected in zip(loader, arrays, strict=True):
        assert all(isinstance(tensor, Tensor) and tensor.queue == device.queue for tensor in got)
        assert [str(tensor.dtype) for tensor in got] == ["float32", "int32", "float32"]
        assert all(close(tensor.to_host(), array) for tensor, array in zip(got, expected))
        batches += 1
    assert batches == 3


def test_a_queue_can_be_bound_later_and_one_array_gives_one_tensor(device):
    loader = DataLoader(np.ones((4, 2)), 4)
    assert isinstance(next(iter(loader)), np.ndarray)
    loader.bind_queue(device.queue)
    batch = next(iter(loader))
    assert isinstance(batch, Tensor) and np.array_equal(batch.to_host(), np.ones((4, 2), np.float32))


def test_every_batch_arrives_whole_although_nobody_waits_for_its_copy(device):
    data = np.random.default_rng(1).normal(size=(30, 500)).astype(np.float32)
    for prefetch in (0, 2):
        loader = DataLoader(data, 2, shuffle=False, prefetch=prefetch, device_queue=device.queue)
        sums = [reduce_sum(batch) for batch in loader]  # the batches themselves are gone by now
        assert close([each.to_host() for each in sums], data.reshape(15, -1).sum(1), size=1000)


def test_fields_without_numbers_and_data_without_samples(device):
    batch = next(iter(DataLoader((np.ones((3, 0)), np.ones(3)), 2, device_queue=device.queue)))
    assert [tensor.shape for tensor in batch] == [(2, 0), (2,)]
    assert list(DataLoader(np.ones((0, 3)), 2, device_queue=device.queue)) == []


@pytest.mark.parametrize(
    "data, message",
    [
        (np.array(["a", "b"]), "takes floats, integers and booleans, not <U1"),
        (np.array([1, 2**31]), "2147483648 .* fits into int32"),
    ],
)
def test_what_has_no_place_on_a_device(device, data, message):
    with pytest.raises((TypeError, ValueError), match=message):
        list(DataLoader(data, 2, shuffle=False, device_queue=device.queue))


# -- the thread -----------------------------------------------------------------------------------


class Watched:
    """A data set that remembers which samples were asked for, and by which thread."""

    def __init__(self, fails_at=None):
        self.asked, self.threads, self.fails_at = [], set(), fails_at

    def __len__(self):
        return 20

    def __getitem__(self, number):
        if number == self.fails_at:
            raise LookupError(f"sample {number} is torn")
        self.asked.append(number)
        self.threads.add(threading.current_thread())
        return np.array(number)


def wait_until(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    assert condition()


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_the_next_batches_are_prepared_while_the_loop_is_busy_and_no_more_than_those(prefetch):
    data = Watched()
    batches = iter(DataLoader(data, 2, shuffle=False, prefetch=prefetch))
    assert data.asked == []
    for number in range(1, 5):
        next(batches)
        wait_until(lambda: len(data.asked) == 2 * (number + prefetch))
    time.sleep(0.02)
    assert len(data.asked) == 2 * (4 + prefetch)
    assert (threading.main_thread() in data.threads) == (prefetch == 0)
    assert len(threads()) == (prefetch > 0)


def test_the_thread_ends_when_the_loop_is_left():
    for batch in DataLoader(Watched(), 2):
        assert threads()
        break
    del batch
    assert not threads()


def test_the_thread_ends_when_the_loop_fails_and_when_an_iterator_is_forgotten():
    def failing():
        for _ in DataLoader(Watched(), 2):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    batches = iter(DataLoader(Watched(), 2))
    next(batches)
    assert threads()
    del batches
    assert not threads()
    list(DataLoader(Watched(), 2))
    assert not threads()


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_what_fails_in_the_thread_is_raised_in_the_loop_after_the_batches_before_it(prefetch):
    seen = []
    with pytest.raises(LookupError, match="sample 7 is torn") as error:
        for batch in DataLoader(Watched(fails_at=7), 2, shuffle=False, prefetch=prefetch):
            seen += batch.tolist()
    assert seen == [0, 1, 2, 3, 4, 5]
    assert error.traceback[-1].name == "__getitem__"  # it leads to the line that failed
    del error


def test_ahead_is_map():
    assert list(ahead(abs, [], 1)) == []
    for number in range(1, 5):
        assert list(ahead(abs, range(-9, 0), number)) == list(map(abs, range(-9, 0)))


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dataset, options, error, message",
    [
        ((np.ones(3), np.ones(4)), {}, ValueError, r"one length, not \[3, 4\]"),
        ((np.ones(3), [1, 2, 3]), {}, TypeError, r"not \(ndarray, list\)"),
        ((), {}, TypeError, "holds NumPy arrays"),
        (np.array(3.0), {}, TypeError, "of one axis or more"),
        (42, {}, TypeError, r"or has len\(\) and \[number\]; int has not"),
        (np.ones(3), {"batch_size": 0}, ValueError, "batch_size=0"),
        (np.ones(3), {"prefetch": -1}, ValueError, "prefetch=-1"),
        (np.ones(3), {"seed": -1}, ValueError, "non-negative"),
    ],
)
def test_what_is_refused_is_refused_at_once(dataset, options, error, message):
    with pytest.raises(error, match=message):
        DataLoader(dataset, **options)


def test_gather_takes_samples_that_agree_only():
    with pytest.raises(ValueError, match="same shape"):
        gather([np.ones(2), np.ones(3)], np.arange(2))
    with pytest.raises(ValueError, match="zip"):
        gather([(1, 2), (1,)], np.arange(2))
