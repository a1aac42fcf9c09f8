"""Decision rules: they turn scores into decisions; calibration, thresholds, and overlapping flags.

`corrections` and `mistakes` contain the rules for flags, `labels` those for labels and lists; `selection`
chooses the rule of a task whose config names none. `overlaps` decides which of several overlapping flags is
kept, `thresholds` how certain a flag must be.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
