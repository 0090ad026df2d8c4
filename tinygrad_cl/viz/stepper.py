"""`steps(node)`: a graph computed and back-propagated step by step, with a slider, in a notebook."""

from typing import TYPE_CHECKING, Any

from tinygrad_cl.viz.execution_trace import ExecutionTrace

if TYPE_CHECKING:
    from tinygrad_cl.viz.stepper_widget import StepsWidget


def steps(node: Any, *leaves: Any) -> "StepsWidget":
    """Walk through a graph, forward and then backward: values and gradients appear one edge at a time.

    node     a node of any class, as for `draw`; or a function that computes one from `leaves`

    The gradients are those that the node's own `backward` assigns, in its order. If the inputs can be changed, the
    graph is computed again with the node's own operators. Without a kernel, on paper and in an exported page the steps
    are listed below the picture.

    TypeError if there is no node; ValueError for more than 60 nodes.

    >>> from tinygrad_cl.scalar import Value
    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> ExecutionTrace.of(a * b).steps[1]["say"]
    'v2 = a · b = 2 · (−3) = −6.'
    """
    trace = ExecutionTrace.of_function(node, leaves) if leaves else ExecutionTrace.of(node)
    from tinygrad_cl.viz.stepper_widget import (
        StepsWidget,
    )  # slow: anywidget takes a third of a second, only needed here

    return StepsWidget(trace)
