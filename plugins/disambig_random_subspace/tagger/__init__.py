"""Part-of-speech tagging: the task, the structured perceptron, and training of a tagger."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
