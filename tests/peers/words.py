"""The peers' names that our engines know, as a section of docs/peers.md."""

import importlib
import re

# What a program imports, what it imports instead, and the modules and classes whose names it finds there.
IMPORTS = [
    (
        "import torch",
        "import tinygrad_cl.tensor.torch as torch",
        "torch torch.Tensor torch.nn torch.nn.functional torch.optim torch.autograd",
    ),
    (
        "from mxnet import autograd, np, npx",
        "from tinygrad_cl.tensor.mxnet import autograd, np, npx",
        "mxnet.autograd mxnet.np mxnet.np.ndarray mxnet.npx",
    ),
    ("from tinytorch import Tensor", "from tinygrad_cl.tensor.tinytorch import Tensor", "tinytorch tinytorch.Tensor"),
    ("from micrograd.engine import Value", "from tinygrad_cl.micrograd import Value", "micrograd.Value"),
]
DIFFERENT = {
    "PyTorch": [
        "`x.data` is the NumPy array. `x.data -= …` and `x.data = …` work as there, but a graph that saved the old numbers notices the first.",
        "`F.gelu` asks for `approximate='tanh'`: the engine has no erf. `norm` has p = 2 alone, a loss the reductions mean and sum.",
        "`x.size` without a call is a number. `x.dtype` is NumPy's. A tensor prints as `Tensor(…)`. `sign` of NaN is NaN.",
        "A Function has one result. `clip_grad_norm_` divides by the norm, without 10⁻⁶ added.",
        "Random numbers follow `manual_seed`, but are NumPy's.",
        "In place on a tensor that has views is refused while recording: `clone()` first.",
        "There is one device, and what is not listed is an AttributeError that says so.",
    ],
    "MXNet": [
        "Outside of `record()` nothing is recorded for the arrays of `np`; for lesson 04's `NDArray`, recording is on from the start.",
        "`attach_grad()` makes a leaf of a result, as in MXNet 1; MXNet 2 keeps what it came from. There is no training mode.",
    ],
    "TinyTorch": [
        "Only leaves get a `grad`, there also the results. `numpy()` of what requires a gradient is refused: `detach()` first.",
    ],
    "micrograd": [
        "A node keeps numbers, not a closure: `Value(data, children, op)` is refused. `_backward` is there to be called, not to be set.",
        "`<`, `<=`, `>`, `>=` compare the numbers; `==` asks, as there, whether it is the same node.",
    ],
}
TEXT = """## Programs under the peers' names

A program that needs no more than these names runs with nothing changed but its import. What a name means there it means
here, or it is refused in a sentence; what differs all the same is listed below.

| the program's import | here |
|---|---|
{imports}

| where | names of the peer, beside the engine's own |
|---|---|
{names}

What differs by design:

{different}
"""


def found(where):
    """The module or class of ours for a name as the peer's programs write it."""
    package, *rest = where.split(".")
    thing = importlib.import_module(
        "tinygrad_cl.micrograd" if package == "micrograd" else f"tinygrad_cl.tensor.{package}"
    )
    for name in rest:
        thing = getattr(thing, name)
    return thing


def names(where):
    """What it offers; of a class, what it has beside or instead of the engine's."""
    thing = found(where)
    if isinstance(thing, type):
        offered = [name for each in thing.__mro__ if each.__module__ in OURS for name in vars(each)]
        return sorted({name for name in offered if re.fullmatch(r"[a-z]\w*|_prev|_op|_backward|_grad_fn", name)})
    return sorted(dir(thing)) if where == "torch" else thing.__all__


OURS = {
    "tinygrad_cl.micrograd",
    "tinygrad_cl.tensor.mxnet.ndarray",
    "tinygrad_cl.tensor.mxnet.np",
    "tinygrad_cl.tensor.tinytorch",
    "tinygrad_cl.tensor.torch.reductions",
    "tinygrad_cl.tensor.torch.tensor_class",
}


def section():
    """The section's text."""
    return TEXT.format(
        imports="\n".join(f"| `{theirs}` | `{ours}` |" for theirs, ours, _ in IMPORTS),
        names="\n".join(f"| {each} | {', '.join(names(each))} |" for *_, places in IMPORTS for each in places.split()),
        different="\n".join(f"- {peer}: {sentence}" for peer, said in DIFFERENT.items() for sentence in said),
    )
