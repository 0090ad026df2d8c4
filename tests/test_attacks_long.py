"""Attacks that go on until a limit stops them: bombs, floods, and what does not answer."""

import pytest
from attacks import LONG_ATTACKS
from test_attacks import pytestmark as needs_the_sandbox
from test_attacks import withstands

pytestmark = [needs_the_sandbox, pytest.mark.long]


@pytest.mark.parametrize("name", LONG_ATTACKS)
def test_an_attack_is_stopped_and_gains_nothing(name, monkeypatch):
    withstands(LONG_ATTACKS[name], monkeypatch)
