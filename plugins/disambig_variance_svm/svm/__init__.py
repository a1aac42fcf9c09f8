"""Optimisation of variance SVMs: the problem, and fast solvers with a certified gap.

The package works on arrays only; it does not depend on tasks, configs or learners.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
