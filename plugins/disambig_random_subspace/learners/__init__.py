"""Linear learners for sparse rows, and averages of them over random subspaces."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
