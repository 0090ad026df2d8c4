"""Check gradients of engine 1 by finite differences on the OpenCL device, without any derivative rule.

A `TracedValue` is used like engine 1's `Value`, but it only records the expression. Its `backward` evaluates the
expression at all perturbed points in one kernel launch, two for each node, and takes central differences:

    ∂root/∂node ≈ (root with node + h − root with node − h) / ((node + h) − (node − h))

The kernel is an interpreter whose input is the expression, as a list of instructions, one for each node. So it is
compiled once, and not once for each expression (to compile an expression of 300 nodes takes PoCL one second, of 1,000
nodes twelve).
"""

import itertools
import math
from functools import lru_cache
from numbers import Real

import numpy as np
import pyopencl as cl

from tinygrad_cl.opencl import default_device

MAX_NODES = 2000  # work and memory grow quadratically: 2,000 nodes need 8 million steps and 64 MB


class TooManyNodes(ValueError):
    """The expression is too large to be evaluated twice for each of its nodes."""


def power(base, exponent):
    """baseᵉˣᵖᵒⁿᵉⁿᵗ, with the same exceptions as engine 1."""
    if base == 0 and exponent < 0:
        raise ZeroDivisionError("a negative power of 0 is a division by 0")
    return math.pow(base, exponent)


def sigmoid(x):
    """1 / (1 + e⁻ˣ), without overflow."""
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


# op: (what Python computes, what the kernel computes from its operands a and b)
OPS = {
    "+": (lambda a, b: a + b, "a + b"),
    "*": (lambda a, b: a * b, "a * b"),
    "**": (power, "pow(a, b)"),
    "exp": (math.exp, "exp(a)"),
    "log": (math.log, "log(a)"),
    "log1p": (math.log1p, "log1p(a)"),
    "tanh": (math.tanh, "tanh(a)"),
    "sigmoid": (sigmoid, "1 / (1 + exp(-a))"),
    "relu": (lambda a: max(a, 0.0), "a < 0 ? 0 : a"),
    "same": (lambda a: a, "a"),
}
CODES = {op: code for code, op in enumerate(OPS, start=1)} | {"leaf": 0}

KERNEL = """
#pragma OPENCL FP_CONTRACT OFF
#define a v[instruction.y * points + point]
#define b v[instruction.z * points + point]

/* Point 2k evaluates the expression with node k increased by a small step, point 2k + 1 with node k decreased, and
   the last point with no change. For each node, parents first, `program` has (op, operand, operand, 0) and `number`
   the data of a leaf. `v` is scratch memory. `moved` gets the changed value of the node, at all points but the last;
   `root` gets the value of the expression. */
__kernel void evaluate(const int nodes, __global const int4 *program, __global const real *number,
                       __global real *v, __global real *moved, __global real *root) {
    const int point = get_global_id(0), points = get_global_size(0);
    for (int k = 0; k < nodes; k++) {
        const int4 instruction = program[k];
        real result = number[k];
        switch (instruction.x) {
            CASES
        }
        if (k == point / 2) {
            const real step = 2 * cbrt((real)EPSILON) * fmax(fabs(result), (real)0.1f);
            result += point % 2 == 0 ? step : -step;
            moved[point] = result;
        }
        v[k * points + point] = result;
    }
    root[point] = v[(nodes - 1) * points + point];
}
"""


class TracedValue:
    """One real number that records how it was computed. Its gradients are measured, not derived.

    It has the public interface of `tinygrad_cl.scalar.Value`. A node that is created directly, with `parents` and
    `local_derivatives`, is treated as linear in its parents.
    """

    __array_ufunc__ = None  # so that np.float64(2) * TracedValue(3) calls TracedValue.__rmul__
    _births = itertools.count()

    def __init__(self, data, parents=(), local_derivatives=(), op="", label=""):
        if not isinstance(data, Real):
            raise TypeError(f"a TracedValue holds one real number, not {data!r}")
        self.data = float(data)
        self.grad = 0.0
        self.parents = tuple(parents)
        self.op = op
        self.label = label
        self._instruction, self._operands = "leaf", ()
        self._slopes = tuple(local_derivatives)
        if self.parents:
            line = TracedValue(data)
            for parent, slope in zip(self.parents, self._slopes, strict=True):
                line = line + slope * (parent - parent.data)
            self._instruction, self._operands = "same", (line,)
        self._birth = next(
            TracedValue._births
        )  # larger than that of its operands, so sorting by it is a topological order

    def __repr__(self):
        name = f"{self.label}: " if self.label else ""
        return f"TracedValue({name}data={self.data:.6g}, grad={self.grad:.6g})"

    def __bool__(self):
        return self.data != 0

    @property
    def precision(self):
        """The device's precision: "float64" (expect errors of 1e-8), else "float32" (expect 1e-3)."""
        return real_type(default_device()).name

    @property
    def local_derivatives(self):
        """∂(this node)/∂(each parent), numbers in the order of `parents`, measured for this operation only."""
        if not self.parents or self._instruction == "same":
            return self._slopes
        leaves = [TracedValue(operand.data) for operand in self._operands]
        record(self._instruction, *leaves).backward()
        return tuple(leaf.grad for leaf in leaves[: len(self.parents)])

    def __add__(self, other):
        return record("+", self, as_traced(other))

    def __mul__(self, other):
        return record("*", self, as_traced(other))

    def __pow__(self, exponent):
        """The power. An exponent that is a plain number is an operand of the kernel, but not a parent."""
        out = record("**", self, as_traced(exponent))
        if not isinstance(exponent, TracedValue):
            out.parents = (self,)
        elif self.data <= 0:
            raise ValueError(f"{self.data:g} ** TracedValue: the derivative for the exponent needs a base above 0")
        return out

    def exp(self):
        return record("exp", self)

    def log(self):
        return record("log", self)

    def log1p(self):
        return record("log1p", self)

    def tanh(self):
        return record("tanh", self)

    def sigmoid(self):
        return record("sigmoid", self)

    def relu(self):
        return record("relu", self)

    def __neg__(self):
        return record("*", self, as_traced(-1.0))

    def __sub__(self, other):
        return self + -as_traced(other)

    def __truediv__(self, other):
        return self * as_traced(other) ** -1

    def __radd__(self, other):
        return as_traced(other) + self

    def __rsub__(self, other):
        return as_traced(other) - self

    def __rmul__(self, other):
        return as_traced(other) * self

    def __rtruediv__(self, other):
        return as_traced(other) / self

    def __rpow__(self, other):
        return as_traced(other) ** self

    def backward(self):
        """Add ∂self/∂leaf to the `grad` of every leaf of self, and set `grad` on every intermediate node.

        Central differences in one launch. Raises TooManyNodes above MAX_NODES.
        """
        _, gradients = measure(self)
        for node, gradient in gradients.items():
            node.grad = gradient if node.parents else node.grad + gradient

    def zero_grad(self):
        """Set `grad` to 0 on this node and on all its ancestors."""
        for node in nodes_below(self):
            node.grad = 0.0


def as_traced(x):
    """x itself if it is a TracedValue, else a new leaf that holds the number x."""
    return x if isinstance(x, TracedValue) else TracedValue(x)


def record(op, *operands):
    """A new node for one operation; Python computes its data. Errors name the operation and the numbers."""
    numbers = [operand.data for operand in operands]
    compute, _ = OPS[op]
    try:
        out = TracedValue(compute(*numbers), op=op)
    except (ArithmeticError, ValueError) as error:
        raise type(error)(f"{op} of {' and '.join(f'{x:g}' for x in numbers)}: {error}") from None
    out.parents = out._operands = operands
    out._instruction = op
    return out


def nodes_below(root):
    """All nodes that the kernel computes for root, and root itself, parents first."""
    found, stack = {root}, [root]
    while stack:
        for operand in stack.pop()._operands:
            if operand not in found:
                found.add(operand)
                stack.append(operand)
    return sorted(found, key=lambda node: node._birth)


def measure(root, device=None):
    """(value of root on the device, {node: ∂root/∂node}) for root and all its ancestors, in one launch.

    device: a tinygrad_cl.opencl.Device, by default default_device().

    Constants among the operands are nodes, too. A gradient is nan if root is not a real number on one side of the node,
    as for √a at 0.
    """
    nodes = nodes_below(root)
    if len(nodes) > MAX_NODES:
        raise TooManyNodes(
            f"this expression has {len(nodes):,} nodes; gradients on the device are measured for at"
            f" most {MAX_NODES:,}, because each node needs two more evaluations of the expression"
        )
    position = {node: k for k, node in enumerate(nodes)}
    program = np.zeros((len(nodes), 4), np.int32)
    for k, node in enumerate(nodes):
        operands = [position[operand] for operand in node._operands]
        program[k, : 1 + len(operands)] = CODES[node._instruction], *operands
    moved, result = launch(device or default_device(), program, np.array([node.data for node in nodes]))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        slopes = (result[:-1:2] - result[1::2]) / (moved[::2] - moved[1::2])
    return float(result[-1]), dict(zip(nodes, slopes.tolist()))


def launch(device, program, numbers):
    """Evaluate the program at its 2N + 1 points.

    Returns the changed values of the nodes, float64 (2N,), and the results, float64 (2N + 1,), the last with no change.
    """
    real = real_type(device)
    points = 2 * len(program) + 1
    with np.errstate(over="ignore"):
        numbers = numbers.astype(real)
    flags = cl.mem_flags
    inputs = [cl.Buffer(device.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x) for x in (program, numbers)]
    scratch = cl.Buffer(device.context, flags.READ_WRITE, len(program) * points * real.itemsize)
    outputs = [cl.Buffer(device.context, flags.READ_WRITE, n * real.itemsize) for n in (points - 1, points)]
    program_on_device = build(device, device.context)
    kernel = cl.Kernel(program_on_device, "evaluate")  # a new object, since two threads must not share its arguments
    kernel(device.queue, (points,), (1,), np.int32(len(program)), *inputs, scratch, *outputs)
    moved, result = np.zeros(points - 1, real), np.zeros(points, real)
    cl.enqueue_copy(device.queue, moved, outputs[0])
    cl.enqueue_copy(device.queue, result, outputs[1])
    return moved.astype(np.float64), result.astype(np.float64)


def real_type(device):
    """The NumPy dtype that `measure` computes in on the device."""
    return np.dtype(np.float64 if device.fp64 else np.float32)


@lru_cache(maxsize=8)
def build(device, context):
    """The interpreter, compiled for the widest float type of the device.

    context: the device's context; part of the cache's key, since equal devices may have different contexts.
    """
    cases = "\n            ".join(
        f"case {CODES[op]}: result = {expression}; break;" for op, (_, expression) in OPS.items()
    )
    head = "#define real float\n#define EPSILON FLT_EPSILON\n"
    if device.fp64:
        head = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#define real double\n#define EPSILON DBL_EPSILON\n"
    return device.build(head + KERNEL.replace("CASES", cases))
