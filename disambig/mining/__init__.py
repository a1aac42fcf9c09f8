"""Find corrected mistakes in the git history of a project, and tune the models to that project."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
