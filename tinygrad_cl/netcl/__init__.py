"""Engine 3: automatic differentiation on an OpenCL device, under netcl's public names.

core ← ops ← autograd        each part imports only what stands to its left
"""

from tinygrad_cl.netcl.ops import operators  # noqa: F401 (tells tensors what + and the like do)
