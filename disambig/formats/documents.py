"""Documents, the files that contain them, and reading plain text: lines and whole files."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Literal, TypeVar, get_args

import numpy as np

from disambig.data import LazySequence
from disambig.errors import UserError
from disambig.files import (
    COMPRESSED,
    STDIN,
    decode,
    is_dangling,
    open_bytes,
    read_error,
    read_within,
    reading,
    without_compression,
)
from disambig.formatting import escape_control_chars, first_names, pluralize
from disambig.markup import begins_like_document, has_markup, is_section, without_template
from disambig.markup.reading import SUFFIXES as MARKUP

Kind = Literal["file", "line", "json", "csv", "conllu", "spacy", "parquet"]


@dataclass(frozen=True, slots=True)
class Document:
    """One text to annotate."""

    # the ``id`` of its JSON object; otherwise its path, with ``:line`` if the file has several documents
    id: str
    text: str  # the original text, to which all offsets refer, with the line ends of the file
    path: str  # the file it comes from, as the user named it; or ``<stdin>``
    # Number of its first line in the file, or of its row or Doc, from 1; 0 if the document is the whole file.
    # A large file of plain text is several documents (see `text_parts`)
    line: int = 0
    kind: Kind = "file"  # the kind of its file
    ending: str = ""  # the line end after a ``"line"``: LF, CR LF or nothing
    # the other keys of its JSON object, or columns of its row
    meta: Mapping[str, Any] = field(default_factory=dict)
    # the document in its original form, for formats that write it again: the bytes of CoNLL-U, the
    # `StoredDoc` of a ``.spacy`` file; the keys that led to the text of a JSON object or row of Parquet;
    # otherwise None
    source: Any = None

    @property
    def blank(self) -> bool:
        """Whether this is an empty line, which is kept only so that output lines match input lines."""
        return self.kind == "line" and not self.text.strip()


@dataclass(frozen=True, slots=True)
class UnreadableDocument:
    """A document that could not be read or annotated, with the error, which names its path."""

    path: str
    error: UserError


def text_problem(text: str) -> str | None:
    """Return why a string from a structured file is not valid text; None if it is."""
    if "\0" in text:
        return f"a NUL character at offset {text.index(chr(0)):,} of its text"
    return None if can_be_encoded(text) else "half a surrogate pair in its text"


def can_be_encoded(text: str) -> bool:
    """Return True if `text` can be encoded in UTF-8, that is, has no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def escape_unencodable(value: Any) -> Any:
    """Escape characters that UTF-8 cannot encode, such as raw bytes of a file name, in plain values."""
    if isinstance(value, str):
        return value if can_be_encoded(value) else value.encode(errors="backslashreplace").decode()
    if isinstance(value, Mapping):
        return {escape_unencodable(key): escape_unencodable(item) for key, item in value.items()}
    return [escape_unencodable(item) for item in value] if isinstance(value, list | tuple) else value


def document_id(value: object, path: str, number: int) -> str:
    """Return the id of a row: the given one if it is valid, otherwise its place."""
    is_name = isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""
    return str(value) if is_name and can_be_encoded(str(value)) else f"{path}:{number}"


def find_field(values: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """Return the keys that lead to a field, none if it is missing.

    ``a.b`` is a key of the object or else the key ``b`` of the object ``a``.
    """
    if field in values:
        return (field,)
    for name, value in values.items():
        if isinstance(value, dict) and field.startswith(f"{name}."):
            keys = find_field(value, field[len(name) + 1 :])
            if keys:
                return (name, *keys)
    return ()


def take_field(values: dict[str, Any], keys: Sequence[str]) -> Any:
    """Return the value to which some keys lead, and remove it."""
    for name in keys[:-1]:
        values = values[name]
    return values.pop(keys[-1])


def with_field(values: Mapping[str, Any], field: str, text: str, keys: Sequence[str] = ()) -> dict[str, Any]:
    """Return an object or row with its text.

    `keys`: the keys that led to the text before `take_field` removed it; without them, the place follows from
    the name of the field.
    """
    if len(keys) > 1:
        return {**values, keys[0]: with_field(values[keys[0]], field, text, keys[1:])}
    if keys:
        return {**values, keys[0]: text}
    for name, value in values.items():
        if field.startswith(f"{name}.") and (value is None or isinstance(value, dict)):
            return {**values, name: with_field(value or {}, field[len(name) + 1 :], text)}
    return {**values, field: text}


KINDS: dict[str, Kind] = {
    ".txt": "file",
    **dict.fromkeys(MARKUP, "file"),
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".conllu": "conllu",
    ".spacy": "spacy",
    ".parquet": "parquet",
}
SUFFIXES = tuple(KINDS)
_README = "readme.md"
"""A README describes its directory and is not one of its documents, unless it is named explicitly."""
CONLLU_PLUS = ("CoNLL-U Plus", "cut -f1-10")
"""CoNLL-U with more columns, and what leaves the first ten."""
_CONVERTERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys((".doc", ".docx", ".docm"), ("Word", "pandoc -t gfm")),
    **dict.fromkeys((".odt", ".ott", ".fodt"), ("OpenDocument", "pandoc -t gfm")),
    **dict.fromkeys((".rtf",), ("RTF", "pandoc -t gfm")),
    **dict.fromkeys((".epub",), ("EPUB", "pandoc -t gfm")),
    **dict.fromkeys((".pdf",), ("PDF", "pdftotext")),
    **dict.fromkeys((".ps", ".eps"), ("PostScript", "ps2ascii")),
    **dict.fromkeys((".conllup", ".cupt"), CONLLU_PLUS),
}
"""Formats of documents that are not supported: their names, and a command that converts them to text."""
_DATA_HINTS: dict[str, str] = {
    **dict.fromkeys(
        (".json", ".jsonc", ".json5", ".geojson"),
        "if each line is an object, add --from jsonl; otherwise convert it to .jsonl or .csv",
    ),
    **dict.fromkeys(
        (".svg", ".tei", ".vrt", ".stringsdict", ".plist", ".bib"), "convert it to .txt, .jsonl or .conllu"
    ),
    ".xml": "it is neither DocBook nor DITA nor strings of Android: convert it to .txt, .jsonl or .conllu",
    **dict.fromkeys(
        (".conll", ".conllx"),
        "if it has the columns of CoNLL-U, add --from conllu; otherwise convert it to .conllu",
    ),
    **dict.fromkeys((".xls", ".xlsx", ".ods"), "convert it to .csv or .jsonl"),
}
"""Suffixes of data, in which the prose cannot be told from the rest, and what to do with such a file."""
_SHARED = (".xml", ".json", ".jsonc", ".json5")
"""Suffixes of data and of documents."""
FORMAT_NAMES: dict[str, Kind] = {
    "text": "file",
    "lines": "line",
    "jsonl": "json",
    "csv": "csv",
    "conllu": "conllu",
    "spacy": "spacy",
    "parquet": "parquet",
}
"""Names of formats that a user can choose for files without a known suffix."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read: its path, its name relative to the common directory of all inputs, and its kind."""

    path: str
    name: str
    kind: Kind

    @property
    def compressed(self) -> bool:
        """Whether the file is compressed and therefore can only be read from its start."""
        return self.path.lower().endswith(COMPRESSED)

    @property
    def may_be_cut(self) -> bool:
        """Whether this is a file of plain text, of which a large one is read in parts (see `text_parts`)."""
        name = without_compression(self.path).lower()
        return self.kind == "file" and self.path != STDIN and not has_markup(name)

    @property
    def shown(self) -> str:
        """The path for display."""
        return "<stdin>" if self.path == STDIN else self.path

    @property
    def size(self) -> int:
        """Size in bytes; 0 if unknown."""
        try:
            return os.stat(self.path).st_size if self.path != STDIN else 0
        except OSError:
            return 0


class InputList(LazySequence[Input]):
    """Many inputs in little memory: the bytes of their paths and 13 more for each.

    `root` is the folder to which names are relative.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._paths = bytearray()
        self._ends = array("q", [0])
        self._name_lengths = array("i")  # names that are the end of their path: their lengths
        self._names: dict[int, str] = {}  # the others
        self._kinds = bytearray()

    def append(self, path: str, kind: Kind) -> None:
        """Add an input."""
        name = path if path == STDIN else os.path.relpath(path, self.root)
        if not path.endswith(name):
            self._names[len(self)] = name
        self._name_lengths.append(len(name))
        self._kinds.append(_ALL_KINDS.index(kind))
        self._paths += os.fsencode(path)
        self._ends.append(len(self._paths))

    def __len__(self) -> int:
        return len(self._kinds)

    def has_kind(self, kind: Kind) -> bool:
        """Return True if an input is of a kind."""
        return _ALL_KINDS.index(kind) in self._kinds

    def make_item(self, index: int) -> Input:
        """Return an input."""
        path = os.fsdecode(bytes(self._paths[self._ends[index] : self._ends[index + 1]]))
        name = self._names.get(index) or path[len(path) - self._name_lengths[index] :]
        return Input(path, name, _ALL_KINDS[self._kinds[index]])


_ALL_KINDS: tuple[Kind, ...] = get_args(Kind)


def unsupported_error(path: str, *, hint: str = "") -> UserError | None:
    """Return the error for a file whose suffix shows that it is not a text; None for any other file.

    A ``.xml`` or ``.json`` file is one if it does not begin like a document or the strings of a program.

    `hint`: what to do with a file of data, for the message; by default how to annotate it.
    """
    name = without_compression(path).lower()
    is_plain = path.lower() == name and os.path.isfile(path)
    suffix = os.path.splitext(without_template(name))[1]
    is_other = is_plain and suffix in _SHARED and not begins_like_document(path)
    is_template_of_data = suffix in _DATA_HINTS and suffix not in _SHARED
    if not is_other and not is_template_of_data and (suffix in KINDS or has_markup(name)):
        return None
    if suffix in _CONVERTERS:
        what, command = _CONVERTERS[suffix]
        return UserError("D339", path=path, what=what, command=command)
    if suffix in _DATA_HINTS:
        return UserError("D340", path=path, suffix=suffix, hint=hint or _DATA_HINTS[suffix])
    return None


def has_other_format(name: str) -> bool:
    """Return True if the suffix of a name is that of a format other than text, such as ``.conllu``."""
    suffix = os.path.splitext(name)[1]
    return suffix != ".txt" and (suffix in KINDS or suffix in _CONVERTERS or suffix in _DATA_HINTS)


def read_as_text_note(path: str) -> UserError | None:
    """Return the note for a file with an unknown suffix, which is read as plain text; None if it is known.

    A file without a suffix, such as ``README``, is a text by convention.
    """
    name = without_compression(path).lower()
    suffix = os.path.splitext(name)[1]
    is_known = not suffix or suffix in KINDS or has_markup(name)
    if is_section(suffix) and path.lower() == name:
        is_known = begins_like_document(path)
    return None if is_known else UserError("D341", path=path, suffix=suffix)


def files_by_suffix(counts: Mapping[str, int], *, maximum: int = 4) -> str:
    """Return numbers of files as text, the most frequent first: ``12 files by suffix (.png 9, .py 3)``."""
    in_order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    maximum += len(in_order) == maximum + 1  # the name of the last one takes no more space than "others"
    parts = [f"{escape_control_chars(suffix) or 'no suffix'} {n:,}" for suffix, n in in_order[:maximum]]
    n_more = sum(n for _, n in in_order[maximum:])
    parts += [f"others {n_more:,}"] if n_more else []
    return f"{pluralize(sum(counts.values()), 'file')} by suffix ({', '.join(parts)})"


def find_inputs(
    paths: Sequence[str],
    *,
    lines: bool = False,
    other: Kind | None = None,
    exclude: Collection[str] = (),
    note: Callable[[UserError], object] = lambda note: None,
) -> Sequence[Input]:
    """Return the files that `paths` name, including those in directories, each once.

    Raises D300 for a path that does not exist, D301 for a directory without a file to read; without `other`,
    D339 or D340 for a file whose suffix is that of an unsupported format.

    `paths`: files, ``-`` for standard input, and directories, which are searched recursively for files with
    one of `SUFFIXES`, also compressed (see `COMPRESSED`); hidden files and README.md are left out.
    `lines`: whether each line of a text file is a document.
    `other`: kind of standard input and of files that end in .txt or in an unknown suffix; text by default.
    `note`: called with D341 for a file with an unknown suffix that is read as text, with D353 if no file is
    of the kind `other`, with D308 for a directory inside others that cannot be read, and once with D342,
    which counts the files in directories that are not read, and names links to files that do not exist and to
    directories, and pipes and devices.
    """
    excluded = {os.path.realpath(path) for path in exclude}
    skipped = SkippedFiles()
    inputs = InputList(_common_directory(paths))
    real_path_hashes = array("q")  # hashes of real paths

    def add(path: str) -> None:
        inputs.append(path, _kind(path, lines=lines, other=other))
        real_path_hashes.append(hash(_real_path(path)))

    for path in paths:
        if path != STDIN and not os.path.exists(path):
            raise UserError("D300", path=path or "''")
        if not os.path.isdir(path):
            if other is None and path != STDIN:
                if error := unsupported_error(path):
                    raise error
                if as_text := read_as_text_note(path):
                    note(as_text)
            add(path)
            continue
        n_before = len(inputs)
        for file in _walk(path, excluded, skipped, note):
            add(file)
        if len(inputs) == n_before:
            raise UserError(
                "D301", path=path, endings=f"{', '.join(SUFFIXES)} (or with {', '.join(COMPRESSED)})"
            )
    if description := skipped.describe():
        note(UserError("D342", what=description))
    if other is not None and not inputs.has_kind("line" if lines and other == "file" else other):
        note(UserError("D353", kind=next(name for name, kind in FORMAT_NAMES.items() if kind == other)))
    return _without_repeated(inputs, real_path_hashes)


@dataclass(slots=True)
class SkippedFiles:
    """The files in directories that are not read, by reason, and paragraphs in other languages."""

    # number of files per suffix whose format is not read
    suffixes: Counter[str] = field(default_factory=Counter)
    # number of files and folders that git ignores, of files that `exclude` or `include` leaves out, and of
    # hidden files
    ignored: int = 0
    excluded: int = 0
    hidden: int = 0
    # number of folders per name with installed packages or generated files, or hidden with tracked files
    folders: Counter[str] = field(default_factory=Counter)
    # paths of files that are not text, and of files that are too long
    binary: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    # paths of links to missing files, of links to files outside the directory, of links to directories, and
    # of pipes and devices
    dangling: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)  # directories with results of `annotate`
    special: list[str] = field(default_factory=list)
    # number of paragraphs per detected language that are not in a language of the models
    paragraphs: Counter[str] = field(default_factory=Counter)
    languages: list[str] = field(default_factory=list)  # languages of the models

    def describe(self) -> str:
        """Return a summary on one line; "" if nothing was skipped."""
        parts = []
        if self.suffixes:
            parts.append(files_by_suffix(self.suffixes))
        numbers = (self.ignored, "ignored by git"), (self.excluded, "by settings"), (self.hidden, "hidden")
        parts += [f"{number:,} {what}" for number, what in numbers if number]
        if self.folders:
            n_folders = pluralize(sum(self.folders.values()), "folder")
            parts.append(f"{n_folders} ({first_names(sorted(self.folders))})")
        unread = (self.binary, "binary"), (self.too_long, "too long")
        parts += [f"{len(names):,} {what} ({first_names(names)})" for names, what in unread if names]
        for names, noun, where in (
            (self.dangling, "dangling link", ""),
            (self.outside, "link", " out of the directory"),
            (self.linked, "link", " to directories"),
            (self.jobs, "job", ""),
            (self.special, "special file", ""),
        ):
            if names:
                parts.append(f"{pluralize(len(names), noun)}{where} ({first_names(names)})")
        if self.paragraphs:
            from disambig.text import describe_foreign

            parts.append(describe_foreign(self.paragraphs, self.languages))
        return ", ".join(parts)


def _without_repeated(inputs: InputList, real: array[int]) -> InputList:
    """Return the inputs without those whose real path was there before."""
    hashes = np.sort(np.frombuffer(real, np.int64))
    repeated = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
    if not repeated:
        return inputs
    unique, seen = InputList(inputs.root), set()
    for entry, hashed in zip(inputs, real, strict=True):
        if hashed in repeated:  # perhaps: different paths may have the same hash
            if (path := _real_path(entry.path)) in seen:
                continue
            seen.add(path)
        unique.append(entry.path, entry.kind)
    return unique


def _real_path(path: str) -> str:
    return path if path == STDIN else os.path.realpath(path)


def _walk(
    directory: str, excluded: set[str], skipped: SkippedFiles, note: Callable[[UserError], object]
) -> Iterator[str]:
    """Yield the files to read; add the others to `skipped`, and note unreadable directories."""

    def unreadable(problem: OSError) -> None:
        note(read_error(str(problem.filename), problem))

    for folder, folders, files in os.walk(directory, onerror=unreadable):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and os.path.realpath(os.path.join(folder, name)) not in excluded
        )
        skipped.linked += [path for name in folders if os.path.islink(path := os.path.join(folder, name))]
        jobs = {name for name in folders if _is_job(os.path.join(folder, name))}
        skipped.jobs += [os.path.join(folder, name) for name in folders if name in jobs]
        folders[:] = [name for name in folders if name not in jobs]
        for name in sorted(files):
            bare = without_compression(name).lower()
            if name.startswith(".") or bare == _README:
                continue
            path = os.path.join(folder, name)
            if is_dangling(path):
                skipped.dangling.append(path)
            elif os.path.exists(path) and not os.path.isfile(path):  # reading a pipe may never end
                skipped.special.append(path)
            elif bare.endswith(SUFFIXES) or begins_like_document(path, is_named=False):
                yield path
            else:
                skipped.suffixes[os.path.splitext(bare)[1]] += 1


def _is_job(folder: str) -> bool:
    """Return True for the directory of a job: its files repeat the texts that were annotated."""
    return os.path.isfile(os.path.join(folder, "manifest.json")) and os.path.isfile(
        os.path.join(folder, "shards", "inputs.jsonl")
    )


def _kind(path: str, *, lines: bool, other: Kind | None) -> Kind:
    suffix = os.path.splitext(without_compression(path))[1].lower()
    kind = other or "file" if suffix == ".txt" else KINDS.get(suffix, other or "file")
    return "line" if lines and kind == "file" else kind


def _common_directory(paths: Sequence[str]) -> str:
    folders = [
        os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path) or ".")
        for path in paths
        if path != STDIN
    ]
    return os.path.commonpath(folders) if folders else "."


LINE_LIMIT = 50_000_000
_SKIP = 1 << 20


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line: its number, its byte offset in the (decompressed) file, and its bytes, None if too long."""

    number: int
    offset: int
    data: bytes | None

    @property
    def following(self) -> tuple[int, int]:
        """The byte offset and the number of the next line, if this one is not too long."""
        return self.offset + len(self.data or b""), self.number + 1


def read_lines(
    source: IO[bytes], *, start: int = 0, end: int | None = None, number: int = 1
) -> Iterator[FileLine]:
    """Yield the lines of `source`, which is at byte `start`, up to byte `end`.

    A line of more than `LINE_LIMIT` bytes is skipped: its `FileLine` has no data. `number` is that of the
    first line.
    """
    while end is None or start < end:
        data = source.readline(LINE_LIMIT + 1)
        if not data:
            return
        offset, start = start, start + len(data)
        if len(data) > LINE_LIMIT:
            start += _to_line_end(source, data)
            yield FileLine(number, offset, None)
        else:
            yield FileLine(number, offset, data)
        number += 1


def _to_line_end(source: IO[bytes], data: bytes) -> int:
    """Skip the rest of a line without keeping it in memory; return the number of bytes skipped."""
    skipped = 0
    while data and not data.endswith(b"\n"):
        data = source.readline(_SKIP)
        skipped += len(data)
    return skipped


def is_no_text(error: UserError) -> bool:
    """Return True if the error of a line means that the whole file is binary, or in UTF-16 or UTF-32."""
    return error.code == "D303" or (error.code == "D304" and str(error.values["encoding"]).startswith("UTF-"))


def line_documents(lines: Iterator[FileLine], path: str) -> Iterator[Document | UnreadableDocument]:
    """Yield one document per line, including blank lines; stop if the file is not a text."""
    for line in lines:
        try:
            text = decode_line(line, path)
        except UserError as error:
            yield UnreadableDocument(path, error)
            if is_no_text(error):
                return
            continue
        body = text.removesuffix("\n")
        if body.endswith("\r") and text.endswith("\n"):
            body = body[:-1]
        yield Document(f"{path}:{line.number}", body, path, line.number, "line", text[len(body) :])


def line_too_long_error(line: FileLine, path: str) -> UserError:
    """Return the error for a line that is too long."""
    return UserError("D305", path=path, line=line.number, limit=LINE_LIMIT)


def read_text_lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of a file that is not blank. Raises D300 to D308."""
    with reading(path), open_bytes(path) as stream:
        for line in read_lines(stream):
            if text := decode_line(line, path).removeprefix("\ufeff").strip():
                yield line.number, text


def decode_line(line: FileLine, path: str) -> str:
    """Return a line as text, its line end included.

    Raises D303, D304, or D305 for a line that is too long.
    """
    if line.data is None:
        raise line_too_long_error(line, path)
    return decode(line.data, path, start=line.offset)


_NUMBERS_SHOWN = 8
Row = TypeVar("Row")
Item = TypeVar("Item")


def read_each(rows: Iterable[tuple[int, Row]], read: Callable[[int, Row], Iterable[Item]]) -> list[Item]:
    """Return the items that `read` returns for the number and the contents of each row.

    All rows are read, so that a user can correct all invalid ones at once: the error of the first one gives
    the numbers of the others.
    """
    items: list[Item] = []
    first: UserError | None = None
    others: list[str] = []
    for number, row in rows:
        try:
            items.extend(read(number, row))
        except UserError as error:
            if first is None:
                first = error
            else:
                others.append(f"{number:,}")
    if first is None:
        return items
    if not others or "problem" not in first.values:
        raise first
    verb = "is" if len(others) == 1 else "are"
    more = f"{pluralize(len(others), 'more line')} {verb} invalid: {first_names(others, _NUMBERS_SHOWN)}"
    raise UserError(first.code, **{**first.values, "problem": f"{first.values['problem']}; {more}"})


WHOLE_SIZE = 1 << 20
"""A file of plain text with more bytes is read in parts."""
PART_SIZE = 100_000
"""Approximate maximum size of a part in bytes. The records of a document take 50 times its size."""


def text_parts(
    source: IO[bytes],
    *,
    start: int = 0,
    end: int | None = None,
    number: int = 1,
    whole: int = WHOLE_SIZE,
    size: int = PART_SIZE,
    longest: int = LINE_LIMIT,
) -> Iterator[FileLine]:
    """Yield a text in parts that end with a paragraph, or with a line if there is none, each with its place.

    `source` (binary file): at byte `start`.
    `start` and `end`: where a part begins. The parts between these places are those of the whole file.
    `whole`: maximum number of bytes of a text that is one part.
    `size`: maximum number of bytes of a part, unless a single line is longer.
    `longest`: maximum number of bytes of a line; a longer one is a part without data.
    """
    # `pending` has the bytes from `offset` on that are not yet in a part; the parts are the same wherever the
    # reading starts, because each is decided by the `size` bytes after its own start alone
    offset, pending = start, b"" if start else source.read(whole + 1)
    if 0 < len(pending) <= whole:
        yield FileLine(number, offset, pending)
        return
    while end is None or offset < end:
        pending += source.read(max(size + 1 - len(pending), 0))
        if len(pending) <= size:
            if pending:
                yield FileLine(number, offset, pending)
            return
        end_of_paragraph = max(_end_of_last(mark, pending, size) for mark in (b"\n\n", b"\n\r\n"))
        length = end_of_paragraph or _end_of_last(b"\n", pending, size)
        if not length:  # the line is longer than a part: read on up to its end
            if b"\n" not in pending:
                pending += source.readline(max(longest + 1 - len(pending), 0))
            length = pending.find(b"\n") + 1 or len(pending)
            if length > longest:
                length += _to_line_end(source, pending)
                yield FileLine(number, offset, None)
                offset, number, pending = offset + length, number + 1, b""
                continue
        yield FileLine(number, offset, pending[:length])
        offset, number, pending = offset + length, number + pending.count(b"\n", 0, length), pending[length:]


def text_cuts(source: IO[bytes], path: str, size: int) -> list[tuple[int, int]]:
    """Return the starts of pieces of about `size` bytes, as (byte, line number); the first is (0, 1).

    Each piece begins with a part of the text (see `text_parts`). A file that is not a text, or has a line
    longer than `size`, is one piece, so that nothing is written before the reader has rejected it.
    """
    cuts = [(0, 1)]
    try:
        for part in text_parts(source, longest=size):
            decode_line(part, path)
            if part.offset - cuts[-1][0] >= size:
                cuts.append((part.offset, part.number))
    except UserError:
        return cuts[:1]
    return cuts


def _end_of_last(mark: bytes, data: bytes, size: int) -> int:
    """Return the offset after the last `mark` in the first `size` bytes; 0 if there is none."""
    start = data.rfind(mark, 0, size)
    return start + len(mark) if start >= 0 else 0


def part_documents(parts: Iterator[FileLine], path: str) -> Iterator[Document]:
    """Yield one document per part of a text file (see `text_parts`).

    Raises D303, D304, or D305 for a line that is too long.
    """
    for part in parts:
        yield Document(f"{path}:{part.number}", decode_line(part, path), path, part.number)


FILE_LIMIT = 1 << 30


def file_document(source: IO[bytes], path: str, *, limit: int = FILE_LIMIT) -> Document:
    """Read one document.

    Raises D302 to D305 for a file that is not text, D872 for a file of more than `limit` bytes.
    """
    data = read_within(source, path, limit)
    text = decode(data, path)
    if len(data) > LINE_LIMIT:
        _check_lines(data, path)
    return Document(path, text, path)


def _check_lines(data: bytes, path: str) -> None:
    start, number = 0, 1
    while len(data) - start > LINE_LIMIT:
        end = data.find(b"\n", start, start + LINE_LIMIT + 1)
        if end < 0:
            raise UserError("D305", path=path, line=number, limit=LINE_LIMIT)
        start, number = end + 1, number + 1


def lines_in(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each line, without its end, including blank lines.

    Parameters
    ----------
    paths : sequence of str
        Files, which may be compressed; ``-`` is standard input, which is read line by line.

    Yields
    ------
    where : str
        File and line, for messages.
    text : str

    Raises
    ------
    UserError
        D300 to D308 for a file that cannot be read, and for a line that is not text.
    """
    for path in paths:
        with reading(path), open_bytes(path) as stream:
            for line in read_lines(stream):
                text = decode_line(line, path).removesuffix("\n").removesuffix("\r")
                yield f"{path}:{line.number}", text.removeprefix("\ufeff") if line.number == 1 else text
