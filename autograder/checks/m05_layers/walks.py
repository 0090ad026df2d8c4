"""How the optimizers of lesson 05 are observed: where the parameters are after each step, for given gradients."""

from autograder.checks.cases import Text, array, filled

SHAPES = (2,), (1,), (2, 3), (3,), (2, 2)
KINDS = ("decimals", "whole", "transposed")


def steps(student, case):
    p, way = student.Tensor(case.p, requires_grad=True), []
    optimizer = case.optimizer([p])
    for p.grad in map(student.Tensor, case.gradients):
        optimizer.step()
        way.append(p.data.copy())
    return way


def two_parameters(student, case):
    """The rate changes, one gradient may be missing, and a new one is written into the memory of the last one."""
    parameters = [student.Tensor(p, requires_grad=True) for p in (case.p, case.q)]
    optimizer, way = case.optimizer(parameters), []
    for optimizer.lr, *gradients in case.rounds:
        for p, g in zip(parameters, gradients):
            p.grad = None if g is None else student.Tensor(g) if p.grad is None else p.grad.copy_(g)
        yield
        optimizer.step()
        way.append({"p": parameters[0].data.copy(), "q": parameters[1].data.copy()})
    return way


def given(student, case):
    state, update = {}, case.optimizer([student.Tensor(case.p, requires_grad=True)]).update
    for g in case.gradients:
        update(case.p, g, state)
    return {"p": case.p, "g": case.gradients}


def gradients(p, rng):
    return [
        filled(p.shape, kind, rng)
        for kind in ("whole", "decimals", "zeros", "large", "whole", "decimals")[: rng.integers(1, 7)]
    ]


def rounds(p, q, rng):
    half = [[filled(p.shape, "decimals", rng), filled(q.shape, "whole", rng)] for _ in range(3)]
    alone = [half[0][0], None] if rng.integers(2) else [None, half[1][1]]
    return [[0.1, *half[0]], [0.1, *half[1]], [0.2, *alone], [0.05, *half[2]], [0.05, *half[1]]]


def walk(*optimizers):
    """One parameter with each of these optimizers: "SGD(ps, lr=0.1)"; … {:.2f} in it is a number below 1."""
    return array("p", SHAPES, KINDS).each(optimizer=lambda rng: drawn(optimizers, rng)).add(gradients=gradients)


def walk_of_two(*optimizers):
    pairs = array("p", SHAPES, KINDS[:2]) * array("q", SHAPES, KINDS[:1])
    return pairs.each(optimizer=lambda rng: drawn(optimizers, rng)).add(rounds=rounds)


def drawn(optimizers, rng):
    return [Text(f"lambda ps: {text.format(*rng.uniform(0.3, 0.95, 3))}") for text in optimizers]
