"""The base class of all optimizers: parameters, their state, and the formulas of one step."""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tinygrad_cl.netcl.core.state import load_arrays
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.ops.many import update
from tinygrad_cl.netcl.ops.primitives import Formula, c_number

formula = functools.lru_cache(maxsize=256)(Formula)  # the same object for the same arguments


class Optimizer:
    """Parameters, and a `step` that updates in place those that have a gradient.

    params     the parameters, a list
    lr         the learning rate; it may be set at any time, and a replayed step follows it
    settings   the other hyperparameters by name: constants of the kernel, so they cannot change
    state      for each parameter {name: Tensor}, zeros at first

    A subclass gives the new value of each element as a C expression of the old values:

    update(p, g, lr, *states, *counts)   [new parameter, *new states], with the counts already new
    count(*counts)                       [*new counts]: state with one number for a whole parameter

    A step is one launch for all parameters, and one more for the counts. All state is on the device,
    so a replay of a step that `runtime.capture` recorded continues correctly.
    """

    __slots__ = ("params", "settings", "state", "_lr", "_rates", "_update", "_count")
    params: list[Tensor]
    settings: dict[str, Any]
    state: list[dict[str, Tensor]]
    counts: tuple[str, ...] = ()  # names

    def __init__(
        self, params: Tensor | Iterable[Tensor], lr: float, states: tuple[str, ...] = (), **settings: Any
    ) -> None:
        self.params = parameters(params)
        self.settings = settings
        self.state = [
            {name: zeros(p, () if name in self.counts else p.shape) for name in (*states, *self.counts)}
            for p in self.params
        ]
        self._rates = {(p.device, p.dtype): zeros(p, ()) for p in self.params}
        self.lr = lr
        name = type(self).__name__.lower()
        names = {name: f"v{n}" for n, name in enumerate(("p", *states, *self.counts, "g", "lr"))}
        self._update = formula(name, tuple(self.update(**names)), len(names))
        counts = [f"v{n}" for n in range(len(self.counts))]
        self._count = formula(f"{name}_count", tuple(self.count(*counts)), len(counts))

    @property
    def lr(self) -> float:
        return self._lr

    @lr.setter
    def lr(self, lr: float) -> None:
        self._lr = at_least_0("lr", lr)
        for rate in self._rates.values():
            rate.write(self._lr)

    def update(self, p: str, g: str, lr: str) -> Sequence[str]:
        """The C expressions of the new parameter and of its new states."""
        raise NotImplementedError

    def count(self) -> Sequence[str]:
        """The C expressions of the new counts."""
        return ()

    def decayed(self, p: str, g: str) -> str:
        """g + λ p, the gradient of the loss with λ/2 · p² added to it: weight decay."""
        decay = self.settings["weight_decay"]
        return f"({g} + {c_number(decay)} * {p})" if decay else g

    def zero_grad(self) -> None:
        """Set all gradients to None."""
        for p in self.params:
            p.grad = None

    def step(self) -> None:
        """Update every parameter that has a gradient, in place.

        A parameter that no longer requires a gradient is not changed. ValueError if a gradient is
        not a Tensor of the parameter's shape and dtype.
        """
        for (device, dtype), rate in self._rates.items():
            counts, rows = [], []
            for p, state in zip(self.params, self.state):
                if p.grad is None or not p.requires_grad or p.dtype != dtype or p.device is not device:
                    continue
                if getattr(p.grad, "spec", None) is not p.spec:
                    raise ValueError(f"the gradient of {p!r} is a Tensor like it, not {p.grad!r}")
                counts.append([state[name] for name in self.counts])
                rows.append([p, *state.values(), p.grad])
            if self.counts:
                update(self._count, counts)
            update(self._update, rows, (rate,))

    def state_dict(self) -> dict[str, np.ndarray]:
        """Copies of lr and of the state as NumPy arrays, numbered like `params`: {"lr": …,
        "0.velocity": …, "1.velocity": …}.
        """
        return {"lr": np.array(self.lr)} | {name: x.to_host() for name, x in self._named_state()}

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Restore lr and the state from `state_dict`. KeyError if names differ, ValueError if shapes
        differ; then nothing is changed.
        """
        if "lr" not in state:
            raise KeyError("the state has no lr")
        lr = at_least_0("lr", state["lr"])
        arrays = {name: array for name, array in state.items() if name != "lr"}
        load_arrays(dict(self._named_state()), arrays)
        self.lr = lr

    def _named_state(self):
        return [(f"{number}.{name}", x) for number, state in enumerate(self.state) for name, x in state.items()]

    def __repr__(self):
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{type(self).__name__}({len(self.params)} parameters, lr={self.lr}, {settings})"


def zeros(like, shape):
    """A Tensor of zeros with the device and dtype of `like`."""
    return Tensor.full(like.queue, shape, 0, like.dtype)


def parameters(params):
    """The parameters as a list. TypeError or ValueError unless each is a Tensor that requires a
    gradient.
    """
    params = [params] if isinstance(params, Tensor) else list(params)
    if not params:
        raise ValueError("an optimizer needs parameters; a generator is empty the second time")
    for p in params:
        if not isinstance(p, Tensor):
            raise TypeError(
                f"an optimizer takes Parameters, not a {type(p).__name__}: "
                "Parameter.from_host makes one, and a Node holds one as its value"
            )
        if not p.requires_grad:
            raise ValueError(f"{p!r} requires no gradient: leave it out, or set requires_grad")
    if len({id(p) for p in params}) < len(params):
        raise ValueError("an optimizer takes each parameter once")
    return params


def at_least_0(name, value, below=math.inf):
    """The value as a float. ValueError if it is negative, NaN, or not below `below`."""
    value = float(value)
    if not 0 <= value < below:
        raise ValueError(f"{name} is at least 0 and less than {below}, not {value}")
    return value
