"""Feature extractors, and the learning of the resources that some of them need."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
