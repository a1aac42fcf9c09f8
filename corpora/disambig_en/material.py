"""Where the text is, how it is read, and what the pack is made of; used by all other files of the build."""

from __future__ import annotations

import lzma
import sys
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from disambig_variance_svm.plain_text import EVERY_NTH
from disambig_variance_svm.plain_text import PACK_DOMAINS as DOMAINS

from disambig.formats.fixes.fix import Clean, Fix
from disambig.formats.fixes.reader import read_clean, read_fixes

__all__ = ["CORRECTING", "DOMAINS", "HOME", "TASKS", "VERSION", "people", "read", "say"]
HOME = Path(__file__).parent
CORRECTING = ("preposition", "spelling")
"""Tasks that correct words; *it* labels them."""
TASKS = (*CORRECTING, "it")
VERSION = "0.3.0"
FIXES = "labelled/fixes"
"""Mistakes that people made, and clean paragraphs of the same projects."""


def read(data: Path, part: str, domains: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of some domains; of text to count those that `EVERY_NTH` leaves."""
    for domain in domains:
        step = EVERY_NTH.get(domain, 1) if part == "train" else 1
        with lzma.open(data / "english" / f"{domain}.{part}.txt.xz", "rt", encoding="utf8") as lines:
            for number, line in enumerate(lines):
                if number % step == 0:
                    yield line.rstrip("\n")


@lru_cache(maxsize=4)
def people(data: Path, part: str) -> tuple[list[Fix], list[Clean]]:
    """Return the surest mistakes of a part, and the clean paragraphs beside them."""
    folder = data / FIXES
    return (
        read_fixes(folder / f"{part}.jsonl.xz", tier=1),
        read_clean(folder / f"clean.{part}.jsonl.xz"),
    )


def say(stage: str, done: int, total: int) -> None:
    """Print where the work is, at the begin and end of each stage."""
    if done == 0 or done + 1 == total:
        print(f"  {time.strftime('%H:%M:%S')} {stage} {done + 1}/{total}", file=sys.stderr, flush=True)
