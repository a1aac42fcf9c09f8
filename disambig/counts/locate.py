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
        A path (anything with a separator or a suffix, or that exists), ``PACK`` for the table of an
        installed pack, or ``PACK/FOLDER`` for that in a folder it brings.

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
    if not path.is_file() and path.name == str(counts) and not path.suffix:
        from disambig.packs import pack

        brought = pack(str(counts)).counts
        if brought is None:
            raise UserError("D413", name=str(counts))
        path = brought
    elif not path.exists() and len(path.parts) == 2 and not path.suffix:
        from disambig.packs import packs

        installed = packs()
        if path.parts[0] in installed:
            folder = installed[path.parts[0]].folders.get(path.parts[1])
            if folder is None or not (folder / IN_FOLDERS).is_file():
                raise UserError("D413", name=str(counts))
            path = folder / IN_FOLDERS
    path = path.resolve()
    return _open(path, stamp_of(path))


@lru_cache(maxsize=32)
def _open(path: Path, stamp: tuple[int, ...]) -> CountTable:
    return CountTable.open(path)
