"""The phrasebook of the fuzzer: each operation in the words of each engine.

A row of TABLE is a word: its name | the function of `draws` that draws its operands and settings | engine 2 | NumPy, as the reference
reads it | engine 3 | PyTorch | kind, weight, flat. ~ is the text of engine 2, - says that an engine lacks the word. {0} and {1} are
variables of the program, {axis} and its like settings, all of them Python source.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fuzz import draws


@dataclass(frozen=True)
class Word:
    """A row.

    draw      (operands, settings) from a Draw; None where nothing fits
    kind      "op", a new tensor; "cut", one without gradient; "change", in place; and what the reference knows by itself
    weight    how often
    flat      how many of the first operands get no gradient: a condition
    """

    name: str
    draw: Callable
    tensor: str | None
    numpy: str
    netcl: str | None
    torch: str | None
    kind: str = "op"
    weight: float = 1.0
    flat: int = 0


TABLE = """
add          | two        | {0} + {1}                          | ~                              | ~                                  | ~                                  | weight=2
sub          | two        | {0} - {1}                          | ~                              | ~                                  | ~                                  | weight=2
mul          | two        | {0} * {1}                          | ~                              | ~                                  | ~                                  | weight=2
div          | two        | {0} / {1}                          | ~                              | ~                                  | ~                                  | weight=2
pow          | two        | {0} ** {1}                         | power({0}, {1})                | ~                                  | ~                                  | weight=0.7
matmul       | product    | {0} @ {1}                          | matmul({0}, {1})               | ~                                  | ~                                  | weight=2
add number   | number     | {0} + {k}                          | ~                              | ~                                  | ~                                  |
sub from number | number     | {k} - {0}                          | ~                              | ~                                  | ~                                  |
mul number   | number     | {0} * {k}                          | ~                              | ~                                  | ~                                  |
div number   | number     | {0} / {k}                          | ~                              | ~                                  | ~                                  |
div from number | number     | {k} / {0}                          | ~                              | ~                                  | ~                                  |
pow number   | number     | {0} ** {k}                         | power({0}, {k})                | ~                                  | ~                                  | weight=1.5
number pow   | number     | ({k}) ** {0}                       | power({k}, {0})                | ~                                  | ~                                  |
exp          | one        | {0}.exp()                          | np.exp({0})                    | ag.exp({0})                        | ~                                  |
log          | one        | {0}.log()                          | np.log({0})                    | ag.log({0})                        | ~                                  |
log1p        | one        | {0}.log1p()                        | np.log1p({0})                  | ag.log1p({0})                      | ~                                  |
sqrt         | one        | {0}.sqrt()                         | np.sqrt({0})                   | ag.sqrt({0})                       | ~                                  |
sin          | one        | {0}.sin()                          | np.sin({0})                    | ag.sin({0})                        | ~                                  |
cos          | one        | {0}.cos()                          | np.cos({0})                    | ag.cos({0})                        | ~                                  |
tanh         | one        | {0}.tanh()                         | np.tanh({0})                   | ag.tanh({0})                       | ~                                  |
relu         | one        | {0}.relu()                         | relu({0})                      | ag.relu({0})                       | ~                                  |
sigmoid      | one        | {0}.sigmoid()                      | sigmoid({0})                   | ag.sigmoid({0})                    | ~                                  |
abs          | one        | {0}.abs()                          | absolute({0})                  | ag.abs({0})                        | ~                                  |
neg          | one        | -{0}                               | ~                              | ~                                  | ~                                  |
gelu tanh    | one        | {0}.gelu()                         | gelu_tanh({0})                 | -                                  | F.gelu({0}, approximate='tanh')    |
gelu         | one        | -                                  | gelu({0})                      | ag.gelu({0})                       | F.gelu({0})                        |
rsqrt        | one        | -                                  | 1 / np.sqrt({0})               | ag.rsqrt({0})                      | {0}.rsqrt()                        |
reciprocal   | one        | -                                  | 1 / {0}                        | ag.reciprocal({0})                 | {0}.reciprocal()                   |
square       | one        | -                                  | {0} * {0}                      | ag.square({0})                     | {0}.square()                       |
softplus     | one        | -                                  | softplus({0})                  | ag.softplus({0})                   | F.softplus({0}, threshold=1e9)     |
swish        | one        | -                                  | {0} * sigmoid({0})             | ag.swish({0})                      | F.silu({0})                        |
elu          | one        | -                                  | elu({0})                       | ag.elu({0})                        | F.elu({0})                         |
leaky_relu   | one        | -                                  | leaky_relu({0})                | ag.leaky_relu({0})                 | F.leaky_relu({0})                  |
clamp        | clamped    | -                                  | clamp({0}, {low}, {high})      | ag.clamp({0}, {low}, {high})       | {0}.clamp({low}, {high})           |
maximum      | two        | {0}.maximum({1})                   | maximum({0}, {1})              | ag.maximum({0}, {1})               | torch.maximum({0}, {1})            |
minimum      | two        | {0}.minimum({1})                   | minimum({0}, {1})              | ag.minimum({0}, {1})               | torch.minimum({0}, {1})            |
where        | chosen     | where({0} > {k}, {1}, {2})         | where(re({0}) > {k}, {1}, {2}) | ag.where(ag.gt({0}, {k}), {1}, {2}) | torch.where({0} > {k}, {1}, {2})   | flat=1
sum          | reduced    | {0}.sum({axis}, keepdims={keepdims}) | np.sum({0}, axis={axis}, keepdims={keepdims}) | ag.sum({0}, {axis}, {keepdims})    | torch.sum({0}, axes({0}, {axis}), keepdim={keepdims}) | weight=3
mean         | reduced    | {0}.mean({axis}, keepdims={keepdims}) | np.mean({0}, axis={axis}, keepdims={keepdims}) | ag.mean({0}, {axis}, {keepdims})   | torch.mean({0}, axes({0}, {axis}), keepdim={keepdims}) | weight=1.5
max          | reduced    | {0}.max({axis}, keepdims={keepdims}) | amax({0}, axis={axis}, keepdims={keepdims}) | ag.max({0}, {axis}, {keepdims})    | torch.amax({0}, axes({0}, {axis}), keepdim={keepdims}) | weight=1.5
min          | reduced    | {0}.min({axis}, keepdims={keepdims}) | amin({0}, axis={axis}, keepdims={keepdims}) | ag.min({0}, {axis}, {keepdims})    | torch.amin({0}, axes({0}, {axis}), keepdim={keepdims}) |
var          | reduced    | {0}.var({axis}, keepdims={keepdims}) | var({0}, axis={axis}, keepdims={keepdims}) | -                                  | var({0}, axes({0}, {axis}), keepdim={keepdims}) |
norm         | one        | {0}.norm()                         | norm({0})                      | -                                  | ~                                  |
softmax      | rows       | {0}.softmax({axis})                | softmax({0}, {axis})           | ag.softmax({0}, {axis})            | ~                                  |
log_softmax  | rows       | {0}.log_softmax({axis})            | log_softmax({0}, {axis})       | ag.log_softmax({0}, {axis})        | ~                                  |
logsumexp    | rows       | -                                  | logsumexp({0}, {axis})         | ag.logsumexp({0}, {axis})          | {0}.logsumexp({axis})              |
layer_norm   | rows       | -                                  | layer_norm({0})                | ag.layer_norm({0})                 | F.layer_norm({0}, {0}.shape[-1:])  |
cumsum       | along      | {0}.cumsum({axis})                 | cumsum({0}, {axis})            | ag.cumsum({0}, {axis})             | ~                                  |
flip         | along      | {0}.flip({axis})                   | np.flip({0}, {axis}).copy()           | -                                  | ~                                  |
reshape      | reshaped   | {0}.reshape({shape})               | ~                              | ag.reshape({0}, {shape})           | ~                                  |
flatten      | one        | {0}.flatten()                      | {0}.reshape(-1)                | -                                  | {0}.flatten()[...]                 |
permute      | permuted   | {0}.permute({axes})                | np.transpose({0}, {axes})      | ag.transpose({0}, {axes})          | ~                                  |
transpose    | swapped    | {0}.transpose({i}, {j})            | np.swapaxes({0}, {i}, {j})     | -                                  | ~                                  |
T            | one        | {0}.T                              | np.transpose({0})              | ag.transpose({0})                  | {0}.permute(tuple(range({0}.ndim))[::-1]) |
mT           | one        | {0}.mT                             | np.swapaxes({0}, -1, -2)       | -                                  | ~                                  | weight=0.5
squeeze      | squeezed   | {0}.squeeze({axis})                | np.squeeze({0}, {axis})        | ag.squeeze({0}, {axis})            | squeeze({0}, {axis})               |
unsqueeze    | unsqueezed | {0}.unsqueeze({axis})              | np.expand_dims({0}, {axis})    | ag.unsqueeze({0}, {axis})          | ~                                  |
expand       | expanded   | {0}.expand({shape})                | np.broadcast_to({0}, {shape})  | ag.broadcast_to({0}, {shape})      | ~                                  |
cat          | equal      | cat([{0}, {1}], {axis})            | cat({0}, {1}, {axis})          | ag.cat([{0}, {1}], {axis})         | torch.cat([{0}, {1}], {axis})      |
stack        | equal      | stack([{0}, {1}], {axis})          | np.stack([{0}, {1}], {axis})   | ag.stack([{0}, {1}], {axis})       | torch.stack([{0}, {1}], {axis})    |
embedding    | table      | embedding({rows}, {0})             | ~                              | ag.embedding({0}, {rows})          | F.embedding(torch.tensor({rows}), {0}) |
cross_entropy | labelled   | cross_entropy({0}, {labels})       | ~                              | ag.cross_entropy({0}, {labels})    | F.cross_entropy({0}, torch.tensor({labels})) |
mse_loss     | equal      | mse_loss({0}, {1})                 | ~                              | ag.mse_loss({0}, {1})              | ~                                  |
l1_loss      | equal      | -                                  | l1_loss({0}, {1})              | ag.l1_loss({0}, {1})               | F.l1_loss({0}, {1})                |
bce_with_logits | targets    | binary_cross_entropy_with_logits({0}, {t}) | bce_with_logits({0}, {t})      | ag.bce_with_logits({0}, {t})       | F.binary_cross_entropy_with_logits({0}, torch.tensor({t}, dtype={0}.dtype)) |
index        | indexed    | {0}[{key}]                         | ~                              | ~                                  | {0}[known(np.s_[{key}])]           | weight=3
narrow       | narrowed   | -                                  | narrow({0}, {axis}, {start}, {length}) | ag.narrow({0}, {axis}, {start}, {length}) | {0}.narrow({axis}, {start}, {length}) |
chunk        | parted     | -                                  | chunk({0}, {n}, {axis})        | ag.chunk({0}, {n}, {axis})[0]      | {0}.chunk({n}, {axis})[0].clone()  |
split        | parted     | -                                  | split({0}, {n}, {axis})        | ag.split({0}, {n}, {axis})[0]      | {0}.split({n}, {axis})[0].clone()  |
masked_fill  | filled     | -                                  | masked_fill({0}, {mask}, 0.5)  | ag.masked_fill({0}, {mask}, 0.5)   | {0}.masked_fill(torch.tensor({mask}), 0.5) |
attention    | attended   | -                                  | attention({0})                 | attention({0}, {0}, {0})           | attention({0})                     |
linear       | layer      | -                                  | linear({0}, {1}, {activation}) | ag.linear({0}, {1}, activation={activation}) | linear({0}, {1}, {activation})     |
jit_compile  | compiled   | -                                  | {numpy}                        | compiled(lambda u, v: {chain}, {0}, {1}) | -                                  | weight=6
clone        | one        | {0}.clone()                        | {0}.copy()                     | -                                  | ~                                  |
detach       | one        | {0}.detach()                       | {0}                            | -                                  | ~                                  | cut
cast         | cast       | {0}.astype({dtype})                | cast({0}, {dtype})             | -                                  | {0}.to(dtypes[{dtype}], copy=True) |
checkpoint {0}.tanh() * {0} | one        | checkpoint(lambda u: u.tanh() * u, {0}) | np.tanh({0}) * {0}             | -                                  | checkpoint(lambda u: u.tanh() * u, {0}, use_reentrant=False) | weight=0.6
checkpoint ({0} * {0}).sum() + {0}.exp() | one        | checkpoint(lambda u: (u * u).sum() + u.exp(), {0}) | ({0} * {0}).sum() + np.exp({0}) | -                                  | checkpoint(lambda u: (u * u).sum() + u.exp(), {0}, use_reentrant=False) | weight=0.6
iadd         | two        | {0} += {1}                         | {0} + {1}                      | -                                  | ~                                  | change
isub         | two        | {0} -= {1}                         | {0} - {1}                      | -                                  | ~                                  | change
imul         | two        | {0} *= {1}                         | {0} * {1}                      | -                                  | ~                                  | change
idiv         | number     | {0} /= {k}                         | {0} / {k}                      | -                                  | ~                                  | change
imul number  | number     | {0} *= {k}                         | {0} * {k}                      | -                                  | ~                                  | change
ipow         | number     | {0} **= {k}                        | power({0}, {k})                | -                                  | ~                                  | change
zero_        | one        | {0}.zero_()                        | np.zeros_like({0})             | -                                  | ~                                  | change
put          | assigned   | {0}[{key}] = {1}                   | put({0}, np.s_[{key}], {1})    | -                                  | {0}[known(np.s_[{key}])] = {1}     | change
put number   | assigned_number | {0}[{key}] = {k}                   | put({0}, np.s_[{key}], {k})    | -                                  | {0}[known(np.s_[{key}])] = {k}     | change
write        | written    | -                                  | {data}                         | {0}.value.write({data})            | -                                  | write weight=6
leaf         | leaf       | Tensor({data}, requires_grad={grad}) | {data}                         | ag.tensor(Tensor.from_host(q, {data}), {grad}) | leaf({data}, {grad})               | leaf
backward     | root       | {0}.backward({up}, retain_graph={retain}) |                                | ag.Tape().backward({0}, {up})      | backward({0}, {up}, {retain})      | backward weight=6
threads      | root       | in_threads(lambda: {0}.backward({up}, retain_graph=True)) |                                | in_threads(lambda: ag.Tape().backward({0}, {up})) | in_threads(lambda: backward({0}, {up}, True)) | threads weight=0.3
grad         | gradient   | grad({0}, {1}, {up}, retain_graph={retain}, create_graph={create}, allow_unused={unused})[0] |                                | -                                  | grad({0}, {1}, {up}, {retain}, {create}, {unused}) | grad weight=3
grad of      | graded     | {0}.grad                           |                                | -                                  | ~                                  | take
clear        | graded     | {0}.grad = None                    |                                | ~                                  | ~                                  | clear
hook         | hooked     | {0}.register_hook(lambda g: {answer}) |                                | -                                  | ~                                  | hook weight=1.5
retain_grad  | wanting    | {0}.retain_grad()                  |                                | -                                  | ~                                  | retain weight=1.5
requires_grad_ | flagged    | {0}.requires_grad_({flag})         |                                | -                                  | ~                                  | ask
requires_grad = | flagged    | {0}.requires_grad = {flag}         |                                | -                                  | ~                                  | ask
"""


def word(row):
    """A row of the table as a Word."""
    name, draw, tensor, *others, more = [cell.strip() for cell in row.split(" |")]
    texts = [{"-": None, "~": tensor}.get(each, each) for each in [tensor, *others]]
    kind = next((each for each in more.split() if "=" not in each), "op")
    settings = {key: float(number) for key, number in [each.split("=") for each in more.split() if "=" in each]}
    return Word(name, getattr(draws, draw), *texts, kind, settings.get("weight", 1.0), int(settings.get("flat", 0)))


WORDS = [word(row) for row in TABLE.strip().splitlines()]
BY_NAME = {each.name: each for each in WORDS}

HEADERS = {
    "tensor": """
import numpy as np
from numpy import inf, nan

from fuzz.numbers import in_threads
from tinygrad_cl.tensor import *
""",
    "netcl": """
import contextlib

import numpy as np
from numpy import inf, nan

import tinygrad_cl.netcl.autograd as ag
from fuzz.numbers import in_threads
from tinygrad_cl.netcl.autograd import enable_grad, no_grad
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.nn.attention import scaled_dot_product_attention as attention

q = manager.default("auto").queue


def compiled(function, u, v):
    function = ag.jit_compile(function)
    for earlier in [(u, u), (v, u)]:  # their traces are not to be used again
        with contextlib.suppress(ValueError):
            function(*earlier)
    return function(u, v)
""",
    "torch": """
import numpy as np
import torch
import torch.nn.functional as F
from numpy import inf, nan
from torch import enable_grad, no_grad, where
from torch.utils.checkpoint import checkpoint

from fuzz.numbers import in_threads

dtypes = {"f4": torch.float32, "f8": torch.float64}


def leaf(data, grad):
    return torch.tensor(data.copy(), requires_grad=grad)


def up(gradient, x):
    return None if gradient is None else torch.tensor(gradient, dtype=x.dtype)


def backward(x, gradient, retain):
    x.backward(up(gradient, x), retain_graph=retain)


def grad(y, x, gradient, retain, create, unused):
    return torch.autograd.grad(y, x, up(gradient, y), retain_graph=retain, create_graph=create, allow_unused=unused)[0]


def axes(x, axis):
    return tuple(range(x.ndim)) if axis is None else axis


def var(x, axes, keepdim):
    return torch.var(x, axes, correction=0, keepdim=keepdim)


def squeeze(x, axis):
    if x.ndim and x.shape[axis] != 1:
        raise ValueError("no axis of length 1")
    return x.squeeze(axis)


def mse_loss(a, b):
    if a.shape != b.shape:
        raise ValueError("shapes differ")
    return F.mse_loss(a, b)


def known(key):
    if any(isinstance(each, slice) and each.step == -1 for each in (key if isinstance(key, tuple) else (key,))):
        raise NotImplementedError("PyTorch has no negative steps")
    return key


def attention(x):
    return F.scaled_dot_product_attention(x, x, x)


def linear(x, w, activation):
    y = x @ w
    return getattr(torch, activation)(y) if activation else y
""",
}
