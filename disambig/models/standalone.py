"""Models that are not models of a task, such as parsers: plugins read and write their folders."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

from disambig import registry
from disambig.errors import UserError, nearest_first
from disambig.files import HEADER, read_json
from disambig.packs import packs, require_undamaged_pack

_log = logging.getLogger(__name__)


class StandaloneModel(Protocol):
    """A model that makes no decisions of a task: a parser, a converter.

    Its folder has a ``header.json`` with the name of its ``format``. A plugin registers its class with
    `disambig_register_models`.
    """

    formats: ClassVar[tuple[str, ...]]
    """The formats that `load` reads."""

    @property
    def language(self) -> str:
        """The language code."""
        ...

    @classmethod
    def load(cls, folder: str | Path) -> StandaloneModel:
        """Read the model in a folder; UserError if a file is missing or damaged."""
        ...

    def save(self, folder: str | Path) -> None:
        """Write the model into a folder."""
        ...

    def describe(self) -> str:
        """Return what the model is and how large it is, in a few words."""
        ...

    def records(self, texts: Sequence[str], *, n_best: int = 1) -> list[list[dict[str, Any]]]:
        """Return the results for each text, one per sentence or line, as values that JSON has.

        Parameters
        ----------
        texts : sequence of str
        n_best : int
            Maximum number of candidates per result, at least 1.
        """
        ...


def stored_format(folder: str | Path) -> str:
    """Return the format in the header of a folder; empty if the folder has no such header."""
    try:
        header = read_json(Path(folder) / HEADER)
    except (OSError, ValueError):
        return ""
    name = header.get("format") if isinstance(header, dict) else None
    return name if isinstance(name, str) else ""


def is_standalone(folder: str | Path) -> bool:
    """Return True if a registered class reads the format of a folder."""
    return stored_format(folder) in _classes()


def load_standalone(name_or_path: str | Path) -> StandaloneModel:
    """Load a model that is not a model of a task, from a directory or ``"PACK/FOLDER"`` (see ``pack.json``).

    The name of the pack is enough if it has only one such model.

    Raises
    ------
    UserError
        D404 for an unknown name, D403 for a damaged pack, D917 for a format that no plugin reads; errors of
        the class for a damaged folder.
    """
    folders = {f"{pack.name}/{key}": path for pack in packs().values() for key, path in pack.folders.items()}
    name = str(name_or_path)
    in_pack = [path for full, path in folders.items() if full.startswith(f"{name}/") and is_standalone(path)]
    folder = in_pack[0] if len(in_pack) == 1 else folders.get(name, Path(name_or_path))
    if not folder.is_dir():
        require_undamaged_pack(name)
        installed = [full for full, path in folders.items() if is_standalone(path)]
        names = nearest_first(name, installed) if installed else "none"
        raise UserError("D404", name=name, hint="", takes="give a model directory", names=names)
    classes = _classes()
    format_name = stored_format(folder)
    if format_name not in classes:
        problem = f"has the format {format_name!r}" if format_name else "has no header.json with a format"
        raise UserError("D917", path=folder, problem=problem, names=", ".join(sorted(classes)) or "none")
    return classes[format_name].load(folder)


def standalone_card(model: StandaloneModel, name: str, *, use: str, training: Sequence[str]) -> str:
    """Return the card of a model in Markdown.

    Parameters
    ----------
    model : StandaloneModel
    name : str
        The name of its folder.
    use : str
        A command that uses it.
    training : sequence of str
        What it learned from, and how good it is.
    """
    description = model.describe()
    about = f"{description[:1].upper()}{description[1:]}; language: {model.language}."
    facts = "\n".join(f"* {line}" for line in training)
    sections = (
        f"# {name}",
        about,
        "## Use",
        f"```console\n$ {use}\n```",
        "## Training and evaluation",
        facts,
    )
    return "\n\n".join(sections) + "\n"


def _classes() -> dict[str, type[StandaloneModel]]:
    """Return the registered classes by the formats that they read."""
    classes: dict[str, type[StandaloneModel]] = {}
    for entry, factory in registry.load_all("models").items():
        loaded = cast("type[StandaloneModel]", factory)
        for name in getattr(loaded, "formats", ()):
            if classes.setdefault(name, loaded) is not loaded:
                _log.warning("%s", UserError("D918", entry=entry, format=name, first=classes[name].__name__))
    return classes
