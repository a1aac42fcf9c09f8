"""Word n-gram models: the probability of sentences. Words are numbers here, in any language.

Models are estimated from counts (`estimate`), queried by compiled functions (`kernels`), mixed for a domain
(`Mixture`) and stored compactly (`save_language_model`). A `WordVocabulary` maps words to numbers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
