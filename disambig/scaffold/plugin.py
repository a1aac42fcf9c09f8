"""Write the package of a new plugin: a task of labels, an extractor, a learner, a config, a component, tests.

The templates stand in ``templates/`` as they are laid out, with ``.txt`` behind their names. In them, and in
their names, NAME is the plugin's and VERSION that of this disambig.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from disambig import __version__
from disambig.errors import UserError
from disambig.files import TempFiles, temp_folder, writing
from disambig.namespaces import CORE_PREFIXES, normalise_name
from disambig.registry import GROUP
from disambig.training import plugin_configs

TEMPLATES = Path(__file__).with_name("templates")
ENDING = ".txt"


def plugin_files(name: str) -> dict[str, str]:
    """Return the files of a plugin, by their paths in its directory, sorted."""
    files = {}
    for path in TEMPLATES.rglob(f"*{ENDING}"):
        inside = path.relative_to(TEMPLATES).as_posix().removesuffix(ENDING).replace("NAME", name)
        text = path.read_text(encoding="utf8")
        files[inside] = text.replace("NAME", name).replace("VERSION", __version__)
    return dict(sorted(files.items()))


def write_plugin(name: str, output: str | Path | None = None) -> Path:
    """Write a plugin and return its directory, which is whole or not there.

    Parameters
    ----------
    name : str
        Of the plugin: what its registered names begin with.
    output : path, optional
        By default ``disambig-NAME`` where one stands.

    Raises
    ------
    UserError
        D012 for a name that cannot be one, D013 for one that is taken, D014 for a directory that exists, D309
        where it cannot be written.
    """
    check_name(name)
    home = Path(f"disambig-{name}") if output is None else Path(output)
    if home.exists() or home.is_symlink():
        raise UserError("D014", path=home)
    with _output_folder(home) as work:
        for inside, text in plugin_files(name).items():
            path = work / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf8")
    return home


def check_name(name: str) -> None:
    """Refuse a name that no plugin can have, or that another has.

    Raises
    ------
    UserError
        D012, D013.
    """
    if not (name.isascii() and name.isidentifier() and name == name.lower()) or keyword.iskeyword(name):
        raise UserError("D012", name=name)
    if not name[0].isalpha() or name.startswith("disambig_"):
        raise UserError("D012", name=name)
    taken = _name_conflict(name)
    if taken:
        raise UserError("D013", name=name, by=taken)


def _name_conflict(name: str) -> str:
    """Say what has a name already; empty where nothing has."""
    if name in CORE_PREFIXES:
        return "disambig itself"
    for entry in entry_points(group=GROUP):
        if normalise_name(entry.name) == normalise_name(name):
            return f"the plugin {entry.name} of {entry.dist.name if entry.dist else entry.value}"
    component = f"disambig_{name}"
    if entry_points(group="spacy_factories", name=component):
        return f"the spaCy component {component}"
    if name in plugin_configs():
        return f"the config {plugin_configs()[name].name} of another plugin"
    return f"the package {component}" if find_spec(component) is not None else ""


@contextmanager
def _output_folder(home: Path) -> Iterator[Path]:
    """Give a directory to write into, which gets its name if all went well, and goes away if not."""
    with writing(home):
        home.parent.mkdir(parents=True, exist_ok=True)
        with temp_folder(TempFiles.for_target(home)) as work:
            yield work
            work.rename(home)
