"""Where the text is, how it is read, and what the pack is made of; used by all other files of the build."""

from __future__ import annotations

import lzma
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

HOME = Path(__file__).parent
DOMAINS = ("fiction", "science", "speeches", "textbooks", "health", "technical", "government", "mixed")
CORRECTING = ("preposition", "spelling")
"""Tasks that correct words; *it* labels them."""
TASKS = (*CORRECTING, "it")
VERSION = "0.1.0"


def read(data: Path, part: str, domains: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of some domains."""
    for domain in domains:
        with lzma.open(data / "english" / f"{domain}.{part}.txt.xz", "rt", encoding="utf8") as lines:
            yield from (line.rstrip("\n") for line in lines)


def say(stage: str, done: int, total: int) -> None:
    """Print where the work is, at the begin and end of each stage."""
    if done == 0 or done + 1 == total:
        print(f"  {time.strftime('%H:%M:%S')} {stage} {done + 1}/{total}", file=sys.stderr, flush=True)
