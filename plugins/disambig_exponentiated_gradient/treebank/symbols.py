"""Names of a grammar's symbols: a label, what it is split by, what it is below of.

A node's symbol is ``NP~base^S``: a label, splits, labels above it. Inside a node of many children lie
intermediate ones, ``@NP~base|DT`` (seen so far: DT). Labels in which these signs stand are quoted, so that
every label can be read back.
"""

from __future__ import annotations

import re
from functools import lru_cache

_QUOTED = re.compile(r"[%@~^|\x00-\x20\x7f]")
_SIGN = re.compile(r"[~^|]")
_CODE = re.compile(r"%([0-9A-F]{2})")
INSIDE = "@"


@lru_cache(10_000)
def quoted(label: str) -> str:
    """Return a label without the signs of symbols."""
    return _QUOTED.sub(lambda sign: f"%{ord(sign[0]):02X}", label)


@lru_cache(100_000)
def label_of(symbol: str) -> str:
    """Return the label of a node by its symbol; not of an intermediate one."""
    sign = _SIGN.search(symbol)
    plain = symbol[: sign.start()] if sign else symbol
    return _CODE.sub(lambda code: chr(int(code[1], 16)), plain)


def is_inside(symbol: str) -> bool:
    """Tell whether a symbol is an intermediate one, which no tree has."""
    return symbol.startswith(INSIDE)


@lru_cache(100_000)
def coarse_symbol(symbol: str) -> str:
    """Return a symbol without splits, labels above and labels before: ``NP``, or ``@NP`` of all inside."""
    sign = _SIGN.search(symbol)
    return symbol[: sign.start()] if sign else symbol


@lru_cache(100_000)
def without_parents(symbol: str) -> str:
    """Return a node's symbol without the labels above it: of a word, all that its tag and itself say."""
    return symbol.partition("^")[0]
