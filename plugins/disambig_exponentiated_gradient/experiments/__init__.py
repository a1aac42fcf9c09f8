"""The experiments of Collins 2005, each of which `disambig reproduce` runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
