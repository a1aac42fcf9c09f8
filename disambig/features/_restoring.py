"""Check after fitting that the saved state of a component restores it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError, contract_error, describe_value
from disambig.formatting import describe_failure
from disambig.registry import plugin_packages

Restored = TypeVar("Restored")
_WANTED = "a state with every array that from_state(arrays) needs"
_NUMBERS = (
    "arrays of numbers by name; text is stored as bytes, such as np.frombuffer(text.encode(), np.uint8)"
)
_TOLERANCE = 1e-5


def restore_checked(
    part: str, state: object, from_state: Callable[[dict[str, NDArray[Any]]], Restored]
) -> Restored:
    """Return what `from_state` makes of a state, such as the scores of the restored component.

    Parameters
    ----------
    part : str
        Name of the component in messages.
    state : object
        What its ``state()`` returned.
    from_state : callable

    Raises
    ------
    UserError
        D414 for a state that is not arrays of numbers, or that does not restore the component; it names the
        array that is missing if the error of `from_state` does.
    """
    arrays = _check_numbers(part, state)
    names = ", ".join(arrays) or "no array"
    try:
        return from_state({name: np.array(array) for name, array in arrays.items()})
    except (AttributeError, LookupError, TypeError, ValueError) as problem:
        if isinstance(problem, UserError):
            raise
        missing = problem.args[0] if isinstance(problem, KeyError) and problem.args else None
        seen = f"the restored one raised {describe_failure(problem, plugin_packages())}"
        seen = seen if missing is None else f"from_state needs {missing!r}"
        raise contract_error(part, f"{seen}, but state returned {names}", _WANTED) from problem


def _check_numbers(part: str, state: object) -> dict[str, NDArray[Any]]:
    """Return a state; raise D414 unless it maps names to arrays of numbers, as only these can be saved."""
    if not isinstance(state, Mapping):
        raise contract_error(part, f"state returned {describe_value(state)}", _NUMBERS)
    for name, array in state.items():
        kind = array.dtype.kind if isinstance(array, np.ndarray | np.generic) else ""
        if not kind or kind not in "biuf":
            gave = f"an array of {array.dtype}" if kind else describe_value(array)
            gave = "an array of strings" if kind in ("U", "S") else gave
            raise contract_error(part, f"state returned {gave} under {name!r}", _NUMBERS)
    return {str(name): array for name, array in state.items()}


def check_same(part: str, what: str, again: NDArray[Any], expected: NDArray[Any], state: object) -> None:
    """Raise D414 unless a restored component returns the same numbers."""
    same = again.shape == expected.shape and np.allclose(again, expected, rtol=_TOLERANCE, atol=_TOLERANCE)
    if not same:
        names = ", ".join(map(str, state)) if isinstance(state, Mapping) and state else "no array"
        raise contract_error(part, f"{what} differ after from_state; state returned {names}", _WANTED)
