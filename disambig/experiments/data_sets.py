"""Manifests of data sets: what experiments need, where it can be fetched, and who may use it.

A manifest is a file ``NAME.toml`` in the package directory `disambig_data`. This is a namespace package
without code: any distribution can add manifests to it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from disambig.errors import UserError, nearest_first
from disambig.experiments.data import cache_directory
from disambig.files import decode, read_small

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = "disambig_data"
MAX_BYTES = 1_000_000
"""Maximum size of a manifest."""


def stays_inside(path: str) -> bool:
    """Return True if a path with slashes is relative and does not leave its directory."""
    return not any(part in ("", ".", "..") for part in path.split("/"))


def _check_path(path: str) -> str:
    # other systems have backslashes and drives
    if not stays_inside(path) or re.search(r"[\\:\x00-\x1f]", path):
        raise ValueError(f"{path!r} is not a relative path with slashes inside the data directory")
    return path


def _check_name(name: str) -> str:
    if "/" in _check_path(name):
        raise ValueError(f"{name!r} is not a plain file name")
    return name


def _check_url(url: str) -> str:
    if not re.match(r"https?://[^\s/]+/\S+$", url):
        raise ValueError(f"{url!r} is not an http or https address of a file")
    return url


_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Size = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Download(_Strict):
    """A file that its publisher offers."""

    url: Annotated[str, AfterValidator(_check_url)]
    # the name under which it is stored; its suffix tells whether it is compressed or an archive
    file: Annotated[str, AfterValidator(_check_name)]
    size: _Size | None = None  # in bytes, if it is known
    # Its digest, if its publisher or a second source gives one. Without it, only the files that are made from
    # the download are checked
    sha256: _Digest | None = None


class DataFile(_Strict):
    """A file that is made from a download."""

    # Its place in the data directory. By its suffix, it is compressed
    path: Annotated[str, AfterValidator(_check_path)]
    source: str  # the `file` of the download
    # size in bytes and digest of the content without compression. For an archive: the sum of the sizes of its
    # members, and the digest of their list (`disambig.experiments.digest_members`)
    size: _Size
    sha256: _Digest
    # make an archive of the members of the download whose names match one of these patterns; ``*`` matches
    # slashes as well
    members: tuple[str, ...] = ()
    # with `members`: the folder in the download, with a slash at its end, that is removed from names
    below: str = ""
    genre: str = ""  # keep only the sentences of a CoNLL-U file whose `sent_id` begins with this and a hyphen


class DataSet(_Strict):
    """A data set."""

    # `name` is that of the manifest
    name: str
    title: str
    # `users` says who may use the data, and for what
    licence: str
    users: str
    homepage: str = ""  # where its publisher describes it; an empty string if there is no such place
    note: str = ""  # what a user must know, such as what is not certain
    how: str = ""  # how to make the files that cannot be fetched
    # those files, by their places in the data directory
    provides: tuple[Annotated[str, AfterValidator(_check_path)], ...] = ()
    downloads: tuple[Download, ...] = ()
    files: tuple[DataFile, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> DataSet:
        names = [download.file for download in self.downloads]
        for file in self.files:
            if file.source not in names:
                raise ValueError(f"{file.path}: there is no download {file.source!r}")
        if len(set(names)) < len(names):
            raise ValueError("two downloads have the same file name")
        if bool(self.downloads) != bool(self.files):
            raise ValueError("downloads and files belong together: give both or neither")
        if bool(self.how) != bool(self.provides):
            raise ValueError("how and provides belong together: give both or neither")
        if not self.paths:
            raise ValueError("it has neither files nor provides")
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """The places of all its files in the data directory."""
        return (*(file.path for file in self.files), *self.provides)

    def missing(self, data: Path) -> list[str]:
        """Return the places at which there is no file."""
        return [path for path in self.paths if not (data / path).is_file()]


def read_manifest(path: Path) -> DataSet:
    """Read a manifest. Raises D537 if it is invalid; D300, D308 or D975 if it cannot be read."""
    text = decode(read_small(str(path), limit=MAX_BYTES, only_regular=True), str(path))
    try:
        return DataSet(name=path.stem, **tomllib.loads(text))
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        raise UserError("D537", path=path, problem=": ".join(filter(None, [where, message]))) from None
    except (ValueError, TypeError, RecursionError) as problem:
        raise UserError("D537", path=path, problem=problem) from None


def data_sets() -> dict[str, DataSet]:
    """Return the known data sets by name (errors: see `read_manifest`)."""
    spec = find_spec(PACKAGE)
    folders = () if spec is None else spec.submodule_search_locations or ()
    paths: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(Path(folder).glob("*.toml")):
            paths.setdefault(path.stem, path)
    return {name: read_manifest(path) for name, path in sorted(paths.items())}


def data_set(name: str) -> DataSet:
    """Return a data set; raise D533, with the names of all, if there is none of this name."""
    available = data_sets()
    if name not in available:
        raise UserError("D533", name=name, names=nearest_first(name, available))
    return available[name]


def default_data_directory() -> Path:
    """Return the directory into which data are fetched if no other is named; it may not exist."""
    return cache_directory() / "data"


def data_advice(patterns: Sequence[str]) -> str:
    """Return what to do to get files that match the patterns, such as ``english/*.train.txt.xz``.

    An empty string if no data set has such files.
    """
    fetched, made = [], []
    for name, entry in data_sets().items():
        if any(fnmatchcase(file.path, pattern) for file in entry.files for pattern in patterns):
            fetched.append(name)
        elif any(fnmatchcase(path, pattern) for path in entry.provides for pattern in patterns):
            made.append(name)
    sentences = []
    if fetched:
        sentences.append(f"`disambig data get {' '.join(fetched)}` fetches it")
    if made:
        shown = " and ".join(f"`disambig data show {name}`" for name in made)
        sentences.append(f"{shown} {'tells' if len(made) == 1 else 'tell'} how to make it")
    return "; ".join(sentences)
