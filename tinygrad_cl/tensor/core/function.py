"""A Function is an operation with its derivative; a Context is one call of it, a node of the graph.

forward works on plain arrays. backward is written with operators of tensors, so it can be recorded
itself: that is all that gradients of gradients need.
"""

import numpy as np

from tinygrad_cl.tensor.core.modes import is_grad_enabled
from tinygrad_cl.tensor.core.variable import Variable, raw


class Context:
    """One call of a Function: what its backward needs, and where its gradients go.

    function           the Function that was called
    needs_input_grad   for each input, whether its gradient is needed
    tensor_type        the class of its tensors
    next_nodes         for each input: the node that computed it, the leaf itself, or None
    input_shapes       the shape of each input
    kept               what was saved for backward
    freed              whether what was saved has been freed
    """

    next_nodes = ()
    input_shapes = ()
    kept = ()
    freed = False

    def __init__(self, function, needs_input_grad, tensor_type):
        self.function = function
        self.needs_input_grad = needs_input_grad
        self.tensor_type = tensor_type

    @property
    def name(self):
        return self.function.__name__

    def __repr__(self):
        return f"<{self.name}Backward>"

    def wrap_result(self, returned, inputs):
        """What forward returned, as a tensor. It is float64 only if one of the input arrays is.

        An integer array or a Python number next to float32 does not make it float64. A Function
        with any_dtype = True keeps the dtype that forward returned.
        """
        result = np.asarray(returned)  # NumPy returns scalars, not arrays, for shape ()
        if result.dtype == np.float64 and not self.function.any_dtype:
            arrays = [a for a in map(raw, inputs) if isinstance(a, np.ndarray)]
            if not any([a.dtype == np.float64 for a in arrays]):
                result = result.astype(np.float32)
        return self.tensor_type.wrap(result)

    def save_for_backward(self, *arrays):
        """Keep what backward will need in `self.kept`: arrays, numbers or None.

        A second call replaces what the first one saved.
        """
        self.kept = arrays

    @property
    def saved_tensors(self):
        """What was saved, as a tuple in the same order; arrays as tensors, without a copy.

        `self.tensor_type.wrap` makes the tensors. Numbers and None come back as they are.

        >>> ctx = Context(None, (True,), Tensor)
        >>> ctx.save_for_backward(np.array([1, 2]), 3, None)
        >>> ctx.saved_tensors
        (Tensor([1, 2]), 3, None)
        """
        wrap = self.tensor_type.wrap
        return tuple([wrap(x) if isinstance(x, np.ndarray) else x for x in self.kept])

    def free(self):
        """Forget what was saved: set `kept` to () and `freed` to True."""
        self.kept = ()
        self.freed = True

    def kept_arrays(self):
        """The arrays among what was saved."""
        return [x for x in self.kept if isinstance(x, np.ndarray)]


class Function:
    """An operation with its derivative, written as a subclass with two static methods.

    forward(ctx, *arrays, **options)   the result, an array
    backward(ctx, grad)                ∂L/∂(each input), given grad = ∂L/∂(the result), all tensors

    Where an input was broadcast, backward may return its gradient in the shape of the result: the
    engine sums it to the input's shape. For an input that needs no gradient, backward may return
    None; the engine ignores whatever it returns there.
    """

    any_dtype = False

    @staticmethod
    def forward(ctx, *arrays, **options):
        raise NotImplementedError("a Function needs a forward(ctx, *arrays)")

    @staticmethod
    def backward(ctx, grad):
        raise NotImplementedError("a Function needs a backward(ctx, grad)")

    @classmethod
    def apply(cls, *inputs, **options):
        """Run forward on the arrays of the inputs, and link the result to them in the graph.

        inputs    tensors (each a Variable), arrays, numbers, lists; forward gets raw(x) of each
        options   forward gets them as they are; they have no gradient

        An input needs a gradient if recording is on (`is_grad_enabled()`), it is a tensor, and it
        has requires_grad=True. Make the node with ctx = new_context(cls, inputs, a tuple with True
        or False for each input). What forward returns is run_forward(ctx, arrays, options), and the
        result is ctx.wrap_result(what forward returned, inputs).

        If ctx.needs_input_grad has no True, that is all. Otherwise the result gets requires_grad =
        True and grad_fn = ctx, and the node gets two tuples with one entry for each input:

        ctx.next_nodes     the grad_fn of the input; for a leaf, which has none, the leaf itself;
                           None if the input needs no gradient
        ctx.input_shapes   the shape of the input, () for a number
        """
        recording = is_grad_enabled()
        needed = tuple([recording and isinstance(x, Variable) and x.requires_grad for x in inputs])
        ctx = new_context(cls, inputs, needed)
        arrays = [raw(x) for x in inputs]
        out = ctx.wrap_result(run_forward(ctx, arrays, options), inputs)
        if True in ctx.needs_input_grad:
            out.requires_grad = True
            out.grad_fn = ctx
            pairs = zip(inputs, needed)
            ctx.next_nodes = tuple([(x.grad_fn or x) if need else None for x, need in pairs])
            ctx.input_shapes = tuple([np.shape(array) for array in arrays])
        return out


def new_context(function, inputs, needs_input_grad):
    """A new node for a call of the Function. The first tensor among the inputs makes it."""
    for x in inputs:
        if isinstance(x, Variable):
            return x.context(function, needs_input_grad)
    raise TypeError(f"{function.__name__}.apply needs a tensor among its inputs")


def run_forward(ctx, arrays, options):
    """Call forward and return its result. A clear error if shapes or options do not fit."""
    if any([isinstance(x, Variable) and x.requires_grad for x in options.values()]):
        raise TypeError(f"{ctx.name}.apply: an option gets no gradient; make the tensor an input")
    try:
        returned = ctx.function.forward(ctx, *arrays, **options)
    except ValueError as error:
        if "broadcast" not in str(error):
            raise
        shapes = " and ".join(str(np.shape(a)) for a in arrays)
        raise ValueError(f"{ctx.name}: the shapes {shapes} do not broadcast") from error
    if isinstance(returned, tuple):
        raise TypeError(f"{ctx.name}.forward returned a tuple; a Function has one result")
    return returned
