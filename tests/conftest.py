"""For all tests: engine 3's devices, the graded class, hypothesis without a deadline (machines are shared and slow at times), plots
without a window.
"""

import gc
import os
import sys

import pytest
from hypothesis import settings

pytest_plugins = ["netcl_devices", "torch_says"]  # their fixtures: device, exact; torch_says
collect_ignore = ["peers/shadow"]  # stands in for libraries whose tests run on our engines
os.environ.setdefault("MPLBACKEND", "agg")
settings.register_profile("course", deadline=None)
settings.load_profile("course")


@pytest.fixture(scope="module")
def small_class(tmp_path_factory):
    """A folder with the submissions of a few students."""
    from small_class import submissions

    return submissions(tmp_path_factory.mktemp("submissions"))


@pytest.fixture(scope="module")
def done(small_class, tmp_path_factory):
    """What grading the small class gave."""
    from small_class import graded

    out = tmp_path_factory.mktemp("done")
    graded(small_class, out)
    return out


@pytest.fixture(autouse=True, scope="module")
def no_kernel_waits_for_the_next_module():
    """A test that grades in this process leaves a kernel that was started ahead; other tests count what is left behind."""
    yield
    if worker := sys.modules.get("autograder.grading.worker"):
        worker.close()


def pytest_collection_finish(session):
    """Ten thousand collected tests stay: the garbage collector need not walk them whenever a test calls it."""
    gc.collect()
    gc.freeze()
