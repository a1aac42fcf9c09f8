"""Labelled examples, a place in a text with the right candidate, and reading them from files."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from disambig import registry
from disambig.errors import UserError, contract_error, describe_value
from disambig.files import (
    ErrorCallback,
    decode_as,
    error_sink,
    open_bytes,
    read_error,
    reading,
    without_compression,
)
from disambig.formats.documents import can_be_encoded, has_other_format, read_each, read_lines
from disambig.formats.tables import TAB, read_header, table_rows
from disambig.registry import describe_component
from disambig.types import get_trait


@dataclass(frozen=True, slots=True)
class Labelled:
    """One place in a text, and the right candidate there.

    Attributes
    ----------
    text : str
    start, end : int
        Character offsets of the place; equal for an empty place.
    label : str
        The right candidate; empty for no word at all.
    document : str
        The document; documents are never split between training and testing.
    where : str
        File and line, for messages.
    word : str
        The group that decides there, such as ``"bank.n"``; empty if the task determines it.
    gloss : str
        Reference to the meaning of the label; empty if unknown.
    also : tuple of str
        Other labels that are equally right.
    domain : str
        The kind of text, such as a genre; empty if unknown.
    picked : bool
        Whether it was picked for its label, for example by a pattern, instead of sampled. Such examples are
        learned from, but not used to estimate frequencies of labels or probabilities.
    """

    text: str
    start: int
    end: int
    label: str
    document: str
    where: str = ""
    word: str = ""
    gloss: str = ""
    also: tuple[str, ...] = ()
    domain: str = ""
    picked: bool = False


OPEN, CLOSE = "[[", "]]"
_PLACE = re.compile(r"\[\[(?:(?!\[\[|\]\]).)*\]\]", re.DOTALL)


def remove_marks(text: str, where: str) -> tuple[str, int, int]:
    """Return a text without its marks, and start and end of the marked place.

    Raises D460 unless exactly one place is marked.
    """
    before, opened, rest = text.partition(OPEN)
    inside, closed, after = rest.partition(CLOSE)
    if not opened or not closed or OPEN in inside + after or CLOSE in after:
        raise UserError("D460", where=where, problem=_mark_problem(text))
    return before + inside + after, len(before), len(before) + len(inside)


def mark_place(example: Labelled) -> str:
    """Return the text of an example with its place between marks; a whole text is returned as it is."""
    text, start, end = example.text, example.start, example.end
    return text if end - start == len(text) else text[:start] + OPEN + text[start:end] + CLOSE + text[end:]


def place_at_mark(example: Labelled) -> Labelled:
    """Convert an example of a whole text with a mark to one of the marked place; others stay as they are.

    Raises D460 if a mark is incomplete, or several places are marked.
    """
    if OPEN not in example.text or (example.start, example.end) != (0, len(example.text)):
        return example
    text, start, end = remove_marks(example.text, example.where)
    document = text if example.document == example.text else example.document
    return replace(example, text=text, start=start, end=end, document=document)


def _mark_problem(text: str) -> str:
    """Return what is wrong with the marks of a text, and what to do."""
    if OPEN not in text:
        return (
            "no place is marked: put one place between [[ and ]]; a table of whole texts has the columns "
            "text and label only, named in its first line"
        )
    rest, n = _PLACE.subn("", text)
    if n > 1 and OPEN not in rest and CLOSE not in rest:
        return f"{n} places are marked instead of one place: repeat the text for each, with that place marked"
    if text.count(CLOSE) > text.count(OPEN):
        return "a ]] has no [[ before it: put one place between [[ and ]]"
    return "a [[ has no ]] after it: put one place between [[ and ]]"


_UTF_8 = "utf-8"
_FIRST_ELEMENT = re.compile(r"<([A-Za-z][^<>\s]{0,40})")


class ExampleSource:
    """A file of labelled examples, and the options for reading it.

    Attributes
    ----------
    path : str
    encoding : str or None
        The encoding given by the user, if any.
    strict : bool
        Whether a malformed example is an error; otherwise it is left out.
    tell : callable or None
        Called with messages for the user.
    """

    def __init__(
        self,
        path: str,
        *,
        encoding: str | None = None,
        strict: bool = False,
        tell: ErrorCallback | None = None,
    ) -> None:
        self.path, self.encoding, self.strict, self.tell = path, encoding, strict, tell

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file, decompressed according to its name.

        Raises
        ------
        UserError
            D300 to D308 for a file that cannot be read.
        """
        with reading(self.path), open_bytes(self.path) as stream:
            data: bytes = stream.read()
        return data

    @cached_property
    def text(self) -> str:
        """The text of the file without a byte order mark, in the user's encoding or UTF-8.

        Raises
        ------
        UserError
            D469 for bytes that are not in the encoding, D303 for a binary file, and the errors of `data`.
        """
        return decode_as(self.data, self.path, self.encoding or _UTF_8)

    @cached_property
    def xml(self) -> str:
        """The text of an XML file without comments, in the user's encoding or the one that it declares.

        Raises
        ------
        UserError
            D493 for a file that is too large, D469 for bytes that are not in the user's encoding, D300 to
            D308 for a file that cannot be read.
        """
        from disambig.formats.senseval import read_xml, without_comments

        return without_comments(read_xml(self.path, encoding=self.encoding, tell=self.tell))

    @property
    def element(self) -> str:
        """The name of the first element of an XML file; empty if there is none."""
        first = _FIRST_ELEMENT.search(self.xml)
        return first[1] if first else ""

    def broken(self, where: str, problem: str) -> None:
        """Report a malformed example, which is then left out, or raise an error.

        Parameters
        ----------
        where : str
            File and line.
        problem : str
            What is wrong, without a full stop.

        Raises
        ------
        UserError
            D488 if `strict` is set.
        """
        error_sink(strict=self.strict, tell=self.tell)(where, problem)


class ReaderTraits:
    """Attributes of a reader of examples, with their defaults; a reader has at least one of them.

    Attributes
    ----------
    suffixes : tuple of str
        Suffixes of its files, with the dot, such as ``".jsonl"``, and without that of a compression. A file
        with one of these suffixes is read by this reader.
    elements : tuple of str
        Names of the first element of the XML files that it reads, such as ``"corpus"``, whatever the suffix.
    """

    suffixes: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()


class ExampleReader(Protocol):
    """A reader of labelled examples; see also `ReaderTraits`."""

    def read(self, source: ExampleSource) -> Iterable[Labelled]:
        """Yield the examples of a file."""


def whole_text_example(
    text: str, label: str, document: str, where: str, word: str = "", gloss: str = ""
) -> Labelled:
    """Return the example of a whole text; marks in it are kept as text."""
    label = label.strip()
    if not label:
        raise example_error(where, "the label is empty")
    return _checked(Labelled(text, 0, len(text), label, document, where, word.strip(), gloss))


def _checked(example: Labelled) -> Labelled:
    """Return an example, or raise D460 if a saved model could not hold what it would learn from it."""
    for name in ("label", "word", "gloss"):
        if not can_be_encoded(getattr(example, name)):
            raise example_error(example.where, f"half a surrogate pair in its {name}")
    return example


def example_error(where: str, problem: str) -> UserError:
    """Return the error for a line that is not an example."""
    return UserError("D460", where=where, problem=problem)


TEXT, LABEL, DOCUMENT, WORD = "text", "label", "document", "word"
WholeText = tuple[str, str, str, str]
"""Text, label, document, and the place in the input for messages."""


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A row of a table; `word` is None if the table has no such column."""

    text: str
    label: str
    document: str
    where: str
    word: str | None


def is_table(path: str, text: str) -> bool:
    """Return True if a file is a table of labelled documents: a .csv, or a .tsv that names its columns."""
    name = without_compression(path).lower()
    first = [cell.strip().strip('"') for cell in text.partition("\n")[0].split(TAB)]
    return name.endswith(".csv") or (name.endswith(".tsv") and TEXT in first and LABEL in first)


def table_documents(path: str, text: str) -> Iterator[tuple[int, LabelledRow | UserError]]:
    """Yield the rows of a table with columns ``text``, ``label`` and, optionally, ``document`` and ``word``.

    Each row has the number of its first line. A row that cannot be read is an error (D326).

    Raises D471 if a column is missing, D460 if it occurs twice, D302 or D326 if the first row cannot be read.
    """
    lines = read_lines(io.BytesIO(text.encode("utf8", "surrogatepass")))
    try:
        header, lines = read_header(lines, path, field=TEXT)
    except UserError as error:
        if error.code != "D327":
            raise
        raise UserError("D471", **error.values) from None
    if LABEL not in header.columns:
        shown = ", ".join(repr(column[:40]) for column in header.columns[:20])
        raise UserError("D471", path=path, field=LABEL, columns=shown)
    for column in (TEXT, LABEL, DOCUMENT, WORD):
        if header.columns.count(column) > 1:
            raise UserError("D460", where=path, problem=f"the column {column!r} occurs twice: remove one")
    for number, cells in table_rows(lines, path, header):
        if isinstance(cells, UserError):
            yield number, cells
            continue
        fields = dict(zip(header.columns, cells, strict=True))
        where, document, word = f"{path}, line {number}", fields.get(DOCUMENT, ""), fields.get(WORD)
        yield number, LabelledRow(fields[TEXT], fields[LABEL], document, where, word)


def folder_documents(path: str, read: Callable[[str], str]) -> Iterator[WholeText]:
    """Yield the files in each folder of `path`; the name of the folder is their label.

    Hidden files and folders, and files outside the folders, are left out.

    Raises D468 if there is no folder, D461 for a folder without documents, D308 for a file that cannot be
    read or is not a regular file; whatever `read` raises.
    """
    with reading(path):
        with os.scandir(path) as entries:
            labels = sorted(entry.name for entry in entries if entry.is_dir() and entry.name[0] != ".")
        if not labels:
            raise UserError("D468", path=path)
        for label in labels:
            files = list(_files(os.path.join(path, label)))
            if not files:
                raise UserError("D461", path=os.path.join(path, label), hint="")
            for file in files:
                if os.path.exists(file) and not os.path.isfile(file):  # reading a pipe would block
                    raise UserError("D308", path=file, problem="not a regular file")
                yield read(file), label, file, file


def _files(folder: str) -> Iterator[str]:
    def fail(problem: OSError) -> None:
        raise read_error(str(problem.filename), problem)

    for inside, folders, files in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        yield from (os.path.join(inside, name) for name in sorted(files) if name[0] != ".")


@dataclass(frozen=True, slots=True)
class MarkedTables:
    """Rows of a table, or lines of two or three columns; also files without a known suffix."""

    suffixes = (".csv", ".tsv")

    def read(self, source: ExampleSource) -> list[Labelled]:
        """Return the examples.

        Raises D460 or D326 for lines that are not examples, D471 for a table without the required columns;
        the errors of `ExampleSource.text`.
        """
        if not is_table(source.path, source.text):
            return _read_lines(source, lambda line, where: [_column_example(line, where)])
        rows = table_documents(source.path, source.text)
        return read_each(rows, lambda number, row: [_row_example(row)])


def _read_lines(source: ExampleSource, read: Callable[[str, str], Iterable[Labelled]]) -> list[Labelled]:
    """Return the examples that `read` returns for each line that is not blank, and its place."""
    lines = ((number, line) for number, line in enumerate(source.text.split("\n"), 1) if line.strip())
    return read_each(lines, lambda number, line: read(line, f"{source.path}, line {number}"))


def _row_example(row: LabelledRow | UserError) -> Labelled:
    """Return the example in a row: a whole text or, if the table has words, a marked place."""
    if isinstance(row, UserError):
        raise row
    if row.word is None:
        return whole_text_example(row.text, row.label, row.document or row.text, row.where)
    text, start, end = remove_marks(row.text, row.where)
    return Labelled(text, start, end, row.label.strip(), row.document or text, row.where, row.word.strip())


def _column_example(line: str, where: str) -> Labelled:
    columns = line.rstrip("\r").split("\t")
    if len(columns) not in (2, 3):
        n = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
        problem = f"{n} instead of two or three (text, label, document) separated by TABs"
        raise example_error(where, problem)
    text, start, end = remove_marks(columns[0], where)
    document = "".join(columns[2:]) or text
    return Labelled(text, start, end, columns[1].strip(), document, where)


@dataclass(frozen=True, slots=True)
class JsonLines:
    """One JSON object per line: a text with a label, or with labelled places."""

    suffixes = (".jsonl", ".ndjson")

    def read(self, source: ExampleSource) -> list[Labelled]:
        """Return the examples. Raises D460 for lines that are none; the errors of `ExampleSource.text`."""
        return _read_lines(source, _line_examples)


def _line_examples(line: str, where: str) -> Iterator[Labelled]:
    """Yield the examples of a JSON line: one with a mark or offsets, or one for each of its "places"."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise example_error(where, f"not JSON: {problem}") from problem
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
        raise example_error(where, 'not an object with a "text"')
    domain = entry.get("domain") or ""
    if not isinstance(domain, str):
        raise example_error(where, '"domain" is not a string')
    picked = entry.get("picked") or False
    if not isinstance(picked, bool):
        raise example_error(where, '"picked" is neither true nor false')
    shared: dict[str, Any] = {"domain": domain, "picked": picked}
    document = entry["text"] if entry.get("document") in (None, "") else str(entry["document"])
    if not {"start", "end", "places"} & entry.keys():
        if label_problem := _label_problem(entry):
            raise example_error(where, label_problem)
        values = [entry.get(name) if OPEN in entry["text"] else "" for name in ("word", "gloss")]
        word, gloss = (value if isinstance(value, str) else "" for value in values)
        example = whole_text_example(entry["text"], entry[LABEL], document, where, word, gloss)
        yield replace(example, **shared)
        return
    places = entry.get("places", [entry])
    if not isinstance(places, list):
        raise example_error(where, '"places" is not a list')
    for place in places:
        yield replace(_place_example(place, entry["text"], document, where), **shared)


def _label_problem(fields: Mapping[str, Any]) -> str:
    """Return what is wrong with the label of an example; empty if it is a string."""
    if LABEL not in fields:
        return '"label" is missing'
    label = fields[LABEL]
    return "" if isinstance(label, str) else f'"label" is {json.dumps(label)[:60]}, not a string'


def _place_example(place: Any, text: str, document: str, where: str) -> Labelled:
    fields = place if isinstance(place, dict) else {}
    start, end = fields.get("start"), fields.get("end")
    if type(start) is not int or type(end) is not int:
        raise example_error(where, 'a place needs "start" and "end" as whole numbers, and a "label"')
    if problem := _label_problem(fields):
        raise example_error(where, problem)
    if not 0 <= start <= end <= len(text):
        raise example_error(where, f"{start} to {end} is not a range in {len(text)} characters")
    word, gloss = place.get("word") or "", place.get("gloss") or ""
    if not isinstance(word, str) or not isinstance(gloss, str):
        raise example_error(where, '"word" and "gloss" must be strings')
    return _checked(Labelled(text, start, end, fields[LABEL].strip(), document, where, word.strip(), gloss))


_XML_SUFFIX = ".xml"


def read_labelled(
    paths: str | Path | Sequence[str | Path],
    *,
    encoding: str | None = None,
    strict: bool = False,
    tell: ErrorCallback | None = None,
) -> list[Labelled]:
    """Read labelled examples from directories and files; the suffix determines the format.

    Examples of whole texts keep their marks: see `disambig.training.labelled_dataset.as_task_decides`.

    Raises D460 for a line that is not an example, D461 if there are no examples (or none of a label, in a
    directory), D468 for a directory without folders, D469 for bytes that are not in the encoding, D470 for an
    unknown encoding, D471 for a table without the required columns, D488 to D494 for XML, D499 for a format
    without examples; D300 to D308 for the file; D414 for a reader that returns something else than examples.

    `encoding`: encoding of all files; by default UTF-8 or, for XML, the declared one.
    `strict`: whether a malformed instance in XML is an error; otherwise it is left out.
    `tell`: called with one line for each example that is left out.
    """
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    name = encoding or _UTF_8
    try:
        "".encode(name)
    except (LookupError, ValueError):  # unknown, not a text encoding, or not a valid name
        raise UserError("D470", where="", name=name) from None
    examples: list[Labelled] = []
    for file in map(str, files):
        source = ExampleSource(file, encoding=encoding, strict=strict, tell=tell)
        examples.extend(_read_directory(source) if os.path.isdir(file) else read_source(source))
    if not examples:
        hint = "; if the answers to Senseval's XML are in a separate file: disambig evaluate --key FILE"
        names = list(map(str, files))
        raise UserError("D461", path=", ".join(names), hint=hint if any(map(is_xml, names)) else "")
    return examples


def read_source(source: ExampleSource) -> Iterator[Labelled]:
    """Yield the examples of one file, with the reader for it.

    Raises D491 for XML that no reader reads, D414 for a reader that returns something else than examples;
    whatever the reader raises.
    """
    reader = find_reader(source)
    part = describe_component("readers", reader)
    examples: object = reader.read(source)
    if not isinstance(examples, Iterable):
        seen = f"read returned {describe_value(examples)} for {source.path}"
        raise contract_error(part, seen, "the examples of the file")
    for example in examples:
        if problem := _example_problem(example):
            where = example.where if isinstance(example, Labelled) and example.where else source.path
            raise contract_error(part, f"{where}: {problem}", "a Labelled whose place lies in its text")
        yield example


def _example_problem(example: object) -> str:
    """Return what is wrong with an example of a reader; empty if nothing is."""
    if not isinstance(example, Labelled):
        return f"it returned {describe_value(example)}"
    for name in ("text", "label", "document", "where", "word"):
        if not isinstance(value := getattr(example, name), str):
            return f"{name} of an example is {describe_value(value)}, not a text"
    if not 0 <= example.start <= example.end <= len(example.text):
        return f"an example is from {example.start} to {example.end} in {len(example.text):,} characters"
    return ""


def find_reader(source: ExampleSource) -> ExampleReader:
    """Return the reader for a file: the one with the longest matching suffix, else by its first XML element.

    If two readers match, the one that was registered first is taken; those of the core come first.

    Raises D491 for XML that no reader reads, D499 for another format without examples, such as CoNLL-U.
    """
    readers = [factory() for factory in registry.load_all("readers").values()]
    names = source.path.lower(), without_compression(source.path).lower()
    matches = [
        (len(suffix), reader)
        for reader in readers
        for suffix in get_trait(reader, ReaderTraits, "suffixes")
        if any(name.endswith(suffix.lower()) for name in names)
    ]
    if matches:
        return max(matches, key=lambda match: match[0])[1]
    if not names[1].endswith(_XML_SUFFIX):
        if has_other_format(names[1]):
            raise UserError("D499", path=source.path, suffix=os.path.splitext(names[1])[1])
        return MarkedTables()
    element = source.element
    for reader in readers:
        if element in get_trait(reader, ReaderTraits, "elements"):
            return reader
    readable = [f"<{name}>" for reader in readers for name in get_trait(reader, ReaderTraits, "elements")]
    raise UserError(
        "D491", path=source.path, seen=f"<{element}>" if element else "no element", names=", ".join(readable)
    )


def is_xml(path: str) -> bool:
    """Return True if the name of a file is that of XML, or of an archive of XML."""
    name = without_compression(path).lower()
    return name.endswith((_XML_SUFFIX, ".tar"))


def _read_directory(source: ExampleSource) -> Iterator[Labelled]:
    def read(path: str) -> str:
        return ExampleSource(path, encoding=source.encoding).text

    for document in folder_documents(source.path, read):
        yield whole_text_example(*document)
