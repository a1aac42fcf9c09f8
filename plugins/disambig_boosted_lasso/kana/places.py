"""Where converters are: in packs, in folders that were adapted, beside models that were trained with them.

FOLDER/
    converter/      a converter (see `stored`); domains/NAME: what it mixes in for one
    kana_kanji/     the model that ranks its candidates again, if there is one
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from disambig.api import Model, UserError, load_model, nearest_first
from disambig.api.packs import packs, restore

from .stored import is_converter
from .task import KanaKanji

PACK = "disambig_ja"
CONVERTER, RERANKER = "converter", "kana_kanji"


@dataclass(frozen=True, slots=True)
class Place:
    """A converter's folder, and that of the model that ranks its candidates again."""

    converter: Path
    reranker: Path | None = None

    def model(self) -> Model | None:
        """Return the model, if there is one.

        Raises
        ------
        UserError
            D693 where it learned from another converter, D336 where it is of another task.
        """
        if self.reranker is None:
            return None
        found = load_model(self.reranker)
        if not isinstance(found.task, KanaKanji):
            raise UserError("D336", model=found.name, task=found.task.name)
        found.task.check(self.converter, model=str(self.reranker))
        return found


def place_of(name: str | Path) -> Place:
    """Return where the converter of a name is: a pack, a folder, a model's name or folder.

    Raises
    ------
    UserError
        D690 for a name of nothing, D943 for one of a file, D691 for a folder without a converter.
    """
    known = packs()
    if str(name) in known:
        brought = known[str(name)]
        if CONVERTER not in brought.folders:
            raise UserError("D691", path=brought.home)
        return Place(brought.folders[CONVERTER], brought.models.get(RERANKER))
    for each in known.values():
        for task, home in each.models.items():
            if str(name) in (task, f"{each.name}/{task}"):
                return _of_model(home)
    path = Path(name)
    with suppress(OSError):
        restore(path)
    if not path.is_dir():
        bringing = [each.name for each in known.values() if CONVERTER in each.folders]
        names = nearest_first(str(name), bringing) if bringing else "none"
        if path.exists():
            raise UserError("D943", name=name, what="a converter", command="adapt", names=names)
        hint = "" if PACK in bringing else f"install the pack {PACK} (pip install ./corpora/{PACK}), or "
        raise UserError("D690", name=str(name), hint=hint, names=names)
    if (path / "model.json").is_file():
        return _of_model(path)
    if is_converter(path):
        return Place(path)
    if is_converter(path / CONVERTER):
        model = path / RERANKER
        return Place(path / CONVERTER, model if (model / "model.json").is_file() else None)
    raise UserError("D691", path=path)


def _of_model(home: Path) -> Place:
    model = load_model(home)
    if not isinstance(model.task, KanaKanji):
        raise UserError("D336", model=model.name, task=model.task.name)
    return Place(model.task.folder, home)
