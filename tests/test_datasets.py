"""The data sets that the course ships."""

import doctest

import numpy as np

from autograder import paths
from autograder.bundle import contents as bundle
from autograder.lesson.text import read_lesson
from tinygrad_cl import datasets

USES = """# %% demo
from tinygrad_cl.datasets import load_digits
"""


def test_doctests():
    assert doctest.testmod(datasets).failed == 0


def test_the_digits_are_all_there():
    images, labels = datasets.load_digits()
    assert images.shape == (1797, 8, 8) and images.dtype == labels.dtype == np.uint8
    assert (images.min(), images.max(), int(images.sum(dtype=int))) == (0, 16, 561718)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_the_5000_of_mnist_are_all_there():
    images, labels = datasets.load_mnist()
    assert images.shape == (5000, 28, 28) and images.dtype == labels.dtype == np.uint8
    assert (images.min(), images.max(), int(images.sum(dtype=int))) == (0, 255, 131267102)
    assert np.bincount(labels).tolist() == [500] * 10


def test_every_data_set_has_its_licence_beside_it():
    folder = paths.ROOT / "tinygrad_cl" / "datasets"
    for file in folder.glob("*.npz"):
        assert "Redistribution" in file.with_name(f"{file.stem}.LICENSE.txt").read_text(), file


def test_a_class_is_given_the_data_of_its_lessons_with_the_licence(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "LESSONS", tmp_path)
    (tmp_path / "95_data.py").write_text(USES)
    (tmp_path / "94_no_data.py").write_text("# %% demo\n1")
    found = bundle.data([read_lesson("95_data")])
    data = (paths.ROOT / "tinygrad_cl" / "datasets" / "digits.npz").read_bytes()
    assert found["tinygrad_cl/datasets/digits.npz"] == data
    assert "tinygrad_cl/datasets/digits.LICENSE.txt" in found
    assert bundle.data([read_lesson("94_no_data")]) == {}
