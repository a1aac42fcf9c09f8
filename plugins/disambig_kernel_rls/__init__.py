"""Word sense disambiguation by kernel regularised least squares: kernels, learners and a sense task.

After Popescu (2004), "Regularized least-squares classification for word sense disambiguation".
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
