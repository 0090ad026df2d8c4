"""Where a solution fails, computed from the cases: the simplest words that hold for all failing cases and for no other."""

import itertools
from collections.abc import Sequence

FEWEST = 3  # failing cases, and passing ones: below that too much fits
PAIRS = 6  # the same for two words together
RARE = 4  # «only where»: at most one in so many of the passing cases


def where(failing: Sequence[frozenset[str]], passing: Sequence[frozenset[str]]) -> str:
    """One sentence about where it fails, true by construction; "" where nothing simple fits.

    failing, passing   the tags of the cases that fail, and of those that do not
    """
    if not failing or not passing or len(failing) < FEWEST or len(passing) < FEWEST:
        return ""
    words = sorted(set().union(*failing, *passing), key=lambda tag: (len(tag), tag))
    everywhere = frozenset.intersection(*failing)
    in_none = [tag for tag in words if not any(tag in tags for tags in failing)]
    for tag in words:
        if tag in everywhere and not any(tag in tags for tags in passing):
            return f"wrong exactly where {tag}"
    for tag in in_none:
        if all(tag in tags for tags in passing):
            return f"wrong everywhere but where {tag}"
    if len(failing) >= PAIRS and len(passing) >= PAIRS:
        for one, two in itertools.combinations(sorted(everywhere, key=lambda tag: (len(tag), tag))[:40], 2):
            if not any(one in tags and two in tags for tags in passing):
                return f"wrong exactly where {one} and {two}"
        only = [tag for tag in words if not any(tag in tags for tags in passing)]
        for one, two in itertools.combinations(only[:40], 2):
            if all(one in tags or two in tags for tags in failing):
                return f"wrong exactly where {one}, or {two}"
        spared = sorted(frozenset.intersection(*passing), key=lambda tag: (len(tag), tag))
        for one, two in itertools.combinations(spared[:40], 2):
            if not any(one in tags and two in tags for tags in failing):
                return f"wrong everywhere but where {one} and {two}"
        for one, two in itertools.combinations(in_none[:40], 2):
            if all(one in tags or two in tags for tags in passing):
                return f"wrong everywhere but where {one}, or {two}"
    rarest = min(everywhere, key=lambda tag: (sum(tag in tags for tags in passing), len(tag), tag), default="")
    if rarest and len(failing) >= PAIRS and RARE * sum(rarest in tags for tags in passing) <= len(passing):
        return f"wrong only where {rarest}, but not always there"
    return ""
