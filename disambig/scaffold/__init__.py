"""A new plugin from templates: what ``disambig new-plugin`` writes. Nothing of it runs here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
