"""Read NOAD-MASC: running text with senses of the New Oxford American Dictionary."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from disambig.errors import UserError
from disambig.files import ErrorCallback, ErrorSink, corpus_files, error_sink, without_compression
from disambig.formats.examples import Labelled
from disambig.formats.senseval import attributes, replace_entities

MAP = "manual_map.txt"


def _is_corpus_file(name: str) -> bool:
    return without_compression(name).lower().endswith(".xml") or os.path.basename(name) == MAP


BREAKS = {
    "NO_BREAK": "",
    "SPACE_BREAK": " ",
    "SENTENCE_BREAK": " ",
    "LINE_BREAK": "\n",
    "PARAGRAPH_BREAK": "\n\n",
}
_SENTENCE_BREAKS = frozenset({"SENTENCE_BREAK", "PARAGRAPH_BREAK"})
"""Breaks that end a sentence; line breaks also occur inside sentences."""
_QUOTES = {"``": '"', "''": '"'}
_POS_SUFFIXES = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}
"""Suffixes for parts of speech: ``account.n``; others are ``account.x``."""
_SIGNS = re.compile(r"[\W_]+")
_ROOT = re.compile(r"<SimpleWsdDoc\b[^<>]*?\bname\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
_WORD = re.compile(r"<word\b((?:\s+\w+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*)\s*/?>|<word\b")


@dataclass(frozen=True, slots=True)
class NoadPlace:
    """A word with a sense: its character offsets, lemma, part of speech (``"NOUN"``) and sense."""

    start: int
    end: int
    lemma: str
    pos: str
    sense: str

    @property
    def word(self) -> str:
        """The lemma and its part of speech, such as ``"account.n"``."""
        return f"{self.lemma}.{_POS_SUFFIXES.get(self.pos, 'x')}"


@dataclass(frozen=True, slots=True)
class NoadDocument:
    """A document: its name (``"written/spam/ucb52.txt"``), text, and words with senses in text order.

    `sentences` are those of the corpus, each given by the character offsets of its words.
    """

    name: str
    text: str
    places: tuple[NoadPlace, ...]
    sentences: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def genre(self) -> str:
        """The folder of the document, such as ``"spam"``."""
        return self.name.split("/")[-2] if "/" in self.name else ""


@dataclass(frozen=True, slots=True)
class Noad:
    """The documents, and WordNet keys for the senses that have some."""

    documents: tuple[NoadDocument, ...]
    wordnet: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def labelled(self) -> list[Labelled]:
        """Return all words with a sense; the gloss contains the WordNet keys."""
        return [example for document in self.documents for example in labelled_words(document, self.wordnet)]


def labelled_words(document: NoadDocument, wordnet: dict[str, tuple[str, ...]]) -> Iterator[Labelled]:
    """Yield the words of a document that have a sense."""
    for place in document.places:
        gloss = ",".join(wordnet.get(place.sense, ()))
        where = f"{document.name}, character {place.start:,}"
        yield Labelled(
            document.text,
            place.start,
            place.end,
            place.sense,
            document.name,
            where,
            place.word,
            gloss,
            domain=document.genre,
        )


def read_noad(path: str | Path, *, strict: bool = False, tell: ErrorCallback | None = None) -> Noad:
    """Read the corpus from its directory or its ``.tar.xz``, or a single file of it.

    Parameters
    ----------
    path : path
    strict : bool
        Whether a malformed word or file is an error; otherwise it is left out.
    tell : callable, optional
        Called with one line for each of them.

    Raises
    ------
    UserError
        D488 for malformed words or files (strict), D490 if there is no document, D493 for a corpus that is
        too large, D494 for a member of the archive that is not a regular file, D300 to D308 for a file that
        cannot be read.
    """
    documents, wordnet = [], {}
    report = error_sink(strict=strict, tell=tell)
    for file in sorted(corpus_files(str(path), _is_corpus_file)):
        if os.path.basename(file.name) == MAP:
            wordnet = read_map(file.text, file.where, report)
        elif (document := read_document(file.text, file.where, report)) is not None:
            documents.append(document)
    if not documents:
        raise UserError("D490", path=path)
    return Noad(tuple(documents), wordnet)


def read_document(source: str, path: str, report: ErrorSink) -> NoadDocument | None:
    """Return the document of a file; None if it is not a ``SimpleWsdDoc``."""
    root = _ROOT.search(source)
    if root is None:
        report(f"{path}, line 1", "no <SimpleWsdDoc name=...>")
        return None
    root_name = replace_entities(root[1] or root[2] or "", lambda entity: None)
    name = root_name.strip("/") or path
    words = list(_words(source, path, report))
    words = words[_name_from_path(words, root_name) :]
    pieces: list[str] = []
    places = []
    sentences: list[list[tuple[int, int]]] = []
    length = 0
    for text, gap, lemma, pos, sense in words:
        space = BREAKS[gap] if length else ""
        start = length + len(space)
        length = start + len(text)
        pieces += [space, text]
        if gap in _SENTENCE_BREAKS or not sentences:
            sentences.append([])
        sentences[-1].append((start, length))
        if sense:
            places.append(NoadPlace(start, length, lemma, pos, sense))
    return NoadDocument(name, "".join(pieces), tuple(places), tuple(map(tuple, sentences)))


def read_map(source: str, path: str, report: ErrorSink) -> dict[str, tuple[str, ...]]:
    """Return the WordNet keys of each sense."""
    keys_by_sense = {}
    for number, line in enumerate(source.split("\n"), 1):
        sense, tab, keys = line.strip().partition("\t")
        if sense and tab and keys.strip():
            keys_by_sense[_sense_id(sense)] = tuple(dict.fromkeys(_split_keys(keys)))
        elif sense:
            report(f"{path}, line {number}", "not a sense and WordNet keys separated by a TAB")
    return keys_by_sense


Word = tuple[str, str, str, str, str]


def _words(source: str, path: str, report: ErrorSink) -> Iterator[Word]:
    """Yield text, the break before it, lemma, part of speech and sense of each word."""
    line, counted = 1, 0
    for match in _WORD.finditer(source):
        line, counted = line + source.count("\n", counted, match.start()), match.start()
        fields = attributes(match[1] or "")
        gap, text = fields.get("break_level", ""), fields.get("text", "")
        if match[1] is None or not text or gap not in BREAKS:
            problem = (
                "does not end" if match[1] is None else "has no text" if not text else "has no known break"
            )
            report(f"{path}, line {line}", f"a <word> that {problem}")
            continue
        sense, lemma = _sense_id(fields.get("sense", "")), fields.get("lemma", "")
        if sense and not lemma:
            report(f"{path}, line {line}", f"the word {text!r} has a sense and no lemma")
            sense = ""
        yield _QUOTES.get(text, text), gap, lemma, fields.get("pos", ""), sense


def _name_from_path(words: Sequence[Word], name: str) -> int:
    """Return how many leading words spell the path of the file, ignoring punctuation; 0 if they do not."""
    expected, spelt = _SIGNS.sub("", name), ""
    for number, word in enumerate(words):
        if spelt == expected:
            return number
        spelt += _SIGNS.sub("", word[0])
        if not expected.startswith(spelt):
            return 0
    return 0


def _sense_id(sense: str) -> str:
    """Return the id of a sense without the path of its dictionary."""
    return sense.rpartition("/")[2]


def _split_keys(keys: str) -> Iterator[str]:
    """Yield WordNet keys: ``be%2:42:00::;2:42:03::`` contains two keys of "be"."""
    for group in filter(None, map(str.strip, keys.split(","))):
        lemma, _, rest = group.partition("%")
        yield from (f"{lemma}%{key.strip()}" for key in rest.split(";"))
