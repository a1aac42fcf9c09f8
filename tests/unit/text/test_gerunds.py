"""Gerunds that are the subject of a sentence."""

from __future__ import annotations

import pytest

from disambig.api.text import begins_gerund_subject


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Its being late is fine.", True),
        ("its not having a roof makes it cold.", True),
        ("Its being so hard to open won't help us.", True),
        ("Its being built now.", False),
        ("Its being late is it?", False),
        ("Its being said that the road is closed.", False),
        ("Its roof is red.", False),
    ],
)
def test_what_follows_its(text, wanted):
    assert begins_gerund_subject(text, 3) is wanted
    assert begins_gerund_subject(f"We know. {text}", 12) is wanted
