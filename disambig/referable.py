"""Weak references to objects with slots: what is made of such an object can be kept as long as it lives."""

from __future__ import annotations


class Referable:
    """Base of classes with slots whose objects can be keys of a ``WeakKeyDictionary``."""

    __slots__ = ("__weakref__",)
