"""The tables of Popescu (2004) as code, and what the paper does not have: learning curves, genre shift."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
