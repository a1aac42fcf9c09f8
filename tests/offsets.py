"""A check that reading markup does not change offsets."""

from __future__ import annotations

from disambig.markup import read_markup


def read_with_offsets(path, text):
    """Return a text without its markup; check its length, its letters and the offsets of comments."""
    plain = read_markup(path, text)
    assert len(plain.text) == len(text)
    for old, new in zip(text, plain.text, strict=True):
        assert new == old or not new.isalnum()
    for start, end in plain.comments:
        assert 0 <= start < end <= len(text)
    return plain
