"""Capture and replay: a training step becomes a list of commands."""

import functools
import threading
from collections.abc import Callable
from typing import Any, overload

import numpy as np
import pyopencl as cl

from tinygrad_cl.netcl.core.commands import Launch
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.tensor import Tensor, device_dtype
from tinygrad_cl.netcl.runtime.recording import Recording, difference
from tinygrad_cl.netcl.tape.modes import state
from tinygrad_cl.netcl.tape.node import Node


@overload
def capture(function: Callable[..., Any], *, queue: cl.CommandQueue | None = None) -> "Captured": ...
@overload
def capture(
    function: None = None, *, queue: cl.CommandQueue | None = None
) -> Callable[[Callable[..., Any]], "Captured"]: ...
def capture(function=None, *, queue=None):
    """The function as a Captured, which replays what it enqueues: `@capture`, or `step =
    capture(train_step)`.

    queue   the queue for arrays among the arguments; by default that of the first tensor among the
            arguments, else that of the default device
    """
    if function is None:
        return functools.partial(capture, queue=queue)
    return Captured(function, queue)


class Captured:
    """A function that runs in Python two or three times, and after that as a list of commands.

    Every call does its work. The first call may also create what is created once, such as kernels
    and the state of an optimizer. Calls are recorded until one enqueues exactly the same commands
    as the call before it. From then on that recording is replayed. If the third call still differs,
    RuntimeError says how.

    A replay runs no Python code of the function. So a captured function
    - updates everything that changes between calls on the device and in place: parameters (as
      `optim` does), state, learning rates. A Python number keeps the value that it had when recorded.
    - is called with the same argument structure: ValueError otherwise. Tensors and arrays, also in
      lists, tuples and dicts, need the same shapes and dtypes; the function gets copies of them
      (floats and booleans of an array as float32, integers as int32). All other arguments must
      have the same values; Parameters and other tensors that require a gradient must be the same
      objects.
    - returns tensors, in new memory each time. Nodes are returned without their graph, so call
      backward inside. `grad` of a parameter is the same Tensor after each call, with new values.
    - reads (`to_host`) and writes (`from_host`, `write`) only in the first call: RuntimeError later.

    An exception in the function reaches the caller, and that call does not count. Inside another
    captured function, this is the plain function.

    >>> from tinygrad_cl.netcl.core.parameter import Parameter
    >>> from tinygrad_cl.netcl.ops.elementwise import compute_into, formula_of
    >>> w = Parameter.full(manager.default("auto").queue, (2,), 1)
    >>> @capture
    ... def double():
    ...     compute_into(w, formula_of("2 * v0", 1), (w,))
    >>> for _ in range(4):
    ...     double()
    >>> w.to_host().tolist(), double
    ([16.0, 16.0], Captured(double: 1 command, 0 bytes))
    """

    def __init__(self, function: Callable[..., Any], queue: cl.CommandQueue | None = None) -> None:
        functools.update_wrapper(self, function)
        self._function, self._queue = function, queue
        self._name = getattr(function, "__name__", repr(function))
        self._lock = threading.RLock()
        self.clear()

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
        """In a class this is a method, captured for the instance of the first call."""
        return self if instance is None else functools.partial(self, instance)

    def clear(self) -> None:
        """Delete the recording: the next call is a first call, and may have other shapes."""
        with self._lock:
            self._form: Any = None  # of the arguments
            self._inputs: list[Tensor] = []  # the Tensors that the function gets
            self._pools: dict = {}
            self._before: Recording | None = None  # of the call before
            self._recording: Recording | None = None  # the one to replay
            self._calls, self._fault = 0, ""
            self._result: Any = None  # (form, Tensors) of what the function returned

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.leaves is not None:  # this thread is recording
            return self._function(*args, **kwargs)
        with self._lock:
            try:
                inputs = self._load(args, kwargs)
                if self._recording:
                    self._recording.replay(inputs)
                else:
                    self._record()
            except BaseException:
                if not self._calls:
                    self.clear()
                raise
            form, tensors = self._result
            return put_together(form, iter([tensor.copy() for tensor in tensors]))

    def _load(self, args, kwargs):
        """The buffers of the tensors among the arguments: this object's own buffers, filled with
        copies, or the caller's buffers if a replay can read them directly.
        """
        given = []
        form = take_apart((args, kwargs), given)
        if self._form is None:
            queue = self._queue or next((x.queue for x in given if isinstance(x, Tensor)), None)
            queue = queue or manager.default("auto").queue
            self._inputs = [Tensor.from_shape(getattr(x, "queue", queue), x.shape, dtype_of(x)) for x in given]
            self._form = form
        elif form != self._form:
            raise ValueError(
                f"captured for {self._name}{describe_call(self._form)}, got "
                f"{describe_call(form)}: capture again for other shapes and values"
            )
        inputs = [own.buffer for own in self._inputs]
        for number, (own, x) in enumerate(zip(self._inputs, given)):
            if isinstance(x, Tensor) and x.spec is not own.spec:
                raise ValueError(f"captured for a tensor on {own.device}, got one on {x.device}")
            if self._recording and isinstance(x, Tensor) and self._recording.may_read(number, x.buffer):
                inputs[number] = x.buffer
            else:
                own.write(x)
        return inputs

    def _record(self):
        """Run the function, and find out whether it can be replayed."""
        if self._fault:
            raise RuntimeError(self._fault)
        recording = Recording(self._pools, self._before)
        with recording.running():
            own = [Tensor(x.spec, x.buffer) for x in self._inputs]  # without gradients
            args, kwargs = put_together(self._form, iter(own))
            returned = self._function(*args, **kwargs)
        tensors = []
        result, before = (take_apart(returned, tensors, results=True), tensors), self._result
        self._calls, self._result = self._calls + 1, result
        if self._before:
            text = difference(self._before, recording)
            if not text and before[0] != result[0]:
                text = f"it returned {describe(before[0])} and then {describe(result[0])}"
            if not text:
                recording.prepare(self._inputs, tensors)
                self._recording = recording
            elif self._calls == 3:
                self._fault = f"{self._name} cannot be replayed, since its calls differ: {text}"
                raise RuntimeError(self._fault)
        self._before = None if self._recording else recording

    @property
    def commands(self) -> list[str]:
        """The names of the commands of a replay, in order: kernels, "fill", "copy". Empty before one
        is recorded.
        """
        return [entry.command.name for entry in self._entries()]

    @property
    def num_launches(self) -> int:
        """The number of kernel launches in a replay; netcl's name."""
        return sum(isinstance(entry.command, Launch) for entry in self._entries())

    @property
    def nbytes(self) -> int:
        """Bytes that the recording holds: intermediate results, arguments and results."""
        own = self._recording.memory.values() if self._recording else ()
        return sum(buffer.size for buffer in own) + sum(x.nbytes for x in self._inputs)

    def _entries(self):
        return self._recording.entries if self._recording else ()

    def __repr__(self):
        if not self._recording:
            return f"Captured({self._name}: not recorded yet)"
        count = len(self.commands)
        return f"Captured({self._name}: {count} command{'s' * (count != 1)}, {self.nbytes} bytes)"


# -- nested arguments and results --------------------------------------------------------------
#
# A form is their structure without the data: nested tuples. The first element is list, tuple or dict
# for a container; Tensor or Node, then shape and dtype, for a tensor; None for anything else.


def take_apart(value, tensors, results=False):
    """The form of a value; its tensors and arrays are appended to `tensors`.

    results   Nodes that require a gradient count as tensors, too, and arrays do not
    """
    kind = type(value)
    if kind is tuple or kind is list:
        return kind, *[take_apart(each, tensors, results) for each in value]
    if kind is dict:
        return dict, *[(key, take_apart(each, tensors, results)) for key, each in value.items()]
    if isinstance(value, Node) and (results or not value.requires_grad):
        kind, value = Node, value.value
    elif isinstance(value, Tensor) and not value.requires_grad or kind is np.ndarray and not results:
        kind = Tensor
    else:
        return None, kind, value
    tensors.append(value)
    return kind, value.shape, dtype_of(value)


def put_together(form, tensors):
    """The value of a form; its tensors are taken from the iterator `tensors`."""
    kind, *parts = form
    if kind is Tensor:
        return next(tensors)
    if kind is Node:
        return Node(next(tensors))
    if kind is dict:
        return {key: put_together(part, tensors) for key, part in parts}
    return kind(put_together(part, tensors) for part in parts) if kind else parts[1]


def dtype_of(x):
    """The dtype of a Tensor, or the dtype that an array has as a Tensor."""
    return x.dtype if isinstance(x, Tensor) else device_dtype(x)


def describe(form):
    """A form as text.

    >>> describe(take_apart((np.zeros((2, 3)), [1, "a"]), []))
    "(float32 (2, 3), [1, 'a'])"
    """
    kind, *parts = form
    if kind is None:
        return repr(parts[1])
    if kind in (Tensor, Node):
        return f"{'Node ' * (kind is Node)}{parts[1]} {parts[0]}"
    if kind is dict:
        return "{" + ", ".join(f"{key}: {describe(part)}" for key, part in parts) + "}"
    text = ", ".join(map(describe, parts))
    return f"[{text}]" if kind is list else f"({text})"


def describe_call(form):
    """The form of (args, kwargs) as text.

    >>> describe_call(take_apart(((np.zeros(3), 2), {"lr": 0.1}), []))
    '(float32 (3,), 2, lr=0.1)'
    """
    _, (_, *args), (_, *kwargs) = form
    named = [f"{key}={describe(part)}" for key, part in kwargs]
    return f"({', '.join([*map(describe, args), *named])})"
