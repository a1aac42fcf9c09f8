"""Word n-gram models: how probable a sentence is. Words are numbers here; of no language, of no paper.

Estimated from counts (`estimate`), asked by compiled functions (`lookup_kernels`), mixed for a domain
(`mixture`), stored small (`stored`). What a word is, is said by a `Vocabulary` and never here.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
