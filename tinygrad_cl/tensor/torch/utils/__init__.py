"""torch.utils."""

from tinygrad_cl.tensor.torch.utils import checkpoint

__all__ = ["checkpoint"]
