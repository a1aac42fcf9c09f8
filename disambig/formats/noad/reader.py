"""NOAD-MASC: running text whose content words have senses of the New Oxford American Dictionary.

A file (``SimpleWsdDoc``) lists words with how each was set apart from the one before it; some have lemma,
part of speech and sense. The text is put together again from that; the first words, which spell the file's
own path, are left out, and quotes of two strokes are written as one sign. ``manual_map.txt`` gives WordNet's
keys of senses.

Files are scanned, not parsed as XML: nothing in them is expanded. A word that is broken is reported with its
line and left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from disambig.errors import UserError
from disambig.files.telling import Say, Tell, teller
from disambig.formats.labelled.example import Labelled
from disambig.formats.noad.files import MAP, files_of
from disambig.formats.senseval.text import attributes, characters

BREAKS = {
    "NO_BREAK": "",
    "SPACE_BREAK": " ",
    "SENTENCE_BREAK": " ",
    "LINE_BREAK": "\n",
    "PARAGRAPH_BREAK": "\n\n",
}
ENDS = frozenset({"SENTENCE_BREAK", "PARAGRAPH_BREAK"})
"""Breaks between sentences; lines are broken in their midst too."""
QUOTES = {"``": '"', "''": '"'}
LETTERS = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}
"""Parts of speech as they stand behind a word: ``account.n``; of others ``account.x``."""
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
        return f"{self.lemma}.{LETTERS.get(self.pos, 'x')}"


@dataclass(frozen=True, slots=True)
class NoadDocument:
    """A file: its name (``"written/spam/ucb52.txt"``), its text, and the words with senses in text order.

    `sentences` are those of the corpus, each the character offsets of its words.
    """

    name: str
    text: str
    places: tuple[NoadPlace, ...]
    sentences: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def genre(self) -> str:
        """The folder that it lies in, such as ``"spam"``."""
        return self.name.split("/")[-2] if "/" in self.name else ""


@dataclass(frozen=True, slots=True)
class Noad:
    """Documents, and WordNet's keys of senses as far as they are known."""

    documents: tuple[NoadDocument, ...]
    wordnet: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def labelled(self) -> list[Labelled]:
        """Return all words with a sense; the gloss is WordNet's keys."""
        return [each for document in self.documents for each in labelled_words(document, self.wordnet)]


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


def read_noad(path: str | Path, *, strict: bool = False, tell: Tell | None = None) -> Noad:
    """Read the corpus from its directory or its ``.tar.xz``, or a single file.

    Parameters
    ----------
    path : path
    strict : bool
        Whether a broken word or file is an error; else it is left out.
    tell : callable, optional
        Gets a line for each of these.

    Raises
    ------
    UserError
        D488 for what is broken (strict), D490 where there is no document, D493 for more than the corpus can
        have, D494 for a member of the archive that is no plain file, D300 to D308 for what cannot be read.
    """
    documents, wordnet = [], {}
    say = teller(strict=strict, tell=tell)
    for name, text in files_of(str(path)):
        if os.path.basename(name) == MAP:
            wordnet = read_map(text, name, say)
        elif (document := read_document(text, name, say)) is not None:
            documents.append(document)
    if not documents:
        raise UserError("D490", path=path)
    return Noad(tuple(documents), wordnet)


def read_document(source: str, path: str, say: Say) -> NoadDocument | None:
    """Return what a file holds, None where it is no ``SimpleWsdDoc`` with words in it."""
    root = _ROOT.search(source)
    if root is None:
        say(f"{path}, line 1", "no <SimpleWsdDoc name=...>")
        return None
    said = characters(root[1] or root[2] or "", lambda entity: None)
    name = said.strip("/") or path
    words = list(_words(source, path, say))
    words = words[_of_path(words, said) :]
    pieces: list[str] = []
    places = []
    sentences: list[list[tuple[int, int]]] = []
    length = 0
    for text, gap, lemma, pos, sense in words:
        space = BREAKS[gap] if length else ""
        start = length + len(space)
        length = start + len(text)
        pieces += [space, text]
        if gap in ENDS or not sentences:
            sentences.append([])
        sentences[-1].append((start, length))
        if sense:
            places.append(NoadPlace(start, length, lemma, pos, sense))
    return NoadDocument(name, "".join(pieces), tuple(places), tuple(map(tuple, sentences)))


def read_map(source: str, path: str, say: Say) -> dict[str, tuple[str, ...]]:
    """Return WordNet's keys of each sense."""
    found = {}
    for number, line in enumerate(source.split("\n"), 1):
        sense, tab, keys = line.strip().partition("\t")
        if sense and tab and keys.strip():
            found[_short(sense)] = tuple(dict.fromkeys(_keys(keys)))
        elif sense:
            say(f"{path}, line {number}", "no sense with WordNet's keys behind a TAB")
    return found


Word = tuple[str, str, str, str, str]


def _words(source: str, path: str, say: Say) -> Iterator[Word]:
    """Yield text, the break before it, lemma, part of speech and sense of each word."""
    line, counted = 1, 0
    for match in _WORD.finditer(source):
        line, counted = line + source.count("\n", counted, match.start()), match.start()
        said = attributes(match[1] or "")
        gap, text = said.get("break_level", ""), said.get("text", "")
        if match[1] is None or not text or gap not in BREAKS:
            problem = (
                "does not end" if match[1] is None else "has no text" if not text else "has no known break"
            )
            say(f"{path}, line {line}", f"a <word> that {problem}")
            continue
        sense, lemma = _short(said.get("sense", "")), said.get("lemma", "")
        if sense and not lemma:
            say(f"{path}, line {line}", f"the word {text!r} has a sense and no lemma")
            sense = ""
        yield QUOTES.get(text, text), gap, lemma, said.get("pos", ""), sense


def _of_path(words: Sequence[Word], name: str) -> int:
    """Return how many of the first words spell the path of the file, signs apart; none where they do not."""
    wanted, seen = _SIGNS.sub("", name), ""
    for number, word in enumerate(words):
        if seen == wanted:
            return number
        seen += _SIGNS.sub("", word[0])
        if not wanted.startswith(seen):
            return 0
    return 0


def _short(sense: str) -> str:
    """Return a sense without the path of its dictionary."""
    return sense.rpartition("/")[2]


def _keys(said: str) -> Iterator[str]:
    """Yield WordNet's keys: ``be%2:42:00::;2:42:03::`` are two of "be"."""
    for each in filter(None, map(str.strip, said.split(","))):
        lemma, _, rest = each.partition("%")
        yield from (f"{lemma}%{key.strip()}" for key in rest.split(";"))
