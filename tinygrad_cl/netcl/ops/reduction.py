"""Sums, means and extremes over axes."""

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.core.tensor import layout_of, refuse_indices
from tinygrad_cl.netcl.ops.loop_nest import LoopNest, Reduction
from tinygrad_cl.netcl.ops.loop_plan import nest_plan
from tinygrad_cl.netcl.ops.shapes import axes_to, broadcast_strides, normal_axes


def reduce_sum(x, axis=None, keepdims=False):
    """Σ x over one axis, several (a tuple) or all (None), as numpy.sum; 0 where there is
    nothing.
    """
    return reduce(x, "sum", axis, keepdims)


def reduce_mean(x, axis=None, keepdims=False):
    """Σ x / n over one axis, several or all, as numpy.mean; NaN where there is nothing."""
    return reduce(x, "mean", axis, keepdims)


def reduce_max(x, axis=None, keepdims=False):
    """The largest number along axes, as numpy.max: NaN if one is; ValueError if there is none."""
    return reduce(x, "max", axis, keepdims)


def reduce_min(x, axis=None, keepdims=False):
    """The smallest number along axes, as numpy.min: NaN if one is; ValueError if there is none."""
    return reduce(x, "min", axis, keepdims)


def sum_to(x, shape):
    """x summed over the axes along which a tensor of `shape` was repeated: what broadcasting costs
    a gradient. x itself where nothing was. ValueError if `shape` does not broadcast to x's.

    >>> axes_to((2, 3, 4), (3, 1))
    (0, 2)
    """
    if x.shape == shape:
        return x
    return reduce_sum(x, axes_to(x.shape, shape)).reshape(shape)


def reduce(x, how, axis=None, keepdims=False):
    """x reduced over axes; `how` is "sum", "mean", "max" or "min"."""
    key = (reduce, x.layout, how, tuple(axis) if hasattr(axis, "__iter__") else axis, keepdims)
    plan = plans.table.get(key)
    if plan is None:
        plan = plans.table[key] = make_plan(x.layout, how, axis, keepdims)
    return plan.one((x.buffer,))


def make_plan(layout, how, axis, keepdims):
    """The Plan for a tensor of this layout."""
    refuse_indices(how, [layout])
    axes = normal_axes(axis, layout.shape)
    if how in ("max", "min") and 0 in [layout.shape[each] for each in axes]:
        raise ValueError(f"there is no {how} of nothing: shape {layout.shape}, axes {axes}")
    shape = [1 if each in axes else length for each, length in enumerate(layout.shape) if keepdims or each not in axes]
    nest = LoopNest(f"reduce_{how}", ("x",), reductions=(Reduction("x", how, layout.dtype.name),))
    inputs = [(layout, broadcast_strides(layout.shape, layout.shape))]
    return nest_plan(nest, layout, inputs, [layout_of(layout.device, shape, layout.dtype)], axes)
