"""A finished file or folder takes the place of another one, which stands until then: there is always one.

Linux and macOS exchange two names in one step. Elsewhere the old one is renamed, then the new one; a process
killed between the two leaves the old one under a name from which `restore` brings it back.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from disambig.files.drafts import Drafts, remove
from disambig.files.saving import sync_directory

_HERE = -100
"""AT_FDCWD of Linux: a path is taken from the working directory."""
_SWAP = 2
"""RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS."""


def put(draft: Path, target: Path) -> None:
    """Give a draft its name; what stood there before is removed.

    Raises
    ------
    OSError
        Where it cannot be renamed; then the old one stands.
    """
    if not os.path.lexists(target):
        os.rename(draft, target)
    elif exchange(draft, target):
        remove(draft)
    else:
        old = _old(target)
        remove(old)
        os.rename(target, old)
        try:
            os.rename(draft, target)
        except OSError:
            os.rename(old, target)
            raise
        remove(old)
    sync_directory(target.parent)


def restore(target: Path) -> None:
    """Bring back what was there before a `put` that was killed between its two renames."""
    old = _old(target)
    if not os.path.lexists(target) and os.path.lexists(old):
        os.rename(old, target)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; return whether system and file system can."""
    try:
        system = ctypes.CDLL(None, use_errno=True)
        first, second = os.fsencode(one), os.fsencode(other)
        if sys.platform == "darwin":
            return bool(system.renamex_np(first, second, _SWAP) == 0)
        return bool(system.renameat2(_HERE, first, _HERE, second, _SWAP) == 0)
    except (AttributeError, OSError, TypeError):
        return False


def _old(target: Path) -> Path:
    return target.parent / f".old-{Drafts.beside(target).mark}"
