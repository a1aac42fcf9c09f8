"""Train models: examples, splits by document, resampling, tuning and calibration."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
