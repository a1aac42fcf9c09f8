"""A model on disk: a directory of plain files, nothing in it is ever executed.

``model.json``   name, version, groups, provenance, size and hash of the others
``config.cfg``   the resolved config: task, tokenisation, extractors, learner, baseline, judge
``weights.npz``  arrays of extractors and scorers, stored uncompressed, read without pickle
``judge.npz``    arrays of the judge, likewise
``README.md``    the model card, for people only

Format 1 had no judge: its arrays lay with the weights (see `disambig.model.first_format`).

A model refers to its count table by name; the table's own identity is checked when it is loaded.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.config import read_config, resolve, write_config
from disambig.errors import UserError
from disambig.files.drafts import Drafts, draft_folder
from disambig.files.json_text import finite, read_json
from disambig.files.swapping import put, restore
from disambig.judges import config_of
from disambig.model import first_format
from disambig.model.card import card
from disambig.model.groups import said_of, task_of
from disambig.model.located import found, located
from disambig.model.model import Model
from disambig.model.replacing import free_target
from disambig.model.states import stack, unstack
from disambig.types import Learner, ReadsTable, Scorer, SharesWeights

FORMAT = 2
_FILES = ("config.cfg", "weights.npz", "judge.npz")
_LARGEST = 1e30
"""No number of a model is beyond it: scores are kept in float32, which ends at 3e38."""


def save_model(model: Model, path: str | Path, *, force: bool = False) -> None:
    """Write `model` as a directory, all or nothing; an old one stands until the new one does.

    Raises
    ------
    UserError
        D406 for a model that is there already, or an empty directory, unless `force` is set; D940 for
        anything else that is there; D309 where it cannot be written.
    """
    target = free_target(path, force=force)
    try:
        _write(model, target)
    except OSError as problem:
        raise UserError("D309", path=target, problem=problem.strerror or problem) from problem


def _write(model: Model, target: Path) -> None:
    import srsly

    target.parent.mkdir(parents=True, exist_ok=True)
    with draft_folder(Drafts.beside(target)) as draft:
        config = {"judge": config_of(model.task), **model.config}
        write_config(located(config, target), draft / "config.cfg")
        np.savez(draft / "weights.npz", **_arrays(model))  # type: ignore[arg-type]
        np.savez(draft / "judge.npz", **_plain(model.judge.state()))  # type: ignore[arg-type]
        said = {
            "format": FORMAT,
            "name": model.name,
            "version": model.version,
            "language": model.language,
            "task": model.task.name,
            "groups": said_of(model.task.groups[: len(model.scorers)]),
            "trained": [scorer is not None for scorer in model.scorers],
            "counts": _identities(model),
            "files": {name: _fingerprint(draft / name) for name in _FILES},
            "provenance": finite(model.provenance),
        }
        srsly.write_json(draft / "model.json", said, indent=1)
        (draft / "README.md").write_text(card(model, target.name), encoding="utf8")
        os.chmod(draft, 0o755)
        put(draft, target)


def load_model(path: str | Path) -> Model:
    """Read a model's directory.

    Raises
    ------
    UserError
        D405 for a missing or damaged file, D407 for another format, D408 for another count table,
        D409 where the task has other groups than the model was trained for.
    """
    home = Path(path)
    with suppress(OSError):
        restore(home)
    said = _read_json(home)
    first = said["format"] == first_format.FORMAT
    for name in first_format.FILES if first else _FILES:
        expected = said["files"].get(name) if isinstance(said.get("files"), dict) else None
        if expected is None or not (home / name).is_file() or _fingerprint(home / name) != expected:
            raise UserError("D405", path=home / name, problem="missing, or not what model.json says it is")
    config = found(read_config(home / "config.cfg"), home)
    arrays = _read_arrays(home / "weights.npz")
    if first:
        config = first_format.with_judge(config, arrays)
    built = resolve(config, source=home / "config.cfg")
    try:
        judging = first_format.judge_arrays(arrays, said) if first else _read_arrays(home / "judge.npz")
        _check_arrays(arrays)
        _check_arrays(judging)
        task = task_of(built["task"], said["groups"])
        if task is None:
            raise UserError("D409", path=home, task=said["task"])
        extractors = tuple(
            extractor.from_state(_part(arrays, f"extractor.{name}."))
            for name, extractor in built["extractors"].items()
        )
        learner = built["learner"]
        states = unstack(_part(arrays, "scorers."), len(task.groups))
        model = Model(
            name=str(said["name"]),
            version=str(said["version"]),
            task=task,
            tokenisation=built["tokenisation"],
            extractors=extractors,
            baseline=built["baseline"],
            scorers=tuple(
                learner.from_state(state) if trained else None
                for state, trained in zip(states, said["trained"], strict=True)
            ),
            judge=built["judge"].from_state(judging, task.groups),
            shared=_shared(learner, _part(arrays, "shared.")),
            config=config,
            provenance=dict(said["provenance"]),
        )
        _check_scorers(model)
        counts = said["counts"]
    except (AttributeError, LookupError, TypeError, ValueError) as problem:
        if isinstance(problem, UserError):
            raise
        raise UserError("D405", path=home, problem=f"inconsistent: {problem!r}") from problem
    if _identities(model) != counts:
        raise UserError("D408", path=home)
    return model


def _read_json(home: Path) -> dict[str, Any]:
    try:
        said = read_json(home / "model.json")
    except (OSError, ValueError) as problem:
        raise UserError("D405", path=home / "model.json", problem=problem) from problem
    if not isinstance(said, dict):
        raise UserError("D405", path=home / "model.json", problem="no JSON object")
    if said.get("format") not in (first_format.FORMAT, FORMAT):
        known = f"{first_format.FORMAT} and {FORMAT}"
        raise UserError("D407", path=home, seen=said.get("format"), known=known)
    return said


def _fingerprint(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {"size": len(data), "blake2b": hashlib.blake2b(data, digest_size=16).hexdigest()}


def _identities(model: Model) -> list[str]:
    """Return what identifies the count tables that the extractors use."""
    return [extractor.table.identity for extractor in model.extractors if isinstance(extractor, ReadsTable)]


def _arrays(model: Model) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for name, extractor in zip(model.config["extractors"], model.extractors, strict=True):
        for key, array in extractor.state().items():
            arrays[f"extractor.{name}.{key}"] = array
    if model.shared is not None:
        arrays.update({f"shared.{key}": array for key, array in model.shared.state().items()})
    states = [scorer.state() if scorer is not None else {} for scorer in model.scorers]
    arrays.update({f"scorers.{key}": array for key, array in stack(states).items()})
    return _plain(arrays)


def _plain(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    strange = [key for key, array in arrays.items() if array.dtype.hasobject]
    if strange:
        raise TypeError(f"{strange[0]} holds Python objects: a state is made of plain arrays")
    return dict(arrays)


def _shared(learner: Learner, arrays: Mapping[str, NDArray[Any]]) -> Scorer | None:
    if not arrays:
        return None
    if not isinstance(learner, SharesWeights):
        raise ValueError(f"weights that groups share, which {type(learner).__name__} has not")
    return learner.shared_from_state(arrays)


def _part(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read a .npz that holds plain arrays, none of them packed: what is read is no larger than the file."""
    try:
        with zipfile.ZipFile(path) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("compressed members")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as problem:  # NumPy and zipfile raise a dozen kinds for damaged and for hostile files
        raise UserError("D405", path=path, problem=problem) from problem


def _check_arrays(arrays: dict[str, NDArray[Any]]) -> None:
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
            raise ValueError(f"{name} holds other things than finite numbers")
        if array.dtype.kind == "f" and float(np.abs(array).max(initial=0.0)) > _LARGEST:
            raise ValueError(f"{name} holds numbers beyond {_LARGEST:g}")


def _check_scorers(model: Model) -> None:
    """Let every scorer score nothing: one that does not fit its features fails now, not when deciding.

    The shared one scores all groups: it also decides for those that a user adds.
    """
    nothing = model.tokenisation([])
    nowhere = model.task.instances(nothing)
    for g, own in enumerate(model.scorers):
        scorers = [scorer for scorer in (own, model.shared) if scorer is not None]
        batch = model.features(nothing, nowhere, g).batch if scorers else None
        for scorer in scorers:
            assert batch is not None
            scorer.scores(batch)
