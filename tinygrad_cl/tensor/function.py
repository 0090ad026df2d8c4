"""A Function is an operation with its derivative; a Context is one call of it, a node of the graph.

forward works on plain arrays. backward is written with operators of tensors, so it can be recorded
itself: that is all that gradients of gradients need.
"""

import numpy as np

from tinygrad_cl.tensor import modes
from tinygrad_cl.tensor.variable import Variable, raw


class Function:
    """An operation with its derivative, written as a subclass with two static methods.

    forward(ctx, *arrays, **options)   the result, an array
    backward(ctx, grad)                ∂L/∂(each array), given grad = ∂L/∂(the result)

    What is the same for every operation is not their business: a gradient that still has the shape
    of the broadcast result is summed to the input's shape by the engine, and one for an input that
    needs none is thrown away (or is None).
    """

    any_dtype = False  # may float64 come from float32? Else the result is float32 again

    @staticmethod
    def forward(ctx, *arrays, **options):
        raise NotImplementedError("a Function needs a forward(ctx, *arrays)")

    @staticmethod
    def backward(ctx, grad):
        raise NotImplementedError("a Function needs a backward(ctx, grad)")

    @classmethod
    def apply(cls, *inputs, **options):
        """Run forward on the arrays of the inputs, and link the result to them in the graph.

        inputs    tensors, arrays, numbers: one gradient each comes back from backward
        options   have no gradient: an axis, a shape, …

        Nothing is linked while recording is off, or where no input requires a gradient.
        """
        ctx = Context(cls, inputs)
        out = run_forward(ctx, inputs, options)
        if True in ctx.needs_input_grad and out.dtype.kind == "f":
            out.requires_grad = True
            out.grad_fn = ctx
            ctx.link(inputs, out)
        return out


class Context:
    """One call of a Function: what its backward needs, and where its gradients go.

    needs_input_grad   True for each input whose gradient is wanted
    next_nodes         for each input: the node that computed it, the leaf itself, or None
    """

    def __init__(self, function, inputs):
        recording = modes.is_grad_enabled()
        self.function = function
        self.needs_input_grad = tuple([recording and isinstance(x, Variable) and x.requires_grad for x in inputs])
        self.to_save = ()
        self.hooks = []
        self.retained = None  # a weak reference to the result, if retain_grad was called on it
        self.freed = False
        self.segment = None  # brings back what a checkpoint dropped

    def __repr__(self):
        return f"<{self.name}Backward>"

    @property
    def name(self):
        return self.function.__name__

    def save_for_backward(self, *arrays):
        """Keep arrays for backward: inputs or the result themselves, or constants such as a mask.

        In double backward, inputs and result are part of the graph, and all else is constant. So do
        not save what was computed from the inputs on the way: compute it again in backward.
        """
        self.to_save = arrays

    @property
    def saved_tensors(self):
        """What was saved, as tensors. An error where it was changed in place since then."""
        if self.freed:
            raise freed_error(self)
        if self.segment is not None:
            self.segment.recompute()
        return tuple([saved.unpack(self) if isinstance(saved, Saved) else saved for saved in self.packed])

    def link(self, inputs, out):
        """Become the node behind `out`: note where gradients go, and pack what was saved."""
        self.next_nodes = tuple(
            [(x.grad_fn or x) if needed else None for x, needed in zip(inputs, self.needs_input_grad)]
        )
        self.input_shapes = tuple([np.shape(raw(x)) for x in inputs])
        self.input_dtypes = tuple([x.dtype if needed else None for x, needed in zip(inputs, self.needs_input_grad)])
        self.result_shape, self.result_type = out.shape, type(out)
        known = [x for x in inputs if isinstance(x, Variable)] + [out]
        self.packed = tuple([pack(array, known, out) for array in self.to_save])
        self.to_save = None
        if modes.state.recorder is not None:
            modes.state.recorder.append(self)

    def kept_arrays(self):
        """The arrays that are kept for its backward, those to compute others from included."""
        saved = [s.array for s in self.packed if isinstance(s, Saved) and s.array is not None]
        return saved + (self.segment.kept_arrays() if self.segment is not None else [])

    def free(self):
        """Let go of what was saved."""
        self.packed = ()
        self.segment = None
        self.freed = True


class Saved:
    """An array that a node keeps, with what is needed to make a tensor of it again.

    The result of the node is kept as an array, not as a tensor: the tensor holds the node, so that
    would be a circle, which only the garbage collector could free.
    """

    __slots__ = ("array", "type", "version", "count", "is_result", "requires_grad", "grad_fn", "leaf")

    def __init__(self, array, tensor, is_result):
        self.array = array
        self.type = type(tensor)
        self.version = tensor.version
        self.count = tensor.version.count
        self.is_result = is_result
        self.requires_grad = tensor.requires_grad
        self.grad_fn = None if is_result else tensor.grad_fn
        self.leaf = tensor if self.requires_grad and tensor.is_leaf else None

    def unpack(self, ctx):
        if self.version.count != self.count:
            what = "its result" if self.is_result else "an input"
            raise RuntimeError(
                f"{ctx.name} saved {what}, of shape {self.array.shape}, for backward, and it was"
                f" changed in place since then: it is at version {self.version.count}, saved at"
                f" version {self.count}; use x = x + 1 instead of x += 1, or clone() it before"
            )
        if self.leaf is not None and self.leaf.data is self.array:
            return self.leaf
        tensor = self.type.wrap(self.array)
        tensor.version = self.version
        tensor.requires_grad = self.requires_grad
        tensor.grad_fn = ctx if self.is_result else self.grad_fn
        return tensor


def pack(array, known, out):
    """A Saved for an array, be it that of a known tensor or a constant; a number as it is."""
    for tensor in known:
        if tensor.data is array:
            return Saved(array, tensor, tensor is out)
    if isinstance(array, np.ndarray):
        return Saved(array, type(out).wrap(array), False)
    return array


def run_forward(ctx, inputs, options):
    """What forward returns, as a tensor of the inputs' class."""
    example = next((x for x in inputs if isinstance(x, Variable)), None)
    if example is None:
        raise TypeError(f"{ctx.name}.apply needs a tensor among its inputs")
    if any(isinstance(x, Variable) and x.requires_grad for x in options.values()):
        raise TypeError(f"{ctx.name}.apply: an option gets no gradient; make the tensor an input")
    arrays = [raw(x) for x in inputs]
    try:
        returned = ctx.function.forward(ctx, *arrays, **options)
    except ValueError as error:
        if "broadcast" not in str(error):
            raise
        shapes = " and ".join(str(np.shape(a)) for a in arrays)
        raise ValueError(f"{ctx.name}: the shapes {shapes} do not broadcast") from error
    if isinstance(returned, tuple):
        raise TypeError(f"{ctx.name}.forward returned a tuple; a Function has one result")
    result = np.asarray(returned)  # of arrays of shape (), NumPy makes numbers, which are no arrays
    if not ctx.function.any_dtype:
        result = keep_float32(result, arrays)
    ctx.to_save = [result if array is returned else array for array in ctx.to_save]
    out = example.wrap(result)
    for x in inputs:
        if isinstance(x, Variable) and owner(x.data) is owner(result):
            out.share_memory_with(x)
    return out


def keep_float32(result, arrays):
    """float64 comes from float64 only, not from an int64 or a Python number next to float32."""
    if result.dtype == np.float64 and not any(isinstance(a, np.ndarray) and a.dtype == np.float64 for a in arrays):
        return result.astype(np.float32)
    return result


def owner(array):
    """The array that owns the memory which this one is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def freed_error(ctx):
    return RuntimeError(
        f"{ctx.name}: backward has been here before, and freed what it needs;"
        " the first time, say backward(retain_graph=True)"
    )
