"""Read and write files: compression, decoding, atomic replacement. This package knows no formats."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
