"""Write the files of a new plugin of one of several kinds.

The templates are in ``templates/KIND/``, in the layout of the plugin, with the suffix ``.txt``. In their
contents and paths, NAME stands for the name of the plugin and VERSION for the version of this disambig.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from disambig import __version__
from disambig.errors import UserError, nearest_first
from disambig.files import TempFiles, temp_folder, writing
from disambig.registry import (
    CORE_PREFIXES,
    GROUP,
    distribution_name,
    entry_points,
    normalise_name,
    plugin_configs,
)

TEMPLATES = Path(__file__).with_name("templates")
ENDING = ".txt"
KINDS = {
    "labels": "labels of sentences: a task, an extractor, a learner, a config, a component",
    "words": "words that writers confuse: a task, a config, a component",
    "lists": "candidates that come in lists: an extractor, a config, a task",
    "decoder": "a decoder, a config",
}
"""What each kind of plugin contains, besides tests."""


def plugin_files(name: str, kind: str = "labels") -> dict[str, str]:
    """Return the contents of the files of a plugin by path, sorted. Raises D526 for an unknown kind."""
    if kind not in KINDS:
        raise UserError("D526", kind=kind, names=nearest_first(kind, KINDS))
    files = {}
    for path in (TEMPLATES / kind).rglob(f"*{ENDING}"):
        relative = path.relative_to(TEMPLATES / kind).as_posix().removesuffix(ENDING).replace("NAME", name)
        text = path.read_text(encoding="utf8")
        files[relative] = text.replace("NAME", name).replace("VERSION", __version__)
    return dict(sorted(files.items()))


def write_plugin(name: str, output: str | Path | None = None, *, kind: str = "labels") -> Path:
    """Write a plugin atomically and return its directory.

    Raises D012 for an invalid name, D013 for a name that is taken, D014 if the directory exists, D309 if it
    cannot be written, D526 for an unknown kind.

    `name`: name of the plugin, with which its registered names begin.
    `output`: by default ``disambig-NAME`` in the current directory.
    `kind`: one of `KINDS`.
    """
    files = plugin_files(name, kind)
    check_name(name)
    home = Path(f"disambig-{name}") if output is None else Path(output)
    if home.exists() or home.is_symlink():
        raise UserError("D014", path=home)
    with _output_folder(home) as work:
        for relative, text in files.items():
            path = work / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf8")
    return home


def check_name(name: str) -> None:
    """Raise an error if the name is invalid or taken. Raises D012, D013."""
    is_lower_case = name.isascii() and name.isidentifier() and name == name.lower() and name[0].isalpha()
    if not is_lower_case or keyword.iskeyword(name) or name.startswith("disambig_"):
        raise UserError("D012", name=name)
    if taken := _name_conflict(name):
        raise UserError("D013", name=name, by=taken)


def _name_conflict(name: str) -> str:
    """Return what already has a name, or an empty string."""
    if name in CORE_PREFIXES:
        return "disambig itself"
    for entry in entry_points(group=GROUP):
        if normalise_name(entry.name) == normalise_name(name):
            return f"the plugin {entry.name} of {distribution_name(entry)}"
    component = f"disambig_{name}"
    if entry_points(group="spacy_factories", name=component):
        return f"the spaCy component {component}"
    if name in plugin_configs():
        return f"the config {plugin_configs()[name].name} of another plugin"
    return f"the package {component}" if find_spec(component) is not None else ""


@contextmanager
def _output_folder(home: Path) -> Iterator[Path]:
    """Yield a directory that is renamed to `home` if the block succeeds, and removed otherwise."""
    with writing(home):
        home.parent.mkdir(parents=True, exist_ok=True)
        with temp_folder(TempFiles.for_target(home)) as work:
            yield work
            work.rename(home)
