"""Real-word mistakes anywhere in a text: articles, word forms, slips and doubled words.

The tasks, with the candidates that each proposes (`tasks.Doubled` for doubled words), are in `tasks`;
`places`, `running_text`, `relations` and `sounds` find the instances, and the words to choose from.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
