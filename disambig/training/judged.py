"""The judge of a training: the one that the config names, or the usual one of its task, with its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from disambig.config import resolve
from disambig.judges import check_judge, check_mistakes, config_of
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


def with_judge_of_mistakes(
    parts: dict[str, Any], config: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return parts, and their config, with a judge that learns from mistakes where they have none.

    Raises
    ------
    UserError
        D427 for a task that corrects no words, D429 for a judge that does not learn from mistakes.
    """
    config = config or {}
    if not parts.get("judge"):
        section = config_of(parts["task"], mistakes=True)
        parts, config = {**parts, **resolve({"judge": section})}, {**config, "judge": section}
    check_mistakes(parts["judge"], parts["task"])
    return parts, config


def own_settings(judge: Judge, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings that the judge has: fields of the dataclass that it is."""
    known: set[str] = {field.name for field in fields(judge)} if is_dataclass(judge) else set()
    return {name: value for name, value in settings.items() if name in known and value is not None}
