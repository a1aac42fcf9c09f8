"""What a correction changes in a text: taking a word out takes a space with it and leaves its capital."""

from __future__ import annotations

from typing import Any


def edit_of(record: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a flagged record as an edit: ``text[start:end]`` becomes ``replacement``.

    Records that replace or insert are edits as they are. One that takes a word out (its replacement is
    empty) also takes the space after it, or the one before where none is after; the capital that the
    word had goes to the next one.

    Parameters
    ----------
    record : dict
        As `Decisions.record` makes it.
    text : str
        The document's original text.
    """
    start, end = record["start"], record["end"]
    if record["replacement"] or start == end:
        return record
    if text[end : end + 1] in (" ", "\t"):
        end += 1
    elif text[start - 1 : start] == " " and start:
        start -= 1
    kept, following = "", end
    while following < len(text) and text[following].isspace():
        following += 1
    if (
        record["observed"][:1].isupper()
        and following > record["end"]
        and text[following : following + 1].islower()
    ):
        kept, end = text[end:following] + text[following].upper(), following + 1
    return {**record, "start": start, "end": end, "replacement": kept}
