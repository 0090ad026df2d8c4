"""Check 2 of lesson 15: rows of a table, and the way back."""

import math

import numpy as np

from autograder.checks.cases import Draft, Source
from autograder.checks.check import exercise
from autograder.checks.m15_attention.leaves import node, parameter

attention_embedding = exercise(
    "attention.embedding",
    "Rows that are taken once, several times and never, by idx of any shape; tables that were computed.",
)


def lookup(rows, features, shape, rng):
    idx = rng.integers(0, rows, shape[::-1]).T
    return Draft({"p": parameter((rows, features), "decimals", rng), "table": node(rng), "idx": np.asarray(idx)})


SMALL = (
    (3, 2, (2,)),
    (2, 3, (4,)),
    (4, 2, (2, 2)),
    (1, 1, (1,)),
    (5, 3, (3, 2)),
    (3, 2, ()),
    (6, 1, (1, 2, 2)),
    (2, 2, (1, 3)),
)
LOOKUPS = Source(
    lambda rng: (lookup(*sizes, rng) for sizes in SMALL),
    lambda rng: lookup(
        *(int(n) for n in rng.integers(1, 6, 2)), tuple(map(int, rng.integers(1, 4, rng.integers(1, 4)))), rng
    ),
)
NEAR = {"rtol": 1e-4, "atol": 1e-5}


@attention_embedding.aspect("the rows", 1, cases=LOOKUPS, few=10, many=32, **NEAR)
def rows(student, case):
    out = student.embedding(case.table(case.p), case.idx)
    yield
    return {"out": out.to_host(), "kind": type(out).__name__}


@attention_embedding.aspect("the gradient of the table", 1, cases=LOOKUPS, few=10, many=32, device=5, **NEAR)
def gradient(student, case):
    with student.ag.Tape() as tape:
        out = student.embedding(case.table(case.p), case.idx)
    yield
    up = np.arange(1.0, 1 + math.prod(out.shape)).reshape(out.shape)
    tape.backward(out, student.Tensor.from_host(student.queue, up))
    return case.p.grad if case.p.grad is None else case.p.grad.to_host()


@attention_embedding.on_device
def names(on, reference):
    return {"embedding": lambda table, idx: on.on_tape(lambda rows: on.ag.embedding(rows, idx))(table)}


attention_embedding.mistake(
    "the table leaves the graph: rows are picked on the host, and nothing flows back",
    source="""
def embedding(table, idx):
    return ag.tensor(Tensor.from_host(queue, table.to_host()[idx]), requires_grad=True)
""",
    hint=[
        "The numbers are right. How would a gradient get to the table?",
        "Compute from the Node `table`: `ag.matmul(one_hot, table)`.",
    ],
)
attention_embedding.mistake(
    "a row that is taken several times gets only one of its gradients",
    source="""
def embedding(table, idx):
    rows = table.shape[0]

    def differentiate(g):
        found = np.zeros(table.shape)
        found[idx] = g.to_host()
        return [Tensor.from_host(queue, found)]

    picked = Tensor.from_host(queue, table.to_host()[idx])
    return ag.apply_op(lambda value: picked, differentiate, table)
""",
    hint=[
        "`found[idx] = g` writes row 4 several times. Which one stays?",
        "`np.add.at(found, idx, g)`, or the product with one-hot rows.",
    ],
)
attention_embedding.mistake(
    "the gradient of a row is the mean of those that came, not their sum",
    source="""
def embedding(table, idx):
    one_hot = np.eye(table.shape[0])[idx.ravel()]
    counts = np.maximum(one_hot.sum(axis=0), 1)[:, None]

    def differentiate(g):
        flat = g.to_host().reshape(-1, table.shape[1])
        return [Tensor.from_host(queue, one_hot.T @ flat / counts)]

    picked = Tensor.from_host(queue, table.to_host()[idx])
    return ag.apply_op(lambda value: picked, differentiate, table)
""",
    hint="A row that is used three times moves the loss three times: gradients add up.",
)
attention_embedding.mistake(
    "the result is flat: it has not the axes of idx",
    swap=("ag.reshape(ag.matmul(one_hot, table), (*idx.shape, features))", "ag.matmul(one_hot, table)"),
    hint=["Which shape has the result for idx of shape (2, 4)?", "`ag.reshape(…, (*idx.shape, features))`."],
)
attention_embedding.mistake(
    "idx is flattened column by column, so rows come out at other places",
    swap=("idx.ravel()", 'idx.ravel("F")'),
    hint=["For idx with one axis it is right. And with two?", '`idx.ravel()`, without "F".'],
)
attention_embedding.mistake(
    "the first row counts as number 1",
    swap=("[idx.ravel()]", "[idx.ravel() - 1]"),
    hint=["Which row do you get for idx 0?", "Indices count from 0, and so does the table."],
)
attention_embedding.mistake(
    "each character is looked up once: doubles and order are lost",
    swap=[("[idx.ravel()]", "[np.resize(np.unique(idx), idx.size)]")],
    hint=[
        "Is the first row of the result the row of the first index?",
        "Use idx as it is: `np.eye(rows)[idx.ravel()]`.",
    ],
)
attention_embedding.mistake(
    "the counts of the whole text are multiplied, so that all places get the same row",
    swap=("np.eye(rows)[idx.ravel()]", "np.tile(np.eye(rows)[idx.ravel()].sum(axis=0), (idx.size, 1))"),
    hint=["Each place has a one-hot row of its own.", "Do not sum the one-hot rows."],
)
attention_embedding.variant(
    "by the package's operation",
    source="""
def embedding(table, idx):
    return ag.embedding(table, np.asarray(idx))
""",
)
attention_embedding.variant(
    "an operation of its own, with np.add.at",
    source="""
def embedding(table, idx):
    def forward(value):
        return Tensor.from_host(queue, value.to_host()[idx])

    def differentiate(g):
        found = np.zeros(table.shape, np.float32)
        np.add.at(found, idx, g.to_host())
        return [Tensor.from_host(queue, found)]

    return ag.apply_op(forward, differentiate, table, op_name="embedding")
""",
)
attention_embedding.variant(
    "one-hot with all axes of idx, and a batched product",
    source="""
def embedding(table, idx):
    one_hot = (np.asarray(idx)[..., None] == np.arange(table.shape[0])).astype(np.float32)
    return ag.tensor(Tensor.from_host(queue, one_hot)) @ table
""",
)
