"""A check that reading markup does not change offsets."""

from __future__ import annotations

from disambig.markup import PlainText, read_markup


def read_with_offsets(path: str, text: str, *, decodes: bool = False) -> PlainText:
    """Return a text without its markup; check its length, its letters, its lines and the offsets of comments.

    With `decodes`, characters that are written as references, such as ``\\u00e9``, may become letters.
    """
    plain = read_markup(path, text)
    assert len(plain.text) == len(text)
    for old, new in zip(text, plain.text, strict=True):
        assert new == old or decodes or not new.isalnum()
        assert old in "\r\n" or new not in "\r\n"
    for start, end in plain.comments:
        assert 0 <= start <= end <= len(text)
    return plain
