"""Non-referential "it": normalised text, the task and its extractors (Bergsma, Lin and Goebel 2008)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
