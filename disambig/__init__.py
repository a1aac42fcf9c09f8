"""Find and correct the mistakes that spelling checkers miss, by deciding between candidates in text.

``import disambig`` is cheap: it does not import spaCy, scikit-learn or Numba.
Everything that a plugin or a program needs is in :mod:`disambig.api`, imported on first use.
"""

__version__ = "0.1.0"
