"""For all tests: hypothesis without a deadline (machines are shared and slow at times), plots without a window."""

import gc
import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "agg")
settings.register_profile("course", deadline=None)
settings.load_profile("course")


def pytest_collection_finish(session):
    """Ten thousand collected tests stay: the garbage collector need not walk them whenever a test calls it."""
    gc.collect()
    gc.freeze()
