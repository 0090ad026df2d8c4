"""Sums, means, maxima and minima over axes."""

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.core.tensor import refuse_indices, spec_of
from tinygrad_cl.netcl.ops.loop_nest import LoopNest, Reduction
from tinygrad_cl.netcl.ops.loop_plan import nest_plan
from tinygrad_cl.netcl.ops.shapes import axes_to, broadcast_strides, normal_axes


def reduce_sum(x, axis=None, keepdims=False):
    """Σ x over one axis, several (a tuple) or all (None), as numpy.sum; 0 for no elements."""
    return reduce(x, "sum", axis, keepdims)


def reduce_mean(x, axis=None, keepdims=False):
    """Σ x / n over one axis, several or all, as numpy.mean; NaN for no elements."""
    return reduce(x, "mean", axis, keepdims)


def reduce_max(x, axis=None, keepdims=False):
    """The largest element along axes, as numpy.max: NaN if one is NaN; ValueError for no elements."""
    return reduce(x, "max", axis, keepdims)


def reduce_min(x, axis=None, keepdims=False):
    """The smallest element along axes, as numpy.min: NaN if one is NaN; ValueError for no elements."""
    return reduce(x, "min", axis, keepdims)


def sum_to(x, shape):
    """x summed to `shape`, over the axes that broadcasting had added or repeated: the gradient of
    broadcasting. x itself if it has that shape. ValueError if `shape` does not broadcast to x's.

    >>> axes_to((2, 3, 4), (3, 1))
    (0, 2)
    """
    if x.shape == shape:
        return x
    return reduce_sum(x, axes_to(x.shape, shape)).reshape(shape)


def reduce(x, how, axis=None, keepdims=False):
    """x reduced over axes; `how` is "sum", "mean", "max" or "min"."""
    key = (reduce, x.spec, how, tuple(axis) if hasattr(axis, "__iter__") else axis, keepdims)
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = make_plan(x.spec, how, axis, keepdims)
    return plan.one((x.buffer,))


def make_plan(spec, how, axis, keepdims):
    """The Plan for a tensor of this spec."""
    refuse_indices(how, [spec])
    axes = normal_axes(axis, spec.shape)
    if how in ("max", "min") and 0 in [spec.shape[each] for each in axes]:
        raise ValueError(f"there is no {how} of nothing: shape {spec.shape}, axes {axes}")
    shape = [1 if each in axes else length for each, length in enumerate(spec.shape) if keepdims or each not in axes]
    nest = LoopNest(f"reduce_{how}", ("x",), reductions=(Reduction("x", how, spec.dtype.name),))
    inputs = [(spec, broadcast_strides(spec.shape, spec.shape))]
    return nest_plan(nest, spec, inputs, [spec_of(spec.device, shape, spec.dtype)], axes)
