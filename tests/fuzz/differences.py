"""What may differ, and why: data, each entry with the shortest program that shows it. A test runs each, and one that no longer shows goes."""

import re

from fuzz.difference import (
    Difference,
    has_indices,
    infinite,
    is_recorded,
    is_twice,
    nan,
    of_several,
    one_number,
    to_the_0,
    zero,
)

TENSOR = [
    Difference(
        "requires_grad = False on a result is a plain attribute: it is refused where the tensor is used next",
        *("tensor", "(reference|torch)", "did not raise"),
        "a = leaf; b = neg a; requires_grad = b flag=False",
        says="only a leaf can stop|leaf",
        word="requires_grad =",
    ),
]


def torch(reason, kind, example, **more):
    return Difference(reason, "tensor", "torch", kind, example, **more)


REFUSED = [  # errors of one of the two
    torch(
        "backward twice raises, also where nothing was saved",
        "raised alone",
        "a = leaf; b = neg a; backward b; backward b",
        says="freed what it needs",
    ),
    torch(
        "a gradient of a gradient needs fewer of the saved numbers than PyTorch's",
        "did not raise",
        "a = leaf data=np.ones((2,3)); b = cross_entropy a labels=np.array([0,1],int); c = grad b a up=None create=True; backward b up=None; backward c up=np.ones((2,3))",
        says="a second time",
        has="grad",
        met=is_recorded,
    ),
    torch(
        "in place on a tensor with views raises",
        "raised alone",
        "a = leaf; b = neg a; c = reshape b shape=(2,1); imul number b k=2",
        says="shares this memory",
    ),
    torch(
        "in place on what expand gives raises, as in NumPy: one number in memory stands for several",
        "raised alone",
        "a = leaf; b = expand a shape=(3,2); no_grad: zero_ b",
        says="its memory is read-only",
        has="expand",
    ),
    torch(
        "in place on a result that its own or another rule saved raises at backward, where PyTorch saved a copy or another number",
        "raised alone",
        "a = leaf; b = neg a; ipow b k=2; backward b",
        says="changed in place",
        word="backward|threads|grad",
    ),
    torch(
        "PyTorch saved what engine 2 did not: the reference says that the gradient is right",
        "did not raise",
        "a = leaf data=np.ones(1); b = max a axis=None keepdims=True; idiv b k=2; backward b up=None",
        says="modified by an inplace operation",
    ),
    torch(
        "PyTorch refuses changes of a view of a leaf, or made in no_grad, and those where source and target overlap",
        "did not raise",
        "a = leaf grad=False; put a a key=np.array([0,0],int)",
        says="view was created in no_grad|a view of a leaf|single memory location|is a view and",
    ),
    torch(
        "a checkpoint whose input was frozen gives no gradient; PyTorch's computes it again, and refuses",
        "did not raise",
        "a = leaf; b = checkpoint {0}.tanh() * {0} a; requires_grad_ a flag=False; backward b",
        says="^torch says CheckpointError",
        has="requires_grad.*",
    ),
    torch(
        "matmul and cat promote float32 and float64",
        "did not raise",
        "a = leaf data=np.ones((2,2),'f4'); b = leaf data=np.ones((2,2)); c = matmul a b",
        says="dtype|expected scalar type",
        has="matmul|cat|stack|put|index|where|iadd|isub|imul|mse_loss",
        met=of_several,
    ),
    torch(
        "an axis of a tensor that has none is refused, as in NumPy",
        "raised alone",
        "a = leaf data=np.array(1.0); b = flip a axis=0",
        says="out of bounds for array of dimension 0|cannot select an axis|no axis",
    ),
    torch(
        "requires_grad = True on what has it already",
        "did not raise",
        "a = leaf; b = neg a; requires_grad = b flag=True",
        says="only change requires_grad flags",
    ),
    torch(
        "cat takes tensors of as many axes; PyTorch lets an empty vector pass",
        "raised alone",
        "a = leaf data=np.zeros(0); b = leaf data=np.zeros((2,3)); c = cat a b axis=0",
        says="same number of dimensions|is out of bounds",
        has="cat",
        met=lambda settings, *numbers: any(x.shape == (0,) for x in numbers),
    ),
]

NUMBERS = [  # numbers, or what a tensor says of itself
    torch(
        "one number of float64 makes float32 float64, as in NumPy",
        "dtype",
        "a = leaf data=np.ones(2,'f4'); b = leaf data=np.array(1.0); c = mul a b",
        says="float64 for float32",
        met=of_several,
    ),
    torch(
        "zero_ makes a constant; PyTorch records it, with gradients of 0",
        "requires_grad|gradient|did not raise",
        "a = leaf; b = neg a; zero_ b",
        has="zero_",
    ),
    torch(
        "a gradient that somebody holds is not changed by the next backward",
        "value|gradient",
        "a = leaf; backward a; b = grad of a; backward a",
        has="grad of",
    ),
    torch(
        "grad() touches nobody's grad, also not where retain_grad asked",
        "gradient",
        "a = leaf; b = neg a; retain_grad b; c = grad b b",
        says="^None for",
        word="grad",
        has="retain_grad",
    ),
    torch(
        "the gradient of a linear function requires none, also under create_graph",
        "requires_grad",
        "a = leaf; b = pow number a k=0; c = grad b a create=True",
        has="grad",
        met=is_recorded,
    ),
    torch(
        "a view that was taken before requires_grad has no gradient",
        "requires_grad|gradient",
        "a = leaf grad=False; b = reshape a shape=(2,1); requires_grad_ a flag=True; c = neg b",
        says="with is_leaf|for None$",
        has="requires_grad(_| =)",
    ),
    torch(
        "x[i, :, [j, k]]: the axis of the indices comes first, as in NumPy",
        "value|shape|gradient|did not raise|raised alone",
        "a = leaf data=np.arange(6.0).reshape(1,2,3); b = index a key=0,:,np.array([1,2],int)",
        has="index|put|put number",
        met=lambda settings, *numbers: has_indices(settings) and "," in settings["key"].split("np.array")[0],
    ),
    torch(
        "of two numbers that are assigned to one place only the last one is there, and gets its gradient",
        "gradient",
        "a = leaf data=np.ones((1,1)); b = log a; put b a key=np.array([0,0],int); backward b up=np.ones((1,1))",
        has="put",
        met=is_twice,
    ),
    torch(
        "a number of a vector is in memory of its own, as in NumPy",
        "value|gradient",
        "a = leaf; b = index a key=0; no_grad: imul number a k=2",
        has="index",
        met=one_number,
    ),
    torch(
        "|x| has no slope at NaN; PyTorch says 0",
        "gradient",
        "a = leaf data=np.array([np.nan]); b = abs a; backward b up=None",
        has="abs",
        met=nan,
        only="ours",
    ),
    torch(
        "x⁰ has the slope 0 / x, which is NaN at NaN, and where NaN arrives; PyTorch says 0",
        "gradient",
        "a = leaf data=np.array([np.nan]); b = pow number a k=0.0; backward b up=None",
        has="pow( number)?|ipow",
        met=to_the_0,
        only="ours",
    ),
    torch(
        "what was not chosen has no gradient; PyTorch multiplies a mask, and 0 · ∞, or a NaN that equals nothing, gives NaN",
        "value|gradient",
        "a = leaf data=np.array([1.0,2.0]); b = max a axis=None keepdims=False; c = div number b k=0.0; backward c up=None",
        has="max|min|norm|abs",
        only="theirs",
    ),
    torch(
        "PyTorch has no power of −∞ with a fraction, NumPy has",
        "value|gradient",
        "a = leaf data=np.array([-np.inf]); b = pow number a k=0.5; backward b up=None",
        has="pow( number)?|ipow",
        met=infinite,
    ),
    torch(
        "binary cross-entropy of an infinite logit is NaN: ∞ − ∞",
        "value|gradient",
        "a = leaf data=np.array([np.inf]); b = bce_with_logits a t=np.array([0.0])",
        says="nan",
        has="bce_with_logits",
        met=infinite,
    ),
]


def netcl(reason, peer, kind, example, **more):
    return Difference(reason, "netcl", peer, kind, example, **more)


NETCL = [
    netcl(
        "one array of indices stands alone among slices",
        *("(reference|tensor)", "raised alone"),
        "a = leaf data=np.ones((3,3),'f4'); b = index a key=1,np.array([0,1],int)",
        says="index array stands alone",
    ),
    netcl(
        "an axis of a tensor that has none is refused",
        *("(reference|tensor)", "raised alone"),
        "a = leaf data=np.array(1.0,'f4'); b = cumsum a axis=0",
        says="shape \\(\\) has no such axes",
    ),
    netcl(
        "C's pow(−∞, ½) is ∞, NumPy takes the root of −∞",
        *("(reference|tensor)", "value|gradient"),
        "a = leaf data=np.array([-np.inf],'f4'); b = pow number a k=0.5",
        has="pow( number)?",
        met=infinite,
    ),
    netcl(
        "0 · NaN and 0 · ∞ within a compiled chain are NaN; the reference sees that nothing depends on it",
        *("reference", "gradient"),
        "a = leaf data=np.zeros(0,'f4') grad=False; b = leaf data=np.array(1.0,'f4'); c = jit_compile a b chain=ag.maximum(u,nan*v)+u numpy=maximum(a,nan*b)+a; backward c up=np.ones(0)",
        has="jit_compile",
        only="ours",
        met=lambda settings, *numbers: "nan" in settings["chain"] or infinite(settings, *numbers),
    ),
    netcl(
        "|x| has no slope at NaN; engine 3 says 0, as PyTorch",
        *("tensor", "gradient"),
        "a = leaf data=np.array([np.nan],'f4'); b = abs a; backward b up=None",
        has="abs|l1_loss",
        met=nan,
        only="theirs",
    ),
    netcl(
        "|x| has the slope 0 at 0 and the gradient 0 · ∞, as in PyTorch; in engine 2 it is 0, whatever comes",
        *("tensor", "gradient"),
        "a = leaf data=np.array([0.0],'f4'); b = abs a; c = log b; backward c up=None",
        has="abs|l1_loss",
        met=zero,
        only="ours",
    ),
    netcl(
        "x⁰ has the slope 0 / x, which is NaN at NaN, and where NaN arrives; engine 3 says 0, as PyTorch",
        *("tensor", "gradient"),
        "a = leaf data=np.array([np.nan],'f4'); b = pow number a k=0.0; backward b up=None",
        has="pow( number)?",
        met=to_the_0,
        only="theirs",
    ),
    netcl(
        "where the largest number is NaN, all get NaN, as in PyTorch; in engine 2 the NaNs share the gradient",
        *("tensor", "gradient"),
        "a = leaf data=np.array([np.nan,1.0],'f4'); b = max a axis=None keepdims=False; backward b up=None",
        has="max|min",
        met=nan,
        only="ours",
    ),
]

DIFFERENCES = [*TENSOR, *REFUSED, *NUMBERS, *NETCL]


def explain(engine, peer):
    "A function of a Disagreement: the reason for which it may be, or ."
    known = [each for each in DIFFERENCES if each.engine == engine and re.fullmatch(each.peer, peer)]
    return lambda found: next((each.reason for each in known if each.explains(found)), "")
