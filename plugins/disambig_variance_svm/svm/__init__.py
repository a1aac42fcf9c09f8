"""The optimisation behind the variance SVMs: a problem, fast solvers with a certificate, a reference.

Arrays in, arrays out: nothing here depends on tasks, configs or learners.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
