"""A model on disk: a directory of plain files, nothing in it is ever executed.

``model.json``   name, version, groups' order, operating point, provenance, size and hash of the others
``config.cfg``   the resolved config: task, tokenisation, extractors, learner, baseline
``weights.npz``  arrays, stored uncompressed, read without pickle
``README.md``    the model card, for people only

A model refers to its count table by name; the table's own identity is checked when it is loaded.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.config import read_config, resolve, write_config
from disambig.errors import UserError
from disambig.model.calibration import FEATURES, Calibration
from disambig.model.card import card
from disambig.model.labels import Labels, are_labels
from disambig.model.model import Model
from disambig.model.operating import OperatingPoint
from disambig.model.states import stack, unstack

FORMAT = 1
_FILES = ("config.cfg", "weights.npz")
_LABELS = ("scale", "bias", "offset")
_LARGEST = 1e30
"""No number of a model is beyond it: scores are kept in float32, which ends at 3e38."""


def save_model(model: Model, path: str | Path, *, force: bool = False) -> None:
    """Write `model` as a directory, all or nothing.

    Raises
    ------
    UserError
        D406 where something is there already and `force` is not set; D309 where it cannot be written.
    """
    target = Path(path)
    if target.exists() and not force:
        raise UserError("D406", path=target)
    try:
        _write(model, target)
    except OSError as problem:
        raise UserError("D309", path=target, problem=problem.strerror or problem) from problem


def _write(model: Model, target: Path) -> None:
    import shutil
    import tempfile

    import srsly

    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        write_config(_located(model.config), draft / "config.cfg")
        np.savez(draft / "weights.npz", **_arrays(model))  # type: ignore[arg-type]
        said = {
            "format": FORMAT,
            "name": model.name,
            "version": model.version,
            "language": model.language,
            "task": model.task.name,
            "groups": [group.name for group in model.task.groups[: len(model.scorers)]],
            "trained": [scorer is not None for scorer in model.scorers],
            "flags_per_1000": model.operating.flags_per_1000,
            "counts": _identities(model),
            "files": {name: _fingerprint(draft / name) for name in _FILES},
            "provenance": model.provenance,
        }
        srsly.write_json(draft / "model.json", said, indent=1)
        (draft / "README.md").write_text(card(model, target.name), encoding="utf8")
        os.chmod(draft, 0o755)
        if target.is_dir():
            shutil.rmtree(target)
        elif target.exists():
            target.unlink()
        os.replace(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _located(config: dict[str, Any]) -> dict[str, Any]:
    """Return `config` with the count tables that are files by their full paths: models are used elsewhere."""
    extractors = {
        name: section | {"counts": os.path.abspath(section["counts"])}
        if isinstance(section, dict) and os.path.isfile(str(section.get("counts", "")))
        else section
        for name, section in config.get("extractors", {}).items()
    }
    return config | {"extractors": extractors} if "extractors" in config else config


def load_model(path: str | Path) -> Model:
    """Read a model's directory.

    Raises
    ------
    UserError
        D405 for a missing or damaged file, D407 for another format, D408 for another count table,
        D409 where the task has other groups than the model was trained for.
    """
    home = Path(path)
    said = _read_json(home)
    for name in _FILES:
        expected = said["files"].get(name) if isinstance(said.get("files"), dict) else None
        if expected is None or not (home / name).is_file() or _fingerprint(home / name) != expected:
            raise UserError("D405", path=home / name, problem="missing, or not what model.json says it is")
    config = read_config(home / "config.cfg")
    built = resolve(config, source=home / "config.cfg")
    arrays = _read_arrays(home / "weights.npz")
    try:
        task = built["task"]
        names = [group.name for group in task.groups]
        if names != said["groups"]:
            raise UserError("D409", path=home, task=said["task"])
        extractors = tuple(
            extractor.from_state(_part(arrays, f"extractor.{name}."))
            for name, extractor in built["extractors"].items()
        )
        learner = built["learner"]
        states = unstack(_part(arrays, "scorers."), len(names))
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
            calibration=Calibration(
                arrays["calibration.pooled"],
                arrays["calibration.groups"],
                arrays.get("calibration.scales"),
                arrays.get("calibration.certainty"),
            ),
            operating=OperatingPoint(
                arrays["operating.rates"], arrays["operating.thresholds"], float(said["flags_per_1000"])
            ),
            labels=_labels(arrays) if are_labels(task) else None,
            shared=learner.shared_from_state(shared) if (shared := _part(arrays, "shared.")) else None,
            config=config,
            provenance=dict(said["provenance"]),
        )
        _check_arrays(arrays)
        _check_shapes(model)
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
    import srsly

    try:
        said = srsly.read_json(home / "model.json")
    except (OSError, ValueError) as problem:
        raise UserError("D405", path=home / "model.json", problem=problem) from problem
    if not isinstance(said, dict):
        raise UserError("D405", path=home / "model.json", problem="no JSON object")
    if said.get("format") != FORMAT:
        raise UserError("D407", path=home, seen=said.get("format"), known=FORMAT)
    return said


def _fingerprint(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {"size": len(data), "blake2b": hashlib.blake2b(data, digest_size=16).hexdigest()}


def _identities(model: Model) -> list[str]:
    """Return what identifies the count tables that the extractors use."""
    tables = [extractor.table for extractor in model.extractors if hasattr(extractor, "table")]
    return [table.identity for table in tables]


def _arrays(model: Model) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "calibration.pooled": model.calibration.pooled,
        "calibration.groups": model.calibration.groups,
        "operating.rates": model.operating.rates,
        "operating.thresholds": model.operating.thresholds,
    }
    for name in ("scales", "certainty"):
        if (array := getattr(model.calibration, name)) is not None:
            arrays[f"calibration.{name}"] = array
    if model.labels is not None:
        for key in _LABELS:
            arrays[f"labels.{key}"] = getattr(model.labels, key)
        arrays["labels.least_margin"] = np.array([model.labels.least_margin])
    for name, extractor in zip(model.config["extractors"], model.extractors, strict=True):
        for key, array in extractor.state().items():
            arrays[f"extractor.{name}.{key}"] = array
    if model.shared is not None:
        arrays.update({f"shared.{key}": array for key, array in model.shared.state().items()})
    states = [scorer.state() if scorer is not None else {} for scorer in model.scorers]
    arrays.update({f"scorers.{key}": array for key, array in stack(states).items()})
    strange = [key for key, array in arrays.items() if array.dtype.hasobject]
    if strange:
        raise TypeError(f"{strange[0]} holds Python objects: a state is made of plain arrays")
    return arrays


def _labels(arrays: dict[str, NDArray[Any]]) -> Labels:
    least = arrays.get("labels.least_margin", np.zeros(1))  # models had none before
    scale, bias, offset = (arrays[f"labels.{key}"] for key in _LABELS)
    return Labels(scale, bias, offset, float(least[0]))


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
        batch = model.features(nothing, nowhere, g).batch
        for scorer in (own, model.shared):
            if scorer is not None:
                scorer.scores(batch)


def _check_shapes(model: Model) -> None:
    calibration, operating = model.calibration, model.operating
    good = (
        calibration.pooled.shape == (len(FEATURES),)
        and calibration.groups.shape == (len(model.scorers), len(FEATURES))
        and operating.rates.ndim == 1
        and operating.rates.shape == operating.thresholds.shape
        and len(operating.rates) > 0
        and bool((np.diff(operating.rates) > 0).all() and (operating.rates > 0).all())
        and bool((np.diff(operating.thresholds) <= 0).all())
        and operating.flags_per_1000 >= 0
    )
    n = len(model.scorers) + 1
    if calibration.scales is not None:
        good = good and calibration.scales.shape == (n,) and bool((calibration.scales > 0).all())
    if calibration.certainty is not None:
        good = good and calibration.certainty.shape == (n, 2)
    if model.labels is not None:
        most = max(len(group.candidates) for group in model.task.groups)
        shape = (len(model.scorers), most)
        good = good and (model.labels.bias.shape, model.labels.offset.shape) == (shape, shape)
        good = good and model.labels.scale.shape == shape[:1] and bool((model.labels.scale > 0).all())
        good = good and model.labels.least_margin >= 0
    if not good:
        raise ValueError("shapes of calibration or operating point")
