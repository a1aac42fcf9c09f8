"""Word senses by regularised least squares with kernels: learners, features' kernels, a sense task.

After Popescu (2004), "Regularized least-squares classification for word sense disambiguation".
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
