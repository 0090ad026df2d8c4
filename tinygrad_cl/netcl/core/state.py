"""Loading what a model or an optimizer saved."""

import numpy as np


def load_arrays(targets, arrays):
    """Write arrays into the Tensors of the same names; both are dicts. Captured steps go on with
    them, since the memory stays. Nothing is changed if something does not fit: KeyError for names,
    ValueError for shapes.
    """
    if odd := sorted(targets.keys() - arrays.keys()):
        raise KeyError(f"the state has no {', '.join(odd)}")
    if odd := sorted(arrays.keys() - targets.keys()):
        raise KeyError(f"the state has {', '.join(odd)}, for which there is no place")
    for name, target in targets.items():
        if np.shape(arrays[name]) != target.shape:
            raise ValueError(
                f"{name} has shape {target.shape}, in the state {np.shape(arrays[name])}")
    for name, target in targets.items():
        target.write(arrays[name])
