"""Tagged sentences: Penn Treebank, CoNLL-2000, EWT by genre, and partially tagged corpora."""

from __future__ import annotations

import lzma
import re
import tarfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from disambig.api import UserError
from disambig.api.experiments import text_lines
from disambig.api.formats import read_conllu, read_noad

Sentence = tuple[list[str], list[str]]
TRACE = "-NONE-"
FILES, BYTES = 20_000, 1 << 28
"""Maximum number of members and of uncompressed bytes of an archive."""
_TOKEN = re.compile(r"[()]|[^\s()]+")
_WRITTEN = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_WRITTEN |= {"``": '"', "''": '"', "`": "'"}


def penn_archive(path: Path) -> dict[str, list[Sentence]]:
    """Return the sentences of each ``.mrg`` file in a tar archive, sorted by file name.

    Raises D732 for an archive that cannot be read, is too large or has no such file; D733 for a broken tree.
    """
    return {
        name.rpartition("/")[2]: list(penn_sentences(text, f"{path}: {name}"))
        for name, text in sorted(archive_files(path, ".mrg"), key=lambda entry: entry[0].rpartition("/")[2])
    }


def archive_files(path: Path, ending: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of the files with this suffix in a tar archive.

    Raises D732 for an archive that cannot be read, is too large or has no such file.
    """
    total, has_files = 0, False
    try:
        # as a stream: nothing is unpacked to disk, and reading stops at the wanted members
        with tarfile.open(path, "r|*") as archive:
            for number, member in enumerate(archive, 1):
                total += max(member.size, 0)
                if number > FILES or total > BYTES:
                    problem = f"more than {FILES:,} members or {BYTES >> 20} MiB of trees"
                    raise UserError("D732", path=path, problem=problem)
                stream = archive.extractfile(member) if member.isreg() else None
                if stream is not None and member.name.endswith(ending):
                    has_files = True
                    yield member.name, stream.read().decode("utf8")
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError, UnicodeDecodeError) as problem:
        raise UserError("D732", path=path, problem=problem) from problem
    if not has_files:
        raise UserError("D732", path=path, problem=f"no file in it ends with {ending}")


def penn_sentences(text: str, path: str = "trees") -> Iterator[Sentence]:
    """Yield the words and tags of each tree that has words.

    Raises D733, with `path` and line, for brackets that do not form a tree.
    """
    line, position = 1, 0
    open_: list[_OpenBracket] = []
    words: list[str] = []
    tags: list[str] = []
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position, symbol = match.start(), match[0]
        if symbol == "(":
            if open_ and open_[-1].word:
                _raise_malformed(path, line, f"a bracket opens after the word {open_[-1].word[:40]!r}")
            if open_:
                open_[-1].children = True
            open_.append(_OpenBracket(line))
        elif symbol == ")":
            if not open_:
                _raise_malformed(path, line, "a closing bracket has no opening one")
            node = open_.pop()
            if not (node.word or node.children):
                _raise_malformed(path, line, f"there is nothing in ({node.label}")
            if node.word and node.label != TRACE:
                words.append(unescape_word(node.word))
                tags.append(node.label)
            if not open_ and words:
                yield words, tags
                words, tags = [], []
        elif not open_:
            _raise_malformed(path, line, f"{symbol[:40]!r} is outside all brackets")
        else:
            node = open_[-1]
            if node.children or node.word:
                _raise_malformed(
                    path, line, f"{symbol[:40]!r} follows, but ({node.label} already has a word or a bracket"
                )
            if node.label:
                node.word = symbol
            else:
                node.label = symbol
    if open_:
        _raise_malformed(path, open_[0].line, "the bracket that opens here is never closed")


class _OpenBracket:
    """An open bracket: its line, its label, and its word or whether it has children."""

    __slots__ = ("children", "label", "line", "word")

    def __init__(self, line: int) -> None:
        self.line, self.label, self.word, self.children = line, "", "", False


def unescape_word(word: str) -> str:
    """Return a word of the treebank as it was printed in the newspaper."""
    return _WRITTEN.get(word) or word.replace("\\/", "/").replace("\\*", "*")


def _raise_malformed(path: str, line: int, problem: str) -> NoReturn:
    raise UserError("D733", path=path, line=line, problem=problem)


PENN = "labelled/ptb-sample/treebank-combined.tar.xz"
CONLL2000 = "labelled/conll2000/*.txt.xz"
EWT = "labelled/ewt/*.conllu.xz"
GENRES = ("answers", "newsgroup", "reviews", "weblog", "email")
SPLITS = ("train", "dev", "test")
_FORM, _XPOS = 1, 4
"""Columns of CoNLL-U."""
_CONLL2000_COLUMNS = 3
_BRACKETS = {"(": "-LRB-", ")": "-RRB-"}
"""Tags that CoNLL-2000 writes differently."""


def penn_sample(data: Path) -> dict[str, list[Sentence]]:
    """Return the sentences of the Penn Treebank sample by file (errors: see `penn_archive`)."""
    return penn_archive(data / PENN)


def conll2000(data: Path) -> list[Sentence]:
    """Return the sentences of CoNLL-2000 with their automatic tags.

    Raises D734 for a malformed line; the errors of `text_lines` for a file.
    """
    sentences = []
    for split in ("train", "test"):
        path = data / CONLL2000.replace("*", split)
        words: list[str] = []
        tags: list[str] = []
        for number, line in enumerate(text_lines(path), 1):
            columns = line.split(" ")
            if line and (len(columns) != _CONLL2000_COLUMNS or not all(columns)):
                problem = f"{len(columns)} columns, not {_CONLL2000_COLUMNS} with a space between them"
                raise UserError("D734", path=path, line=number, problem=problem)
            if line:
                words.append(unescape_word(columns[0]))
                tags.append(_BRACKETS.get(columns[1], columns[1]))
            elif words:
                sentences.append((words, tags))
                words, tags = [], []
        if words:
            sentences.append((words, tags))
    return sentences


_COLON_LIKE = re.compile(r"[-\u2010-\u2015]+|;|\.{2,}|\u2026")


def with_penn_colons(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences of EWT with the Penn Treebank's tag for semicolons, dashes and dots.

    EWT tags them "," in most places and ":" in some; the Penn Treebank tags them ":". Other tags of such
    words are kept: HYPH inside a word, SYM in a range, NFP in a line of them, and "." at the end of a
    sentence.
    """
    return [
        (
            words,
            [
                ":" if tag == "," and _COLON_LIKE.fullmatch(word) else tag
                for word, tag in zip(words, tags, strict=True)
            ],
        )
        for words, tags in sentences
    ]


def ewt(data: Path, genres: Sequence[str] = GENRES, splits: Sequence[str] = SPLITS) -> list[Sentence]:
    """Return sentences of the English Web Treebank with their tags (see `with_penn_colons`), genre by genre.

    Raises D735 for a word without a tag; the errors of `read_conllu`.
    """
    return [
        sentence
        for genre in genres
        for split in splits
        for sentence in conllu_sentences(data / EWT.replace("*", f"{genre}.{split}"))
    ]


def conllu_sentences(path: Path) -> Iterator[Sentence]:
    """Yield form and XPOS of the words of each sentence, without multiword ranges and empty nodes.

    Raises D735 for a word without a tag; the errors of `read_conllu`.
    """
    for sentence in read_conllu(path):
        for line, word in zip(sentence.lines, sentence.words, strict=True):
            if word[_XPOS] in ("", "_"):
                problem = f"word {word[0]} has no tag (column {_XPOS + 1})"
                raise UserError("D735", path=path, line=line, problem=problem)
        yield [word[_FORM] for word in sentence.words], [word[_XPOS] for word in sentence.words]


NOAD = "labelled/noad-masc/noad-masc.tar.xz"
CRAFT = "labelled/craft/craft-penn.tar.xz"
OF_KIND = {
    "NOUN": ("NN", "NNS", "NNP", "NNPS"),
    "VERB": ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"),
    "ADJ": ("JJ", "JJR", "JJS", "NNP", "DT", "PDT"),
    "ADV": tuple("RB RBR RBS RP WRB IN DT PDT EX UH CC JJR JJS".split()),
}
"""Possible tags of a word with a sense, by its part of speech."""
_UNSURE = frozenset(": , HYPH SYM LS FW AFX `` '' -LRB- -RRB- CD XX POS".split())
_NAMES = {"NN": ("NN", "NNP"), "NNS": ("NNS", "NNPS")}
_NAMES |= {"NNP": _NAMES["NN"], "NNPS": _NAMES["NNS"]}
_LEAF = re.compile(r"\(([^() ]+) ([^() ]+)\)")
SHORTEST, LONGEST = 3, 80
Partly = tuple[list[str], list[Collection[str]]]


def noad_partly(data: Path) -> Iterator[Partly]:
    """Yield the sentences of NOAD-MASC with the possible tags of their words (errors: see `read_noad`)."""
    for document in read_noad(data / NOAD).documents:
        kinds = {(place.start, place.end): place.pos for place in document.places}
        for spans in document.sentences:
            if SHORTEST <= len(spans) <= LONGEST:
                possible = [OF_KIND.get(kinds.get(span, ""), ()) for span in spans]
                yield [document.text[start:end] for start, end in spans], list(possible)


def craft_partly(data: Path) -> Iterator[Partly]:
    """Yield the sentences of CRAFT with the possible tags of their words, file by file.

    Raises D732 for an archive that cannot be read, is too large or has no tree.
    """
    path, exists = data / CRAFT, False
    for _, text in archive_files(path, ".tree"):
        for line in text.split("\n"):
            leaves = [(unescape_word(word), tag) for tag, word in _LEAF.findall(line) if tag != TRACE]
            exists = exists or bool(leaves)
            if SHORTEST <= len(leaves) <= LONGEST:
                yield [word for word, _ in leaves], [_possible_tags(tag) for _, tag in leaves]
    if not exists:
        raise UserError("D732", path=path, problem="it contains no tree")


def _possible_tags(tag: str) -> Collection[str]:
    """Return the tags that a word with this tag may have in EWT; none for tags with other conventions."""
    return () if tag in _UNSURE else _NAMES.get(tag, (tag,))
