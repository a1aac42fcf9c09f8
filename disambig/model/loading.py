"""Loading a model by its name or path, once for as long as its directory stays as it is."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from disambig.errors import UserError
from disambig.files.opening import stamp_of
from disambig.model.model import Model
from disambig.packs import available, home_of


def load(name_or_path: str | Path) -> Model:
    """Load a model: a task such as ``"preposition"``, ``"PACK/TASK"``, or a model directory.

    Raises
    ------
    UserError
        D404 for an unknown name, with the true list and the pack that would bring it; D666 for a directory
        that holds none; D405 to D409 for a damaged one.
    """
    home = home_of(name_or_path)
    if not (home / "model.json").exists() and str(name_or_path) not in available():
        raise UserError("D666", path=home)
    return _load(home, stamp_of(home / "model.json"))


@lru_cache(maxsize=32)
def _load(path: Path, stamp: tuple[int, ...]) -> Model:
    from disambig.model.store import load_model

    return load_model(path)
