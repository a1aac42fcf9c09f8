"""Data for experiments: manifests of data sets, cached files, paragraphs of text, and count tables.

A manifest says what experiments need, where it can be fetched, and who may use it. It is a file ``NAME.toml``
in the package directory `disambig_data`. This is a namespace package without code: any distribution can add
manifests to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from disambig.errors import UserError, nearest_first
from disambig.files import decode, file_stamp, open_bytes, read_small, reading
from disambig.formats import ConlluSentence, decode_line, read_conllu, read_lines
from disambig.text import Words
from disambig.type_aliases import Progress

VARIABLE = "DISAMBIG_CACHE"
"""Environment variable that names the cache directory; by default it is the user's cache directory."""


def cache_directory() -> Path:
    """Return the cache directory, which may not exist yet; D722 if the user has no home directory."""
    directory = os.environ.get(VARIABLE)
    if directory:
        return Path(directory)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "disambig"
    except RuntimeError:  # Path.home() fails for a user without a home directory
        problem = "this user has no home directory"
        raise UserError("D722", path="~/.cache", problem=problem, variable=VARIABLE) from None


def cached(
    name: str,
    ending: str,
    *,
    sources: Sequence[Path],
    details: Mapping[str, Any],
    make: Callable[[Path], object],
) -> Path:
    """Return a cached file that was made from the same sources and settings; make it if there is none.

    Parameters
    ----------
    name, ending : str
        Start and end of the file name; a hash of all that the file depends on is put between them.
    sources : sequence of Path
        Source files, identified by name and content.
    details : mapping
        Plain values that the file depends on.
    make : callable
        Called with the path to write to.

    Raises
    ------
    UserError
        D722 if the directory is not writable; the errors of `file_digest` for a source.
    """
    digests = [(path.name, file_digest(path)) for path in sorted(sources)]
    description = json.dumps([digests, details], sort_keys=True)
    directory = cache_directory()
    path = directory / f"{name}-{hashlib.sha256(description.encode()).hexdigest()[:16]}{ending}"
    if path.is_file():
        return path
    unfinished = directory / f"{path.stem}.{os.getpid()}{ending}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # fail now if the directory is not writable, not after the work
        unfinished.touch()
        unfinished.unlink()
    except OSError as problem:
        raise UserError("D722", path=directory, problem=problem.strerror, variable=VARIABLE) from problem
    try:
        make(unfinished)
        unfinished.replace(path)  # atomic: a killed process leaves no partial file under this name
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal; a file that has not changed is read once.

    Raises D300 or D305 if it cannot be read.
    """
    return _digest(path, file_stamp(path))


@lru_cache(maxsize=1024)
def _digest(path: Path, stamp: tuple[int, ...]) -> str:
    """Return the digest of a file; `stamp` is part of the cache's key only."""
    digest = hashlib.sha256()
    with reading(path), open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


GiB = 1 << 30
LAYOUT = 1
"""Version of the tables made here; increase it when they change, so that cached ones are not used."""


def text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text without line ends, including blank ones; decompress it by its suffix.

    Raises
    ------
    UserError
        D300, D303 to D305 or D308, with the path, for a file that is not text, is damaged or cut short.
    """
    name = str(path)
    with reading(name), open_bytes(name) as stream:
        for line in read_lines(stream):
            yield decode_line(line, name).removesuffix("\n").removesuffix("\r")


def paragraphs(files: Iterable[Path]) -> Iterator[str]:
    """Yield the paragraphs of some files, one file after the other (errors: see `text_lines`)."""
    for path in files:
        yield from text_lines(path)


def counts_around(files: Sequence[Path], words: Sequence[str], *, progress: Progress) -> Path:
    """Return an exact table of all n-grams in some files that contain one of `words`; made on first use.

    Raises
    ------
    UserError
        D722 if the cache is not writable.
    """
    from disambig.counts import build_table

    kept = sorted(set(words))

    def texts() -> Iterator[str]:
        for number, path in enumerate(files):
            progress("counting n-grams", number, len(files))
            yield from text_lines(path)

    def make(path: Path) -> None:
        build_table(path, texts(), Words(), keep_words=kept, record="exact", memory=3 * GiB)

    details = {"layout": LAYOUT, "words": kept, "tokenisation": Words.name}
    return cached("around", ".counts", sources=files, details=details, make=make)


EWT = "labelled/ewt/*.conllu.xz"
"""UD English EWT (English Web Treebank) by genre and split."""
EWT_GENRES = ("answers", "newsgroup", "reviews", "weblog", "email")
EWT_SPLITS = ("train", "dev", "test")


def ewt_sentences(
    data: Path, splits: Sequence[str] = EWT_SPLITS, genres: Sequence[str] = EWT_GENRES
) -> Iterator[ConlluSentence]:
    """Yield the sentences of UD English EWT, genre by genre.

    Raises D735 for a word without a tag; the errors of `read_conllu`.
    """
    for genre, split in product(genres, splits):
        path = data / EWT.replace("*", f"{genre}.{split}")
        for sentence in read_conllu(path):
            for line, tag in zip(sentence.lines, sentence.tags, strict=True):
                if tag in ("", "_"):
                    raise UserError("D735", path=path, line=line)
            yield sentence


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
