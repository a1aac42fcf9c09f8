"""Part-of-speech tagging: the task, the structured perceptron, and training of a tagger.

`task` defines the task, `training` trains a complete model with any learner of sequences. The averaged
perceptron is in `structured_perceptron`; its passes over the sentences are compiled
(`_perceptron_kernels`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
