"""The READMEs of the repository, and the blocks of code in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TOP = ROOT / "README.md"
DOCUMENTS = [
    TOP,
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("disambig/**/README.md")),
    *sorted(ROOT.glob("plugins/*/README.md")),
]
GUIDES = [ROOT / "disambig" / "decode" / "README.md", ROOT / "disambig" / "formats" / "README.md"]
"""Their blocks are files of packages, which separate tests write and run."""


class Block(NamedTuple):
    """A block of code: its place, its language, its text, and the output that is shown below it."""

    place: str
    language: str
    code: str
    output: str | None


def blocks_of(path: Path) -> list[Block]:
    """Return the blocks of one file; a `text` block directly after a Python block is its output."""
    text = path.read_text(encoding="utf8")
    found = []
    for match in re.finditer(r"^```(\w+)\n(.*?)^```\n", text, re.MULTILINE | re.DOTALL):
        shown = re.match(r"\n```text\n(.*?)^```", text[match.end() :], re.MULTILINE | re.DOTALL)
        line = text.count("\n", 0, match.start()) + 1
        place = f"{path.relative_to(ROOT)}:{line}"
        found.append(Block(place, match[1], match[2], shown and shown[1]))
    return found


BLOCKS = [
    block
    for path in DOCUMENTS
    for block in blocks_of(path)
    if path not in GUIDES or block.language == "console"
]


def alike(seen: str, shown: str) -> bool:
    """Return True if two outputs agree; numbers may differ by 0.05 or by five per cent."""
    number = r"\d+(?:\.\d+)?"
    if re.split(number, seen.strip()) != re.split(number, shown.strip()):
        return False
    pairs = zip(re.findall(number, seen), re.findall(number, shown), strict=True)
    return all(abs(float(a) - float(b)) <= max(0.05, 0.05 * float(b)) for a, b in pairs)
