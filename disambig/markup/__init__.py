"""Readers of markup: documents and code become plain text of the same length.

`reading` chooses the reader by the format in its table of formats. The readers (`markdown`, `code`, ...)
paint over what is not prose, such as the targets of links, on a `canvas`, so that offsets do not change.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
