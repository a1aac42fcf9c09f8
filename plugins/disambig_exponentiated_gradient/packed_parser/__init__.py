"""Parsers of packed charts with learned weights: edge features, edge costs, training, decoding."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
