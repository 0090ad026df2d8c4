"""Check 4 of lesson 13: batches."""

import numpy as np

from autograder.checks.check import check


@check("mnist.batches", points=2, rtol=1e-5, atol=1e-6)
def batches(student, rng, tools):
    """Two epochs of a small data set whose size is no multiple of the batch's; a loop that is left early; other seeds."""
    n, size, seed = int(rng.integers(21, 24)), 5, int(rng.integers(1, 1000))
    images = rng.integers(0, 256, (n, 3, 4)).astype(np.uint8)
    labels = rng.integers(0, 10, n).astype(np.uint8)
    kept = images.copy(), labels.copy()

    def make(seed=seed, size=size):
        return student.Batches(images, labels, size, seed)

    def pixels(loader):
        return [np.array(x.to_host()) for x, _ in loader]

    def targets(loader):
        return [np.array(y.to_host()) for _, y in loader]

    def second(read):
        loader = make()
        read(loader)
        return read(loader)

    def left_early():
        loader = make()
        for x, y in loader:
            break
        return pixels(loader)

    def resumed():
        loader = make()
        loader.epoch = 7
        return pixels(loader) + pixels(loader)

    def kinds():
        x, y = next(iter(make()))
        return [
            *x.shape,
            *y.shape,
            hasattr(x, "buffer"),
            hasattr(y, "buffer"),
            str(x.dtype) == str(y.dtype) == "float32",
        ]

    return {
        "input": f"{n} images of 3 × 4 bytes, batches of {size}, seed {seed}",
        "x in epoch 0": lambda: pixels(make()),
        "y in epoch 0": lambda: targets(make()),
        "x in epoch 1": lambda: second(pixels),
        "y in epoch 1": lambda: second(targets),
        "x after an epoch that was left early": left_early,
        "x of another seed": lambda: pixels(make(seed + 1)),
        "x in two epochs, when epoch is set to 7": resumed,
        "x, batches that fill the epoch": lambda: pixels(make(size=n)),
        "len(): 5, 4 and all in a batch": lambda: [len(make()), len(make(size=4)), len(make(size=n))],
        "batches in an epoch": lambda: [sum(1 for _ in make()), sum(1 for _ in make(size=n))],
        "shapes, are Tensors, float32": kinds,
        "images and labels afterwards": lambda: (
            pixels(make()),
            [(kept[0] == images).all(), (kept[1] == labels).all()],
        )[1],
    }


ORDER = "np.random.default_rng([self.seed, self.epoch]).permutation(len(self.images))"
ROWS = "order[number * self.size:(number + 1) * self.size]"
LEN = "return len(self.images) // self.size"
YIELD = "yield on_device(as_rows(self.images[rows])), on_device(np.eye(10)[self.labels[rows]])"
batches.mistake(
    "the order is that of the data set: nothing is shuffled",
    swap=(ORDER, "np.arange(len(self.images))"),
    hint="By the docstring, an order of each epoch.",
)
batches.mistake(
    "the order is the same in each epoch",
    swap=("        self.epoch += 1\n", ""),
    hint=["Who counts the epochs?", "`self.epoch += 1`."],
)
batches.mistake(
    "the epoch is counted at the end of the loop: not if it is left early",
    swap=[("        self.epoch += 1\n", ""), (YIELD, YIELD + "\n        self.epoch += 1")],
    hint=["A loop that is left with break: what comes after the last yield?", "Count before the first yield."],
)
batches.mistake(
    "the epoch is counted before its order is drawn: the first has the order of epoch 1",
    swap=[("        self.epoch += 1\n", ""), ("        order = np", "        self.epoch += 1\n        order = np")],
    hint="The first epoch is number 0.",
)
batches.mistake(
    "the seed alone makes the order", swap=("[self.seed, self.epoch]", "[self.seed, 0]"), hint="[seed, epoch]."
)
batches.mistake(
    "the epoch alone makes the order", swap=("[self.seed, self.epoch]", "[0, self.epoch]"), hint="[seed, epoch]."
)
batches.mistake(
    "seed and epoch are added up: epoch 1 of seed 0 is epoch 0 of seed 1",
    swap=("[self.seed, self.epoch]", "self.seed + self.epoch"),
    hint="A list of both: [seed, epoch].",
)
batches.mistake(
    "seed and epoch have changed places",
    swap=("[self.seed, self.epoch]", "[self.epoch, self.seed]"),
    hint="[seed, epoch].",
)
batches.mistake(
    "pictures are drawn with replacement: some come twice, others never",
    swap=(".permutation(len(self.images))", ".integers(0, len(self.images), len(self.images))"),
    hint="Each picture at most once in an epoch: `permutation`.",
)
batches.mistake(
    "the labels stay in their own order",
    swap=("self.labels[rows]]", "self.labels[number * self.size:(number + 1) * self.size]]"),
    hint="Picture and label must come from the same row.",
)
batches.mistake(
    "the pictures stay in their own order",
    swap=("self.images[rows]", "self.images[number * self.size:(number + 1) * self.size]"),
    hint="Picture and label must come from the same row.",
)
batches.mistake(
    "the rest that fills no batch comes as a smaller one",
    swap=[(LEN, "return -(-len(self.images) // self.size)")],
    hint=["What would a captured step say to another shape?", "Rounded down: `//`."],
)
batches.mistake(
    "len() counts the rest, too",
    swap=[
        (LEN, "return -(-len(self.images) // self.size)"),
        ("range(len(self))", "range(len(self.images) // self.size)"),
    ],
    hint="len() is the number of batches that come.",
)
batches.mistake(
    "len() counts pictures",
    swap=[(LEN, "return len(self.images)"), ("range(len(self))", "range(len(self.images) // self.size)")],
    hint="Batches in an epoch.",
)
batches.mistake(
    "the last full batch is lost",
    swap=("range(len(self))", "range(len(self) - 1)"),
    hint="`range(n)` ends before n by itself.",
)
batches.mistake(
    "batches overlap: each begins one picture further",
    swap=(ROWS, "order[number:number + self.size]"),
    hint="Batch k begins at k · size.",
)
batches.mistake(
    "pictures are not made rows",
    swap=("as_rows(self.images[rows])", "self.images[rows] / 255"),
    hint="`as_rows` does both: rows, and numbers from 0 to 1.",
)
batches.mistake(
    "pictures have numbers from 0 to 255",
    swap=("as_rows(self.images[rows])", "self.images[rows].reshape(self.size, -1)"),
    hint="`as_rows` does both: rows, and numbers from 0 to 1.",
)
batches.mistake(
    "the labels are numbers, not one-hot rows",
    swap=("np.eye(10)[self.labels[rows]]", "self.labels[rows]"),
    hint="`np.eye(10)[…]`.",
)
batches.mistake(
    "one-hot rows for as many classes as there happen to be",
    swap=("np.eye(10)", "np.eye(1 + int(self.labels[rows].max()))"),
    hint="Ten classes, whichever are in the batch.",
)
batches.mistake(
    "arrays come, not Tensors",
    swap=(YIELD, "yield as_rows(self.images[rows]), np.eye(10, dtype=np.float32)[self.labels[rows]]"),
    hint="`on_device(…)`.",
)
batches.mistake(
    "only y is a Tensor",
    swap=("yield on_device(as_rows(self.images[rows])),", "yield as_rows(self.images[rows]),"),
    hint="Both: `on_device(…)`.",
)
batches.mistake(
    "y comes before x",
    swap=(YIELD, "yield on_device(np.eye(10)[self.labels[rows]]), on_device(as_rows(self.images[rows]))"),
    hint="`for x, y in batches`.",
)
batches.mistake(
    "the data set itself is shuffled, in place",
    swap=(
        "        self.epoch += 1\n",
        "        self.epoch += 1\n"
        "        self.images[:], self.labels[:] = self.images[order], self.labels[order]\n        order = np.arange(len(order))\n",
    ),
    hint="The arrays are not yours. Pick rows of them.",
)
batches.variant(
    "a list of batches, made at once",
    source="""
class Batches:
    def __init__(self, images, labels, size, seed=0):
        self.images, self.labels, self.size, self.seed = images, labels, size, seed
        self.epoch = 0

    def __len__(self):
        return int(len(self.labels) / self.size)

    def __iter__(self):
        rng = np.random.default_rng([self.seed, self.epoch])
        self.epoch = self.epoch + 1
        order = rng.permutation(self.images.shape[0])
        x, y = as_rows(self.images)[order], np.zeros((len(order), 10), np.float32)
        y[np.arange(len(order)), self.labels[order]] = 1
        starts = range(0, len(order) - self.size + 1, self.size)
        return iter([(on_device(x[a:a + self.size]), on_device(y[a:a + self.size])) for a in starts])
""",
)
batches.variant(
    "the order in rows, comparison for one-hot",
    source="""
class Batches:
    def __init__(self, images, labels, size, seed=0):
        self.images, self.labels, self.size, self.seed = images, labels, size, seed
        self.epoch = 0

    def __len__(self):
        return (len(self.images) - len(self.images) % self.size) // self.size

    def __iter__(self):
        epoch, self.epoch = self.epoch, self.epoch + 1
        order = np.random.default_rng((self.seed, epoch)).permutation(len(self.images))
        for rows in order[:len(self) * self.size].reshape(-1, self.size):
            y = self.labels[rows][:, None] == np.arange(10)
            x = self.images[rows].reshape(self.size, -1) / 255
            yield Tensor.from_host(queue, x), Tensor.from_host(queue, y)
""",
)
