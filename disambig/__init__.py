"""Decide between candidates in text.

``import disambig`` stays light: it loads no spaCy, no scikit-learn and no Numba.
Everything a plugin or a program needs is in :mod:`disambig.api`, loaded on first use.
"""

__version__ = "0.1.0"
