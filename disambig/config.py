"""Configs: confection files in, objects out, and back. Nothing here knows what an object does.

A section names what it wants by ``@disambig_KIND = "package.Name.v1"``; the other keys are the
arguments. The filled-in config is saved with every model, so a model can always be built again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from disambig import registry
from disambig.config_problems import check_settings, not_built, not_read
from disambig.errors import UserError, nearest_first

_MAX_BYTES = 10_000_000
"""Maximum size of a config file."""


def read_config(path: str | Path, overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    """Read a config file; `overrides` maps dotted names such as ``"learner.C"`` to values.

    Raises
    ------
    UserError
        D005, with the file and the place.
    """
    from confection import Config

    source = Path(path)
    try:
        with open(source, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
        text = "\n".join(data.decode("utf8").splitlines()) + "\n"
    except (OSError, UnicodeDecodeError) as problem:
        raise UserError("D005", path=source, problem=not_read(problem)) from problem
    if len(data) > _MAX_BYTES:
        raise UserError("D005", path=source, problem=f"it has more than {_MAX_BYTES:,} bytes")
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            config = Config().from_str(text, overrides=overrides or {})
    except Exception as problem:  # confection raises its own and ValueErrors of many shapes
        raise UserError("D005", path=source, problem=not_read(problem)) from problem
    for each in told:  # from Python 3.13 on even of a text that is no config
        warnings.warn(f"{source}: {each.message}", stacklevel=2)
    return config


def write_config(config: dict[str, Any], path: str | Path) -> None:
    """Write a config as a file that `read_config` reads."""
    from confection import Config

    Path(path).write_text(Config(config).to_str(), encoding="utf8")


def resolve(config: dict[str, Any], *, source: str | Path = "config") -> dict[str, Any]:
    """Build every object that a config's sections ask for, nested sections first.

    Raises
    ------
    UserError
        D001 for an unknown name; D005 for wrong arguments; D007 for a part that cannot be imported.
    """
    wanted = list(_names(config, source))
    for kind, name in wanted:
        registry.get(kind, name)
    check_settings(config, registry.get, source)
    shelves = registry.confection_registry(wanted)
    try:
        return shelves.resolve(config)
    except UserError:
        raise
    except (ValueError, TypeError, OSError) as problem:  # confection's own, or what a constructor refuses
        raise UserError("D005", path=source, problem=not_built(problem, config)) from problem


def _names(section: dict[str, Any], source: str | Path, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield kind and name of every part that a config asks for; D005 for what is no name."""
    for key, value in section.items():
        where = f"{path}.{key}" if path else key
        if key.startswith("@"):
            kind = key.removeprefix("@disambig_")
            if kind not in registry.KINDS:
                kinds = [f"@disambig_{known}" for known in registry.KINDS]
                raise UserError("D001", kind="registry", name=key, names=nearest_first(key, kinds))
            if not isinstance(value, str):
                problem = f"[{path}] {key} is {value!r}: write the name of a part in double quotes"
                raise UserError("D005", path=source, problem=problem)
            yield kind, value
        elif isinstance(value, dict):
            yield from _names(value, source, where)
