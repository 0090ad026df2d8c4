"""Batches of a data set, prepared in a thread while the device computes."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pyopencl as cl

from tinygrad_cl.netcl.core.tensor import Tensor, as_array, device_dtype


class DataLoader:
    """`for x, y in DataLoader((images, labels), batch_size=128, seed=0, device_queue=queue):`

    dataset       a NumPy array, or a tuple of arrays of equal length: their rows are the samples.
                  Or any object with len() and [index] whose samples are arrays, numbers, or tuples
                  of them
    batch_size    samples per batch; the last batch may be smaller, or is dropped: see drop_last
    drop_last     drop the last batch if it is smaller
    shuffle       use a new random order in each epoch
    prefetch      how many batches a thread prepares ahead of the loop; 0: no thread
    seed          seed of the orders; random if None
    device_queue  return Tensors on this queue: floats and booleans as float32, integers as int32.
                  None: return arrays, in the dtypes of the data set. `bind_queue` sets it later

    A batch is a tuple if a sample is one, else one array or Tensor. An error in the thread is raised
    in the loop. The thread ends when the loop ends, also by `break` or an exception.

    epoch         the number of epochs begun. The order depends only on seed and epoch: set it to
                  continue where an earlier run stopped

    >>> loader = DataLoader(np.arange(5), batch_size=2, shuffle=False)
    >>> len(loader), [batch.tolist() for batch in loader]
    (3, [[0, 1], [2, 3], [4]])
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 32,
        shuffle: bool = True,
        *,
        drop_last: bool = False,
        prefetch: int = 2,
        seed: int | None = None,
        device_queue: cl.CommandQueue | None = None,
    ) -> None:
        if batch_size < 1 or prefetch < 0:
            raise ValueError(
                "a batch has 1 sample or more, and 0 batches or more are prepared "
                f"ahead, not batch_size={batch_size}, prefetch={prefetch}"
            )
        number_of_samples(dataset)  # so that a bad data set raises here and not in the first epoch
        self.dataset = dataset
        self.batch_size, self.shuffle, self.drop_last = batch_size, shuffle, drop_last
        self.prefetch, self.device_queue = prefetch, device_queue
        self.seed = np.random.SeedSequence(seed).entropy
        self.epoch = 0

    def bind_queue(self, queue: cl.CommandQueue | None) -> None:
        """Return Tensors on this queue from the next epoch on."""
        self.device_queue = queue

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        full, rest = divmod(number_of_samples(self.dataset), self.batch_size)
        return full + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        """Start an epoch."""
        samples = number_of_samples(self.dataset)
        order = np.arange(samples)
        if self.shuffle:
            seed = np.random.SeedSequence(self.seed, spawn_key=(self.epoch,))
            order = np.random.default_rng(seed).permutation(samples)
        self.epoch += 1
        starts = range(0, len(self) * self.batch_size, self.batch_size)
        choices = [order[start : start + self.batch_size] for start in starts]
        return self._batches(choices, self.device_queue)

    def _batches(self, choices, queue):
        """A batch for each array of sample indices in `choices`."""

        def prepare(numbers):
            batch = gather(self.dataset, numbers)
            return batch if queue is None else map_fields(for_device, batch)

        batches = ahead(prepare, choices, self.prefetch) if self.prefetch else map(prepare, choices)
        under_way = deque()  # copies to the device that are in progress
        for batch in batches:
            if queue is not None:
                copies = []
                batch = map_fields(partial(upload, queue, copies), batch)
                under_way.append(copies)
                if len(under_way) > self.prefetch + 1:  # limit how far Python runs ahead of the device
                    for copy in under_way.popleft():
                        copy.wait()
            yield batch


def ahead(function, items, number):
    """map(function, items), where a thread computes the next `number` results in advance.

    >>> list(ahead(abs, [-1, -2, -3], 2))
    [1, 2, 3]
    """
    items, results = iter(items), deque()
    pool = ThreadPoolExecutor(1, "DataLoader")
    try:
        while True:
            room = number + 1 - len(results)
            results.extend(pool.submit(function, item) for item in islice(items, room))
            if not results:
                return
            yield results.popleft().result()
    finally:  # also runs when a loop is left early and the generator is deleted
        pool.shutdown(cancel_futures=True)


def number_of_samples(dataset):
    """The number of samples. TypeError or ValueError if this is not a data set."""
    if isinstance(dataset, np.ndarray):
        dataset = (dataset,)
    if not isinstance(dataset, tuple):
        if hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__"):
            return len(dataset)
        raise TypeError(
            f"a data set is a NumPy array, a tuple of them, or has len() and [number]; {type(dataset).__name__} has not"
        )
    if not dataset or not all(isinstance(array, np.ndarray) and array.ndim for array in dataset):
        kinds = ", ".join(type(each).__name__ for each in dataset)
        raise TypeError(f"a tuple that is a data set holds NumPy arrays of one axis or more, not ({kinds})")
    lengths = [len(array) for array in dataset]
    if len(set(lengths)) > 1:
        raise ValueError(f"the arrays of a data set have one length, not {lengths}")
    return lengths[0]


def gather(dataset, numbers):
    """The samples at these indices as one new array, or as a tuple of new arrays."""
    if isinstance(dataset, (np.ndarray, tuple)):
        return map_fields(lambda array: np.take(array, numbers, axis=0), dataset)
    samples = [dataset[number] for number in numbers.tolist()]
    if isinstance(samples[0], tuple):
        return tuple(map(np.stack, zip(*samples, strict=True)))
    return np.stack(samples)


def map_fields(function, batch):
    """function(array) for a batch that is one array, or for each array of a tuple."""
    return tuple(map(function, batch)) if isinstance(batch, tuple) else function(batch)


def for_device(array):
    """The array in the dtype that it has on a device. TypeError if its elements are not numbers."""
    return np.ascontiguousarray(as_array(array, device_dtype(array)))


def upload(queue, copies, array):
    """The array as a Tensor, without waiting for the copy to the device. The event of the copy is
    appended to `copies`; it keeps the array alive until the copy is done.
    """
    tensor = Tensor.from_shape(queue, array.shape, array.dtype)
    if array.size:
        copies.append(tensor.device.write(tensor.buffer, array, wait=False))
    return tensor
