"""Where a solution fails, computed from the cases: the simplest words that hold for all failing cases and for no other.

Many words are tried, so some fit by chance. Such a sentence is true of the cases, and false as a rule. So there must be enough
cases on both sides, and more for what fits more easily. Of words joined by «and» most fit by chance: they are not said.
"""

import itertools
from collections.abc import Callable, Sequence, Set

Tags = Set[str]
FEWEST = 5  # failing cases, and passing ones; of two words, cases that have the one alone
MORE = 8  # failing cases, and passing ones, for «only where»
RARE = 5  # «only where»: at most one in so many of the passing cases,
OFTEN = 2  # and so many times fewer than failing ones
LIKELY = 40  # words of which pairs are made


def where(failing: Sequence[Tags], passing: Sequence[Tags], own: Tags = frozenset()) -> str:
    """One sentence about where it fails, true by construction; "" where nothing simple fits.

    failing, passing   the tags of the cases that fail, and of those that do not
    own                the tags that the check's author wrote: they are said first
    """

    def simplest(tag: str) -> tuple:
        return tag not in own, " uses " in tag, len(tag), tag  # of a program the very line rather than a part of it

    if min(len(failing), len(passing)) < FEWEST:
        return ""
    sides = ("wrong exactly where", failing, passing), ("wrong everywhere but where", passing, failing)
    for find in (one_word, two_words):
        for start, ones, others in sides:
            if words := find(ones, others, simplest):
                return f"{start} {words}"
    rarest = min(shared(failing, simplest), key=lambda tag: count(tag, passing), default="")
    met = count(rarest, passing)
    if (
        rarest
        and min(len(failing), len(passing)) >= MORE
        and RARE * met <= len(passing)
        and OFTEN * met <= len(failing)
    ):
        return f"wrong only where {rarest}, but not always there"
    return ""


def one_word(ones: Sequence[Tags], others: Sequence[Tags], simplest: Callable) -> str:
    """What holds for all of the ones and for none of the others."""
    return next((tag for tag in shared(ones, simplest) if not count(tag, others)), "")


def two_words(ones: Sequence[Tags], others: Sequence[Tags], simplest: Callable) -> str:
    """Two words that hold for none of the others, and one of which holds for each of the ones; each is needed for enough."""
    words = sorted(frozenset().union(*ones) - frozenset().union(*others), key=simplest)
    for pair in itertools.combinations(words[:LIKELY], 2):
        held = [tuple(tag in tags for tag in pair) for tags in ones]
        if (False, False) not in held and min(held.count((True, False)), held.count((False, True))) >= FEWEST:
            return ", or ".join(pair)
    return ""


def shared(cases: Sequence[Tags], simplest: Callable) -> list[str]:
    """What holds in all of the cases."""
    return sorted(frozenset.intersection(*map(frozenset, cases)), key=simplest)


def count(tag: str, cases: Sequence[Tags]) -> int:
    return sum(tag in tags for tags in cases)
