"""Kernels on NumPy arrays: right results, errors that point at the line, and writes outside that are counted."""

import doctest
import subprocess
import sys

import numpy as np
import pytest

from tinygrad_cl.opencl import NoDeviceError, default_device, kernels
from tinygrad_cl.opencl.kernels import KernelError, build_kernel, run_guarded, run_kernel

DOUBLE = """
__kernel void twice(__global const float *a, __global float *out, const int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = 2 * a[i];
}
"""


@pytest.fixture(autouse=True)
def device():
    try:
        return default_device()
    except NoDeviceError as error:
        pytest.skip(str(error))


def arrays(n):
    return np.linspace(-3, 5, n, dtype=np.float32), np.full(n, np.nan, np.float32)


def test_the_examples_in_the_docstrings():
    assert doctest.testmod(kernels).failed == 0


@pytest.mark.parametrize("run", [run_kernel, lambda *args, **kw: run_guarded(*args, **kw)[0]], ids=["plain", "guarded"])
@pytest.mark.parametrize("n, local_size", [(1, 64), (63, 64), (64, 64), (65, 64), (1000, 16), (7, 1)])
def test_a_kernel_gives_numpys_numbers_whatever_n(run, n, local_size):
    a, out = arrays(n)
    after, result = run(DOUBLE, "twice", a, out, n=n, local_size=local_size)
    assert (result == 2 * a).all() and (after == a).all() and np.isnan(out).all()


@pytest.mark.parametrize("index, stray", [("i", 0), ("i + 1", 1), ("i - 2", 2), ("n + i", 10)])
def test_writes_outside_the_arrays_are_counted(index, stray):
    source = DOUBLE.replace("out[i]", f"out[{index}]")
    assert run_guarded(source, "twice", *arrays(10), n=10)[1] == stray


def test_without_a_guard_the_work_items_beyond_n_write_outside():
    assert run_guarded(DOUBLE.replace("if (i < n) ", ""), "twice", *arrays(10), n=10, local_size=64)[1] == 54


def test_a_kernel_that_writes_outside_is_refused_and_harms_nothing():
    with pytest.raises(KernelError, match="the kernel twice overwrote 1 numbers outside"):
        run_kernel(DOUBLE.replace("out[i]", "out[i + 1]"), "twice", *arrays(10), n=10)
    assert run_guarded(DOUBLE.replace("out[i]", "out[64 * i + 64]"), "twice", *arrays(900), n=900)[1] == 886


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("2 * a[i]", "2 * b[i]", r"^line 4, `if \(i < n\) out\[i\] = 2 \* b\[i\];`: use of undeclared identifier 'b'"),
        ("get_global_id(0);", "get_global_id(0)", r"^line 3, .*expected ';'"),
        ("2 * a[i];", "a[i] = 1;", r"^line 4, .*(const|read-only)"),
        ("twice", "double_it", "there is no kernel twice in the source; it has double_it"),
    ],
)
def test_a_kernel_that_does_not_build_is_explained_by_its_own_line(old, new, message):
    with pytest.raises(KernelError, match=message):
        build_kernel(DOUBLE.replace(old, new), "twice")


def test_a_stub_counts_as_not_written():
    with pytest.raises(NotImplementedError, match="still to be written"):
        build_kernel(DOUBLE.replace("if (i < n) out[i] = 2 * a[i];", "raise NotImplementedError"), "twice")


def test_groups_that_are_not_started_leave_their_numbers_alone():
    (_, out), outside = run_guarded(DOUBLE, "twice", *arrays(192), n=192, first_group=1)
    assert (np.isnan(out).sum(), outside) == (64, 0)
    loop = DOUBLE.replace("int i = get_global_id(0);", "").replace("if (i < n)", "for (int i = 0; i < n; i++)")
    (_, out), outside = run_guarded(loop, "twice", *arrays(192), n=192, first_group=1)
    assert (np.isnan(out).sum(), outside) == (0, 0)


ENDLESS = """
from tinygrad_cl.opencl import kernels
kernels.PATIENCE = 1
source = "__kernel void spin(__global float *a) { volatile int on = 1; while (on) ; a[0] = 1; }"
import numpy as np, os
for _ in range(2):
    try:
        kernels.launch(source, "spin", np.zeros(1, np.float32), work_items=1)
    except kernels.KernelError as error:
        print(error, flush=True)
os._exit(0)  # a device that is still busy would hold up the end
"""


def test_a_kernel_that_never_ends_is_given_up_and_the_next_one_says_why_it_cannot_run():
    done = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=60)
    first, second = done.stdout.splitlines()
    assert "spin did not end in 1 s; is there a loop" in first
    assert "still works on a kernel that did not end; restart" in second


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2), np.float32), np.zeros(3, np.int32)], ids=str)
def test_arrays_that_the_kernel_would_misread_are_refused(array):
    with pytest.raises(TypeError, match="takes float32 arrays of one dimension, not"):
        run_kernel(DOUBLE, "twice", array, array, n=3)
