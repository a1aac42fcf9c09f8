"""The linter: runs, flags, directives, baselines, changed lines and reports.

Which of several overlapping flags is shown is decided before, by `disambig.decision` (`overlaps`); which
flags are corrected together, by `flags.select_compatible`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
