"""Readers of markup: Markdown, LaTeX and code become plain text of the same length."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
