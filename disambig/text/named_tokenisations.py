"""Look up tokenisations by their registered names."""

from __future__ import annotations

from typing import Any

from disambig.errors import contract_error, describe_value
from disambig.registry import describe_component, get
from disambig.text.view import Tokenisation, TokenView


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


def check_tokens(tokenisation: Tokenisation) -> None:
    """Check that a tokenisation has a name and returns a view. Raises D414."""
    component = describe_component("tokenisations", tokenisation)
    if not isinstance(getattr(tokenisation, "name", None), str):
        raise contract_error(component, "it has no name", "its registered name")
    for name in ("__call__", "words"):
        if not callable(getattr(tokenisation, name, None)):
            raise contract_error(
                component, f"it has no method {name}", "a tokenisation with __call__ and words"
            )
    view: object = tokenisation([])
    if not isinstance(view, TokenView):
        raise contract_error(component, f"it returned {describe_value(view)} for no texts", "a TokenView")
