"""tinygrad_cl.tensor.torch: programs under PyTorch's names give PyTorch's numbers, or say in a sentence why not."""

import importlib
import math

import numpy as np
import pytest
from tensor_ops import OPS
from test_tensor_peers import TWINS

import tinygrad_cl.tensor as engine
import tinygrad_cl.tensor.torch as ours
from tinygrad_cl.tensor.torch import nn, optim
from tinygrad_cl.tensor.torch.utils.checkpoint import checkpoint

BY_NAME = {op.name: op for op in OPS}


@pytest.mark.parametrize("name", TWINS)
def test_an_operation_in_pytorchs_words_is_the_engines(name):
    op = BY_NAME[name]
    inputs = op.inputs(op.shapes[0], np.float64, np.random.default_rng(0))
    mine = [engine.Tensor(x, requires_grad=True) for x in inputs]
    theirs = [ours.tensor(x, requires_grad=True) for x in inputs]
    out, twin = op.f(*mine), TWINS[name](ours, *theirs)
    upstream = np.random.default_rng(1).normal(size=out.shape)
    out.backward(upstream)
    twin.backward(ours.tensor(upstream))
    assert isinstance(twin, ours.Tensor)
    for a, b in zip((out, *[x.grad for x in mine]), (twin, *[x.grad for x in theirs]), strict=True):
        np.testing.assert_allclose(b.data, a.data, rtol=1e-12, atol=1e-12)


# -- programs: what each returns is compared with what PyTorch returns ----------------------------

NUMBERS = [[0.5, -1.5, 2.0], [2.5, 0.25, -3.0]]
TIES = [[1.0, 3.0, 3.0], [2.0, 0.0, 0.0]]


def graded(f, numbers=NUMBERS, dtype=np.float32):
    """A program: f of a leaf, weighted, and the leaf's gradient."""

    def program(torch):
        x = torch.tensor(np.array(numbers, dtype), requires_grad=True)
        y = f(torch, x)
        (y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum().backward()
        return [y.detach(), x.grad]

    return program


def values_and_indices(torch, x):
    (values, places), smallest = x.max(1), x.min(dim=0, keepdim=True)
    return [values.detach(), places, smallest.values.detach(), smallest.indices, x.argmax(), x.argmin(1, keepdim=True)]


def leaf_of(torch, numbers=NUMBERS):
    return torch.tensor(numbers, requires_grad=True)


def created(torch):
    return [
        torch.zeros(2, 3),
        torch.ones((2,), dtype=torch.float64),
        torch.full((2, 2), 7),
        torch.full((2,), 0.5),
        torch.eye(2, 3),
        torch.arange(3),
        torch.arange(1.0, 2.0, 0.25),
        torch.linspace(0, 1, 5),
        torch.tensor([1, 2]),
        torch.tensor([1.0, 2.0]),
        torch.tensor([True, False]),
        torch.tensor(np.ones(2)),
        torch.Tensor([1, 2]),
        torch.zeros_like(torch.tensor([1, 2])),
        torch.ones_like(torch.tensor([1.0]), dtype=torch.float64),
        torch.full_like(torch.tensor([1.0, 2.0]), 3),
        torch.as_tensor([[1.0]]),
        torch.zeros(2).long(),
        torch.tensor([1.7, -1.7]).int(),
        torch.tensor([0.0, 2.0]).bool(),
        torch.ones(1).to(torch.float64),
        torch.ones(1).to("cpu").double().float(),
    ]


def asked(torch):
    x = torch.tensor([[1.0, math.nan, math.inf], [-math.inf, 0.0, 2.0]])
    yes = [x.isnan(), torch.isinf(x), x.isfinite(), x.isnan().any(), x.isnan().any(dim=0), (x > 0).all(1, keepdim=True)]
    return yes + [x.gt(0), x.eq(2.0), (x > 0).float().mean(), ~x.isnan() & x.lt(1)]


def in_place(torch):
    x = leaf_of(torch)
    y = x * 2
    y.add_(1).mul_(x.detach()).sub_(x, alpha=0.5)
    y.div_(4)
    y.sum().backward()
    return [y.detach(), x.grad]


def trained_by_data(torch):
    """The loop that a first text shows: the numbers of a leaf are changed behind the graph's back."""
    w, x = leaf_of(torch, [[0.1], [-0.2], [0.3]]), torch.tensor(NUMBERS)
    for _ in range(5):
        loss = (x.mm(w) - 1).pow(2).mean()
        loss.backward()
        w.data -= 0.05 * w.grad
        w.grad.zero_()
    w.data = w.data * 0.5 - 0.01 * w.grad
    return [w.detach(), loss.detach()]


def arrays_beside(torch):
    x, a = leaf_of(torch), torch.tensor(NUMBERS).numpy()
    y = x * 3 + torch.from_numpy(a)
    y.sum().backward()
    return [y.detach(), x.grad]


def into_inputs(torch):
    x, w = leaf_of(torch), leaf_of(torch)
    (x * w * w).sum().backward(inputs=[w])
    return [w.grad, torch.tensor(x.grad is None)]


def from_several(torch):
    x = leaf_of(torch)
    y, z = x * 2, (x * x).sum()
    torch.autograd.backward([y, z], [torch.ones_like(y), None])
    return x.grad


class Rounded:
    """Round, and let the gradient through; with the rule as a class of the module that runs it."""

    @staticmethod
    def of(torch):
        class Round(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.round()

            @staticmethod
            def backward(ctx, grad):
                return grad

        return Round.apply


def straight_through(torch):
    x = leaf_of(torch)
    (Rounded.of(torch)(x) * x.detach()).sum().backward()
    return [x.round().detach(), x.grad]


def masked_rule(torch):
    class Softmax(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores, mask, scale):
            p = torch.softmax(scores.masked_fill(~mask, -math.inf) * scale, dim=-1)
            ctx.save_for_backward(p, mask)
            ctx.scale = scale
            return p

        @staticmethod
        def backward(ctx, grad):
            p, mask = ctx.saved_tensors
            assert mask.dtype in (torch.bool, np.dtype(bool))
            return ctx.scale * p * (grad - (grad * p).sum(-1, keepdim=True)), None, None

    x = leaf_of(torch)
    p = Softmax.apply(x, torch.tensor([[True, True, False], [True, True, True]]), 0.5)
    (g,) = torch.autograd.grad(p, x, torch.tensor(NUMBERS), create_graph=True)
    g.pow(2).sum().backward()
    return [p.detach(), g.detach(), x.grad]


def set_up_apart(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x * x * grad

    x = leaf_of(torch)
    Cube.apply(x).sum().backward()
    return x.grad


def network(torch):
    """A model of layers whose first numbers are set, trained."""
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2, bias=False))
            self.scale = nn.Parameter(torch.ones(2))

        def forward(self, x):
            return self.body(x) * self.scale

    model = Model()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape))
    assert [name for name, _ in model.named_parameters()] == ["scale", "body.0.weight", "body.0.bias", "body.2.weight"]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(model(torch.tensor(NUMBERS)), torch.tensor([0, 1]))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=10.0)
        optimizer.step()
    return [loss.detach(), norm, *[p.detach() for p in model.parameters()]]


def losses(torch):
    functional, answers = torch.nn.functional, []
    scores = torch.tensor(np.random.default_rng(0).normal(size=(2, 3, 4)), requires_grad=True)
    classes = torch.tensor([[0, 1, 2, 0], [2, 2, 1, 0]])
    for reduction in ("mean", "sum"):
        loss = functional.cross_entropy(scores, classes, reduction=reduction)
        loss = loss + torch.nn.MSELoss(reduction=reduction)(scores, torch.ones_like(scores))
        p = torch.sigmoid(scores)
        loss = loss + functional.binary_cross_entropy(p, torch.zeros_like(p), reduction=reduction)
        loss = loss + torch.nn.BCEWithLogitsLoss(reduction=reduction)(scores, torch.ones_like(p))
        loss.backward()
        answers += [loss.detach(), scores.grad.clone()]
    return answers


def formatted(torch):
    x = torch.tensor(2.5, requires_grad=True)
    texts = [f"{x:.3f}", f"{x}", f"{x.item():g}", f"{torch.tensor(7):03d}"]
    return torch.tensor([[ord(c) for c in text.ljust(6)] for text in texts])


def recomputed(torch):
    checkpoint = torch.utils.checkpoint.checkpoint
    x = leaf_of(torch)
    checkpoint(lambda x: x.relu().pow(2), x, use_reentrant=False).sum().backward()
    return x.grad


def described(torch):
    x = torch.zeros(2, 3)
    sizes = [x.dim(), x.numel(), *x.size(), x.size(-1), *x.t().shape, *x.view(3, -1).shape, *x.unsqueeze(dim=1).shape]
    shapes = [x.flatten(), torch.zeros(1, 2, 1).squeeze(), torch.zeros(1, 2, 1).squeeze(0), x.squeeze(0)]
    shapes += [
        torch.zeros(2, 3, 4).flatten(1),
        torch.zeros(()).flatten(),
        x[:, None].expand(-1, 5, 3),
        x.expand(4, -1, -1),
    ]
    return torch.tensor(sizes + [n for y in shapes for n in (y.dim(), *y.shape)])


PROGRAMS = {
    "var": graded(lambda torch, x: x.var()),
    "var, dim": graded(lambda torch, x: torch.var(x, dim=1)),
    "var, correction": graded(lambda torch, x: x.var(0, correction=0.5)),
    "var(False)": graded(lambda torch, x: x.var(False)),
    "std": graded(lambda torch, x: x.std(1, keepdim=True)),
    "norm, dim": graded(lambda torch, x: x.norm(dim=1)),
    "norm at 0": graded(lambda torch, x: x.norm(dim=1, keepdim=True), [[0.0, 0.0], [3.0, 4.0]]),
    "max(dim)": graded(lambda torch, x: x.max(dim=1).values, TIES),
    "min(dim)": graded(lambda torch, x: torch.min(x, 1, keepdim=True)[0], TIES),
    "max of all": graded(lambda torch, x: x.max(), TIES),
    "max of two": graded(lambda torch, x: torch.max(x, torch.ones_like(x)), TIES),
    "amin": graded(lambda torch, x: x.amin(dim=1), TIES),
    "gather": graded(lambda torch, x: x.gather(1, torch.tensor([[0, 0], [2, 1]]))),
    "round": graded(lambda torch, x: x.round() * x + x.floor() + x.ceil() + x.sign()),
    "clamp": graded(lambda torch, x: x.clamp(min=-1.5, max=2.0) + torch.clamp(x, max=1)),
    "masked_fill": graded(lambda torch, x: x.masked_fill(x > 1, 9.0)),
    "squares": graded(lambda torch, x: x.square() + x.pow(3) + torch.pow(x, 2) + x.reciprocal() + x.square().rsqrt()),
    "names": graded(lambda torch, x: x.add(1, alpha=2).sub(x, alpha=3).mul(x).div(x + 9).neg()),
    "products": graded(lambda torch, x: x.mv(x[0]).dot(x[:, 1]) + torch.bmm(x[None], x.t()[None]).sum()),
    "numbers of shape ()": graded(lambda torch, x: x.max(0).values * 2 + x.min(0)[0] + x.squeeze(0), 1.5),
    "matmul": graded(lambda torch, x: torch.matmul(x, x.t()).mm(x[:, :1]) + (x @ x.T).sum()),
    "transposes": graded(lambda torch, x: x.transpose(dim0=0, dim1=1) + x.permute(1, 0) + x.mT),
    "sums": graded(
        lambda torch, x: torch.sum(x, dim=[0, 1], keepdim=True) + x.mean(dim=-1, keepdim=True) + x.sum(dim=())
    ),
    "cumsum, flip": graded(lambda torch, x: x.cumsum(dim=1) + x.flip(0, 1) + torch.flip(x, dims=[0])),
    "softmax": graded(lambda torch, x: torch.softmax(x, dim=0) + x.log_softmax(dim=1)),
    "cat, stack": graded(lambda torch, x: torch.cat([x, x * 2], dim=1).sum(0) + torch.stack([x, x], dim=0).sum()),
    "where": graded(lambda torch, x: torch.where(x > 0, x, torch.tensor(2.0))),
    "gelu": graded(lambda torch, x: torch.nn.functional.gelu(x, approximate="tanh")),
    "values, indices": lambda torch: values_and_indices(torch, torch.tensor(TIES, requires_grad=True)),
} | {
    f.__name__: f
    for f in (created, asked, in_place, trained_by_data, arrays_beside, into_inputs, from_several, straight_through)
    + (masked_rule, set_up_apart, network, losses, formatted, recomputed, described)
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_gives_pytorchs_numbers(torch_says, program):
    expected = torch_says(PROGRAMS[program], 1e-5)
    same(PROGRAMS[program](ours), expected)


def same(got, expected):
    if isinstance(expected, list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected):
            same(a, b)
        return
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=0)
    np.testing.assert_allclose(got.data, expected, rtol=0, atol=1e-5 * largest)


# -- what is not as there, and says so -----------------------------------------------------------------

REFUSED = {
    "gelu": (lambda x: nn.functional.gelu(x), 'approximate="tanh"'),
    "norm": (lambda x: x.norm(1), "p=2 is there"),
    "a loss for each number": (lambda x: nn.MSELoss(reduction="none")(x, x.detach()), '"mean" or "sum"'),
    "memory of nobody": (lambda x: ours.Tensor(2), "torch.zeros"),
    "another device": (lambda x: x.to("cuda"), "on the processor"),
    "on another device": (lambda x: ours.zeros(2, device="cuda:0"), "on the processor"),
    "view of scattered numbers": (lambda x: x.t().view(6), r"reshape\(\) copies"),
    "mask of numbers": (lambda x: x.masked_fill(x.detach(), 0.0), "truth values"),
    "clamp to a tensor": (lambda x: x.clamp(min=x), "maximum and minimum"),
    "gather out of range": (lambda x: x.gather(0, ours.tensor([[-1]])), "of size 2"),
    "gather by floats": (lambda x: x.gather(0, ours.tensor([[1.0]])), "whole numbers"),
    "dot of matrices": (lambda x: x.dot(x), "takes 1 and 1 dimensions, not 2 and 2"),
    "t of three dimensions": (lambda x: x[None].t(), "see transpose"),
    "NumPy's function": (lambda x: np.exp(x), r"numpy\.exp takes no tensor"),
    "NumPy's array += ": (lambda x: np.ones((2, 3)).__iadd__(x), r"\.detach\(\)\.numpy\(\)"),
    "data of something": (lambda x: setattr(x, "data", 3.0), "an array or a tensor"),
    "a function of a number": (lambda x: ours.exp(1.0), "takes a tensor"),
    "a word that is not there": (lambda x: ours.einsum, "docs/peers.md"),
    "a start that is no constant": (lambda x: ours.autograd.backward([x * 2], [x]), "detach"),
    "a setting that is not there": (lambda x: nn.GELU(tanh=True), "approximate"),
    "a weight for each class": (lambda x: nn.CrossEntropyLoss(ours.ones(3)), "by keyword"),
    "no forward": (lambda x: nn.Module()(x), "needs a method forward"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_meant_as_there_is_refused_in_a_sentence(name):
    program, sentence = REFUSED[name]
    with pytest.raises(
        (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError), match=sentence
    ):
        program(ours.tensor(NUMBERS, requires_grad=True))


def test_numbers_that_were_changed_behind_the_graph_are_noticed():
    """PyTorch computes with the new ones."""
    x = ours.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data -= 1
    with pytest.raises(RuntimeError, match="changed in place since then"):
        y.backward()


def test_a_replaced_array_leaves_what_was_computed_before():
    x = ours.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data = x.data + 5
    y.backward()
    assert x.grad.tolist() == [2, 4] and x.data.tolist() == [6, 7]


def test_the_engine_imported_as_torch_says_what_to_import():
    with pytest.raises(AttributeError, match=r"import tinygrad_cl\.tensor\.torch as torch"):
        engine.tensor(2.0)


def test_every_name_is_there():
    modules = [nn, nn.functional, optim, ours.autograd, ours.utils]
    assert all(getattr(module, name) is not None for module in modules for name in module.__all__)
    assert all(getattr(ours, name) is not None for name in dir(ours))
    assert set(dir(ours)) >= {"exp", "tensor", "nn", "where"}
    assert importlib.import_module("tinygrad_cl.tensor.torch.nn.functional").relu is nn.functional.relu


def test_random_numbers_follow_their_seed():
    def drawn():
        ours.manual_seed(3)
        x = [ours.rand(50), ours.randn(50), ours.randint(3, 5, (50,)), ours.randint(2, (50,)), ours.randperm(5)]
        y = ours.zeros(50)
        return [*x, ours.rand_like(x[0]), ours.randn_like(x[1]), y.uniform_(-2, -1).clone(), y.normal_(100.0, 0.1)]

    first, second = drawn(), drawn()
    assert all(np.array_equal(a.data, b.data) for a, b in zip(first, second))
    rand, randn, between, below, order, _, _, uniform, normal = [x.data for x in first]
    assert 0 <= rand.min() < rand.max() < 1 and rand.dtype == np.float32 and abs(randn.mean()) < 1
    assert set(between) == {3, 4} and set(below) == {0, 1} and sorted(order) == [0, 1, 2, 3, 4]
    assert -2 <= uniform.min() < uniform.max() <= -1 and abs(normal.mean() - 100) < 1


def test_arrays_and_tensors_on_either_side():
    a, x = np.array([1.0, 2.0, 4.0], np.float32), ours.tensor([2.0, 2.0, 2.0], requires_grad=True)
    for operate in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p / q, lambda p, q: p**q):
        y = operate(a, x)
        assert isinstance(y, ours.Tensor) and y.requires_grad and y.tolist() == operate(a, x.detach().numpy()).tolist()
    for compare in (lambda p, q: p < q, lambda p, q: p <= q, lambda p, q: p > q, lambda p, q: p >= q):
        assert compare(a, x).tolist() == compare(a, x.detach().numpy()).tolist()
    assert (a == x).tolist() == [False, True, False] and (a != x).tolist() == [True, False, True]
    assert (a @ x).item() == 14 and (np.float64(2) * x).dtype == np.float32


def test_a_tensor_of_an_array_shares_its_memory_where_pytorchs_does():
    a = np.ones(2, np.float32)
    shared, copied = [ours.from_numpy(a), ours.as_tensor(a)], ours.tensor(a)
    a[0] = 5
    assert [x.tolist() for x in shared] == [[5, 1], [5, 1]] and copied.tolist() == [1, 1]
    with pytest.raises(TypeError, match="takes an array"):
        ours.from_numpy([1.0])
    assert ours.equal(shared[0], shared[1]) and not ours.equal(copied, shared[0]) and ours.is_tensor(copied)


def test_modules():
    model = nn.Sequential(
        nn.Linear(3, 4), nn.ReLU(), nn.Dropout(1.0), nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=-1))
    )
    assert [name for name, _ in model.named_parameters()] == ["0.weight", "0.bias", "3.0.weight", "3.0.bias"]
    tied = nn.Module()
    tied.once, tied.again = model, model
    assert [name for name, _ in tied.named_parameters()][-1] == "once.3.0.bias"
    x = ours.ones(5, 3)
    assert ours.allclose(model.train()(x), model.train()(2 * x)) and not ours.allclose(model.eval()(x), model(2 * x))
    model(x)[:, 0].sum().backward()
    assert all(p.grad is not None and p.is_leaf for p in model.parameters())
    model.zero_grad()
    assert all(p.grad is None for p in model.parameters())
    weight = model.children()[0].weight
    assert isinstance(weight, nn.Parameter) and type(weight * 2) is type(weight.detach()) is ours.Tensor
    assert 0 < float(weight.detach().abs().max()) <= 1 / math.sqrt(3)
    assert nn.Sigmoid()(ours.zeros(1)).item() == 0.5 and nn.GELU("tanh")(ours.zeros(1)).item() == 0


def test_a_checkpoint_by_its_full_name():
    x = ours.tensor([3.0], requires_grad=True)
    checkpoint(lambda x: x * x, x).backward()
    assert x.grad.tolist() == [6] and not ours.cuda.is_available() and ours.device("cpu") == x.device
