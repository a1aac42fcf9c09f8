"""Serve models over HTTP: the public interface of LanguageTool, records, and a page to try them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
