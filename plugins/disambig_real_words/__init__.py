"""Every word can be the wrong one: articles, forms of words, slips and doubled words, decided in context."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
