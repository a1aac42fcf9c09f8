"""The English text: domains of which a part is counted and a part is held out, one paragraph a line.

Named here once: the eight domains of the papers' tables, so that published figures can be repeated, and the
twelve of the pack *disambig_en*. A data directory may hold other domains, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from disambig.api.experiments import text_lines

DOMAINS = ("fiction", "government", "health", "mixed", "science", "speeches", "technical", "textbooks")
"""Of the tables of papers."""
PACK_DOMAINS = (
    "fiction", "science", "speeches", "textbooks", "health", "technical", "government", "mixed",
    "essays", "manuals", "guides", "encyclopedic",
)  # fmt: skip
EVERY_NTH: Mapping[str, int] = {"fiction": 3}
"""Of a domain's text to count, the pack takes every so many-th paragraph: old fiction is nearly half of all
text, and hardly what people write today. All of the others."""


def counted_files(domains: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the files to count, a domain each."""
    return tuple(f"english/{domain}.train.txt.xz" for domain in domains)


def held_out_files(domains: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the files that are never counted, a domain each."""
    return tuple(f"english/{domain}.heldout.txt.xz" for domain in domains)


COUNTED, HELD_OUT = counted_files(DOMAINS), held_out_files(DOMAINS)
PACK_COUNTED, PACK_HELD_OUT = counted_files(PACK_DOMAINS), held_out_files(PACK_DOMAINS)


def find_files(data: Path, names: Sequence[str]) -> list[Path]:
    """Return where files of a data directory are."""
    return [data / name for name in names]


def pack_paragraphs(data: Path, domain: str) -> Iterator[str]:
    """Yield the paragraphs of a domain that the pack counts (errors: `text_lines`)."""
    (path,) = find_files(data, counted_files([domain]))
    return islice(text_lines(path), 0, None, EVERY_NTH.get(domain, 1))
