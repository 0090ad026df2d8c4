"""Do characters that were drawn follow their probabilities? Bets against it tell, with a chance of a false alarm that is known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

STAKES = [sign * size for size in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 20.0) for sign in (1, -1)]
# What a draw must not depend on, once the text before it is known. Each is a character that was drawn before.
HINTS = {
    "": lambda texts, seed, place: 0,
    "where that drawn just before was {}": lambda texts, seed, place: at(texts, seed, place - 1),
    "where that two before was {}": lambda texts, seed, place: at(texts, seed, place - 2),
    "where the seed before gave {} there": lambda texts, seed, place: at(texts, seed - 1, place),
    "where the seed before gave {} one place later": lambda texts, seed, place: at(texts, seed - 1, place + 1),
    "where two seeds before gave {} two places later": lambda texts, seed, place: at(texts, seed - 2, place + 2),
}


def at(texts: dict[int, list[int]], seed: int, place: int) -> int:
    """The character that was drawn there, or −1."""
    text = texts.get(seed, [])
    return text[place] if 0 <= place < len(text) else -1


@dataclass
class Draws:
    """Characters that were drawn, each with the probabilities of all at that moment, and what HINTS say of it."""

    characters: list[int] = field(default_factory=list)
    rows: list[np.ndarray] = field(default_factory=list)
    hints: list[list[int]] = field(default_factory=list)
    texts: dict[int, list[int]] = field(default_factory=dict)

    def add(self, seed: int, text: list[int], rows: Iterable[np.ndarray]) -> None:
        """What a seed gave, with the probabilities of its first characters: only these are judged."""
        self.texts[seed] = text
        for place, row in enumerate(rows):
            self.characters.append(text[place])
            self.rows.append(row)
            self.hints.append([hint(self.texts, seed, place) for hint in HINTS.values()])

    def suspicious(self, chance: float) -> tuple[str, float, int, int] | None:
        """(what, how often it was to be expected, how often it came, of how many), if the draws do not follow the probabilities.

        Somebody who multiplies his money in each draw by exp(s), if the character comes that he bets on, and in any case by
        1 / (1 + p (exp(s) − 1)), bets at fair odds. With what chance will he ever have 1 / c times what he had? At most c
        (Ville's inequality), and it does not matter when he stops. There are many bets, with a share of the chance for each.
        """
        characters, rows, hints = np.array(self.characters), np.stack(self.rows), np.array(self.hints)
        several = range(rows.shape[1])
        limit = np.log(len(HINTS) * len(several) ** 2 * len(STAKES) / chance)
        most, found = limit, None
        for number, name in enumerate(HINTS):
            for said in several:
                where = hints[:, number] == said
                for character in several:
                    p, came = rows[where, character], int((characters[where] == character).sum())
                    won = max(stake * came - np.log1p(p * np.expm1(stake)).sum() for stake in STAKES)
                    if won > most:
                        what = f"character {character} {name.format(said)}".strip()
                        most, found = won, (what, float(p.sum()), came, len(p))
        return found


def at_temperature(row: np.ndarray, temperature: float) -> np.ndarray:
    """The probabilities after softmax(logits / temperature)."""
    scaled = row ** (1 / temperature)
    return scaled / scaled.sum()


def far_apart(rows: Sequence[np.ndarray]) -> tuple[int, int, float]:
    """Which two rows differ most, and by how much: half of the sum of absolute differences."""
    apart = np.abs(np.stack(rows)[:, None] - np.stack(rows)[None]).sum(axis=2) / 2
    one, other = np.unravel_index(apart.argmax(), apart.shape)
    return int(one), int(other), float(apart[one, other])
