"""Real-word mistakes anywhere in a text: articles, word forms, slips and doubled words."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
