"""Check what must hold of the trees of 100 sentences of plain English, written for this pack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from disambig_exponentiated_gradient.parser import ParsedSentence, Parser, ParserSentence
from disambig_exponentiated_gradient.treebank.tree import list_constituents

TABLE = Path(__file__).with_name("sentences.tsv")


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """A sentence and what must hold of its tree."""

    text: str
    top: tuple[str, ...]  # labels that the constituent around all words may have
    # ``LABEL=words`` for a constituent, ``!LABEL=words`` for none; bars divide several labels or words
    conditions: tuple[str, ...]

    def failures(self, parsed: ParsedSentence) -> list[str]:
        """Return what does not hold of a tree; the label of the top is named first."""
        words = parsed.sentence.source_words
        rows = list_constituents(parsed.best)
        seen = {(row.label, _text(words[row.start : row.end])) for row in rows}
        failures = [] if rows[0].label in self.top else [f"top {rows[0].label}"]
        return failures + [condition for condition in self.conditions if not _holds(condition, seen)]


def _text(words: Sequence[str]) -> str:
    """Return words without the punctuation at both ends, which may as well belong to the phrase around."""
    inside = [i for i, word in enumerate(words) if any(sign.isalnum() or sign in "$%" for sign in word)]
    return " ".join(words[inside[0] : inside[-1] + 1]) if inside else ""


def _holds(condition: str, seen: set[tuple[str, str]]) -> bool:
    """Return True if there is such a constituent, or, for a condition after ``!``, if there is none."""
    labels, _, texts = condition.removeprefix("!").partition("=")
    is_there = any(
        (label, _text(text.split())) in seen for label in labels.split("|") for text in texts.split("|")
    )
    return is_there != condition.startswith("!")


def read_checks() -> list[SentenceCheck]:
    """Return the sentences in the table with their conditions."""
    lines = TABLE.read_text(encoding="utf8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [SentenceCheck(text, tuple(top.split("|")), tuple(rest)) for text, top, *rest in rows]


Tagger = Callable[[Sequence[ParserSentence]], list[ParserSentence]]


def check_trees(
    parser: Parser, tagger: Tagger | None = None
) -> list[tuple[SentenceCheck, ParsedSentence, list[str]]]:
    """Return each sentence with its tree and what does not hold of it."""
    checks = read_checks()
    sentences = [sentence for (sentence,) in parser.sentences([check.text for check in checks], whole=True)]
    parses = parser.parses(sentences if tagger is None else tagger(sentences))
    return [(check, parsed, check.failures(parsed)) for check, parsed in zip(checks, parses, strict=True)]
