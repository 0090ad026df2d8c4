"""Engine 3: automatic differentiation on an OpenCL device, under netcl's public names.

    core ← ops ← autograd        each part imports only what stands to its left
"""
