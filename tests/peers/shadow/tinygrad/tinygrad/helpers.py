"""tinygrad's settings, none of which means anything here."""

import contextlib
import os
from types import SimpleNamespace

DEBUG = IMAGE = CI = 0
DEV = SimpleNamespace(interface="", renderer="", device="")


def getenv(name, default=0):
    return type(default)(os.environ.get(name, default))


@contextlib.contextmanager
def Context(**settings):
    yield
