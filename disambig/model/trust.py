"""``trust.json`` in a model's directory: how often its flags were right, as `disambig.data.trust` has it.

It names the model that it was measured of by a hash of its ``model.json``: of a model that is trained anew
nothing is known until it is measured.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from disambig.data.trust import Point, Trust
from disambig.errors import UserError
from disambig.files.json_text import read_json
from disambig.files.saving import saved_output

FILE = "trust.json"
FORMAT = 1


def write_trust(home: Path, trust: Trust) -> None:
    """Write what was measured of the model in the directory `home`; what was there is replaced.

    Raises
    ------
    UserError
        D309 where it cannot be written, D405 where no model is there.
    """
    said = {
        "format": FORMAT,
        "model": _model_of(home),
        "task": trust.task,
        "text": trust.text,
        "per_1000": trust.per_1000,
        "points": [asdict(point) for point in trust.points],
        "pairs": {pair: [asdict(point) for point in points] for pair, points in trust.pairs.items()},
    }
    with saved_output(home / FILE) as write:
        write((json.dumps(said, indent=1, ensure_ascii=False) + "\n").encode())


def read_trust(home: Path) -> Trust | None:
    """Return what was measured of the model in the directory `home`; None where nothing was.

    Raises
    ------
    UserError
        D862 for a file that is damaged.
    """
    path = home / FILE
    try:
        said = read_json(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise UserError("D862", path=path, problem=problem) from None
    try:
        if said["format"] != FORMAT:
            raise ValueError(f"its format is {said['format']!r}, not {FORMAT}")
        if said["model"] != _model_of(home):
            return None
        pairs = {str(pair): _points(points) for pair, points in said["pairs"].items()}
        text, per_1000 = str(said["text"]), float(said["per_1000"])
        return Trust(str(said["task"]), text, per_1000, _points(said["points"]), pairs)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise UserError("D862", path=path, problem=repr(problem)) from None


def _points(said: Sequence[Mapping[str, Any]]) -> tuple[Point, ...]:
    points = tuple(Point(**point) for point in said)
    leasts, shares = [point.least for point in points], [point.share for point in points]
    if not points or leasts[0] != 0 or leasts != sorted(leasts) or shares != sorted(shares):
        raise ValueError("a curve that does not rise from 0")
    if not all(0 <= point.low <= point.share <= point.high <= 1 for point in points):
        raise ValueError("a share that is none")
    return points


def _model_of(home: Path) -> str:
    try:
        return hashlib.blake2b((home / "model.json").read_bytes(), digest_size=16).hexdigest()
    except OSError as problem:
        raise UserError("D405", path=home / "model.json", problem=problem) from None
