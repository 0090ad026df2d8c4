"""torch.nn.utils."""

import numpy as np

from tinygrad_cl.tensor import optim
from tinygrad_cl.tensor.torch.tensor_class import Tensor


def clip_grad_norm_(parameters, max_norm):
    """The engine's, with the norm before as a tensor. PyTorch divides by the norm + 10⁻⁶ instead."""
    return Tensor.wrap(np.array(optim.clip_grad_norm_(parameters, max_norm), np.float32))
