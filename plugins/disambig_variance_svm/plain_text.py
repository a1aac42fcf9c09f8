"""The English text of the repeated tables: eight domains, part of each counted and part of each held out.

A data directory may hold other domains, too. These are named, so that published figures can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

DOMAINS = ("fiction", "government", "health", "mixed", "science", "speeches", "technical", "textbooks")
COUNTED = tuple(f"english/{domain}.train.txt.xz" for domain in DOMAINS)
HELD_OUT = tuple(f"english/{domain}.heldout.txt.xz" for domain in DOMAINS)


def files(data: Path, names: Sequence[str]) -> list[Path]:
    """Return where files of a data directory are."""
    return [data / name for name in names]
