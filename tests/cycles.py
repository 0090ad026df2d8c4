"""For the tests that what an engine builds goes away without the garbage collector."""

import gc
from contextlib import contextmanager


@contextmanager
def no_cycles():
    """Raises AssertionError if the block leaves objects of the package that only the garbage collector frees.

    Others' cycles do not count: a thread of the test runner may leave some at any time.
    """
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield
        gc.collect()
        ours = [x for x in gc.garbage if str(getattr(x, "__module__", "")).startswith("tinygrad_cl")]
        assert not ours, f"in reference cycles: {ours[:5]}"
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
