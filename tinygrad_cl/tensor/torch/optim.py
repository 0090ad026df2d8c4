"""torch.optim: the engine's optimizers, whose names are PyTorch's."""

from tinygrad_cl.tensor import optim
from tinygrad_cl.tensor.optim import Adam, AdamW

__all__ = ["SGD", "Adam", "AdamW"]


class SGD(optim.SGD):
    """The engine's; by place it takes no more than what comes in PyTorch's order, too."""

    def __init__(self, params, lr=1e-3, momentum=0.0, *, nesterov=False, weight_decay=0.0):
        super().__init__(params, lr, momentum, nesterov, weight_decay)
