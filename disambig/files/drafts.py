"""Files and folders that are being written: names of their own until they are whole, removed after a kill.

A draft is called ``.tmp-TARGET-PROCESS-CHANCE``. TARGET is a hash of what it is to become, so that the name
is short however long that of the target is, and nothing that another program left is ever taken for a draft.
Its writer holds a lock on it: one without is what a killed writer left, and goes when the next one begins.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PREFIX = ".tmp-"
_NAME = re.compile(r"\.tmp-([0-9a-f]{16})-([0-9]+)-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class Drafts:
    """Where drafts of something lie, and what is between their names.

    Attributes
    ----------
    folder : Path
        On the file system of the target, so that a draft can be renamed.
    mark : str
        Sixteen hexadecimal digits.
    """

    folder: Path
    mark: str

    @classmethod
    def of(cls, folder: Path, what: str) -> Drafts:
        """Return the drafts of what is called `what` in a folder."""
        return cls(folder, hashlib.blake2b(os.fsencode(what), digest_size=8).hexdigest())

    @classmethod
    def beside(cls, target: Path) -> Drafts:
        """Return the drafts that lie beside what they are to become."""
        return cls.of(target.parent, target.name)

    def new(self) -> Path:
        """Return a name for a draft."""
        return self.folder / f"{PREFIX}{self.mark}-{os.getpid()}-{secrets.token_hex(4)}"

    def clean(self) -> None:
        """Remove what writers that are no more left behind; what cannot be removed stays."""
        with suppress(OSError):
            for path in [*self.folder.iterdir()]:
                found = _NAME.fullmatch(path.name)
                if found is not None and found[1] == self.mark and not _is_alive(int(found[2])):
                    _remove_unheld(path)


def remove(path: Path) -> None:
    """Remove a draft, if it is there and can be."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def hold(handle: int) -> None:
    """Lock an open draft for as long as it is open, where the file system has locks."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def draft_folder(drafts: Drafts, *, private: bool = False) -> Iterator[Path]:
    """Give an empty folder to write into, which is removed at the end if it still has this name.

    A `private` one is for this user alone.

    Raises
    ------
    OSError
        Where it cannot be made.
    """
    drafts.clean()
    folder = drafts.new()
    handle = -1
    try:
        folder.mkdir(0o700 if private else 0o777)
        with suppress(OSError):  # a system without handles of folders
            handle = os.open(folder, os.O_RDONLY)
            hold(handle)
        yield folder
    finally:
        if handle >= 0:
            os.close(handle)
        remove(folder)


def _is_alive(process: int) -> bool:
    """Tell whether another process of this machine has this number."""
    if process == os.getpid() or os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return not _has_ended(process)


def _has_ended(process: int) -> bool:
    """Tell whether a process only waits for its parent to hear of its end, where the system tells."""
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):
        return False


def _remove_unheld(path: Path) -> None:
    """Remove a draft on which nobody holds a lock: a process of another machine might."""
    try:
        import fcntl

        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (ImportError, OSError):
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove(path)
    except OSError:
        pass
    finally:
        os.close(handle)
