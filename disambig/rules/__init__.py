"""Rules: names of the kinds of mistakes that flags show, the same for all models."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
