"""Converters in folders: a lexicon, and the language model in a folder of its own; read without trust.

converter/
    header.json     format, settings, parts of speech, digests
    lexicon.npz     readings, spellings, parts of speech, counts, usage, spelling of unknown words
    model/          the language model (of a mixture: its background)
    adaptation/     what a mixture adds
    domains/NAME/   what is mixed in for a domain, by its name
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError, nearest_first
from disambig.api.features import read_stored, write_stored
from disambig.api.language_models import (
    Mixture,
    load_language_model,
    load_mixture,
    save_language_model,
    save_mixture,
)
from disambig.api.packs import restore, saved_folder, writing

from .converter import Converter
from .lexicon import Lexicon
from .settings import ConverterSettings
from .spelling import LETTERS

FORMAT = "disambig.kana_converter.v2"
FILE = "lexicon.npz"
HEADER, MODEL, ADAPTATION, DOMAINS = "header.json", "model", "adaptation", "domains"
_NAMES = ("readings", "surfaces", "tags", "counts", "usage", "spelling")
_BETWEEN = "\n"


def save_converter(converter: Converter, folder: str | Path, *, bits: int = 32) -> None:
    """Write a converter into a folder, which is made, whole or not at all.

    Parameters
    ----------
    converter : Converter
    folder : path
        What lies there of another converter is replaced, its domains too.
    bits : {8, 32}
        How precise the language model's logarithms are.

    Raises
    ------
    UserError
        D697 for a folder that holds anything else, D309 where it cannot be written.
    """
    folder = Path(folder)
    with writing(folder):
        others = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    others = [name for name in others if name not in (HEADER, FILE, MODEL, ADAPTATION, DOMAINS)]
    if others:
        raise UserError("D697", path=folder, found=others[0])
    with saved_folder(folder) as draft, writing(folder):
        _write(converter, draft, bits)
        if domains_of(folder) and _is_same(folder, draft):
            shutil.copytree(folder / DOMAINS, draft / DOMAINS)


def _write(converter: Converter, folder: Path, bits: int) -> None:
    lexicon, model = converter.lexicon, converter.model
    background = converter.background
    save_language_model(background, folder / MODEL, bits=bits)
    if isinstance(model, Mixture):
        save_mixture(model, folder / ADAPTATION, bits=bits)
    arrays: dict[str, NDArray[Any]] = {
        "readings": _letters(lexicon.readings),
        "surfaces": _letters(lexicon.surfaces),
        "tags": lexicon.tags,
        "counts": lexicon.counts,
        "usage": np.zeros(0, np.float16) if lexicon.usage is None else _rounded(lexicon.usage),
        "spelling": converter.spelling,
    }
    header = {
        "format": FORMAT,
        "settings": asdict(converter.settings),
        "entries": len(lexicon),
        "tags": list(lexicon.tag_names),
        "mixture": isinstance(model, Mixture),
        "digest": _digest(arrays),
        "words": _digest({"letters": background.vocabulary.spellings.letters}),
    }
    write_stored(folder, FILE, header, **arrays)


def load_converter(folder: str | Path) -> Converter:
    """Read the converter in a folder.

    Raises
    ------
    UserError
        D674, or D655 of its language model, where a file is missing, is damaged or is none of ours.
    """
    folder = Path(folder)
    with suppress(OSError):
        restore(folder)
    header, found = read_stored(folder, FILE, _NAMES, code="D674")
    arrays = dict(zip(_NAMES, found, strict=True))
    try:
        if not isinstance(header, Mapping) or header.get("format") != FORMAT:
            raise ValueError(f"it says no format {FORMAT}")
        if header.get("digest") != _digest(arrays):
            raise ValueError("header and arrays do not belong together, or are damaged")
        settings = ConverterSettings(**header["settings"])
        lexicon = _lexicon(arrays, header["tags"])
        spelling = arrays["spelling"].astype(np.float64)
        if spelling.shape != (2, LETTERS, LETTERS):
            raise ValueError(f"spelling has the shape {spelling.shape}")
        mixture = bool(header["mixture"])
    except UserError as error:
        raise UserError("D674", path=folder, problem=error.text) from None
    except (ValueError, LookupError, TypeError) as error:
        raise UserError("D674", path=folder, problem=error) from None
    background = load_language_model(folder / MODEL)
    if header.get("words") != _digest({"letters": background.vocabulary.spellings.letters}):
        raise UserError("D674", path=folder, problem="its language model is another one's")
    model = load_mixture(folder / ADAPTATION, background) if mixture else background
    return Converter(lexicon, model, spelling, settings)


def is_converter(folder: str | Path) -> bool:
    """Return whether a folder holds a converter, or what looks like one."""
    return (Path(folder) / FILE).is_file() and (Path(folder) / HEADER).is_file()


def fingerprint(folder: str | Path) -> str:
    """Return what tells a converter from any other one; its domains are no matter.

    Raises
    ------
    UserError
        D674 where there is none.
    """
    folder = Path(folder)
    said = []
    try:
        header = json.loads((folder / "header.json").read_text(encoding="utf8"))
        parts = ["model", *(["adaptation", "adaptation/adaptation"] if header["mixture"] else [])]
        said = [header["digest"], json.dumps(header["settings"], sort_keys=True)]
        for part in parts:
            of_part = json.loads((folder / part / "header.json").read_text(encoding="utf8"))
            said.append(of_part.get("digest", ""))
        if header["mixture"]:
            said.append(hashlib.sha256((folder / "adaptation" / "mixture.npz").read_bytes()).hexdigest())
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UserError("D674", path=folder, problem=error) from None
    return hashlib.sha256("\n".join(map(str, said)).encode()).hexdigest()


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two folders hold the same converter; a damaged one is like none."""
    try:
        return fingerprint(one) == fingerprint(other)
    except UserError:
        return False


def save_domain(mixture: Mixture, folder: str | Path, name: str, *, bits: int = 32) -> None:
    """Write what the converter in a folder mixes in for a domain."""
    save_mixture(mixture, Path(folder) / DOMAINS / name, bits=bits)


def domains_of(folder: str | Path) -> list[str]:
    """Return the names of the domains that the converter in a folder knows, in alphabetical order."""
    return sorted(path.name for path in (Path(folder) / DOMAINS).glob("*") if path.is_dir())


def in_domain(converter: Converter, folder: str | Path, name: str) -> Converter:
    """Return the converter of a folder with the language model of one of its domains.

    Raises
    ------
    UserError
        D692 for a domain that it does not know, with those that it knows; D655 for a damaged one.
    """
    names = domains_of(folder)
    if name not in names:
        raise UserError("D692", name=name, path=folder, names=nearest_first(name, names) if names else "none")
    return replace(converter, model=load_mixture(Path(folder) / DOMAINS / name, converter.background))


def _lexicon(arrays: Mapping[str, NDArray[Any]], tags: Sequence[str]) -> Lexicon:
    readings, surfaces = (
        tuple(bytes(arrays[name]).decode("utf8").split(_BETWEEN)[:-1]) for name in ("readings", "surfaces")
    )
    kinds, counts = arrays["tags"].astype(np.int16), arrays["counts"].astype(np.int64)
    usage = arrays["usage"].astype(np.float32) if len(arrays["usage"]) else None
    if not len(readings) == len(surfaces) == len(kinds) == len(counts):
        raise ValueError("not as many readings, spellings, tags and counts")
    if usage is not None and not (len(usage) == len(readings) and np.isfinite(usage).all()):
        raise ValueError("usage is not told of each entry")
    if "" in readings or (len(kinds) and not 0 <= kinds.min() <= kinds.max() < len(tags)):
        raise ValueError("an entry without a reading, or of a tag that is none")
    return Lexicon(readings, surfaces, kinds, tuple(map(str, tags)), counts, usage)


def _rounded(usage: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return it to a sixteenth: what is alike takes little room."""
    return (np.round(usage * 16) / 16).astype(np.float16)


def _letters(texts: Sequence[str]) -> NDArray[np.uint8]:
    whole = "".join(text + _BETWEEN for text in texts)
    return np.frombuffer(whole.encode("utf8"), np.uint8)


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of arrays with their names, kinds and shapes."""
    found = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
