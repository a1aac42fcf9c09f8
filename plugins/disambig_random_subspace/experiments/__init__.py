"""Experiments that repeat the tables and figures of Søgaard and Johannsen (2012)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
