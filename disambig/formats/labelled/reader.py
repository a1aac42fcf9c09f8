"""Labelled examples: places of a text with the right candidate for each. What a task is is not known here.

A file is read by a registered reader (`disambig.formats.labelled.contract`), chosen by how its name ends or,
of XML, by its first element. Those of the core:

JSON Lines
    see `disambig.formats.labelled.json_lines`.
Two or three columns (.tsv), tables (.csv, or .tsv whose first line names its columns)
    see `disambig.formats.labelled.tables`; so is a file whose name no reader knows.
XML (.xml)
    Senseval's lexical sample and NOAD-MASC (also its .tar.xz): see `disambig.formats.senseval.reader` and
    `disambig.formats.noad.reader`. What is broken in these is reported and left out; in all other forms it
    is an error.

A directory has a folder a label, and in it a file a document.

Marks in whole texts are kept here, since documents may hold ``[[`` of their own: tasks that decide at places
take them for marks, tasks of documents for text (`disambig.training.places.as_decided`).

Without a document each text is one of its own: parts to learn from and to test on are cut by documents.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from disambig import registry
from disambig.errors import UserError, broken
from disambig.fields import field_of
from disambig.files.opening import without_compression
from disambig.files.telling import Tell
from disambig.formats.labelled.contract import UTF_8, ExampleReader, ReaderOptions, Source
from disambig.formats.labelled.documents import folder_documents
from disambig.formats.labelled.example import Labelled as Labelled
from disambig.formats.labelled.tables import MarkedTables
from disambig.formats.labelled.whole import whole

XML = ".xml"


def read_labelled(
    paths: str | Path | Sequence[str | Path],
    *,
    encoding: str | None = None,
    strict: bool = False,
    tell: Tell | None = None,
) -> list[Labelled]:
    """Read labelled examples: directories, and files by their endings (see the module).

    Examples of whole texts keep the marks in them: `disambig.training.places.as_decided`.

    Parameters
    ----------
    paths : path or sequence of path
    encoding : str, optional
        Of all files; UTF-8 if not given, of XML what it declares.
    strict : bool
        Whether a broken instance in XML is an error; else it is left out.
    tell : callable, optional
        Gets a line for each of these.

    Raises
    ------
    UserError
        D460 for a line that is no example, D461 where there is none (of a label, in a directory), D468 for
        a directory without folders, D469 for bytes that are no text, D470 for an unknown encoding, D471
        for a table without its columns, D488 to D494 for XML; D300 to D308 for the file; D414 for a reader
        that gives no examples.
    """
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    _check_encoding(encoding or UTF_8)
    found: list[Labelled] = []
    for file in map(str, files):
        source = Source(file, encoding=encoding, strict=strict, tell=tell)
        found.extend(_of_directory(source) if os.path.isdir(file) else read_source(source))
    if not found:
        hint = "; answers to Senseval's XML that are in a file of their own: disambig evaluate --key FILE"
        names = list(map(str, files))
        raise UserError("D461", path=", ".join(names), hint=hint if any(map(is_xml, names)) else "")
    return found


def read_source(source: Source) -> Iterator[Labelled]:
    """Yield the examples of one file, by the reader that is for it.

    Raises
    ------
    UserError
        D491 for XML that no reader reads, D414 for a reader that gives something else; whatever it raises.
    """
    reader = reader_of(source)
    for example in reader.read(source):
        if not isinstance(example, Labelled) or not 0 <= example.start <= example.end <= len(example.text):
            raise broken(
                f"the reader {type(reader).__name__}",
                f"it gave {str(example)[:200]} for {source.path}",
                "a Labelled whose place lies in its text",
            )
        yield example


def reader_of(source: Source) -> ExampleReader:
    """Return the reader of a file: that of the longest ending, then that of its first element.

    Of two readers that claim the same the one that was registered first has it, the core's before all.

    Raises
    ------
    UserError
        D491 for XML that no reader reads.
    """
    readers = list(readers_of_examples().values())
    names = source.path.lower(), without_compression(source.path).lower()
    claims = [
        (len(suffix), reader)
        for reader in readers
        for suffix in field_of(reader, ReaderOptions, "suffixes")
        if any(name.endswith(suffix.lower()) for name in names)
    ]
    if claims:
        return max(claims, key=lambda claim: claim[0])[1]
    if not names[1].endswith(XML):
        return MarkedTables()
    first = source.element
    for reader in readers:
        if first in field_of(reader, ReaderOptions, "elements"):
            return reader
    known = [f"<{name}>" for reader in readers for name in field_of(reader, ReaderOptions, "elements")]
    raise UserError(
        "D491", path=source.path, seen=f"<{first}>" if first else "no element", names=", ".join(known)
    )


def readers_of_examples() -> dict[str, ExampleReader]:
    """Return all registered readers, by name."""
    return {name: factory() for name, factory in registry.everything("readers").items()}


def is_xml(path: str) -> bool:
    """Tell whether a file is XML, or an archive of it, by its name."""
    name = without_compression(path).lower()
    return name.endswith((XML, ".tar"))


def _of_directory(source: Source) -> Iterator[Labelled]:
    def read(path: str) -> str:
        return Source(path, encoding=source.encoding).text

    for each in folder_documents(source.path, read):
        yield whole(*each)


def _check_encoding(name: str) -> None:
    try:
        "".encode(name)
    except (LookupError, ValueError):  # unknown, or one that encodes nothing, or no name at all
        raise UserError("D470", where="", name=name) from None
