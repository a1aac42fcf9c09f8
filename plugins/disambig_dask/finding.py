"""Where a scheduler is said to be, looked at before anybody waits for it."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from disambig.api import UserError

_MORE = 1.0
"""Seconds that Dask has beyond those given to it, to say itself what is wrong."""


def address_of(scheduler: str, *, seconds: float) -> str:
    """Return the address of a scheduler that is named by it, or by the file that it wrote.

    A wrong one is found here: Dask waits for ever for a file, and for what listens and says nothing, and
    leaves a half-made client behind.

    Raises
    ------
    UserError
        D853 for a file that is not there or says no address, for what cannot be an address, and where
        nothing answers as Dask does within `seconds`; of other addresses than ``tcp://`` that is not asked.
    """
    from distributed.comm.addressing import resolve_address

    try:
        address = _of_file(Path(scheduler)) if _is_file(scheduler) else scheduler
        resolved = resolve_address(address)
        if resolved.startswith("tcp://"):
            with ThreadPoolExecutor(1) as elsewhere:  # a loop may run here
                elsewhere.submit(asyncio.run, _greeted(resolved, seconds)).result()
    except OSError as problem:
        raise UserError("D853", address=scheduler, problem=problem.strerror or problem) from None
    except (ValueError, TypeError) as problem:
        raise UserError("D853", address=scheduler, problem=" ".join(str(problem).split())) from None
    return address


async def _greeted(address: str, seconds: float) -> None:
    from distributed.comm import connect

    try:
        comm = await asyncio.wait_for(connect(address, timeout=seconds), seconds + _MORE)
        await comm.close()
    except asyncio.TimeoutError:
        raise ValueError(f"what listens there does not answer within {seconds:g} seconds") from None
    except OSError:
        raise
    except Exception as problem:
        raise ValueError(f"what answers there is none ({type(problem).__name__})") from None


def _is_file(scheduler: str) -> bool:
    return "://" not in scheduler and (scheduler.endswith(".json") or Path(scheduler).is_file())


def _of_file(path: Path) -> str:
    data = path.read_bytes()
    try:
        return str(json.loads(data)["address"])
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ValueError("this file says no address: give the scheduler.json that it wrote") from None
