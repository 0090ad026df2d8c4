"""Check 2 of lesson 15: rows of a table."""

from autograder.checks.check import check


@check("attention.embedding", points=2, rtol=1e-4, atol=1e-5, device=("∂L/∂table",))
def attention_embedding(student, rng, tools):
    """Rows that are taken once, several times, and never."""
    ag, numbers = student.ag, rng.normal(size=(6, 3))
    idx = rng.permutation([4, 1, 4, 0, 4, 1, 5, 0]).reshape(2, 4)
    up = rng.choice([-1, 1], (2, 4, 3)) * rng.uniform(0.5, 2.0, (2, 4, 3))

    def leaf():
        return ag.tensor(student.Tensor.from_host(student.queue, numbers), requires_grad=True)

    def out(idx):
        return student.embedding(leaf(), idx).to_host()

    def gradient():
        table = leaf()
        with ag.Tape() as tape:
            rows = student.embedding(table, idx)
        tape.backward(rows, student.Tensor.from_host(student.queue, up))
        return table.grad.to_host()

    def twice():
        table = leaf()
        with ag.Tape() as tape:
            loss = ag.sum(student.embedding(table, idx) * up) + ag.sum(student.embedding(table, idx[0]) * up[1])
        tape.backward(loss)
        return table.grad.to_host()

    def idx_afterwards():
        given = idx.copy()
        out(given)
        return given

    return {
        "input": f"a table of 6 rows, idx = {idx.tolist()}",
        "out": lambda: out(idx),
        "out, for idx of shape (4,)": lambda: out(idx[1]),
        "out, for idx of shape (1, 2, 2)": lambda: out(idx[:1].reshape(1, 2, 2)),
        "∂L/∂table": gradient,
        "∂L/∂table, used twice": twice,
        "idx afterwards": idx_afterwards,
    }


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
