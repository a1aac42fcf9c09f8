"""The experiments of Collins (2005), for `disambig reproduce`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
