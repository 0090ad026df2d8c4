"""Checkpoints: what a part of the forward pass saved is dropped and computed again, less memory for more time.

Chen et al., Training Deep Nets with Sublinear Memory Cost (2016).
"""

import weakref
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from tinygrad_cl.tensor import random as randomness
from tinygrad_cl.tensor.core.modes import GradMode, is_grad_enabled
from tinygrad_cl.tensor.core.variable import Variable
from tinygrad_cl.tensor.node import Saved, recorder

Result = TypeVar("Result")


def checkpoint(function: Callable[..., Result], *inputs: Any, generators: Iterable[np.random.Generator] = ()) -> Result:
    """function(*inputs), but what it saves for backward is dropped, and computed again when needed.

    generators   NumPy Generators that the function draws from, besides the default one: when it
                 runs again, it gets the same random numbers

    The graph is the same as without: gradients of gradients, hooks, parameters that the function
    uses without having them as inputs, all work.
    """
    if not is_grad_enabled():
        return function(*inputs)
    segment = Segment(function, inputs, generators)
    result, nodes = segment.record(inputs)
    segment.drop(nodes)
    if recorder.nodes is not None:  # a checkpoint in a checkpoint
        recorder.nodes += nodes
    return result


def owned(x):
    """x, but arrays and lists are copied: the caller may fill them again before backward."""
    if isinstance(x, np.ndarray):
        return x.copy()
    return type(x)([owned(each) for each in x]) if type(x) in (list, tuple) else x


class Segment:
    """A part of the graph whose saved arrays can be computed again."""

    def __init__(self, function, inputs, generators):
        self.function = function
        self.inputs = [
            x.detach().requires_grad_(x.requires_grad) if isinstance(x, Variable) else owned(x) for x in inputs
        ]
        self.versions = [x.version.count for x in inputs if isinstance(x, Variable)]
        self.generators = (randomness.default_generator(), *generators)
        self.states = [g.bit_generator.state for g in self.generators]

    def record(self, inputs):
        """(result, the nodes that were made), in an order that is the same every time."""
        nodes, before = [], recorder.nodes
        recorder.nodes = nodes
        try:
            with GradMode(True):
                result = self.function(*inputs)
        finally:
            recorder.nodes = before
        return result, nodes

    def drop(self, nodes):
        """Drop the arrays that were saved inside, but not those of leaves, which exist anyway."""
        self.nodes = [weakref.ref(node) for node in nodes]  # weak, for the nodes hold the segment
        for node in nodes:
            node.segment = self
            for saved in node.kept:
                if isinstance(saved, Saved) and saved.leaf is None:
                    saved.array = None

    def kept_arrays(self):
        """The arrays of the inputs, from which the others are computed again."""
        return [x.data for x in self.inputs if isinstance(x, Variable)]

    def recompute(self):
        """Run the function again, with the same random numbers, and restore the arrays."""
        if self.nodes is None:
            return
        if self.versions != [x.version.count for x in self.inputs if isinstance(x, Variable)]:
            raise RuntimeError(
                "checkpoint: an input was changed in place before backward, so the function cannot be computed again"
            )
        now = [g.bit_generator.state for g in self.generators]
        for generator, state in zip(self.generators, self.states):
            generator.bit_generator.state = state
        try:
            _, again = self.record(self.inputs)
        finally:
            for generator, state in zip(self.generators, now):
                generator.bit_generator.state = state
        nodes, self.nodes, self.inputs = [node() for node in self.nodes], None, []
        changed = len(nodes) != len(again)
        for node, new in zip(nodes, again):
            if node is None or node.freed:
                continue
            if new.segment is not None:
                new.segment.recompute()
            changed |= node.function is not new.function or node.result_shape != new.result_shape
            for saved, fresh in zip(node.kept, new.kept):
                if isinstance(saved, Saved) and saved.array is None:
                    saved.array = fresh.array
        if changed:
            raise RuntimeError(
                "checkpoint: the function did something else the second time;"
                " it may depend on nothing but its inputs and the random numbers"
            )
