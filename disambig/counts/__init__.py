"""N-gram count tables: counting, the file format and fast lookups.

The keys of n-grams are computed in `disambig.text` (`view`, `kernels`), because feature extractors use
them, too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
