"""Treebank grammars: rules, words, and what a chart is built from."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
