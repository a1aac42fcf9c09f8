"""Write the results of tuning into the settings of a project; comments and other settings are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.configuration import OWN, SHARED, is_inside, nearest_settings
from disambig.errors import UserError
from disambig.files import save_file
from disambig.mining.tuning import IGNORE_FILE, ProjectLayer

_FIRST_LINE = "# Written by `disambig tune`, which replaces this file: your own words belong in `ignore`.\n"
_COMMENT = "set by `disambig tune`"
_RATES, _TRUST, _FILES = "flags_per_1000", "trust", "ignore_files"


@dataclass(frozen=True, slots=True)
class TunedSettings:
    """The new contents of the settings of a project."""

    path: str  # the settings file
    text: str  # its new contents
    # the file of words and corrections to ignore, and its contents
    ignore_path: str
    ignore_text: str
    keeps_rates: bool  # whether the file has rates of the user, which are kept
    hides: str = ""  # a settings file above the project that will no longer apply; "" if there is none
    # whether each file gets other contents: nothing is written where tuning has learned nothing
    changes_settings: bool = True
    changes_ignored: bool = True

    @property
    def changed(self) -> tuple[str, ...]:
        """The files that `write` writes, the settings last."""
        return (self.ignore_path,) * self.changes_ignored + (self.path,) * self.changes_settings

    def write(self) -> None:
        """Write the files that change, the settings last. Raises D309 if one cannot be written."""
        contents = {self.ignore_path: self.ignore_text, self.path: self.text}
        for path in self.changed:
            with save_file(Path(path)) as write:
                write(contents[path].encode("utf8"))


def tuned_settings(top: str, layer: ProjectLayer) -> TunedSettings:
    """Return the settings of a project with the results of tuning.

    They go to the nearest settings file of the project, or else to a new ``disambig.toml`` in its top folder.
    The file of words to ignore is needed if there are such words, or if an earlier tuning has written it.

    Raises D546 if a file of the user has the name of the file of words to ignore; D972 and similar errors for
    an invalid settings file.

    Parameters
    ----------
    top : str
        Top folder of the work tree.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    target, hides = nearest_settings(top, {}).path, ""
    if not target or not is_inside(target, top):
        target, hides = os.path.join(top, OWN[0]), target
    ignore_path = os.path.join(os.path.dirname(target), IGNORE_FILE)
    _check_ours(ignore_path)
    old = Path(target).read_bytes().decode("utf8") if os.path.exists(target) else ""
    try:
        document = tomlkit.parse(old)
        table: Any = document
        if os.path.basename(target) == SHARED:
            table = document["tool"]["disambig"]
        keeps_rates = _set_rates(table, layer.rates)
        if has_ignored := bool(layer.ignore) or os.path.exists(ignore_path):
            _name_ignore_file(table)
        text = tomlkit.dumps(document)
        if "\r\n" in old:  # new lines get the line ends of the file
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    except TOMLKitError as problem:
        raise UserError("D972", path=target, problem=str(problem)) from None
    entries = "".join(f"{entry}\n" for entry in layer.ignore)
    is_changed = text != old
    return TunedSettings(
        target,
        text,
        ignore_path,
        _FIRST_LINE + entries,
        keeps_rates,
        hides if is_changed else "",
        is_changed,
        has_ignored,
    )


def _check_ours(path: str) -> None:
    """Raise D546 if a file exists that no earlier tuning has written."""
    if not os.path.lexists(path):
        return
    try:
        with open(path, "rb") as file:
            is_ours = file.read(len(_FIRST_LINE)) == _FIRST_LINE.encode("ascii")
    except OSError:
        is_ours = False
    if os.path.islink(path) or not is_ours:
        raise UserError("D546", path=path)


def _set_rates(table: Any, rates: Mapping[str, float]) -> bool:
    """Set the rates in a settings table; return True, without a change, if the user has set rates there."""
    import tomlkit

    if _TRUST in table:
        return True
    if _RATES in table:
        trivia = getattr(table[_RATES], "trivia", None)  # a plain number has it as well
        if trivia is None or _COMMENT not in trivia.comment:
            return True
        if not rates:
            del table[_RATES]
    if rates:
        value = tomlkit.inline_table()
        value.update(rates)
        value.comment(_COMMENT)
        table[_RATES] = value
    return False


def _name_ignore_file(table: Any) -> None:
    """Add the file of words to ignore to the list `ignore_files`."""
    import tomlkit

    if _FILES not in table:
        table[_FILES] = tomlkit.array()
    if IGNORE_FILE not in table[_FILES]:
        table[_FILES].append(IGNORE_FILE)
