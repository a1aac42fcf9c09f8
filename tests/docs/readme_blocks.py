"""The READMEs of the repository, and the blocks of code in them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from disambig import registry as plugins

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


def read_blocks(path: Path) -> list[Block]:
    """Return the blocks of one file; a `text` block directly after a Python block is its output."""
    text = path.read_text(encoding="utf8")
    blocks = []
    for match in re.finditer(r"^```(\w+)\n(.*?)^```\n", text, re.MULTILINE | re.DOTALL):
        shown = re.match(r"\n```text\n(.*?)^```", text[match.end() :], re.MULTILINE | re.DOTALL)
        line = text.count("\n", 0, match.start()) + 1
        place = f"{path.relative_to(ROOT)}:{line}"
        blocks.append(Block(place, match[1], match[2], shown and shown[1]))
    return blocks


BLOCKS = [
    block
    for path in DOCUMENTS
    for block in read_blocks(path)
    if path not in GUIDES or block.language == "console"
]


def alike(seen: str, shown: str) -> bool:
    """Return True if two outputs agree; numbers may differ by 0.05 or by five per cent."""
    number = r"\d+(?:\.\d+)?"
    if re.split(number, seen.strip()) != re.split(number, shown.strip()):
        return False
    pairs = zip(re.findall(number, seen), re.findall(number, shown), strict=True)
    return all(abs(float(a) - float(b)) <= max(0.05, 0.05 * float(b)) for a, b in pairs)


ENTRIES = re.compile(r"^\[project\.entry-points\.(\w+)\]\n((?:\w+ = .*\n)+)", re.MULTILINE)


def write(home: Path, files: Mapping[str, str]) -> None:
    """Write files, by their paths in `home`."""
    for inside, text in files.items():
        path = home / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")


def install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the package of a directory for one test, as ``pip install -e`` does."""
    pyproject = (home / "pyproject.toml").read_text(encoding="utf8")
    name = re.search(r'^name = "(.*)"$', pyproject, re.MULTILINE)
    assert name is not None
    info = home / f"{name[1].replace('-', '_')}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name[1]}\nVersion: 0.1.0\n")
    groups = (f"[{group}]\n" + lines.replace('"', "") for group, lines in ENTRIES.findall(pyproject))
    (info / "entry_points.txt").write_text("\n".join(groups))
    monkeypatch.syspath_prepend(str(home))
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(home), *paths]))


@contextmanager
def installed(home: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> Iterator[Path]:
    """Install the package of a directory and load its plugin; undo both after the block."""
    install(home, monkeypatch)
    plugins.reload_plugins()
    yield home
    monkeypatch.undo()
    for module in [name for name in sys.modules if name.startswith(package)]:
        del sys.modules[module]
    plugins.reload_plugins()
