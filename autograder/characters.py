"""Texts from outside, made such that they can be written as UTF-8 and shown in one line."""

import unicodedata


def whole(text: str) -> str:
    """The text as UTF-8 can hold it: halves of a surrogate pair that meet are joined, one that is alone becomes U+FFFD."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_line(text: str) -> str:
    """The text without control characters, line breaks, and marks that turn the direction of writing."""
    seen = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") or turns(c) else c for c in whole(text))
    return " ".join(seen.split())


def visible(text: str) -> str:
    """The text for a terminal: what is a command to it, such as \\x1b, is written out; lines and tabs stay."""
    return "".join(
        repr(c)[1:-1] if c not in "\n\t" and (unicodedata.category(c) == "Cc" or turns(c)) else c for c in whole(text)
    )


def turns(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
