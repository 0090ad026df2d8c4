"""Check 8 of lesson 03: a network's gradients by hand."""

import numpy as np

from autograder.checks.check import exercise
from autograder.checks.m03_broadcast.device import network
from autograder.checks.m03_broadcast.networks import NETWORKS

broadcast_network = exercise(
    "broadcast.network",
    "The loss of a small network, and its four gradients.",
    needs=("broadcast.unbroadcast", "broadcast.mul", "broadcast.mean", "broadcast.matmul_any"),
)


@broadcast_network.aspect("∂L/∂w1, ∂L/∂b1, ∂L/∂w2, ∂L/∂b2", 3.5, cases=NETWORKS, device=4)
def gradients(student, case):
    loss, gradients = student.loss_and_gradients(case.x, case.target, case.w1, case.b1, case.w2, case.b2)
    return dict(zip(["∂L/∂w1", "∂L/∂b1", "∂L/∂w2", "∂L/∂b2"], gradients))


@broadcast_network.aspect("the loss", 0.5, cases=NETWORKS, corner=True, few=12)
def loss(student, case):
    return student.loss_and_gradients(case.x, case.target, case.w1, case.b1, case.w2, case.b2)[0]


@broadcast_network.on_device
def names(on, reference):
    def loss_and_gradients(x, target, *parameters):
        return 0, on.gradients(network(on.ag, x, target), np.ones(()), *parameters)

    return {"loss_and_gradients": loss_and_gradients}


GRAD_E = "grad_e = sum(mul_backward(grad_square, e, e))"

broadcast_network.mistake(
    "e · e: of its two equal factors only one is counted, so all gradients are half as large",
    swap=(GRAD_E, "grad_e = mul_backward(grad_square, e, e)[0]"),
    hint=[
        "Two edges lead from e to e · e. How many did you walk?",
        "mul_backward returns two parts; both belong to e: add them.",
    ],
)
broadcast_network.mistake(
    "z · z: of its two equal factors only one is counted",
    swap=("grad_z = sum(mul_backward(grad_h, z, z))", "grad_z = mul_backward(grad_h, z, z)[0]"),
    hint=[
        "∂L/∂w2 and ∂L/∂b2 are right; then comes h = z · z, with two edges.",
        "Add both parts of mul_backward(grad_h, z, z).",
    ],
)
broadcast_network.mistake(
    "in both squares, e · e and z · z, only one of the two equal factors is counted",
    swap=[
        (GRAD_E, "grad_e = mul_backward(grad_square, e, e)[0]"),
        ("grad_z = sum(mul_backward(grad_h, z, z))", "grad_z = mul_backward(grad_h, z, z)[0]"),
    ],
    hint=[
        "How many edges lead from e to e · e?",
        "mul_backward returns two parts, and both belong to e: add them. The same for z.",
    ],
)
broadcast_network.mistake(
    "∂L/∂b1 is not un-broadcast",
    swap=("grad_b1 = unbroadcast(grad_z, b1.shape)", "grad_b1 = grad_z"),
    hint=["Which shape has b1, and which has ∂L/∂z?", "`unbroadcast(grad_z, b1.shape)`."],
)
broadcast_network.mistake(
    "neither bias is un-broadcast",
    swap=[
        ("grad_b1 = unbroadcast(grad_z, b1.shape)", "grad_b1 = grad_z"),
        ("grad_b2 = unbroadcast(grad_e, b2.shape)", "grad_b2 = grad_e"),
    ],
    hint=[
        "Which shapes have the biases, and which have their gradients?",
        "`unbroadcast(…, b1.shape)`: the sum over the batch.",
    ],
)
broadcast_network.mistake(
    "the mean over the batch is taken for the biases",
    swap=[
        ("unbroadcast(grad_z, b1.shape)", "grad_z.mean(axis=0)"),
        ("unbroadcast(grad_e, b2.shape)", "grad_e.mean(axis=0)"),
    ],
    hint=["1/N came down already, from the mean in the loss.", "Sum: `unbroadcast`."],
)
broadcast_network.mistake(
    "the loss is the sum of the squares, not the mean",
    swap=[("square.mean()", "square.sum()"), ("mean_backward", "sum_backward")],
    hint=["Loss and gradients are too large, by the same factor.", "loss = mean of e * e."],
)
broadcast_network.mistake(
    "the loss is the mean, but its gradient is that of the sum: 1/N is missing",
    swap=("mean_backward", "sum_backward"),
    hint=[
        "The loss is right. All gradients are too large by the same factor: how many numbers has e?",
        "mean_backward(np.ones(()), e * e).",
    ],
)
broadcast_network.mistake(
    "divided by the batch, but the mean goes over all outputs as well",
    swap=("mean_backward(np.ones(()), square)", "sum_backward(np.ones(()), square) / len(e)"),
    hint=["`.mean()` divides by how many numbers?", "By e.size, not by len(e)."],
)
broadcast_network.mistake(
    "the error has the wrong sign: target − out, with the gradient of out − target",
    swap=("e = out - target", "e = target - out"),
    hint=["The loss is the same either way. And its slope?", "e = out − target."],
)
broadcast_network.mistake(
    "z · z is left out in the backward pass: grad_h is handed on as if it were grad_z",
    swap=("grad_z = sum(mul_backward(grad_h, z, z))", "grad_z = grad_h"),
    hint=["Between h and z stands an operation.", "h = z * z: mul_backward(grad_h, z, z), both parts added."],
)
broadcast_network.mistake(
    "the rule for h = z · z is fed with h in place of z",
    swap=("mul_backward(grad_h, z, z)", "mul_backward(grad_h, h, h)"),
    hint=["What were the two factors in the forward pass?", "z and z."],
)
broadcast_network.mistake(
    "w2's gradient is computed with z, not with h",
    swap=("matmul_backward(grad_e, h, w2)", "matmul_backward(grad_e, z, w2)"),
    hint=["out = h @ w2 + b2: what was multiplied by w2?", "matmul_backward(grad_e, h, w2)."],
)
broadcast_network.mistake(
    "h is z: the squares are left out, forward and backward",
    swap=[("h = z * z", "h = z"), ("grad_z = sum(mul_backward(grad_h, z, z))", "grad_z = grad_h")],
    hint=["Without z · z, two layers are one.", "h = z * z."],
)
broadcast_network.mistake(
    "the gradients come in another order: weights first, then biases",
    swap=("[grad_w1, grad_b1, grad_w2, grad_b2]", "[grad_w1, grad_w2, grad_b1, grad_b2]"),
    hint=["Compare the shapes with those of w1, b1, w2, b2.", "In the order of the arguments."],
)
broadcast_network.mistake(
    "`z += b1` … `e *= e`: arrays of the forward pass are overwritten before backward needs them",
    swap=("square = e * e", "e *= e\n    square = e"),
    hint=["Which e does your backward see?", "`e * e` makes a new array, and e stays."],
)
broadcast_network.variant(
    "by hand, in the way of textbooks",
    source="""
def loss_and_gradients(x, target, w1, b1, w2, b2):
    z = x @ w1 + b1
    h = z ** 2
    e = h @ w2 + b2 - target
    d_out = 2 * e / e.size
    d_z = 2 * z * (d_out @ w2.T)
    return np.mean(e ** 2), (x.T @ d_z, d_z.sum(0), h.T @ d_out, d_out.sum(0))
""",
)
broadcast_network.variant(
    "example by example, added up",
    source="""
def loss_and_gradients(x, target, w1, b1, w2, b2):
    loss, gradients = 0.0, [np.zeros(p.shape) for p in (w1, b1, w2, b2)]
    for line, wanted in zip(x, target):
        z = line @ w1 + b1
        e = (z * z) @ w2 + b2 - wanted
        loss += (e * e).sum() / target.size
        g = 2 * e / target.size
        g_h, g_w2 = matmul_backward(g, z * z, w2)
        g_z = sum(mul_backward(g_h, z, z))
        _, g_w1 = matmul_backward(g_z, line, w1)
        for total, part in zip(gradients, (g_w1, g_z, g_w2, g)):
            total += part
    return loss, gradients
""",
)
broadcast_network.variant(
    "the bias as a weight of a column of ones",
    source="""
def loss_and_gradients(x, target, w1, b1, w2, b2):
    ones = np.ones((len(x), 1))
    x1, w1b = np.hstack([x, ones]), np.vstack([w1, b1])
    z = x1 @ w1b
    h1, w2b = np.hstack([z * z, ones]), np.vstack([w2, b2])
    e = h1 @ w2b - target
    grad_e = mean_backward(np.ones(()), e * e) * 2 * e
    grad_h1, grad_w2b = matmul_2d_backward(grad_e, h1, w2b)
    _, grad_w1b = matmul_2d_backward(2 * z * grad_h1[:, :-1], x1, w1b)
    return (e * e).mean(), [grad_w1b[:-1], grad_w1b[-1], grad_w2b[:-1], grad_w2b[-1]]
""",
)
for other in ("e", "out", "target"):
    broadcast_network.variant(
        f"of the mean's input only the shape counts: {other}",
        swap=("mean_backward(np.ones(()), square)", f"mean_backward(np.ones(()), {other})"),
    )
