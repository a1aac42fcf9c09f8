"""Kana-to-kanji conversion: readings of text, a lexicon, a lattice over kana, and its best paths."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
