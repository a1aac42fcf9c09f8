"""DocBin, spaCy's file format for Docs: reading texts, writing decisions."""

from __future__ import annotations

import gc
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO, TYPE_CHECKING, Any

from disambig.errors import UserError
from disambig.files import read_within, too_large_error
from disambig.formats.documents import (
    FILE_LIMIT,
    Document,
    Kind,
    UnreadableDocument,
    escape_unencodable,
    text_problem,
)
from disambig.formats.jsonl import AnnotatedDocument

if TYPE_CHECKING:
    from spacy.tokens import Doc


UNPACKED_LIMIT = 1 << 31
OBJECT_SIZE = 500
"""Estimated bytes of memory for a Doc or a string, in addition to its contents."""
_TOO_MANY = re.compile(r"(\d+) exceeds max_(?:array|map)_len")
ORTH = 65
"""spaCy's id of the attribute that holds a token's form; part of the file format."""
_REQUIRED = {"attrs": list, "tokens": bytes, "spaces": bytes, "lengths": bytes, "strings": list, "cats": list}


@dataclass(frozen=True, slots=True, eq=False)
class DocBinStrings:
    """Attribute ids and strings, shared by all Docs of a file."""

    attrs: list[int]
    strings: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class StoredDoc:
    """One Doc of a DocBin, not yet built: attributes and spaces of its tokens, and the rest still packed."""

    shared: DocBinStrings
    tokens: Any  # (n_tokens, n_attrs) uint64
    spaces: Any  # (n_tokens, 1) bool
    cats: dict[str, float] = field(default_factory=dict)
    flags: dict[str, Any] = field(default_factory=dict)
    span_groups: bytes = b""
    user_data: bytes | None = None


def docbin_documents(
    source: IO[bytes], path: str, *, limit: int = UNPACKED_LIMIT
) -> Iterator[Document | UnreadableDocument]:
    """Yield one document per Doc, also if its text is empty.

    Raises D302 for an empty file, D325 for a file that is not a DocBin, D872 for one that needs more than
    `limit` bytes: its columns, and `OBJECT_SIZE` for each of its Docs and strings.
    """
    data = read_within(source, path, min(limit, FILE_LIMIT))
    from spacy.strings import StringStore

    message = _unpack(data, path, limit)
    del data
    docs = _stored_docs(message, path)
    strings = StringStore(message["strings"])
    for number, doc in enumerate(docs, 1):
        try:
            text = _text(doc, strings)
        except KeyError as problem:
            error = UserError(
                "D325", path=path, problem=f"Doc {number} uses the string {problem}, which is not in the file"
            )
            yield UnreadableDocument(path, error)
            continue
        if invalid_text := text_problem(text):
            yield UnreadableDocument(
                path, UserError("D325", path=path, problem=f"Doc {number} has {invalid_text}")
            )
        else:
            yield Document(f"{path}:{number}", text, path, number, "spacy", source=doc)


def _unpack(data: bytes, path: str, limit: int) -> dict[str, Any]:
    """Return the contents of a DocBin, decompressed and with values of the expected types.

    Raises D325 if it is not a DocBin, D872 if it would need more than `limit` bytes.
    """

    def refuse(problem: str) -> UserError:
        return UserError("D325", path=path, problem=problem)

    from srsly.msgpack import unpackb

    unpacker = zlib.decompressobj()
    try:
        unpacked = unpacker.decompress(data, limit)
    except zlib.error as problem:
        raise refuse(f"it cannot be decompressed ({problem})") from None
    if unpacker.unconsumed_tail:
        raise too_large_error(path, limit)
    if not unpacker.eof:
        raise refuse("it is truncated")
    try:
        message = unpackb(
            unpacked, raw=False, max_array_len=limit // OBJECT_SIZE, max_map_len=limit // OBJECT_SIZE
        )
    except Exception as problem:  # a malicious file can raise any exception in the unpacker
        if (requested := _TOO_MANY.match(str(problem))) and int(requested[1]) <= len(unpacked):
            raise too_large_error(path, limit) from None
        raise refuse(f"not msgpack ({type(problem).__name__})") from None
    if not isinstance(message, dict):
        raise refuse("not a DocBin")
    if isinstance(lengths := message.get("lengths"), bytes) and len(lengths) // 4 > limit // OBJECT_SIZE:
        raise too_large_error(path, limit)
    for key, kind in _REQUIRED.items():
        if not isinstance(message.get(key), kind):
            raise refuse(f"its {key!r} is missing or not of type {kind.__name__}")
    if not all(isinstance(string, str) for string in message["strings"]):
        raise refuse("its 'strings' are not strings")
    return message


def _stored_docs(message: dict[str, Any], path: str) -> list[StoredDoc]:
    """Return the Docs of an unpacked DocBin. Raises D325 if its columns do not fit each other."""
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
        raise refuse("its columns have inconsistent sizes") from None
    spaces = np.frombuffer(message["spaces"], np.uint8).astype(bool).reshape(-1, 1)
    n = len(lengths)
    if (lengths < 0).any() or not lengths.sum() == len(tokens) == len(spaces):
        raise refuse(f"its lengths add up to {lengths.sum():,} tokens, but it contains {len(tokens):,}")
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
            raise refuse(f"its {key!r} does not have one value for each of {n:,} Docs")
        if not all(isinstance(value, kind) or value is None or value == [] for value in values):
            raise refuse(f"its {key!r} has values that are not of type {kind.__name__}")
        columns.append([value or default for value in values])
    shared = DocBinStrings(attrs, message["strings"])
    ends = lengths.cumsum().tolist()
    return [
        StoredDoc(shared, tokens[start:end], spaces[start:end], *rest)
        for start, end, *rest in zip([0, *ends][:n], ends, *columns, strict=True)
    ]


def _text(doc: StoredDoc, strings: Any) -> str:
    """Return the text of a Doc: its tokens and spaces; KeyError for a string that is not stored."""
    unknown = bool(doc.flags.get("has_unknown_spaces"))
    forms = [strings[orth] for orth in doc.tokens[:, 0].tolist()]
    spaces = [True] * len(forms) if unknown else doc.spaces[:, 0].tolist()
    return "".join(form + " " * space for form, space in zip(forms, spaces, strict=True))


@dataclass(frozen=True, slots=True)
class SpacyFormat:
    """Docs of ``spacy.blank(language)``; ``doc.user_data`` also has ``"id"``, ``"path"`` and ``"meta"``.

    Docs from a DocBin keep their tokens and all annotations. A DocBin is compressed as a whole, so all
    documents of an output are kept in memory until it is written.
    """

    language: str = "en"
    name: str = "spacy"
    suffix: str = ".spacy"
    mirrors: tuple[Kind, ...] = ("spacy",)

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return some documents as a DocBin."""
        import spacy
        from spacy.tokens import DocBin

        from disambig.spacy.annotations import write_annotations

        nlp = spacy.blank(self.language or "xx")
        kept = [result for result in results if not result.document.blank]
        docbin = DocBin(store_user_data=True)
        for result, doc in zip(kept, _docs(kept, nlp), strict=True):
            for decisions in result.decisions:
                write_annotations(doc, decisions, spans_key=decisions.task)
            for key, value in (
                ("id", result.document.id),
                ("path", result.document.path),
                ("meta", dict(result.document.meta)),
            ):
                doc.user_data.setdefault(key, escape_unencodable(value))
            docbin.add(doc)
        return bytes(docbin.to_bytes())

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the Docs of all `chunks` as one DocBin."""
        from spacy.tokens import DocBin

        docbin = None
        for chunk in chunks:
            part = DocBin(store_user_data=True).from_bytes(chunk)
            if docbin is None:
                docbin = part
            else:
                docbin.merge(part)
        write((docbin or DocBin(store_user_data=True)).to_bytes())


def _docs(results: Sequence[AnnotatedDocument], nlp: Any) -> Iterator[Doc]:
    """Yield a Doc for each result; stored Docs of one file are built together."""

    def shared(result: AnnotatedDocument) -> int:
        source = result.document.source
        return id(source.shared) if isinstance(source, StoredDoc) else 0

    for key, group in groupby(results, shared):
        if key:
            yield from _build_docs([result.document.source for result in group], nlp.vocab)
        else:
            yield from (nlp.tokenizer(result.document.text) for result in group)


def _build_docs(stored: Sequence[StoredDoc], vocab: Any) -> Iterator[Doc]:
    """Yield the Docs of one file with all their annotations."""
    from spacy.tokens import DocBin

    docbin = DocBin(store_user_data=True)
    docbin.attrs = list(stored[0].shared.attrs)
    docbin.strings = set(stored[0].shared.strings)
    docbin.tokens = [doc.tokens for doc in stored]
    docbin.spaces = [doc.spaces for doc in stored]
    docbin.cats = [doc.cats for doc in stored]
    docbin.flags = [doc.flags for doc in stored]
    docbin.span_groups = [doc.span_groups for doc in stored]
    docbin.user_data = [doc.user_data for doc in stored]
    try:
        yield from docbin.get_docs(vocab)
    finally:
        gc.enable()  # srsly leaves the garbage collector disabled if it fails
