"""torch.utils.checkpoint."""

from tinygrad_cl.tensor import checkpoint as checkpoint_of_the_engine


def checkpoint(function, *args, use_reentrant=None):
    """The engine's checkpoint. It has one way, which is right for either value of use_reentrant."""
    return checkpoint_of_the_engine(function, *args)
