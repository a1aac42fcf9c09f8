"""From what a config says to a model of words in context: a folder, or the name of a pack that brings one."""

from __future__ import annotations

from pathlib import Path

from disambig.errors import UserError
from disambig.features.cloze.model import Cloze, cloze_in

FOLDER = "words"
"""What packs call the folder."""


def open_cloze(words: str | Path) -> Cloze:
    """Return a model of words in context; the same folder is read once a process.

    Parameters
    ----------
    words : str or path
        A folder, or the name of an installed pack that brings one.

    Raises
    ------
    UserError
        D402 for an unknown pack, D991 for one without such a model, D990 for a folder that holds none.
    """
    if not isinstance(words, str | Path) or not str(words):
        raise UserError("D990", path=words, problem="a folder or the name of a pack is wanted")
    path = Path(words)
    if path.name == str(words) and not path.suffix:
        from disambig.packs import pack, packs

        # installed packs first: a folder of the current directory does not take the place of what they bring
        if str(words) in packs() or not path.is_dir():
            brought = pack(str(words)).folders.get(FOLDER)
            if brought is None:
                raise UserError("D991", name=words)
            path = brought
    return cloze_in(path)
