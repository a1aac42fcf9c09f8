"""Learning that was interrupted: how far it is and all that its steps change, in one file."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.features.stored import UNREADABLE
from disambig.files.json_text import parse_json
from disambig.files.saving import saved


def write_state(path: Path, run: Mapping[str, Any], done: int, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the state after `done` steps of a run; `run` says in plain values which it is.

    Raises
    ------
    UserError
        D309 where it cannot be written.
    """
    held = io.BytesIO()
    np.savez(held, run=np.array(json.dumps(run, sort_keys=True)), done=np.array(done), **arrays)  # type: ignore[arg-type]
    with saved(path) as write:
        write(held.getvalue())


def read_state(path: Path, run: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> int:
    """Fill arrays from the state of the same run; return how many steps were done, 0 without any file.

    Raises
    ------
    UserError
        D994 for a file that is no state, or one of another run.
    """
    if not os.path.lexists(path):
        return 0
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as found:
            said, done = parse_json(str(found["run"])), int(found["done"])
            values = {name: found[name] for name in arrays}
    except UNREADABLE as problem:
        raise UserError("D994", path=path, problem=problem) from problem
    if said != json.loads(json.dumps(run)):
        other = [name for name in run if not isinstance(said, dict) or said.get(name) != run[name]]
        raise UserError("D994", path=path, problem=f"it is of a run with other {', '.join(other)}")
    for name, array in arrays.items():
        if values[name].shape != array.shape or values[name].dtype != array.dtype:
            raise UserError("D994", path=path, problem=f"{name} is of another shape")
    for name, array in arrays.items():
        array[...] = values[name]
    return done
