"""The peer of the tests: what it answers with PyTorch and without, and that a wrong answer is noticed.

SimpleNamespace stands for the module torch: no test here needs it.
"""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from torch_says import FOLDER, Peer, decoded, encoded, leaves, must_notice

TORCH = SimpleNamespace(__version__="0")


def asked(answer):
    """A question that has this answer."""

    def question(torch):
        if isinstance(answer, RuntimeError):
            raise answer
        return answer

    return question


@pytest.mark.parametrize(
    "answer",
    [
        np.float32([[0.1, -2e-30, np.nan], [np.inf, -np.inf, -0.0]]),
        np.zeros((2, 0, 3)),
        np.array(1 / 3),
        np.array([1, -7]),
        np.array([True, False]),
        [np.zeros(()), [], [np.arange(3.0)]],
    ],
    ids=str,
)
def test_an_answer_is_what_was_written_of_it(answer):
    found = decoded(json.loads(json.dumps(encoded(answer, 1e-17))))
    assert len(leaves(found)) == len(leaves(answer))
    for x, y in zip(leaves(found), leaves(answer)):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("rtol", [1e-3, 2e-4, 1e-7, 1e-12])
def test_what_is_cut_off_is_a_small_part_of_the_tolerance(rtol):
    numbers = np.random.default_rng(0).normal(size=100)
    np.testing.assert_allclose(decoded(encoded(numbers, rtol)), numbers, rtol=rtol / 10)


def test_without_pytorch_the_answers_on_record_are_given_in_order():
    peer = Peer(None, [np.array(1.0), RuntimeError("no"), np.array(2.0)])
    question = asked(np.array(np.nan))
    assert peer(question) == 1
    with pytest.raises(RuntimeError, match="no"):
        peer(question)
    assert peer(question) == 2
    with pytest.raises(pytest.fail.Exception, match="no answers of PyTorch to this test are on record"):
        peer(question)


def test_with_pytorch_its_own_answer_is_given():
    answer = Peer(TORCH, [np.array(1.0)])(asked(1 + 1e-9))
    assert answer == 1 + 1e-9


@pytest.mark.parametrize(
    "recorded, answer",
    [
        (np.ones(2), np.array([1.0, 1.001])),
        (np.ones(2), np.ones((1, 2))),
        (np.ones(2), np.ones(2, np.float32)),
        (np.ones(2), np.array([1.0, np.nan])),
        (np.ones(2), [np.ones(2), np.ones(2)]),
        (np.ones(2), RuntimeError("no")),
        (RuntimeError("no"), np.ones(2)),
    ],
    ids=str,
)
def test_a_record_that_is_not_what_pytorch_says_is_noticed(recorded, answer):
    with pytest.raises(pytest.fail.Exception, match="--record-torch"):
        Peer(TORCH, [recorded])(asked(answer))


WRONG = {
    "a value": lambda x, fault: (fault * x**2, 2 * x),
    "a gradient": lambda x, fault: (x**2, fault * 2 * x),
}


@pytest.mark.parametrize("ours", WRONG.values(), ids=WRONG)
def test_a_wrong_number_of_ours_is_noticed_without_pytorch(ours):
    """A comparison of a square and its slope, as the tests of the lessons make them."""
    x = np.array([0.3, -2.0])

    def compare(fault):
        answers = Peer(None, [[x**2, 2 * x]])(None)
        for mine, other in zip(ours(x, fault), answers, strict=True):
            np.testing.assert_allclose(mine, other)

    compare(1.0)
    with pytest.raises(AssertionError):
        compare(1.001)


def forgetful(torch_says):
    value, _ = torch_says(None)
    np.testing.assert_allclose(2.0, value)


def tolerant(torch_says):
    value, slope = torch_says(None)
    np.testing.assert_allclose([2.0, 3.0], [value, slope], rtol=0.1)


def deaf(torch_says):
    torch_says(None)
    torch_says(None)


@pytest.mark.parametrize("test", [forgetful, tolerant, deaf])
def test_a_comparison_that_passes_with_a_wrong_answer_is_noticed(test):
    answer = [np.array(2.0), np.array(3.0)]
    peer = Peer(None, [answer] * 2)
    test(peer)
    with pytest.raises(pytest.fail.Exception, match="passes with a wrong number in array"):
        must_notice(test, peer)


def test_an_error_that_is_not_expected_is_noticed():
    def careless(torch_says):
        try:
            torch_says(None)
        except RuntimeError:
            pass

    peer = Peer(None, [RuntimeError("no")])
    careless(peer)
    with pytest.raises(pytest.fail.Exception, match="passes with a wrong number"):
        must_notice(careless, peer)


def test_a_test_that_asks_nothing_is_noticed():
    with pytest.raises(pytest.fail.Exception, match="asks nothing"):
        must_notice(lambda torch_says: None, Peer(None, []))


def test_the_recordings_say_which_pytorch_it_was_and_stay_small():
    files = sorted(FOLDER.glob("*.json"))
    for file in files:
        assert json.loads(file.read_text(encoding="utf-8"))["torch"]
        assert (FOLDER.parent / f"{file.stem}.py").exists(), f"{file} is left over: there is no such file of tests"
    assert sum(file.stat().st_size for file in files) < 300_000
