"""Penn Treebank trees: the words of their leaves with their tags, without traces.

A leaf is ``(TAG word)``, a tree ``(LABEL child ...)`` or, around a whole sentence, ``(child ...)``. Words are
given as they were written: ``-LRB-`` is "(", a slash has no backslash, a directed quote is a plain one.
"""

from __future__ import annotations

import lzma
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from disambig.api import UserError

Sentence = tuple[list[str], list[str]]
TRACE = "-NONE-"
FILES, BYTES = 20_000, 1 << 28
"""Members and unpacked bytes that an archive may have."""
_TOKEN = re.compile(r"[()]|[^\s()]+")
_WRITTEN = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_WRITTEN |= {"``": '"', "''": '"', "`": "'"}


def penn_archive(path: Path) -> dict[str, list[Sentence]]:
    """Return the sentences of each ``.mrg`` file of a tar archive, by the file's name, sorted.

    Raises
    ------
    UserError
        D732 for an archive that cannot be read, is too large or has no such file, D733 for a broken tree.
    """
    return {
        name.rpartition("/")[2]: list(penn_sentences(text, f"{path}: {name}"))
        for name, text in sorted(files_of(path, ".mrg"), key=lambda each: each[0].rpartition("/")[2])
    }


def files_of(path: Path, ending: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of the files of a tar archive that end so.

    Raises
    ------
    UserError
        D732 for an archive that cannot be read, is too large or has no such file.
    """
    total, found = 0, False
    try:
        # as a stream: nothing is unpacked to disk, and no member before it is asked for
        with tarfile.open(path, "r|*") as archive:
            for number, member in enumerate(archive, 1):
                total += max(member.size, 0)
                if number > FILES or total > BYTES:
                    problem = f"more than {FILES:,} members or {BYTES >> 20} MiB of trees"
                    raise UserError("D732", path=path, problem=problem)
                stream = archive.extractfile(member) if member.isreg() else None
                if stream is not None and member.name.endswith(ending):
                    found = True
                    yield member.name, stream.read().decode("utf8")
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError, UnicodeDecodeError) as problem:
        raise UserError("D732", path=path, problem=problem) from problem
    if not found:
        raise UserError("D732", path=path, problem=f"no file in it ends with {ending}")


def penn_sentences(text: str, path: str = "trees") -> Iterator[Sentence]:
    """Yield words and tags of each tree that has any.

    Raises
    ------
    UserError
        D733, with `path` and line, for brackets that make no tree.
    """
    # of each open bracket: line, label, and what it has: "" nothing, "word" or "child"
    line, position = 1, 0
    open_: list[_Open] = []
    words: list[str] = []
    tags: list[str] = []
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position, symbol = match.start(), match[0]
        if symbol == "(":
            if open_ and open_[-1].word:
                _refuse(path, line, f"a bracket behind the word {open_[-1].word[:40]!r}")
            if open_:
                open_[-1].children = True
            open_.append(_Open(line))
        elif symbol == ")":
            if not open_:
                _refuse(path, line, "a bracket closes what none opened")
            node = open_.pop()
            if not (node.word or node.children):
                _refuse(path, line, f"nothing in ({node.label}")
            if node.word and node.label != TRACE:
                words.append(as_written(node.word))
                tags.append(node.label)
            if not open_ and words:
                yield words, tags
                words, tags = [], []
        elif not open_:
            _refuse(path, line, f"{symbol[:40]!r} outside of all brackets")
        else:
            node = open_[-1]
            if node.children or node.word:
                _refuse(path, line, f"{symbol[:40]!r} behind what ({node.label} already has")
            if node.label:
                node.word = symbol
            else:
                node.label = symbol
    if open_:
        _refuse(path, open_[0].line, "a tree that is never closed")


class _Open:
    """An open bracket."""

    __slots__ = ("children", "label", "line", "word")

    def __init__(self, line: int) -> None:
        self.line, self.label, self.word, self.children = line, "", "", False


def as_written(word: str) -> str:
    """Return a word of the treebank as the newspaper had it."""
    return _WRITTEN.get(word) or word.replace("\\/", "/").replace("\\*", "*")


def _refuse(path: str, line: int, problem: str) -> NoReturn:
    raise UserError("D733", path=path, line=line, problem=problem)
