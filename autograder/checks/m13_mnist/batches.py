"""Check 4 of lesson 13: batches."""

from autograder.checks.cases import Draft, Source, Text, choice
from autograder.checks.check import exercise
from autograder.checks.m13_mnist.places import drawn

batches = exercise(
    "mnist.batches", "Epochs whose rest fills no batch; loops that are left early; other seeds; what len() says."
)
SETS = (3, 1, 256), (4, 2, 256), (5, 2, 100), (7, 3, 256), (2, 3, 256), (6, 6, 2), (5, 4, 256), (11, 5, 20), (1, 1, 256)


def data(n, size, top, rng, width=3):
    pixels = Text(f"np.random.default_rng({rng.integers(1000)}).integers(0, {top}, ({n}, 2, {width}), np.uint8)")
    labels = rng.integers(0, drawn(rng, 10, 10, 3), n).astype(drawn(rng, "uint8", "int64"))
    return Draft({"images": pixels, "labels": labels, "size": size, "seed": int(rng.integers(100))})


def drawn_data(rng):
    return data(*(int(n) for n in rng.integers(1, (14, 6))), drawn(rng, 256, 60), rng)


def small(rng):
    yield from (data(*numbers, rng) for numbers in SETS)
    yield data(3, 2, 256, rng, width=30)


DATA = Source(small, drawn_data)
SOME = DATA.where(lambda labels, size: size <= len(labels))  # at least one batch


@batches.aspect("x and y of two epochs", 1.25, cases=DATA, few=12, many=40, rtol=1e-5)
def epochs(student, case):
    batches = student.Batches(case.images, case.labels, case.size, case.seed)
    first = list(batches)
    yield
    pairs = first + list(batches)
    return {"x": [x.to_host() for x, y in pairs], "y": [y.to_host() for x, y in pairs]}


@batches.aspect(
    "an epoch that is left early, or begins while another one runs, counts",
    0.25,
    cases=SOME * choice("epoch", 0, 7, 3),
    few=8,
    many=24,
    rtol=1e-5,
)
def early(student, case):
    batches = student.Batches(case.images, case.labels, case.size, case.seed)
    batches.epoch = case.epoch
    for _ in batches:
        break
    x = [one.to_host() for (one, _), _ in zip(batches, batches)]
    return {"x of the next epoch": x, "epoch": batches.epoch}


@batches.aspect("len()", 0.25, corner=True, cases=DATA, few=12)
def length(student, case):
    return len(student.Batches(case.images, case.labels, case.size, case.seed))


@batches.aspect(
    "x and y are Tensors of float32",
    0.25,
    corner=True,
    cases=SOME,
    few=4,
    many=8,
    exact="as Tensors",
)
def kinds(student, case):
    x, y = next(iter(student.Batches(case.images, case.labels, case.size)))
    return [type(x).__name__, type(y).__name__, str(x.dtype), str(y.dtype)]


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
