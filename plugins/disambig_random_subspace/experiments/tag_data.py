"""Tagged sentences: Penn Treebank, CoNLL-2000, EWT by genre, and partially tagged corpora."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from disambig.api import UserError
from disambig.api.experiments import EWT_GENRES, EWT_SPLITS, ewt_sentences, text_lines
from disambig.api.formats import corpus_files, read_noad

Sentence = tuple[list[str], list[str]]
TRACE = "-NONE-"
_LEAF = re.compile(r"\(([^() ]+) ([^() ]+)\)")
"""The tag and the word of a leaf."""
_TREE_START = re.compile(r"^(?=\()", re.MULTILINE)
_WRITTEN = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_WRITTEN |= {"``": '"', "''": '"', "`": "'"}


def penn_archive(path: Path) -> dict[str, list[Sentence]]:
    """Return the sentences of each ``.mrg`` file in a tar archive, sorted by file name.

    Raises the errors of `treebank_sentences`.
    """
    by_file: dict[str, list[Sentence]] = {}
    for name, sentence in treebank_sentences(path, ".mrg"):
        by_file.setdefault(name, []).append(sentence)
    return dict(sorted(by_file.items()))


def treebank_sentences(path: Path, suffix: str) -> Iterator[tuple[str, Sentence]]:
    """Yield the file and the sentence of each tree with words, from an archive of files with this suffix.

    A tree starts at the beginning of a line. The file is named without its folder.

    Raises D725 for an archive without words; the errors of `corpus_files`.
    """
    has_words = False
    for file in corpus_files(str(path), lambda name: name.endswith(suffix)):
        for tree in _TREE_START.split(file.text):
            leaves = [(tag, word) for tag, word in _LEAF.findall(tree) if tag != TRACE]
            if leaves:
                has_words = True
                yield (
                    file.name.rpartition("/")[2],
                    ([unescape_word(word) for _, word in leaves], [tag for tag, _ in leaves]),
                )
    if not has_words:
        raise UserError("D725", path=path, problem=f"its {suffix} files contain no words")


def unescape_word(word: str) -> str:
    """Return a word of the treebank as it was printed in the newspaper."""
    return _WRITTEN.get(word) or word.replace("\\/", "/").replace("\\*", "*")


PENN = "labelled/ptb-sample/treebank-combined.tar.xz"
CONLL2000 = "labelled/conll2000/*.txt.xz"
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


def ewt(data: Path, genres: Sequence[str] = EWT_GENRES, splits: Sequence[str] = EWT_SPLITS) -> list[Sentence]:
    """Return sentences of the English Web Treebank with their tags (see `with_penn_colons`), genre by genre.

    Raises the errors of `ewt_sentences`.
    """
    return [(sentence.forms, sentence.tags) for sentence in ewt_sentences(data, splits, genres)]


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

    Raises the errors of `treebank_sentences`.
    """
    for _, (words, tags) in treebank_sentences(data / CRAFT, ".tree"):
        if SHORTEST <= len(words) <= LONGEST:
            yield words, [_possible_tags(tag) for tag in tags]


def _possible_tags(tag: str) -> Collection[str]:
    """Return the tags that a word with this tag may have in EWT; none for tags with other conventions."""
    return () if tag in _UNSURE else _NAMES.get(tag, (tag,))
