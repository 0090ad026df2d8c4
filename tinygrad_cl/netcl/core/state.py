"""Loading what a model or an optimizer saved."""

import numpy as np


def load_arrays(targets, arrays):
    """Write arrays into the Tensors of the same names; both are dicts. Captured steps go on with
    them, since the memory stays. Nothing is changed if something does not fit: see check_arrays.
    """
    check_arrays(targets, arrays)
    for name, target in targets.items():
        target.write(arrays[name])


def check_arrays(targets, arrays, source="the state"):
    """KeyError unless both dicts have the same names, ValueError unless what they name has the same
    shape. `source` is where the arrays come from, for the message.
    """
    if odd := sorted(targets.keys() - arrays.keys()):
        raise KeyError(f"{source} has no {', '.join(odd)}")
    if odd := sorted(arrays.keys() - targets.keys()):
        raise KeyError(f"{source} has {', '.join(odd)}, for which there is no place")
    for name, target in targets.items():
        if np.shape(arrays[name]) != np.shape(target):
            raise ValueError(f"{name} has shape {np.shape(target)}, in {source} {np.shape(arrays[name])}")
