"""Experiments: the tables of Popescu (2004), and further ones on learning curves and genre shift."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
