"""What an observation may use besides `student`, `rng`, `np` and `math`.

This file travels as text to the student's kernel, so it imports nothing of the course at its top.
"""

import contextlib
import gc
import sys


class WorkLimitExceeded(BaseException):
    """More calls than any sensible solution needs. A BaseException, so that `except Exception` does not swallow it."""


class Tools:
    """The helpers of an observation, passed to it as `tools`."""

    def leaves(self, student, **numbers):
        """Leaf Values of the student's class, labelled: a, b = tools.leaves(student, a=1.3, b=-0.7)."""
        values = []
        for label, number in numbers.items():
            value = student.Value(float(number))
            value.label = label
            values.append(value)
        return values[0] if len(values) == 1 else values

    def backpropagate(self, out, upstream=1.0):
        """Set `grad` on everything below `out`, starting from `upstream`, without the student's `backward`.

        Serves both ways to write a node: parents with local derivatives, or closures `_backward` hung on nodes (then
        the parents may be `parents` or `_prev`). So that an op can be checked before `backward` is written.
        """
        if out is None:
            raise TypeError("the result is None; is there a `return` missing?")
        order = parents_first(out)
        for node in order:
            if not hasattr(node, "grad"):
                raise TypeError(
                    f"{'the result' if node is out else 'a parent'} is a {type(node).__name__}, not a Value"
                )
            node.grad = 0.0
        out.grad = float(upstream)
        for node in reversed(order):
            closure = getattr(node, "_backward", None)
            if callable(closure):
                closure()
                continue
            parents, derivatives = tuple(parents_of(node)), getattr(node, "local_derivatives", ())
            if not hasattr(derivatives, "__len__"):
                raise TypeError(
                    f"the local derivatives of a box {node.op!r} are a {type(derivatives).__name__}, not a tuple"
                )
            if any(isinstance(derivative, type(out)) for derivative in derivatives):
                raise TypeError(f"a local derivative of a box {node.op!r} is a box, not a number")
            if len(parents) != len(derivatives):
                raise ValueError(
                    f"a box {getattr(node, 'op', '')!r} has parents: {len(parents)}, local derivatives: "
                    f"{len(derivatives)}; each parent needs one, in the same order"
                )
            for parent, derivative in zip(parents, derivatives):
                parent.grad += derivative * node.grad

    @contextlib.contextmanager
    def work_limit(self, calls):
        """Stop with WorkLimitExceeded after that many calls of Python or C functions.

        A count, not a time: the verdict is the same on a slow machine.
        """
        left = [calls]

        def count(frame, event, argument):
            if event in ("call", "c_call"):
                left[0] -= 1
                if left[0] < 0:
                    sys.setprofile(None)
                    raise WorkLimitExceeded(f"stopped after {calls:,} function calls; a linear walk needs far fewer")

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            yield
        finally:
            sys.setprofile(before)

    def arrays_kept(self, student, device, shape, run):
        """How many arrays of that shape are alive on the device after `run()` that were not before, its result included.

        The garbage collector waits: what it would free was there before.
        """
        with self.collector_waits():
            before = device.pool.used_bytes()
            one = student.Tensor.from_shape(device.queue, shape)
            size = device.pool.used_bytes() - before
            del one
            out = run()
            arrays = (device.pool.used_bytes() - before) / size
            del out
            return arrays

    @contextlib.contextmanager
    def collector_waits(self):
        """The garbage collector waits. What is made inside stays in its youngest generation: `gc.collect(0)` looks at that
        alone, and not at all objects of the process, which takes a fifth of a second.
        """
        enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if enabled:
                gc.enable()

    def device(self):
        """The OpenCL device that the course runs on (tinygrad_cl.opencl.default_device)."""
        from tinygrad_cl.opencl import default_device

        return default_device()


class DeviceTools(Tools):
    """The same helpers for a run on `tinygrad_cl.traced.TracedValue`, whose backward is central differences."""

    def backpropagate(self, out, upstream=1.0):
        (out * float(upstream)).backward()


def parents_of(node):
    """The nodes that `node` was computed from, whatever the student calls them."""
    parents = getattr(node, "parents", ())
    return parents if parents else getattr(node, "_prev", ())


def parents_first(root):
    """Every node below root, parents before children, each once; by identity, so that an odd __eq__ does no harm."""
    order, visited, stack = [], set(), [(root, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        elif id(node) not in visited:
            visited.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent in parents_of(node))
    return order
