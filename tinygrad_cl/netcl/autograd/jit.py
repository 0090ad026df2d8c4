"""`jit_compile`: a function of Nodes becomes a few steps, most of them one forward and one backward
kernel.
"""

import functools
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from threading import get_ident
from traceback import walk_tb
from typing import Any, overload

from tinygrad_cl.netcl.autograd.compiled_graph import CompiledGraph, content, split
from tinygrad_cl.netcl.autograd.hidden import watched
from tinygrad_cl.netcl.autograd.signature import Signature
from tinygrad_cl.netcl.autograd.steps import STEPS, SingleOperation
from tinygrad_cl.netcl.autograd.trace import NoNumbers, Trace, TraceNode, Untraceable
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.primitives import PRIMITIVES
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.node import OURS, Node
from tinygrad_cl.netcl.tape.tape import Tape

__all__ = ["CompiledFunction", "JitFallback", "jit_compile"]

MOST_PROGRAMS = 256  # of one function: then it begins afresh
MOST_OPERATIONS = 1000  # of one kernel: compilers take some milliseconds for each


class JitFallback(UserWarning):
    """A compiled function runs operation by operation; the message says why."""


@overload
def jit_compile(function: Callable[..., Node], *, quiet: bool = False) -> "CompiledFunction": ...
@overload
def jit_compile(
    function: None = None, *, quiet: bool = False
) -> Callable[[Callable[..., Node]], "CompiledFunction"]: ...
def jit_compile(function=None, *, quiet=False):
    """The function with its operations fused: `@jit_compile`, or `fast = jit_compile(slow)`.

    quiet   no warning (JitFallback) if it cannot be fused; `why` holds the reason in any case

    The function takes Nodes, Tensors (which it gets as Nodes), numbers and anything else, and returns
    one Node. A chain of primitives, built-in or registered, with the sum, mean, maximum or minimum at
    its end becomes one forward and one backward kernel; after a reduction, the next chain begins.
    On the tape, each chain is one operation, `jit_<name>`. What cannot be fused but has a record,
    as a matrix product or a softmax, is a step between two chains.

    The function is traced: called once while its operations are written down instead of computed. It
    is traced again when an argument, or a variable that it uses from outside, has another shape,
    dtype, requires_grad or value. A list or an object may change unnoticed: a function that uses one
    is traced in every call, which costs some 10 µs and more, but is compiled once. Attributes of
    modules count as constants.

    A function that cannot be traced (an operation without a record, an `if` that looks at elements,
    two results) runs as it is, operation by operation. So does one that asks a clock, a random
    generator of a module (np.random.rand) or the user.

    >>> import tinygrad_cl.netcl.autograd as ag
    >>> x = ag.tensor(Tensor.from_host(manager.default("auto").queue, [0.0, 1.0]), True)
    >>> @ag.jit_compile
    ... def loss(x, rate):
    ...     return ag.sum(x * x * rate + x)
    >>> print(loss.graphs(x, 0.5)[0])
    v0: float32 (2,)
    v1: a number
    mul_2 = mul(v0, v0)
    mul_3 = mul(mul_2, v1)
    add_4 = add(mul_3, v0)
    sum(add_4, axes=(0,), keepdims=False)
    >>> tape = ag.Tape()
    >>> tape.backward(loss(x, 0.5, tape=tape))
    >>> x.grad.to_host().tolist(), tape.nodes
    ([1.0, 2.0], [Node(shape=(), dtype=float32, op_name='jit_loss', requires_grad=True)])
    """
    if function is None:
        return functools.partial(jit_compile, quiet=quiet)
    return CompiledFunction(function, quiet)


@dataclass(frozen=True)
class Program:
    """What is to be done for one signature.

    steps     (CompiledGraph or SingleOperation, numbers of its values) in order: the inputs are
              0, 1, …, then come what was found by tracing, then the results of the steps
    records   the primitives that this depends on: a name may be registered anew
    why       why there are no steps; "" where there are
    warn      whether that is worth a warning
    """

    steps: tuple = ()
    records: tuple = ()
    why: str = ""
    warn: bool = True


class CompiledFunction:
    """What jit_compile returns.

    why   why the last call was not fused; "" if it was
    """

    why: str

    def __init__(self, function: Callable[..., Node], quiet: bool = False) -> None:
        if not callable(function):
            raise TypeError(f"jit_compile takes a function, not {function!r}")
        functools.update_wrapper(self, function, updated=())
        self.why = ""
        self._name = f"jit_{getattr(function, '__name__', type(function).__name__)}"
        self._warn = not quiet
        self._programs, self._graphs = {}, {}

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Node]:
        """In a class, it is a method like any other."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, tape: Tape | None = None, **kwargs: Any) -> Node:
        if state.trace is not None:  # in a function that is compiled as well
            return self.__wrapped__(*args, **kwargs)
        program, values = self._look_up(args, kwargs)
        self.why = program.why
        if program.why:
            return self._fall_back(program, args, kwargs, tape)
        for step, numbers in program.steps:
            values.append(step([values[number] for number in numbers], self._name, tape))
        return values[-1]

    def steps(self, *args: Any, **kwargs: Any) -> list[CompiledGraph | SingleOperation]:
        """The steps of a call with these arguments, in order: CompiledGraphs and SingleOperations, a
        list; nothing is computed.
        """
        program, _ = self._look_up(args, kwargs)
        self.why = program.why
        return [step for step, _ in program.steps]

    def graphs(self, *args: Any, **kwargs: Any) -> list[CompiledGraph]:
        """The CompiledGraphs among the steps, a list."""
        return [step for step in self.steps(*args, **kwargs) if isinstance(step, CompiledGraph)]

    def source(self, *args: Any, **kwargs: Any) -> str:
        """The text of the kernels of a call with these arguments, forward and backward."""
        return "\n".join(
            text for graph in self.graphs(*args, **kwargs) for text in (graph.forward_source, graph.backward_source)
        )

    def _look_up(self, args, kwargs):
        """(the Program of a call, the values that it begins with)"""
        signature = Signature(state.enabled, len(PRIMITIVES))
        for x in args:
            signature.add(x)
        for name, x in kwargs.items():
            signature.key.append(name)
            signature.add(x)
        signature.add(self.__wrapped__)
        ids = [id(x) for x in signature.inputs]
        if len(set(ids)) < len(ids):  # f(x, x): its trace is not that of f(x, y)
            signature.key.append(tuple(map(ids.index, ids)))
        key = tuple(signature.key)
        program = self._programs.get(key)
        if program and all([PRIMITIVES.get(each.name) is each for each in program.records]):
            return program, signature.inputs
        program, found = self._trace(signature, args, kwargs)
        if program.why or signature.complete and not found:
            if len(self._programs) >= MOST_PROGRAMS:
                self._programs.clear()
                self._graphs.clear()
            self._programs[key] = program
        return program, signature.inputs + found

    def _trace(self, signature, args, kwargs):
        """(a Program, the Nodes and Tensors that it uses besides the inputs)"""
        inputs = signature.inputs
        known = {id(x): TraceNode("input", spec_or_none(x)) for x in inputs}
        wrapped, names = as_nodes(args), {name: as_node(x) for name, x in kwargs.items()}
        for x, node in zip((*args, *kwargs.values()), (*wrapped, *names.values())):
            if x is not node:
                known[id(node)] = known[id(x)]
        trace, thread = Trace(known), get_ident()

        def refuse(command):
            if command.name == "read" and get_ident() == thread:
                raise NoNumbers("to_host")

        try:
            with trace.recording(), ExitStack() as stack:
                for device in manager.devices():
                    stack.enter_context(device.watched_by(refuse))
                # A trace for one call alone freezes nothing, so there it need not be watched.
                asked = stack.enter_context(watched()) if signature.complete else ()
                out = self.__wrapped__(*wrapped, **names)
            if asked:
                raise Untraceable(f"it asks {asked[0]}, which may say something else in the next call")
            found = [x for x, _ in trace.found]
            leaves = [known[id(x)] for x in inputs] + [leaf for _, leaf in trace.found]
            return self._program(out, leaves), found
        except Exception as error:  # whatever it is: if it is a mistake, it will come again
            return Program(records=tuple(PRIMITIVES.values()), why=reason(error)), []

    def _program(self, out, leaves):
        """The Program that computes what a traced call returned."""
        if not isinstance(out, Node):
            raise Untraceable(f"it returns a {type(out).__name__}, not one Node")
        if not isinstance(out.value, TraceNode) or out.value.op_name == "input":
            return Program(why="it does no operation", warn=False)
        numbers = {leaf: number for number, leaf in enumerate(leaves)}
        count, steps, records = len(leaves), [], set()
        for head, inputs, body in split(out.value):
            if not head.spec.size or any(leaf.spec and not leaf.spec.size for leaf in inputs):
                return Program(why="there are no numbers", warn=False)
            step = SingleOperation(head) if head.op_name in STEPS else self._graph(head, inputs, body)
            steps.append((step, tuple([numbers[leaf] for leaf in inputs])))
            records |= {node.primitive for node in body}
            numbers[head] = count
            count += 1
        return Program(tuple(steps), tuple(records))

    def _graph(self, head, inputs, body):
        """The CompiledGraph of a chain, the same for the same chain."""
        if len(body) > MOST_OPERATIONS:
            raise Untraceable(f"a kernel of {len(body):,} operations takes long to compile")
        key = content(head, inputs, body)
        graph = self._graphs.get(key)
        if graph is None:
            graph = self._graphs[key] = CompiledGraph(head, inputs, body)
        return graph

    def _fall_back(self, program, args, kwargs, tape):
        """The function as it is."""
        kwargs = {name: as_node(x) for name, x in kwargs.items()}
        with tape or ExitStack():
            out = self.__wrapped__(*as_nodes(args), **kwargs)
        if self._warn and program.warn:
            self._warn = False  # once is enough
            warnings.warn(
                f"{self._name[4:]} is not fused, its operations run one by one: {program.why}",
                JitFallback,
                stacklevel=3,
            )
        return out


def spec_or_none(x):
    """The TensorSpec of a Node or Tensor; None of a number."""
    return getattr(x.value if isinstance(x, Node) else x, "spec", None)


def as_node(x):
    """A Tensor as a Node: then operators on it are operations of autograd."""
    return Node(x, x.requires_grad) if isinstance(x, Tensor) else x


def as_nodes(args):
    return tuple([as_node(x) for x in args])


def reason(error):
    """Why a function could not be traced, as a part of a sentence."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    ours = [code.co_filename.startswith(OURS) for code in codes]
    if isinstance(error, Untraceable) and not isinstance(error, NoNumbers):
        return str(error)
    if not ours[-1] or False not in ours:
        return f"{type(error).__name__}: {error}"
    name = codes[ours.index(True, ours.index(False))].co_name  # what somebody called of ours
    name = {"__bool__": "`if`", "__getattr__": f"`{error}`"}.get(name, name)
    return f"{name} looks at numbers, and there are none while it is traced"
