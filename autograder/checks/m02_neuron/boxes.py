"""Lists of numbers and of Values for lesson 02, and what sets the weights of a network."""

from autograder.checks.cases import Draft, Source, Text, choice

ACTIVATIONS = choice("activation", *map(Text, ("Value.tanh", "None", "Value.relu", "lambda s: s * s", "Value.sigmoid")))


def some(n: int, rng) -> list[float]:
    """So many numbers of one decimal, both signs, now and then equal or 0."""
    return [round(float(number), 1) for number in rng.choice([-2.0, -1.3, -0.6, 0.0, 0.4, 0.7, 1.1, 1.5, 2.5], size=n)]


def boxes(numbers) -> Text:
    return Text(f"[{', '.join(f'Value({number})' for number in numbers)}]")


def inputs(n: int, rng) -> Text:
    """Inputs of a neuron: floats, whole numbers, Values, or one Value in all places."""
    numbers = some(n, rng)
    kinds = (
        str(numbers),
        str([round(2 * number) for number in numbers]),
        boxes(numbers).expression,
        f"[Value({numbers[0]})] * {n}",
    )
    return Text(kinds[rng.integers(4)])


def sizes(name: str, *small, most: int = 4) -> Source:
    """How many there are: these, or 1 to `most`."""
    return Source(
        lambda rng: (Draft({name: n}) for n in small), lambda rng: Draft({name: int(rng.integers(1, most + 1))})
    )
