"""Look up tokenisations by their registered names."""

from __future__ import annotations

from typing import Any

from disambig.registry import get
from disambig.text.view import Tokenisation


def tokenisation_named(name: str) -> Tokenisation:
    """Return the tokenisation with a registered name, optionally with a language: ``"NAME/LANGUAGE"``.

    Raises
    ------
    UserError
        D001 for an unknown name.
    """
    registered, _, language = name.partition("/")
    settings: dict[str, Any] = {"language": language} if language else {}
    made: Tokenisation = get("tokenisations", registered)(**settings)
    return made
