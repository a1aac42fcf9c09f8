"""Reading of a DocBin (``.spacy``): the texts of its Docs, and each Doc as it was stored.

The file is unpacked here, within bounds, and its sizes are checked before spaCy sees any of it;
nothing in it is executed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from disambig.errors import UserError
from disambig.files.memory import read_within, too_large
from disambig.formats.documents import Bad, Document, unfit
from disambig.formats.text_files import FILE_LIMIT

UNPACKED_LIMIT = 1 << 31
EACH = 500
"""Bytes that a Doc or a string takes beside its contents."""
_TOO_MANY = re.compile(r"(\d+) exceeds max_(?:array|map)_len")
ORTH = 65
"""spaCy's id of the attribute that holds a token's form; part of the file format."""
_NEEDED = {"attrs": list, "tokens": bytes, "spaces": bytes, "lengths": bytes, "strings": list, "cats": list}


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What all Docs of a file share: attribute ids and strings."""

    attrs: list[int]
    strings: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class StoredDoc:
    """One Doc of a DocBin, not yet built: rows of attributes, spaces, and the rest packed as it was."""

    shared: Shared
    tokens: Any  # (n_tokens, n_attrs) uint64
    spaces: Any  # (n_tokens, 1) bool
    cats: dict[str, float] = field(default_factory=dict)
    flags: dict[str, Any] = field(default_factory=dict)
    span_groups: bytes = b""
    user_data: bytes | None = None


def docbin_documents(
    source: IO[bytes], path: str, *, limit: int = UNPACKED_LIMIT
) -> Iterator[Document | Bad]:
    """Yield one document a Doc.

    Raises
    ------
    UserError
        D302 for an empty file, D325 for what is no DocBin, D872 for one that would take more than `limit`
        bytes: its columns, and `EACH` for each of its Docs and strings.
    """
    data = read_within(source, path, min(limit, FILE_LIMIT))
    if not data:
        raise UserError("D302", path=path)
    from spacy.strings import StringStore

    message = _unpacked(data, path, limit)
    del data
    docs = _stored(message, path)
    strings = StringStore(message["strings"])
    for number, doc in enumerate(docs, 1):
        try:
            text = _text(doc, strings)
        except KeyError as problem:
            error = UserError(
                "D325", path=path, problem=f"Doc {number} uses a string {problem} that is not in it"
            )
            yield Bad(path, error)
            continue
        unfitness = unfit(text)
        if unfitness:
            yield Bad(path, UserError("D325", path=path, problem=f"Doc {number} has {unfitness}"))
        elif text:
            yield Document(f"{path}:{number}", text, path, number, "spacy", source=doc)


def _unpacked(data: bytes, path: str, limit: int) -> dict[str, Any]:
    def refuse(problem: str) -> UserError:
        return UserError("D325", path=path, problem=problem)

    from srsly.msgpack import unpackb

    unpacker = zlib.decompressobj()
    try:
        whole = unpacker.decompress(data, limit)
    except zlib.error as problem:
        raise refuse(f"it cannot be unpacked ({problem})") from None
    if unpacker.unconsumed_tail:
        raise too_large(path, limit)
    if not unpacker.eof:
        raise refuse("it is cut short")
    try:
        message = unpackb(whole, raw=False, max_array_len=limit // EACH, max_map_len=limit // EACH)
    except Exception as problem:  # whatever a hostile file makes of the unpacker
        if (asked := _TOO_MANY.match(str(problem))) and int(asked[1]) <= len(whole):
            raise too_large(path, limit) from None
        raise refuse(f"no msgpack ({type(problem).__name__})") from None
    if not isinstance(message, dict):
        raise refuse("no DocBin")
    if isinstance(lengths := message.get("lengths"), bytes) and len(lengths) // 4 > limit // EACH:
        raise too_large(path, limit)
    for key, kind in _NEEDED.items():
        if not isinstance(message.get(key), kind):
            raise refuse(f"its {key!r} is missing or no {kind.__name__}")
    if not all(isinstance(string, str) for string in message["strings"]):
        raise refuse("its 'strings' are no strings")
    return message


def _stored(message: dict[str, Any], path: str) -> list[StoredDoc]:
    import numpy as np

    def refuse(problem: str) -> UserError:
        return UserError("D325", path=path, problem=problem)

    attrs = message["attrs"]
    if not attrs or attrs[0] != ORTH or not all(isinstance(attr, int) and attr >= 0 for attr in attrs):
        raise refuse("its 'attrs' do not begin with ORTH")
    try:
        tokens = np.frombuffer(message["tokens"], "<u8").reshape(-1, len(attrs))
        lengths = np.frombuffer(message["lengths"], "<i4").astype(np.int64)
    except ValueError:
        raise refuse("its columns have odd sizes") from None
    spaces = np.frombuffer(message["spaces"], np.uint8).astype(bool).reshape(-1, 1)
    n = len(lengths)
    if (lengths < 0).any() or not lengths.sum() == len(tokens) == len(spaces):
        raise refuse(f"its lengths add up to {lengths.sum():,} tokens, it holds {len(tokens):,}")
    columns: list[list[Any]] = []
    for key, kind, default in (
        ("cats", dict, {}),
        ("flags", dict, {}),
        ("span_groups", bytes, b""),
        ("user_data", bytes, None),
    ):
        values = message.get(key)
        values = values or [default] * n
        if not isinstance(values, list) or len(values) != n:
            raise refuse(f"its {key!r} are not one for each of {n:,} Docs")
        if not all(isinstance(value, kind) or value is None or value == [] for value in values):
            raise refuse(f"its {key!r} are no {kind.__name__}")
        columns.append([value or default for value in values])
    shared = Shared(attrs, message["strings"])
    ends = lengths.cumsum().tolist()
    return [
        StoredDoc(shared, tokens[start:end], spaces[start:end], *rest)
        for start, end, *rest in zip([0, *ends][:n], ends, *columns, strict=True)
    ]


def _text(doc: StoredDoc, strings: Any) -> str:
    unknown = bool(doc.flags.get("has_unknown_spaces"))
    forms = [strings[orth] for orth in doc.tokens[:, 0].tolist()]
    spaces = [True] * len(forms) if unknown else doc.spaces[:, 0].tolist()
    return "".join(form + " " * space for form, space in zip(forms, spaces, strict=True))
