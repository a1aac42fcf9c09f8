"""From what a config says to an open count table: a file, or the name of one that a pack brings."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from disambig.counts.table import CountTable
from disambig.errors import UserError
from disambig.files.opening import stamp_of

IN_FOLDERS = "ngrams.counts"
"""What the table in a folder of a pack is called."""


def open_table(counts: str | Path | CountTable) -> CountTable:
    """Open a count table; the same file is opened once a process, and anew when it was replaced.

    Parameters
    ----------
    counts : str, path or CountTable
        ``PACK`` for the table of an installed pack, ``PACK/FOLDER`` for that in a folder it brings, or a
        path. Installed packs come first: a file of the current directory does not take the place of what they
        bring; ``./PACK`` names such a file.

    Raises
    ------
    UserError
        D100 to D109 for the file; D402 for an unknown pack, D413 for one without counts, D660 for what is
        neither.
    """
    if isinstance(counts, CountTable):
        return counts
    if not isinstance(counts, str | Path) or not str(counts):
        raise UserError("D660", value=counts)
    path = Path(counts)
    if str(path) == str(counts) and len(path.parts) <= 2 and not path.suffix and not path.is_absolute():
        path = _brought(path) or path
    path = path.resolve()
    return _open(path, stamp_of(path))


def _brought(name: Path) -> Path | None:
    """Return the table that an installed pack brings under a name; None where it names no pack."""
    from disambig.packs import pack, packs

    first, *folders = name.parts or ("",)
    installed = packs()
    if first not in installed:
        if not folders and not name.is_file():
            pack(first)  # D402, with the packs there are
        return None
    table = installed[first].counts
    if folders:
        folder = installed[first].folders.get(folders[0])
        table = folder and folder / IN_FOLDERS
    if table is None or (folders and not table.is_file()):
        raise UserError("D413", name=str(name))
    return table


@lru_cache(maxsize=32)
def _open(path: Path, stamp: tuple[int, ...]) -> CountTable:
    return CountTable.open(path)
