"""Find and correct the mistakes that spelling checkers miss, by deciding between candidates in text.

`disambig.check` returns the flags of a text, `disambig.correct` the corrected text; both are in
`disambig.checking` and are imported on first use.

``import disambig`` is cheap: it does not import spaCy, scikit-learn or Numba.
Everything that a plugin or a program needs is in :mod:`disambig.api`, imported on first use.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # `typing` would take longer to import than this package
if TYPE_CHECKING:
    from disambig.checking import check as check, correct as correct

_LAZY = ("check", "correct")


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from disambig import checking

    return getattr(checking, name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_LAZY))
