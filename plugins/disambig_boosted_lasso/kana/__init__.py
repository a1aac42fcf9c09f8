"""Kana to kanji: readings of text, a lexicon, a lattice over kana, and its best conversions."""
