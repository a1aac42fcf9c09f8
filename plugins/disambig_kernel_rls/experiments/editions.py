"""The editions of Senseval's English lexical sample: which files they have, read for the experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from disambig.api import UserError
from disambig.api.evaluation import most_frequent_senses
from disambig.api.formats import read_key, read_sensemap, read_senseval

from ..systems import tokens
from .occurrences import Index, Occurrence, Occurrences, located
from .trials import Seconds, timed

ENDINGS = ("", ".xz", ".gz", ".zst")
PARTS = {"n": "nouns", "v": "verbs", "a": "adjectives"}
EVERY = 5
"""Of the words, the quick form takes each so many-th."""


@dataclass(frozen=True, slots=True)
class Edition:
    """The files of one edition, below the data directory; each may be packed."""

    name: str
    folder: str
    train: str = "EnglishLS.train"
    test: str = "EnglishLS.test"
    key: str = "EnglishLS.test.key"
    sensemap: str = "EnglishLS.sensemap"

    @property
    def needs(self) -> tuple[str, ...]:
        """Patterns of the files without which nothing can be done."""
        return tuple(f"{self.folder}/{name}*" for name in (self.train, self.test, self.key))

    def path(self, data: Path, name: str) -> Path | None:
        """Return the file of that name, packed or not; None where there is none."""
        paths = (data / self.folder / f"{name}{ending}" for ending in ENDINGS)
        return next((path for path in paths if path.is_file()), None)

    def is_there(self, data: Path) -> bool:
        """Tell whether training part, test part and key are there."""
        return all(self.path(data, name) for name in (self.train, self.test, self.key))


SENSEVAL_1 = Edition("Senseval-1", "labelled/senseval1")
SENSEVAL_2 = Edition(
    "Senseval-2",
    "labelled/senseval2",
    "eng-lex-sample.training.xml",
    "eng-lex-sample.evaluation.xml",
    "key.sorted",
    "sensemap",
)
SENSEVAL_3 = Edition("Senseval-3", "labelled/senseval3")
OTHERS = (SENSEVAL_1, SENSEVAL_3)
WHERE = (
    "{names}: not in the data. Get the English lexical sample from senseval.org or "
    "web.eecs.umich.edu/~mihalcea/senseval and put it, in the XML form of Senseval-3, into {folders} as "
    "EnglishLS.train, EnglishLS.test, EnglishLS.test.key and EnglishLS.sensemap (.xz, .gz or .zst if packed)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """An edition read: training and test part in one view.

    Attributes
    ----------
    occurrences : Occurrences
        First the training part, then the test part.
    n_train : int
    ids : tuple of str
        Of the test part.
    key : mapping of str to Answer
    sensemap : object, optional
        None where the edition has none.
    most_frequent : mapping of str to str
        The sense of each word that gives the published baseline.
    seconds : dict
        Of reading, and of tokens with tags and stems.
    notes : tuple of str
        How many instances of its files are broken, if any are: they are left out.
    """

    occurrences: Occurrences
    n_train: int
    ids: tuple[str, ...]
    key: Mapping[str, Any]
    sensemap: Any
    most_frequent: Mapping[str, str]
    seconds: Seconds
    notes: tuple[str, ...] = ()

    @property
    def train(self) -> Index:
        """The training part."""
        return np.arange(self.n_train)

    @property
    def test(self) -> Index:
        """The test part."""
        return np.arange(self.n_train, len(self.occurrences))


def read(edition: Edition, data: Path, *, quick: bool) -> Sample:
    """Read an edition; with `quick` a fifth of its words, every part of speech among them.

    Raises
    ------
    UserError
        D737 where a word has no training example or the key does not know a test instance; those of the
        readers.
    """
    clock: Seconds = {}
    told: dict[str, list[str]] = {edition.train: [], edition.test: []}
    with timed(clock, "reading"):
        train, test = (read_senseval(_at(edition, data, name), tell=told[name].append) for name in told)
        key = read_key(_at(edition, data, edition.key))
        mapped = edition.path(data, edition.sensemap)
        sensemap = None if mapped is None else read_sensemap(mapped)
    words = sorted({each.word for each in test})
    kept = set(some(words) if quick else words)
    train, test = ([each for each in part if each.word in kept] for part in (train, test))
    _check(edition, data, train, test, key)
    found = [
        Occurrence(
            n,
            each.start,
            each.end,
            each.word,
            each.senses if n < len(train) else key[each.id],
            each.multiword,
        )
        for n, each in enumerate([*train, *test])
    ]
    with timed(clock, "tokens and tags"):
        view = tokens()([each.text for each in [*train, *test]])
    ids = tuple(each.id for each in test)
    return Sample(
        located(view, found),
        len(train),
        ids,
        {each: key[each] for each in ids},
        sensemap,
        most_frequent_senses(train),
        clock,
        _broken(edition, told),
    )


def some(words: Sequence[str]) -> list[str]:
    """Return a part of the words, taken evenly from each part of speech."""
    return [
        word
        for part in sorted({each.rpartition(".")[2] for each in words})
        for word in [each for each in words if each.rpartition(".")[2] == part][::EVERY]
    ]


def missing(data: Path) -> list[str]:
    """Return a note on the editions that are not in the data, if there are any."""
    absent = [edition for edition in OTHERS if not edition.is_there(data)]
    if not absent:
        return []
    return [
        WHERE.format(
            names=" and ".join(each.name for each in absent),
            folders=" and ".join(each.folder for each in absent),
        )
    ]


def _broken(edition: Edition, told: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a note on the broken instances (D488) of each file, if there are any."""
    counts = {name: sum(line.startswith("[D488]") for line in lines) for name, lines in told.items()}
    found = ", ".join(f"{n} in {name}" for name, n in counts.items() if n)
    return (f"{edition.name}: broken instances, neither learned from nor scored: {found}",) if found else ()


def _at(edition: Edition, data: Path, name: str) -> Path:
    return edition.path(data, name) or data / edition.folder / name


def _check(
    edition: Edition, data: Path, train: Sequence[Any], test: Sequence[Any], key: Mapping[str, Any]
) -> None:
    known = {each.word for each in train if each.senses}
    path = data / edition.folder
    for each in test:
        if each.word not in known:
            raise UserError("D737", path=path, problem=f"no training example of {each.word}")
        if each.id not in key:
            raise UserError("D737", path=path, problem=f"{each.id} is not in the key")
    if not test:
        raise UserError("D737", path=path, problem="no test instance")
