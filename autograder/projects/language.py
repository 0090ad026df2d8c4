"""Task 4: a small language model, and sampling from it."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.projects.drawing import Draws, at_temperature, far_apart
from autograder.projects.speech import CHARACTERS, DRAWS, NAMES, decode, encode, small_text, unigram, write_text
from autograder.projects.task import Broken, Figure, Task, run, same
from tinygrad_cl.netcl.core.device import Device

task = Task(
    "language", ("train", "probabilities", "sample"), "nats per character of a text that it has not seen", higher=False
)
check, measure, board = task.check, task.measure, task.board

STEPS = 200  # of training in the check
LENGTH = 24  # of the texts there
WINDOW = 48  # characters that a model sees at once, at most
# Texts that are sampled after a prompt: at least, at most, and seconds after which no further one begins.
LEAST, MOST, SECONDS = 60, 6000, 0.6
NEW, PLACES = 60, 10  # sentences on which a model is measured, and places in each where it must not see what follows
CHANCE = 1e-6  # of a false alarm: that a right sampler fails


_trained: list[tuple[Callable, Any]] = []  # the last train, and the model that it gave: properties share it


def model_of(train: Callable) -> Any:
    """The model after training on the check's language."""
    if not _trained or _trained[0][0] is not train:
        ids = small_text(2000, seed=0)
        before = ids.copy()
        model = run(f"train(ids, {CHARACTERS}, {STEPS}, 0), with {len(ids)} ids", train, ids, CHARACTERS, STEPS, 0)
        same("train(ids, …)\nids, after the call", before, ids)
        _trained[:] = [(train, model)]
    return _trained[0][1]


def asked(probabilities: Callable, model: Any, ids: np.ndarray, characters: int = CHARACTERS) -> np.ndarray:
    """The probabilities of a text, float64. Broken unless there is a row for each character, and each row sums to 1."""
    case, before = f"probabilities(model, {text_of(ids)})", ids.copy()
    found = run(case, probabilities, model, ids)
    try:
        found = np.asarray(found, np.float64)
    except (TypeError, ValueError):
        raise Broken(
            case, "a NumPy array", type(found).__name__, "Of a Node or a Tensor, return its `.to_host()`."
        ) from None
    same(f"{case}\nids, after the call", before, ids)
    if found.shape != (len(ids), characters):
        raise Broken(case, f"an array of shape {(len(ids), characters)}", f"one of shape {found.shape}")
    if not (np.isfinite(found).all() and (found >= 0).all()):
        place = tuple(np.argwhere(~(np.isfinite(found) & (found >= 0)))[0].tolist())
        raise Broken(case, "probabilities, from 0 to 1", f"{found[place]} at {list(place)}")
    sums = found.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > 1e-4:
        raise Broken(case, "rows that sum to 1", f"{sums[worst]:.6g} for row {worst}")
    return found


def text_of(ids: np.ndarray) -> str:
    return f"np.array({ids.tolist()})" if len(ids) <= LENGTH else f"{len(ids)} numbers"


@task.property("each row holds probabilities that sum to 1, and ids stay as they are")
def sums(train: Callable, probabilities: Callable, sample: Callable, device: Device | None = None) -> None:
    _trained.clear()  # what it calls may have changed since
    model = model_of(train)
    for length in (1, 2, 3, LENGTH, WINDOW):
        asked(probabilities, model, small_text(length, seed=1))
    for ids in ([3, 3, 3], [2, 1, 0]):  # never seen in the text
        asked(probabilities, model, np.array(ids, np.int32))


@task.property("a later character changes nothing before it")
def causal(train: Callable, probabilities: Callable, sample: Callable, device: Device | None = None) -> None:
    model = model_of(train)
    for length in (2, 3, LENGTH, WINDOW):
        ids = small_text(length, seed=2)
        before = asked(probabilities, model, ids)
        rng = np.random.default_rng(length)
        for place in 2 * list(range(1, length)):
            blind(probabilities, model, ids, before, place, CHARACTERS, rng)
        shorter = asked(probabilities, model, ids[: length - 1])
        case = f"ids = {text_of(ids)}\nprobabilities(model, ids[:-1])"
        same(case, before[:-1], shorter, 2e-5, "The rows of a text are those of its beginning, however it goes on.")


def blind(
    probabilities: Callable,
    model: Any,
    ids: np.ndarray,
    before: np.ndarray,
    place: int,
    characters: int,
    rng: np.random.Generator,
) -> None:
    """Broken unless the rows before a place stay as they were, when all characters from there on are other ones."""
    other = ids.copy()
    other[place:] = (other[place:] + rng.integers(1, characters, len(ids) - place)) % characters
    case = f"ids = {text_of(ids)}\nother = {text_of(other)}, the same up to place {place}\nprobabilities(model, other)[:{place}]"
    rows = asked(probabilities, model, other, characters)
    same(case, before[:place], rows[:place], 2e-5, "A row may look at its own character and at earlier ones.")


def nats(probabilities: Callable, model: Any, ids: np.ndarray, characters: int = CHARACTERS) -> np.ndarray:
    """−ln p of each character of a text but the first."""
    rows = asked(probabilities, model, ids[:-1], characters)
    with np.errstate(divide="ignore"):
        return -np.log(rows[np.arange(len(ids) - 1), ids[1:]])


@task.property("it learns: on new text it beats every reader who looks at nothing")
def learns(train: Callable, probabilities: Callable, sample: Callable, device: Device | None = None) -> None:
    model = model_of(train)
    texts = [small_text(LENGTH, seed) for seed in range(10, 30)]
    loss = float(np.mean([nats(probabilities, model, ids) for ids in texts]))
    entropy = unigram(np.concatenate([ids[1:] for ids in texts]))
    if not loss < entropy:
        raise Broken(
            f"after {STEPS} steps on a text such as {small_text(12, 0).tolist()}, new text of the same kind",
            f"fewer than {entropy:.3f} nats per character, the entropy of its characters",
            f"{loss:.3f}",
            "Row i is about the character at i + 1.",
        )


# Short ones, and few characters after each: on a device each length may need kernels of its own.
PROMPTS = [[0], [1], [0, 2], [1, 0], [0, 1, 0]]


def sampled(sample: Callable, model: Any, ids: Sequence[int], count: int, temperature: float, seed: int) -> list[int]:
    """What is sampled. Broken unless it is a list of so many characters."""
    prompt = np.array(ids, np.int32)
    case = f"sample(model, {text_of(prompt)}, {count}, {temperature}, {seed})"
    found = run(case, sample, model, prompt, count, temperature, seed)
    same(f"{case}\nids, after the call", np.array(ids), prompt)
    expected = f"a list of {count} integers from 0 to {CHARACTERS - 1}"
    if not isinstance(found, list | tuple | np.ndarray) or np.shape(found) != (count,):
        why = "The new ones alone, without ids." if np.shape(found) == (count + len(ids),) else ""
        raise Broken(case, expected, repr(found), why)
    if not all(isinstance(each, int | np.integer) and 0 <= each < CHARACTERS for each in found):
        raise Broken(case, expected, repr(found))
    return [int(each) for each in found]


@task.property("as many characters as asked: the same seed gives the same text, another seed another one")
def seeded(train: Callable, probabilities: Callable, sample: Callable, device: Device | None = None) -> None:
    model = model_of(train)
    for prompt in PROMPTS:
        first = sampled(sample, model, prompt, 5, 1.0, 5)
        sampled(sample, model, prompt, 3, 1.0, 6)
        np.random.random(7)  # NumPy's own numbers go on
        again = sampled(sample, model, prompt, 5, 1.0, 5)
        same(
            f"sample(model, np.array({prompt}), 5, 1.0, 5), twice",
            first,
            again,
            0,
            "Make a generator of the seed in each call.",
        )
    texts = {seed: sampled(sample, model, [0], 5, 1.0, seed) for seed in range(20)}
    for seed in range(20, 120):
        sampled(sample, model, [0], 1, 1.0, seed)
    for seed in reversed(texts):
        again = sampled(sample, model, [0], 5, 1.0, seed)
        same(
            f"sample(model, np.array([0]), 5, 1.0, {seed}), and once more, more than 100 calls later",
            texts[seed],
            again,
        )
    if len({*map(tuple, texts.values())}) == 1:
        raise Broken(
            "sample(model, np.array([0]), 5, 1.0, seed), for 20 seeds",
            "texts that differ",
            f"{texts[0]}, each time",
        )


@task.property("near temperature 0 it takes what is most probable")
def greedy(train: Callable, probabilities: Callable, sample: Callable, device: Device | None = None) -> None:
    model = model_of(train)
    for prompt in PROMPTS:
        for temperature in (1e-2, 1e-6):
            found = sampled(sample, model, prompt, 5, temperature, 1)
            for number, character in enumerate(found):
                rows = asked(probabilities, model, np.array([*prompt, *found[:number]], np.int32))
                best, second = np.sort(rows[-1])[[-1, -2]]
                if best < 1.5 * second:
                    break  # too near to each other to tell
                if character != rows[-1].argmax():
                    raise Broken(
                        f"sample(model, np.array({prompt}), 5, {temperature}, 1)",
                        f"{[*found[:number], int(rows[-1].argmax())]} …: after {[*prompt, *found[:number]]} its probability is {best:.3g}",
                        f"{found}",
                    )


@task.property("what is drawn comes as often as its probability says")
def frequencies(train: Callable, probabilities: Callable, sample: Callable, device: Device | None = None) -> None:
    model = model_of(train)
    end = small_text(WINDOW - 1, seed=3).tolist()
    cases = [
        ([1, 0], 1, 0.5),
        ([0, 1], 1, 2.0),
        ([1, 0], 1, 4.0),
        ([0, 1, 0], 5, 1.0),
        (end, 3, 1.0),  # of these three two are judged: then the text is longer than what a model sees
        *((prompt, 1, 1.0) for prompt in telling(probabilities, model)),
    ]
    call = [0, 1, 0], 5, 1.0, 1000
    first = sampled(sample, model, *call)
    for prompt, count, temperature in cases:
        counts(probabilities, sample, model, prompt, count, temperature, CHANCE / len(cases))
    last = sampled(sample, model, *call)
    same(
        f"sample(model, np.array({call[0]}), {call[1]}, {call[2]}, {call[3]}), as the first and as the last call",
        first,
        last,
    )


def telling(probabilities: Callable, model: Any) -> list[list[int]]:
    """Pairs of texts that end alike, after which the model expects different things: who looks at the end alone is wrong in one."""
    rng, found = np.random.default_rng(4), []
    for cut in (1, 2, 4, 8, 16):
        end = rng.integers(0, CHARACTERS, cut)
        texts = [np.append(rng.integers(0, CHARACTERS, LENGTH - cut), end).astype(np.int32) for _ in range(12)]
        one, other, apart = far_apart([asked(probabilities, model, ids)[-1] for ids in texts])
        if apart > 0.05:
            found += [texts[one].tolist(), texts[other].tolist()]
    return found


def counts(
    probabilities: Callable,
    sample: Callable,
    model: Any,
    prompt: list[int],
    count: int,
    temperature: float,
    chance: float,
) -> None:
    """Broken if what many seeds give does not follow the model's own probabilities, but for a chance of a false alarm."""
    rows: dict[tuple[int, ...], np.ndarray] = {}
    draws, start = Draws(), time.monotonic()
    for number in range(MOST):
        if number >= LEAST and time.monotonic() - start > SECONDS:
            break
        seed = 1000 + number
        text = sampled(sample, model, prompt, count, temperature, seed)
        judged = []
        for place in range(min(count, WINDOW - len(prompt) + 1)):
            before = (*prompt, *text[:place])
            if before not in rows:
                row = asked(probabilities, model, np.array(before, np.int32))[-1]
                rows[before] = at_temperature(row, temperature)
            judged.append(rows[before])
        draws.add(seed, text, judged)
    found = draws.suspicious(chance)
    if found:
        what, mean, came, of = found
        raise Broken(
            f"sample(model, np.array({prompt}), {count}, {temperature}, seed), for {len(draws.texts)} seeds from 1000 on: {what}",
            f"about {mean:.0f} of {of}",
            f"{came}",
            "p = softmax(logits / temperature) of the whole text so far, and for each draw a random number of its own, from one "
            "generator of the seed.",
        )


@task.measures
def loss(
    train: Callable,
    probabilities: Callable,
    sample: Callable,
    device: Device | None = None,
    steps: int = 600,
    sentences: int = 2000,
    seed: int = 0,
) -> Figure:
    """Nats per character on sentences of lesson 15's language that are drawn now, each by itself."""
    ids = encode(write_text(sentences, seed=15))
    characters, start = int(ids.max()) + 1, time.perf_counter()
    model = train(ids, characters, steps, seed)
    seconds = time.perf_counter() - start
    # A sentence's first letter is given, and tells the name: that draw costs a reader nothing.
    texts = [encode(write_text(1, int(each))) for each in np.random.default_rng().integers(10**6, 2**31, NEW)]
    rng = np.random.default_rng()
    for ids in texts:
        before = asked(probabilities, model, ids, characters)
        for place in rng.integers(1, len(ids), PLACES):
            blind(probabilities, model, ids, before, int(place), characters, rng)
    figure = float(np.mean(np.concatenate([nats(probabilities, model, ids, characters) for ids in texts])))
    floor = NEW * (DRAWS - math.log(len(NAMES))) / sum(len(ids) - 1 for ids in texts)
    if not figure > 0.98 * floor:
        raise Broken(
            "on new text", f"{floor:.3f} nats per character or more: no reader knows what is drawn", f"{figure:.3f}"
        )
    written = decode(sample(model, encode("anna "), 40, 1.0, seed))
    return Figure(figure, f"{steps} steps in {seconds:.0f} s; floor {floor:.3f}; it writes «{written}»")
