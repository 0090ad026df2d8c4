"""Scans: loop nests that store the reduction so far at each place."""

from tinygrad_cl.netcl.core.device import plans
from tinygrad_cl.netcl.core.tensor import refuse_indices
from tinygrad_cl.netcl.ops.loop_nest import LoopNest, Reduction
from tinygrad_cl.netcl.ops.loop_plan import nest_plan
from tinygrad_cl.netcl.ops.shapes import broadcast_strides, one_axis


def cumsum(x, axis, backward=False):
    """Running sums along one axis, as numpy.cumsum: yᵢ = x₀ + … + xᵢ, a new Tensor.

    backward   from the last element to the first: yᵢ = xᵢ + xᵢ₊₁ + …

    ValueError for an axis that does not exist, TypeError for int32.
    """
    key = (cumsum, x.spec, axis, backward)
    plan = plans.table.get(key)
    if plan is None:
        refuse_indices("cumsum", [x.spec])
        running = Reduction("x", "sum", x.spec.dtype.name)
        nest = LoopNest("cumsum", ("x",), reductions=(running,), running=-1 if backward else 1)
        inputs = [(x.spec, broadcast_strides(x.shape, x.shape))]
        plan = plans.table[key] = nest_plan(nest, x.spec, inputs, [x.spec], (one_axis(axis, x.shape),))
    return plan.one((x.buffer,))
