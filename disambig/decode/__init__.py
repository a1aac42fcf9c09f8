"""Decoders: from row scores to winning rows or their marginals. No features, no learning here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
