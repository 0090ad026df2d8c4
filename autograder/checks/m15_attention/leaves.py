"""Inputs of the checks of lesson 15: a Parameter p, and the Node that is made of it, as it is or computed."""

from autograder.checks.cases import Text, filled, literal

NODES = "ag.tensor(p)", "ag.tensor(p)", "ag.sin(ag.tensor(p))", "ag.mul(p, 0.5)"


def on_device(array, kind="Tensor"):
    return Text(f"{kind}.from_host(queue, {literal(array)})")


def parameter(shape, kind, rng):
    return on_device(filled(shape, kind, rng), "Parameter")


def node(rng):
    return Text(f"lambda p: {NODES[rng.integers(len(NODES))]}")


def some(rng, *options):
    return options[rng.integers(len(options))]
