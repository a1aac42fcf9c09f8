"""The HTTP server: LanguageTool's public interface, decision records, and a demo page."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
