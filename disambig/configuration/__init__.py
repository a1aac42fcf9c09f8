"""Project settings: ``disambig.toml``, or the table ``[tool.disambig]`` in ``pyproject.toml``.

The settings file of a text is the nearest one in its folder or a folder above it. This package does not
depend on the command line or on the linter, and on models only for a message: options of a command are one
more `SettingsSource`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
