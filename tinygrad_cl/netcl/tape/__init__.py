"""The ground floor of engine 3's automatic differentiation: what lesson 10 builds, word for word.

`modes`, what a thread is doing ← `node`, a tensor and how it was computed ← `tape`, the list of
operations and the backward pass over it. It is an engine of its own: `apply_op` makes an operation
out of two functions. The operations by name, and all that is there for speed, stand on it, in
`tinygrad_cl.netcl.autograd`.
"""
