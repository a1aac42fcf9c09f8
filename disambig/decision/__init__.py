"""Decision rules: they turn scores into decisions; calibration, thresholds, and overlapping flags.

`corrections`, `mistakes` and `second_look` contain the rules for flags, `labels` those for labels and lists.
`overlaps` decides which of several overlapping flags is kept, `calibration` how certain a flag must be.
`contract` checks the rules of plugins.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
