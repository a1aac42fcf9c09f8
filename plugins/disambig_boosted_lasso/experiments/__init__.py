"""Experiments: the tables and figures of Gao, Suzuki and Yu (2006), and their learners on English."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
