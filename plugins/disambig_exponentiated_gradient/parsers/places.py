"""Where parsers are: in packs, and in folders."""

from __future__ import annotations

from pathlib import Path

from disambig.api import UserError, nearest_first
from disambig.api.packs import packs

from .parser import PACK
from .stored import is_parser

FOLDER = "parser"
"""What a pack calls it among its `folders`."""


def place_of(name: str | Path) -> Path:
    """Return the folder of a parser: of a pack, by its name, or the folder itself.

    Raises
    ------
    UserError
        D901 for a name of nothing, D943 for one of a file, D902 for a folder without a parser.
    """
    known = packs()
    if str(name) in known:
        brought = known[str(name)]
        if FOLDER not in brought.folders:
            raise UserError("D902", path=brought.home)
        return brought.folders[FOLDER]
    path = Path(name)
    if not path.is_dir():
        bringing = [each.name for each in known.values() if FOLDER in each.folders]
        names = nearest_first(str(name), bringing) if bringing else "none"
        if path.exists():
            raise UserError("D943", name=name, what="a parser", command="train-parser", names=names)
        hint = "" if PACK in bringing else f"install the pack {PACK} (pip install ./corpora/{PACK}), or "
        raise UserError("D901", name=str(name), hint=hint, names=names)
    if is_parser(path):
        return path
    if is_parser(path / FOLDER):
        return path / FOLDER
    raise UserError("D902", path=path)
