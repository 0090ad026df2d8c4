"""minitorch: its Scalar is engine 1, its Tensor engine 2. What it tests with, minitorch.testing, is its own file."""

import os
from pathlib import Path

__path__.append(str(Path(os.environ["PEERS_SUITE"], "minitorch")))

from minitorch import operators as operators
from minitorch.scalar import Scalar as Scalar
from minitorch.scalar import central_difference as central_difference
from minitorch.scalar import derivative_check as derivative_check
from minitorch.tensor import SimpleBackend as SimpleBackend
from minitorch.tensor import Tensor as Tensor
from minitorch.tensor import TensorData as TensorData
from minitorch.tensor import grad_check as grad_check
from minitorch.tensor import prod as prod
from minitorch.tensor import tensor as tensor
from minitorch.testing import MathTest as MathTest
from minitorch.testing import MathTestVariable as MathTestVariable

TensorBackend = UserIndex = UserShape = object
