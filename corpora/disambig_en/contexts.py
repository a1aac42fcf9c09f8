"""Train the pack's model of words in context on the counted text.

    python corpora/disambig_en/contexts.py DATA

It takes an hour; an interrupted run is resumed. Some domains are used in part and others twice, so that
modern text of the kind that the pack's users write has more weight.

512 hidden units instead of 256, leaving out dialect in stories (`material.without_dialect_paragraphs`) and
sharing weights between words with the same ending reduce the loss on held-out text by 9 % for the forms of a
word, and by 10 % for slips.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from pathlib import Path

import numpy as np
from disambig_real_words import ENGLISH_RELATIONS, read_relations
from disambig_variance_svm import ENGLISH_CONFUSION_SETS as CONFUSION_SETS, PACK_DOMAINS
from material import HOME, read_people, without_dialect_paragraphs
from numpy.typing import NDArray

from disambig.counts import batches
from disambig.data import read_confusion_sets
from disambig.experiments import cache_directory, log_progress
from disambig.features import CLOZE_FOLDER, Cloze, ClozeVocabulary, count_vocabulary, learn_cloze
from disambig.text import TokenView, Words, hash_words

N_WORDS, ENDINGS = 60_000, 1_024
HIDDEN = 512
SHARES = {
    "science": 0.5, "speeches": 0.4, "fiction": 0.9, "essays": 2.0, "manuals": 2.0, "guides": 2.0,
    "technical": 2.0, "mixed": 2.0, "encyclopedic": 1.5,
}  # fmt: skip
"""How often the text of each domain is used; that of other domains is used once."""
STRETCH = 300
"""Number of words in a stretch, the unit of shuffling."""
MAX_RIVALS = 16
"""Maximum number of rivals of a word."""
MIN_SEEN = 2
"""Minimum number of times that people wrote one word for another."""
NONE_BESIDE = (
    "the a an to of in is are be and that for on with it as was by have has do not you can will or at from "
    "this if been were which when so we i they would should"
)
"""Words that are often omitted or inserted by mistake."""
FIRST, SECOND, LAST = range(3)
"""Priority of rivals if there are too many: words that people mixed up, forms, all others."""
CountedVocabulary = tuple[ClozeVocabulary, NDArray[np.int64], list[str]]
"""A vocabulary, and the count and the spelling of each of its words."""


def counted_words(data: Path, domains: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the words in the vocabulary of the counted text, with their counts."""
    _, counts, spellings = _counted(data, tuple(domains))
    return zip(spellings, counts.tolist(), strict=True)


def learn_words(data: Path, domains: Sequence[str], *, checkpoint: Path | None = None) -> Cloze:
    """Learn the model from the counted text of `domains`; `checkpoint`: see `learn_cloze`."""
    vocabulary, counts, spellings = _counted(data, tuple(domains))
    blocks = [
        block
        for domain in domains
        for block in stretches(_views(data, [domain]), vocabulary, SHARES.get(domain, 1.0))
    ]
    return learn_cloze(
        blocks,
        vocabulary,
        rivals(data, spellings, counts),
        none_beside=_numbers(vocabulary, NONE_BESIDE.split()),
        asked=np.array([word[:1].isalpha() for word in spellings]),
        spellings=spellings,
        hidden=HIDDEN,
        checkpoint=checkpoint,
        progress=log_progress,
        header={
            "licence": "figures derived from text under the licences named in the pack's card",
            "sources": [f"english/{domain}.train.txt.xz" for domain in domains],
        },
    )


def stretches(
    views: Iterator[TokenView], vocabulary: ClozeVocabulary, share: float
) -> Iterator[NDArray[np.uint16]]:
    """Yield stretches of whole sentences, sampled or repeated according to `share`."""
    rng = np.random.default_rng(0)
    for view in views:
        numbers = vocabulary.view_numbers(view).astype(np.uint16)
        # cut at the first begin of a sentence after every `STRETCH` tokens
        cuts = np.searchsorted(view.sentences, np.arange(STRETCH, len(view), STRETCH))
        parts = np.split(numbers, np.unique(view.sentences[cuts[cuts < len(view.sentences) - 1]]))
        for times in range(math.ceil(share)):  # twice for a share of 2; for 1.5, the second time half of them
            kept = rng.random(len(parts)) < share - times
            yield from (part for part, is_kept in zip(parts, kept.tolist(), strict=True) if is_kept)


def rivals(
    data: Path, spellings: Sequence[str], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rivals of each word in the form that `learn_cloze` takes."""
    numbers = {word: i for i, word in enumerate(spellings)}
    ranks: list[dict[int, int]] = [{} for _ in spellings]
    for words, rank in _confused_words(data):
        for word, other in permutations([numbers[word] for word in words if word in numbers], 2):
            ranks[word][other] = min(rank, ranks[word].get(other, LAST))
    kept = [
        sorted(others, key=lambda other: (others[other], -counts[other]))[:MAX_RIVALS] for others in ranks
    ]
    offsets = np.concatenate([[0], np.cumsum([len(others) for others in kept])])
    return offsets, np.array([other for others in kept for other in others], np.int64)


def _confused_words(data: Path) -> Iterator[tuple[Sequence[str], int]]:
    """Yield sets of words that are confused with each other, with their priorities."""
    written = Counter(
        (Words.normal_form(fix.old), Words.normal_form(fix.new))
        for fix in read_people(data, "train")[0]
        if fix.kind == "replace"
    )
    yield from ((pair, FIRST) for pair, n in written.items() if n >= MIN_SEEN and len(set(pair)) == 2)
    yield from ((group.candidates, FIRST) for group in read_confusion_sets(CONFUSION_SETS))
    for kind, sets in read_relations(ENGLISH_RELATIONS).items():
        yield from ((words, SECOND if kind == "form" else LAST) for words in sets)


@lru_cache(maxsize=1)
def _counted(data: Path, domains: tuple[str, ...]) -> CountedVocabulary:
    return count_vocabulary(_views(data, domains), N_WORDS, ENDINGS)


def _views(data: Path, domains: Sequence[str]) -> Iterator[TokenView]:
    return map(Words(), batches(without_dialect_paragraphs(data, "train", domains)))


def _numbers(vocabulary: ClozeVocabulary, words: Sequence[str]) -> NDArray[np.int64]:
    """Return the numbers of the words that the vocabulary has."""
    numbers = vocabulary.hash_numbers(hash_words(words))
    return numbers[numbers >= 0].astype(np.int64)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "--checkpoint", type=Path, help="where the state is kept (default: in the cache of disambig)"
    )
    options = parser.parse_args()
    checkpoint = options.checkpoint or cache_directory() / "disambig_en.words.npz"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    learn_words(options.data, PACK_DOMAINS, checkpoint=checkpoint).save(HOME / CLOZE_FOLDER)
    checkpoint.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
