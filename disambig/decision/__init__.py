"""Decision rules: they turn scores into decisions.

This module chooses the rule of a task whose config names none, and checks that a rule fits a task.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
