"""Settings of components, held against what they may be: what is wrong with one is said in a line.

spaCy checks the types of a factory's parameters, too, and prints its whole config; so it is told of none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from spacy.language import Language

from disambig.errors import UserError

Component = TypeVar("Component")
_OWN = ("nlp", "name")
"""What spaCy itself hands to a factory."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _are_rates(value: Any) -> bool:
    table = isinstance(value, Mapping) and all(isinstance(task, str) for task in value)
    return _is_number(value) or (table and all(map(_is_number, value.values())))


Rates = float | Mapping[str, float]
"""One number, or one a task."""
KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "str": (lambda value: isinstance(value, str), "a text"),
    "float": (_is_number, "a number"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "list[str]": (_are_texts, 'a list of texts, such as ["x", "y"]'),
    "Rates": (_are_rates, 'a number or a table of one a task, such as {"spelling": 0.2}'),
    "Sets": (lambda value: isinstance(value, str | list | tuple), "a file or a list of sets"),
}
"""What a setting may be, by its annotation, and how the message puts it."""


def checked(create: Callable[..., Component]) -> Callable[..., Component]:
    """Return a factory that refuses settings of another kind than its parameters say.

    Parameters
    ----------
    create : callable
        Its parameters are annotated by `KINDS`, those that may be left open with ``| None``.

    Raises
    ------
    UserError
        D516, by the factory returned.
    """
    signature = inspect.signature(create)
    kinds = {name: each.annotation for name, each in signature.parameters.items() if name not in _OWN}

    def made(*, nlp: Language, name: str, **settings: Any) -> Component:
        for setting, value in settings.items():
            kind = kinds[setting]
            good, wanted = KINDS[kind.removesuffix(" | None")]
            if not (good(value) or (value is None and kind.endswith(" | None"))):
                raise UserError("D516", name=name, setting=setting, value=value, wanted=wanted)
        return create(nlp=nlp, name=name, **settings)

    plain = [
        each if name in _OWN else each.replace(annotation=Any) for name, each in signature.parameters.items()
    ]
    made.__signature__ = signature.replace(parameters=plain)  # type: ignore[attr-defined]
    made.__annotations__ = {each.name: Any for each in plain}
    made.__name__, made.__doc__ = create.__name__, create.__doc__
    made.__dict__.update(create.__dict__)
    return made
