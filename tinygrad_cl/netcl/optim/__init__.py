"""Optimizers: from gradients to better parameters, on the device."""

from tinygrad_cl.netcl.optim.adam import Adam, AdamW, RMSProp
from tinygrad_cl.netcl.optim.clip import clip_grad_norm_
from tinygrad_cl.netcl.optim.optimizer import Optimizer
from tinygrad_cl.netcl.optim.sgd import SGD, Momentum

__all__ = ["Adam", "AdamW", "Momentum", "Optimizer", "RMSProp", "SGD", "clip_grad_norm_"]
