"""How inputs are cut into shards: one pass over each file gives its hash and where its shards begin."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from disambig.files.opening import READ_ERRORS
from disambig.formats.conllu.reader import conllu_cuts
from disambig.formats.documents import Kind
from disambig.formats.inputs import Input
from disambig.formats.tables.csv_rows import csv_cuts

SHARD_SIZE = 8_000_000  # bytes
_BLOCK = 1 << 20
_UNPACKED = 4  # compressed text grows about so many times


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of an input: all of it, or whole documents from byte `start` to `end`, `line` the first."""

    path: str
    name: str
    kind: Kind
    size: int
    start: int = 0
    end: int | None = None
    line: int = 1

    @property
    def input(self) -> Input:
        """The input it is a part of."""
        return Input(self.path, self.name, self.kind)


@dataclass(frozen=True, slots=True)
class Shard:
    """What is annotated and written as one: parts of one kind."""

    index: int
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Bytes of input."""
        return sum((part.end or part.size) - part.start for part in self.parts)


@dataclass(frozen=True, slots=True)
class Plan:
    """The inputs, each a plain dict of name, kind, size and hash, and the shards."""

    inputs: tuple[dict[str, Any], ...]
    shards: tuple[Shard, ...]


def plan(
    inputs: Iterable[Input],
    *,
    shard_size: int = SHARD_SIZE,
    field: str = "text",
    whole: Collection[Kind] = (),
) -> Plan:
    """Hash all inputs and cut them into shards of about `shard_size` bytes, in their order.

    Files are grouped. Files of lines or JSONL are cut between lines, CSV between rows, CoNLL-U between
    documents (sentences where it names none), all others never; nor are compressed ones and those of
    the kinds in `whole`. A file that cannot be read has an empty hash: it is reported when its turn
    comes. `field` is the column of the text in CSV.
    """
    described: list[dict[str, Any]] = []
    shards: list[Shard] = []
    parts: list[Part] = []
    held = 0
    for source in inputs:
        size, digest, cuts = _scan(source, shard_size, field, whole)
        described.append({"name": source.name, "kind": source.kind, "size": size, "sha256": digest})
        ends = [offset for offset, _ in cuts[1:]]
        for (start, line), end in zip(cuts, [*ends, None], strict=True):
            part = Part(source.path, source.name, source.kind, size, start, end, line)
            weight = ((end or size) - start) * (_UNPACKED if source.compressed else 1)
            if parts and (held + weight > shard_size or parts[0].kind != part.kind):
                shards.append(Shard(len(shards), tuple(parts)))
                parts, held = [], 0
            parts.append(part)
            held += weight
    if parts:
        shards.append(Shard(len(shards), tuple(parts)))
    return Plan(tuple(described), tuple(shards))


def plain(shards: Iterable[Shard]) -> list[dict[str, Any]]:
    """Return shards as plain values."""
    return [asdict(shard) for shard in shards]


def _scan(
    source: Input, shard_size: int, field: str, uncut: Collection[Kind]
) -> tuple[int, str, list[tuple[int, int]]]:
    """Return a file's size and hash, and the (byte, line number) at which its parts begin."""
    may_cut = not source.compressed and source.kind not in uncut
    cut = may_cut and source.kind in ("line", "json")
    whole, offset, line = hashlib.sha256(), 0, 1
    cuts = [(0, 1)]
    try:
        with open(source.path, "rb") as file:
            while block := file.read(_BLOCK):
                whole.update(block)
                if cut:
                    _add_cuts(cuts, block, offset, line, shard_size)
                    line += block.count(b"\n")
                offset += len(block)
            if may_cut and offset > shard_size and source.kind in ("conllu", "csv"):
                file.seek(0)
                if source.kind == "conllu":
                    cuts = conllu_cuts(file, shard_size)
                else:
                    cuts = csv_cuts(file, source.path, shard_size, field=field)
    except READ_ERRORS:
        return source.size, "", [(0, 1)]
    if cuts[-1][0] == offset > 0:
        cuts.pop()
    return offset, whole.hexdigest(), cuts


def _add_cuts(cuts: list[tuple[int, int]], block: bytes, offset: int, line: int, shard_size: int) -> None:
    """Add the line starts in `block` that lie a shard's size or more behind the cut before."""
    counted, position = line, 0
    while True:
        earliest = max(cuts[-1][0] + shard_size - 1 - offset, position)
        found = block.find(b"\n", earliest)
        if found < 0:
            return
        counted += block.count(b"\n", position, found + 1)
        position = found + 1
        cuts.append((offset + position, counted))
