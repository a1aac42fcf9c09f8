"""A language server: the flags of the linter in editors, as one types. Nothing of pygls is imported here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
