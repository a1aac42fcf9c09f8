"""Tagged sentences, words and tags of each: the Penn Treebank sample, CoNLL-2000, and EWT by genre."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from disambig.api import UserError
from disambig.api.experiments import text_lines
from disambig.api.formats import read_conllu

from .tag_data_penn import Sentence, as_written, penn_archive

PENN = "labelled/ptb-sample/treebank-combined.tar.xz"
CONLL2000 = "labelled/conll2000/*.txt.xz"
EWT = "labelled/ewt/*.conllu.xz"
GENRES = ("answers", "newsgroup", "reviews", "weblog", "email")
SPLITS = ("train", "dev", "test")
_FORM, _XPOS = 1, 4
"""Columns of CoNLL-U."""
_CONLL2000_COLUMNS = 3
_BRACKETS = {"(": "-LRB-", ")": "-RRB-"}
"""Tags that CoNLL-2000 writes in another way."""


def penn_sample(data: Path) -> dict[str, list[Sentence]]:
    """Return the sentences of the Penn Treebank sample by file (errors: `penn_archive`)."""
    return penn_archive(data / PENN)


def conll2000(data: Path, splits: Sequence[str] = ("train", "test")) -> list[Sentence]:
    """Return the sentences of CoNLL-2000 with their automatic tags.

    Raises
    ------
    UserError
        D734 for a malformed line; those of `text_lines` for a file.
    """
    found = []
    for split in splits:
        path = data / CONLL2000.replace("*", split)
        words: list[str] = []
        tags: list[str] = []
        for number, line in enumerate(text_lines(path), 1):
            columns = line.split(" ")
            if line and (len(columns) != _CONLL2000_COLUMNS or not all(columns)):
                problem = f"{len(columns)} columns, not {_CONLL2000_COLUMNS} with a space between them"
                raise UserError("D734", path=path, line=number, problem=problem)
            if line:
                words.append(as_written(columns[0]))
                tags.append(_BRACKETS.get(columns[1], columns[1]))
            elif words:
                found.append((words, tags))
                words, tags = [], []
        if words:
            found.append((words, tags))
    return found


def ewt(data: Path, genres: Sequence[str] = GENRES, splits: Sequence[str] = SPLITS) -> list[Sentence]:
    """Return sentences of the English Web Treebank with their Penn tags, genre by genre.

    Raises
    ------
    UserError
        D735 for a word without a tag; those of `read_conllu`.
    """
    return [
        sentence
        for genre in genres
        for split in splits
        for sentence in conllu_sentences(data / EWT.replace("*", f"{genre}.{split}"))
    ]


def conllu_sentences(path: Path) -> Iterator[Sentence]:
    """Yield form and XPOS of the words of each sentence; multiword ranges and empty nodes are left out.

    Raises
    ------
    UserError
        D735 for a word without a tag; those of `read_conllu`.
    """
    for sentence in read_conllu(path):
        for line, word in zip(sentence.lines, sentence.words, strict=True):
            if word[_XPOS] in ("", "_"):
                problem = f"word {word[0]} has no tag (column {_XPOS + 1})"
                raise UserError("D735", path=path, line=line, problem=problem)
        yield [word[_FORM] for word in sentence.words], [word[_XPOS] for word in sentence.words]
