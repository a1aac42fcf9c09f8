"""Files as bytes and lines: opened, unpacked, decoded, saved whole or not at all. No format is known here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
