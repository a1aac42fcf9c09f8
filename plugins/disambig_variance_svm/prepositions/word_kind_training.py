"""Learn the most frequent kind of each word.

Run ``python -m disambig_variance_svm.prepositions.word_kind_training DATA_DIR``.

The tagger of the pack disambig_en_tagger tags a sample of ``DATA_DIR/english/*.train.txt.xz``, and each
word gets its most frequent kind. The same data and tagger give the same lexicon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from disambig.api import Words, load_model
from disambig.api.arrays import minibatch
from disambig.api.features import WORD_KINDS, PartsOfSpeech

from .._script import run_script
from ..plain_text import PACK_DOMAINS, counted_files, find_files, sample_paragraphs
from .task import PARTS_OF_SPEECH

CHARACTERS = 8_000_000
"""Approximate number of characters that are tagged in each domain, in paragraphs at equal distances."""
MIN_COUNT = 5
"""Minimum count of a word; rarer words count as nouns, like all unknown words."""
BOTH = 0.12
"""A word is *noun or verb* if each of the two has at least this share."""
TAGGER = "disambig_en_tagger/tag"
_PARAGRAPHS = 2000
_KIND_OF_TAG = {
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS", "FW", "ADD", "GW"), "noun"),
    **dict.fromkeys(("VB", "VBD", "VBP", "VBZ"), "verb"),
    **dict.fromkeys(("JJ", "JJR", "JJS", "AFX"), "adjective"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "adverb"),
    **dict.fromkeys(("DT", "PRP$", "PDT", "CD", "POS", "WP$", "$"), "determiner"),
    **dict.fromkeys(("PRP", "EX"), "pronoun"),
    "VBG": "gerund",
    "VBN": "participle",
}
"""Kind of each Penn tag; all other tags are *other*."""


def most_frequent_kind(tags: Mapping[str, int]) -> str:
    """Return the kind of a word from the counts of its tags."""
    counts: Counter[str] = Counter()
    for tag, n in tags.items():
        counts[_KIND_OF_TAG.get(tag, "other")] += n
    n = counts.total()
    noun, verb = counts["noun"] / n, counts["verb"] / n
    if noun + verb > 0.6 and min(noun, verb) > BOTH:
        return "noun or verb"
    best = max(counts, key=lambda kind: (counts[kind], kind))
    if best == "noun" and counts["gerund"] / n > 0.2:
        return "gerund"
    if best == "participle" and verb > 0.3:
        return "verb"
    return best


def learn_word_kinds(data: Path) -> PartsOfSpeech:
    """Return the lexicon learned from a sample that the tagger has tagged."""
    tagger = load_model(TAGGER)
    names = tagger.task.groups[0].candidates
    tags: dict[str, Counter[str]] = {}
    for path in find_files(data, counted_files(PACK_DOMAINS)):
        for texts in minibatch(sample_paragraphs(path, CHARACTERS), _PARAGRAPHS):
            view = tagger.tokenisation(texts)
            places, chosen = tagger.choose(view)
            for (text, start, end), tag in zip(view.locate(places.positions), chosen.tolist(), strict=True):
                word = Words.normal_form(text[start:end])
                tags.setdefault(word, Counter())[names[tag]] += 1
    kinds = {
        word: most_frequent_kind(counts)
        for word, counts in sorted(tags.items())
        if counts.total() >= MIN_COUNT
    }
    header = {
        "tokenisation": Words.name,
        "tagger": TAGGER,
        "sources": list(counted_files(PACK_DOMAINS)),
        "licence": "CC BY-SA 4.0: the tagger learned from UD English EWT",
    }
    kind_numbers = {word: WORD_KINDS.index(kind) for word, kind in kinds.items() if kind != "noun"}
    return PartsOfSpeech.from_words(kind_numbers, header)


def main(data: Path, output: Path) -> None:
    """Learn the lexicon and save it."""
    learn_word_kinds(data).save(output)


if __name__ == "__main__":
    run_script(__doc__, main, output=PARTS_OF_SPEECH)
