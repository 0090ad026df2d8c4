"""What may differ, and why: data, each entry with the shortest program that shows it. A test runs each: one that is no longer needed goes.

Entries with a `finding` are faults that are known and being mended: they go with them.
"""

import re
from dataclasses import dataclass

from fuzz.programs import Statement, source


@dataclass(frozen=True)
class Difference:
    """One reason.

    engine, peer   where: "tensor" or "netcl", beside "reference" or "torch"
    example        the shortest program that shows it; () where it shows by chance
    kind, says     regular expressions for the kind of a Disagreement, and for its detail
    word           for the word of the statement where it shows
    has            for the word of some statement before
    some           for some part of the program's source
    finding        the number of the finding, where this is a fault
    """

    reason: str
    engine: str
    peer: str
    example: tuple
    kind: str = ".*"
    says: str = ""
    word: str = ".*"
    has: str = ".*"
    some: str = ""
    finding: str = ""

    def explains(self, found) -> bool:
        return bool(
            re.fullmatch(self.kind, found.kind)
            and re.search(self.says, found.detail)
            and re.fullmatch(self.word, found.statement.name)
            and any(re.fullmatch(self.has, each.name) for each in found.program)
            and re.search(self.some, source(found.program, self.engine))
        )


def do(name, target="", *operands, mode="", **settings):
    """A Statement."""
    return Statement(name, target, operands, tuple((key, str(value)) for key, value in settings.items()), mode)


def leaf(data, name="a", grad=True):
    return do("leaf", name, data=data, grad=grad)


def back(name, up="None", retain="False"):
    return do("backward", "", name, up=up, retain=retain)


A = leaf("np.array([1.0, 2.0], 'f8')")
NONE = leaf("np.zeros((0, 3), 'f8')")
ONE = leaf("np.array(1.0, 'f8')")

TENSOR = [
    Difference(
        "softmax and log_softmax of nothing",
        "tensor",
        "(reference|torch)",
        (NONE, do("softmax", "b", "a", axis=0)),
        "raised alone",
        "zero-size array to reduction operation maximum",
        "(log_)?softmax",
        finding="2.12",
    ),
    Difference(
        "the mean of no losses, backward",
        "tensor",
        "(reference|torch)",
        (NONE, do("mse_loss", "b", "a", "a", axis=0), back("b")),
        "no sentence",
        "ZeroDivisionError.* division by zero",
        has="mse_loss|bce_with_logits|cross_entropy",
        finding="2.12",
    ),
    Difference(
        "cat along an axis that is not there",
        "tensor",
        "(reference|torch)",
        (ONE, do("cat", "b", "a", "a", axis=0)),
        "no sentence",
        "modulo by zero|tuple index out of range",
        "cat|stack",
        finding="2.12",
    ),
    Difference(
        "cumsum of one number gives one more axis",
        "tensor",
        "(reference|torch)",
        (ONE, do("cumsum", "b", "a", axis=0)),
        "did not raise|shape",
        word="cumsum",
        finding="2.12",
    ),
    Difference(
        "requires_grad = False on a result",
        "tensor",
        "reference",
        (A, do("neg", "b", "a"), do("requires_grad =", "", "b", flag=False)),
        "did not raise",
        "only a leaf can stop",
        finding="2.5",
    ),
    Difference(
        "x[…] = values of one more axis",
        "tensor",
        "(reference|torch)",
        (A, do("neg", "b", "a"), do("put", "", "b", "a", key="0", mode="no_grad")),
        "no sentence|raised alone",
        "setting an array element with a sequence|SetItem",
        has="put",
        finding="2.9",
    ),
    Difference(
        "a tensor keeps the order of its array, so that flatten copies",
        "tensor",
        "(reference|torch)",
        (
            leaf("np.array([[1.0, 2.0], [3.0, 4.0]]).T"),
            do("flatten", "b", "a"),
            do("imul number", "", "a", mode="no_grad", k=2),
        ),
        "value|gradient|raised alone|did not raise",
        has="flatten|reshape|squeeze|unsqueeze",
        some="\\.T|\\[::-1\\]|np.array\\(\\[\\[\\[",
        finding="2.11",
    ),
    Difference(
        "flip is a view",
        "tensor",
        "(reference|torch)",
        (A, do("flip", "b", "a", axis=0), do("imul number", "", "a", mode="no_grad", k=2)),
        "value|gradient|raised alone|requires_grad|did not raise",
        says="",
        has="flip",
        finding="2.11",
    ),
    Difference(
        "the norm of zeros has a gradient of NaN",
        "tensor",
        "(reference|torch)",
        (leaf("np.zeros(2)"), do("norm", "b", "a"), back("b")),
        "gradient|value",
        "nan",
        has="norm",
        finding="2.7",
    ),
    Difference(
        "a tensor that was broadcast is changed in place",
        "tensor",
        "(reference|torch)",
        (A, do("expand", "b", "a", mode="no_grad", shape=(2, 2)), do("imul number", "", "b", k=2)),
        "no sentence",
        "destination is read-only",
        has="expand|mean|sum|grad|grad of",
        finding="new",
    ),
]


TENSOR += [
    Difference(
        "retain_grad, then in place",
        "tensor",
        "(reference|torch)",
        (A, do("neg", "b", "a"), do("retain_grad", "", "b"), do("imul number", "", "b", k=2), back("b", "np.ones(2)")),
        "gradient",
        has="retain_grad",
        finding="2.4",
    ),
    Difference(
        "x[[i, i]] = v: a value that another one replaced gets a gradient",
        "tensor",
        "reference",
        (
            A,
            do("neg", "b", "a"),
            leaf("np.array([5.0, 6.0])", "c"),
            do("put", "", "b", "c", key="np.array([0, 0], int)"),
            back("b", "np.ones(2)"),
        ),
        "gradient|value",
        has="put",
        finding="new",
    ),
    Difference(
        "maximum of NaN",
        "tensor",
        "torch",
        (leaf("np.array([nan])"), do("maximum", "b", "a", "a"), back("b")),
        "gradient",
        has="maximum|minimum",
        finding="2.7",
    ),
]


def torch(reason, *program, **more):
    return Difference(reason, "tensor", "torch", program, **more)


TORCH = [
    torch(
        "backward twice raises, also where nothing was saved",
        A,
        do("neg", "b", "a"),
        back("b", "np.ones(2)"),
        back("b", "np.ones(2)"),
        kind="raised alone",
        says="freed what it needs",
    ),
    torch(
        "in place on a tensor with views raises",
        A,
        do("neg", "b", "a"),
        do("reshape", "c", "b", shape=(2, 1)),
        do("imul number", "", "b", k=2),
        kind="raised alone",
        says="shares this memory",
    ),
    torch(
        "in place on a result that its own or another rule saved raises at backward, where PyTorch saved a copy or another number",
        A,
        do("neg", "b", "a"),
        do("ipow", "", "b", k=2),
        back("b", "np.ones(2)"),
        kind="raised alone",
        says="changed in place",
        word="backward|threads|grad",
    ),
    torch(
        "PyTorch saved what engine 2 did not: the reference says that the gradient is right",
        leaf("np.array([1.0])"),
        do("max", "b", "a", axis=None, keepdims=True),
        do("idiv", "", "b", k=2),
        back("b"),
        kind="did not raise",
        says="modified by an inplace operation",
    ),
    torch(
        "PyTorch refuses changes of a view of a leaf, or made in no_grad, and those where source and target overlap",
        leaf("np.array([1.0, 2.0])", grad=False),
        do("put", "", "a", "a", key="np.array([0, 0], int)"),
        kind="did not raise",
        says="view was created in no_grad|a view of a leaf|single memory location|is a view and",
    ),
    torch(
        "matmul and cat promote float32 and float64",
        leaf("np.ones((2, 2), 'f4')"),
        leaf("np.ones((2, 2))", "b"),
        do("matmul", "c", "a", "b"),
        kind="did not raise",
        says="dtype|expected scalar type",
    ),
    torch(
        "one number of float64 makes float32 float64, as in NumPy",
        leaf("np.ones(2, 'f4')"),
        leaf("np.array(1.0)", "b"),
        do("mul", "c", "a", "b"),
        kind="dtype",
        says="float64 for float32",
    ),
    torch(
        "an axis of a tensor that has none is refused, as in NumPy",
        ONE,
        do("flip", "b", "a", axis=0),
        kind="raised alone",
        says="out of bounds for array of dimension 0|cannot select an axis|no axis",
    ),
    torch(
        "requires_grad = True on what has it already",
        A,
        do("neg", "b", "a"),
        do("requires_grad =", "", "b", flag=True),
        kind="did not raise",
        says="only change requires_grad flags",
    ),
    torch(
        "zero_ makes a constant; PyTorch records it, with gradients of 0",
        A,
        do("neg", "b", "a"),
        do("zero_", "", "b"),
        kind="requires_grad|gradient|did not raise",
        has="zero_",
    ),
    torch(
        "a gradient that somebody holds is not changed by the next backward",
        A,
        back("a", "np.ones(2)"),
        do("grad of", "b", "a"),
        back("a", "np.ones(2)"),
        kind="value|gradient",
        has="grad of",
    ),
    torch(
        "|x| has no slope at NaN; PyTorch says 0",
        leaf("np.array([nan])"),
        do("abs", "b", "a"),
        back("b"),
        kind="gradient",
        says="nan",
        has="abs",
    ),
    torch(
        "cat takes tensors of as many axes; PyTorch lets an empty vector pass",
        leaf("np.zeros(0)"),
        leaf("np.zeros((2, 3))", "b"),
        do("cat", "c", "a", "b", axis=0),
        kind="raised alone",
        says="same number of dimensions",
    ),
    torch(
        "binary cross-entropy of an infinite logit is NaN: ∞ − ∞",
        leaf("np.array([inf])"),
        do("bce_with_logits", "b", "a", t="np.array([0.0])"),
        kind="value|gradient",
        says="nan",
        has="bce_with_logits",
    ),
]

TORCH += [
    torch(
        "grad() touches nobody's grad, also not where retain_grad asked",
        A,
        do("neg", "b", "a"),
        do("retain_grad", "", "b"),
        do("grad", "c", "b", "b", up="np.ones(2)", retain=True, create=False, unused=True),
        kind="gradient",
        says="^None for",
        has="retain_grad",
    ),
]

TORCH += [
    torch(
        "where the largest number is NaN, the NaNs share the gradient; PyTorch gives them 0, NaN or all of it",
        leaf("np.array([nan, 1.0, nan])"),
        do("max", "b", "a", axis=None, keepdims=False),
        back("b"),
        kind="value|gradient",
        has="max|min",
        some="nan|inf|sqrt|log|power|\\*\\*|/",
    ),
    torch(
        "the gradient of a linear function requires none, also under create_graph",
        A,
        do("pow number", "b", "a", k="0"),
        do("grad", "c", "b", "a", up="np.ones(2)", retain=True, create=True, unused=True),
        kind="requires_grad",
        has="grad",
    ),
    torch(
        "a gradient of a gradient needs fewer of the saved numbers than PyTorch's",
        leaf("np.ones((2, 3))"),
        do("cross_entropy", "b", "a", labels="np.array([0, 1], int)"),
        do("grad", "c", "b", "a", up="None", retain=True, create=True, unused=True),
        back("b"),
        back("c", "np.ones((2, 3))"),
        kind="did not raise",
        says="a second time",
        has="grad",
    ),
    torch(
        "x[i, :, [j, k]]: the axis of the indices comes first, as in NumPy",
        leaf("np.arange(6.0).reshape(1, 2, 3)"),
        do("index", "b", "a", key="0, :, np.array([1, 2], int)"),
        kind="value|shape|gradient|did not raise|raised alone",
        has="index|put|put number",
        some="\\[[^\\[]*[0-9:], .*np.array",
    ),
    torch(
        "a number of a vector is in memory of its own, as in NumPy",
        A,
        do("index", "b", "a", key="0"),
        do("imul number", "", "a", mode="no_grad", k=2),
        kind="value|gradient",
        has="index",
    ),
    torch(
        "a view that was taken before requires_grad has no gradient",
        leaf("np.array([1.0, 2.0])", grad=False),
        do("reshape", "b", "a", shape=(2, 1)),
        do("requires_grad_", "", "a", flag=True),
        do("neg", "c", "b"),
        kind="requires_grad",
        has="requires_grad(_| =)",
    ),
]

NETCL = [
    Difference(
        "one array of indices stands alone among slices",
        "netcl",
        "reference",
        (leaf("np.ones((3, 3), 'f4')"), do("index", "b", "a", key="1, np.array([0, 1], int)")),
        "raised alone",
        "index array stands alone",
    ),
    Difference(
        "a result written before backward",
        "netcl",
        "reference",
        (
            leaf("np.ones(3, 'f4')"),
            do("tanh", "b", "a"),
            do("write", "", "b", data="np.zeros(3)"),
            back("b", "np.ones(3)", "True"),
        ),
        "gradient",
        has="write",
        finding="3.1",
    ),
    Difference(
        "nothing cut into parts",
        "netcl",
        "reference",
        (leaf("np.zeros((0, 3), 'f4')"), do("chunk", "b", "a", n=2, axis=0)),
        "no sentence",
        "list index out of range|modulo by zero|division by zero",
        "split|chunk",
        finding="3.9",
    ),
    Difference(
        "0 · NaN within a compiled chain is NaN; the reference sees that nothing depends on it",
        "netcl",
        "reference",
        (
            leaf("np.zeros(0, 'f4')", grad=False),
            leaf("np.array(1.0, 'f4')", "b"),
            do(
                "jit_compile",
                "c",
                "a",
                "b",
                chain="ag.maximum(u, nan * v) + u",
                numpy="maximum(a, nan * b) + a",
            ),
            back("c", "np.ones(0)", "True"),
        ),
        "gradient",
        "^nan",
        has="jit_compile",
        some="nan",
    ),
    Difference(
        "cat and stack of tensors of other shapes",
        "netcl",
        "(reference|tensor)",
        (leaf("np.ones((3, 1), 'f4')"), leaf("np.array(1.0, 'f4')", "b"), do("cat", "c", "a", "b", axis=0)),
        "no sentence",
        "tuple index out of range",
        "cat|stack",
        finding="new",
    ),
    Difference(
        "broadcast_to a shape that does not fit",
        "netcl",
        "(reference|tensor)",
        (leaf("np.ones((3, 1), 'f4')"), do("expand", "b", "a", shape=(2, 3, 2, 7))),
        "no sentence",
        "cannot be broadcast to a single shape",
        "expand",
        finding="new",
    ),
    Difference(
        "attention to nothing",
        "netcl",
        "reference",
        (leaf("np.zeros((3, 0), 'f4')"), do("attention", "b", "a")),
        "no sentence",
        "float division by zero",
        "attention",
        finding="3.9",
    ),
    Difference(
        "a mask that does not broadcast",
        "netcl",
        "reference",
        (leaf("np.zeros(3, 'f4')"), do("masked_fill", "b", "a", mask="np.ones((3, 2), bool)")),
        "no sentence",
        "cannot be broadcast to a single shape",
        "masked_fill",
        finding="new",
    ),
]

BOTH = [
    Difference(
        "threads lose gradients in engine 3",
        "netcl",
        "(reference|tensor)",
        (),
        "gradient",
        has="threads",
        finding="3.3",
    ),
    Difference(
        "maximum of NaN",
        "netcl",
        "tensor",
        (leaf("np.array([nan], 'f4')"), do("maximum", "b", "a", "a"), back("b")),
        "gradient",
        has="maximum|minimum|relu|max|min|clamp|jit_compile",
        finding="2.7, 3.8",
    ),
    Difference(
        "|x| has no slope at NaN; engine 3 says 0, as PyTorch",
        "netcl",
        "tensor",
        (leaf("np.array([nan], 'f4')"), do("abs", "b", "a"), back("b")),
        "gradient",
        has="abs|l1_loss",
    ),
    Difference(
        "C's pow(−∞, ½) is ∞, NumPy takes the root of −∞",
        "netcl",
        "tensor",
        (leaf("np.array([-inf], 'f4')"), do("pow number", "b", "a", k="0.5")),
        "value|gradient",
        has="pow( number)?",
    ),
    Difference(
        "an axis of a tensor that has none is refused",
        "netcl",
        "(reference|tensor)",
        (leaf("np.array(1.0, 'f4')"), do("cumsum", "b", "a", axis=0)),
        "raised alone",
        "shape \\(\\) has no such axes",
    ),
    Difference(
        "losses and softmax of nothing in engine 2",
        "netcl",
        "tensor",
        (leaf("np.zeros((0, 3), 'f4')"), do("softmax", "b", "a", axis=0)),
        "did not raise",
        "division by zero|zero-size array",
        finding="2.12",
    ),
    Difference(
        "one array of indices stands alone among slices in engine 3",
        "netcl",
        "tensor",
        (leaf("np.ones((3, 3), 'f4')"), do("index", "b", "a", key="1, np.array([0, 1], int)")),
        "raised alone",
        "index array stands alone",
    ),
]

DIFFERENCES = [*BOTH, *TENSOR, *TORCH, *NETCL]


def explain(engine, peer):
    """A function of a Disagreement: the reason for which it may be, or ""."""
    known = [each for each in DIFFERENCES if each.engine == engine and re.fullmatch(each.peer, peer)]
    return lambda found: next((each.reason for each in known if each.explains(found)), "")
