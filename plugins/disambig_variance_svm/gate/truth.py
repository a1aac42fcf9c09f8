"""What counts as a preposition in a Universal Dependencies treebank: the truth that `usage` learns.

A word is used as a preposition where another preposition in its place would be a mistake of
*prepositions*: it governs something, be that a noun phrase, a gerund or a question. By tags and
relations (UD English: UPOS, Penn XPOS, deprel) that is

* UPOS ADP (or SCONJ, see below) with XPOS IN and relation `case`; a stranded one ("the house I
  live in": ADP and IN as `obl`, `nmod`, `conj`, `acl:relcl` or `root`) too;
* XPOS IN with relation `mark`: "by going", "without his knowing", "on how it works", "in case it
  rains". Not so *as, until, for, except* unless a gerund follows ("as he left", "for him to go");
  nor "with" or "without" before a full clause; nor "in that";
* the last word of a fixed expression that is itself such a word ("because of", "such as",
  "according to"), and its first word before a noun ("of course", "in order", "in case").

Everything else is not: particles (RP), the infinitive's and stranded "to" (TO), adverbs (RB: "about
50", "come in", "as good", "as well as"), the first word of "as to", "as of", "up to"; "kind of";
conjunctions, nouns, adjectives; parts of a compound ("walk-in"); "to" between two numbers
("5 to 10") unless "from" stands before the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from disambig.api.formats import ConlluSentence, read_conllu

PREPOSITIONS = (
    "about", "along", "among", "around", "as", "at", "beside", "between", "by", "down", "during", "except",
    "for", "from", "in", "inside", "into", "of", "off", "on", "onto", "outside", "over",
    "through", "to", "toward", "towards", "under", "until", "up", "upon", "with", "within", "without",
)  # fmt: skip
_KNOWN = frozenset(PREPOSITIONS)
_STRANDED = frozenset(("obl", "nmod", "conj", "acl:relcl", "root", "orphan", "obl:npmod", "nmod:npmod"))
_SUBORDINATORS = frozenset(("as", "until", "for", "except"))
_FINITE = frozenset(("VBD", "VBP", "VBZ", "MD"))


@dataclass(frozen=True, slots=True)
class Word:
    """One word of CoNLL-U."""

    form: str
    upos: str
    xpos: str
    head: int
    relation: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """One document: its text, and its prepositions or what looks like them.

    Attributes
    ----------
    text : str
        Sentences as the treebank gives them, with a blank line between paragraphs.
    spans : dict of (int, int) to bool
        Character span of each of the 34 words: whether it is used as a preposition.
    """

    text: str
    spans: dict[tuple[int, int], bool]


def is_preposition(sentence: list[Word], i: int) -> bool:
    """Return whether word `i` of a sentence, one of the 34, is used as a preposition."""
    word = sentence[i]
    form = word.form.lower()
    if word.xpos != "IN" or word.upos not in ("ADP", "SCONJ"):
        return False
    if word.relation == "fixed":
        return _ends_fixed(sentence, i)
    rest = [other for other in sentence[i + 1 :] if other.head == i + 1 and other.relation == "fixed"]
    if rest:
        return rest[0].upos in ("NOUN", "ADV", "ADJ") and rest[0].form.lower() != "well"
    if word.relation == "case":
        return not (form == "to" and _is_range(sentence, i))
    if word.relation == "mark":
        return _governs_clause(sentence, i)
    return word.upos == "ADP" and word.relation in _STRANDED


def _ends_fixed(sentence: list[Word], i: int) -> bool:
    """Return whether `i` ends a fixed expression that works as a preposition ("because of")."""
    head = sentence[i].head
    last = all(not (other.head == head and other.relation == "fixed") for other in sentence[i + 1 :])
    first = sentence[head - 1]
    return last and (first.relation == "case" or (first.relation == "mark" and _gerund(sentence, i)))


def _governs_clause(sentence: list[Word], i: int) -> bool:
    form = sentence[i].form.lower()
    if form in _SUBORDINATORS:
        return _gerund(sentence, i)
    following = sentence[i + 1].form.lower() if i + 1 < len(sentence) else ""
    if form == "in" and following == "that":
        return False
    if form in ("with", "without"):
        head = sentence[sentence[i].head - 1]
        return not (head.xpos in _FINITE and sentence[i + 1].xpos not in ("WP", "WRB", "WDT"))
    return True


def _gerund(sentence: list[Word], i: int) -> bool:
    """Return whether a gerund without a subject follows `i`, after at most three words such as adverbs."""
    for word in sentence[i + 1 : i + 5]:
        if word.xpos == "VBG":
            return True
        if word.upos in ("NOUN", "PRON", "PROPN", "VERB", "AUX", "DET", "PUNCT"):
            return False
    return False


def _is_range(sentence: list[Word], i: int) -> bool:
    numbers = 0 < i < len(sentence) - 1 and sentence[i - 1].upos == sentence[i + 1].upos == "NUM"
    return numbers and all(word.form.lower() != "from" for word in sentence[max(0, i - 5) : i])


def read(path: Path) -> Iterator[Labelled]:
    """Yield the documents of one CoNLL-U file, packed or not (errors: `read_conllu`)."""
    text = ""
    spans: dict[tuple[int, int], bool] = {}
    for sentence in read_conllu(path):
        if sentence.begins_document:
            if text:
                yield Labelled(text, spans)
            text, spans = "", {}
        if text:
            text += "\n\n" if sentence.begins_paragraph else " "
        _label(sentence, len(text), spans)
        text += sentence.spelt.rstrip()
    if text:
        yield Labelled(text, spans)


def _label(sentence: ConlluSentence, offset: int, spans: dict[tuple[int, int], bool]) -> None:
    """Label the words of a sentence, whose text begins at `offset`, in `spans`."""
    words = [Word(row[1], row[3], row[4], int(row[6]), row[7]) for row in sentence.words]
    for token in sentence.tokens:
        if token.columns[0].isdigit() and token.columns[1].lower() in _KNOWN:  # no part of "don't"
            spans[offset + token.start, offset + token.end] = is_preposition(words, token.words[0])
