"""A transformer encoder in 8 bits as a second look at corrections that other models propose."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
