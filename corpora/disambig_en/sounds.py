"""Count the words that follow "a" and "an", for the English file of sounds.

python corpora/disambig_en/sounds.py DATA
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import typer
from disambig_real_words import ENGLISH_SOUNDS, log_odds, sound_keys
from disambig_variance_svm import PACK_DOMAINS
from material import read_text

MIN_WORD, MIN_START = 4, 12
"""Minimum count after an article of a whole word, and of the beginning of words."""
_VOWEL = re.compile("=(?!e[uw])[aeio]")
"""Words that take "an". A few times, an "a" before them is the name of something: "option a includes"."""
NO_ARTICLE = frozenset(
    "a an and are as at but by et for from if in is of on onto or than that then to was were with".split()
)
"""Words before which "a" is no article, but a letter or a name: "between a and b". They have no counts."""
CERTAIN_ODDS = 2.0
"""Log-odds that count as certain.

A key is redundant if it has the sign of the next more general key, and either that key is certain or the two
differ by no more than this.
"""
_ARTICLE = re.compile(r"\b([Aa]n?) (\w+(?:[,.]\d{3})*)")


def sounds(texts: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return the informative keys, and how often "a" and "an" preceded words with each key."""
    words: Counter[tuple[str, bool]] = Counter()
    for text in texts:
        words.update(
            (word, len(article) == 2)
            for article, word in _ARTICLE.findall(text)
            if word.lower() not in NO_ARTICLE
        )
    # counts of all keys of all words, and for each key the more general ones
    counts: dict[str, list[int]] = {}
    paths: dict[str, tuple[str, ...]] = {}
    for (word, is_an), n in words.items():
        keys = tuple(sound_keys(word))
        for i, key in enumerate(keys):
            counts.setdefault(key, [0, 0])[is_an] += n
            paths[key] = keys[i + 1 :]
    return _informative(counts, paths)


def _informative(
    counts: Mapping[str, list[int]], paths: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[int, int]]:
    """Leave out rare keys, and keys that agree with a more general key."""
    minimum = {key: MIN_WORD if key.startswith("=") else MIN_START for key in counts}
    for key, (a, an) in counts.items():
        if _VOWEL.match(key) and a > an:
            minimum[key] = MIN_START
    seen = {key for key, pair in counts.items() if sum(pair) >= minimum[key]}
    kept: set[str] = set()
    for key in sorted(seen, key=lambda key: len(paths[key])):  # the most general first
        odds = log_odds(*counts[key])
        general_odds = next((log_odds(*counts[general]) for general in paths[key] if general in kept), 0.0)
        is_certain = abs(general_odds) >= CERTAIN_ODDS
        if odds * general_odds <= 0 or (abs(odds - general_odds) > CERTAIN_ODDS and not is_certain):
            kept.add(key)
    counted = {key: (counts[key][0], counts[key][1]) for key in kept}
    counted |= {f"={word}": (0, 0) for word in NO_ARTICLE}
    return dict(sorted(counted.items()))


def main(data: Path) -> None:
    """Write the English file of sounds."""
    counts = sounds(read_text(data, "train", PACK_DOMAINS))
    lines = [
        '// How often "a" and "an" stood before what begins so; made by corpora/disambig_en/sounds.py',
        *(f"{key}\t{a}\t{an}" for key, (a, an) in counts.items()),
    ]
    ENGLISH_SOUNDS.write_text("\n".join(lines) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
