"""Hooks: functions that are called with a gradient during backward, and may replace it."""

import numpy as np

from tinygrad_cl.tensor.core.variable import Variable


class HookHandle:
    """What register_hook returns: remove() removes the hook."""

    def __init__(self, hooks, hook):
        self.hooks = hooks
        self.key = object()  # not self: the handle holds the dict; and the same hook may be there twice
        hooks[self.key] = hook

    def remove(self) -> None:
        """Remove the hook. A second call changes nothing."""
        self.hooks.pop(self.key, None)


def call_hooks(hooks, grad):
    """The gradient after all hooks of a tensor or a node, {key: hook}, in their order."""
    for hook in tuple(hooks.values()):
        replaced = hook(grad)
        if replaced is not None:
            if replaced.shape != grad.shape:
                raise ValueError(f"a hook returned shape {replaced.shape} for {grad.shape}")
            grad = replaced if isinstance(replaced, Variable) else grad.wrap(np.asarray(replaced))
    return grad
