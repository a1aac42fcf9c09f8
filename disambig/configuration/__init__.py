"""Settings of a project, written once: found from a checked file upwards, the same for all who check.

``disambig.toml``, or ``[tool.disambig]`` in ``pyproject.toml``. No command line, no model and no checking
enters here; what options say is a `Layer` like any other.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
