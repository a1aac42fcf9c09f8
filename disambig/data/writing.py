"""Kinds of writing, and how often a writer makes a mistake in each of them."""

from __future__ import annotations

from typing import Any

from disambig.errors import UserError, nearest_first

WORDS_PER_MISTAKE = {"published": 2_000, "edited": 400, "draft": 100, "learner": 15}
"""Number of words per mistake in each kind of writing."""


def check_writing(value: Any) -> str:
    """Return the kind of writing that a user named.

    Raises
    ------
    UserError
        D953 if there is no such kind of writing.
    """
    if not isinstance(value, str) or value not in WORDS_PER_MISTAKE:
        raise UserError("D953", value=value, names=nearest_first(str(value), WORDS_PER_MISTAKE))
    return value


def mistakes_per_1000(writing: str) -> float:
    """Return the mistakes per 1,000 words in a kind of writing.

    Raises
    ------
    UserError
        D953 if there is no such kind of writing.
    """
    return 1000 / WORDS_PER_MISTAKE[check_writing(writing)]
