"""Learning in random subspaces, robust to out-of-vocabulary words: classifiers, a tagger and a document task.

After Søgaard and Johannsen (2012), "Robust learning in random subspaces: equipping NLP for OOV effects".
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
