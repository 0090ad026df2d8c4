"""For all tests: hypothesis without a deadline (machines are shared and slow at times), plots without a window."""

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "agg")
settings.register_profile("course", deadline=None)
settings.load_profile("course")
