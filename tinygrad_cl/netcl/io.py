"""Save and load tensors by name, in npz files, which NumPy can open, too. No pickles."""

import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tinygrad_cl.netcl.core.state import check_arrays
from tinygrad_cl.netcl.core.tensor import Tensor


def save(path: str | os.PathLike[str], values: Any) -> None:
    """Write everything in `values` to an npz file, under its name.

    values   a Module or an optimizer (any object with `state_dict`); or a dict with strings as keys
             and these objects, Tensors, arrays, numbers, strings or nested dicts as values

    The value in {"model": {"weight": …}} is named "model.weight". The write is atomic: a temporary
    file is renamed, so `path` is the old file or the new one, never a partial one. Its folder is
    created if necessary. TypeError for a value that is not an array, before anything is written.
    """
    path, arrays = Path(path), {}
    for name, value in named(values):
        array = np.asarray(value.to_host() if hasattr(value, "to_host") else value)
        if array.dtype.hasobject or not name:
            raise TypeError(
                f"save takes arrays by name, and no {type(value).__name__}{f' as {name!r}' if name else ''}"
            )
        if name in arrays:
            raise ValueError(f"two values are named {name!r}")
        arrays[name] = array
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(draft, "xb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())  # the data is on the disk before the old file is replaced
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], into: Any = None) -> dict[str, np.ndarray]:
    """{name: array}, as `save` wrote them.

    into   a Module or an optimizer (any object with `load_state_dict`); or a dict of these objects,
           Tensors or nested dicts. Each gets the arrays under its name, and their names must match
           exactly. KeyError if names differ, ValueError if shapes differ; then nothing is changed

    ValueError if the file was not written by `save` or numpy.savez, or is damaged.
    """
    arrays, steps = read(path), []
    for name, target in [] if into is None else named(into, opened=False):
        if not hasattr(target, "load_state_dict") and not (name and isinstance(target, Tensor)):
            raise TypeError(
                "load writes into Modules, optimizers and dicts of Tensors, not into "
                f"{f'{name}, ' if name else ''}an object of class "
                f"{type(target).__name__}: take that from what load returns"
            )
        mine = {key: array for key, array in arrays.items() if not name or key == name or key.startswith(f"{name}.")}
        check_arrays(dict(named(target, name)), mine, path)
        steps.append((target, {key.removeprefix(f"{name}."): mine[key] for key in mine}))
    for target, mine in steps:
        if isinstance(target, Tensor):
            (array,) = mine.values()
            target.write(array)
        else:
            target.load_state_dict(mine)
    return arrays


def export_model(model: Any, path: str | os.PathLike[str]) -> None:
    """`save` with netcl's name and argument order."""
    save(path, model)


def load_into_model(model: Any, path: str | os.PathLike[str]) -> None:
    """`load` with netcl's name and argument order."""
    load(path, into=model)


def named(values, name="", opened=True):
    """(name, value) for each entry of nested dicts and of the states of Modules and optimizers."""
    if opened and hasattr(values, "state_dict"):
        values = values.state_dict()
    if not isinstance(values, Mapping):
        yield name, values
        return
    for key, value in values.items():
        if not isinstance(key, str) or not key:
            raise TypeError(f"a name is a text, not {key!r}")
        yield from named(value, f"{name}.{key}" if name else key, opened)


def read(path):
    """{name: array} of an npz file."""
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return {name.removesuffix(".npy"): read_entry(archive, name) for name in archive.namelist()}
        except Exception as error:  # a damaged file can raise many kinds of errors
            fault = f"{path} is no npz file of arrays, or it is damaged: {error}"
            raise ValueError(fault) from error


def read_entry(archive, name):
    with archive.open(name) as entry:
        return np.lib.format.read_array(entry, allow_pickle=False)
