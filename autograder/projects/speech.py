"""The texts of task 4: a language of four characters, for the check, and that of lesson 15, for the board."""

import math

import numpy as np

# The check's language: a 0, then 1, 2 or 3, again and again. What comes after a 0 is drawn; what comes after the others is not.
CHARACTERS = 4
AFTER_0 = (0.6, 0.3, 0.1)

NAMES, VERBS = ["anna", "bob", "carl", "dora"], ["has", "sees", "wants"]
COLOURS, ANIMALS = ["red", "blue", "green", "black"], ["cat", "dog", "hen", "fox"]
DRAWS = math.log(
    len(NAMES) * len(VERBS) * len(COLOURS) * len(ANIMALS)
)  # nats of a sentence: nothing else in it is drawn


def small_text(length: int, seed: int) -> np.ndarray:
    """So many characters of the check's language, as int32 numbers. It begins with a 0 or with what comes after one."""
    rng = np.random.default_rng([16, seed])
    pairs = np.zeros((length // 2 + 1, 2), np.int32)
    pairs[:, 1] = rng.choice([1, 2, 3], len(pairs), p=AFTER_0)
    begin = int(rng.integers(0, 2))
    return pairs.ravel()[begin : begin + length]


def write_text(sentences: int, seed: int) -> str:
    """So many sentences of lesson 15's language."""
    rng = np.random.default_rng(seed)
    text = []
    for _ in range(sentences):
        name, verb, colour, animal = map(rng.choice, (NAMES, VERBS, COLOURS, ANIMALS))
        text.append(f"{name} {verb} a {colour} {animal}. the {animal} is {colour}. ")
    return "".join(text)


ALPHABET = sorted(set("".join(NAMES + VERBS + COLOURS + ANIMALS + [" a the is."])))


def encode(text: str) -> np.ndarray:
    """The numbers of a text's characters, int32."""
    return np.array([ALPHABET.index(character) for character in text], np.int32)


def decode(ids: np.ndarray | list[int]) -> str:
    """The characters of numbers, as a text."""
    return "".join(ALPHABET[number] for number in ids)


def unigram(ids: np.ndarray) -> float:
    """Nats per character of the best reader who knows how often each character comes, and looks at nothing: the entropy."""
    shares = np.bincount(ids) / len(ids)
    return float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())
