"""A pytest plugin for tinygrad's suite: two decorators of its helpers, whose own module imports
tinygrad's compiler.
"""

import sys
import types
import unittest

helpers = types.ModuleType("test.helpers")
helpers.slow = lambda test: test  # slow for a compiler, not here
helpers.needs_second_gpu = unittest.skip("needs a second GPU")
sys.modules["test.helpers"] = helpers
