"""A number with its noun, as people read it: one rule for every line that is printed."""

from __future__ import annotations


def many(n: int, noun: str) -> str:
    """Return ``1 document``, ``2 documents``, ``1,000 words``; `noun` is in the singular."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
