"""SVMs with variance regularisation over n-gram counts: prepositions, confusable words, non-referential "it".

S. Bergsma, D. Lin and D. Schuurmans: Improved Natural Language Learning via Variance-Regularization
Support Vector Machines. CoNLL 2010.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
