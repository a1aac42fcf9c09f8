"""Tokenisation, token attributes and protected spans.

`view` has the hashes of words and the keys of n-grams, which count tables share with all look-ups;
`kernels` has the same as compiled functions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
