"""The random numbers of dropout: one generator for each thread, which can be seeded."""

import threading

import numpy as np


class ThreadGenerator(threading.local):
    """A new thread starts with the seed 0."""

    def __init__(self):
        self.generator = np.random.default_rng(0)


state = ThreadGenerator()


def manual_seed(seed: int) -> None:
    """Seed this thread's generator: the same seed gives the same random numbers."""
    state.generator = np.random.default_rng(seed)


def default_generator() -> np.random.Generator:
    """This thread's generator, used where none is given."""
    return state.generator
