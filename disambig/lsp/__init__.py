"""A language server that shows the linter's flags in editors; importing it does not import pygls."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
