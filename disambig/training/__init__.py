"""Training: examples from text, splits by document, tuning, calibration. No task and no learner here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
