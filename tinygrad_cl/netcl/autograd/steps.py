"""Operations that are not fused: in a compiled function each is a step between two chains.

A trace needs two things of them, which their records hold: the function that computes them, and the
TensorSpec of the result.
"""

from dataclasses import dataclass

from tinygrad_cl.netcl.tape.modes import set_grad_enabled

STEPS: dict[str, "Step"] = {}


@dataclass(frozen=True)
class Step:
    """The record of an operation.

    function   function(*inputs, tape=None, **attrs) returns a Node
    spec       spec(*specs, **attrs) returns the TensorSpec of the result, from those of the inputs
               (None for an input that is no tensor); it may raise what the function raises
    """

    function: object
    spec: object


def register_step(name, function, spec):
    """Make an operation a step of compiled functions: see Step."""
    STEPS[name] = Step(function, spec)


class SingleOperation:
    """A step of a compiled function that is one operation, run as without compiling.

    head     the TraceNode of the result
    leaves   the TraceNodes that it is computed from
    """

    def __init__(self, head):
        self.head = head
        self.leaves = [x for x in head.inputs if hasattr(x, "spec")]

    def __call__(self, values, name, tape=None):
        """The Node of the result, from a Node, Tensor or number for each leaf."""
        head, values = self.head, iter(values)
        inputs = [next(values) if hasattr(x, "spec") else x for x in head.inputs]
        with set_grad_enabled(True in head.needs):
            return STEPS[head.op_name].function(*inputs, tape=tape, **head.attrs)

    def __str__(self):
        return f"{self.head.op_name}: {self.head.dtype} {self.head.shape}"
