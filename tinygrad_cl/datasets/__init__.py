"""Data small enough to ship with the course, so that nothing is downloaded.

Where each file comes from, and its licence, stands beside it: NAME.npz, NAME.LICENSE.txt.
"""

from pathlib import Path

import numpy as np

__all__ = ["load_digits", "load_mnist"]


def load_digits() -> tuple[np.ndarray, ...]:
    """Handwritten digits of 13 people, 8 by 8 pixels: (images, labels).

    images   (1797, 8, 8), whole numbers from 0, white, to 16, black; uint8
    labels   (1797,), which digit it is, 0 to 9; uint8

    >>> images, labels = load_digits()
    >>> images.shape, labels[:5]
    ((1797, 8, 8), array([0, 1, 2, 3, 4], dtype=uint8))
    """
    return load("digits", "images", "labels")


def load_mnist() -> tuple[np.ndarray, ...]:
    """5,000 handwritten digits of the MNIST database, 28 by 28 pixels: (images, labels).

    images   (5000, 28, 28), whole numbers from 0, white, to 255, black; uint8
    labels   (5000,), which digit it is: 500 of each, sorted; uint8

    >>> images, labels = load_mnist()
    >>> images.shape, labels[::1000]
    ((5000, 28, 28), array([0, 2, 4, 6, 8], dtype=uint8))
    """
    return load("mnist", "images", "labels")


def load(name: str, *arrays: str) -> tuple[np.ndarray, ...]:
    """The named arrays of a file of this folder."""
    with np.load(Path(__file__).with_name(f"{name}.npz"), allow_pickle=False) as file:
        return tuple(file[array] for array in arrays)
