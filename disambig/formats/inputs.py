"""Which files are read, and how each is: paths and directories become a sorted list of inputs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from disambig.errors import UserError
from disambig.files.opening import COMPRESSED, STDIN, without_compression
from disambig.formats.documents import Kind
from disambig.text.markup import SUFFIXES as MARKUP

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
ABOUT = "readme.md"
"""What a directory says of itself is none of its documents, unless it is named."""
NAMES: dict[str, Kind] = {
    "text": "file",
    "lines": "line",
    "jsonl": "json",
    "csv": "csv",
    "conllu": "conllu",
    "spacy": "spacy",
    "parquet": "parquet",
}
"""What a user can say that a file without a known suffix holds."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read: its path, its name under the directory that holds all inputs, what it holds."""

    path: str
    name: str
    kind: Kind

    @property
    def compressed(self) -> bool:
        """Whether the file must be unpacked from its start, so that none of it can be skipped."""
        return self.path.endswith(COMPRESSED)

    @property
    def shown(self) -> str:
        """The path for people."""
        return "<stdin>" if self.path == STDIN else self.path

    @property
    def size(self) -> int:
        """Size in bytes; 0 where it is not known."""
        try:
            return os.stat(self.path).st_size if self.path != STDIN else 0
        except OSError:
            return 0


def find_inputs(
    paths: Sequence[str], *, lines: bool = False, other: Kind | None = None, exclude: Collection[str] = ()
) -> list[Input]:
    """Return the files that `paths` name, those in directories included, each once.

    Parameters
    ----------
    paths : sequence of str
        Files, directories (searched recursively for names that end in `SUFFIXES`, also packed, see
        `COMPRESSED`; hidden ones and README.md, which is about the others, are left out) and ``-`` for
        standard input.
    lines : bool
        Whether each line of a text file is a document.
    other : Kind, optional
        What files without a known suffix, and standard input, hold; text if not given.
    exclude : collection of str
        Directories that are not entered.

    Raises
    ------
    UserError
        D300 for a path that is not there, D301 for a directory without a file to read.
    """
    left_out = {os.path.realpath(path) for path in exclude}
    found: list[str] = []
    for path in paths:
        if path != STDIN and not os.path.exists(path):
            raise UserError("D300", path=path)
        if not os.path.isdir(path):
            found.append(path)
            continue
        inside = list(_walk(path, left_out))
        if not inside:
            raise UserError(
                "D301", path=path, endings=f"{', '.join(SUFFIXES)} (or with {', '.join(COMPRESSED)})"
            )
        found.extend(inside)
    root = _common_directory(paths)
    unique = {os.path.realpath(path) if path != STDIN else path: path for path in reversed(found)}
    wanted = set(unique.values())
    inputs = []
    for path in found:
        if path in wanted:
            wanted.discard(path)
            name = path if path == STDIN else os.path.relpath(path, root)
            inputs.append(Input(path, name, _kind(path, lines=lines, other=other)))
    return inputs


def _walk(directory: str, left_out: set[str]) -> Iterator[str]:
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and os.path.realpath(os.path.join(folder, name)) not in left_out
        )
        for name in sorted(files):
            bare = without_compression(name)
            if not name.startswith(".") and bare.endswith(SUFFIXES) and bare.lower() != ABOUT:
                yield os.path.join(folder, name)


def _kind(path: str, *, lines: bool, other: Kind | None) -> Kind:
    suffix = os.path.splitext(without_compression(path))[1]
    kind = KINDS.get(suffix, other or "file")
    return "line" if lines and kind == "file" else kind


def _common_directory(paths: Sequence[str]) -> str:
    folders = [
        os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path) or ".")
        for path in paths
        if path != STDIN
    ]
    return os.path.commonpath(folders) if folders else "."
