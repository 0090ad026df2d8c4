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
