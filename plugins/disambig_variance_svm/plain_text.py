"""Names of the English text files: for each domain a file to count and a held-out file, by paragraphs.

The eight domains of the papers' tables are fixed, so that published figures can be repeated; the pack
*disambig_en* uses twelve. A data directory may contain other domains as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from disambig.api.experiments import text_lines

DOMAINS = ("fiction", "government", "health", "mixed", "science", "speeches", "technical", "textbooks")
"""Domains of the papers' tables."""
PACK_DOMAINS = (
    "fiction", "science", "speeches", "textbooks", "health", "technical", "government", "mixed",
    "essays", "manuals", "guides", "encyclopedic",
)  # fmt: skip
EVERY_NTH: Mapping[str, int] = {"fiction": 3}
"""The pack counts every n-th paragraph of these domains, and every paragraph of the others: old fiction is
nearly half of all text, and few people write like that today."""


def counted_files(domains: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the files to count, one per domain."""
    return tuple(f"english/{domain}.train.txt.xz" for domain in domains)


def held_out_files(domains: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the held-out files, which are never counted, one per domain."""
    return tuple(f"english/{domain}.heldout.txt.xz" for domain in domains)


COUNTED, HELD_OUT = counted_files(DOMAINS), held_out_files(DOMAINS)
QUICK_COUNTED = counted_files(("government", "health", "mixed", "technical", "textbooks"))
"""What a quick run counts: about an eighth of the text."""
PACK_COUNTED, PACK_HELD_OUT = counted_files(PACK_DOMAINS), held_out_files(PACK_DOMAINS)


def find_files(data: Path, names: Sequence[str]) -> list[Path]:
    """Return the paths of files in a data directory."""
    return [data / name for name in names]


def sample_paragraphs(path: Path, characters: int) -> list[str]:
    """Return paragraphs at equal distances from a text file, about `characters` characters at most.

    Every source of a domain is represented in the sample.
    """
    paragraphs = list(text_lines(path))
    step = max(1, round(sum(map(len, paragraphs)) / characters))
    return paragraphs[::step]


def pack_paragraphs(data: Path, domain: str) -> Iterator[str]:
    """Yield the paragraphs of a domain that the pack counts (errors: see `text_lines`)."""
    (path,) = find_files(data, counted_files([domain]))
    return islice(text_lines(path), 0, None, EVERY_NTH.get(domain, 1))
