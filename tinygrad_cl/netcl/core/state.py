"""Load the saved state of a model or an optimizer."""

import numpy as np


def load_arrays(targets, arrays):
    """Write arrays into the Tensors of the same names; both are dicts. The Tensors keep their memory,
    so captured steps use the new values. If names or shapes differ, an error is raised and nothing
    is changed: see check_arrays.
    """
    check_arrays(targets, arrays)
    for name, target in targets.items():
        target.write(arrays[name])


def check_arrays(targets, arrays, source="the state"):
    """KeyError if the two dicts have different names, ValueError if shapes differ. `source` names the
    origin of the arrays in the message.
    """
    if odd := sorted(targets.keys() - arrays.keys()):
        raise KeyError(f"{source} has no {', '.join(odd)}")
    if odd := sorted(arrays.keys() - targets.keys()):
        raise KeyError(f"{source} has {', '.join(odd)}, for which there is no place")
    for name, target in targets.items():
        if np.shape(arrays[name]) != np.shape(target):
            raise ValueError(f"{name} has shape {np.shape(target)}, in {source} {np.shape(arrays[name])}")
