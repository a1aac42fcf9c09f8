"""The judge of a training: the one that the config names, or the usual one of its task, with its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from disambig.config import resolve
from disambig.judges import check_judge, config_of
from disambig.types import Judge


def judge_of(parts: Mapping[str, Any], settings: Mapping[str, Any]) -> Judge:
    """Return the judge of a resolved config, with those of the settings that it has.

    Parameters
    ----------
    parts : mapping
        With a ``task`` and, optionally, a ``judge``.
    settings : mapping
        Of ``[training]``, such as ``flags_per_1000`` and ``least_margin``.

    Raises
    ------
    UserError
        D422 for a judge that is for other tasks.
    """
    judge = parts.get("judge") or resolve({"judge": config_of(parts["task"])})["judge"]
    check_judge(judge, parts["task"])
    return replace(judge, **own_settings(judge, settings))


def own_settings(judge: Judge, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings that the judge has: fields of the dataclass that it is."""
    known: set[str] = {field.name for field in fields(judge)} if is_dataclass(judge) else set()
    return {name: value for name, value in settings.items() if name in known and value is not None}
