"""Write BERT's vocabulary without pieces that are rare in text: `export.py` leaves out their embeddings.

    python corpora/disambig_en_encoder/vocabulary.py vocab.txt FOLDER/pool.txt --output frequent.txt

A rare piece keeps its line, but gets the name of an unused one. Its words are split into smaller pieces.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from disambig_encoder.pieces import WordPieces, is_unused, split_words, unused_piece


def main() -> None:
    """Write the vocabulary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vocabulary", type=Path)
    parser.add_argument("text", type=Path, help="sentences, one per line")
    parser.add_argument("--least", type=int, default=60, help="minimum number of occurrences in the text")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    pieces = WordPieces.from_file(args.vocabulary)
    words: Counter[str] = Counter()
    with args.text.open(encoding="utf8") as lines:
        for line in lines:
            words.update(split_words(line.rstrip("\n")))
    counts: Counter[int] = Counter()
    for word, count in words.items():
        for number in pieces(word):
            counts[number] += count
    names = [
        name if counts[number] >= args.least or is_needed(name) else unused_piece(number)
        for name, number in pieces.numbers.items()
    ]
    args.output.write_text("\n".join(names) + "\n", "utf8")
    print(f"{sum(not is_unused(name) for name in names)} of {len(names)} pieces are kept")


def is_needed(name: str) -> bool:
    """Return True for special pieces, and for the characters of which every English word can be made."""
    return name.startswith("[") or (name.isascii() and len(name.removeprefix("##")) == 1)


if __name__ == "__main__":
    main()
