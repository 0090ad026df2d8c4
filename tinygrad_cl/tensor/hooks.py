"""Hooks: functions that look at a gradient as it passes, and may replace it."""

import numpy as np

from tinygrad_cl.tensor.core.variable import Variable


class HookHandle:
    """What register_hook returns: remove() takes the hook away again."""

    def __init__(self, hooks, hook):
        self.hooks = hooks
        self.key = object()  # not self: the handle holds the dict; and the same hook may be there twice
        hooks[self.key] = hook

    def remove(self):
        self.hooks.pop(self.key, None)


def call_hooks(hooks, grad):
    """The gradient after the hooks of a tensor or a node, {key: hook}, have had their say."""
    if hooks:
        grad = grad.clone()  # a hook may keep it, or change it in place, and others have the same one
    for hook in tuple(hooks.values()):
        replaced = hook(grad)
        if replaced is not None:
            if not isinstance(replaced, (Variable, np.ndarray, np.generic)):
                raise TypeError(f"a hook returns a tensor or an array, or None, not {replaced!r}")
            if replaced.shape != grad.shape:
                raise ValueError(f"a hook returned shape {replaced.shape} for {grad.shape}")
            grad = replaced if isinstance(replaced, Variable) else grad.wrap(np.array(replaced))
    return grad
