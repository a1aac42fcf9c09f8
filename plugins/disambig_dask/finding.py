"""Where a scheduler is said to be, looked at before anybody waits for it."""

from __future__ import annotations

import json
from pathlib import Path

from disambig.api import UserError


def address_of(scheduler: str) -> str:
    """Return the address of a scheduler that is named by it, or by the file that it wrote.

    A wrong one is found here: Dask waits for ever for a file, and leaves a half-made client behind.

    Raises
    ------
    UserError
        D853 for a file that is not there or says no address, and for what cannot be an address.
    """
    from distributed.comm.addressing import resolve_address

    try:
        address = _of_file(Path(scheduler)) if _is_file(scheduler) else scheduler
        resolve_address(address)
    except OSError as problem:
        raise UserError("D853", address=scheduler, problem=problem.strerror or problem) from None
    except (ValueError, TypeError) as problem:
        raise UserError("D853", address=scheduler, problem=" ".join(str(problem).split())) from None
    return address


def _is_file(scheduler: str) -> bool:
    return "://" not in scheduler and (scheduler.endswith(".json") or Path(scheduler).is_file())


def _of_file(path: Path) -> str:
    data = path.read_bytes()
    try:
        return str(json.loads(data)["address"])
    except (ValueError, LookupError, TypeError):
        raise ValueError("this file says no address: give the scheduler.json that it wrote") from None
